// A file without a name, for what has to be written later than it is known.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "engine/core/error.h"

namespace dmlconform::report {

/// Is gone when the program ends, however it ends.
class SpoolFile {
public:
    [[nodiscard]] core::Result<void> append(std::string_view text);
    [[nodiscard]] std::uint64_t size() const { return size_; }
    /// All of it, piece by piece.
    [[nodiscard]] core::Result<void> read(const std::function<core::Result<void>(std::string_view)>& take);
    /// A part of it.
    [[nodiscard]] core::Result<std::string> read(std::uint64_t offset, std::size_t length);

private:
    [[nodiscard]] core::Result<void> seek(std::uint64_t offset);

    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, Close> file_;
    std::uint64_t size_ = 0;
    /// Whether the file stands at its end.
    bool at_end_ = true;
};

}  // namespace dmlconform::report
