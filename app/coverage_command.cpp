// `dmlconform coverage`: reports what a set of cases covers of the operators, and what it does not.
#include <fmt/format.h>

#include <memory>
#include <set>
#include <string_view>

#include "app/command.h"
#include "app/messages.h"
#include "app/standard_streams.h"
#include "engine/core/text_file.h"
#include "engine/operators/catalogue.h"
#include "engine/run/coverage.h"

namespace dmlconform::app {
namespace {

/// Limit for the size of the file of reasons.
constexpr std::uintmax_t largest_reasons = std::uintmax_t{64} << 20;

struct CoverageOptions {
    std::vector<std::string> paths;
    /// Short names; empty: all operators.
    std::set<std::string, std::less<>> operators;
    std::string reasons;
    bool missing_only = false;
};

std::optional<run::CoverageReasons> load_reasons(const std::string& path) {
    if (path.empty()) {
        return run::CoverageReasons{};
    }
    const auto text = core::read_text_file(path, largest_reasons);
    auto reasons = text ? run::parse_coverage_reasons(*text) : tl::unexpected(text.error());
    if (!reasons) {
        warn("dmlconform: {}: {}\n", path, reasons.error().message);
        return std::nullopt;
    }
    return std::move(*reasons);
}

/// Prints the items. Returns how many are neither covered nor excused. Adds the keys of reasons that are used to
/// `used`.
std::size_t print_lines(const std::vector<run::CoverageLine>& lines, const run::CoverageReasons& reasons,
                        bool missing_only, std::set<std::string>& used) {
    std::size_t missing = 0;
    for (const run::CoverageLine& line : lines) {
        const auto reason = run::find_reason(reasons, line);
        std::string state = fmt::format("{:>6} cases", line.cases);
        if (line.cases == 0) {
            state = reason == reasons.end() ? "NOT COVERED " : "not covered ";
            missing += reason == reasons.end() ? 1 : 0;
        }
        if (line.cases == 0 || !missing_only) {
            say("{}  {:<30} {:<9} {}{}\n", state, line.op, line.kind, line.item,
                line.cases == 0 && reason != reasons.end() ? ": " + reason->second : "");
        }
        if (line.cases == 0 && reason != reasons.end()) {
            used.insert(reason->first);
        }
    }
    return missing;
}

int coverage(const CoverageOptions& options) {
    CaseOptions everything;
    everything.paths = options.paths;
    const auto selection = load_selection(everything);
    const auto reasons = load_reasons(options.reasons);
    if (!selection || !reasons) {
        return exit_usage;
    }
    std::vector<cases::Case> all;
    selection->for_each([&](const cases::Case& subject) { all.push_back(subject); });
    const auto is_chosen = [&](std::string_view op) {
        return options.operators.empty() || options.operators.contains(op);
    };
    auto lines = run::coverage(all);
    std::erase_if(lines, [&](const run::CoverageLine& line) { return !is_chosen(line.op); });
    std::set<std::string> used;
    const std::size_t missing = print_lines(lines, *reasons, options.missing_only, used);
    // A reason that is no longer needed would hide the next gap.
    std::size_t unused = 0;
    for (const auto& [key, reason] : *reasons) {
        if (!used.contains(key) && is_chosen(std::string_view(key).substr(0, key.find(' ')))) {
            say("unused reason: {}\n", key);
            ++unused;
        }
    }
    say("{} lines, {} not covered without a reason, {} reasons not used\n", lines.size(), missing, unused);
    return missing == 0 && unused == 0 ? exit_ok : exit_unexpected;
}

}  // namespace

void add_coverage_command(Command app, int& exit_code) {
    auto options = std::make_shared<CoverageOptions>();
    const Command command = app.add_subcommand(
        "coverage", "Show which types, ranks, attributes and rules of the operators the cases cover");
    command.add_option("paths", options->paths, "Case files or folders").required().type_name("PATH");
    command
        .add_texts_option(
            "--operator",
            [options](const std::vector<std::string>& names) {
                for (const std::string& name : names) {
                    const operators::OperatorSchema* schema = operators::find_operator(name);
                    if (schema == nullptr) {
                        throw_wrong_value("--operator", unknown_operator(name).message);
                    }
                    options->operators.emplace(schema->short_name());
                }
            },
            "Report only this operator. Repeat it for more")
        .type_name("OPERATOR")
        .allow_extra_args(false);
    command.add_option("--reasons", options->reasons, "A file with the reasons why lines may stay uncovered")
        .path("FILE");
    command.add_flag("--missing", options->missing_only, "Show only what is not covered");
    command.callback([options, &exit_code] { exit_code = coverage(*options); });
}

}  // namespace dmlconform::app
