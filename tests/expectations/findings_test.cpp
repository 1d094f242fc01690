// Checks that the findings pages and the built-in expectations agree: each finding that an entry names has a heading,
// and each finding has an entry.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "engine/expectations/expectation_file.h"

namespace dmlconform::expectations::findings_test {
namespace {

const std::filesystem::path root(DMLCONFORM_SOURCE);

/// The third-level headings of the pages about this version.
std::set<std::string> headings() {
    std::set<std::string> headings;
    for (const auto& page : std::filesystem::directory_iterator(root / "docs/findings")) {
        if (!page.path().filename().string().starts_with("directml-1.15.4")) {
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

TEST(Findings, HaveTheirEntriesAndTheirHeadings) {
    const auto file = load_expectations((root / "cases/expectations/directml-1.15.4-wine.json").string());
    ASSERT_TRUE(file.problems.empty()) << to_string(file.problems.front());
    const std::set<std::string> known = headings();
    ASSERT_FALSE(known.empty());
    std::set<std::string> named;
    for (const Expectation& entry : file.expectations) {
        EXPECT_EQ(known.count(entry.finding), 1u) << entry.place() << ": \"" << entry.finding << "\"";
        named.insert(entry.finding);
    }
    for (const std::string& heading : known) {
        EXPECT_EQ(named.count(heading), 1u) << "no entry names the finding \"" << heading << "\"";
    }
}

}  // namespace
}  // namespace dmlconform::expectations::findings_test
