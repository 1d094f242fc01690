// Tables of changes to a legal descriptor, with the expected verdict for each.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/operators/rules.h"
#include "tests/packed_tensors.h"

namespace dmlconform::tests {

/// The largest UINT.
inline constexpr std::int64_t uint_max = 4294967295;

struct RuleCase {
    std::string_view what;
    std::vector<Setting> change;
    /// The rule that rejects; empty if accepted.
    std::string_view rule;
    core::FeatureLevel level = core::highest_feature_level;
    /// For a rejection: the lowest higher level that accepts the descriptor.
    std::optional<core::FeatureLevel> legal_from = std::nullopt;
};

/// Checks all cases. `base` must itself be legal at the highest level.
inline void expect_verdicts(const operators::Descriptor& base, std::span<const RuleCase> cases) {
    ASSERT_FALSE(operators::validate(base, core::highest_feature_level));
    for (const RuleCase& row : cases) {
        SCOPED_TRACE(row.what);
        const auto verdict = operators::validate(with(base, row.change), row.level);
        if (!verdict) {
            EXPECT_EQ(row.rule, "") << "accepted";
            continue;
        }
        EXPECT_EQ(verdict->rule, row.rule) << verdict->message;
        const auto names = operators::rule_names(*base.schema);
        EXPECT_TRUE(std::find(names.begin(), names.end(), verdict->rule) != names.end())
            << verdict->rule << " is missing from rule_names";
        EXPECT_EQ(verdict->code, core::HResult::invalid_argument);
        EXPECT_FALSE(verdict->message.empty());
        EXPECT_EQ(verdict->legal_from, row.legal_from)
            << (verdict->legal_from ? to_string(*verdict->legal_from) : "never");
    }
}

/// Checks that the tables contain a rejection by each of the operator's rules.
inline void expect_every_rule(std::string_view op, std::initializer_list<std::span<const RuleCase>> tables) {
    const std::string prefix = std::string(op) + ".";
    int rules = 0;
    for (const std::string& name : operators::rule_names(*operators::find_operator(op))) {
        if (name.starts_with(prefix)) {
            ++rules;
            EXPECT_TRUE(std::any_of(tables.begin(), tables.end(), [&](std::span<const RuleCase> table) {
                return std::any_of(table.begin(), table.end(), [&](const RuleCase& row) { return row.rule == name; });
            })) << name;
        }
    }
    EXPECT_GT(rules, 0);
}

}  // namespace dmlconform::tests
