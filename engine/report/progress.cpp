// Drawing of the progress line.
#include "engine/report/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/core/resident_memory.h"
#include "engine/core/shown_text.h"

namespace dmlconform::report {

namespace {

std::string memory_text(std::uint64_t bytes) {
    constexpr double mega = 1e6;
    constexpr double giga = 1e9;
    const auto number = static_cast<double>(bytes);
    return bytes == 0      ? ""
           : number < giga ? fmt::format(" {:.0f} MB", number / mega)
                           : fmt::format(" {:.1f} GB", number / giga);
}

}  // namespace

std::string progress_text(std::size_t done, std::size_t total, std::size_t failed, std::chrono::nanoseconds elapsed,
                          std::uint64_t memory) {
    constexpr std::chrono::seconds too_early_to_tell{2};
    std::string text = fmt::format("[{}/{}] {}%", done, total, total == 0 ? 100 : 100 * done / total);
    if (failed != 0) {
        text += fmt::format(" {} failed", failed);
    }
    if (done == 0 || elapsed < too_early_to_tell) {
        return text + memory_text(memory);
    }
    const double left =
        std::chrono::duration<double>(elapsed).count() * static_cast<double>(total - done) / static_cast<double>(done);
    const auto seconds = static_cast<std::uint64_t>(std::ceil(left));
    text += seconds < 60     ? fmt::format(" {} s left", seconds)
            : seconds < 3600 ? fmt::format(" {}:{:02} min left", seconds / 60, seconds % 60)
                             : fmt::format(" {}:{:02} h left", seconds / 3600, seconds / 60 % 60);
    return text + memory_text(memory);
}

void ProgressLine::show(std::size_t done, std::size_t total, std::size_t failed, const std::string& current) {
    const auto now = std::chrono::steady_clock::now();
    if (!enabled_ || now - last_ < std::chrono::milliseconds(50)) {
        return;
    }
    last_ = now;
    // Short enough for narrow terminals, because a line that wraps cannot be overwritten.
    std::string line =
        progress_text(done, total, failed, now - begun_, core::resident_memory()) + " " + core::one_line(current);
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
    // Errors are ignored.
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stream_));
    std::fflush(stream_);
}

}  // namespace dmlconform::report
