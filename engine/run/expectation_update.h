// Expectation files brought up to date with what a run has shown.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/core/error.h"
#include "engine/run/expected_results.h"

namespace dmlconform::run {

/// A file's new text, and what was done, in sentences.
struct UpdatedFile {
    std::string text;
    std::vector<std::string> changes;
};

/// Is shown all results of a run, after expectations were applied to them. Remembers failures and passes that were not
/// expected, and which cases the expectations that are contradicted are still right about.
class ExpectationUpdate {
public:
    explicit ExpectationUpdate(const ExpectedResults& expected) : expected_(expected) {}

    void add(const CaseResult& result);

    /// Takes what passes out of the file at `path`, whose text is `text`, and adds the failures if `add_failures`.
    /// `complete`: the run had all cases, so that a pattern can be narrowed to those that still fail.
    [[nodiscard]] core::Result<UpdatedFile> update(const std::string& path, const std::string& text,
                                                   std::span<const EngineInfo> engines, bool complete,
                                                   bool add_failures) const;

private:
    /// Of one expectation, ids by what became of them.
    struct Outcome {
        std::set<std::string> passed;
        std::set<std::string> needed;
    };
    struct Failure {
        std::size_t engine;
        Status status;
        std::string reason;
        auto operator<=>(const Failure&) const = default;
    };

    /// The entries of a file as they are now.
    struct Entries {
        /// Which of all expectations each was when the run began; nothing for those that have come since.
        std::vector<std::optional<std::size_t>> known;
        std::vector<expectations::Expectation> fresh;
    };

    [[nodiscard]] core::Result<Entries> entries_of(const std::string& path, const std::string& text) const;
    [[nodiscard]] std::vector<std::string> entries_for_failures(std::span<const EngineInfo> engines,
                                                                std::span<const expectations::Expectation> fresh) const;

    const ExpectedResults& expected_;
    std::map<std::size_t, Outcome> outcomes_;
    std::map<Failure, std::set<std::string>> failures_;
};

/// A file without expectations.
[[nodiscard]] std::string empty_expectations();

}  // namespace dmlconform::run
