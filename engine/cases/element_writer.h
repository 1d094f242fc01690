// Writes one element of a tensor for a case file.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "engine/core/data_type.h"

namespace dmlconform::cases {

/// A number that read_element converts to the same bits; "nan", "inf" or "-inf"; or "0x…" if no number gives these
/// bits.
[[nodiscard]] nlohmann::ordered_json element_json(core::DataType type, std::uint64_t bits);

}  // namespace dmlconform::cases
