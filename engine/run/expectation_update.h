// Updates expectation files from the results of a run.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/core/error.h"
#include "engine/run/expected_results.h"

namespace dmlconform::run {

/// A file's new text, and sentences that say what was changed.
struct UpdatedFile {
    std::string text;
    std::vector<std::string> changes;
};

/// Receives all results of a run after expectations were applied. Records unexpected failures and passes, and for
/// contradicted expectations the cases for which they still hold.
class ExpectationUpdate {
public:
    explicit ExpectationUpdate(const ExpectedResults& expected) : expected_(expected) {}

    void add(const CaseResult& result);

    /// Removes passing cases from the file at `path`, whose text is `text`, and adds failures if `add_failures`.
    /// `complete`: the run had all cases, so a pattern can be narrowed to those that still fail.
    [[nodiscard]] core::Result<UpdatedFile> update(const std::string& path, const std::string& text,
                                                   std::span<const EngineInfo> engines, bool complete,
                                                   bool add_failures) const;

private:
    /// What became of the cases of one expectation, by id.
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

    /// The current entries of a file.
    struct Entries {
        /// For each entry, its index among the expectations when the run began; empty for entries that were added
        /// since.
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

/// The text of an expectation file without entries.
[[nodiscard]] std::string empty_expectations();

}  // namespace dmlconform::run
