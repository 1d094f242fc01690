// Reads failed cases, engines and options from a result.
#include "app/rerun_option.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "app/command.h"
#include "app/recorded_words.h"
#include "engine/report/result_file.h"
#include "engine/run/engine_list.h"
#include "engine/run/worker_engines.h"

namespace dmlconform::app {
namespace {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

void add_once(std::vector<std::string>& list, const std::string& text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) {
        list.push_back(text);
    }
}

/// True if -j or --jobs is given, which excludes --isolate.
bool has_jobs(const Words& words) {
    return std::ranges::any_of(words, [](const std::string& word) {
        return word.starts_with("-j") || word == "--jobs" || word.starts_with("--jobs=");
    });
}

struct CarriedOption {
    std::string_view name;
    bool has_value = true;
};

/// Options that affect how cases are made, run and judged.
constexpr std::array carried_options{CarriedOption{"--against"},
                                     CarriedOption{"--expect"},
                                     CarriedOption{"--no-default-expectations", false},
                                     CarriedOption{"--adapter"},
                                     CarriedOption{"--feature-level"},
                                     CarriedOption{"--directml"},
                                     CarriedOption{"--execution-flag"},
                                     CarriedOption{"--isolate", false},
                                     CarriedOption{"--timeout"},
                                     CarriedOption{"--max-hangs"},
                                     CarriedOption{"--retries"},
                                     CarriedOption{"--max-memory"},
                                     CarriedOption{"--graph-mode"},
                                     CarriedOption{"--precision"},
                                     CarriedOption{"--repeat"},
                                     CarriedOption{"--times", false},
                                     CarriedOption{"--allow-external-data", false},
                                     CarriedOption{"--include-unspecified", false},
                                     CarriedOption{"--strict", false},
                                     CarriedOption{"--fail-on-skip", false},
                                     CarriedOption{"--sizes"},
                                     CarriedOption{"--strides"},
                                     CarriedOption{"--attr"},
                                     CarriedOption{"--batch"},
                                     CarriedOption{"--type"}};

Words words_in(const Json& document) {
    Words words;
    if (const auto command = document.find("command"); command != document.end() && command->is_array()) {
        for (const Json& word : *command) {
            words.push_back(word.is_string() ? word.get<std::string>() : "");
        }
    }
    return words;
}

/// Collects reasons against a run other than failures of cases.
class Doubts {
public:
    void add(const Json& result, run::Status status, const std::string& engine) {
        const bool skipped = status == run::Status::skip;
        skipped_ += skipped && !result.contains("expectation") && result["gated"].get<bool>() ? 1 : 0;
        worked_[engine] = worked_[engine] || !skipped;
    }

    [[nodiscard]] Words of(const Json& document, const Words& words, int exit_code) const {
        Words doubts;
        if (exit_code >= 128) {
            doubts.emplace_back("it was interrupted, so that not all cases were run");
        }
        if (has_option(words, "--fail-fast")) {
            doubts.emplace_back("it ended with the first failure (--fail-fast), so that not all cases were run");
        }
        for (const char* option : {"--max-failures", "--maxfail", "--deadline"}) {
            if (!option_words(words, option, true).empty()) {
                doubts.push_back(fmt::format("it may have ended early ({}), so that not all cases were run", option));
            }
        }
        const auto unverified = document.find("unverified");
        if (has_option(words, "--strict") && unverified != document.end() && counts_anything(*unverified)) {
            doubts.emplace_back("it did not verify all that it had to (--strict)");
        }
        if (has_option(words, "--fail-on-skip") && skipped_ != 0) {
            doubts.emplace_back("cases were skipped (--fail-on-skip)");
        }
        const Words named = engines_named_in(words);
        for (const auto& [engine, worked] : worked_) {
            const bool by_name =
                engine.starts_with(run::exec_prefix) || std::ranges::find(named, engine) != named.end();
            if (by_name && !worked) {
                doubts.push_back(fmt::format("nothing was verified on {}", engine));
            }
        }
        return doubts;
    }

private:
    static bool counts_anything(const Json& counts) {
        return std::ranges::any_of(counts, [](const Json& count) {
            return count.is_number() ? count != 0 : count.is_structured() && !count.empty();
        });
    }

    std::size_t skipped_ = 0;
    std::map<std::string, bool> worked_;
};

int exit_code_in(const Json& document) {
    const auto code = document.find("exitCode");
    return code != document.end() && code->is_number_unsigned() ? code->get<int>() : 0;
}

}  // namespace

core::Result<FailedBefore> read_failed(const std::string& path) {
    FailedBefore failed;
    std::set<std::string> ids;
    Doubts doubts;
    const auto names = run::engine_names();
    Json document;
    const auto take = [&](Json& result) -> core::Result<void> {
        const auto status = report::status_named(result["status"].get_ref<const std::string&>());
        const auto engine = result["engine"].get<std::string>();
        doubts.add(result, *status, engine);
        if (!run::is_failure(*status) || !result["gated"].get<bool>()) {
            return {};
        }
        ids.insert(result["id"].get<std::string>());
        add_once(failed.files, result["file"].get<std::string>());
        const bool known =
            engine.starts_with(outputs_prefix) || std::find(names.begin(), names.end(), engine) != names.end();
        add_once(known ? failed.engines : failed.commands, engine);
        return {};
    };
    if (const auto header = report::read_result_file(path, take, &document); !header) {
        return tl::unexpected(header.error());
    }
    failed.ids = std::make_shared<const std::set<std::string>>(std::move(ids));
    failed.words = words_in(document);
    failed.exit_code = exit_code_in(document);
    failed.doubts = doubts.of(document, failed.words, failed.exit_code);
    if (failed.ids->empty() && failed.exit_code != exit_ok) {
        return core::fail(
            fmt::format("{}: no case failed, but that run ended with exit code {}{}", path, failed.exit_code,
                        failed.doubts.empty() ? ": nothing was verified, or reports are missing"
                                              : ": " + failed.doubts.front()),
            "run all of its cases again");
    }
    return failed;
}

core::Result<Words> carried_words(const std::string& path, const FailedBefore& failed, const Words& words) {
    if (failed.words.size() < 2 || (failed.words[1] != "run" && failed.words[1] != "judge")) {
        const bool fuzzed = failed.words.size() > 1 && failed.words[1] == "fuzz";
        return core::fail(
            fuzzed
                ? fmt::format("{}: this is a result of `dmlconform fuzz`, whose cases are in no file", path)
                : fmt::format("{}: it does not say by which `dmlconform run` or `dmlconform judge` it was made", path),
            fuzzed ? "run that command again with the --seed that it printed; `fuzz --bundle DIR` keeps the cases"
                   : "");
    }
    if (!has_option(words, "--engine") && !failed.commands.empty()) {
        return core::fail(
            fmt::format("{}: cases failed on {}, which a command starts", path, fmt::join(failed.commands, " and ")),
            "name all engines: --engine 'exec:COMMAND'. A command is not taken from a file");
    }
    Words carried;
    const Words engines = has_option(words, "--engine") ? engines_named_in(words) : failed.engines;
    const bool processes = has_option(words, "--isolate") ||
                           (has_option(failed.words, "--isolate") && !has_jobs(words)) ||
                           std::ranges::any_of(engines, [](const std::string& engine) {
                               return engine.starts_with(run::exec_prefix) || run::runs_in_own_process(engine);
                           });
    for (const CarriedOption& option : carried_options) {
        if (has_option(words, option.name) || (option.name == "--isolate" && has_jobs(words))) {
            continue;
        }
        // Engines in this process have no time limit.
        if (option.name == "--timeout" && !processes) {
            continue;
        }
        for (std::string& word : option_words(failed.words, option.name, option.has_value)) {
            if (option.name == "--against" && word.find("=" + std::string(run::exec_prefix)) != std::string::npos) {
                return core::fail(fmt::format("{}: cases were compared with an engine that a command starts", path),
                                  "name it: --against 'exec:COMMAND'. A command is not taken from a file");
            }
            carried.push_back(std::move(word));
        }
    }
    return carried;
}

}  // namespace dmlconform::app
