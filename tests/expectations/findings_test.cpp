// Checks that pages of findings and files of expectations agree: each finding that an entry names has a heading, and
// each finding has an entry.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "engine/expectations/expectation_file.h"

namespace dmlconform::expectations::findings_test {
namespace {

const std::filesystem::path root(DMLCONFORM_SOURCE);

/// The third-level headings of the pages whose file names start with `pages`.
std::set<std::string> headings(const std::string& pages) {
    std::set<std::string> headings;
    for (const auto& page : std::filesystem::directory_iterator(root / "docs/findings")) {
        if (!page.path().filename().string().starts_with(pages)) {
            continue;
        }
        std::ifstream file(page.path());
        for (std::string line; std::getline(file, line);) {
            if (line.starts_with("### ")) {
                EXPECT_TRUE(headings.insert(line.substr(4)).second) << page << " has a heading again: " << line;
            }
        }
    }
    return headings;
}

void expect_agreement(const char* expectations, const char* pages) {
    const auto file = load_expectations((root / "cases/expectations" / expectations).string());
    ASSERT_TRUE(file.problems.empty()) << to_string(file.problems.front());
    const std::set<std::string> known = headings(pages);
    ASSERT_FALSE(known.empty());
    std::set<std::string> named;
    for (const Expectation& entry : file.expectations) {
        EXPECT_EQ(known.count(entry.finding), 1u) << entry.location() << ": \"" << entry.finding << "\"";
        named.insert(entry.finding);
    }
    for (const std::string& heading : known) {
        EXPECT_EQ(named.count(heading), 1u) << "no entry names the finding \"" << heading << "\"";
    }
}

TEST(Findings, HaveTheirEntriesAndTheirHeadings) {
    expect_agreement("directml-1.15.4-wine.json", "directml-1.15.4");
    expect_agreement("onnxruntime-1.30.0-cpu.json", "onnxruntime-cpu");
}

}  // namespace
}  // namespace dmlconform::expectations::findings_test
