// Tests of engine/operators/rules/resampling: which scales are legal.
#include <limits>

#include "tests/operators/rule_cases.h"

namespace dmlconform::tests::resampling_test {
namespace {

using operators::Descriptor;

TEST(ResamplingRules, Scales) {
    const auto scales = [](float last) { return operators::FieldValue(std::vector<float>{1, last}); };
    for (const std::string_view op :
         {"RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3", "RESAMPLE_GRAD", "RESAMPLE_GRAD1"}) {
        SCOPED_TRACE(op);
        const bool gradient = op.find("GRAD") != std::string_view::npos;
        const std::string_view in = gradient ? "InputGradientTensor" : "InputTensor";
        const std::string_view out = gradient ? "OutputGradientTensor" : "OutputTensor";
        const Descriptor plain = describe(op, {{in, real({2, 3})}, {out, real({2, 6})}, {"Scales", scales(2)}});
        const Descriptor base = plain.schema->find_field("InputPixelOffsets") == nullptr
                                    ? plain
                                    : with(plain, {{"InputPixelOffsets", {0, 0}}, {"OutputPixelOffsets", {0, 0}}});
        const std::string rule = std::string(op) + ".scales";
        const RuleCase cases[] = {
            {"the least scale", {{"Scales", scales(std::numeric_limits<float>::denorm_min())}}, ""},
            {"zero", {{"Scales", scales(0)}}, rule},
            {"a negative number", {{"Scales", scales(-2)}}, rule},
            {"not a number", {{"Scales", scales(std::numeric_limits<float>::quiet_NaN())}}, rule},
            {"an output of any size", {{out, real({7, 1})}}, ""},
            {"of other dimensions", {{out, real({1, 2, 6})}}, "tensor.sameDimensionCount"},
        };
        expect_verdicts(base, cases);
        expect_every_rule(op, {cases});
    }
}

}  // namespace
}  // namespace dmlconform::tests::resampling_test
