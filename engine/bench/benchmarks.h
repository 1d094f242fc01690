// The cases to time: each is verified before.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/bench/device_clock.h"
#include "engine/cases/case.h"
#include "engine/core/precision.h"
#include "engine/engine.h"

namespace dmlconform::bench {

/// Is told about progress while benchmarks are checked and timed, and can end that.
class Watcher {
public:
    Watcher() = default;
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;
    virtual ~Watcher() = default;

    /// Whether to end as soon as possible, and keep what was measured.
    [[nodiscard]] virtual bool stop_requested() { return false; }
    /// `done` of `total` benchmarks are timed, and `current` is next, or is checked, or timed.
    virtual void on_progress(std::size_t /*done*/, std::size_t /*total*/, const std::string& /*current*/) {}
    /// Something is going to be printed.
    virtual void before_output() {}
};

/// What Benchmark::timed_by says of engines without a clock of their own.
inline constexpr const char* wall_clock = "the wall clock";

/// The clock for engines without one of their own.
enum class HostClock : std::uint8_t {
    /// The processor's for what the CPU engine executes on one thread, where the system has an exact one: it leaves out
    /// the time in which other processes had the processor, and nothing else. Several threads together use more
    /// processor time than passes, so the wall clock times them.
    automatic,
    /// The processor's if the engine's process tells it. In all threads together.
    processor,
    wall,
};

struct BenchSettings {
    /// Rotates through copies of the tensors, so that the caches hold none of what an execution needs.
    bool cold = false;
    /// Times only what was found right before. Otherwise nothing is compared.
    bool verify = true;
    HostClock host_clock = HostClock::automatic;
    /// See run::CaseSettings::precisions.
    std::vector<core::Precision> precisions{};
};

/// A case that is not timed on an engine, and why.
struct LeftOut {
    std::string name;
    std::string reason;
    /// The engine cannot do it; otherwise it does it wrong, or broke.
    bool skipped = false;
};

/// A case on an engine.
struct Benchmark {
    /// "engine/id".
    std::string name;
    const cases::Case* subject = nullptr;
    Engine* engine = nullptr;
    std::optional<Roofline> roofline;
    bool cold = false;
    /// See MeasuredCase::use_cpu_time.
    bool cpu_time = false;
    std::optional<DeviceClock> clock;
    /// Whether the answer was found right.
    bool verified = false;
    /// Whether the engine, or the processor's clock, tells the times, and not the wall clock.
    bool own_times = false;
    /// Timed by the clock of a device whose clock rate can be read. Processors that stand in for a graphics device have
    /// none, and whatever else they do disturbs their times.
    bool timed_by_device = false;
    /// Whose clock times it: "the device's clock", "the worker's own clock" for a process that tells its times, "the
    /// processor's clock" with cpu_time, or wall_clock.
    std::string timed_by{};
    std::optional<double> effective_bits{};
};

struct Checked {
    std::vector<Benchmark> benchmarks;
    std::vector<LeftOut> left_out;
    /// All engines are devices whose clock rates can be read: short repetitions are as good as long ones.
    bool by_steady_clocks = false;
};

/// Carries every case out once on every engine, and judges it. Cases and engines must outlive the result.
[[nodiscard]] Checked check_benchmarks(std::span<const cases::Case> cases,
                                       std::span<const std::unique_ptr<Engine>> engines,
                                       std::span<const std::optional<Roofline>> rooflines,
                                       const BenchSettings& settings, Watcher& watcher);

/// What results are only comparable with: machine, engines, adapters, drivers, rooflines. For the "context" of
/// Google Benchmark's JSON.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> context_of(
    std::span<const std::unique_ptr<Engine>> engines, std::span<const std::optional<Roofline>> rooflines);

}  // namespace dmlconform::bench
