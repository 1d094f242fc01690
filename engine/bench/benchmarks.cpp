// Runs each case once and judges it before it is timed.
#include "engine/bench/benchmarks.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/bench/machine.h"
#include "engine/core/processor_clock.h"
#include "engine/core/shown_text.h"
#include "engine/engine_lost.h"
#include "engine/processor_measurements.h"
#include "engine/run/runner.h"

namespace dmlconform::bench {
namespace {

/// Those of the least precise output; nothing if none can tell.
std::optional<double> effective_bits(const run::CaseResult& result) {
    std::optional<double> least;
    for (const run::OutputResult& output : result.outputs) {
        if (output.precision && output.precision->statistic.can_tell()) {
            const double bits = compare::effective_bits(output.precision->statistic.q(), output.desc.data_type);
            least = std::min(least.value_or(bits), bits);
        }
    }
    return least;
}

/// Whether the processor time of the engine's process is known.
bool has_processor_clock(const Engine& engine) {
    if (const auto* other_process = dynamic_cast<const ProcessorMeasurements*>(&engine)) {
        return other_process->processor_use().has_value();
    }
    return !engine.info().in_own_process && core::processor_time_of_this_process();
}

/// Whether the processor's clock times it, if the engine has no clock of its own.
bool takes_processor_time(HostClock clock, const Engine& engine, const run::Timing& timing) {
    switch (clock) {
        case HostClock::processor:
            return has_processor_clock(engine);
        case HostClock::automatic:
            return engine.info().is_reference && !engine.info().in_own_process && !timing.on_several_threads &&
                   core::has_exact_processor_clock();
        case HostClock::wall:
        default:
            return false;
    }
}

/// Why the case is not to be timed; nothing when it may be. Finds out whether the engine tells its times itself.
std::optional<LeftOut> reason_against(Benchmark& benchmark, const BenchSettings& settings, std::size_t engine) {
    if (benchmark.subject->expect_error) {
        return LeftOut{benchmark.name, "the case expects an error: there is nothing to time", true};
    }
    run::CaseSettings judging;
    judging.precisions = settings.precisions;
    judging.compare = settings.verify;
    const run::CaseResult result = run::run_case(*benchmark.subject, *benchmark.engine, judging, engine);
    benchmark.effective_bits = effective_bits(result);
    benchmark.cpu_time =
        !result.timing.device && takes_processor_time(settings.host_clock, *benchmark.engine, result.timing);
    benchmark.own_times = result.timing.device.has_value() || result.timing.measured_there || benchmark.cpu_time;
    benchmark.timed_by_device = result.timing.device && benchmark.clock;
    benchmark.timed_by = result.timing.device           ? "the device's clock"
                         : benchmark.cpu_time           ? "the processor's clock"
                         : result.timing.measured_there ? "the worker's own clock"
                                                        : wall_clock;
    const bool is_right = result.status == run::Status::pass || result.status == run::Status::reference;
    benchmark.verified = is_right && settings.verify;
    if (is_right) {
        return std::nullopt;
    }
    return LeftOut{benchmark.name, result.reason, result.status == run::Status::skip};
}

}  // namespace

Checked check_benchmarks(std::span<const cases::Case> cases, std::span<const std::unique_ptr<Engine>> engines,
                         std::span<const std::optional<Roofline>> rooflines, const BenchSettings& settings,
                         Watcher& watcher) {
    std::vector<std::optional<DeviceClock>> clocks;
    for (const auto& engine : engines) {
        clocks.push_back(DeviceClock::of(engine->info().adapter));
    }
    Checked done{
        {}, {}, std::all_of(clocks.begin(), clocks.end(), [](const auto& clock) { return clock.has_value(); })};
    const std::size_t total = cases.size() * engines.size();
    for (const cases::Case& subject : cases) {
        for (std::size_t e = 0; e < engines.size(); ++e) {
            if (watcher.stop_requested()) {
                return done;
            }
            // Google Benchmark prints it as it is.
            Benchmark benchmark{core::show("{}/{}", engines[e]->info().name, subject.id).text(),
                                &subject,
                                engines[e].get(),
                                rooflines[e],
                                settings.cold,
                                false,
                                clocks[e]};
            watcher.on_progress(0, total, "checks " + benchmark.name);
            try {
                if (auto reason = reason_against(benchmark, settings, e)) {
                    done.left_out.push_back(std::move(*reason));
                } else {
                    done.benchmarks.push_back(std::move(benchmark));
                }
            } catch (const EngineLost&) {
                return done;  // interrupted
            }
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

}  // namespace dmlconform::bench
