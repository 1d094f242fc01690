// Tests of models with several nodes: each node that computes something becomes a case, and reasons for omissions are
// reported.
#include <ctime>

#include "tests/interop/onnx_models.h"

namespace dmlconform::tests::onnx_model_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const onnx::TensorProto pair = floats({1, 2}, {0, 1});

/// Softmax, decomposed as in ONNX's function definition.
ModelTest softmax(const std::vector<float>& expected) {
    return {{node("Constant", {}, {"axes"}, {constant(longs({1}, {1}))}), node("Exp", {"x"}, {"exp"}),
             node("ReduceSum", {"exp", "axes"}, {"sum"}), node("Div", {"exp", "sum"}, {"y"})},
            {{"x", pair}},
            {{"y", floats({1, 2}, expected)}}};
}

TEST(OnnxModel, EachNodeIsACase) {
    const ModelTest test = softmax({0.26894142F, 0.7310586F});
    EXPECT_THAT(passing_steps(test), ElementsAre("test_it/1-Exp", "test_it/2-ReduceSum", "test_it/3-Div"));
    const auto steps = imported_steps(test);
    ASSERT_EQ(steps.size(), 3u);
    EXPECT_EQ(steps[2].description, "ONNX Div, opset 17, step 3 of 3");
    // The intermediate values come from the reference. Only the output is given by ONNX, with ONNX's tolerance.
    EXPECT_TRUE(steps[0].needs_reference());
    EXPECT_TRUE(steps[1].needs_reference());
    EXPECT_FALSE(steps[2].needs_reference());
    EXPECT_FALSE(steps[0].tolerances[0].has_value());
    EXPECT_EQ(steps[2].tolerances[0]->rel, 1e-3);
}

TEST(OnnxModel, TheEndIsComparedWithWhatOnnxExpects) {
    const auto steps = imported_steps(softmax({0.27F, 0.73F}));
    ASSERT_EQ(steps.size(), 3u);
    cpu::CpuEngine engine(core::highest_feature_level);
    EXPECT_EQ(run::run_case(steps[2], engine).status, run::Status::fail);
}

TEST(OnnxModel, WhatOperatorsCopyIsRoundedWhereItWasComputed) {
    const ModelTest copied{
        {node("Sqrt", {"x"}, {"root"}), node("Concat", {"root", "root"}, {"y"}, {integer("axis", 0)})},
        {{"x", floats({1}, {2})}},
        {{"y", floats({2}, {1.4142137F, 1.4142137F})}}};
    EXPECT_TRUE(imported_steps(copied).at(1).tolerances[0].has_value());
    const ModelTest exact{{node("Identity", {"x"}, {"y"}), node("Abs", {"x"}, {"z"})},
                          {{"x", floats({1}, {2})}},
                          {{"y", floats({1}, {2})}, {"z", floats({1}, {2})}}};
    for (const cases::Case& step : imported_steps(exact)) {
        EXPECT_FALSE(step.tolerances[0].has_value());
    }
}

TEST(OnnxModel, AComputedScaleMayDecideAHalf) {
    const NamedTensors inputs{
        {"x", floats({1}, {0.5F})}, {"range", floats({1}, {5})}, {"zero", tensor<std::uint8_t>(2, {1}, {153})}};
    // The quotient is exactly one half in FP32, but less in real arithmetic.
    ModelTest test{{node("Div", {"range", "levels"}, {"scale"}), node("QuantizeLinear", {"x", "scale", "zero"}, {"y"})},
                   inputs,
                   {{"y", tensor<std::uint8_t>(2, {1}, {179})}},
                   {{"levels", floats({1}, {255})}}};
    EXPECT_EQ(passing_steps(test).size(), 2u);
    // 180 is too large by one.
    test.outputs[0].second = tensor<std::uint8_t>(2, {1}, {180});
    cpu::CpuEngine engine(core::highest_feature_level);
    EXPECT_EQ(run::run_case(imported_steps(test).at(1), engine).status, run::Status::fail);
}

TEST(OnnxModel, ConstantsMayBeListsOfNumbers) {
    onnx::AttributeProto numbers;
    numbers.name.set("value_floats");
    numbers.floats.add(3);
    numbers.floats.add(-5);
    ModelTest test{{node("Constant", {}, {"c"}, {numbers}), node("Mul", {"x", "c"}, {"y"})},
                   {{"x", floats({2}, {2, 4})}},
                   {{"y", floats({2}, {6, -20})}}};
    EXPECT_THAT(passing_steps(test), ElementsAre("test_it"));
    test.nodes[0].attribute.edit(0).floats.edit().clear();
    EXPECT_THAT(reason_of_model(test), HasSubstr("a list of a constant node is empty"));
}

TEST(OnnxModel, ConstantsAreFolded) {
    const auto two = constant(floats({}, {2}));
    EXPECT_THAT(passing_steps({{node("Constant", {}, {"two"}, {two}), node("Neg", {"two"}, {"minus"}),
                                node("Mul", {"minus", "w"}, {"factor"}), node("Mul", {"x", "factor"}, {"y"})},
                               {{"x", pair}},
                               {{"y", floats({1, 2}, {0, -6})}},
                               {{"w", floats({}, {3})}}}),
                ElementsAre("test_it"));
    for (const auto& [attribute, product] : {std::make_pair(number("value_float", 2), floats({1, 2}, {0, 2})),
                                             std::make_pair(two, floats({1, 2}, {0, 2}))}) {
        EXPECT_THAT(passing_steps({{node("Constant", {}, {"c"}, {attribute}), node("Mul", {"x", "c"}, {"y"})},
                                   {{"x", pair}},
                                   {{"y", product}}}),
                    ElementsAre("test_it"));
    }
    EXPECT_THAT(passing_steps({{node("Constant", {}, {"c"}, {integer("value_int", 7)}), node("Add", {"x", "c"}, {"y"})},
                               {{"x", longs({1}, {1})}},
                               {{"y", longs({1}, {8})}}}),
                ElementsAre("test_it"));
}

TEST(OnnxModel, OnlyWhatTheOutputsNeed) {
    // The shape would be computed by nodes without a mapping.
    EXPECT_THAT(passing_steps({{node("Nothing", {"x"}, {"shape"}), node("Unknown", {"x"}, {"unused"}),
                                node("Neg", {"x"}, {"minus"}), node("Reshape", {"minus", "shape"}, {"y"})},
                               {{"x", pair}},
                               {{"y", floats({2}, {0, -1})}}}),
                ElementsAre("test_it/1-Neg", "test_it/2-Reshape"));
}

struct Between {
    onnx::NodeProto node;
    onnx::TensorProto result;
};

TEST(OnnxModel, WhatIsBetweenNodes) {
    const NamedTensors inputs{
        {"a", floats({2, 3}, {1, 2, 3, 4, 5, 6})}, {"b", floats({3}, {3, 2, 1})}, {"i", longs({2, 1}, {2, 0})}};
    const NamedTensors constants{{"one", longs({1}, {1})},        {"rows", longs({2}, {3, -1})},
                                 {"same", longs({3}, {0, 1, 3})}, {"two", floats({}, {2})},
                                 {"three", floats({}, {3})},      {"six", floats({}, {6})},
                                 {"low", longs({2}, {0, 1})},     {"high", longs({2}, {1, 3})}};
    const Between rows[] = {
        {node("Neg", {"a"}, {"r"}), floats({2, 3}, {-1, -2, -3, -4, -5, -6})},
        {node("Sub", {"a", "b"}, {"r"}), floats({2, 3}, {-2, 0, 2, 1, 3, 5})},
        {node("Greater", {"a", "b"}, {"r"}), tensor<std::uint8_t>(9, {2, 3}, {0, 0, 1, 1, 1, 1})},
        {node("Cast", {"a"}, {"r"}, {integer("to", 6)}), tensor<std::int32_t>(6, {2, 3}, {1, 2, 3, 4, 5, 6})},
        {node("ReduceSum", {"a", "one"}, {"r"}), floats({2, 1}, {6, 15})},
        {node("ReduceMax", {"a"}, {"r"}, {integers("axes", {0}), integer("keepdims", 0)}), floats({3}, {4, 5, 6})},
        {node("ReduceMean", {"a"}, {"r"}, {integer("keepdims", 0)}), floats({}, {3.5F})},
        {node("Flatten", {"a"}, {"r"}, {integer("axis", 0)}), floats({1, 6}, {1, 2, 3, 4, 5, 6})},
        {node("Flatten", {"a"}, {"r"}, {integer("axis", -1)}), floats({2, 3}, {1, 2, 3, 4, 5, 6})},
        {node("Reshape", {"a", "rows"}, {"r"}), floats({3, 2}, {1, 2, 3, 4, 5, 6})},
        {node("Reshape", {"a", "same"}, {"r"}), floats({2, 1, 3}, {1, 2, 3, 4, 5, 6})},
        {node("Unsqueeze", {"a", "one"}, {"r"}), floats({2, 1, 3}, {1, 2, 3, 4, 5, 6})},
        {node("Squeeze", {"i", "one"}, {"r"}), longs({2}, {2, 0})},
        {node("Squeeze", {"i"}, {"r"}), longs({2}, {2, 0})},
        {node("Gather", {"b", "i"}, {"r"}), floats({2, 1}, {1, 3})},
        {node("GatherElements", {"a", "i"}, {"r"}, {integer("axis", 1)}), floats({2, 1}, {3, 4})},
        {node("Transpose", {"a"}, {"r"}), floats({3, 2}, {1, 4, 2, 5, 3, 6})},
        {node("Slice", {"a", "low", "high"}, {"r"}), floats({1, 2}, {2, 3})},
        {node("Range", {"two", "six", "three"}, {"r"}), floats({2}, {2, 5})},
    };
    for (const Between& row : rows) {
        SCOPED_TRACE(row.node.op_type());
        const auto names =
            passing_steps({{row.node, node("Identity", {"r"}, {"y"})}, inputs, {{"y", row.result}}, constants});
        EXPECT_EQ(names.size(), row.node.op_type() == "Range" ? 1u : 2u);
    }
    const ModelTest chosen{
        {node("Greater", {"a", "b"}, {"m"}), node("Where", {"m", "a", "b"}, {"r"}), node("Neg", {"r"}, {"y"})},
        inputs,
        {{"y", floats({2, 3}, {-3, -2, -3, -4, -5, -6})}}};
    EXPECT_EQ(passing_steps(chosen).size(), 3u);
}

/// DirectML's MAX_POOLING2 and TOP_K1 have further outputs, which no node reads here.
TEST(OnnxModel, FirstOutputsOfSeveralAreBetweenNodes) {
    EXPECT_EQ(passing_steps({{node("MaxPool", {"x"}, {"r"}, {integers("kernel_shape", {2}), integers("strides", {2})}),
                              node("Neg", {"r"}, {"y"})},
                             {{"x", floats({1, 1, 4}, {1, 3, 2, 0})}},
                             {{"y", floats({1, 1, 2}, {-3, -2})}}})
                  .size(),
              2u);
    for (const char* indices : {"unread", ""}) {
        EXPECT_EQ(passing_steps({{node("TopK", {"x", "two"}, {"r", indices}), node("Neg", {"r"}, {"y"})},
                                 {{"x", floats({3}, {1, 3, 2})}},
                                 {{"y", floats({2}, {-3, -2})}},
                                 {{"two", longs({1}, {2})}}})
                      .size(),
                  2u);
    }
}

TEST(OnnxModel, EmptyListsOfResizeAreAbsentInputs) {
    for (const bool has_sizes : {false, true}) {
        const std::vector<std::string> given = has_sizes ? std::vector<std::string>{"x", "none", "none", "sizes"}
                                                         : std::vector<std::string>{"x", "none", "scales"};
        EXPECT_EQ(
            passing_steps({{node("Resize", given, {"y"})},
                           {{"x", floats({1, 2}, {1, 2})}},
                           {{"y", floats({1, 4}, {1, 1, 2, 2})}},
                           {{"none", floats({0}, {})}, {"scales", floats({2}, {1, 2})}, {"sizes", longs({2}, {1, 4})}},
                           11})
                .size(),
            1u);
    }
}

TEST(OnnxModel, ScalarsBetweenNodesHaveNoDimensions) {
    const NamedTensors inputs{{"a", floats({2, 2}, {1, 2, 3, 4})}, {"b", floats({2, 2}, {10, 20, 30, 40})}};
    const NamedTensors constants{{"last", longs({}, {1})}, {"first", longs({1}, {0})}, {"four", floats({}, {4})}};
    // The row has a single dimension, which is reduced.
    EXPECT_EQ(passing_steps({{node("Gather", {"a", "last"}, {"row"}), node("ReduceSum", {"row", "first"}, {"sum"}),
                              node("Add", {"b", "sum"}, {"y"})},
                             inputs,
                             {{"y", floats({2, 2}, {17, 27, 37, 47})}},
                             constants})
                  .size(),
              3u);
    // The list with one root has a single dimension as well.
    EXPECT_EQ(passing_steps({{node("Sqrt", {"four"}, {"root"}), node("Unsqueeze", {"root", "first"}, {"list"}),
                              node("Add", {"list", "row"}, {"sums"}), node("ReduceSum", {"sums", "first"}, {"sum"}),
                              node("Add", {"b", "sum"}, {"y"})},
                             {inputs[1], {"row", floats({2}, {1, 2})}},
                             {{"y", floats({2, 2}, {17, 27, 37, 47})}},
                             constants})
                  .size(),
              3u);
    EXPECT_THAT(reason_of_model({{node("Shape", {"four"}, {"none"}), node("Mul", {"none", "none"}, {"y"})},
                                 {},
                                 {{"y", longs({1}, {1})}},
                                 constants}),
                HasSubstr("size 0 in a dimension"));
}

TEST(OnnxModel, WhatIsSplitIsRoundedWhereItWasComputed) {
    const ModelTest test{{node("Sqrt", {"x"}, {"roots"}), node("Split", {"roots"}, {"y", "z"})},
                         {{"x", floats({2}, {2, 4})}},
                         {{"y", floats({1}, {1.4142137F})}, {"z", floats({1}, {2})}}};
    EXPECT_EQ(passing_steps(test).size(), 2u);
}

TEST(OnnxModel, WhatCannotBeBetweenNodes) {
    const NamedTensors inputs{{"a", floats({2, 3}, {1, 2, 3, 4, 5, 6})}, {"b", floats({2}, {3, 2})}};
    const NamedTensors constants{
        {"nine", longs({1}, {9})},          {"none", longs({1}, {0})},
        {"vast", longs({2}, {1 << 20, 6})}, {"zero", floats({}, {0})},
        {"far", floats({}, {1e9F})},        {"one", floats({}, {1})},
        {"open", longs({2}, {-1, -1})},     {"many", longs({100}, std::vector<std::int64_t>(100, 0))}};
    const std::pair<onnx::NodeProto, const char*> rows[] = {
        {node("Bernoulli", {"a"}, {"r"}), "node 1 (Bernoulli): Bernoulli has no mapping to a DirectML operator"},
        {node("Add", {"a", "b"}, {"r"}), "cannot be broadcast"},
        {node("Add", {"a", ""}, {"r"}), "an input is absent"},
        {node("Add", {"a", "c"}, {"r"}), "there are no data for \"c\""},
        {node("Neg", {}, {"r"}), "the first input is absent"},
        {node("Cast", {"a"}, {"r"}, {integer("to", 8)}), "data type STRING"},
        {node("Cast", {"a"}, {"r"}, {integer("to", -1)}), "not a data type"},
        {node("ReduceSum", {"a", "nine"}, {"r"}), "no such axis"},
        {node("Unsqueeze", {"a", "nine"}, {"r"}), "no such axis"},
        {node("Squeeze", {"a", "nine"}, {"r"}), "no such axis"},
        {node("Flatten", {"a"}, {"r"}, {integer("axis", 3)}), "no such axis"},
        {node("Gather", {"a", "nine"}, {"r"}, {integer("axis", 2)}), "without an axis"},
        {node("Transpose", {"a"}, {"r"}, {integers("perm", {0, 0})}), "not a permutation"},
        {node("Reshape", {"a", "nine"}, {"r"}), "another number of elements"},
        {node("Reshape", {"a", "vast"}, {"r"}), "another number of elements"},
        {node("Reshape", {"a", "open"}, {"r"}), "a size that is not one"},
        {node("Unsqueeze", {"a", "many"}, {"r"}), "102 dimensions"},
        {node("Slice", {"a", "none", "none"}, {"r"}), "no elements, or too many"},
        {node("Range", {"zero", "far", "one"}, {"r"}), "no elements, or too many"},
        {node("Range", {"zero", "one", "zero"}, {"r"}), "no elements, or too many"},
        {node("Constant", {}, {"r"}, {integers("value_ints", {})}), "is empty"},
        {node("Constant", {}, {"r"}, {text("value_string", "x")}), "is not mapped"},
    };
    for (const auto& [one, why] : rows) {
        EXPECT_THAT(reason_of_model({{one, node("Identity", {"r"}, {"y"})}, inputs, {{"y", pair}}, constants}),
                    HasSubstr(why));
    }
}

TEST(OnnxModel, HostileModels) {
    EXPECT_THAT(reason_of_model({{node("Neg", {"x"}, {"r"})}, {{"x", pair}}, {{"y", pair}}}),
                HasSubstr("no node computes \"y\""));
    EXPECT_THAT(reason_of_model({{node("Neg", {"x"}, {"y"})}, {{"x", pair}}, {}}), HasSubstr("no outputs"));
    // A node that depends on itself, or on a node after it.
    EXPECT_THAT(reason_of_model({{node("Neg", {"r"}, {"r"}), node("Neg", {"r"}, {"y"})}, {{"x", pair}}, {{"y", pair}}}),
                HasSubstr("there are no data for \"r\""));
    EXPECT_THAT(
        reason_of_model({{node("Split", {"x"}, {"r", "s"}), node("Neg", {"s"}, {"y"})}, {{"x", pair}}, {{"y", pair}}}),
        HasSubstr("only the first output"));
    ModelTest many{{}, {{"x0", pair}}, {{"x1100", pair}}};
    for (int i = 0; i < 1100; ++i) {
        many.nodes.push_back(node("Neg", {fmt::format("x{}", i)}, {fmt::format("x{}", i + 1)}));
    }
    EXPECT_THAT(reason_of_model(many), HasSubstr("more than 1024 nodes"));
    const auto large = tensor<std::int8_t>(3, {1 << 20}, std::vector<std::int8_t>(1 << 20));
    const std::vector<std::string> nine(9, "a");
    EXPECT_THAT(
        reason_of_model({{node("Concat", nine, {"r"}), node("Neg", {"r"}, {"y"})}, {}, {{"y", pair}}, {{"a", large}}}),
        HasSubstr("node 1 (Concat): its cases would have more than 8388608 elements"));
    // Broadcasting may make small inputs as large as the output.
    ModelTest broadcast{{node("Concat", nine, {"y"})}, {}, {{"y", large}}, {{"a", longs({1}, {1})}}};
    EXPECT_THAT(reason_of_model(broadcast), HasSubstr("its cases would have more than"));
    const std::vector<std::string> too_many(1024, "a");
    EXPECT_THAT(reason_of_model({{node("Concat", too_many, {"y"})}, {}, {{"y", pair}}, {{"a", longs({1}, {1})}}}),
                HasSubstr("more than 1024 inputs and outputs"));
}

/// A product with terms that cancel, of which FP32 may make 0 instead of 1, and then nodes that move its elements.
ModelTest moved_product(const std::vector<float>& expected) {
    return {{node("MatMul", {"a", "b"}, {"p"}), node("Reshape", {"p", "shape"}, {"r"}), node("Transpose", {"r"}, {"t"}),
             node("Unsqueeze", {"t", "axes"}, {"y"})},
            {{"a", floats({2, 3}, {33554432, 1, -33554432, 1, 2, 3})}},
            {{"y", floats({1, 1, 4}, expected)}},
            {{"b", floats({3, 2}, {1, 3, 1, 3, 1, 3})}, {"shape", longs({2}, {4, 1})}, {"axes", longs({1}, {0})}}};
}

TEST(OnnxModel, ProductsAcceptRoundingBehindWhichElementsMove) {
    EXPECT_THAT(passing_steps(moved_product({0, 3, 6, 18})),
                ElementsAre("test_it/1-MatMul", "test_it/2-Reshape", "test_it/3-Transpose", "test_it/4-Unsqueeze"));
    for (const std::vector<float>& wrong : {std::vector<float>{0, 3, 18, 6}, {100, 3, 6, 18}}) {
        const auto steps = imported_steps(moved_product(wrong));
        cpu::CpuEngine engine(core::highest_feature_level);
        EXPECT_EQ(run::run_case(steps.at(0), engine).status, run::Status::fail);
        EXPECT_EQ(run::run_case(steps.at(1), engine).status, run::Status::pass);
    }
}

TEST(OnnxModel, NamesAreNotLookedForInAllOfTheModel) {
    constexpr int count = 100'000;
    ModelTest test{{}, {{"x", pair}}, {{"y", floats({1, 2}, {0, -1})}}, NamedTensors(count, {"unused", pair})};
    for (int i = 0; i < count; ++i) {
        test.nodes.push_back(node("Dropout", {"x", fmt::format("ratio{}", i)}, {fmt::format("unused{}", i)}));
    }
    test.nodes.push_back(node("Neg", {"x"}, {"y"}));
    // Measures the time of this process only, because others may keep the machine busy.
    const std::clock_t start = std::clock();
    EXPECT_EQ(passing_steps(test).size(), 1u);
    EXPECT_LT(std::clock() - start, 10 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace dmlconform::tests::onnx_model_test
