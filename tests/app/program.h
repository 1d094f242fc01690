// Runs dmlconform, or any program, as a user would, and returns its output.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dmlconform::tests {

struct ProgramOptions {
    /// Variables to set or, without a value, to remove.
    std::vector<std::pair<std::string, std::optional<std::string>>> environment{};
    /// The working directory; empty for the current one.
    std::string folder{};
    /// Makes the standard output or the standard error of the program a terminal.
    bool terminal_for_output = false;
    bool terminal_for_errors = false;
    /// Called whenever there is more output. When it returns true, a signal is sent. May be null.
    std::function<bool(const std::string& output)> interrupt_when{};
    /// The signal to send.
    int interrupt_signal = 2;  // SIGINT
    std::chrono::milliseconds timeout{120'000};
};

struct ProgramResult {
    /// -1 if a signal ended the program.
    int exit_code = -1;
    int signal = 0;
    bool timed_out = false;
    /// The most memory that it had at a time, in KiB. What this process had when it started it counts as well.
    long most_memory = 0;
    std::string output;
    std::string errors;

    /// All outputs and the exit code, for messages of tests.
    [[nodiscard]] std::string all() const;
};

/// Whether pseudo-terminals are available, which some containers lack.
[[nodiscard]] bool has_terminals();

/// Runs a program with its arguments; the first word is its path.
[[nodiscard]] ProgramResult run_program(const std::vector<std::string>& words, const ProgramOptions& options = {});

/// Runs dmlconform itself.
[[nodiscard]] ProgramResult dmlconform(std::vector<std::string> arguments, const ProgramOptions& options = {});

/// The path of dmlconform, and the folder of the repository's cases.
[[nodiscard]] const std::string& dmlconform_path();
[[nodiscard]] const std::string& cases_folder();

/// The engines that `dmlconform adapters` calls usable, the CPU engine first.
[[nodiscard]] const std::vector<std::string>& usable_engines();

/// The operators that an engine computes according to `describe`, such as "DML_OPERATOR_GEMM".
[[nodiscard]] std::set<std::string> operators_of(const std::string& engine);

/// Whether the program was built with the D3D12 engine, usable or not.
[[nodiscard]] bool has_d3d12();

}  // namespace dmlconform::tests
