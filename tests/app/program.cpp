// Starts, watches and ends processes.
#include "tests/app/program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "engine/worker/file_descriptor.h"

namespace dmlconform::tests {
namespace {

using worker::FileDescriptor;

/// A pipe or pseudo-terminal: the program writes to one end, and the test reads from the other.
struct Channel {
    FileDescriptor read;
    FileDescriptor write;
};

Channel open_channel(bool terminal) {
    if (terminal) {
        Channel channel{FileDescriptor(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)), {}};
        if (grantpt(channel.read.number()) == 0 && unlockpt(channel.read.number()) == 0) {
            channel.write = FileDescriptor(::open(ptsname(channel.read.number()), O_RDWR | O_NOCTTY | O_CLOEXEC));
        }
        if (channel.write.number() < 0) {
            throw std::runtime_error("there is no pseudo-terminal");
        }
        return channel;
    }
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw std::runtime_error("there is no pipe");
    }
    return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

/// The environment's "NAME=value" lines after the changes.
std::vector<std::string> environment_with(const ProgramOptions& options) {
    std::vector<std::string> lines;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string line = *entry;
        const std::string name = line.substr(0, line.find('='));
        const bool changed = std::any_of(options.environment.begin(), options.environment.end(),
                                         [&](const auto& change) { return change.first == name; });
        if (!changed) {
            lines.push_back(line);
        }
    }
    for (const auto& [name, value] : options.environment) {
        if (value) {
            lines.push_back(name + "=" + *value);
        }
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

pid_t start(std::vector<std::string> words, const ProgramOptions& options, Channel& output, Channel& errors) {
    std::vector<std::string> variables = environment_with(options);
    const std::vector<char*> arguments = pointers_to(words);
    const std::vector<char*> environment = pointers_to(variables);
    const pid_t process = fork();
    if (process == 0) {
        // Only async-signal-safe calls are allowed between fork and exec.
        std::signal(SIGINT, SIG_DFL);
        const int nothing = ::open("/dev/null", O_RDONLY);
        dup2(nothing, STDIN_FILENO);
        dup2(output.write.number(), STDOUT_FILENO);
        dup2(errors.write.number(), STDERR_FILENO);
        if (options.folder.empty() || chdir(options.folder.c_str()) == 0) {
            execve(arguments[0], arguments.data(), environment.data());
        }
        _exit(127);
    }
    if (process < 0) {
        throw std::runtime_error("no process can be started");
    }
    output.write.close();
    errors.write.close();
    return process;
}

/// Appends the available output; returns false at the end.
bool read_some(FileDescriptor& from, std::string& to) {
    std::array<char, 65536> buffer{};
    const ssize_t count = ::read(from.number(), buffer.data(), buffer.size());
    if (count > 0) {
        to.append(buffer.data(), static_cast<std::size_t>(count));
        return true;
    }
    if (count < 0 && errno == EINTR) {
        return true;
    }
    from.close();  // the end of a terminal is reported as an error
    return false;
}

/// A program to test instead of the one that was built with the tests: see CONTRIBUTING.md. Null if there is none.
const char* other_program() {
    return std::getenv("DMLCONFORM_TEST_PROGRAM");
}

/// Converts the line ends of a Windows program to "\n".
void end_lines_as_here(std::string& text) {
    for (std::size_t at = text.find("\r\n"); at != std::string::npos; at = text.find("\r\n", at)) {
        text.erase(at, 1);
    }
}

/// All adapters except DirectML, which takes seconds to start and has separate tests.
std::string adapters_but_directml() {
    return dmlconform({"adapters"}, {.environment = {{"DMLCONFORM_ROOT", "/nowhere"}}}).output;
}

}  // namespace

std::string ProgramResult::all() const {
    return "exit code " + std::to_string(exit_code) + ", signal " + std::to_string(signal) +
           (timed_out ? ", timed out" : "") + "\n--- output:\n" + output + "--- errors:\n" + errors + "---\n";
}

bool has_terminals() {
    try {
        static_cast<void>(open_channel(true));
        return true;
    } catch (const std::runtime_error&) {
        return false;
    }
}

ProgramResult run_program(const std::vector<std::string>& words, const ProgramOptions& options) {
    using Clock = std::chrono::steady_clock;
    Channel output = open_channel(options.terminal_for_output);
    Channel errors = open_channel(options.terminal_for_errors);
    const pid_t process = start(words, options, output, errors);
    const auto end = Clock::now() + options.timeout;
    ProgramResult result;
    bool interrupted = options.interrupt_when == nullptr;
    while (output.read.number() >= 0 || errors.read.number() >= 0) {
        std::array<pollfd, 2> waiting{{{output.read.number(), POLLIN, 0}, {errors.read.number(), POLLIN, 0}}};
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
        if (left <= 0) {
            result.timed_out = true;
            kill(process, SIGKILL);
            break;
        }
        poll(waiting.data(), waiting.size(), static_cast<int>(std::min<std::int64_t>(left, 1000)));
        if (waiting[0].revents != 0) {
            read_some(output.read, result.output);
        }
        if (waiting[1].revents != 0) {
            read_some(errors.read, result.errors);
        }
        if (!interrupted && options.interrupt_when(result.output)) {
            interrupted = true;
            kill(process, options.interrupt_signal);
        }
    }
    int status = 0;
    rusage usage{};
    while (wait4(process, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    result.most_memory = usage.ru_maxrss;
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return result;
}

ProgramResult dmlconform(std::vector<std::string> arguments, const ProgramOptions& options) {
    arguments.insert(arguments.begin(), dmlconform_path());
    ProgramResult result = run_program(arguments, options);
    if (other_program() != nullptr) {
        end_lines_as_here(result.output);
        end_lines_as_here(result.errors);
    }
    return result;
}

const std::string& dmlconform_path() {
    static const std::string path = other_program() != nullptr ? other_program() : DMLCONFORM_PROGRAM;
    return path;
}

const std::string& cases_folder() {
    static const std::string path = DMLCONFORM_CASES;
    return path;
}

const std::vector<std::string>& usable_engines() {
    static const std::vector<std::string> engines = [] {
        std::vector<std::string> list{"cpu"};
        const std::string adapters = adapters_but_directml();
        if (adapters.find("d3d12    ") != std::string::npos &&
            adapters.find("d3d12    not usable") == std::string::npos) {
            list.emplace_back("d3d12");
        }
        return list;
    }();
    return engines;
}

std::set<std::string> operators_of(const std::string& engine) {
    std::set<std::string> operators;
    std::istringstream lines(dmlconform({"describe"}).output);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t engines = line.find(" runs on ");
        if (engines != std::string::npos && line.find(" " + engine, engines + 8) != std::string::npos) {
            operators.insert(line.substr(0, line.find(' ')));
        }
    }
    return operators;
}

bool has_d3d12() {
    return adapters_but_directml().find("this build has no Direct3D 12") == std::string::npos;
}

}  // namespace dmlconform::tests
