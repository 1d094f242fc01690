// Tests of engine/core/tolerance: how a tolerance is printed.
#include "engine/core/tolerance.h"

#include <gtest/gtest.h>

namespace dmlconform::core::tolerance_test {
namespace {

TEST(Tolerance, Printing) {
    const auto printed = [](auto&& change) {
        Tolerance tolerance;
        change(tolerance);
        return to_string(tolerance);
    };
    EXPECT_EQ(printed([](Tolerance& t) { t.exact = true; }), "exact");
    EXPECT_EQ(printed([](Tolerance& t) { t.ulp = 2; }), "2 ulp");
    EXPECT_EQ(printed([](Tolerance& t) { t.rel = 0.25; }), "0.25 rel");
    EXPECT_EQ(printed([](Tolerance& t) {
                  t.ulp = 2;
                  t.abs = 1e-6;
              }),
              "2 ulp or 1e-06 abs");
    EXPECT_EQ(printed([](Tolerance& t) { t.element_slack = true; }), "the operator's bound for each element");
    EXPECT_EQ(printed([](Tolerance& t) {
                  t.element_slack = true;
                  t.slack_formula = "2 eps * |x|";
              }),
              "2 eps * |x|");
    EXPECT_EQ(printed([](Tolerance& t) {
                  t.exact = true;
                  t.alternatives = true;
              }),
              "exact or another value that may end up there");
    EXPECT_EQ(printed([](Tolerance& t) {
                  t.exact = true;
                  t.meaningful_part = true;
              }),
              "exact, as far as elements mean something");
}

}  // namespace
}  // namespace dmlconform::core::tolerance_test
