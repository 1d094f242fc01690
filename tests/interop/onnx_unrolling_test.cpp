// Tests of control flow and sequences in ONNX's node tests. Expected values are computed by hand.
#include "tests/interop/onnx_models.h"

namespace dmlconform::tests::onnx_unrolling_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const onnx::TensorProto truth = tensor<std::uint8_t>(9, {}, {1});
const onnx::TensorProto lie = tensor<std::uint8_t>(9, {}, {0});

onnx::AttributeProto body(const std::string& name, const std::vector<std::string>& inputs,
                          const std::vector<onnx::NodeProto>& nodes, const std::vector<std::string>& outputs) {
    onnx::AttributeProto attribute;
    attribute.name.set(name);
    onnx::GraphProto& graph = attribute.g.edit();
    for (const std::string& input : inputs) {
        graph.input.add().name.set(input);
    }
    graph.node.edit().assign(nodes.begin(), nodes.end());
    for (const std::string& output : outputs) {
        graph.output.add().name.set(output);
    }
    return attribute;
}

/// A loop that adds x to what it carries, and collects the sums.
ModelTest adding_loop(const onnx::NodeProto& condition, const std::string& trips, const onnx::TensorProto& begins) {
    return {
        {node("Loop", {trips, "begins", "start"}, {"sum", "sums"},
              {body("body", {"i", "c", "s"},
                    {node("Add", {"s", "x"}, {"t"}), condition, node("Identity", {"t"}, {"u"})}, {"d", "t", "u"})})},
        {{"trips", longs({}, {3})},
         {"begins", begins},
         {"start", floats({1}, {1})},
         {"x", floats({1}, {2})},
         {"limit", floats({1}, {6})}},
        {{"sum", floats({1}, {7})}, {"sums", floats({3, 1}, {3, 5, 7})}}};
}

TEST(OnnxUnrolling, ALoopRunsSoOftenAsItsTripCountSays) {
    const auto names = passing_steps(adding_loop(node("Identity", {"c"}, {"d"}), "trips", truth));
    EXPECT_EQ(std::ranges::count_if(names, [](const auto& name) { return name.ends_with("-Add"); }), 3);
}

TEST(OnnxUnrolling, ALoopEndsWithItsCondition) {
    const auto names = passing_steps(adding_loop(node("Less", {"t", "limit"}, {"d"}), "", truth));
    EXPECT_EQ(std::ranges::count_if(names, [](const auto& name) { return name.ends_with("-Less"); }), 3);
    EXPECT_THAT(reason_of_model(adding_loop(node("Identity", {"c"}, {"d"}), "trips", lie)),
                HasSubstr("a result of 0 steps"));
}

TEST(OnnxUnrolling, RefusesLoopsWithoutEndAndUnknownConditions) {
    EXPECT_THAT(reason_of_model(adding_loop(node("Identity", {"c"}, {"d"}), "", truth)),
                HasSubstr("runs more than 4096 nodes"));
    EXPECT_THAT(reason_of_model(adding_loop(node("Nothing", {"t"}, {"d"}), "trips", truth)), HasSubstr("is not known"));
    ModelTest other = adding_loop(node("Identity", {"c"}, {"d"}), "trips", truth);
    other.nodes[0].attribute.edit(0).g.edit().input.add().name.set("more");
    EXPECT_THAT(reason_of_model(other), HasSubstr("another number of inputs"));
}

TEST(OnnxUnrolling, RefusesBodiesThatAreNestedTooDeep) {
    onnx::NodeProto inner = node("Identity", {"x"}, {"y"});
    for (int level = 0; level < 20; ++level) {
        inner = node("If", {"c"}, {"y"}, {body("then_branch", {}, {inner}, {"y"})});
    }
    EXPECT_THAT(reason_of_model({{inner}, {{"c", truth}, {"x", floats({1}, {1})}}, {{"y", floats({1}, {1})}}}),
                HasSubstr("nested in more than"));
}

TEST(OnnxUnrolling, AnIfBecomesItsBranch) {
    const auto made = [](const onnx::TensorProto& condition, float expected) {
        return ModelTest{{node("If", {"c"}, {"y"},
                               {body("then_branch", {}, {node("Neg", {"x"}, {"a"})}, {"a"}),
                                body("else_branch", {}, {node("Exp", {"x"}, {"b"})}, {"b"})}),
                          node("Abs", {"y"}, {"z"})},
                         {{"c", condition}, {"x", floats({1}, {0})}},
                         {{"z", floats({1}, {expected})}}};
    };
    EXPECT_THAT(passing_steps(made(truth, 0)), ElementsAre("test_it/1-Neg", "test_it/2-Abs"));
    EXPECT_THAT(passing_steps(made(lie, 1)), ElementsAre("test_it/1-Exp", "test_it/2-Abs"));
}

TEST(OnnxUnrolling, AScanTakesOneStepForEachEntry) {
    const auto sums =
        body("body", {"s", "e"}, {node("Add", {"s", "e"}, {"t"}), node("Identity", {"t"}, {"u"})}, {"t", "u"});
    const onnx::TensorProto x = floats({3, 1}, {1, 2, 3});
    const auto made = [&](const std::vector<onnx::AttributeProto>& more, const std::vector<float>& steps) {
        std::vector<onnx::AttributeProto> attributes = more;
        attributes.push_back(sums);
        attributes.push_back(integer("num_scan_inputs", 1));
        return ModelTest{{node("Scan", {"start", "x"}, {"y", "z"}, attributes)},
                         {{"start", floats({1}, {0})}, {"x", x}},
                         {{"y", floats({1}, {6})}, {"z", floats({3, 1}, steps)}}};
    };
    EXPECT_FALSE(passing_steps(made({}, {1, 3, 6})).empty());
    EXPECT_FALSE(passing_steps(made({integers("scan_input_directions", {1})}, {3, 5, 6})).empty());
    EXPECT_FALSE(passing_steps(made({integers("scan_output_directions", {1})}, {6, 3, 1})).empty());
    // Opset 8: two batches, each of three entries.
    EXPECT_FALSE(passing_steps({{node("Scan", {"", "start", "x"}, {"y", "z"}, {sums, integer("num_scan_inputs", 1)})},
                                {{"start", floats({2, 1}, {0, 10})}, {"x", floats({2, 3, 1}, {1, 2, 3, 4, 5, 6})}},
                                {{"y", floats({2, 1}, {6, 25})}, {"z", floats({2, 3, 1}, {1, 3, 6, 14, 19, 25})}},
                                {},
                                8})
                     .empty());
}

TEST(OnnxUnrolling, SequencesAreFollowedTensorByTensor) {
    const NamedTensors inputs{{"a", floats({1}, {1})},
                              {"b", floats({1}, {2})},
                              {"c", floats({1}, {3})},
                              {"first", longs({}, {0})},
                              {"last", longs({}, {-1})}};
    // c, a, b: then c, a: then the last of these, their number, and both of them joined.
    const std::vector<onnx::NodeProto> nodes{
        node("SequenceConstruct", {"a", "b"}, {"s"}), node("SequenceInsert", {"s", "c", "first"}, {"t"}),
        node("SequenceErase", {"t"}, {"u"}),          node("SequenceAt", {"u", "last"}, {"y"}),
        node("SequenceLength", {"u"}, {"n"}),         node("ConcatFromSequence", {"u"}, {"j"}, {integer("axis", 0)})};
    EXPECT_FALSE(passing_steps({nodes, inputs, {{"y", floats({1}, {1})}, {"j", floats({2}, {3, 1})}}}).empty());
    EXPECT_FALSE(passing_steps({nodes, inputs, {{"n", longs({}, {2})}}}).empty());
    EXPECT_THAT(reason_of_model({{nodes[0], node("SequenceAt", {"s", "first"}, {"q"}), node("Neg", {"s"}, {"y"})},
                                 inputs,
                                 {{"y", floats({1}, {1})}}}),
                HasSubstr("Neg of a sequence"));
    EXPECT_THAT(reason_of_model({{nodes[0], node("SequenceAt", {"s", "at"}, {"y"})},
                                 {{"a", floats({1}, {1})}, {"b", floats({1}, {2})}, {"at", longs({}, {2})}},
                                 {{"y", floats({1}, {1})}}}),
                HasSubstr("a sequence of 2 tensors has no position 2"));
}

TEST(OnnxUnrolling, OptionalValuesAreWhatTheyHold) {
    EXPECT_FALSE(passing_steps({{node("Optional", {"x"}, {"o"}), node("OptionalGetElement", {"o"}, {"e"}),
                                 node("Neg", {"e"}, {"y"}), node("OptionalHasElement", {"o"}, {"h"})},
                                {{"x", floats({1}, {2})}},
                                {{"y", floats({1}, {-2})}, {"h", truth}}})
                     .empty());
    EXPECT_THAT(
        reason_of_model(
            {{node("Optional", {}, {"o"}), node("OptionalGetElement", {"o"}, {"y"})}, {}, {{"y", floats({1}, {-2})}}}),
        HasSubstr("the optional value is empty"));
}

/// A model that maps x + 10 over a sequence of two tensors, and expects these results.
core::Result<interop::Imported> mapped_sequence(const std::vector<onnx::TensorProto>& expected) {
    const TemporaryFolder folder;
    onnx::ModelProto model;
    model.opset_import.add().version.set(17);
    onnx::GraphProto& graph = model.graph.edit();
    graph.node.add(
        node("SequenceMap", {"s", "ten"}, {"y"}, {body("body", {"e", "t"}, {node("Add", {"e", "t"}, {"r"})}, {"r"})}));
    onnx::ValueInfoProto& input = graph.input.add();
    input.name.set("s");
    input.type.edit().sequence_type.edit();
    graph.input.add().name.set("ten");
    onnx::ValueInfoProto& output = graph.output.add();
    output.name.set("y");
    output.type.edit().sequence_type.edit();
    onnx::SequenceProto data;
    data.tensor_values.add(floats({2}, {1, 2}));
    data.tensor_values.add(floats({1}, {3}));
    onnx::SequenceProto results;
    results.tensor_values.edit() = expected;
    folder.write("test_it/model.onnx", onnx::message_bytes(model));
    folder.write("test_it/test_data_set_0/input_0.pb", onnx::message_bytes(data));
    folder.write("test_it/test_data_set_0/input_1.pb", onnx::message_bytes(floats({1}, {10})));
    folder.write("test_it/test_data_set_0/output_0.pb", onnx::message_bytes(results));
    return interop::read_onnx_node_tests(folder.at("test_it"));
}

TEST(OnnxUnrolling, ASequenceIsMappedTensorByTensor) {
    const auto made = mapped_sequence({floats({2}, {11, 12}), floats({1}, {13})});
    ASSERT_TRUE(made);
    EXPECT_THAT(made->left_out, testing::IsEmpty());
    const auto suite = cases::read_case_file("onnx.json", cases::case_file_text("", made->cases));
    for (const cases::Case& subject : suite.cases) {
        cpu::CpuEngine engine(core::highest_feature_level);
        const auto status = run::run_case(subject, engine).status;
        EXPECT_EQ(status, subject.needs_reference() ? run::Status::reference : run::Status::pass) << subject.id;
    }
    const auto shorter = mapped_sequence({floats({2}, {11, 12})});
    ASSERT_TRUE(shorter);
    EXPECT_THAT(shorter->left_out, ElementsAre(HasSubstr("\"y\" has 2 tensors, the data set 1")));
}

}  // namespace
}  // namespace dmlconform::tests::onnx_unrolling_test
