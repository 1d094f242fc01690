// Tests of engine/operators/size_formula: the text of formulas, and that it says what is computed.
#include "engine/operators/size_formula.h"

#include <gtest/gtest.h>

namespace dmlconform::tests::size_formula_test {
namespace {

using operators::SizeFormula;

const SizeFormula a("a");
const SizeFormula b("b");
const SizeFormula c("c");

TEST(SizeFormula, ParenthesesOnlyWhereTheyAreNeeded) {
    const struct {
        SizeFormula formula;
        const char* text;
    } rows[] = {
        {a + b - c, "a + b - c"},        {a - (b - c), "a - (b - c)"},        {a - (b + c), "a - (b + c)"},
        {a - b * c, "a - b * c"},        {(a - 1) * b, "(a - 1) * b"},        {a * (b + c), "a * (b + c)"},
        {a * b * c, "a * b * c"},        {(a + b) / c, "floor((a + b) / c)"}, {a / (b * c), "floor(a / (b * c))"},
        {a / b * c, "floor(a / b) * c"}, {a / b + 1, "floor(a / b) + 1"},
    };
    for (const auto& [formula, text] : rows) {
        EXPECT_EQ(formula.text(), text);
    }
}

TEST(SizeFormula, LeavesOutWhatChangesNothing) {
    EXPECT_EQ((SizeFormula(1) * a).text(), "a");
    EXPECT_EQ((a * 1).text(), "a");
    EXPECT_EQ((a + 0).text(), "a");
    EXPECT_EQ((a - 0).text(), "a");
    EXPECT_EQ((SizeFormula(2) * SizeFormula(4) * a).text(), "8 * a");
}

TEST(SizeFormula, Lines) {
    EXPECT_EQ(operators::sizes_line("OutputTensor", {1, a, b + 1}), "OutputTensor = [1, a, b + 1]");
    EXPECT_EQ(operators::size_line("OutputTensor[d]", a * b), "OutputTensor[d] = a * b");
}

}  // namespace
}  // namespace dmlconform::tests::size_formula_test
