// Tests of engine/operators/rules/random_generator: which states are legal.
#include "tests/operators/rule_cases.h"

namespace dmlconform::tests::random_generator_test {
namespace {

using operators::Descriptor;

core::TensorDesc words(core::Dimensions sizes) {
    return tensor(core::DataType::uint32, std::move(sizes));
}

TEST(RandomGeneratorRules, States) {
    const Descriptor base = describe(
        "RANDOM_GENERATOR", {{"InputStateTensor", words({1, 1, 1, 6})}, {"OutputTensor", words({1, 2, 3, 4})}});
    const std::string_view rule = "RANDOM_GENERATOR.stateSizes";
    const RuleCase cases[] = {
        {"as many dimensions as the output or not", {{"InputStateTensor", words({6})}}, ""},
        {"five words", {{"InputStateTensor", words({1, 1, 1, 5})}}, rule},
        {"seven words", {{"InputStateTensor", words({1, 1, 1, 7})}}, rule},
        {"two rows", {{"InputStateTensor", words({1, 1, 2, 3})}}, rule},
        {"a column", {{"InputStateTensor", words({1, 1, 6, 1})}}, rule},
        {"one for each batch", {{"InputStateTensor", words({2, 1, 1, 6})}}, rule},
        {"a new state of other sizes", {{"OutputStateTensor", words({1, 1, 1, 5})}}, "tensor.sameSizes"},
        {"five dimensions",
         {{"OutputTensor", words({1, 1, 2, 3, 4})}},
         "tensor.dimensionCount",
         {3, 0},
         core::FeatureLevel{4, 0}},
    };
    expect_verdicts(base, cases);
    expect_every_rule("RANDOM_GENERATOR", {cases});
}

}  // namespace
}  // namespace dmlconform::tests::random_generator_test
