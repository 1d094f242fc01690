// The reference's results as a message between processes of this program. Other engines never send it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/core/error.h"
#include "engine/cpu/reference.h"

namespace dmlconform::run {

[[nodiscard]] nlohmann::json to_json(const cpu::Reference& reference);

/// Fails if the message does not fit the descriptor's outputs.
[[nodiscard]] core::Result<cpu::Reference> reference_from_json(const nlohmann::json& message,
                                                               const operators::Descriptor& descriptor);

}  // namespace dmlconform::run
