// Drawing of the progress line.
#include "engine/report/progress.h"

#include <fmt/format.h>

#include <algorithm>

namespace dmlconform::report {

void ProgressLine::show(std::size_t done, std::size_t total, std::size_t failed, const std::string& current) {
    const auto now = std::chrono::steady_clock::now();
    if (!enabled_ || now - last_ < std::chrono::milliseconds(50)) {
        return;
    }
    last_ = now;
    // Short enough for the narrowest terminal: a line that wraps cannot be written over.
    std::string line = fmt::format("[{}/{}]", done, total);
    if (failed != 0) {
        line += fmt::format(" {} failed", failed);
    }
    line += fmt::format(" {}", current);
    line.resize(std::min<std::size_t>(line.size(), 78));
    fmt::print(stream_, "\r\x1b[K{}", line);
    std::fflush(stream_);
    visible_ = true;
}

void ProgressLine::clear() {
    if (visible_) {
        fmt::print(stream_, "\r\x1b[K");
        std::fflush(stream_);
        visible_ = false;
    }
}

}  // namespace dmlconform::report
