// The findings pages and the expectations that come with dmlconform say the same: each finding that an entry names has
// its heading, and each finding has an entry.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "engine/expectations/expectation_file.h"

namespace dmlconform::expectations {
namespace {

const std::filesystem::path root(DMLCONFORM_SOURCE);

/// The third-level headings of a page.
std::set<std::string> headings_of(const std::filesystem::path& page) {
    std::set<std::string> headings;
    std::ifstream file(page);
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("### ")) {
            EXPECT_TRUE(headings.insert(line.substr(4)).second) << page << " has two headings " << line;
        }
    }
    return headings;
}

TEST(Findings, HaveTheirEntriesAndTheirHeadings) {
    const auto file = load_expectations((root / "cases/expectations/directml-1.15.4-wine.json").string());
    ASSERT_TRUE(file.problems.empty()) << to_string(file.problems.front());
    const auto headings = headings_of(root / "docs/findings/directml-1.15.4.md");
    ASSERT_FALSE(headings.empty());
    std::set<std::string> named;
    for (const Expectation& entry : file.expectations) {
        EXPECT_EQ(headings.count(entry.finding), 1u) << entry.place() << ": \"" << entry.finding << "\"";
        named.insert(entry.finding);
    }
    for (const std::string& heading : headings) {
        EXPECT_EQ(named.count(heading), 1u) << "no entry names the finding \"" << heading << "\"";
    }
}

}  // namespace
}  // namespace dmlconform::expectations
