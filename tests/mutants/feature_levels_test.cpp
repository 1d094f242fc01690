// Runs cases at every feature level. Cases are legal at the highest one, so that a full run never meets what depends on
// a lower one: cases that need more are skipped, descriptors that need more are rejected, and the others pass.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/cases/corpus.h"
#include "engine/core/feature_level.h"
#include "engine/cpu/cpu_engine.h"
#include "engine/operators/rules.h"
#include "engine/run/case_run.h"

namespace dmlconform::tests::feature_levels_test {
namespace {

using core::FeatureLevel;

/// The cheapest cases of each operator at each level, so that all of them together take seconds.
constexpr std::size_t cases_of_each = 2;
constexpr double most_work = 1e6;

double work_of(const cases::Case& subject) {
    const operators::Cost cost = operators::minimum_cost(*subject.descriptor);
    return cost.bytes + cost.operations;
}

using Key = std::pair<std::string, FeatureLevel>;

/// Legal cases by operator and the lowest level that has them.
const std::map<Key, std::vector<cases::Case>>& cases_by_level() {
    static const std::map<Key, std::vector<cases::Case>> result = [] {
        std::map<Key, std::vector<cases::Case>> found;
        const std::array<std::string, 1> paths{DMLCONFORM_CASES};
        const auto keep = [&](const cases::Case& subject) {
            if (subject.expect_error || subject.descriptor->graph != nullptr || work_of(subject) > most_work) {
                return;
            }
            auto& kept = found[{subject.descriptor->schema->name, subject.min_feature_level}];
            kept.push_back(subject);
            std::ranges::stable_sort(kept, {}, work_of);
            kept.resize(std::min(kept.size(), cases_of_each));
        };
        const cases::Corpus corpus = cases::load_corpus(paths, {.pass_over_expectations = true}, keep);
        EXPECT_TRUE(corpus.problems.empty());
        return found;
    }();
    return result;
}

/// The next lower level; empty for the lowest.
std::optional<FeatureLevel> level_below(FeatureLevel level) {
    std::optional<FeatureLevel> below;
    for (const FeatureLevel other : core::feature_levels()) {
        if (other < level && (!below || *below < other)) {
            below = other;
        }
    }
    return below;
}

class FeatureLevels : public testing::TestWithParam<FeatureLevel> {};

TEST_P(FeatureLevels, CasesPassFromTheLevelOnThatHasThem) {
    const FeatureLevel level = GetParam();
    cpu::CpuEngine engine(level);
    std::size_t passed = 0;
    for (const auto& [key, subjects] : cases_by_level()) {
        for (const cases::Case& subject : subjects) {
            const run::CaseResult result = run::run_case(subject, engine);
            if (level < key.second) {
                EXPECT_EQ(result.status, run::Status::skip) << subject.id;
                EXPECT_EQ(result.reason, fmt::format("needs feature level {}, the engine has {}",
                                                     core::to_string(key.second), core::to_string(level)))
                    << subject.id;
            } else {
                // Without expected values, the reference says what is right.
                EXPECT_EQ(result.status, subject.needs_reference() ? run::Status::reference : run::Status::pass)
                    << subject.id << ": " << result.reason;
                ++passed;
            }
        }
    }
    EXPECT_GT(passed, 60u);
}

TEST_P(FeatureLevels, DescriptorsAreRejectedBelowTheLevelThatHasThem) {
    const FeatureLevel level = GetParam();
    const auto below = level_below(level);
    if (!below) {
        GTEST_SKIP() << "nothing is below the lowest level";
    }
    cpu::CpuEngine engine(*below);
    std::size_t rejected = 0;
    for (const auto& [key, subjects] : cases_by_level()) {
        for (const cases::Case& subject : subjects) {
            const auto least = operators::minimum_feature_level(*subject.descriptor);
            ASSERT_TRUE(least) << subject.id;
            EXPECT_LE(*least, subject.min_feature_level) << subject.id;
            const auto executable = engine.compile(*subject.descriptor);
            if (*least <= *below) {
                EXPECT_TRUE(executable) << subject.id;
            } else if (*least == level) {
                ASSERT_FALSE(executable) << subject.id << " is accepted at " << core::to_string(*below);
                EXPECT_EQ(executable.error().rejection.legal_from, level) << subject.id;
                ++rejected;
            }
        }
    }
    EXPECT_GT(rejected, 0u) << "no case needs feature level " << core::to_string(level);
}

INSTANTIATE_TEST_SUITE_P(All, FeatureLevels, testing::ValuesIn(core::feature_levels()), [](const auto& parameter) {
    std::string name = core::to_string(parameter.param);
    std::ranges::replace(name, '.', '_');
    return name;
});

}  // namespace
}  // namespace dmlconform::tests::feature_levels_test
