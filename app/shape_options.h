// --sizes, --attr and --type: an operator in a few words instead of a case file.
#pragma once

#include <string>
#include <vector>

#include "app/command_line.h"
#include "engine/core/error.h"
#include "engine/fuzz/shaped_case.h"

namespace dmlconform::app {

struct ShapeOptions {
    std::vector<std::string> sizes;
    std::vector<std::string> attributes;
    std::string type;

    void add_to(Command command);
    [[nodiscard]] bool any() const { return !sizes.empty() || !attributes.empty() || !type.empty(); }
    [[nodiscard]] core::Result<fuzz::Shape> shape() const;
    /// For commands that run a case again as it was run.
    [[nodiscard]] std::vector<std::string> words() const;
};

}  // namespace dmlconform::app
