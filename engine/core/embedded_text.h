// Text files of the project that are compiled into the program (see cmake/EmbedText.cmake).
#pragma once

#include <string_view>

namespace dmlconform::core {

struct EmbeddedText {
    /// File name without its folder.
    std::string_view name;
    std::string_view text;
};

}  // namespace dmlconform::core
