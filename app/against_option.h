// Comparing engines with an engine of the user's choice instead of the reference, and recording what it computes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/engine_choice.h"
#include "engine/core/error.h"
#include "engine/report/recorded_cases.h"

namespace dmlconform::app {

struct AgainstOption {
    /// As --engine takes it; empty: the reference.
    std::string engine;
    /// The case file to be written; empty: none.
    std::string record;

    void add_to(Command command);
    /// Whether somebody else than the reference says what is right.
    [[nodiscard]] bool any() const { return !engine.empty() || !record.empty(); }
    /// An error where it is not plain which engine is meant, or the file cannot be written.
    [[nodiscard]] core::Result<void> check(const EngineChoice& choice) const;
    /// The engine among those that were made for the choice.
    [[nodiscard]] std::optional<std::size_t> index_in(const Engines& engines) const;
    /// For commands that run a case again as it was run.
    [[nodiscard]] std::vector<std::string> words() const;
};

}  // namespace dmlconform::app
