// Registration with Google Benchmark, and the loop that is timed.
#include "engine/bench/benchmarks.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "engine/bench/device_clock.h"
#include "engine/bench/line_reporter.h"
#include "engine/bench/machine.h"
#include "engine/bench/measured_case.h"
#include "engine/bench/output_reporter.h"
#include "engine/bench/repetitions.h"
#include "engine/core/shown_text.h"
#include "engine/engine_lost.h"
#include "engine/operators/rules.h"
#include "engine/run/runner.h"

namespace dmlconform::bench {
namespace {

std::atomic<std::size_t> failure_count = 0;

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

struct Entry {
    const cases::Case* subject = nullptr;
    Engine* engine = nullptr;
    std::optional<Roofline> roofline;
    bool cold = false;
    bool verified = false;
    bool own_times = false;
    bool cpu_time = false;
    std::optional<DeviceClock> clock;
    bool timed_by_device = false;
};

/// Adds a rate per second, which must be finite: JSON has no other numbers.
void add_rate(benchmark::State& state, const char* name, double each) {
    if (std::isfinite(each) && each > 0) {
        state.counters[name] =
            benchmark::Counter(each * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
    }
}

/// `seconds`: of all iterations.
void add_counters(benchmark::State& state, const Entry& entry, double seconds) {
    const operators::Descriptor& descriptor = *entry.subject->descriptor;
    state.SetLabel(std::string(descriptor.schema->short_name()));
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
    if (!entry.verified) {
        state.counters["unverified"] = 1;
    }
    if (const auto rate = entry.clock ? entry.clock->megahertz() : std::nullopt) {
        state.counters["device_clock_mhz"] = *rate;
    }
}

void fail(benchmark::State& state, const core::Error& error) {
    ++failure_count;
    state.SkipWithError(error.message.c_str());
}

/// The case that is measured at the moment: Google Benchmark calls several times for each repetition.
struct Current {
    const cases::Case* subject = nullptr;
    const Engine* engine = nullptr;
    std::unique_ptr<MeasuredCase> measured;
};

core::Result<std::unique_ptr<MeasuredCase>> create(const Entry& entry) {
    try {
        return MeasuredCase::create(*entry.subject, *entry.engine, entry.cold ? cold_working_set(*entry.engine) : 0);
    } catch (const EngineLost& lost) {
        return core::fail(lost.what());
    }
}

core::Result<MeasuredCase*> prepare(const Entry& entry) {
    static Current current;
    if (current.subject == entry.subject && current.engine == entry.engine) {
        return current.measured.get();
    }
    current = {};  // gives its memory back first
    auto measured = create(entry);
    if (!measured) {
        return tl::unexpected(measured.error());
    }
    if (entry.cpu_time) {
        (*measured)->use_cpu_time();
    }
    if (const auto warm = (*measured)->warm_up(); !warm) {
        return tl::unexpected(warm.error());
    }
    current = {entry.subject, entry.engine, std::move(*measured)};
    return current.measured.get();
}

void measure(benchmark::State& state, const Entry& entry) {
    const auto prepared = prepare(entry);
    if (!prepared) {
        return fail(state, prepared.error());
    }
    double seconds = 0;
    for (auto _ : state) {
        const auto time = (*prepared)->execute();
        if (!time) {
            fail(state, time.error());
            break;
        }
        const double taken = std::chrono::duration<double>(*time).count();
        seconds += taken;
        if (entry.own_times) {
            state.SetIterationTime(taken);
        }
    }
    add_counters(state, entry, seconds);
}

/// Why the case is not to be timed; nothing when it may be. Finds out whether the engine tells its times itself.
std::optional<LeftOut> reason_against(Entry& entry, const std::string& name, bool verify) {
    if (entry.subject->expect_error) {
        return LeftOut{name, "the case expects an error: there is nothing to time", true};
    }
    const run::CaseResult result = run::run_case(*entry.subject, *entry.engine);
    entry.own_times = result.timing.device.has_value() || result.timing.measured_there || entry.cpu_time;
    entry.timed_by_device = result.timing.device && entry.clock;
    entry.verified = result.status == run::Status::pass || result.status == run::Status::reference;
    if (entry.verified || (!verify && result.timing.total.count() != 0)) {
        return std::nullopt;
    }
    return LeftOut{name, result.reason, result.status == run::Status::skip};
}

}  // namespace

Registered register_benchmarks(std::span<const cases::Case> cases, std::span<const std::unique_ptr<Engine>> engines,
                               std::span<const std::optional<Roofline>> rooflines, const BenchSettings& settings) {
    std::vector<std::optional<DeviceClock>> clocks;
    for (const auto& engine : engines) {
        clocks.push_back(DeviceClock::of(engine->info().adapter));
    }
    Registered done{
        {}, {}, std::all_of(clocks.begin(), clocks.end(), [](const auto& clock) { return clock.has_value(); })};
    for (const cases::Case& subject : cases) {
        for (std::size_t e = 0; e < engines.size(); ++e) {
            // Google Benchmark prints it as it is.
            const std::string name = core::show("{}/{}", engines[e]->info().name, subject.id);
            Entry entry{&subject, engines[e].get(),  rooflines[e], settings.cold, false,
                        false,    settings.cpu_time, clocks[e]};
            if (auto reason = reason_against(entry, name, settings.verify)) {
                done.left_out.push_back(std::move(*reason));
                continue;
            }
            if (entry.timed_by_device) {
                done.timed_by_devices.insert(name);
            }
            auto* registered =
                benchmark::RegisterBenchmark(name.c_str(), [entry](benchmark::State& state) { measure(state, entry); });
            if (entry.own_times) {
                registered->UseManualTime();
            } else {
                registered->UseRealTime();
            }
            registered->Unit(benchmark::kMicrosecond);
        }
    }
    return done;
}

std::vector<std::pair<std::string, std::string>> context_of(std::span<const std::unique_ptr<Engine>> engines,
                                                            std::span<const std::optional<Roofline>> rooflines) {
    std::vector<std::pair<std::string, std::string>> context{{"dmlconform.machine", machine_name()}};
    for (std::size_t e = 0; e < engines.size(); ++e) {
        const EngineInfo& info = engines[e]->info();
        const std::string prefix = "dmlconform." + info.name;
        context.emplace_back(prefix + ".adapter", info.adapter);
        context.emplace_back(prefix + ".driver", info.driver);
        if (rooflines[e]) {
            context.emplace_back(prefix + ".roofline.bytes_per_second",
                                 fmt::format("{:.4g}", rooflines[e]->bytes_per_second));
            context.emplace_back(prefix + ".roofline.operations_per_second",
                                 fmt::format("{:.4g}", rooflines[e]->operations_per_second));
        }
    }
    return context;
}

Timed run_registered(const Registered& registered, const std::vector<std::string>& options, Table table,
                     const Output& output) {
    std::vector<std::string> words{"dmlconform"};
    words.insert(words.end(), options.begin(), options.end());
    if (!output.path.empty()) {
        words.push_back("--benchmark_out=" + output.path);
    }
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    int count = static_cast<int>(words.size());
    benchmark::Initialize(&count, arguments.data());
    LineReporter lines(registered.timed_by_devices);
    benchmark::BenchmarkReporter* const display = table == Table::lines ? &lines : nullptr;
    if (output.path.empty()) {
        return {benchmark::RunSpecifiedBenchmarks(display), Written::nothing};
    }
    OutputReporter reporter(output.format, registered.timed_by_devices);
    const std::size_t timed = benchmark::RunSpecifiedBenchmarks(display, &reporter);
    return {timed, reporter.written()};
}

std::size_t failures() {
    return failure_count;
}

}  // namespace dmlconform::bench
