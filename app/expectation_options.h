// The options for expectations, the loading of their files, and what is said of entries that are of no use.
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
    /// What directml::wine::default_expectations has is not to be used. Neither is it when there are files.
    bool no_defaults = false;
    /// Where `files` is what directml::wine::default_expectations has.
    bool are_defaults = false;
    /// Rewrites the files after the run.
    bool update = false;

    void add_to(Command command);
    /// The same without the rewriting of files, for random cases.
    void add_reading_to(Command command);
    /// Options by which a case is judged in the same way.
    [[nodiscard]] std::vector<std::string> words() const;
    /// Options by which what failed fails without the files, too.
    [[nodiscard]] std::vector<std::string> words_elsewhere() const;
    /// Takes the files that come with dmlconform for one of the engines, unless others were given. False: none.
    bool take_defaults(const std::vector<EngineInfo>& engines);
};

/// `--expect`, for commands that run nothing, and say what is known.
void add_known_files(Command command, std::vector<std::string>& files);

/// What is in the files. Prints every problem to stderr and returns nothing then.
[[nodiscard]] std::optional<std::vector<expectations::Expectation>> read_expectations(
    const std::vector<std::string>& files);

/// The expectations of all files. Prints every problem to stderr and returns null then; says which have expired.
[[nodiscard]] std::unique_ptr<run::ExpectedResults> load_expectations(const ExpectationOptions& options);

/// Rewrites the files by what the run has shown, and says what was changed. `complete`: it had all cases.
[[nodiscard]] core::Result<void> update_expectations(const ExpectationOptions& options,
                                                     const run::ExpectationUpdate& update,
                                                     std::span<const EngineInfo> engines, bool complete);

/// Says on stderr which expectations met no result, for after a run of all cases.
void print_unused(const run::ExpectedResults& expected);

}  // namespace dmlconform::app
