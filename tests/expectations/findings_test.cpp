// Checks that pages of findings and files of expectations agree: each finding that an entry names has a heading, and
// each finding has an entry. What differs only sometimes has a bound, or was counted: then it nearly always differs.
#include <gtest/gtest.h>

#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

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

struct Count {
    double differ = 0;
    double pass = 0;
    /// True in the section about those that are known to be wide.
    bool is_wide = false;
};

/// The rows "| finding | OPERATOR, OPERATOR | how many differ | how many pass |" of the page that counts.
std::map<std::pair<std::string, std::string>, Count> counted() {
    std::map<std::pair<std::string, std::string>, Count> counts;
    std::ifstream file(root / "docs/findings/directml-1.15.4-counts.md");
    bool is_wide = false;
    for (std::string line; std::getline(file, line);) {
        is_wide = is_wide || line == "## Still wide";
        std::vector<std::string> cells;
        std::istringstream row(line);
        for (std::string cell; std::getline(row, cell, '|');) {
            const auto first = cell.find_first_not_of(' ');
            cells.push_back(first == std::string::npos ? ""
                                                       : cell.substr(first, cell.find_last_not_of(' ') + 1 - first));
        }
        if (cells.size() == 5 && !cells[3].empty() && cells[3].find_first_not_of("0123456789") == std::string::npos) {
            const Count count{std::stod(cells[3]), std::stod(cells[4]), is_wide};
            EXPECT_TRUE(counts.try_emplace({cells[1], cells[2]}, count).second) << line;
        }
    }
    return counts;
}

TEST(Findings, WhatDiffersSometimesHasABoundOrNearlyAlwaysDiffers) {
    const auto file = load_expectations((root / "cases/expectations/directml-1.15.4-wine.json").string());
    auto counts = counted();
    EXPECT_FALSE(counts.empty());
    for (const auto& [row, count] : counts) {
        const bool nearly_always = count.differ >= 0.95 * (count.differ + count.pass) && count.differ > 0;
        EXPECT_NE(nearly_always, count.is_wide) << row.first << ": " << row.second;
    }
    std::set<std::pair<std::string, std::string>> needed;
    for (const Expectation& entry : file.expectations) {
        const bool is_imprecise = entry.happens == Happening::precision && entry.adapter.empty();
        EXPECT_TRUE(!is_imprecise || entry.times_tolerance) << entry.location() << ": how far off at most?";
        // What is about another driver cannot be counted here.
        const bool is_bounded = entry.elements || entry.times_tolerance || !entry.adapter.empty();
        if (entry.sometimes && entry.expected == Expected::fail && entry.happens == Happening::differs && !is_bounded) {
            const std::pair row(entry.finding, fmt::format("{}", fmt::join(entry.operators, ", ")));
            EXPECT_EQ(counts.count(row), 1U) << entry.location() << ": how often? " << row.first << ": " << row.second;
            needed.insert(row);
        }
    }
    for (const auto& [row, count] : counts) {
        EXPECT_EQ(needed.count(row), 1U) << "no entry needs this row: " << row.first << ": " << row.second;
    }
}

}  // namespace
}  // namespace dmlconform::expectations::findings_test
