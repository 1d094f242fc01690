// One element of a tensor as it is written in a case file.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "engine/core/data_type.h"

namespace dmlconform::cases {

/// A number that read_element makes the same bits of; "nan", "inf" or "-inf"; or "0x…" for bits that no number gives.
[[nodiscard]] nlohmann::ordered_json element_json(core::DataType type, std::uint64_t bits);

}  // namespace dmlconform::cases
