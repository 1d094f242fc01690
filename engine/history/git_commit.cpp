// Runs git.
#include "engine/history/git_commit.h"

#include <algorithm>
#include <array>
#include <span>

#include "engine/worker/child_process.h"

namespace dmlconform::history {
namespace {

/// Time limit. For "-dirty", git looks at every file.
constexpr std::chrono::seconds longest{30};
constexpr std::size_t longest_commit = 200;

}  // namespace

bool is_commit(const std::string& text) {
    return !text.empty() && text.size() <= longest_commit &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

std::optional<std::string> git_commit() {
    using worker::ChildProcess;
    const auto git =
        ChildProcess::start({{"git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"}, {}, ""});
    if (!git) {
        return std::nullopt;
    }
    std::string text;
    const auto deadline = ChildProcess::Clock::now() + longest;
    std::array<std::byte, 1> byte{};
    while (text.size() <= longest_commit) {
        std::span<std::byte> to(byte);
        if ((*git)->read(to, deadline) != ChildProcess::Outcome::done) {
            break;
        }
        text += static_cast<char>(byte[0]);
    }
    text.erase(std::find_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }), text.end());
    return is_commit(text) ? std::optional(text) : std::nullopt;
}

}  // namespace dmlconform::history
