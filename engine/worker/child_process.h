// A child process with pipes. Waiting is always limited in time, and the process never outlives its owner.
//
// child_process_posix.cpp and child_process_windows.cpp define the members.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "engine/core/processor_use.h"

namespace dmlconform::worker {

/// How to start a process.
struct WorkerCommand {
    /// The program and its arguments. It is searched in PATH unless its name contains a slash.
    std::vector<std::string> argv;
    /// Additional environment variables.
    std::vector<std::pair<std::string, std::string>> environment;
    /// The working directory; empty: that of this process.
    std::string folder;
    /// Its standard error is that of this process, so that errors() stays empty.
    bool shares_errors = false;
};

/// The command for messages: "python3 worker.py".
[[nodiscard]] std::string to_string(const WorkerCommand& command);

/// How a process ended that did not do so by itself.
inline constexpr const char* had_to_be_ended = "it had to be ended";

class ChildProcess {
public:
    using Clock = std::chrono::steady_clock;

    enum class Outcome : std::uint8_t {
        done,
        ended,      // the process closed its end
        timed_out,  // the deadline passed
    };

    /// Starts a process. Fails if the program does not exist or cannot be started.
    [[nodiscard]] static core::Result<std::unique_ptr<ChildProcess>> start(const WorkerCommand& command);

    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;
    /// Kills the process unless end() was called.
    ~ChildProcess();

    /// Writes all bytes to the process's standard input, while buffering its output. Afterwards `bytes` is what remains
    /// to be written; after `timed_out` the call can be repeated.
    [[nodiscard]] Outcome write(std::span<const std::byte>& bytes, Clock::time_point deadline);

    /// Fills `to` from its standard output. Afterwards `to` is what remains to be read.
    [[nodiscard]] Outcome read(std::span<std::byte>& to, Clock::time_point deadline);

    /// Closes its standard input and waits until it ends; after `grace` it is killed together with all processes that
    /// it has started. Returns how it ended: "exit code 3", "signal 11 (Segmentation fault)", had_to_be_ended. A second
    /// call returns the same.
    std::string end(std::chrono::milliseconds grace);

    /// Asks the process to end early, as `kill` does. Windows knows no such request: there, the process goes on.
    void interrupt();

    /// What the process has used so far, without those that it has started. Empty if the system does not tell.
    [[nodiscard]] std::optional<core::ProcessorUse> processor_use() const;

    /// The end of its standard error, limited to some kilobytes.
    [[nodiscard]] std::string errors() const;

private:
    struct State;
    explicit ChildProcess(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

}  // namespace dmlconform::worker
