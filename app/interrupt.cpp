// The signal handler.
#include "app/interrupt.h"

#include <csignal>

#include "app/command.h"

namespace dmlconform::app {
namespace {

volatile std::sig_atomic_t signal_seen = 0;

extern "C" void on_interrupt(int signal) {
    signal_seen = signal;
    std::signal(signal, SIG_DFL);
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
