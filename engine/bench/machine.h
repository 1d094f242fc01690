// The name of the processor that results belong to.
#pragma once

#include <string>

namespace dmlconform::bench {

/// "Intel(R) Xeon(R) Platinum 8480+, 2 hardware threads".
[[nodiscard]] std::string machine_name();

}  // namespace dmlconform::bench
