// Drawing of the progress line.
#include "engine/report/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/shown_text.h"

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
    line += fmt::format(" {}", core::one_line(current));
    line.resize(std::min<std::size_t>(line.size(), 78));
    write("\r\x1b[K" + line);
    visible_ = true;
}

void ProgressLine::clear() {
    if (visible_) {
        write("\r\x1b[K");
        visible_ = false;
    }
}

void ProgressLine::write(std::string_view text) {
    // What cannot be written is not missed.
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stream_));
    std::fflush(stream_);
}

}  // namespace dmlconform::report
