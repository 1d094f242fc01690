// The words with which the program was started.
#pragma once

#include <string>
#include <vector>

namespace dmlconform::app {

/// The program's name and its arguments, in UTF-8. Those of main are in the system's code page on Windows.
[[nodiscard]] std::vector<std::string> program_words(int argc, char** argv);

}  // namespace dmlconform::app
