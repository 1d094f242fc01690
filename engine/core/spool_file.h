// A temporary file without a name, for data that must be written later.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/core/error.h"

namespace dmlconform::core {

/// Disappears when the program ends, however it ends.
class SpoolFile {
public:
    [[nodiscard]] Result<void> append(std::string_view text);
    [[nodiscard]] std::uint64_t size() const { return size_; }
    /// Reads the whole file in chunks.
    [[nodiscard]] Result<void> read(const std::function<Result<void>(std::string_view)>& take);
    /// A part of it.
    [[nodiscard]] Result<std::string> read(std::uint64_t offset, std::size_t length);
    [[nodiscard]] Result<void> read(std::uint64_t offset, std::span<char> to);

private:
    [[nodiscard]] Result<void> seek(std::uint64_t offset);

    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, Close> file_;
    std::uint64_t size_ = 0;
    /// True if the position is at the end of the file.
    bool at_end_ = true;
};

}  // namespace dmlconform::core
