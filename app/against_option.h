// Compares engines with an engine that the user chooses instead of the reference, and records what it computes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/engine_choice.h"
#include "engine/core/error.h"
#include "engine/report/recorded_cases.h"

namespace dmlconform::app {

struct AgainstOption {
    /// In the form of --engine; empty: the reference.
    std::string engine;
    /// The case file to write; empty: none.
    std::string record;

    void add_to(Command command);
    /// True if another engine provides the expected values.
    [[nodiscard]] bool any() const { return !engine.empty() || !record.empty(); }
    /// Fails if the engine is ambiguous, or if the file cannot be written.
    [[nodiscard]] core::Result<void> check(const EngineChoice& choice) const;
    /// The index of the engine among those that were created for the choice.
    [[nodiscard]] std::optional<std::size_t> index_in(const Engines& engines) const;
    /// Options for a command that repeats a case in the same way.
    [[nodiscard]] std::vector<std::string> words() const;
};

}  // namespace dmlconform::app
