// Redirects the standard streams on POSIX systems and Windows.
#include "app/worker_streams.h"

#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>

#include "app/command.h"

#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#include <windows.h>
#else
#include <poll.h>
#include <unistd.h>

#include <csignal>
#endif

namespace dmlconform::app {
namespace {

enum Stream : int { standard_input = 0, standard_output = 1, standard_error = 2 };

constexpr std::size_t buffer_size = std::size_t{1} << 16;
constexpr std::chrono::seconds grace(5);

/// A separate file for the original standard output.
std::FILE* take_standard_output() {
    std::fflush(stdout);
#ifdef _WIN32
    const int taken = _dup(standard_output);
    _dup2(standard_error, standard_output);
    _setmode(standard_input, _O_BINARY);
    _setmode(taken, _O_BINARY);
    return _fdopen(taken, "wb");
#else
    // A client that has gone is an ordinary end.
    std::signal(SIGPIPE, SIG_IGN);
    const int taken = dup(standard_output);
    dup2(standard_error, standard_output);
    return fdopen(taken, "wb");
#endif
}

/// Returns when standard input has no writer any more; false if the system cannot tell.
bool wait_for_client_to_go() {
#ifdef _WIN32
    const HANDLE input = GetStdHandle(STD_INPUT_HANDLE);
    while (PeekNamedPipe(input, nullptr, 0, nullptr, nullptr, nullptr)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
    return GetLastError() == ERROR_BROKEN_PIPE;
#else
    pollfd input{standard_input, 0, 0};
#ifdef POLLRDHUP
    input.events = POLLRDHUP;  // for sockets
#endif
    while (poll(&input, 1, -1) <= 0) {
    }
    return (input.revents & POLLNVAL) == 0;
#endif
}

}  // namespace

WorkerStreams::WorkerStreams() : output_(take_standard_output()) {
    std::setvbuf(stdin, nullptr, _IOFBF, buffer_size);
}

WorkerStreams::~WorkerStreams() {
    if (output_ != nullptr) {
        std::fclose(output_);
    }
}

bool WorkerStreams::read(std::span<std::byte> to) {
    return std::fread(to.data(), 1, to.size(), stdin) == to.size();
}

bool WorkerStreams::write(std::span<const std::byte> bytes) {
    return output_ != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), output_) == bytes.size() &&
           std::fflush(output_) == 0;
}

void end_with_client() {
    try {
        std::thread([] {
            if (wait_for_client_to_go()) {
                std::this_thread::sleep_for(grace);
                std::_Exit(exit_not_run);
            }
        }).detach();
    } catch (const std::system_error&) {
        // The system cannot create a thread. A hanging worker is then ended by its client, unless that was killed as
        // well.
    }
}

}  // namespace dmlconform::app
