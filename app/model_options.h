// The options --dim, --input and --input-seed, which supply what a model's file leaves open.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/command_line.h"
#include "engine/cases/corpus.h"

namespace dmlconform::app {

struct ModelFileOptions {
    std::vector<std::string> dimensions;
    std::vector<std::string> inputs;
    std::uint64_t seed = 1;
    /// What is read will be run.
    bool is_judged = false;

    void add_to(Command command);
    /// A reader of models as case files. It prints what is left out of a model and which sizes were chosen.
    [[nodiscard]] std::vector<cases::CaseFileKind> kinds() const;
    /// Options for a command that repeats a case in the same way.
    [[nodiscard]] std::vector<std::string> words() const;
};

}  // namespace dmlconform::app
