// The progress line on a terminal, which is overwritten during the run.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace dmlconform::report {

/// For example "[120/480] 25% 3 failed 40 s left 512 MB". The time assumes that the remaining cases take as long as the
/// others. `memory` is what this process takes in bytes, or 0.
[[nodiscard]] std::string progress_text(std::size_t done, std::size_t total, std::size_t failed,
                                        std::chrono::nanoseconds elapsed, std::uint64_t memory);

class ProgressLine {
public:
    /// Writes to `stream` if `enabled`; otherwise does nothing.
    ProgressLine(std::FILE* stream, bool enabled) : stream_(stream), enabled_(enabled) {}
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ~ProgressLine() { clear(); }

    /// Updates the line, at most about twenty times per second.
    void show(std::size_t done, std::size_t total, std::size_t failed, const std::string& current);
    /// Removes the line, so that something else can be printed.
    void clear();

private:
    void write(std::string_view text);

    std::FILE* stream_;
    bool enabled_;
    bool visible_ = false;
    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point last_;
};

}  // namespace dmlconform::report
