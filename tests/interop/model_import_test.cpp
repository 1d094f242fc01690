// Tests of importing whole ONNX models as graphs. Expected values are derived by hand.
#include <chrono>
#include <cmath>
#include <filesystem>

#include "engine/cases/philox.h"
#include "engine/interop/model/model_case.h"
#include "engine/operators/graph_rules.h"

#include "tests/interop/model_imports.h"

namespace dmlconform::tests {
namespace model_import_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Values = std::vector<std::vector<double>>;

const onnx::TensorProto no_data = floats({2, 3}, {1, -2, 3, -4, 5, -6});

TEST(ModelImport, ConnectsNodesByTheirValues) {
    const ModelTest test{
        {node("MatMul", {"x", "w"}, {"product"}), node("Add", {"product", "b"}, {"sum"}), node("Relu", {"sum"}, {"y"})},
        {{"x", no_data}},
        {{"y", {}}},
        {{"w", floats({3, 1}, {1, 1, 1})}, {"b", floats({1}, {3})}}};
    const auto model = graph_of(model_of(test));
    EXPECT_THAT(operators_of(model), ElementsAre("GEMM", "ELEMENT_WISE_ADD", "ACTIVATION_RELU"));
    EXPECT_EQ(values_of(model, test.inputs), (Values{{5, 0}}));
    EXPECT_THAT(model.cuts, IsEmpty());
    EXPECT_EQ(model.judged_nodes, 3U);
    std::size_t constants = 0;
    for (const operators::GraphValue& value : model.graph->values) {
        constants += value.is_constant ? 1U : 0U;
    }
    EXPECT_EQ(constants, 2U);
}

TEST(ModelImport, ReshapesAreNoNodes) {
    const ModelTest test{
        {node("Reshape", {"x", "shape"}, {"r"}), node("Identity", {"r"}, {"i"}), node("Dropout", {"i"}, {"d"}),
         node("Unsqueeze", {"d", "axes"}, {"u"}), node("Squeeze", {"u", "axes"}, {"s"}), node("Flatten", {"s"}, {"f"}),
         node("Transpose", {"f"}, {"y"})},
        {{"x", no_data}},
        {{"y", {}}},
        {{"shape", longs({2}, {3, -1})}, {"axes", longs({1}, {0})}}};
    const auto model = graph_of(model_of(test));
    EXPECT_THAT(operators_of(model), ElementsAre("ELEMENT_WISE_IDENTITY"));
    EXPECT_EQ(values_of(model, test.inputs), (Values{{1, 3, 5, -2, -4, -6}}));
    EXPECT_EQ(model.needed_nodes, 7U);
    EXPECT_EQ(model.folded_nodes, 6U);
}

onnx::SparseTensorProto sparse(const std::vector<float>& values, const onnx::TensorProto& indices,
                               const std::vector<std::int64_t>& sizes) {
    onnx::SparseTensorProto made;
    made.values.edit() = floats({static_cast<std::int64_t>(values.size())}, values);
    made.values.edit().name.set("w");
    made.indices.edit() = indices;
    made.dims.append(sizes.begin(), sizes.end());
    return made;
}

TEST(ModelImport, SparseInitialisersAreConstants) {
    const ModelTest test{{node("Add", {"x", "w"}, {"y"})}, {{"x", no_data}}, {{"y", {}}}};
    auto model = model_of(test);
    auto& weights = model.graph.edit().sparse_initializer.add();
    for (const auto& indices : {longs({2}, {1, 5}), longs({2, 2}, {0, 1, 1, 2})}) {
        weights = sparse({10, 20}, indices, {2, 3});
        EXPECT_EQ(values_of(graph_of(model), test.inputs), (Values{{1, 8, 3, -4, 5, 14}}));
    }
    const std::pair<const char*, onnx::SparseTensorProto> wrong[] = {
        {"an index outside", sparse({1}, longs({1}, {6}), {2, 3})},
        {"an index outside", sparse({1}, longs({1, 2}, {0, 3}), {2, 3})},
        {"an index outside", sparse({1}, longs({1}, {-1}), {2, 3})},
        {"not one index", sparse({1, 2}, longs({1}, {0}), {2, 3})},
        {"not one index", sparse({1}, longs({1, 3}, {0, 0, 0}), {2, 3})},
        {"sizes that no tensor has", sparse({1}, longs({1}, {0}), {0, 3})},
        {"too large", sparse({1}, longs({1}, {0}), {0xffffffff, 0xffffffff})},
    };
    for (const auto& [reason, tensor] : wrong) {
        weights = tensor;
        const auto imported = interop::import_model(model, "model.onnx", {});
        ASSERT_FALSE(imported) << reason;
        EXPECT_THAT(imported.error().message, testing::HasSubstr(reason));
    }
}

onnx::TensorProto packed_bytes(const std::vector<std::int64_t>& sizes, const std::vector<std::uint8_t>& values) {
    return tensor<std::uint8_t>(2, sizes, values);
}

/// A product with weights of four bits in bytes: two rows of two blocks of four.
ModelTest packed_product(const std::vector<std::string>& inputs, const std::vector<onnx::AttributeProto>& more) {
    std::vector<onnx::AttributeProto> attributes{integer("N", 2), integer("K", 8), integer("block_size", 4)};
    attributes.insert(attributes.end(), more.begin(), more.end());
    onnx::NodeProto product = node("MatMulNBits", inputs, {"y"}, attributes);
    product.domain.set("com.microsoft");
    return {
        {product, node("Neg", {"y"}, {"z"})},
        {{"x", floats({1, 8}, {1, 0, 0, 0, 0, 0, 0, 1})}, {"bytes", packed_bytes({2, 2, 2}, {0, 0, 0, 0, 0, 0, 0, 0})}},
        {{"z", {}}},
        {{"w", packed_bytes({2, 2, 2}, {0x09, 0, 0, 0x70, 0xf8, 0, 0, 0x0f})},
         {"scales", floats({4}, {1, 2, 4, 8})},
         {"zeros", packed_bytes({2}, {0x21, 0x43})}}};
}

TEST(ModelImport, PackedWeightsAreDequantised) {
    const auto plain = packed_product({"x", "w", "scales"}, {});
    EXPECT_EQ(values_of(graph_of(model_of(plain)), plain.inputs), (Values{{1, 64}}));
    const auto shifted = packed_product({"x", "w", "scales", "zeros"}, {});
    EXPECT_EQ(values_of(graph_of(model_of(shifted)), shifted.inputs), (Values{{-18, 12}}));
}

TEST(ModelImport, PackedWeightsThatAreNotMappedCutTheModel) {
    const std::pair<const char*, ModelTest> rows[] = {
        {"of four bits", packed_product({"x", "w", "scales"}, {integer("bits", 2)})},
        {"without g_idx", packed_product({"x", "w", "scales", "", "zeros"}, {})},
        {"no constant", packed_product({"x", "bytes", "scales"}, {})},
    };
    for (const auto& [reason, test] : rows) {
        const auto model = graph_of(model_of(test));
        EXPECT_THAT(cuts_of(model), ElementsAre(testing::HasSubstr(reason)));
        EXPECT_THAT(operators_of(model), ElementsAre("ELEMENT_WISE_NEGATE")) << "the sizes behind it are known";
    }
}

TEST(ModelImport, WhatReadsRandomNumbersIsJudged) {
    // The end of a variational autoencoder's encoder.
    const ModelTest test{{node("Exp", {"x"}, {"deviation"}), node("RandomNormalLike", {"deviation"}, {"random"}),
                          node("Mul", {"random", "deviation"}, {"y"})},
                         {{"x", no_data}},
                         {{"y", {}}}};
    const auto model = graph_of(model_of(test));
    EXPECT_THAT(operators_of(model), ElementsAre("ELEMENT_WISE_EXP", "ELEMENT_WISE_MULTIPLY"));
    EXPECT_THAT(cuts_of(model),
                ElementsAre("RandomNormalLike: RandomNormalLike has no mapping to a DirectML operator"));
}

TEST(ModelImport, AnInputWithoutDimensionsAsksForItsData) {
    auto model = model_of({{node("Neg", {"x"}, {"y"})}, {{"x", no_data}}, {{"y", {}}}});
    model.graph.edit().input.edit(0).type.edit().tensor_type.edit().shape = {};
    const auto imported = interop::import_model(model, "model.onnx", {});
    ASSERT_FALSE(imported);
    EXPECT_THAT(imported.error().message,
                testing::HasSubstr("the model does not say how many dimensions it has (give its data with --input)"));
}

TEST(ModelImport, ADropoutThatMayDropCutsTheModel) {
    const auto truth = [](std::uint8_t value) { return tensor<std::uint8_t>(9, {1}, {value}); };
    ModelTest test{{node("Abs", {"x"}, {"a"}), node("Dropout", {"a", "ratio", "training"}, {"y", "mask"})},
                   {{"x", no_data}, {"ratio", floats({1}, {0})}, {"training", truth(0)}},
                   {{"y", {}}, {"mask", {}}}};
    const auto reason = ElementsAre("Dropout: Dropout in training drops at random");
    EXPECT_THAT(cuts_of(graph_of(model_of(test))), reason) << "neither is known";
    test.inputs.pop_back();
    test.initializers = {{"training", truth(1)}};
    EXPECT_THAT(cuts_of(graph_of(model_of(test))), reason) << "the ratio is not known";
    test.inputs.pop_back();
    test.initializers.emplace_back("ratio", floats({1}, {0}));
    EXPECT_THAT(cuts_of(graph_of(model_of(test))), ElementsAre());
}

TEST(ModelImport, StepsOfItsOwnAreNoOperators) {
    // What it makes of packed weights has such a node, with an input and an output.
    for (const std::vector<std::string>& inputs : {std::vector<std::string>{}, {""}, {"x"}, {"x", "x"}}) {
        const ModelTest test{{node("Abs", {"x"}, {"y"}), node("#TwoOfEachByte", inputs, {"z"})},
                             {{"x", no_data}},
                             {{"y", {}}, {"z", {}}}};
        EXPECT_THAT(cuts_of(graph_of(model_of(test))), testing::SizeIs(1)) << inputs.size();
    }
}

TEST(ModelImport, FoldsShapesThatAreComputed) {
    // Nodes that PyTorch exports for x.view(x.size(0) * 3, -1), with INT64 scalars.
    const ModelTest test{
        {node("Shape", {"x"}, {"shape"}), node("Constant", {}, {"zero"}, {constant(longs({}, {0}))}),
         node("Gather", {"shape", "zero"}, {"n"}, {integer("axis", 0)}),
         node("Constant", {}, {"three"}, {constant(longs({}, {3}))}), node("Mul", {"n", "three"}, {"rows"}),
         node("Unsqueeze", {"rows", "axes"}, {"row_list"}), node("Cast", {"rest_float"}, {"rest"}, {integer("to", 7)}),
         node("Concat", {"row_list", "rest"}, {"new_shape"}, {integer("axis", 0)}),
         node("Reshape", {"x", "new_shape"}, {"r"}), node("Neg", {"r"}, {"y"})},
        {{"x", no_data}},
        {{"y", {}}},
        {{"axes", longs({1}, {0})}, {"rest_float", floats({1}, {-1})}}};
    const auto model = graph_of(model_of(test));
    EXPECT_THAT(operators_of(model), ElementsAre("ELEMENT_WISE_NEGATE"));
    EXPECT_EQ(model.graph->nodes[0].descriptor->sizes("OutputTensor"), (core::Dimensions{6, 1}));
    EXPECT_EQ(values_of(model, test.inputs), (Values{{-1, 2, -3, 4, -5, 6}}));
}

TEST(ModelImport, KeepsLargeConstantsOutOfMemory) {
    const ModelTest test{
        {node("ConstantOfShape", {"shape"}, {"w"}, {constant(floats({1}, {0.5F}))}), node("MatMul", {"x", "w"}, {"y"})},
        {{"x", no_data}},
        {{"y", {}}},
        {{"shape", longs({2}, {3, 1 << 28})}}};
    const auto model = graph_of(model_of(test));
    ASSERT_THAT(operators_of(model), ElementsAre("GEMM"));
    EXPECT_EQ(model.inputs[1].kind, interop::ModelInput::Kind::constant);
    EXPECT_EQ(model.inputs[1].tensor.sizes, (core::Dimensions{3, 1 << 28}));
}

TEST(ModelImport, CutsWhereDirectMlHasNoOperator) {
    const ModelTest test{
        {node("Relu", {"x"}, {"a"}), node("Det", {"square"}, {"unread"}), node("StringNormalizer", {"a"}, {"b"}),
         node("BatchNormalization", {"a", "p", "p", "p", "p"}, {"c"}, {integer("spatial", 0)}),
         node("Neg", {"c"}, {"y"}), node("Neg", {"b"}, {"z"})},
        {{"x", no_data}, {"square", floats({1, 1}, {1})}, {"p", floats({3}, {1, 1, 1})}},
        {{"y", {}}, {"z", {}}}};
    const auto model = graph_of(model_of(test));
    EXPECT_THAT(operators_of(model), ElementsAre("ACTIVATION_RELU", "ELEMENT_WISE_NEGATE"));
    ASSERT_EQ(model.inputs.size(), 2U);
    EXPECT_EQ(model.inputs[0].kind, interop::ModelInput::Kind::given);
    EXPECT_EQ(model.inputs[1].kind, interop::ModelInput::Kind::cut);
    EXPECT_EQ(model.inputs[1].name, "c");
    EXPECT_THAT(cuts_of(model),
                testing::Contains(HasSubstr("BatchNormalization: BatchNormalization with spatial = 0")));
    EXPECT_THAT(cuts_of(model), testing::Contains(HasSubstr("StringNormalizer: ")));
    EXPECT_THAT(model.notes, ElementsAre(HasSubstr("output \"z\" is not computed")));
    EXPECT_THAT(cuts_of(model), testing::Not(testing::Contains(HasSubstr("Det"))));
}

/// Nodes whose results only reach an unsupported node are judged as well, and the values that this node reads become
/// outputs.
TEST(ModelImport, JudgesWhatComesBeforeACut) {
    const ModelTest test{{node("Relu", {"x"}, {"a"}), node("MatMul", {"a", "w"}, {"b"}), node("Neg", {"a"}, {"n"}),
                          node("StringNormalizer", {"b"}, {"c"}), node("Abs", {"c"}, {"d"}),
                          node("StringNormalizer", {"d", "n"}, {"y"})},
                         {{"x", no_data}},
                         {{"y", {}}},
                         {{"w", floats({3, 2}, {1, 0, 0, 1, 1, 1})}}};
    const auto model = graph_of(model_of(test));
    EXPECT_THAT(operators_of(model), ElementsAre("ACTIVATION_RELU", "GEMM", "ELEMENT_WISE_NEGATE"));
    std::vector<std::string> outputs;
    for (const interop::ModelOutput& output : model.outputs) {
        outputs.push_back(output.name);
        EXPECT_FALSE(output.position) << "none of them is an output of the model";
    }
    EXPECT_THAT(outputs, testing::UnorderedElementsAre("b", "n"));
    EXPECT_EQ(model.graph->outputs.size(), outputs.size());
    // The node between the two cuts has an input of unknown size.
    EXPECT_EQ(model.cuts.size(), 3U);
    EXPECT_EQ(model.needed_nodes, 6U);
    EXPECT_EQ(model.judged_nodes, 3U);
    EXPECT_EQ(model.cuts_of_unknown_size, 3U);
}

/// Each node before a cut is needed by that cut only, so a single pass must be sufficient.
TEST(ModelImport, TakesLittleTimeForManyCuts) {
    ModelTest test{{}, {{"x", no_data}}, {{"y", {}}}, {{"p", floats({3}, {1, 1, 1})}}};
    constexpr int pairs = 5000;
    for (int i = 0; i < pairs; ++i) {
        const std::string from = i == 0 ? "x" : "v" + std::to_string(i);
        const std::string between = "u" + std::to_string(i);
        test.nodes.push_back(node("Relu", {from}, {between}));
        test.nodes.push_back(node("BatchNormalization", {between, "p", "p", "p", "p"},
                                  {i + 1 == pairs ? "y" : "v" + std::to_string(i + 1)}, {integer("spatial", 0)}));
    }
    const auto model = graph_of(model_of(test));
    EXPECT_EQ(model.judged_nodes, std::size_t{pairs});
    EXPECT_EQ(model.cuts.size(), std::size_t{pairs});
    EXPECT_EQ(model.cuts_of_unknown_size, 0U);
    EXPECT_EQ(model.cut_operations, pairs * 6.0);
}

TEST(ModelImport, TakesTheBranchOfAConstantCondition) {
    ModelTest test{{node("Shape", {"x"}, {"shape"}), node("Constant", {}, {"one"}, {constant(longs({1}, {0}))}),
                    node("Gather", {"shape", "one"}, {"n"}), node("Equal", {"n", "two"}, {"is_two"}),
                    node("If", {"is_two"}, {"y"})},
                   {{"x", no_data}},
                   {{"y", {}}},
                   {{"two", longs({1}, {2})}}};
    for (const auto& [name, type] : {std::pair("then_branch", "Neg"), std::pair("else_branch", "Abs")}) {
        onnx::AttributeProto& branch = test.nodes.back().attribute.add();
        branch.name.set(name);
        branch.g.edit().node.add(node(type, {"x"}, {"inner"}));
        branch.g.edit().output.add().name.set("inner");
    }
    const auto model = graph_of(model_of(test));
    EXPECT_THAT(operators_of(model), ElementsAre("ELEMENT_WISE_NEGATE"));
}

/// The nodes of a model are freed when they are imported, and what nobody reads any more is forgotten. What a later
/// node reads, or a branch, is not.
TEST(ModelImport, ForgetsOnlyWhatNobodyReadsAnyMore) {
    ModelTest test{{node("Shape", {"x"}, {"shape"}), node("Constant", {}, {"one"}, {constant(longs({1}, {0}))}),
                    node("Gather", {"shape", "one"}, {"n"}), node("Equal", {"n", "two"}, {"is_two"}),
                    node("Neg", {"x"}, {"a"}), node("Abs", {"a"}, {"b"}), node("Exp", {"x"}, {"c"}),
                    node("If", {"is_two"}, {"d"}), node("Add", {"c", "d"}, {"y"}), node("Sub", {"a", "y"}, {"z"})},
                   {{"x", no_data}},
                   {{"z", {}}},
                   {{"two", longs({1}, {2})}}};
    for (const auto& [name, type] : {std::pair("then_branch", "Tanh"), std::pair("else_branch", "Sqrt")}) {
        onnx::AttributeProto& branch = test.nodes[7].attribute.add();
        branch.name.set(name);
        branch.g.edit().node.add(node(type, {"b"}, {"inner"}));
        branch.g.edit().output.add().name.set("inner");
    }
    const onnx::ModelProto model = model_of(test);
    const auto kept = graph_of(model);
    onnx::ModelProto taken = model;
    const auto imported = interop::import_without_nodes(taken, "model.onnx", {});
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_EQ(taken.graph().node.size(), 0);
    EXPECT_EQ(operators_of(*imported), operators_of(kept));
    EXPECT_THAT(operators_of(kept), testing::Contains("ACTIVATION_TANH"));
    EXPECT_EQ(operators_of(kept).size(), 6U);
    EXPECT_THAT(cuts_of(kept), ElementsAre());
}

TEST(ModelImport, InlinesFunctionsWithTheirAttributes) {
    onnx::ModelProto model =
        model_of({{node("Twice", {"x"}, {"y"}, {number("slope", 0.5F)})}, {{"x", no_data}}, {{"y", {}}}});
    model.graph.edit().node.edit(0).domain.set("own");
    onnx::FunctionProto& function = model.functions.add();
    function.domain.set("own");
    function.name.set("Twice");
    function.input.add("in");
    function.output.add("out");
    function.attribute.add("slope");
    function.opset_import.add().version.set(17);
    function.node.add(node("LeakyRelu", {"in"}, {"once"}));
    function.node.add(node("LeakyRelu", {"once"}, {"out"}));
    for (onnx::NodeProto& one : function.node.edit()) {
        onnx::AttributeProto& attribute = one.attribute.add();
        attribute.name.set("alpha");
        attribute.ref_attr_name.set("slope");
    }
    const auto imported = graph_of(model);
    EXPECT_THAT(operators_of(imported), ElementsAre("ACTIVATION_LEAKY_RELU", "ACTIVATION_LEAKY_RELU"));
    EXPECT_EQ(values_of(imported, {{"x", no_data}}), (Values{{1, -0.5, 3, -1, 5, -1.5}}));
}

TEST(ModelImport, RefusesFunctionsThatCallThemselves) {
    onnx::ModelProto model = model_of({{node("Loop", {"x"}, {"y"})}, {{"x", no_data}}, {{"y", {}}}});
    model.graph.edit().node.edit(0).domain.set("own");
    onnx::FunctionProto& function = model.functions.add();
    function.domain.set("own");
    function.name.set("Loop");
    function.input.add("x");
    function.output.add("y");
    function.node.add(model.graph().node(0));
    const auto imported = interop::import_model(model, "model.onnx");
    ASSERT_FALSE(imported);
    EXPECT_THAT(imported.error().message, HasSubstr("nested"));
}

TEST(ModelImport, TakesSizesOfSymbolicDimensions) {
    onnx::ModelProto model = model_of({{node("Relu", {"x"}, {"y"})}, {{"x", no_data}}, {{"y", {}}}});
    auto& dimension = model.graph.edit().input.edit(0).type.edit().tensor_type.edit().shape.edit().dim.edit(0);
    dimension.dim_value.clear();
    dimension.dim_param.set("N");
    EXPECT_EQ(graph_of(model, {{{"N", 5}}, {}}).inputs[0].tensor.sizes, (core::Dimensions{5, 3}));
    const auto chosen = graph_of(model);
    EXPECT_EQ(chosen.inputs[0].tensor.sizes, (core::Dimensions{1, 3}));
    EXPECT_THAT(chosen.notes, ElementsAre(HasSubstr("size 1 was chosen for N")));
}

TEST(ModelImport, PutsCastsAroundOperatorsWithout64Bits) {
    const ModelTest test{{node("Relu", {"x"}, {"y"})}, {{"x", tensor<double>(11, {2}, {-1, 2})}}, {{"y", {}}}};
    const auto model = graph_of(model_of(test));
    EXPECT_THAT(operators_of(model), ElementsAre("CAST", "ACTIVATION_RELU", "CAST"));
    EXPECT_EQ(values_of(model, test.inputs), (Values{{0, 2}}));
}

TEST(ModelImport, KnowsInitializersThatAreInputsToo) {
    ModelTest test{{node("Add", {"x", "w"}, {"y"})},
                   {{"x", no_data}, {"w", floats({1}, {1})}},
                   {{"y", {}}},
                   {{"w", floats({1}, {10})}}};
    EXPECT_EQ(values_of(graph_of(model_of(test)), {{"x", no_data}}), (Values{{11, 8, 13, 6, 15, 4}}));
}

TEST(ModelImport, OutputsMayBeInputsOrEachOther) {
    const ModelTest test{{node("Identity", {"x"}, {"same"}), node("Neg", {"x"}, {"y"}), node("Identity", {"y"}, {"z"})},
                         {{"x", floats({2}, {1, 2})}},
                         {{"same", {}}, {"y", {}}, {"z", {}}}};
    EXPECT_EQ(values_of(graph_of(model_of(test)), test.inputs), (Values{{1, 2}, {-1, -2}, {-1, -2}}));
}

TEST(ModelImport, DropsTensorsWithoutElements) {
    // An empty list of sizes, and a tensor whose shape is read but not its elements.
    const ModelTest test{
        {node("Concat", {"none", "shape"}, {"all"}, {integer("axis", 0)}),
         node("Slice", {"x", "start", "start", "axes"}, {"nothing"}), node("Shape", {"nothing"}, {"nothing_shape"}),
         node("Reshape", {"x", "all"}, {"r"}), node("Neg", {"r"}, {"y"}),
         node("ConstantOfShape", {"nothing_shape"}, {"unread"})},
        {{"x", no_data}},
        {{"y", {}}},
        {{"none", longs({0}, {})}, {"shape", longs({1}, {6})}, {"start", longs({1}, {1})}, {"axes", longs({1}, {0})}}};
    const auto model = graph_of(model_of(test));
    EXPECT_THAT(operators_of(model), ElementsAre("ELEMENT_WISE_NEGATE"));
    EXPECT_THAT(cuts_of(model), IsEmpty());
}

TEST(ModelImport, ReadsLargeTensorsFromTheFileWhenTheyAreNeeded) {
    const TemporaryFolder folder;
    const std::vector<float> weights(4096 * 3, 0.25F);
    onnx::ModelProto model = model_of(
        {{node("MatMul", {"x", "w"}, {"y"})}, {{"x", no_data}}, {{"y", {}}}, {{"w", floats({3, 4096}, weights)}}});
    const std::string path = folder.write("model.onnx", onnx::message_bytes(model));
    const auto imported = interop::import_model(path);
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_THAT(imported->inputs[1].tensor.elements, IsEmpty());
    EXPECT_EQ(values_of(*imported, {{"x", no_data}}).front().front(), 0.5);
}

TEST(ModelImport, ReadsExternalDataOfTheModelsFolderOnly) {
    const TemporaryFolder folder;
    onnx::ModelProto model = model_of({{node("Mul", {"x", "w"}, {"y"})}, {{"x", no_data}}, {{"y", {}}}});
    onnx::TensorProto& weight = model.graph.edit().initializer.add();
    weight.name.set("w");
    weight.data_type.set(1);
    weight.dims.add(3);
    weight.data_location.set(1);
    const auto entry = [&](const char* key, const std::string& value) {
        onnx::StringStringEntryProto& added = weight.external_data.add();
        added.key.set(key);
        added.value.set(value);
    };
    const std::vector<float> numbers{7, 1, 2, 3};
    folder.write("weights.bin", std::string(reinterpret_cast<const char*>(numbers.data()), 16));
    entry("location", "weights.bin");
    entry("offset", "4");
    entry("length", "12");
    const std::string path = folder.write("model.onnx", onnx::message_bytes(model));
    const auto imported = interop::import_model(path);
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_EQ(values_of(*imported, {{"x", no_data}}), (Values{{1, -4, 9, -4, 10, -18}}));

    const auto reason = [&](const std::string& location) {
        model.graph.edit().initializer.edit(0).external_data.edit(0).value.set(location);
        const auto refused = interop::import_model(folder.write("model.onnx", onnx::message_bytes(model)));
        return refused ? "it was imported" : refused.error().message;
    };
    EXPECT_THAT(reason("../weights.bin"), HasSubstr("is not a file of the model's folder"));
    EXPECT_THAT(reason("/etc/passwd"), HasSubstr("is not a file of the model's folder"));
    EXPECT_THAT(reason("nothing.bin"), HasSubstr("external data \"nothing.bin\""));
    std::filesystem::create_symlink(folder.path() / "weights.bin", folder.path() / "link.bin");
    EXPECT_THAT(reason("link.bin"), HasSubstr("is behind a link"));
    std::filesystem::create_directory(folder.path() / "below");
    std::filesystem::create_directory_symlink(folder.path() / "below", folder.path() / "link");
    std::filesystem::create_symlink("weights.bin", folder.path() / "below" / "dangling.bin");
    std::filesystem::copy(folder.path() / "weights.bin", folder.path() / "below" / "weights.bin");
    EXPECT_EQ(reason("below/weights.bin"), "it was imported");
    EXPECT_EQ(reason("./below/../weights.bin"), "it was imported");
    EXPECT_THAT(reason("link/weights.bin"), HasSubstr("is behind a link"));
    EXPECT_THAT(reason("below/dangling.bin"), HasSubstr("is behind a link"));
    for (const char* outside : {"", ".", "below/..", "..", "below/../../weights.bin", "./../weights.bin"}) {
        EXPECT_THAT(reason(outside), HasSubstr("is not a file of the model's folder")) << outside;
    }
    EXPECT_THAT(reason(std::string("weights.bin\0/../..", 18)), HasSubstr("is not a file of the model's folder"));
    EXPECT_NE(reason("below"), "it was imported");
    model.graph.edit().initializer.edit(0).dims.edit(0) = std::int64_t{1} << 30;
    EXPECT_THAT(reason("weights.bin"), HasSubstr("bytes of data"));
}

TEST(ModelImport, ImportsTenThousandNodesInASecond) {
    ModelTest test{{}, {{"x0", no_data}}, {{"x10000", {}}}};
    for (int i = 0; i < 10000; ++i) {
        test.nodes.push_back(node("Relu", {fmt::format("x{}", i)}, {fmt::format("x{}", i + 1)}));
    }
    const onnx::ModelProto model = model_of(test);
    const auto start = std::chrono::steady_clock::now();
    const auto imported = graph_of(model);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(imported.graph->nodes.size(), 10000U);
    // Measured, see docs/models.md. The margin is for sanitizers and other processes; quadratic time takes minutes.
    EXPECT_LT(took.count(), 30);
}

/// A model with most kinds of fields: constants, a branch, weights, an output that other nodes read.
std::string varied_model() {
    ModelTest test{{node("Shape", {"x"}, {"shape"}), node("Gather", {"shape", "zero"}, {"n"}),
                    node("Concat", {"n", "rest"}, {"new"}, {integer("axis", 0)}), node("Reshape", {"x", "new"}, {"r"}),
                    node("MatMul", {"r", "w"}, {"m"}), node("Equal", {"n", "two"}, {"is_two"}),
                    node("If", {"is_two"}, {"i"}), node("TopK", {"i", "one"}, {"y", "z"})},
                   {{"x", no_data}},
                   {{"y", {}}, {"z", {}}, {"m", {}}},
                   {{"zero", longs({1}, {0})},
                    {"rest", longs({1}, {-1})},
                    {"w", floats({3, 400}, std::vector<float>(1200, 0.5F))},
                    {"two", longs({1}, {2})},
                    {"one", longs({1}, {1})}}};
    onnx::AttributeProto& branch = test.nodes[6].attribute.add();
    branch.name.set("then_branch");
    branch.g.edit().node.add(node("Relu", {"m"}, {"inner"}));
    branch.g.edit().output.add().name.set("inner");
    return onnx::message_bytes(model_of(test));
}

TEST(ModelImport, MakesALegalCaseOrAnErrorOfMutatedModels) {
    const TemporaryFolder folder;
    const std::string original = varied_model();
    std::size_t imported = 0;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        std::string mutated = original;
        const auto draw = [&](std::uint64_t index, std::size_t below) {
            return static_cast<std::size_t>(cases::random_bits(seed, index) % below);
        };
        for (std::uint64_t i = 0; i <= seed % 4; ++i) {
            const std::size_t position = draw(3 * i, mutated.size());
            const auto byte = static_cast<char>(draw(3 * i + 1, 256));
            switch (draw(3 * i + 2, 4)) {
                case 0:
                    mutated.insert(position, 1, byte);
                    break;
                case 1:
                    mutated.erase(position, 1);
                    break;
                default:
                    mutated[position] = byte;
            }
        }
        const auto model = interop::read_model_case(folder.write("model.onnx", mutated));
        if (model) {
            ++imported;
            EXPECT_FALSE(operators::validate_graph(*model->model.graph, core::highest_feature_level)) << seed;
        } else {
            EXPECT_FALSE(model.error().message.empty()) << seed;
        }
    }
    // If fewer models could be imported, the mutations would hardly test the importer.
    EXPECT_GT(imported, 100U);
}

TEST(ModelImport, FillsIndicesWithinRange) {
    const TemporaryFolder folder;
    const ModelTest test{
        {node("Cast", {"x"}, {"indices"}, {integer("to", 7)}), node("Gather", {"w", "indices"}, {"y"})},
        {{"x", floats({50}, std::vector<float>(50))}},
        {{"y", {}}},
        {{"w", floats({7, 2}, std::vector<float>(14))}}};
    const auto model = interop::read_model_case(folder.write("model.onnx", onnx::message_bytes(model_of(test))));
    ASSERT_TRUE(model) << model.error().message;
    const auto slots = model->subject->descriptor->inputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].name != "x") {
            continue;
        }
        core::Tensor tensor(*slots[i].desc);
        ASSERT_TRUE(model->subject->inputs[i]->fill(tensor));
        for (const float index : tensor.as<float>()) {
            EXPECT_GE(index, 0);
            EXPECT_LT(index, 7);
            EXPECT_EQ(index, std::trunc(index));
        }
    }
}

TEST(ModelImport, TakesDataOfTheTestDataSet) {
    const TemporaryFolder folder;
    const ModelTest test{{node("Neg", {"x"}, {"y"})}, {{"x", no_data}}, {{"y", {}}}};
    const std::string path = folder.write("net.onnx", onnx::message_bytes(model_of(test)));
    folder.write("test_data_set_0/input_0.pb", onnx::message_bytes(no_data));
    folder.write("test_data_set_0/output_0.pb", onnx::message_bytes(floats({2, 3}, {-1, 2, -3, 4, -5, 6})));
    const auto model = interop::read_model_case(path);
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->subject->id, "net/model");
    ASSERT_TRUE(model->subject->expected[0]);
    expect_pass(*model->subject, "the model");
    folder.write("test_data_set_0/output_0.pb", onnx::message_bytes(floats({2, 3}, {-1, 2, -3, 4, -5, 7})));
    const auto wrong = interop::read_model_case(path);
    cpu::CpuEngine engine(core::highest_feature_level);
    EXPECT_EQ(run::run_case(*wrong->subject, engine).status, run::Status::fail);
    folder.write("test_data_set_0/output_0.pb", onnx::message_bytes(floats({2, 2}, {-1, 2, -3, 4})));
    const auto other = interop::read_model_case(path);
    ASSERT_FALSE(other);
    EXPECT_THAT(other.error().message, HasSubstr("the data of \"y\""));
}

TEST(ModelImport, RefusesFilesThatAreNotModels) {
    const TemporaryFolder folder;
    const auto reason = [&](const std::string& content) {
        const auto imported = interop::import_model(folder.write("model.onnx", content));
        return imported ? "it was imported" : imported.error().message;
    };
    EXPECT_THAT(reason("{}"), HasSubstr("is not an ONNX model"));
    EXPECT_EQ(reason(""), "the file is empty");
    const std::string whole =
        onnx::message_bytes(model_of({{node("Relu", {"x"}, {"y"})}, {{"x", no_data}}, {{"y", {}}}}));
    EXPECT_THAT(reason(whole.substr(0, whole.size() - 3)), HasSubstr("cut off"));
    // A tensor whose external data refer to an offset in this very file.
    onnx::ModelProto liar =
        model_of({{node("Add", {"x", "w"}, {"y"})}, {{"x", no_data}}, {{"y", {}}}, {{"w", floats({3}, {1, 2, 3})}}});
    liar.graph.edit().initializer.edit(0).raw_data.clear();
    liar.graph.edit().initializer.edit(0).skipped_offset.set(0);
    liar.graph.edit().initializer.edit(0).skipped_bytes.set(12);
    EXPECT_THAT(reason(onnx::message_bytes(liar)), HasSubstr("has data of another size"));
}

TEST(ModelImport, RefusesTwoValuesOfTheSameName) {
    const onnx::NodeProto relu = node("Relu", {"x"}, {"y"});
    const NamedTensors x{{"x", no_data}};
    const NamedTensors y{{"y", {}}};
    const NamedTensors k{{"k", floats({1}, {1})}};
    const std::pair<onnx::ModelProto, const char*> rows[] = {
        {model_of({{node("Add", {"x", "k"}, {"y"})}, x, y, {k[0], k[0]}}), "k"},
        {model_of({{relu}, {x[0], x[0]}, y}), "x"},
        {model_of({{relu, node("Neg", {"x"}, {"y"})}, x, y}), "y"},
        {model_of({{node("Relu", {"x"}, {"a"}), node("Neg", {"x"}, {"a"}), node("Abs", {"a"}, {"y"})}, x, y}), "a"},
        {model_of({{node("Add", {"x", "k"}, {"k"}), node("Relu", {"k"}, {"y"})}, x, y, k}), "k"},
        {model_of({{node("Neg", {"x"}, {"x"}), node("Abs", {"x"}, {"y"})}, x, y}), "x"},
    };
    for (const auto& [model, name] : rows) {
        const auto imported = interop::import_model(model, "model.onnx");
        ASSERT_FALSE(imported) << name;
        EXPECT_EQ(imported.error().message, fmt::format("two values are called \"{}\"", name));
    }
}

TEST(ModelImport, SaysThatNodesAreNotInOrder) {
    const auto imported = interop::import_model(
        model_of({{node("Relu", {"a"}, {"y"}), node("Neg", {"x"}, {"a"})}, {{"x", no_data}}, {{"y", {}}}}),
        "model.onnx");
    ASSERT_FALSE(imported);
    EXPECT_THAT(imported.error().message, HasSubstr("no node before it computes its input \"a\""));
}

TEST(ModelImport, RefusesFilesOfVeryManyEmptyMessages) {
    const TemporaryFolder folder;
    // Graph.node, Graph.initializer, Graph.input and Node.input, each of two bytes.
    for (const char* empty : {"\x0a", "\x2a", "\x5a"}) {
        std::string graph;
        for (int i = 0; i < (4 << 20); ++i) {
            graph += empty[0];
            graph += '\0';
        }
        // ModelProto.graph with a length of 8 MiB.
        const auto model = interop::import_model(folder.write("many.onnx", "\x3a\x80\x80\x80\x04" + graph));
        ASSERT_FALSE(model);
        EXPECT_THAT(model.error().message, HasSubstr("would take much more memory than the file has bytes"));
    }
}

}  // namespace
}  // namespace model_import_test
}  // namespace dmlconform::tests
