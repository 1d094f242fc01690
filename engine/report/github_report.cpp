// Writes workflow commands: "::error file=…,line=…,title=…::message".
#include "engine/report/github_report.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "engine/core/shown_text.h"

namespace dmlconform::report {
namespace {

/// GitHub shows ten annotations of each kind per step. The last one says how many more there are.
constexpr std::size_t most_annotations = 9;

std::string escaped(std::string_view text, bool is_property) {
    std::string result;
    for (const char c : core::one_line(text)) {
        const bool special = c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ','));
        result += special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
    }
    return result;
}

/// GitHub needs paths below the folder of the checkout, whichever folder the program runs in.
std::string shown_path(const std::string& file, const std::string& workspace) {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::absolute(file, error);
    if (workspace.empty() || error) {
        return file;
    }
    const std::string relative = path.lexically_normal().lexically_relative(workspace).generic_string();
    return relative.empty() || relative.starts_with("..") ? file : relative;
}

}  // namespace

core::Result<void> GithubReport::begin(const RunContext& /*context*/, std::span<const EngineInfo> engines) {
    for (const EngineInfo& engine : engines) {
        engines_.push_back(engine.name);
    }
    return {};
}

core::Result<void> GithubReport::add(const run::CaseResult& result) {
    const bool error = run::is_failure(result.status);
    if (!result.gated || (!error && result.status != run::Status::flake)) {
        return {};
    }
    std::size_t& count = error ? errors_ : warnings_;
    if (++count <= most_annotations) {
        const std::string title =
            fmt::format("{}: {} on {}", to_string(result.status), result.subject->id, engines_[result.engine]);
        // Models have no lines.
        const std::size_t line = result.subject->line;
        // The console's text may end with an incomplete line.
        return write(fmt::format("\n::{} file={}{},title={}::{}\n", error ? "error" : "warning",
                                 escaped(shown_path(result.subject->file, workspace_), true),
                                 line == 0 ? "" : fmt::format(",line={}", line), escaped(title, true),
                                 escaped(message_of(result), false)));
    }
    return {};
}

core::Result<void> GithubReport::write(std::string_view text) {
    errno = 0;
    if (std::fwrite(text.data(), 1, text.size(), stream_) != text.size() || std::fflush(stream_) != 0) {
        return core::fail(fmt::format("the annotations cannot be written: {}", std::strerror(errno)));
    }
    return {};
}

core::Result<void> GithubReport::finish(const run::RunTotals& totals, int exit_code) {
    std::string text;
    if (errors_ > most_annotations) {
        text += fmt::format("::error title=dmlconform::and {} more failures; the log has all of them\n",
                            errors_ - most_annotations);
    }
    if (warnings_ > most_annotations) {
        text += fmt::format("::warning title=dmlconform::and {} more flakes\n", warnings_ - most_annotations);
    }
    if (exit_code != 0 && totals.verified() == 0 && totals.failures() == 0) {
        text += "::error title=dmlconform::nothing was verified\n";
    }
    return write(text);
}

}  // namespace dmlconform::report
