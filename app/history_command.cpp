// `dmlconform history`: stores results over time in an SQLite file.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "app/command.h"
#include "app/documents.h"
#include "app/history_report.h"
#include "app/interrupt.h"
#include "app/messages.h"
#include "app/number_options.h"
#include "app/percentage_option.h"
#include "app/standard_streams.h"
#include "app/terminal.h"
#include "engine/history/export.h"
#include "engine/history/git_commit.h"
#include "engine/history/moment.h"
#include "engine/history/store.h"
#include "engine/report/console_style.h"

namespace dmlconform::app {
namespace {

using history::Store;

constexpr const char* default_file = "dmlconform-history.sqlite";

struct HistoryOptions {
    std::string file = default_file;
    // options of `add`
    std::vector<std::string> results;
    std::string commit;
    // options of `show`
    HistoryView view;
    bool no_color = false;
    // options of `export`
    std::string format;
    std::optional<std::int64_t> entry;
    std::string output;
};

/// Empty if a file is not a result; all such files have been reported.
std::optional<std::vector<history::Submission>> read_all(const std::vector<std::string>& paths,
                                                         const std::string& commit) {
    std::vector<history::Submission> submissions;
    for (const std::string& path : paths) {
        auto record = history::read_record(path);
        if (record) {
            submissions.push_back({std::move(*record), commit, path});
        } else {
            print_error(record.error());
        }
    }
    if (submissions.size() != paths.size()) {
        warn("dmlconform: nothing was added\n");
        return std::nullopt;
    }
    return submissions;
}

void print_added(const history::Submission& submission, const history::Added& added) {
    const std::string of = added.commit.empty() ? "" : " of commit " + added.commit;
    if (!added.known) {
        say("{}: added as entry {}{}\n", submission.source, added.entry, of);
        return;
    }
    say("{}: already added, as entry {}{}\n", submission.source, added.entry, of);
    if (!submission.commit.empty() && submission.commit != added.commit) {
        warn("note: entry {} stays{}; it is not given commit {}\n", added.entry, of.empty() ? " without a commit" : of,
             submission.commit);
    }
}

int add_command(const HistoryOptions& options) {
    // Signals are deferred: ending within a transaction would leave a journal behind.
    catch_interrupts();
    const auto submissions = read_all(options.results, options.commit);
    if (!submissions) {
        return exit_usage;
    }
    auto all = *submissions;
    if (options.commit.empty()) {
        const auto commit = history::git_commit();
        if (!commit) {
            warn("note: no commit is known here; --commit NAME says which one the results belong to\n");
        }
        for (history::Submission& submission : all) {
            submission.commit = commit.value_or("");
        }
    }
    if (interrupted()) {
        warn("dmlconform: interrupted; nothing was added\n");
        return interrupt_exit_code();
    }
    const auto store = Store::open(options.file, Store::Access::write);
    if (!store) {
        return failure(store.error(), store.error().of_the_disk ? exit_not_run : exit_usage);
    }
    const auto added = (*store)->add(all);
    if (!added) {
        return failure(added.error(), exit_not_run);
    }
    for (std::size_t i = 0; i < added->size(); ++i) {
        print_added(all[i], (*added)[i]);
    }
    return interrupted() ? interrupt_exit_code() : exit_ok;
}

int show_command(const HistoryOptions& options) {
    const auto store = Store::open(options.file, Store::Access::read);
    if (!store) {
        return failure(store.error(), exit_usage);
    }
    const report::ConsoleStyle style(use_color(options.no_color));
    const auto text = history_report(**store, options.view, style);
    if (!text) {
        return failure(text.error(), exit_usage);
    }
    print(*text);
    return exit_ok;
}

int gate_command(const HistoryOptions& options) {
    const auto store = Store::open(options.file, Store::Access::read);
    if (!store) {
        return failure(store.error(), exit_usage);
    }
    const auto verdict = history_verdict(**store, options.view, report::ConsoleStyle(use_color(options.no_color)));
    if (!verdict) {
        return failure(verdict.error(), exit_usage);
    }
    print(verdict->text);
    if (verdict->slower != 0) {
        return exit_unexpected;
    }
    return verdict->maybe_slower != 0 || !verdict->tells() ? exit_cannot_tell : exit_ok;
}

/// The entry asked for, or else the newest one of benchmarks, or else the newest one.
core::Result<history::Entry> entry_to_export(Store& store, const std::optional<std::int64_t>& id) {
    const auto entries = store.entries();
    if (!entries) {
        return tl::unexpected(entries.error());
    }
    auto found = std::find_if(entries->rbegin(), entries->rend(), [&](const history::Entry& entry) {
        return id ? entry.id == *id : entry.kind == history::Kind::bench;
    });
    if (found == entries->rend() && id) {
        return core::fail(fmt::format("there is no entry {} in the history", *id),
                          "`dmlconform history show --entries` lists them");
    }
    if (found == entries->rend() && entries->empty()) {
        return core::fail("there is nothing in the history");
    }
    return found == entries->rend() ? entries->back() : *found;
}

core::Result<std::string> exported(Store& store, const HistoryOptions& options) {
    if (options.format == "csv" && options.entry) {
        return core::fail("--entry is for --format bmf and --format gbench", "--format csv writes all entries");
    }
    if (options.format == "csv") {
        return history::csv(store);
    }
    const auto entry = entry_to_export(store, options.entry);
    if (!entry) {
        return tl::unexpected(entry.error());
    }
    const auto record = store.record(entry->id);
    if (!record) {
        return tl::unexpected(record.error());
    }
    if (options.format == "bmf") {
        return history::bencher_metrics(*record);
    }
    if (record->times.empty()) {
        return core::fail(fmt::format("entry {} has no benchmarks: it is a result of `dmlconform run`", entry->id),
                          "--format bmf and --format csv have its outcomes");
    }
    return history::google_benchmark_json(*record, *entry);
}

int export_command(const HistoryOptions& options) {
    const auto store = Store::open(options.file, Store::Access::read);
    if (!store) {
        return failure(store.error(), exit_usage);
    }
    const auto text = exported(**store, options);
    if (!text) {
        return failure(text.error(), exit_usage);
    }
    return write_output(options.output, *text, {options.file});
}

void set_up_add(Command command, const std::shared_ptr<HistoryOptions>& options) {
    command.add_option("RESULT", options->results, "Results of `run --json` or `bench --benchmark_out`")
        .required()
        .path("RESULT")
        .expected(1, -1);
    command.add_option("--commit", options->commit, "The commit that the results belong to. Default: what git says")
        .type_name("COMMIT")
        .check([](const std::string& text) {
            return history::is_commit(text) ? std::string() : "this is not the name of a commit: \"" + text + "\"";
        });
}

void set_up_judging(Command command, const std::shared_ptr<HistoryOptions>& options) {
    command.add_option("--filter", options->view.filter, "Only benchmarks and operators whose name matches")
        .type_name("GLOB");
    add_percentage(command, "--threshold", options->view.settings.threshold, "Ignore changes up to this");
    command.add_option("--window", options->view.settings.window, "Compare a result with this many before it")
        .type_name("N")
        .capture_default_str()
        .transform(whole_number(3, 1000));
    command.add_flag("--no-color", options->no_color, "Do not use colours, as with the environment variable NO_COLOR");
}

void set_up_show(Command command, const std::shared_ptr<HistoryOptions>& options) {
    set_up_judging(command, options);
    command.add_flag("--entries", options->view.entries, "List the entries instead");
}

void set_up_export(Command command, const std::shared_ptr<HistoryOptions>& options) {
    command.add_option("--format", options->format, "bmf (for Bencher), gbench (Google Benchmark), or csv (everything)")
        .required()
        .type_name("FORMAT")
        .one_of({"bmf", "gbench", "csv"});
    command
        .add_option("--entry", options->entry,
                    "The entry to write, for bmf and gbench. Default: the newest one with benchmarks")
        .type_name("N")
        .transform(whole_number(1, std::numeric_limits<std::int64_t>::max()));
    command.add_option("--output", options->output, "Write to this file. Default: the standard output").path("FILE");
}

}  // namespace

void add_history_command(Command app, int& exit_code) {
    auto options = std::make_shared<HistoryOptions>();
    const Command command = app.add_subcommand("history", "Keep results over time, and find where something changed");
    command.require_subcommand(1);
    const auto add = [&](const char* name, const char* help, auto set_up, auto run) {
        const Command sub = command.add_subcommand(name, help);
        sub.add_option("--history", options->file, "The file with the history").path("FILE").capture_default_str();
        set_up(sub, options);
        sub.callback([options, run, &exit_code] { exit_code = run(*options); });
    };
    add("add", "Add results. A result that was added before is not added again", set_up_add, add_command);
    add("show", "Show trends, and where something changed", set_up_show, show_command);
    add("gate",
        "Say which benchmarks are slower than before. The exit code is 1 if any is, and 4 if only later results will "
        "tell",
        set_up_judging, gate_command);
    add("export", "Write results for other tools", set_up_export, export_command);
}

}  // namespace dmlconform::app
