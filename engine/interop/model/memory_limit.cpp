// The message about models that take too much memory.
#include "engine/interop/model/memory_limit.h"

#include <fmt/format.h>

#include <system_error>

namespace dmlconform::interop {

std::uint64_t memory_for_model_at(const std::filesystem::path& path, std::uint64_t least) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    return memory_for_model(error ? 0 : size, least);
}

core::Error too_much_memory(std::string_view where) {
    return {fmt::format("{}the model's nodes, names and attributes would take much more memory than the file has bytes",
                        where),
            "models of 100,000 nodes are read and of 40,000 judged, and larger files may have more: see \"Files\" in "
            "docs/models.md"};
}

}  // namespace dmlconform::interop
