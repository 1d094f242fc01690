// Child processes by fork and exec.
//
// The child leads a process group of its own. So Ctrl-C at the terminal reaches only this process, which ends the child
// after the current case, and processes that the child starts can be ended with it.
#ifndef _WIN32

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "engine/worker/child_process.h"
#include "engine/worker/file_descriptor.h"

namespace dmlconform::worker {
namespace {

using Clock = ChildProcess::Clock;
using Outcome = ChildProcess::Outcome;

struct Pipe {
    FileDescriptor read;
    FileDescriptor write;
};

/// Moves a descriptor above the standard streams, onto which the child's ends are duplicated. It is closed in started
/// programs.
FileDescriptor moved_away(int number) {
    FileDescriptor original(number);
    return FileDescriptor(fcntl(number, F_DUPFD_CLOEXEC, 3));
}

std::optional<Pipe> open_pipe() {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) {
        return std::nullopt;
    }
    Pipe opened{moved_away(ends[0]), moved_away(ends[1])};
    return opened.read.is_open() && opened.write.is_open() ? std::optional(std::move(opened)) : std::nullopt;
}

void do_not_block(const FileDescriptor& descriptor) {
    fcntl(descriptor.number(), F_SETFL, fcntl(descriptor.number(), F_GETFL) | O_NONBLOCK);
}

std::string system_error(int code) {
    return std::strerror(code);
}

/// Ignores SIGPIPE during its lifetime: writing to a child that has ended must not end this process. Elsewhere the
/// signal keeps its effect, for `dmlconform … | head`.
class WithoutBrokenPipeSignal {
public:
    WithoutBrokenPipeSignal() {
        sigemptyset(&set_);
        sigaddset(&set_, SIGPIPE);
        sigset_t pending;
        sigpending(&pending);
        was_pending_ = sigismember(&pending, SIGPIPE) == 1;
        pthread_sigmask(SIG_BLOCK, &set_, &before_);
    }
    WithoutBrokenPipeSignal(const WithoutBrokenPipeSignal&) = delete;
    WithoutBrokenPipeSignal& operator=(const WithoutBrokenPipeSignal&) = delete;
    ~WithoutBrokenPipeSignal() {
        sigset_t pending;
        sigpending(&pending);
        if (!was_pending_ && sigismember(&pending, SIGPIPE) == 1) {
            int taken = 0;
            sigwait(&set_, &taken);
        }
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

private:
    sigset_t set_{};
    sigset_t before_{};
    bool was_pending_ = false;
};

// ---- starting ----------------------------------------------------------------------------------------------------

/// The environment as "NAME=value" strings, with changes.
std::vector<std::string> environment_with(const WorkerCommand& command) {
    std::vector<std::string> lines;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view line = *entry;
        const std::string_view name = line.substr(0, line.find('='));
        if (std::none_of(command.environment.begin(), command.environment.end(),
                         [&](const auto& change) { return change.first == name; })) {
            lines.emplace_back(line);
        }
    }
    for (const auto& [name, value] : command.environment) {
        lines.push_back(fmt::format("{}={}", name, value));
    }
    return lines;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (std::string& word : words) {
        pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

/// Data for the child between fork and exec, where nothing may be allocated.
struct Start {
    std::vector<std::string> words;
    std::vector<std::string> variables;
    std::vector<char*> arguments;
    std::vector<char*> environment;
    const char* folder = nullptr;
    pid_t parent = 0;
    int input = -1;
    int output = -1;
    /// -1 if the standard error is inherited.
    int errors = -1;
    /// Receives errno if the program cannot be started.
    int failure = -1;
};

[[noreturn]] void become_program(const Start& start) {
    setpgid(0, 0);
#ifdef __linux__
    // Ends the child when the parent ends: a hanging child would not notice that its input is closed. (More precisely,
    // when the thread that started it ends; engines are used from one thread.)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != start.parent) {
        _exit(127);
    }
#endif
    dup2(start.input, STDIN_FILENO);
    dup2(start.output, STDOUT_FILENO);
    if (start.errors >= 0) {
        dup2(start.errors, STDERR_FILENO);
    }
    if (start.folder == nullptr || chdir(start.folder) == 0) {
        environ = const_cast<char**>(start.environment.data());
        execvp(start.arguments[0], start.arguments.data());
    }
    const int error = errno;
    [[maybe_unused]] const ssize_t written = ::write(start.failure, &error, sizeof error);
    _exit(127);
}

/// Why the program could not be started; empty if it runs.
std::optional<int> failure_from(const FileDescriptor& pipe) {
    int error = 0;
    ssize_t size = 0;
    do {
        size = ::read(pipe.number(), &error, sizeof error);
    } while (size < 0 && errno == EINTR);
    return size == sizeof error ? std::optional(error) : std::nullopt;
}

// ---- talking -----------------------------------------------------------------------------------------------------

constexpr std::size_t chunk = 65536;
/// Limit for buffered output; beyond it, the child must wait.
constexpr std::size_t most_received = std::size_t{1} << 20;
constexpr std::size_t most_errors = 4096;

/// Rounded up, for poll; 0 after the deadline.
int milliseconds_until(Clock::time_point deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
}

bool would_block() {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

struct ChildProcess::State {
    pid_t process = -1;
    FileDescriptor input;
    FileDescriptor output;
    FileDescriptor errors;
    /// Bytes that arrived while waiting for something else; those before `taken` have been consumed.
    std::vector<std::byte> received;
    std::size_t taken = 0;
    std::vector<std::byte> scratch = std::vector<std::byte>(chunk);
    std::string last_errors;
    std::string how_it_ended;

    [[nodiscard]] std::size_t waiting() const { return received.size() - taken; }

    void take(std::span<std::byte>& to) {
        const std::size_t count = std::min(to.size(), waiting());
        std::copy_n(received.begin() + static_cast<std::ptrdiff_t>(taken), count, to.begin());
        taken += count;
        to = to.subspan(count);
        if (waiting() == 0) {
            received.clear();
            taken = 0;
        }
    }

    /// Reads available bytes into `to`. Returns their number, 0 if there are none yet, -1 at the end.
    static ssize_t read_some(const FileDescriptor& from, void* to, std::size_t size) {
        const ssize_t count = ::read(from.number(), to, size);
        if (count > 0) {
            return count;
        }
        return count < 0 && would_block() ? 0 : -1;
    }

    /// Appends to `received`; false at the end.
    bool receive() {
        const ssize_t count = read_some(output, scratch.data(), scratch.size());
        received.insert(received.end(), scratch.begin(), scratch.begin() + std::max<ssize_t>(count, 0));
        return count >= 0;
    }

    void receive_errors() {
        std::array<char, 4096> buffer{};
        ssize_t count = 0;
        while (errors.is_open() && (count = read_some(errors, buffer.data(), buffer.size())) > 0) {
            last_errors.append(buffer.data(), static_cast<std::size_t>(count));
            if (last_errors.size() > most_errors) {
                last_errors.erase(0, last_errors.size() - most_errors);
            }
        }
        if (count < 0) {
            errors.close();
        }
    }

    /// Waits until something can be read, or written if `to_write`. False when the time is over.
    bool wait(Clock::time_point deadline, bool to_write) {
        const bool has_room = waiting() < most_received;
        std::array<pollfd, 3> events{{{has_room ? output.number() : -1, POLLIN, 0},
                                      {to_write ? input.number() : -1, POLLOUT, 0},
                                      {errors.number(), POLLIN, 0}}};
        const int timeout = milliseconds_until(deadline);
        if (poll(events.data(), events.size(), timeout) == 0 && timeout == 0) {
            return false;
        }
        if (events[2].revents != 0) {
            receive_errors();
        }
        return true;
    }

    /// Whether it has ended. It is not reaped: its group must keep its number until the group is ended.
    [[nodiscard]] bool has_ended() const {
        siginfo_t information{};
        return waitid(P_PID, static_cast<id_t>(process), &information, WEXITED | WNOHANG | WNOWAIT) != 0 ||
               information.si_pid != 0;
    }

    /// Waits for the end; false when the time is over. What it writes goes nowhere.
    bool wait_for_end(Clock::time_point deadline) {
        std::chrono::milliseconds pause(1);
        while (!has_ended()) {
            if (Clock::now() >= deadline) {
                return false;
            }
            received.clear();
            taken = 0;
            if (output.is_open() && !receive()) {
                output.close();
            }
            wait(std::min(deadline, Clock::now() + pause), false);
            pause = std::min(pause * 2, std::chrono::milliseconds(20));
            if (!output.is_open() && !errors.is_open()) {
                poll(nullptr, 0, static_cast<int>(pause.count()));
            }
        }
        return true;
    }
};

ChildProcess::ChildProcess(std::unique_ptr<State> state) : state_(std::move(state)) {}

ChildProcess::~ChildProcess() {
    end(std::chrono::milliseconds(0));
}

core::Result<std::unique_ptr<ChildProcess>> ChildProcess::start(const WorkerCommand& command) {
    auto input = open_pipe();
    auto output = open_pipe();
    auto errors = open_pipe();
    auto failure = open_pipe();
    if (!input || !output || !errors || !failure) {
        return core::fail("no pipe can be made: " + system_error(errno));
    }
    Start start{command.argv,
                environment_with(command),
                {},
                {},
                nullptr,
                getpid(),
                input->read.number(),
                output->write.number(),
                command.shares_errors ? -1 : errors->write.number(),
                failure->write.number()};
    start.arguments = pointers_to(start.words);
    start.environment = pointers_to(start.variables);
    start.folder = command.folder.empty() ? nullptr : command.folder.c_str();
    const pid_t process = fork();
    if (process == 0) {
        become_program(start);
    }
    if (process < 0) {
        return core::fail("no process can be started: " + system_error(errno));
    }
    setpgid(process, process);
    failure->write.close();
    if (const auto error = failure_from(failure->read)) {
        waitpid(process, nullptr, 0);
        return core::fail(fmt::format("{} cannot be started: {}", command.argv[0], system_error(*error)));
    }
    auto state = std::make_unique<State>();
    state->process = process;
    state->input = std::move(input->write);
    state->output = std::move(output->read);
    state->errors = std::move(errors->read);
    do_not_block(state->input);
    do_not_block(state->output);
    do_not_block(state->errors);
    return std::unique_ptr<ChildProcess>(new ChildProcess(std::move(state)));
}

Outcome ChildProcess::write(std::span<const std::byte>& bytes, Clock::time_point deadline) {
    const WithoutBrokenPipeSignal guard;
    while (!bytes.empty()) {
        const ssize_t count = ::write(state_->input.number(), bytes.data(), bytes.size());
        if (count >= 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(count));
            continue;
        }
        if (!would_block()) {
            return Outcome::ended;
        }
        if (!state_->wait(deadline, true)) {
            return Outcome::timed_out;
        }
        if (state_->waiting() < most_received && !state_->receive()) {
            return Outcome::ended;
        }
    }
    return Outcome::done;
}

Outcome ChildProcess::read(std::span<std::byte>& to, Clock::time_point deadline) {
    state_->take(to);
    while (!to.empty()) {
        // Much goes straight to where it belongs; of little, what follows is taken along.
        if (to.size() >= chunk) {
            const ssize_t count = State::read_some(state_->output, to.data(), to.size());
            if (count < 0) {
                return Outcome::ended;
            }
            to = to.subspan(static_cast<std::size_t>(count));
            if (count > 0) {
                continue;
            }
        } else {
            if (!state_->receive()) {
                return Outcome::ended;
            }
            if (state_->waiting() > 0) {
                state_->take(to);
                continue;
            }
        }
        if (!state_->wait(deadline, false)) {
            return Outcome::timed_out;
        }
    }
    return Outcome::done;
}

std::string ChildProcess::end(std::chrono::milliseconds grace) {
    if (state_->process < 0) {
        return state_->how_it_ended;
    }
    state_->input.close();
    const bool by_itself = state_->wait_for_end(Clock::now() + grace);
    kill(-state_->process, SIGKILL);
    int status = 0;
    while (waitpid(state_->process, &status, 0) < 0 && errno == EINTR) {
    }
    state_->process = -1;
    state_->receive_errors();
    if (!by_itself) {
        state_->how_it_ended = had_to_be_ended;
    } else if (WIFSIGNALED(status)) {
        state_->how_it_ended = fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else {
        state_->how_it_ended = fmt::format("exit code {}", WEXITSTATUS(status));
    }
    return state_->how_it_ended;
}

void ChildProcess::interrupt() {
    if (state_->process > 0) {
        kill(state_->process, SIGTERM);
    }
}

std::optional<core::ProcessorUse> ChildProcess::processor_use() const {
    return state_->process > 0 ? core::processor_use_of_process(state_->process) : std::nullopt;
}

std::string ChildProcess::errors() const {
    state_->receive_errors();
    return state_->last_errors;
}

}  // namespace dmlconform::worker

#endif
