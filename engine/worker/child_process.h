// A child process to talk to: started with pipes, never waited for without a limit, and never left behind.
//
// child_process_posix.cpp and child_process_windows.cpp define the members.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/error.h"

namespace dmlconform::worker {

/// How to start a process.
struct WorkerCommand {
    /// The program, which is looked up in PATH unless there is a slash in it, and its arguments.
    std::vector<std::string> argv;
    /// Variables to set beside those of this process.
    std::vector<std::pair<std::string, std::string>> environment;
    /// Where it runs; empty: here.
    std::string folder;
};

/// "python3 worker.py": the words, for messages.
[[nodiscard]] std::string to_string(const WorkerCommand& command);

class ChildProcess {
public:
    using Clock = std::chrono::steady_clock;

    enum class Outcome : std::uint8_t {
        done,
        ended,      // the process closed its end
        timed_out,  // the deadline passed
    };

    /// An error when there is no such program, or no process can be started.
    [[nodiscard]] static core::Result<std::unique_ptr<ChildProcess>> start(const WorkerCommand& command);

    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;
    /// Ends the process at once if end() was not called.
    ~ChildProcess();

    /// Writes all of it to the process's standard input, while taking in what it writes. `bytes` becomes what is still
    /// to be written: after `timed_out` the same can be called again.
    [[nodiscard]] Outcome write(std::span<const std::byte>& bytes, Clock::time_point deadline);

    /// Reads as many bytes as `to` has from its standard output. `to` becomes what is still to be read.
    [[nodiscard]] Outcome read(std::span<std::byte>& to, Clock::time_point deadline);

    /// Closes its standard input and waits for it to end; after `grace` it is ended by force, with all processes that
    /// it has started. How it ended: "exit code 3", "signal 11 (Segmentation fault)". The second call only says it
    /// again.
    std::string end(std::chrono::milliseconds grace);

    /// The last of what it wrote to its standard error, some kilobytes at most.
    [[nodiscard]] std::string errors() const;

private:
    struct State;
    explicit ChildProcess(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

}  // namespace dmlconform::worker
