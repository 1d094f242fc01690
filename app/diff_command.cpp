// `dmlconform diff`: compares two results.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "app/command.h"
#include "app/documents.h"
#include "app/messages.h"
#include "app/standard_streams.h"
#include "app/terminal.h"
#include "engine/operators/operator_name.h"
#include "engine/report/console_style.h"
#include "engine/report/output_file.h"
#include "engine/report/result_diff.h"
#include "engine/report/text_table.h"

namespace dmlconform::app {
namespace {

using report::DiffKind;

struct DiffOptions {
    std::string base;
    std::string now;
    std::string json;
    std::vector<std::string> allow;
    bool allow_missing = false;
    bool all = false;
    bool no_color = false;
};

/// Regressions that --allow accepts. New failures are not among them.
const std::map<std::string, DiffKind> allowable{{"excused", DiffKind::excused},
                                                {"unverified", DiffKind::unverified},
                                                {"left-gate", DiffKind::left_gate},
                                                {"missing", DiffKind::missing}};

std::set<DiffKind> allowed_by(const DiffOptions& options) {
    std::set<DiffKind> allowed;
    for (const std::string& name : options.allow) {
        allowed.insert(allowable.at(name));
    }
    if (options.allow_missing) {
        allowed.insert(DiffKind::missing);
    }
    return allowed;
}

run::Status colour_of(DiffKind kind) {
    return report::is_regression(kind) ? run::Status::fail
           : kind == DiffKind::fixed   ? run::Status::pass
                                       : run::Status::skip;
}

/// Counts of changes by operator and engine.
void print_counts(const report::ResultDiff& diff, const report::ConsoleStyle& style) {
    report::TextTable table({"operator", "engine"});
    for (std::size_t kind = 0; kind < report::diff_kind_count; ++kind) {
        table.add_count_column(to_string(static_cast<DiffKind>(kind)), colour_of(static_cast<DiffKind>(kind)));
    }
    for (const auto& [key, counts] : diff.counts) {
        table.add_row({std::string(operators::short_name_of(key.first)), key.second}, {counts.begin(), counts.end()});
    }
    print(table.text(output_width(), style));
}

void print_changes(const report::ResultDiff& diff, const DiffOptions& options, const report::ConsoleStyle& style) {
    constexpr std::size_t most_of_a_kind = 20;
    std::size_t shown = 0;
    for (std::size_t i = 0; i < diff.changes.size(); ++i) {
        const report::ChangedResult& change = diff.changes[i];
        const bool first = i == 0 || diff.changes[i - 1].kind != change.kind;
        shown = first ? 1 : shown + 1;
        if (shown <= most_of_a_kind || options.all) {
            say("{} {} on {}: {}{}{}{}\n",
                style.status(colour_of(change.kind), core::show("{}", to_string(change.kind))), change.id,
                change.engine, change.before.empty() ? "not there" : change.before + " before",
                change.now.empty() ? "" : ", " + change.now + " now", change.reason.empty() ? "" : ": " + change.reason,
                change.gated ? "" : " (off the gate)");
        } else if (i + 1 == diff.changes.size() || diff.changes[i + 1].kind != change.kind) {
            say("… and {} more {} (--all lists them)\n", shown - most_of_a_kind, to_string(change.kind));
        }
    }
}

void print_verdict(const report::ResultDiff& diff, const DiffOptions& options) {
    std::vector<std::string> parts;
    for (std::size_t kind = 0; kind < report::diff_kind_count; ++kind) {
        const auto which = static_cast<DiffKind>(kind);
        if (const std::size_t count = diff.count(which); count != 0) {
            parts.push_back(fmt::format("{} {}", count, to_string(which)));
        }
    }
    parts.push_back(fmt::format("{} as before", diff.same));
    if (diff.still_failing != 0) {
        parts.push_back(fmt::format("{} of them still failing", diff.still_failing));
    }
    say("{}\n", core::show_list(parts, ", "));
    const auto allowed = allowed_by(options);
    for (const auto& [name, kind] : allowable) {
        if (diff.count(kind) != 0 && !allowed.contains(kind)) {
            say("{}: a regression; --allow {} accepts it\n", to_string(kind), name);
        }
    }
}

int diff_command(const DiffOptions& options) {
    if (!can_write_documents({options.json}, {options.base, options.now})) {
        return exit_usage;
    }
    const auto diff = report::diff_results(options.base, options.now);
    if (!diff) {
        return failure(diff.error(), exit_usage);
    }
    const int exit_code = diff->regressed(allowed_by(options)) ? exit_unexpected : exit_ok;
    const auto document = [&] {
        return to_json(*diff).dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    };
    if (!write_document(options.json, document)) {
        return exit_not_run;
    }
    if (options.json == report::standard_output_path) {
        return exit_code;
    }
    const report::ConsoleStyle style(use_color(options.no_color));
    for (const std::string& device : diff->devices) {
        say("other device: {}\n", device);
    }
    print_changes(*diff, options, style);
    if (!diff->counts.empty()) {
        say("\n");
        print_counts(*diff, style);
        say("\n");
    }
    print_verdict(*diff, options);
    return exit_code;
}

}  // namespace

void add_diff_command(Command app, int& exit_code) {
    auto options = std::make_shared<DiffOptions>();
    const Command command = app.add_subcommand(
        "diff", "Say what changed between two results of `run --json`. The exit code is 1 for regressions");
    command.add_option("BASE", options->base, "The older result").required().path("RESULT");
    command.add_option("NEW", options->now, "The newer result").required().path("RESULT");
    command.add_option("--json", options->json, "Write the changes as JSON to this file. - is the standard output")
        .path("FILE");
    command.add_flag("--allow-missing", options->allow_missing,
                     "Accept that results of the base are missing, as --allow missing does");
    command
        .add_option("--allow", options->allow,
                    "Accept regressions of this kind: failures that are newly `excused` by expectations, results that "
                    "are `unverified` now, that have `left-gate`, or that are `missing`")
        .type_name("KIND")
        .one_of(keys_of(allowable))
        .allow_extra_args(false);
    command.add_flag("--all", options->all, "List all changes, and not only the first of each kind");
    command.add_flag("--no-color", options->no_color, "Do not use colours, as with the environment variable NO_COLOR");
    command.callback([options, &exit_code] { exit_code = diff_command(*options); });
}

}  // namespace dmlconform::app
