// The options for expectations, loading of their files, and messages about useless entries.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/command.h"
#include "engine/run/expectation_update.h"
#include "engine/run/expected_results.h"

namespace dmlconform::app {

struct ExpectationOptions {
    std::vector<std::string> files;
    /// Do not use directml::wine::default_expectations. They are not used either if there are files.
    bool no_defaults = false;
    /// True if `files` has directml::wine::default_expectations.
    bool are_defaults = false;
    /// Rewrites the files after the run.
    bool update = false;

    void add_to(Command command);
    /// The same without the options that rewrite files, for random cases.
    void add_reading_to(Command command);
    /// Options for a command that judges a case in the same way.
    [[nodiscard]] std::vector<std::string> words() const;
    /// Options for a command in which a failed case fails without the files, too.
    [[nodiscard]] std::vector<std::string> words_elsewhere() const;
    /// Uses the files that come with dmlconform for one of the engines, unless others were given. False if there are
    /// none.
    bool take_defaults(const std::vector<EngineInfo>& engines);
};

/// Adds `--expect` for commands that only report what is known.
void add_known_files(Command command, std::vector<std::string>& files);

/// Loads the files. Prints every problem to stderr; empty if there are any.
[[nodiscard]] std::optional<std::vector<expectations::Expectation>> read_expectations(
    const std::vector<std::string>& files);

/// Loads the expectations of all files. Prints problems to stderr and returns null if there are any. Reports expired
/// entries.
[[nodiscard]] std::unique_ptr<run::ExpectedResults> load_expectations(const ExpectationOptions& options);

/// Rewrites the files according to the run, and prints the changes. `complete`: the run had all cases.
[[nodiscard]] core::Result<void> update_expectations(const ExpectationOptions& options,
                                                     const run::ExpectationUpdate& update,
                                                     std::span<const EngineInfo> engines, bool complete);

/// Prints on stderr the expectations that matched no result. For use after a run of all cases.
void print_unused(const run::ExpectedResults& expected);

}  // namespace dmlconform::app
