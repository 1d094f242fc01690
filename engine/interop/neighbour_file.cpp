// Looks at each part of a path.
#include "engine/interop/neighbour_file.h"

#include <fmt/format.h>

#include <system_error>

#include "engine/core/utf8.h"

namespace dmlconform::interop {

namespace fs = std::filesystem;

core::Result<fs::path> neighbour_file(const std::string& location, const fs::path& model, const char* what) {
    const fs::path relative = fs::path(location).lexically_normal();
    if (location.empty() || location.find('\0') != std::string::npos || relative.has_root_path() ||
        *relative.begin() == ".." || relative == ".") {
        return core::fail(
            fmt::format("{} \"{}\" is not a file of the model's folder", what, core::shortened(location)));
    }
    fs::path path = model.parent_path();
    for (const fs::path& part : relative) {
        path /= part;
        std::error_code error;
        if (fs::is_symlink(fs::symlink_status(path, error))) {
            return core::fail(fmt::format("{} \"{}\" is behind a link", what, core::shortened(location)));
        }
    }
    return path;
}

}  // namespace dmlconform::interop
