// Tests of engine/cases/corpus: access to cases by position, in any order, and again after their data have changed.
#include "engine/cases/corpus.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/temporary_folder.h"

namespace dmlconform::tests::corpus_test {
namespace {

using cases::Corpus;
using cases::CorpusReader;

/// Two cases, of which the second is a sweep with an illegal expansion.
constexpr std::string_view text = R"({
"defaults": { "operator": "SLICE1", "desc": {
  "InputTensor": { "DataType": "INT8", "Sizes": [4] }, "OutputTensor": { "DataType": "INT8", "Sizes": [2] },
  "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [2] }, "inputs": { "InputTensor": [1,2,3,4] } },
"cases": [
{ "name": "plain" },
{ "name": "swept", "skipInvalid": true, "sweep": { "stride": [2, 0, -2], "offset": [[0], [1]] },
  "desc": { "InputWindowOffsets": "${offset}", "InputWindowSizes": [3], "InputWindowStrides": ["${stride}"] } } ] })";

std::vector<std::string> ids_at(const Corpus& corpus, const std::vector<std::size_t>& positions) {
    CorpusReader reader(corpus);
    std::vector<std::string> ids;
    for (const std::size_t position : positions) {
        const auto subject = reader.at(position);
        ids.push_back(subject ? subject->id : "-");
    }
    return ids;
}

using Ids = std::vector<std::string>;

TEST(Corpus, CasesInAnyOrder) {
    std::vector<std::string> shown;
    const Corpus corpus =
        cases::read_corpus("f.json", text, {}, [&](const cases::Case& subject) { shown.push_back(subject.id); });
    ASSERT_TRUE(corpus.problems.empty()) << to_string(corpus.problems.front());
    ASSERT_EQ(corpus.positions(), 7u);
    EXPECT_EQ(shown, (Ids{"f/plain", "f/swept[stride=2,offset=0]", "f/swept[stride=2,offset=1]",
                          "f/swept[stride=-2,offset=0]", "f/swept[stride=-2,offset=1]"}));
    EXPECT_EQ(ids_at(corpus, {6, 0, 3, 4, 1}),
              (Ids{"f/swept[stride=-2,offset=1]", "f/plain", "-", "-", "f/swept[stride=2,offset=0]"}));
    ASSERT_EQ(corpus.skipped.size(), 1u);
    EXPECT_EQ(corpus.skipped[0].count, 2u);
    EXPECT_EQ(CorpusReader(corpus).at(5)->line, 7u);
}

/// A sweep of 3000 expansions, whose offsets 2 are illegal.
std::string long_sweep(bool skips) {
    std::string strides;
    for (int i = 0; i < 1000; ++i) {
        strides += fmt::format("{}{}", i == 0 ? "" : ",", 2 + i);
    }
    return fmt::format(R"({{ "cases": [ {{ "name": "swept", "skipInvalid": {}, "operator": "SLICE1",
"sweep": {{ "stride": [{}], "offset": [[0], [1], [2]] }}, "desc": {{
  "InputTensor": {{ "DataType": "INT8", "Sizes": [4] }}, "OutputTensor": {{ "DataType": "INT8", "Sizes": [1] }},
  "InputWindowOffsets": "${{offset}}", "InputWindowSizes": [3], "InputWindowStrides": ["${{stride}}"] }},
"inputs": {{ "InputTensor": [1,2,3,4] }}, "expected": {{ "OutputTensor": {{ "value": 1 }} }} }} ] }})",
                       skips, strides);
}

struct Reading {
    Ids shown;
    std::size_t skipped = 0;
    std::vector<std::string> problems;
};

Reading read_in_threads(const std::string& text, std::size_t threads) {
    Reading reading;
    const Corpus corpus = cases::read_corpus("f.json", text, {.threads = threads},
                                             [&](const cases::Case& subject) { reading.shown.push_back(subject.id); });
    for (const cases::SkippedExpansions& skipped : corpus.skipped) {
        reading.skipped += skipped.count;
    }
    for (const cases::Problem& problem : corpus.problems) {
        reading.problems.push_back(to_string(problem));
    }
    return reading;
}

TEST(Corpus, ThreadsReadWhatOneReads) {
    for (const bool skips : {false, true}) {
        const Reading alone = read_in_threads(long_sweep(skips), 1);
        EXPECT_EQ(alone.shown.size(), 2000u);
        EXPECT_EQ(alone.skipped, skips ? 1000u : 0u);
        EXPECT_EQ(alone.problems.empty(), skips);
        for (const std::size_t threads : {2u, 3u, 5u}) {
            const Reading shared = read_in_threads(long_sweep(skips), threads);
            EXPECT_EQ(shared.shown, alone.shown) << threads;
            EXPECT_EQ(shared.skipped, alone.skipped) << threads;
            EXPECT_EQ(shared.problems, alone.problems) << threads;
        }
    }
}

TEST(Corpus, OfSeveralFiles) {
    const TemporaryFolder folder;
    folder.write("a.json", text);
    folder.write("b.json", text);
    const std::string path = folder.path().string();
    const Corpus corpus = cases::load_corpus({&path, 1});
    ASSERT_TRUE(corpus.problems.empty()) << to_string(corpus.problems.front());
    EXPECT_EQ(corpus.positions(), 14u);
    EXPECT_EQ(ids_at(corpus, {13, 0, 7, 6}),
              (Ids{"b/swept[stride=-2,offset=1]", "a/plain", "b/plain", "a/swept[stride=-2,offset=1]"}));
}

TEST(Corpus, TheCaseFileMayGoTheDataMayNot) {
    const TemporaryFolder folder;
    std::string with_data(text);
    with_data.replace(with_data.find("[1,2,3,4]"), 9, R"({ "file": "data.bin" })");
    const std::string path = folder.write("a.json", with_data);
    folder.write("data.bin", "abcd");
    const Corpus corpus = cases::load_corpus({&path, 1});
    ASSERT_TRUE(corpus.problems.empty()) << to_string(corpus.problems.front());
    std::filesystem::remove(path);
    CorpusReader reader(corpus);
    EXPECT_EQ(reader.at(0)->problem, "");
    std::filesystem::remove(folder.at("data.bin"));
    const auto left = reader.at(2);
    ASSERT_TRUE(left.has_value());
    EXPECT_EQ(left->id, "a/swept[stride=2,offset=1]");
    EXPECT_NE(left->problem, "");
    folder.write("data.bin", "abcd");
    EXPECT_EQ(reader.at(0)->problem, "") << "it is back";
}

}  // namespace
}  // namespace dmlconform::tests::corpus_test
