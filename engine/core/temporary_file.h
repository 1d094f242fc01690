// Temporary files without a name, and memory whose contents lie in one.
#pragma once

#include <cstddef>
#include <cstdio>

namespace dmlconform::core {

/// Opens a file in the folder that the system or the user names for temporary files. It disappears when it is closed,
/// or when the program ends, however it ends. Null if that fails; errno says why.
[[nodiscard]] std::FILE* open_temporary_file();

/// Memory whose contents lie in a temporary file. Throws std::runtime_error if there is no room for the file.
[[nodiscard]] std::byte* map_temporary_file(std::size_t bytes);
void unmap_temporary_file(std::byte* data, std::size_t bytes) noexcept;

/// Takes the contents out of physical memory. They are read again when they are used.
void leave_memory(std::byte* data, std::size_t bytes) noexcept;

}  // namespace dmlconform::core
