// Loads all cases of a corpus into memory.
#include "engine/cases/case_file.h"

namespace dmlconform::cases {
namespace {

/// Runs `read` with a visitor and collects the cases that the visitor receives.
template <typename Read>
Suite collect(const Read& read) {
    Suite suite;
    Corpus corpus = read([&](const Case& subject) { suite.cases.push_back(subject); });
    suite.problems = std::move(corpus.problems);
    suite.skipped = std::move(corpus.skipped);
    return suite;
}

}  // namespace

Suite read_case_file(const std::string& file, std::string_view text, const ReadOptions& options) {
    return collect([&](const CaseVisitor& visit) { return read_corpus(file, text, options, visit); });
}

Suite load_suite(std::span<const std::string> paths, const ReadOptions& options) {
    return collect([&](const CaseVisitor& visit) { return load_corpus(paths, options, visit); });
}

}  // namespace dmlconform::cases
