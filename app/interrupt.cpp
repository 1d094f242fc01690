// The signal handler.
#include "app/interrupt.h"

#include <csignal>

namespace dmlconform::app {
namespace {

volatile std::sig_atomic_t signal_seen = 0;

extern "C" void on_interrupt(int signal) {
    signal_seen = 1;
    std::signal(signal, SIG_DFL);
}

}  // namespace

void catch_interrupts() {
    std::signal(SIGINT, on_interrupt);
}

bool interrupted() {
    return signal_seen != 0;
}

}  // namespace dmlconform::app
