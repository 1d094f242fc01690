// Tests of reading serialised DirectML graphs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "engine/cases/case_file.h"
#include "engine/cases/corpus.h"
#include "engine/interop/dml_graph/dml_graph_case.h"
#include "engine/interop/dml_graph/dml_graph_reader.h"
#include "engine/interop/dxdispatch_graphs.h"
#include "tests/graph_builder.h"
#include "tests/interop/dml_graph_files.h"
#include "tests/packed_tensors.h"
#include "tests/temporary_folder.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests::dml_graph_test {
namespace {

using interop::read_dml_graph;
using testing::ElementsAre;
using testing::HasSubstr;

core::TensorDesc float32(const core::Dimensions& sizes) {
    return core::TensorDesc::packed(core::DataType::float32, sizes);
}

/// y = relu(x + w) for [1,1,2,3], where w is broadcast along the rows.
operators::Graph sum_and_relu() {
    core::TensorDesc w = float32({1, 1, 2, 3});
    w.strides = core::Dimensions{3, 3, 0, 1};
    w.total_bytes = 12;
    const core::TensorDesc tensor = float32({1, 1, 2, 3});
    return plain_graph({{"sum",
                         describe("ELEMENT_WISE_ADD", {{"ATensor", tensor}, {"BTensor", w}, {"OutputTensor", tensor}}),
                         {"x", "w"},
                         {"t"}},
                        unary("relu", "ACTIVATION_RELU", tensor, "t", "y")},
                       {"y"});
}

std::string message_of(const std::string& content, const TemporaryFolder& folder) {
    const auto graph = read_dml_graph(folder.write("Partition_0.bin", content));
    return graph ? "" : graph.error().message;
}

std::vector<float> input_values(const interop::DmlGraphCase& graph, std::size_t input) {
    core::Tensor tensor(*graph.subject->descriptor->inputs()[input].desc);
    EXPECT_TRUE(graph.subject->inputs[input]->fill(tensor));
    return values_of<float>(tensor);
}

TEST(DmlGraph, EveryOperatorIsReadAsItWasWritten) {
    const TemporaryFolder folder;
    std::vector<std::string> paths;
    for (const auto& family : std::filesystem::directory_iterator(DMLCONFORM_CASES)) {
        if (const auto path = family.path() / "examples.json"; std::filesystem::exists(path)) {
            paths.push_back(path.generic_string());
        }
    }
    const cases::Corpus corpus = cases::load_corpus(paths);
    cases::CorpusReader reader(corpus);
    std::set<std::string> operators;
    for (std::size_t position = 0; position < corpus.positions(); ++position) {
        const auto subject = reader.at(position);
        if (!subject || subject->expect_error || subject->descriptor->graph != nullptr) {
            continue;
        }
        operators.insert(subject->descriptor->schema->name);
        auto plain = std::make_shared<operators::Descriptor>(*subject->descriptor);
        plain->in_place.clear();
        for (operators::FieldValue& value : plain->values) {
            if (auto* tensor = std::get_if<core::TensorDesc>(&value)) {
                tensor->flags = core::TensorFlags::none;
                tensor->base_offset_alignment = 0;
            }
        }
        const auto face = interop::graph_of_one("node", plain);
        const auto read = read_dml_graph(folder.write("Partition_0.bin", dml_graph_file(*face->graph)));
        ASSERT_TRUE(read) << subject->id << ": " << read.error().message;
        EXPECT_EQ(operators::to_lines(*read->graph->nodes.at(0).descriptor), operators::to_lines(*plain))
            << subject->id;
    }
    EXPECT_GE(operators.size(), 85U);
}

TEST(DmlGraph, ConnectsNodesAndReadsConstants) {
    const TemporaryFolder folder;
    // Four bytes more than needed, as ONNX Runtime pads files.
    const float weights[] = {10, 20, 30, 99};
    folder.write("weights.bin", std::string(reinterpret_cast<const char*>(weights), sizeof weights));
    const auto read = interop::read_dml_graph_case(
        folder.write("Partition_0.bin", dml_graph_file(sum_and_relu(), {{"w", {"weights", {}}}})));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->subject->id, "Partition_0/graph");
    EXPECT_THAT(read->inputs, ElementsAre("x", ""));
    EXPECT_THAT(read->outputs, ElementsAre("y"));
    const operators::Graph& graph = *read->subject->descriptor->graph;
    ASSERT_EQ(graph.nodes.size(), 2U);
    EXPECT_EQ(graph.nodes[1].inputs, graph.nodes[0].outputs);
    EXPECT_TRUE(graph.values[graph.inputs[1]].is_constant);
    EXPECT_FALSE(graph.values[graph.inputs[0]].is_constant);
    // The memory of the constant, which its reader sees twice.
    EXPECT_THAT(input_values(*read, 1), ElementsAre(10, 20, 30));
    EXPECT_EQ(input_values(*read, 0).size(), 6U);
}

TEST(DmlGraph, ReadsConstantsInTheGraphsFile) {
    const TemporaryFolder folder;
    StoredConstant constant;
    for (const float value : {1.0F, 2.0F, 3.0F}) {
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
        constant.bytes.insert(constant.bytes.end(), bytes, bytes + 4);
    }
    const auto read = interop::read_dml_graph_case(
        folder.write("Partition_0.bin", dml_graph_file(sum_and_relu(), {{"w", constant}})));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_THAT(input_values(*read, 1), ElementsAre(1, 2, 3));
    constant.bytes.pop_back();
    EXPECT_EQ(message_of(dml_graph_file(sum_and_relu(), {{"w", constant}}), folder),
              "constant \"w\": it has 11 bytes, and its readers need 12");
}

TEST(DmlGraph, TakesInputsFromFiles) {
    const TemporaryFolder folder;
    const std::string file = folder.write("Partition_0.bin", dml_graph_file(sum_and_relu()));
    const auto given = interop::read_dml_graph_case(file, {{{"z", "z.npy"}}, 1});
    ASSERT_FALSE(given);
    EXPECT_EQ(given.error().message, "the graph has no input \"z\"");
    EXPECT_EQ(given.error().hint, "its inputs are: x, w");
    const auto pickle = interop::read_dml_graph_case(file, {{{"x", "x.pkl"}}, 1});
    ASSERT_FALSE(pickle);
    EXPECT_EQ(pickle.error().message, "x.pkl is of no known kind");
}

TEST(DmlGraph, RefusesConstantsOutsideOfTheFolder) {
    const TemporaryFolder folder;
    folder.write("w.bin", std::string(12, '\0'));
    std::filesystem::create_directory(folder.path() / "inner");
    const auto refused = [&](const std::string& constant) {
        const auto graph = read_dml_graph(
            folder.write("inner/Partition_0.bin", dml_graph_file(sum_and_relu(), {{"w", {constant, {}}}})));
        return graph ? "" : graph.error().message;
    };
    EXPECT_THAT(refused("../w"), HasSubstr("is not a file of the model's folder"));
    EXPECT_THAT(refused(folder.at("w")), HasSubstr("is not a file of the model's folder"));
    std::filesystem::create_symlink("../w.bin", folder.path() / "inner" / "link.bin");
    EXPECT_THAT(refused("link"), HasSubstr("is behind a link"));
    EXPECT_THAT(refused("missing"), HasSubstr("\"missing.bin\": "));
    folder.write("inner/short.bin", std::string(11, '\0'));
    EXPECT_EQ(refused("short"), "constant \"w\": \"short.bin\" has 11 bytes, and its readers need 12");
}

TEST(DmlGraph, SaysWhatIsWrongWithAnOperator) {
    const TemporaryFolder folder;
    const auto refused = [&](const DmlGraphFaults& faults) {
        return message_of(dml_graph_file(sum_and_relu(), {}, faults), folder);
    };
    EXPECT_EQ(refused({.too_few_tensors = true}),
              "node 0, \"sum\": BTensor: it has 1 tensors, fewer than names of them");
    EXPECT_EQ(refused({.operator_type = "DML_OPERATOR_ELEMENT_WISE_AD"}),
              "node 0, \"sum\": the catalogue has no operator \"DML_OPERATOR_ELEMENT_WISE_AD\"");
    EXPECT_EQ(refused({.more_sizes = 5}), "node 0, \"sum\": ATensor: a tensor has 9 sizes");
    EXPECT_THAT(refused({.copies_of_a_node = 2}), HasSubstr("node 2, \"sum\": \"t\" is computed twice"));
    const auto elu = plain_graph(
        {{"elu",
          describe("ACTIVATION_ELU", {{"InputTensor", float32({4})}, {"OutputTensor", float32({4})}, {"Alpha", 0.5F}}),
          {"x"},
          {"y"}}},
        {"y"});
    EXPECT_EQ(message_of(dml_graph_file(elu, {}, {.attribute_name = "Beta"}), folder),
              "node 0, \"elu\": attribute 1 is \"Beta\", not Alpha");
    EXPECT_EQ(message_of(dml_graph_file(elu, {}, {.too_few_attributes = true}), folder),
              "node 0, \"elu\": it has 0 attributes: Alpha is missing");
}

TEST(DmlGraph, RefusesIllegalGraphs) {
    const TemporaryFolder folder;
    operators::Graph graph = sum_and_relu();
    graph.values[*graph.find_value("t")].name = "u";
    EXPECT_TRUE(read_dml_graph(folder.write("Partition_0.bin", dml_graph_file(graph))));
    // The second node reads a value that nothing computes.
    graph.values.push_back(graph.values[*graph.find_value("u")]);
    graph.values.back().name = "v";
    graph.nodes[1].inputs[0] = graph.values.size() - 1;
    EXPECT_EQ(message_of(dml_graph_file(graph), folder),
              "node \"relu\": InputTensor: no node computes \"v\", and it is not an input of the graph");
    graph = sum_and_relu();
    graph.outputs[0] = graph.inputs[0];
    EXPECT_EQ(message_of(dml_graph_file(graph), folder), "no node computes output \"x\" of the graph");
}

TEST(DmlGraph, RefusesWhatIsNotAGraph) {
    const TemporaryFolder folder;
    const std::string whole = dml_graph_file(sum_and_relu());
    for (const std::string& content : {std::string("x"), std::string(64, '\xff'), whole.substr(0, whole.size() / 2)}) {
        EXPECT_EQ(message_of(content, folder), "this is not a serialised DirectML graph, or it is damaged");
    }
    EXPECT_EQ(message_of("", folder), "the file is empty");
    // Changes of single bytes are refused, or leave another legal graph.
    for (std::size_t i = 0; i < whole.size(); ++i) {
        std::string changed = whole;
        changed[i] = static_cast<char>(changed[i] ^ 0x40);
        (void)message_of(changed, folder);
    }
}

TEST(DmlGraph, RefusesATableThatIsReferredToVeryOften) {
    const TemporaryFolder folder;
    EXPECT_EQ(message_of(dml_graph_file(sum_and_relu(), {}, {.copies_of_a_node = 200'000}), folder),
              "this is not a serialised DirectML graph, or it is damaged");
}

}  // namespace
}  // namespace dmlconform::tests::dml_graph_test
