// Writes models of DxDispatch.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/cases/case.h"
#include "engine/core/error.h"

namespace dmlconform::interop {

/// Collects cases in one model. Each has a dispatchable with the case's id, a resource for each tensor ("ID
/// InputTensor"), a command that dispatches it, and commands that print its outputs.
class DxDispatchModel {
public:
    /// Fails if the case has no counterpart, because it must be rejected, is a graph, or its data cannot be read.
    [[nodiscard]] core::Result<void> add(const cases::Case& subject);

    [[nodiscard]] bool empty() const { return dispatchables_.empty(); }
    /// The model, with a line break at its end.
    [[nodiscard]] std::string text() const;

private:
    nlohmann::ordered_json resources_ = nlohmann::ordered_json::object();
    nlohmann::ordered_json dispatchables_ = nlohmann::ordered_json::object();
    nlohmann::ordered_json commands_ = nlohmann::ordered_json::array();
};

}  // namespace dmlconform::interop
