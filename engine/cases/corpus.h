// Corpora: case files that are read and checked, and whose cases are made one at a time. Sweeps may expand to more
// cases than fit the memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
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

/// The first key of environment.json in a repro bundle. Such a file is not a case file.
inline constexpr std::string_view bundle_key = "dmlconformBundle";

/// A kind of file besides case files from which cases can be made, such as models.
struct CaseFileKind {
    /// The file name extension: ".onnx".
    std::string extension;
    /// Makes the cases of a file. Their ids begin with the file's stem. Errors do not contain the file's name.
    std::function<core::Result<std::vector<std::shared_ptr<const Case>>>(const std::filesystem::path& path)> read;
};

struct ReadOptions {
    /// Accepts data files outside the case file's folder.
    bool allow_external_data = false;
    /// Limit for one file; each expansion of a sweep counts. Checking one takes about 10 µs.
    std::size_t most_cases = 1'000'000;
    /// Accepts cases without expected values for operators without a reference. Another engine will then provide the
    /// values.
    bool without_expected = false;
    /// Skips expectation files silently instead of reporting them.
    bool pass_over_expectations = false;
    /// Other kinds of files that are read, besides case files. Within folders, only case files and these are read.
    std::vector<CaseFileKind> other_kinds = {};
    /// How many threads check the expansions of a sweep.
    std::size_t threads = 1;
};

/// A case whose illegal expansions were skipped because it has `skipInvalid`.
struct SkippedExpansions {
    /// The id without the values of the sweep.
    std::string id;
    std::size_t count = 0;
};

/// All case files of a run. May only be used if there are no problems.
struct Corpus {
    /// One case as written, before expansion.
    struct Entry {
        /// Index into `files`.
        std::size_t file = 0;
        /// The JSON text, with the file's defaults merged.
        JsonValue text;
        std::optional<Sweep> sweep;
        /// Position of its first expansion among those of all entries.
        std::size_t first = 0;
        /// The number of nodes of its graph, which is equal in all expansions; 0 for an operator.
        std::size_t nodes = 0;
        /// For files of another kind: the case itself, which has no JSON text.
        std::shared_ptr<const Case> made = nullptr;

        [[nodiscard]] std::size_t expansions() const { return sweep ? sweep->expansions() : 1; }
    };
    struct File {
        std::string stem;
        DataFolder folder;
        /// ReadOptions::without_expected.
        bool without_expected = false;
        /// Maps offsets to the file's name and lines.
        ProblemSink positions;
    };

    std::vector<File> files;
    std::vector<Entry> entries;
    std::vector<Problem> problems;
    std::vector<SkippedExpansions> skipped;
    /// The number of expectation files that were skipped (ReadOptions::pass_over_expectations).
    std::size_t passed_over = 0;

    /// The number of expansions, including skipped ones.
    [[nodiscard]] std::size_t positions() const {
        return entries.empty() ? 0 : entries.back().first + entries.back().expansions();
    }
};

/// Makes the cases of a corpus. Not thread-safe, but a corpus can have several readers.
class CorpusReader {
public:
    /// The corpus must outlive the reader.
    explicit CorpusReader(const Corpus& corpus) : corpus_(corpus) {}

    /// The case at a position below Corpus::positions(), ordered by file and by position in the file. Empty for a
    /// skipped expansion. Case::problem is set if data files of the case have become invalid since the corpus was read.
    [[nodiscard]] std::optional<Case> at(std::size_t position);

private:
    /// What reading expansions of the entry at hand needs.
    struct OpenEntry {
        /// The sweep's copy, made when a second expansion is read: no other thread counts references to its parts.
        std::optional<Sweep> sweep;
        ProblemSink problems;
        CaseContext context;
    };

    const Corpus& corpus_;
    std::size_t entry_ = 0;
    std::optional<OpenEntry> open_;
};

/// Called with each case when it is read for the first time.
using CaseVisitor = std::function<void(const Case& subject)>;

/// Reads the text of a case file. `file` is its path, used in messages; its stem begins the ids of the cases.
[[nodiscard]] Corpus read_corpus(const std::string& file, std::string_view text, const ReadOptions& options = {},
                                 const CaseVisitor& visit = {});

/// Loads case files. In folders, loads all *.json files except expectation files, recursively and ordered by path.
[[nodiscard]] Corpus load_corpus(std::span<const std::string> paths, const ReadOptions& options = {},
                                 const CaseVisitor& visit = {});

/// Appends the files and cases of another corpus.
void append(Corpus&& read, Corpus& corpus);

/// Called with two entries that have an expansion with the same id.
using DuplicateVisitor =
    std::function<void(const Corpus::Entry& first, const Corpus::Entry& later, const std::string& id)>;

void for_each_duplicate(const Corpus& corpus, const DuplicateVisitor& visit);

}  // namespace dmlconform::cases
