// Cases of unspecified behaviour do not affect the result of a run. If they contain values measured on DirectML, this
// test checks that the reference keeps giving these.
#include <gtest/gtest.h>

#include <array>

#include "engine/cases/corpus.h"
#include "engine/cpu/cpu_engine.h"
#include "engine/run/case_run.h"
#include "engine/run/runner.h"

namespace dmlconform::tests::unspecified_test {
namespace {

TEST(Unspecified, TheReferenceAnswersWhatWasMeasured) {
    const std::array<std::string, 1> paths{DMLCONFORM_CASES};
    cpu::CpuEngine engine(core::highest_feature_level);
    std::size_t measured = 0;
    const auto check = [&](const cases::Case& subject) {
        if (!subject.has_tag(run::unspecified_tag) || subject.expected.empty() || !subject.expected.front()) {
            return;
        }
        ++measured;
        const run::CaseResult result = run::run_case(subject, engine);
        EXPECT_EQ(result.status, run::Status::pass) << subject.id << ": " << result.reason;
    };
    const cases::Corpus corpus = cases::load_corpus(paths, {.pass_over_expectations = true}, check);
    EXPECT_TRUE(corpus.problems.empty());
    EXPECT_GT(measured, 100u);
}

}  // namespace
}  // namespace dmlconform::tests::unspecified_test
