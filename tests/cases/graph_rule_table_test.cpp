// Tests that every rule of graphs has a case which breaks it and nothing else, and a row in docs/graphs.md.
#include "engine/operators/graph_rule_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "engine/cases/case_file.h"
#include "engine/operators/rules.h"

namespace dmlconform::tests::graph_rule_table_test {
namespace {

std::vector<operators::GraphRule> all_rules() {
    std::vector<operators::GraphRule> rules;
    for (const auto& part : {operators::structure_rules(), operators::value_rules()}) {
        rules.insert(rules.end(), part.begin(), part.end());
    }
    return rules;
}

TEST(GraphRuleTable, HasACaseForEachRuleThatCasesCanBreak) {
    const std::string folder = std::string(DMLCONFORM_CASES) + "/graphs";
    const cases::Suite suite = cases::load_suite({&folder, 1});
    ASSERT_TRUE(suite.problems.empty());
    std::size_t found = 0;
    for (const operators::GraphRule& rule : all_rules()) {
        if (rule.case_name.empty()) {
            continue;
        }
        const std::string id = fmt::format("rejections/{}", rule.case_name);
        const auto subject = std::ranges::find(suite.cases, id, &cases::Case::id);
        ASSERT_NE(subject, suite.cases.end()) << id;
        const auto verdict = operators::validate(*subject->descriptor, core::highest_feature_level);
        ASSERT_TRUE(verdict) << id;
        EXPECT_EQ(verdict->rule, rule.name) << id << ": " << verdict->message;
        ++found;
    }
    EXPECT_EQ(found, 8U);
}

TEST(GraphRuleTable, IsTheTableOfTheDocument) {
    std::ifstream file(std::string(DMLCONFORM_SOURCE) + "/docs/graphs.md");
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    std::string table;
    for (const operators::GraphRule& rule : all_rules()) {
        table += fmt::format("| `{}` | {} | {} | {} |\n", rule.name, rule.demand, rule.answer, rule.source);
    }
    EXPECT_NE(text.find(table), std::string::npos) << "docs/graphs.md must have these rows:\n" << table;
}

}  // namespace
}  // namespace dmlconform::tests::graph_rule_table_test
