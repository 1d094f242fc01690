// Case files, read and checked, whose cases are made one at a time: sweeps stand for more cases than memory should
// hold.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cases/case.h"
#include "engine/cases/case_reader.h"
#include "engine/cases/problems.h"
#include "engine/cases/sweep.h"

namespace dmlconform::cases {

/// The first key of a repro bundle's environment.json, which is not a case file.
inline constexpr std::string_view bundle_key = "dmlconformBundle";

struct ReadOptions {
    /// Lets data files be outside the case file's folder.
    bool allow_external_data = false;
    /// In one file, expansions of sweeps counted one by one. Each takes some 10 µs to be checked.
    std::size_t most_cases = 1'000'000;
    /// Lets cases of operators without a reference expect no values: somebody else is going to say what is right.
    bool without_expected = false;
    /// Leaves a file out that says it is one of expectations, rather than complaining about it.
    bool pass_over_expectations = false;
};

/// Expansions of a sweep that were left out because their descriptors are illegal and the case allows it.
struct SkippedExpansions {
    /// The case's id, without sweep values.
    std::string id;
    std::size_t count = 0;
};

/// All case files of a run. Of use only when there are no problems.
struct Corpus {
    /// One case as it is written.
    struct Entry {
        /// Index into `files`.
        std::size_t file = 0;
        /// With the file's defaults.
        JsonValue text;
        std::optional<Sweep> sweep;
        /// Position of its first expansion.
        std::size_t first = 0;

        [[nodiscard]] std::size_t expansions() const { return sweep ? sweep->expansions() : 1; }
    };
    struct File {
        std::string stem;
        DataFolder folder;
        /// ReadOptions::without_expected.
        bool without_expected = false;
        /// Knows the file's name and lines.
        ProblemSink places;
    };

    std::vector<File> files;
    std::vector<Entry> entries;
    std::vector<Problem> problems;
    std::vector<SkippedExpansions> skipped;
    /// How many files have no cases, but expectations (ReadOptions::pass_over_expectations).
    std::size_t passed_over = 0;

    /// How many expansions there are, those that are left out included.
    [[nodiscard]] std::size_t positions() const {
        return entries.empty() ? 0 : entries.back().first + entries.back().expansions();
    }
};

/// Makes cases. For one thread; there may be several for one corpus.
class CorpusReader {
public:
    /// The corpus must outlive the reader.
    explicit CorpusReader(const Corpus& corpus) : corpus_(corpus) {}

    /// The case at a position below Corpus::positions(), in the order of the files and of the cases in them; nothing
    /// for an expansion that is left out. One whose data files have changed for the worse since the corpus was read has
    /// Case::problem.
    [[nodiscard]] std::optional<Case> at(std::size_t position);

private:
    const Corpus& corpus_;
    std::size_t entry_ = 0;
};

/// Is shown each case when it is read for the first time.
using CaseVisitor = std::function<void(const Case& subject)>;

/// Reads a case file's text. `file` is its path, for messages, and its stem begins the cases' ids.
[[nodiscard]] Corpus read_corpus(const std::string& file, std::string_view text, const ReadOptions& options = {},
                                 const CaseVisitor& visit = {});

/// Loads case files, and all *.json below folders in the order of their paths but for expectations.
[[nodiscard]] Corpus load_corpus(std::span<const std::string> paths, const ReadOptions& options = {},
                                 const CaseVisitor& visit = {});

/// Is shown two written cases of which an expansion each has the same id.
using DuplicateVisitor =
    std::function<void(const Corpus::Entry& first, const Corpus::Entry& later, const std::string& id)>;

void for_each_duplicate(const Corpus& corpus, const DuplicateVisitor& visit);

}  // namespace dmlconform::cases
