// Calls of Google Benchmark, one for each benchmark, and the loop that is timed.
#include "engine/bench/timing.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>

#include "engine/bench/conditions.h"
#include "engine/bench/joined_reporter.h"
#include "engine/bench/line_reporter.h"
#include "engine/bench/measured_case.h"
#include "engine/bench/output_reporter.h"
#include "engine/core/hash.h"
#include "engine/engine_lost.h"
#include "engine/operators/graph.h"
#include "engine/operators/rules.h"

namespace dmlconform::bench {
namespace {

using Clock = Share::Clock;

/// Google Benchmark wants a file to open. What it reports is gathered, and not written there.
#ifdef _WIN32
constexpr const char* no_file = "NUL";
#else
constexpr const char* no_file = "/dev/null";
#endif

/// A GPU's second-level cache, of which drivers tell nothing: larger than any there is.
constexpr double device_cache_bytes = 256.0 * 1024 * 1024;

/// Bytes beyond which nothing an execution used is found in a cache by the next.
double cold_working_set(const Engine& engine) {
    double largest = device_cache_bytes;
    if (engine.info().is_reference) {
        largest = 0;
        for (const auto& cache : benchmark::CPUInfo::Get().caches) {
            largest = std::max(largest, static_cast<double>(cache.size));
        }
    }
    return 2 * largest;
}

/// Adds a rate per second, which must be finite: JSON has no other numbers.
void add_rate(benchmark::State& state, const char* name, double each) {
    if (std::isfinite(each) && each > 0) {
        state.counters[name] =
            benchmark::Counter(each * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
    }
}

/// For a graph, the time of each node in microseconds, and its share of all, by "node NAME µs" and "node NAME %".
void add_node_times(benchmark::State& state, const operators::Graph& graph, MeasuredCase& measured) {
    const auto times = measured.node_times();
    double sum = 0;
    for (const std::chrono::nanoseconds time : times) {
        sum += static_cast<double>(time.count());
    }
    for (std::size_t n = 0; n < times.size() && sum > 0; ++n) {
        const auto nanoseconds = static_cast<double>(times[n].count());
        state.counters[fmt::format("node {} µs", graph.nodes[n].name)] = nanoseconds / 1000;
        state.counters[fmt::format("node {} %", graph.nodes[n].name)] = 100 * nanoseconds / sum;
    }
}

/// Tells descriptors apart: 16 hexadecimal digits.
std::string digest_of(const operators::Descriptor& descriptor) {
    std::uint64_t hash = core::fnv1a_start;
    for (const std::string& line : operators::to_lines(descriptor)) {
        hash = core::fnv1a("\n", core::fnv1a(line, hash));
    }
    return fmt::format("{:016x}", hash);
}

/// `seconds`: of all iterations.
void add_counters(benchmark::State& state, const Benchmark& entry, double seconds) {
    const operators::Descriptor& descriptor = *entry.subject->descriptor;
    state.SetLabel(fmt::format("{} {}", descriptor.schema->short_name(), digest_of(descriptor)));
    const operators::Cost cost = operators::minimum_cost(descriptor);
    add_rate(state, "bytes_per_second", cost.bytes);
    add_rate(state, "operations_per_second", cost.operations);
    if (entry.roofline) {
        const double least = std::max(cost.bytes / entry.roofline->bytes_per_second,
                                      cost.operations / entry.roofline->operations_per_second);
        const double percent = 100 * least * static_cast<double>(state.iterations()) / seconds;
        if (std::isfinite(percent)) {
            state.counters["percent_of_roofline"] = percent;
        }
    }
    if (entry.effective_bits) {
        state.counters["effective_bits"] = *entry.effective_bits;
    }
    if (!entry.verified) {
        state.counters["unverified"] = 1;
    }
    if (const auto rate = entry.clock ? entry.clock->megahertz() : std::nullopt) {
        state.counters["device_clock_mhz"] = *rate;
    }
}

void add_conditions(benchmark::State& state, const Conditions::Reading& reading) {
    state.counters[yardstick_counter] = reading.yardstick;
    if (reading.waited) {
        state.counters[waited_counter] = *reading.waited;
    }
}

core::Result<std::unique_ptr<MeasuredCase>> create(const Benchmark& entry) {
    try {
        return MeasuredCase::create(*entry.subject, *entry.engine, entry.cold ? cold_working_set(*entry.engine) : 0);
    } catch (const EngineLost& lost) {
        return core::fail(lost.what());
    }
}

/// Runs nothing: Google Benchmark only says whether it would.
class Probe final : public benchmark::BenchmarkReporter {
public:
    Probe() {
        SetOutputStream(&nowhere_);
        SetErrorStream(&nowhere_);
    }
    bool ReportContext(const Context& context) override {
        longest_name = std::max(longest_name, context.name_field_width);
        return false;
    }
    void ReportRuns(const std::vector<Run>&) override {}

    std::size_t longest_name = 0;

private:
    std::ostringstream nowhere_;
};

/// The times of the repetitions of one benchmark.
class Repeated {
public:
    /// `min_time`: what Google Benchmark was told. It takes a run that lasts as long for the first repetition.
    explicit Repeated(double min_time = 0) : min_time_(min_time) {}

    void add(std::int64_t iterations, double seconds, double passed) {
        // With fewer iterations, Google Benchmark only looked for how many are needed.
        if (iterations != iterations_) {
            iterations_ = iterations;
            seconds_.clear();
            begun_ = false;
        }
        begun_ = begun_ || seconds >= min_time_;
        seconds_.push_back(seconds / static_cast<double>(std::max<std::int64_t>(iterations, 1)));
        last_ = passed;
    }
    /// For one iteration, each.
    [[nodiscard]] const std::vector<double>& seconds() const { return seconds_; }
    /// How long the last one took by the wall clock.
    [[nodiscard]] double last() const { return last_; }
    /// Whether there is a repetition, and not only attempts to find the number of iterations.
    [[nodiscard]] bool begun() const { return begun_; }

private:
    double min_time_ = 0;
    bool begun_ = false;
    std::int64_t iterations_ = 0;
    std::vector<double> seconds_;
    double last_ = 0;
};

class Session {
public:
    Session(const Checked& checked, const TimingSettings& settings, Clock::time_point begun, Watcher& watcher)
        : checked_(checked), settings_(settings), pace_(settings.pace, begun), watcher_(watcher) {}

    Timed run() {
        initialize();
        const bool together = settings_.interleaved || settings_.only_names;
        Probe probe;
        const auto selected = select(probe);
        const std::set<std::string> by_devices = names_by_devices();
        LineReporter lines(by_devices, settings_.width);
        OutputReporter table(settings_.table_format, by_devices);
        OutputReporter file(settings_.file_format, by_devices);
        std::ostringstream written;
        file.SetOutputStream(&written);
        benchmark::BenchmarkReporter& shown = settings_.table == Table::lines
                                                  ? static_cast<benchmark::BenchmarkReporter&>(lines)
                                                  : static_cast<benchmark::BenchmarkReporter&>(table);
        if (settings_.table_on_stderr) {
            shown.SetOutputStream(&std::cerr);
        }
        JoinedReporter display(shown, probe.longest_name, watcher_);
        JoinedReporter output(file, probe.longest_name, watcher_);
        JoinedReporter* const to_file = settings_.file_format.empty() ? nullptr : &output;
        total_ = selected.size();
        if (together) {
            time_together(selected, display, to_file);
        } else {
            time_each(selected, display, to_file);
        }
        display.end();
        output.end();
        return {selected.size(), display.timed(), failures_, written.str()};
    }

private:
    void initialize() {
        words_ = {"dmlconform"};
        words_.insert(words_.end(), settings_.options.begin(), settings_.options.end());
        if (settings_.pace.min_time || settings_.interleaved) {
            const double wanted = settings_.pace.min_time.value_or(settings_.pace.usual_min_time);
            words_.push_back(fmt::format("--benchmark_min_time={}", std::max(wanted, shortest_repetition)));
        }
        words_.push_back(fmt::format("--benchmark_repetitions={}", pace_.most_repetitions()));
        if (!settings_.file_format.empty()) {
            words_.push_back(fmt::format("--benchmark_out={}", no_file));
        }
        for (std::string& word : words_) {
            arguments_.push_back(word.data());
        }
        int count = static_cast<int>(words_.size());
        benchmark::Initialize(&count, arguments_.data());
        for (const auto& [name, value] : settings_.context) {
            benchmark::AddCustomContext(name, value);
        }
    }

    benchmark::internal::Benchmark& add(const Benchmark& entry) {
        auto& added = *benchmark::RegisterBenchmark(entry.name.c_str(),
                                                    [this, &entry](benchmark::State& state) { measure(state, entry); });
        // Names end with the clock, so that times by different clocks do not get one name.
        if (entry.cpu_time) {
            added.MeasureProcessCPUTime();
        }
        if (entry.own_times) {
            added.UseManualTime();
        } else {
            added.UseRealTime();
        }
        added.Unit(benchmark::kMicrosecond);
        return added;
    }

    /// Those that --benchmark_filter selects.
    std::vector<const Benchmark*> select(Probe& probe) {
        std::vector<const Benchmark*> selected;
        for (const Benchmark& entry : checked_.benchmarks) {
            add(entry);
            if (benchmark::RunSpecifiedBenchmarks(&probe) != 0) {
                selected.push_back(&entry);
            }
            benchmark::ClearRegisteredBenchmarks();
        }
        return selected;
    }

    [[nodiscard]] std::set<std::string> names_by_devices() const {
        std::set<std::string> names;
        for (const Benchmark& entry : checked_.benchmarks) {
            if (entry.timed_by_device) {
                names.insert(entry.name);
            }
        }
        return names;
    }

    void call(JoinedReporter& display, JoinedReporter* to_file) {
        benchmark::RunSpecifiedBenchmarks(&display, to_file, ".");
        benchmark::ClearRegisteredBenchmarks();
    }

    void time_together(const std::vector<const Benchmark*>& selected, JoinedReporter& display,
                       JoinedReporter* to_file) {
        for (const Benchmark* entry : selected) {
            add(*entry);
        }
        if (!selected.empty()) {
            call(display, to_file);
        }
    }

    void time_each(const std::vector<const Benchmark*>& selected, JoinedReporter& display, JoinedReporter* to_file) {
        for (done_ = 0; done_ < selected.size() && !watcher_.stop_requested(); ++done_) {
            const Benchmark& entry = *selected[done_];
            watcher_.on_progress(done_, total_, entry.name);
            share_ = pace_.share(selected.size() - done_, Clock::now());
            repeated_ = Repeated();
            const auto prepared = prepare(entry);
            auto& added = add(entry);
            added.Repetitions(static_cast<int>(pace_.most_repetitions()));
            if (prepared) {
                const double min_time = pace_.min_time(*share_, (*prepared)->own_share(), Clock::now());
                added.MinTime(min_time);
                repeated_ = Repeated(min_time);
            }
            call(display, to_file);
        }
    }

    core::Result<MeasuredCase*> prepare(const Benchmark& entry) {
        if (current_ == &entry) {
            return measured_.get();
        }
        current_ = nullptr;
        measured_ = nullptr;  // frees its memory before the next case allocates
        auto measured = create(entry);
        if (!measured) {
            return tl::unexpected(measured.error());
        }
        if (entry.cpu_time) {
            (*measured)->use_cpu_time();
        }
        const std::optional<double> limit = share_ ? share_->seconds : std::nullopt;
        if (const auto warm = (*measured)->warm_up(limit); !warm) {
            return tl::unexpected(warm.error());
        }
        current_ = &entry;
        measured_ = std::move(*measured);
        return measured_.get();
    }

    void fail(benchmark::State& state, const Benchmark& entry, const core::Error& error) {
        failed_.insert(&entry);
        ++failures_;
        state.SkipWithError(error.message.c_str());
    }

    static core::Error takes_no_time(const Benchmark& entry, double seconds, Clock::time_point begun) {
        return {fmt::format("the executions take no time by {}: it counted {:.0f} ns in {:.2g} s", entry.timed_by,
                            1e9 * seconds, std::chrono::duration<double>(Clock::now() - begun).count()),
                {}};
    }

    static void skip(benchmark::State& state, const char* reason) {
        state.SkipWithError(reason);
        // Otherwise it has fewer iterations than its neighbours, which Google Benchmark takes for a mistake.
        for (auto _ : state) {
        }
    }

    /// Why another repetition is not begun; null if it is.
    [[nodiscard]] const char* reason_to_skip(const Benchmark& entry) {
        if (watcher_.stop_requested()) {
            return interrupted;
        }
        const TimedBy timed_by = entry.timed_by_device ? TimedBy::device : TimedBy::host;
        const bool enough = share_ && repeated_.begun() &&
                            pace_.enough(repeated_.seconds(), timed_by, repeated_.last(), *share_, Clock::now());
        const bool done = enough || failed_.contains(&entry);
        return done ? not_needed : nullptr;
    }

    void measure(benchmark::State& state, const Benchmark& entry) {
        if (const char* const reason = reason_to_skip(entry)) {
            return skip(state, reason);
        }
        watcher_.on_progress(done_, total_, entry.name);
        const auto prepared = prepare(entry);
        if (!prepared) {
            return fail(state, entry, prepared.error());
        }
        std::optional<Conditions> conditions;
        if (!entry.timed_by_device) {
            conditions.emplace(*entry.engine, !entry.cpu_time);
        }
        const auto begun = Clock::now();
        double seconds = 0;
        for (auto _ : state) {
            if (watcher_.stop_requested()) {
                state.SkipWithError(interrupted);
                return;
            }
            const auto time = (*prepared)->execute();
            if (!time) {
                return fail(state, entry, time.error());
            }
            const double taken = std::chrono::duration<double>(*time).count();
            seconds += taken;
            if (entry.own_times) {
                state.SetIterationTime(taken);
                const bool may_not_end = !share_ || !repeated_.begun();
                if (may_not_end && Pace::stands_still(seconds, begun, share_, Clock::now())) {
                    return fail(state, entry, takes_no_time(entry, seconds, begun));
                }
            }
        }
        repeated_.add(state.iterations(), seconds, std::chrono::duration<double>(Clock::now() - begun).count());
        if (conditions) {
            add_conditions(state, conditions->read());
        }
        add_counters(state, entry, seconds);
        if (const operators::Graph* graph = entry.subject->descriptor->graph.get()) {
            add_node_times(state, *graph, **prepared);
        }
    }

    const Checked& checked_;
    const TimingSettings& settings_;
    Pace pace_;
    Watcher& watcher_;
    /// Google Benchmark keeps the first one.
    std::vector<std::string> words_;
    std::vector<char*> arguments_;
    /// Google Benchmark calls several times for each repetition.
    const Benchmark* current_ = nullptr;
    std::unique_ptr<MeasuredCase> measured_;
    /// The share of the current benchmark, if benchmarks are timed one after another.
    std::optional<Share> share_;
    Repeated repeated_;
    /// Benchmarks that failed. They are not repeated.
    std::set<const Benchmark*> failed_;
    std::size_t failures_ = 0;
    std::size_t done_ = 0;
    std::size_t total_ = 0;
};

}  // namespace

Timed time_benchmarks(const Checked& checked, const TimingSettings& settings, Clock::time_point begun,
                      Watcher& watcher) {
    return Session(checked, settings, begun, watcher).run();
}

std::optional<double> disturbing_load() {
    const benchmark::CPUInfo& info = benchmark::CPUInfo::Get();
    if (info.load_avg.empty() || info.load_avg.front() <= std::max(0.7, 0.1 * info.num_cpus)) {
        return std::nullopt;
    }
    return info.load_avg.front();
}

}  // namespace dmlconform::bench
