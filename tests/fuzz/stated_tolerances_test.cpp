// Checks the default tolerances of all operators on random descriptors: either equality, or bounds derived for each
// element. A fixed number of ULPs that fits most results is not allowed.
#include <gtest/gtest.h>

#include <set>

#include "engine/cpu/reference.h"
#include "engine/fuzz/case_generator.h"

namespace dmlconform::tests::stated_tolerances_test {
namespace {

TEST(StatedTolerances, AreEqualityOrDerived) {
    const auto names = operators::operator_names();
    EXPECT_EQ(names.size(), 177u);
    std::set<std::string> checked;
    for (const std::string& name : names) {
        const operators::OperatorSchema& schema = *operators::find_operator(name);
        EXPECT_TRUE(cpu::has_reference(schema)) << name;
        for (std::uint64_t n = 0; n < 30; ++n) {
            const auto subject = fuzz::generate(schema, {.seed = 9, .perturbed_percent = 0}, n);
            if (!subject || subject->expect_error) {
                continue;
            }
            for (const operators::TensorSlot& output : subject->descriptor->outputs()) {
                if (output.desc == nullptr) {
                    continue;
                }
                const core::Tolerance tolerance = cpu::default_tolerance(*subject->descriptor, output);
                EXPECT_TRUE(tolerance.exact || tolerance.element_slack || tolerance.ulp == 0)
                    << subject->id << ' ' << output.name << ": " << core::to_string(tolerance);
                EXPECT_FALSE(tolerance.abs || tolerance.rel) << subject->id << ' ' << output.name;
                EXPECT_EQ(tolerance.element_slack, !tolerance.slack_formula.empty()) << subject->id;
                checked.insert(name);
            }
        }
    }
    EXPECT_EQ(checked.size(), names.size());
}

}  // namespace
}  // namespace dmlconform::tests::stated_tolerances_test
