// Loads and checks expectation files, and prints messages about them.
#include "app/expectation_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "app/messages.h"
#include "app/standard_streams.h"
#include "engine/core/text_file.h"
#include "engine/directml/wine/command.h"
#include "engine/expectations/expectation_file.h"
#include "engine/report/file_lock.h"
#include "engine/report/output_file.h"

namespace dmlconform::app {
namespace {

/// Further messages of the same kind are omitted.
constexpr std::size_t most_notes = 20;

template <class Say>
void print_notes(const std::vector<const expectations::Expectation*>& list, const Say& note) {
    for (std::size_t i = 0; i < std::min(list.size(), most_notes); ++i) {
        warn("{}: note: {}\n", list[i]->location(), note(*list[i]));
    }
    if (list.size() > most_notes) {
        warn("dmlconform: and {} more\n", list.size() - most_notes);
    }
}

/// The cases of an entry: "slice1/*", or their number.
std::string cases_text(const expectations::Expectation& entry) {
    if (entry.cases.empty()) {
        return fmt::format("\"{}\"", fmt::join(entry.operators, "\", \""));
    }
    return entry.cases.size() == 1 ? fmt::format("\"{}\"", entry.cases.front())
                                   : fmt::format("\"{}\" and {} more", entry.cases.front(), entry.cases.size() - 1);
}

}  // namespace

void ExpectationOptions::add_reading_to(Command command) {
    command
        .add_option(
            "--expect", files,
            "A file of expectations: known failures, skips and flakes (docs/expectations.md). Repeat it for more")
        .path("FILE")
        .allow_extra_args(false);
    command.add_flag(
        "--no-default-expectations", no_defaults,
        "Do not use the expectations that come with dmlconform (for DirectML under Wine). --expect does not "
        "use them either");
}

void ExpectationOptions::add_to(Command command) {
    add_reading_to(command);
    command
        .add_flag("--update-expectations", update,
                  "After the run, remove what passes from the expectations, and add what fails to the last file")
        .needs("--expect");
}

bool ExpectationOptions::take_defaults(const std::vector<EngineInfo>& engines) {
    if (no_defaults || !files.empty()) {
        return false;
    }
    for (const EngineInfo& engine : engines) {
        const auto file = directml::wine::default_expectations(engine);
        if (file && std::find(files.begin(), files.end(), *file) == files.end()) {
            files.push_back(*file);
        }
    }
    are_defaults = !files.empty();
    return are_defaults;
}

std::vector<std::string> ExpectationOptions::words() const {
    std::vector<std::string> list;
    // The files will be rewritten so that the failure is expected.
    if (update) {
        return words_elsewhere();
    }
    if (no_defaults) {
        list.emplace_back("--no-default-expectations");
    }
    for (const std::string& file : files) {
        list.emplace_back("--expect");
        list.push_back(file);
    }
    return list;
}

std::vector<std::string> ExpectationOptions::words_elsewhere() const {
    const bool defaults = files.empty() || are_defaults;
    return no_defaults || !defaults ? std::vector<std::string>{"--no-default-expectations"}
                                    : std::vector<std::string>();
}

void add_known_files(Command command, std::vector<std::string>& files) {
    command
        .add_option(
            "--expect", files,
            "A file of expectations (docs/expectations.md). It says how engines are known to differ. Repeat it for "
            "more")
        .path("FILE")
        .allow_extra_args(false);
}

std::optional<std::vector<expectations::Expectation>> read_expectations(const std::vector<std::string>& files) {
    std::vector<expectations::Expectation> all;
    std::vector<cases::Problem> problems;
    for (const std::string& path : files) {
        auto file = expectations::load_expectations(path);
        cases::append_problems(std::move(file.problems), problems);
        std::move(file.expectations.begin(), file.expectations.end(), std::back_inserter(all));
    }
    if (!problems.empty()) {
        print_problems(problems, "the expectations");
        return std::nullopt;
    }
    return all;
}

std::unique_ptr<run::ExpectedResults> load_expectations(const ExpectationOptions& options) {
    std::vector<std::string> files = options.files;
    if (options.update) {
        // will be created
        std::erase_if(files, [](const std::string& path) { return !std::filesystem::exists(path); });
    }
    auto all = read_expectations(files);
    if (!all) {
        return nullptr;
    }
    auto expected = std::make_unique<run::ExpectedResults>(std::move(*all), expectations::today());
    print_notes(expected->expired(), [](const expectations::Expectation& entry) {
        return fmt::format("expired on {}, so it no longer counts: {}", expectations::to_string(*entry.expires),
                           entry.title());
    });
    return expected;
}

core::Result<void> update_expectations(const ExpectationOptions& options, const run::ExpectationUpdate& update,
                                       std::span<const EngineInfo> engines, bool complete) {
    for (const std::string& path : options.files) {
        // Another run may change the same file at the same time.
        const auto lock = report::FileLock::take(path);
        if (!lock) {
            return tl::unexpected(lock.error());
        }
        core::Result<std::string> text = run::empty_expectations();
        if (std::filesystem::exists(path)) {
            text = core::read_text_file(path, expectations::largest_file);
        }
        if (!text) {
            return core::fail(fmt::format("{}: {}", path, text.error().message));
        }
        const auto updated = update.update(path, *text, engines, complete, path == options.files.back());
        if (!updated) {
            return tl::unexpected(updated.error());
        }
        if (updated->text != *text) {
            if (auto written = report::write_file(path, updated->text); !written) {
                return written;
            }
        }
        for (const std::string& change : updated->changes) {
            say("{}\n", change);
        }
    }
    return {};
}

void print_unused(const run::ExpectedResults& expected) {
    print_notes(expected.unused(), [](const expectations::Expectation& entry) {
        return fmt::format("not used: there was no result for {} with status {}", cases_text(entry),
                           expectations::to_string(entry.expected));
    });
}

}  // namespace dmlconform::app
