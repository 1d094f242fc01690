// Runs dmlconform, or any program, as a user would, and tells what it did.
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
    /// Variables to set, or to remove.
    std::vector<std::pair<std::string, std::optional<std::string>>> environment{};
    /// Where to run; empty: here.
    std::string folder{};
    /// Gives the program a terminal as its standard output, or as its standard error.
    bool terminal_for_output = false;
    bool terminal_for_errors = false;
    /// Asked whenever there is more output; once it says true, a signal is sent. Null: never.
    std::function<bool(const std::string& output)> interrupt_when{};
    /// What is sent then.
    int interrupt_signal = 2;  // SIGINT
    std::chrono::milliseconds timeout{120'000};
};

struct ProgramResult {
    /// -1 when a signal ended the program.
    int exit_code = -1;
    int signal = 0;
    bool timed_out = false;
    std::string output;
    std::string errors;

    /// Everything, for messages of tests.
    [[nodiscard]] std::string all() const;
};

/// Whether there are pseudo-terminals: not in every container.
[[nodiscard]] bool has_terminals();

/// Runs a program with its arguments; the first word is its path.
[[nodiscard]] ProgramResult run_program(const std::vector<std::string>& words, const ProgramOptions& options = {});

/// Runs dmlconform itself.
[[nodiscard]] ProgramResult dmlconform(std::vector<std::string> arguments, const ProgramOptions& options = {});

/// The program's path, and the folder with the repository's cases.
[[nodiscard]] const std::string& dmlconform_path();
[[nodiscard]] const std::string& cases_folder();

/// The engines that `dmlconform adapters` calls usable, the CPU engine first.
[[nodiscard]] const std::vector<std::string>& usable_engines();

/// The operators that an engine computes, by what `describe` says: "DML_OPERATOR_…".
[[nodiscard]] std::set<std::string> operators_of(const std::string& engine);

/// Whether the program was built with the D3D12 engine, usable or not.
[[nodiscard]] bool has_d3d12();

}  // namespace dmlconform::tests
