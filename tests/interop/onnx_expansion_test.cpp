// Tests of ONNX nodes that become several DirectML operators.

#include "tests/interop/onnx_models.h"

namespace dmlconform::tests::onnx_expansion_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const onnx::TensorProto pair = floats({2}, {1, 2});

onnx::TensorProto bools(std::vector<std::int64_t> dims, const std::vector<std::uint8_t>& values) {
    return tensor<std::uint8_t>(9, std::move(dims), values);
}

TEST(OnnxExpansion, ManyInputsTwoAtATime) {
    const NamedTensors inputs{{"a", pair}, {"b", floats({2}, {5, 0})}, {"c", floats({2}, {3, 1})}};
    const auto made = [&](const char* type, const std::vector<float>& values) {
        return passing_steps({{node(type, {"a", "b", "c"}, {"y"})}, inputs, {{"y", floats({2}, values)}}});
    };
    EXPECT_THAT(made("Max", {5, 2}), ElementsAre("test_it/1-Max", "test_it/2-Max"));
    EXPECT_THAT(made("Min", {1, 0}), ElementsAre("test_it/1-Min", "test_it/2-Min"));
    EXPECT_THAT(made("Sum", {9, 3}), ElementsAre("test_it/1-Add", "test_it/2-Add"));
    EXPECT_THAT(made("Mean", {3, 1}), ElementsAre("test_it/1-Add", "test_it/2-Add", "test_it/3-Div"));
}

TEST(OnnxExpansion, DropoutThatDropsNothing) {
    const auto made = [](NamedTensors inputs, bool mask, std::int64_t opset) {
        ModelTest test{{node("Dropout", {}, {"y"})}, {{"x", pair}}, {{"y", pair}}, {}, opset};
        test.nodes[0].input.add("x");
        for (auto& [name, value] : inputs) {
            test.nodes[0].input.add(name);
            test.inputs.emplace_back(name, value);
        }
        if (mask) {
            test.nodes[0].output.add("mask");
            test.outputs.emplace_back("mask", bools({2}, {1, 1}));
        }
        return test;
    };
    const std::pair<std::string, onnx::TensorProto> half{"ratio", floats({}, {0.5F})};
    const std::pair<std::string, onnx::TensorProto> none{"ratio", floats({}, {0})};
    const std::pair<std::string, onnx::TensorProto> training{"training", bools({}, {1})};
    const std::pair<std::string, onnx::TensorProto> inference{"training", bools({}, {0})};
    EXPECT_THAT(passing_steps(made({}, false, 13)), ElementsAre("test_it"));
    EXPECT_THAT(passing_steps(made({}, true, 13)), ElementsAre("test_it/1-Identity", "test_it/2-ConstantOfShape"));
    EXPECT_EQ(passing_steps(made({half}, true, 13)).size(), 2u);
    EXPECT_EQ(passing_steps(made({half, inference}, false, 13)).size(), 1u);
    EXPECT_EQ(passing_steps(made({none, training}, true, 13)).size(), 2u);
    for (const ModelTest& random : {made({half, training}, true, 13), made({}, false, 6)}) {
        EXPECT_THAT(reason_of_model(random), HasSubstr("Dropout in training drops at random"));
    }
}

TEST(OnnxExpansion, BatchNormalizationInTraining) {
    // The means are 2 and 6, the variances 1 and 4.
    const NamedTensors inputs{{"x", floats({2, 2}, {1, 4, 3, 8})},
                              {"scale", floats({2}, {1, 2})},
                              {"bias", floats({2}, {0, 1})},
                              {"mean", floats({2}, {0, 10})},
                              {"variance", floats({2}, {1, 0})}};
    ModelTest test{
        {node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"}, {"y", "new_mean", "new_variance"},
              {integer("training_mode", 1), number("momentum", 0.5F), number("epsilon", 0)})},
        inputs,
        {{"y", floats({2, 2}, {-1, -1, 1, 3})},
         {"new_mean", floats({2}, {1, 8})},
         {"new_variance", floats({2}, {1, 2})}}};
    EXPECT_EQ(passing_steps(test).size(), 13u);
    test.inputs[0].second = pair;
    EXPECT_THAT(reason_of_model(test), HasSubstr("without data of two dimensions"));
}

struct Loss {
    std::vector<onnx::AttributeProto> attributes;
    std::vector<std::string> inputs;
    onnx::TensorProto expected;
};

/// Three samples and two classes; the last two samples are of class 1.
const NamedTensors loss_inputs{
    {"x", floats({3, 2}, {1, 2, 3, 4, 5, 6})}, {"t", longs({3}, {0, 1, 1})}, {"w", floats({2}, {0.5F, 2})}};

TEST(OnnxExpansion, Likelihoods) {
    const auto reduction = [](const char* value) { return text("reduction", value); };
    const auto ignored = integer("ignore_index", 0);
    const std::vector<std::string> plain{"x", "t"};
    const std::vector<std::string> weighted{"x", "t", "w"};
    const Loss rows[] = {
        {{reduction("none")}, plain, floats({3}, {-1, -4, -6})},
        {{reduction("sum")}, plain, floats({}, {-11})},
        {{reduction("mean")}, plain, floats({}, {-11.0F / 3})},
        {{}, plain, floats({}, {-11.0F / 3})},
        {{reduction("none")}, weighted, floats({3}, {-0.5F, -8, -12})},
        {{reduction("mean")}, weighted, floats({}, {-20.5F / 4.5F})},
        {{reduction("none"), ignored}, plain, floats({3}, {0, -4, -6})},
        {{reduction("mean"), ignored}, plain, floats({}, {-5})},
        {{reduction("sum"), ignored}, weighted, floats({}, {-20})},
        {{reduction("mean"), ignored}, weighted, floats({}, {-5})},
    };
    for (const Loss& row : rows) {
        ModelTest test{
            {node("NegativeLogLikelihoodLoss", row.inputs, {"y"}, row.attributes)}, loss_inputs, {{"y", row.expected}}};
        EXPECT_GE(passing_steps(test).size(), 4u);
    }
    EXPECT_THAT(
        reason_of_model(
            {{node("NegativeLogLikelihoodLoss", plain, {"y"}, {reduction("most")})}, loss_inputs, {{"y", pair}}}),
        HasSubstr("not none, sum or mean"));
}

TEST(OnnxExpansion, CastsToBoolAskForNumbersOtherThanZero) {
    const auto truths = tensor<std::uint8_t>(9, {3}, {0, 1, 1});
    ModelTest test{{node("Cast", {"x"}, {"y"}, {integer("to", 9)})},
                   {{"x", floats({3}, {0, 0.25F, std::nanf("")})}},
                   {{"y", truths}}};
    EXPECT_THAT(passing_steps(test), ElementsAre("test_it/1-Equal", "test_it/2-Not"));
    test.nodes = {node("CastLike", {"x", "like"}, {"y"})};
    test.inputs.emplace_back("like", truths);
    EXPECT_EQ(passing_steps(test).size(), 2u);
}

TEST(OnnxExpansion, GeluByTanh) {
    // Far from 0, tanh is 1 or -1.
    const ModelTest test{{node("Gelu", {"x"}, {"y"}, {text("approximate", "tanh")})},
                         {{"x", floats({3}, {0, 10, -10})}},
                         {{"y", floats({3}, {0, 10, 0})}}};
    EXPECT_EQ(passing_steps(test).size(), 9u);
}

TEST(OnnxExpansion, EinsumsOfTwoFactors) {
    const ModelTest test{{node("Einsum", {"a", "b"}, {"y"}, {text("equation", "ik, jk -> ji")})},
                         {{"a", floats({2, 2}, {1, 2, 3, 4})}, {"b", floats({1, 2}, {10, 100})}},
                         {{"y", floats({1, 2}, {210, 430})}}};
    EXPECT_GE(passing_steps(test).size(), 2u);
}

TEST(OnnxExpansion, CubicInterpolation) {
    // Doubling the size of a straight line interpolates midpoints, except at the ends, where the outermost elements are
    // repeated.
    const auto scales = floats({4}, {1, 1, 1, 2});
    const ModelTest test{{node("Resize", {"x", "", "s"}, {"y"},
                               {text("mode", "cubic"), text("coordinate_transformation_mode", "asymmetric")})},
                         {{"x", floats({1, 1, 1, 5}, {0, 8, 16, 24, 32})}, {"s", scales}},
                         {{"y", floats({1, 1, 1, 10}, {0, 3.25F, 8, 12, 16, 20, 24, 28.75F, 32, 32.75F})}}};
    EXPECT_GE(passing_steps(test).size(), 2u);
}

TEST(OnnxExpansion, CrossEntropies) {
    const auto logarithms =
        floats({3, 2}, {-1.3132617F, -0.3132617F, -1.3132617F, -0.3132617F, -1.3132617F, -0.3132617F});
    ModelTest test{{node("SoftmaxCrossEntropyLoss", {"x", "t"}, {"y", "log_prob"}, {text("reduction", "none")})},
                   loss_inputs,
                   {{"y", floats({3}, {1.3132617F, 0.3132617F, 0.3132617F})}, {"log_prob", logarithms}}};
    EXPECT_THAT(passing_steps(test), ElementsAre("test_it/1-LogSoftmax", "test_it/2-Unsqueeze",
                                                 "test_it/3-GatherElements", "test_it/4-Neg", "test_it/5-Squeeze"));
    test.outputs.pop_back();
    test.nodes[0].output.edit().pop_back();
    EXPECT_EQ(passing_steps(test).size(), 5u);
    test.opset = 12;
    EXPECT_THAT(reason_of_model(test), HasSubstr("before opset 13"));
}

}  // namespace
}  // namespace dmlconform::tests::onnx_expansion_test
