// The options --sizes, --strides, --attr, --type and --batch: a short description of an operator's case instead of a
// case file.
#pragma once

#include <string>
#include <vector>

#include "app/command_line.h"
#include "engine/core/error.h"
#include "engine/fuzz/shaped_case.h"

namespace dmlconform::app {

struct ShapeOptions {
    std::vector<std::string> sizes;
    std::vector<std::string> strides;
    std::vector<std::string> attributes;
    std::string type;
    /// A file with one problem in each line.
    std::string batch;

    void add_to(Command command);
    [[nodiscard]] bool any() const {
        return !sizes.empty() || !strides.empty() || !attributes.empty() || !type.empty() || !batch.empty();
    }
    /// Adds the options of one problem, which lines of a batch file have, too.
    void add_problem_options(Command command);
    [[nodiscard]] core::Result<fuzz::Shape> shape() const;
    /// Options for a command that repeats a case in the same way.
    [[nodiscard]] std::vector<std::string> words() const;
};

}  // namespace dmlconform::app
