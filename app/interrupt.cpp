// The signal handler.
#include "app/interrupt.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>

#include "app/command.h"

namespace dmlconform::app {
namespace {

using Clock = std::chrono::steady_clock;

/// Some send a signal twice at once: `timeout` to the program and to its group, a terminal beside a script.
constexpr Clock::duration one_signal = std::chrono::seconds(1);

volatile std::sig_atomic_t signal_seen = 0;
/// When the first one came.
std::atomic<Clock::rep> seen_at{0};
static_assert(std::atomic<Clock::rep>::is_always_lock_free);

extern "C" void on_interrupt(int signal) {
    const Clock::rep now = Clock::now().time_since_epoch().count();
    if (signal_seen == 0) {
        seen_at = now;
        signal_seen = signal;
        std::signal(signal, on_interrupt);  // some systems forget it with each signal
    } else if (Clock::duration(now - seen_at) < one_signal) {
        std::signal(signal, on_interrupt);
    } else {
        std::signal(signal, SIG_DFL);
        std::raise(signal);
    }
}

}  // namespace

void catch_interrupts() {
    std::signal(SIGINT, on_interrupt);
    std::signal(SIGTERM, on_interrupt);
}

bool interrupted() {
    return signal_seen != 0;
}

int interrupt_exit_code() {
    return signal_seen == SIGTERM ? exit_terminated : exit_interrupted;
}

}  // namespace dmlconform::app
