// What an engine makes of a case, without judging it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cases/case.h"
#include "engine/engine.h"

namespace dmlconform::fuzz {

struct Execution {
    enum class Kind : std::uint8_t { unsupported, rejected, broken, done };
    Kind kind = Kind::broken;
    /// Why it is not done.
    std::string reason;
    /// In the order of Descriptor::outputs() if it is done; empty tensors for absent ones.
    std::vector<core::Tensor> outputs;
};

/// The descriptor must be legal, and small. Never throws: an engine that is lost is broken.
[[nodiscard]] Execution execute(const cases::Case& subject, Engine& engine);

/// The case with what came out as the values that are expected.
[[nodiscard]] cases::Case expecting(const cases::Case& subject, const std::vector<core::Tensor>& outputs);

}  // namespace dmlconform::fuzz
