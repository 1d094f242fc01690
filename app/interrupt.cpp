// Handles signals.
#include "app/interrupt.h"

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>

#include "app/command.h"
#include "engine/report/partial_files.h"

namespace dmlconform::app {
namespace {

using Clock = std::chrono::steady_clock;

/// Signals within this time count as one: `timeout` signals both the program and its group, and so may a terminal.
constexpr Clock::duration one_signal = std::chrono::seconds(1);

volatile std::sig_atomic_t signal_seen = 0;
/// The time of the first signal.
std::atomic<Clock::rep> seen_at{0};
static_assert(std::atomic<Clock::rep>::is_always_lock_free);

extern "C" void end_by(int signal) {
    report::remove_partial_files();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

extern "C" void on_interrupt(int signal) {
    const Clock::rep now = Clock::now().time_since_epoch().count();
    if (signal_seen == 0) {
        seen_at = now;
        signal_seen = signal;
        std::signal(signal, on_interrupt);  // some systems reset the handler after each signal
    } else if (Clock::duration(now - seen_at) < one_signal) {
        std::signal(signal, on_interrupt);
    } else {
        end_by(signal);
    }
}

/// Ctrl-C, `kill`, and a closed terminal or connection. A run ends after the cases at hand.
constexpr std::array signals_that_end{
    SIGINT,
    SIGTERM,
#ifdef SIGHUP
    SIGHUP,
#endif
};

#ifdef SIGQUIT
/// Ctrl-\ and the limit of processor time. They end the program at once.
constexpr std::array signals_that_end_at_once{SIGQUIT, SIGXCPU};
#else
constexpr std::array<int, 0> signals_that_end_at_once{};
#endif

/// `nohup` and background jobs start with ignored signals. `keep` decides which of these stay ignored.
template <class Signals, class Keep>
void handle(const Signals& signals, void (*handler)(int), const Keep& keep) {
    for (const int signal : signals) {
        if (std::signal(signal, handler) == SIG_IGN && keep(signal)) {
            std::signal(signal, SIG_IGN);
        }
    }
}

}  // namespace

void remove_partial_files_on_signals() {
    const auto keep_all = [](int) { return true; };
    handle(signals_that_end, end_by, keep_all);
    handle(signals_that_end_at_once, end_by, keep_all);
}

void catch_interrupts() {
    // A background run can be ended by all signals except the one that `nohup` ignores.
    handle(signals_that_end, on_interrupt, [](int signal) { return signal != SIGINT && signal != SIGTERM; });
}

bool interrupted() {
    return signal_seen != 0;
}

int interrupt_exit_code() {
    switch (signal_seen) {
        case SIGTERM:
            return exit_terminated;
#ifdef SIGHUP
        case SIGHUP:
            return exit_hung_up;
#endif
        default:
            return exit_interrupted;
    }
}

}  // namespace dmlconform::app
