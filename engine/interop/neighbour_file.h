// Data files that a model names, which lie in its folder.
#pragma once

#include <filesystem>
#include <string>

#include "engine/core/error.h"

namespace dmlconform::interop {

/// The path of the file `location`, which is relative to the folder of `model`. Fails if it leads out of the folder,
/// and if it or a folder on the way is a link: models are untrusted. The file may be missing. `what` begins messages:
/// "external data".
[[nodiscard]] core::Result<std::filesystem::path> neighbour_file(const std::string& location,
                                                                 const std::filesystem::path& model, const char* what);

}  // namespace dmlconform::interop
