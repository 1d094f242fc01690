// Tests of dispatchables that are graphs, and of buffers that are images.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cases/case_file.h"
#include "engine/cases/case_writer.h"
#include "engine/interop/dxdispatch_reader.h"
#include "engine/interop/image_file.h"
#include "engine/operators/graph.h"
#include "tests/graph_builder.h"
#include "tests/packed_tensors.h"
#include "tests/temporary_folder.h"
#include "tests/tensor_values.h"
#if DMLCONFORM_HAS_DML_GRAPH
#include "tests/interop/dml_graph_files.h"
#endif
#include "tests/interop/model_imports.h"
#if DMLCONFORM_HAS_IMAGES
#include <png.h>
#include <turbojpeg.h>
#endif

namespace dmlconform::tests::dxdispatch_graphs_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A model that dispatches `dispatchable`, called "it", with these bindings. "numbers" has 1, 2, 3, …
std::string model(const std::string& dispatchable, const std::string& bindings) {
    return fmt::format(R"({{
    "resources": {{
        "numbers": {{ "initialValuesDataType": "FLOAT32",
                      "initialValues": {{ "valueCount": 12, "valueStart": 1, "valueDelta": 1 }} }},
        "out": {{ "initialValuesDataType": "FLOAT32", "initialValues": {{ "valueCount": 12, "value": 0 }} }}
    }},
    "dispatchables": {{ "it": {} }},
    "commands": [ {{ "type": "dispatch", "dispatchable": "it", "bindings": {} }} ]
}})",
                       dispatchable, bindings);
}

struct Read {
    cases::Suite suite;
    std::vector<std::string> left_out;
};

Read read(const TemporaryFolder& folder, const std::string& text) {
    const auto imported = interop::read_dxdispatch(folder.at("m.json"), text);
    EXPECT_TRUE(imported) << imported.error().message;
    return {cases::read_case_file(folder.at("cases.json"), cases::case_file_text("", imported->cases)),
            imported->left_out};
}

std::vector<float> input_of(const cases::Case& subject, std::size_t input) {
    core::Tensor tensor(*subject.descriptor->inputs().at(input).desc);
    EXPECT_TRUE(subject.inputs.at(input)->fill(tensor));
    return values_of<float>(tensor);
}

TEST(DxDispatchGraphs, AnOperatorCompiledAsAGraphIsAGraph) {
    const TemporaryFolder folder;
    const auto [suite, left_out] = read(folder, model(R"({ "type": "DML_OPERATOR_ELEMENT_WISE_ADD", "desc": {
        "ATensor": { "DataType": "FLOAT32", "Sizes": [3], "Flags": "OWNED_BY_DML" },
        "BTensor": { "DataType": "FLOAT32", "Sizes": [3] },
        "OutputTensor": { "DataType": "FLOAT32", "Sizes": [3] } },
        "dmlCompileType": "DmlCompileGraph", "bindings": { "ATensor": "numbers" } })",
                                                      R"({ "BTensor": "numbers", "OutputTensor": "out" })"));
    EXPECT_THAT(left_out, IsEmpty());
    ASSERT_EQ(suite.cases.size(), 1U);
    const auto& graph = suite.cases[0].descriptor->graph;
    ASSERT_NE(graph, nullptr);
    ASSERT_EQ(graph->nodes.size(), 1U);
    EXPECT_EQ(graph->nodes[0].name, "it");
    EXPECT_TRUE(graph->values[graph->inputs[0]].is_constant);
    EXPECT_FALSE(graph->values[graph->inputs[1]].is_constant);
    EXPECT_THAT(input_of(suite.cases[0], 1), ElementsAre(1, 2, 3));
}

#if DMLCONFORM_HAS_DML_GRAPH

TEST(DxDispatchGraphs, ASerialisedGraphTakesItsInputsFromBuffers) {
    const TemporaryFolder folder;
    const core::TensorDesc tensor = core::TensorDesc::packed(core::DataType::float32, {1, 4});
    // Names that case files do not allow.
    const auto graph = plain_graph(
        {{"the sum",
          describe("ELEMENT_WISE_ADD", {{"ATensor", tensor}, {"BTensor", tensor}, {"OutputTensor", tensor}}),
          {"in put", "weights"},
          {"t"}},
         unary("relu", "ACTIVATION_RELU", tensor, "t", "result")},
        {"result"});
    StoredConstant constant;
    constant.bytes.assign(16, 0);
    folder.write("Partition_0.bin", dml_graph_file(graph, {{"weights", constant}}));
    const std::string dispatchable = R"({ "type": "dmlSerializedGraph", "sourcePath": "Partition_0.bin" })";
    const auto [suite, left_out] = read(
        folder, model(dispatchable, R"({ "in put": { "name": "numbers", "elementOffset": 2 }, "result": "out" })"));
    EXPECT_THAT(left_out, IsEmpty());
    EXPECT_THAT(suite.problems, IsEmpty());
    ASSERT_EQ(suite.cases.size(), 1U);
    EXPECT_EQ(suite.cases[0].descriptor->graph->nodes.at(0).name, "the-sum");
    EXPECT_THAT(input_of(suite.cases[0], 0), ElementsAre(3, 4, 5, 6));
    EXPECT_THAT(input_of(suite.cases[0], 1), ElementsAre(0, 0, 0, 0));

    const auto unbound = read(folder, model(dispatchable, R"({ "result": "out" })"));
    EXPECT_THAT(unbound.left_out, ElementsAre(HasSubstr("it: nothing is bound to in put")));
    const auto outside =
        read(folder, model(R"({ "type": "dmlSerializedGraph", "sourcePath": "../Partition_0.bin" })", "{}"));
    EXPECT_THAT(outside.left_out, ElementsAre(HasSubstr("is not a file of the model's folder")));
}

#endif

TEST(DxDispatchGraphs, AnOnnxModelHasTheSizesOfItsBindings) {
    const TemporaryFolder folder;
    onnx::TensorProto typed;
    typed.data_type.set(1);
    typed.dims.add(1);
    typed.dims.add(2);
    onnx::ModelProto proto = model_of({{node("Neg", {"x"}, {"y"})}, {{"x", typed}}, {{"y", typed}}});
    onnx::DimensionProto& rows =
        proto.graph.edit().input.edit(0).type.edit().tensor_type.edit().shape.edit().dim.edit(0);
    rows.dim_value.clear();
    rows.dim_param.set("N");
    folder.write("neg.onnx", onnx::message_bytes(proto));
    const auto sizes = [&](const std::string& more, const std::string& bindings) {
        const auto [suite, left_out] =
            read(folder, model(fmt::format(R"({{ "type": "onnx", "sourcePath": "neg.onnx"{} }})", more), bindings));
        EXPECT_EQ(suite.cases.size(), 1U);
        return suite.cases.at(0).descriptor->inputs()[0].desc->sizes;
    };
    EXPECT_THAT(sizes("", R"({ "x": { "name": "numbers", "shape": [3, 2] } })"), ElementsAre(3, 2));
    EXPECT_THAT(sizes(R"(, "freeDimensionNameOverrides": { "N": 5 })", R"({ "x": "numbers" })"), ElementsAre(5, 2));
    EXPECT_THAT(sizes("", "{}"), ElementsAre(1, 2));
    const auto bad = read(folder, model(R"({ "type": "onnx", "sourcePath": "neg.onnx" })",
                                        R"({ "x": { "name": "numbers", "shape": [0, 2] } })"));
    EXPECT_THAT(bad.left_out, ElementsAre(HasSubstr("\"shape\" has a size that is not a number of at least 1")));
}

TEST(Images, AreScaledByATriangle) {
    const interop::Image image{2, 1, 3, {255, 0, 51, 0, 255, 102}};
    const auto same = interop::resampled_planes(image, 2, 1);
    EXPECT_THAT(same, ElementsAre(1, 0, 0, 1, 0.2F, 0.4F));
    const auto wide = interop::resampled_planes(image, 4, 1);
    EXPECT_THAT(std::vector<float>(wide.begin(), wide.begin() + 4), ElementsAre(1, 0.75F, 0.25F, 0));
    // The mean of all pixels: the triangle is as wide as two pixels of the smaller image.
    const auto one = interop::resampled_planes(image, 1, 1);
    EXPECT_THAT(std::vector<float>(one.begin(), one.begin() + 2), ElementsAre(0.5F, 0.5F));
}

#if DMLCONFORM_HAS_IMAGES

/// A resource of an image, from 0 to 1.
std::vector<float> pixels(const TemporaryFolder& folder, const std::string& file, const std::string& more,
                          std::string& problem) {
    const std::string text = fmt::format(R"({{
    "resources": {{ "image": {{ "initialValues": {{ "sourcePath": "{}" }}, "initialValuesDataType": "FLOAT32"{} }},
                    "out": {{ "initialValuesDataType": "FLOAT32",
                              "initialValues": {{ "valueCount": 3, "value": 0 }} }} }},
    "dispatchables": {{ "it": {{ "type": "ELEMENT_WISE_IDENTITY", "desc": {{
        "InputTensor": {{ "DataType": "FLOAT32", "Sizes": [3] }},
        "OutputTensor": {{ "DataType": "FLOAT32", "Sizes": [3] }}
    }} }} }},
    "commands": [ {{ "type": "dispatch", "dispatchable": "it",
                     "bindings": {{ "InputTensor": "image", "OutputTensor": "out" }} }} ]
}})",
                                         file, more);
    const auto [suite, left_out] = read(folder, text);
    problem = left_out.empty() ? "" : left_out.front();
    return suite.cases.empty() ? std::vector<float>() : input_of(suite.cases[0], 0);
}

TEST(Images, InitialiseBuffers) {
    const TemporaryFolder folder;
    const std::uint8_t colour[] = {255, 51, 0};
    png_image png{};
    png.version = PNG_IMAGE_VERSION;
    png.width = 1;
    png.height = 1;
    png.format = PNG_FORMAT_RGB;
    ASSERT_NE(png_image_write_to_file(&png, folder.at("a.png").c_str(), 0, colour, 0, nullptr), 0);
    std::string problem;
    const std::string one_pixel = R"(, "resampleSize": [1, 3, 1, 1])";
    EXPECT_THAT(pixels(folder, "a.png", one_pixel, problem), ElementsAre(1, 0.2F, 0)) << problem;
    EXPECT_THAT(pixels(folder, "a.png", "", problem), IsEmpty());
    EXPECT_THAT(problem, HasSubstr("an image needs a \"resampleSize\""));
    EXPECT_THAT(pixels(folder, "a.png", R"(, "resampleSize": [1, 3, 1, 100000000000])", problem), IsEmpty());
    EXPECT_THAT(problem, HasSubstr("make no buffer"));

    const std::vector<std::uint8_t> grey(16 * 16 * 3, 204);
    unsigned char* bytes = nullptr;
    unsigned long size = 0;
    tjhandle encoder = tjInitCompress();
    ASSERT_EQ(tjCompress2(encoder, grey.data(), 16, 0, 16, TJPF_RGB, &bytes, &size, TJSAMP_444, 95, 0), 0);
    folder.write("a.jpg", std::string(reinterpret_cast<const char*>(bytes), size));
    folder.write("b.jpg", std::string(reinterpret_cast<const char*>(bytes), 40));
    tjFree(bytes);
    tjDestroy(encoder);
    const auto values = pixels(folder, "a.jpg", one_pixel, problem);
    ASSERT_EQ(values.size(), 3U) << problem;
    // JPEG may change a value by one step or two.
    EXPECT_NEAR(values[0], 0.8, 2.0 / 255);
    EXPECT_THAT(pixels(folder, "b.jpg", one_pixel, problem), IsEmpty());
    EXPECT_THAT(problem, HasSubstr("JPEG"));
    folder.write("c.png", "\x89PNG\r\n");
    EXPECT_THAT(pixels(folder, "c.png", one_pixel, problem), IsEmpty());
    EXPECT_THAT(problem, HasSubstr("it is not a PNG image"));
}

#endif

}  // namespace
}  // namespace dmlconform::tests::dxdispatch_graphs_test
