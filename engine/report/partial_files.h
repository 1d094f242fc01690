// Names of incomplete files, so that a signal handler can remove them.
#pragma once

#include <cstddef>
#include <filesystem>

namespace dmlconform::report {

/// Registers the name of an incomplete file for remove_partial_files during its lifetime.
class PartialFile {
public:
    PartialFile() = default;
    explicit PartialFile(const std::filesystem::path& path);
    PartialFile(PartialFile&& other) noexcept;
    PartialFile& operator=(PartialFile&& other) noexcept;
    ~PartialFile();

private:
    std::size_t slot_ = none;
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
};

/// Removes all registered files. Safe in a signal handler. Does nothing on Windows, where open files cannot be removed.
void remove_partial_files() noexcept;

}  // namespace dmlconform::report
