// The name of this machine's processor, for results.
#pragma once

#include <string>

namespace dmlconform::bench {

/// "Intel(R) Xeon(R) Platinum 8480+, 2 hardware threads".
[[nodiscard]] std::string machine_name();

}  // namespace dmlconform::bench
