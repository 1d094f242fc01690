// Tests that the verdict on a descriptor travels with its case: whoever asks, it is worked out once for each level.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/cpu/cpu_engine.h"
#include "engine/expectations/case_facts.h"
#include "engine/operators/rules.h"
#include "tests/run/fake_engine.h"
#include "tests/run/some_cases.h"

namespace dmlconform::tests::validations_test {
namespace {

/// How many verdicts are worked out while it runs.
template <class Work>
std::uint64_t verdicts_of(const Work& work) {
    const std::uint64_t before = operators::verdicts_worked_out();
    work();
    return operators::verdicts_worked_out() - before;
}

TEST(Validations, OnePerCaseAndLevel) {
    constexpr core::FeatureLevel older{5, 0};
    for (const std::string_view text : {slice_with_expected, slice_without_expected, normalization}) {
        std::vector<cases::Case> read;
        // The lowest level is searched from the operator's first on. The highest one decides whether the case is legal.
        const std::uint64_t reading = verdicts_of([&] { read = cases_of({text}); });
        const cases::Case& subject = read.front();
        const auto searched = std::ranges::count_if(core::feature_levels(), [&](core::FeatureLevel level) {
            return subject.descriptor->schema->introduced <= level && level <= subject.min_feature_level;
        });
        EXPECT_EQ(reading, static_cast<std::uint64_t>(searched) + 1);

        cpu::CpuEngine newest(core::highest_feature_level);
        cpu::CpuEngine old(older);
        FakeEngine other{Behaviour()};
        EXPECT_EQ(verdicts_of([&] {
                      for (Engine* const engine : std::initializer_list<Engine*>{&newest, &other, &newest}) {
                          EXPECT_FALSE(run::is_failure(run::run_case(subject, *engine).status));
                      }
                      EXPECT_EQ(expectations::CaseFacts(subject).broken_rule(), "");
                  }),
                  0U);
        EXPECT_EQ(verdicts_of([&] { (void)run::run_case(subject, old); }), 1U);
        EXPECT_EQ(verdicts_of([&] { (void)run::run_case(subject, old); }), 0U);
    }
}

TEST(Validations, IllegalDescriptorsKeepTheirVerdict) {
    const auto read = cases_of({illegal_slice});
    cpu::CpuEngine engine(core::highest_feature_level);
    EXPECT_EQ(verdicts_of([&] {
                  EXPECT_EQ(run::run_case(read[0], engine).status, run::Status::pass);
                  EXPECT_EQ(expectations::CaseFacts(read[0]).broken_rule(), "SLICE1.windowStride");
                  EXPECT_EQ(run::run_case(read[0], engine).status, run::Status::pass);
              }),
              1U);
}

TEST(Validations, CopiesAreValidatedAnew) {
    const auto read = cases_of({slice_with_expected});
    operators::Descriptor copy = *read[0].descriptor;
    EXPECT_FALSE(operators::validate(copy, core::highest_feature_level));
    for (operators::FieldValue& value : copy.values) {
        if (auto* const strides = std::get_if<std::vector<std::int32_t>>(&value)) {
            strides->front() = 0;
        }
    }
    EXPECT_TRUE(operators::validate(copy, core::highest_feature_level));
    EXPECT_FALSE(operators::validate(*read[0].descriptor, core::highest_feature_level));
}

}  // namespace
}  // namespace dmlconform::tests::validations_test
