// Starts the processes, and reads the JSON that they write to their standard output.
#include "app/bench_processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <string_view>

#include "app/interrupt.h"
#include "app/messages.h"
#include "app/program_path.h"
#include "app/standard_streams.h"
#include "app/terminal.h"
#include "engine/bench/merged_results.h"
#include "engine/report/output_file.h"
#include "engine/report/progress.h"
#include "engine/worker/child_process.h"

namespace dmlconform::app {
namespace {

using Clock = std::chrono::steady_clock;
using Outcome = worker::ChildProcess::Outcome;

/// The process decides when it ends.
constexpr std::chrono::hours no_limit{24 * 365};
constexpr std::chrono::milliseconds heartbeat{50};
/// Google Benchmark's settings in each process, unless the command line says otherwise.
constexpr int usual_repetitions = 3;
constexpr double usual_min_time = 0.05;

struct OwnOption {
    std::string_view name;
    bool has_separate_value = false;
};

/// Options that are for the parent.
constexpr std::array own_options{OwnOption{"--processes", true}, OwnOption{"--time-budget", true},
                                 OwnOption{"--benchmark_out"}, OwnOption{"--benchmark_out_format"}};

/// The command-line arguments of a child process.
std::vector<std::string> child_words(const BenchProcesses& wanted, const Invocation& invocation) {
    std::vector<std::string> words;
    for (std::size_t i = 1; i < invocation.words.size(); ++i) {
        const std::string& word = invocation.words[i];
        const auto own = std::ranges::find_if(own_options, [&](const OwnOption& option) {
            return word == option.name ||
                   (word.starts_with(option.name) && word.substr(option.name.size()).starts_with('='));
        });
        if (own == own_options.end()) {
            words.push_back(word);
        } else if (own->has_separate_value && word == own->name) {
            ++i;
        }
    }
    words.emplace_back("--benchmark_format=json");
    words.emplace_back("--benchmark_display_aggregates_only=false");
    // The environment may ask for it, in any of Google Benchmark's spellings of "true".
    words.emplace_back("--benchmark_report_aggregates_only=false");
    if (!wanted.has_repetitions) {
        words.push_back(fmt::format("--benchmark_repetitions={}", usual_repetitions));
    }
    if (!wanted.has_min_time) {
        words.push_back(fmt::format("--benchmark_min_time={}", usual_min_time));
    }
    return words;
}

/// Everything that a process writes to its standard output.
std::string read_all(worker::ChildProcess& process) {
    std::string text;
    std::array<std::byte, 65536> buffer{};
    bool asked = false;
    for (;;) {
        std::span<std::byte> rest(buffer);
        const Outcome outcome = process.read(rest, Clock::now() + heartbeat);
        text.append(reinterpret_cast<const char*>(buffer.data()), buffer.size() - rest.size());
        if (outcome == Outcome::ended) {
            return text;
        }
        if (interrupted() && !asked) {
            asked = true;
            process.interrupt();
        }
    }
}

/// How a process ended.
struct Ended {
    std::string text;
    std::string how;
    std::string errors;
};

core::Result<Ended> run_process(const std::vector<std::string>& words, bool shows_errors) {
    worker::WorkerCommand command;
    command.argv = words;
    // The first process says what it times; the others would say the same.
    command.shares_errors = shows_errors;
    // Only this process writes the file.
    command.environment = {{"BENCHMARK_OUT", ""}};
    auto process = worker::ChildProcess::start(command);
    if (!process) {
        return tl::unexpected(process.error());
    }
    Ended ended;
    ended.text = read_all(**process);
    ended.how = (*process)->end(no_limit);
    ended.errors = (*process)->errors();
    return ended;
}

class Rounds {
public:
    Rounds(const BenchProcesses& wanted, const Invocation& invocation)
        : wanted_(wanted),
          words_(child_words(wanted, invocation)),
          program_(program_path(invocation.words.front())),
          progress_(stderr, shows_progress()) {}

    /// Runs all processes. Returns the exit code of the first one that failed.
    int run() {
        for (std::size_t i = 0; i < wanted_.count && !interrupted(); ++i) {
            progress_.show(i, wanted_.count, 0, fmt::format("process {} of {}", i + 1, wanted_.count));
            const auto ended = run_process(words_of(i), i == 0);
            if (!ended) {
                return failure(ended.error(), exit_not_run);
            }
            const int code = take(*ended, i);
            const bool has_results = results_.benchmarks() != 0;
            if ((code != exit_ok && code != exit_unexpected) || !has_results) {
                return code;
            }
        }
        progress_.clear();
        return exit_code_;
    }

    [[nodiscard]] const bench::MergedResults& results() const { return results_; }

private:
    [[nodiscard]] std::vector<std::string> words_of(std::size_t process) const {
        std::vector<std::string> words{program_};
        words.insert(words.end(), words_.begin(), words_.end());
        if (process != 0) {
            words.emplace_back("--no-roofline");
        }
        if (wanted_.time_budget) {
            const double passed = std::chrono::duration<double>(Clock::now() - begun_).count();
            const double rest = std::max(*wanted_.time_budget - passed, 0.001);
            words.push_back(fmt::format("--time-budget={}", rest / static_cast<double>(wanted_.count - process)));
        }
        return words;
    }

    int take(const Ended& ended, std::size_t process) {
        constexpr std::string_view before = "exit code ";
        const int code = ended.how.starts_with(before) ? std::stoi(ended.how.substr(before.size())) : exit_not_run;
        progress_.clear();
        if (code != exit_ok && code != exit_unexpected && !interrupted()) {
            warn("{}", ended.errors);
            warn("dmlconform: process {} of {} could not time anything: {}\n", process + 1, wanted_.count, ended.how);
            return code;
        }
        exit_code_ = std::max(exit_code_, interrupted() ? static_cast<int>(exit_ok) : code);
        if (ended.text.empty()) {
            return code;
        }
        if (const auto added = results_.add(ended.text); !added && !interrupted()) {
            warn("dmlconform: process {} of {}: {}\n", process + 1, wanted_.count, added.error().message);
            return exit_not_run;
        }
        return code;
    }

    const BenchProcesses& wanted_;
    std::vector<std::string> words_;
    std::string program_;
    Clock::time_point begun_ = Clock::now();
    bench::MergedResults results_;
    report::ProgressLine progress_;
    int exit_code_ = exit_ok;
};

}  // namespace

int bench_in_processes(const BenchProcesses& wanted, const Invocation& invocation) {
    report::OutputFile file;
    if (!wanted.output.empty()) {
        if (const auto opened = file.open(wanted.output); !opened) {
            return failure(opened.error(), exit_not_run);
        }
    }
    catch_interrupts();
    Rounds rounds(wanted, invocation);
    const int code = rounds.run();
    const bench::MergedResults& results = rounds.results();
    if (interrupted()) {
        warn("dmlconform: interrupted; {} of {} processes timed something\n", results.processes(), wanted.count);
    }
    const bool nothing = results.timed() == 0;
    if (results.benchmarks() != 0) {
        print(core::ShownText::made_of(results.table(output_width())));
        if (!wanted.output.empty() && !nothing) {
            auto written = file.write(results.document());
            if (written) {
                written = file.commit();
            }
            if (!written) {
                return failure(written.error(), exit_not_run);
            }
        }
    }
    if (interrupted()) {
        return interrupt_exit_code();
    }
    if (nothing && code == exit_ok) {
        warn("dmlconform: nothing was timed\n");
        return exit_unexpected;
    }
    return code;
}

}  // namespace dmlconform::app
