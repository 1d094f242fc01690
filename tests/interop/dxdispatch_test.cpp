// Tests of importing models in DxDispatch's format as cases, and of exporting cases.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "engine/cases/case_file.h"
#include "engine/cases/case_writer.h"
#include "engine/cases/npy_writer.h"
#include "engine/interop/dxdispatch_reader.h"
#include "engine/interop/dxdispatch_writer.h"
#include "tests/temporary_folder.h"
#include "tests/tensor_values.h"
#include "tests/without_reference.h"

namespace dmlconform::tests::dxdispatch_test {
namespace {

using interop::read_dxdispatch;
using testing::ElementsAre;
using testing::HasSubstr;

const char* const window = R"(
    "desc": {
        "InputTensor": { "DataType": "FLOAT32", "Sizes": [1, 4], },
        "OutputTensor": { "Type": "BUFFER", "Desc": { "DataType": "DML_TENSOR_DATA_TYPE_FLOAT32", "Sizes": [1, 2] } },
        "DimensionCount": 2,
        "InputWindowOffsets": [0, 0], "InputWindowSizes": [1, 4], "InputWindowStrides": [1, -2], // backwards
    },)";

/// A model that dispatches "window" with InputTensor bound to "in".
std::string model(const std::string& in, const std::string& more_dispatchables = "",
                  const std::string& more_commands = "", const std::string& binding = "\"in\"") {
    return fmt::format(R"(// a model
{{
    "resources": {{
        "in": {},
        "out": {{ "initialValuesDataType": "FLOAT32", "initialValues": {{ "valueCount": 2, "value": 0 }}, }},
    }},
    "dispatchables": {{
        "window": {{ "type": "DML_OPERATOR_SLICE1", {} "executionFlags": ["NONE",] }},
        {}
    }},
    "commands": [
        {{ "type": "dispatch", "dispatchable": "window", "bindings": {{ "InputTensor": {}, "OutputTensor": "out" }} }},
        {{ "type": "print", "resource": "out" }}, /* that is all */
        {}
    ],
}}
)",
                       in, window, more_dispatchables, binding, more_commands);
}

cases::Suite suite_of(const interop::Imported& imported) {
    return cases::read_case_file("m.json", cases::case_file_text("", imported.cases));
}

std::vector<float> input_of(const std::string& text, const std::string& file = "m.json") {
    const auto imported = read_dxdispatch(file, text);
    EXPECT_TRUE(imported.has_value()) << imported.error().message;
    EXPECT_THAT(imported->left_out, ElementsAre());
    const cases::Suite suite = suite_of(*imported);
    EXPECT_EQ(suite.cases.size(), 1u);
    core::Tensor tensor(*suite.cases.at(0).descriptor->inputs()[0].desc);
    EXPECT_TRUE(suite.cases[0].inputs[0]->fill(tensor));
    return values_of<float>(tensor);
}

TEST(DxDispatchImport, EveryKindOfBuffer) {
    const std::string type = R"("initialValuesDataType": "FLOAT32", )";
    EXPECT_THAT(input_of(model("{" + type + R"("initialValues": [1, 2.5, "inf", -4,] })")),
                ElementsAre(1, 2.5F, std::numeric_limits<float>::infinity(), -4));
    EXPECT_THAT(input_of(model("{" + type + R"("initialValues": { "valueCount": 4, "value": 3 } })")),
                ElementsAre(3, 3, 3, 3));
    EXPECT_THAT(
        input_of(model("{" + type + R"("initialValues": { "valueCount": 5, "valueStart": 1, "valueDelta": 0.5 } })")),
        ElementsAre(1, 1.5F, 2, 2.5F));
    // The end is padded with zeros.
    EXPECT_THAT(input_of(model("{" + type + R"("initialValues": [7], "sizeInBytes": 16 })")), ElementsAre(7, 0, 0, 0));
    // A buffer initialised with one type may be used as another.
    EXPECT_THAT(
        input_of(model(
            R"({ "initialValuesDataType": "DML_TENSOR_DATA_TYPE_UINT32", "initialValues": [1065353216, 0, 0, 1073741824] })")),
        ElementsAre(1, 0, 0, 2));
    EXPECT_THAT(input_of(model(R"({ "initialValuesDataType": "UNKNOWN", "initialValues": [
        { "name": "a", "type": "FLOAT32", "value": 5 }, { "type": "UINT32", "value": 0 },
        { "type": "FLOAT32", "value": 6 }, { "type": "FLOAT32", "value": 7 } ] })")),
                ElementsAre(5, 0, 6, 7));
    // Views of a larger buffer.
    EXPECT_THAT(input_of(model("{" + type + R"("initialValues": [0, 0, 1, 2, 3, 4] })", "", "",
                               R"({ "name": "in", "elementOffset": 2, "elementSizeInBytes": 4, "elementCount": 4 })")),
                ElementsAre(1, 2, 3, 4));
    // If the binding has no element size, an offset counts elements of the initial values.
    EXPECT_THAT(input_of(model("{" + type + R"("initialValues": [0, 0, 1, 2, 3, 4] })", "", "",
                               R"({ "name": "in", "elementOffset": 2 })")),
                ElementsAre(1, 2, 3, 4));
    // Initial values with an offset are preceded by zeros.
    EXPECT_THAT(input_of(model("{" + type +
                               R"("initialValues": [7, 8], "initialValuesOffsetInBytes": 4, "sizeInBytes": 16 })")),
                ElementsAre(0, 7, 8, 0));
}

TEST(DxDispatchImport, BuffersFromFiles) {
    const TemporaryFolder folder;
    folder.write("x.npy", cases::npy_file(tensor_of<float>(core::TensorDesc::packed(core::DataType::float32, {2, 2}),
                                                           {1, 2, 3, 4})));
    folder.write("x.dat", std::string("\0\0\x80\x3f\0\0\0\x40\0\0\0\0\0\0\0\0", 16));
    EXPECT_THAT(input_of(model(R"({ "initialValues": { "sourcePath": "x.npy" } })"), folder.at("m.json")),
                ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(input_of(model(R"({ "initialValuesDataType": "FLOAT32", "initialValues": { "sourcePath": "x.dat" } })"),
                         folder.at("m.json")),
                ElementsAre(1, 2, 0, 0));
    const auto other =
        read_dxdispatch(folder.at("m.json"),
                        model(R"({ "initialValuesDataType": "INT32", "initialValues": { "sourcePath": "x.npy" } })"));
    ASSERT_TRUE(other.has_value());
    EXPECT_THAT(other->left_out, ElementsAre(HasSubstr("\"initialValuesDataType\" is INT32; the file has FLOAT32")));
    folder.write("sub/inner.json", "");
    const auto outside =
        read_dxdispatch(folder.at("sub/m.json"), model(R"({ "initialValues": { "sourcePath": "../x.npy" } })"));
    ASSERT_TRUE(outside.has_value());
    EXPECT_THAT(outside->left_out, ElementsAre(HasSubstr("leads out of")));
}

TEST(DxDispatchImport, WhatHasNoCounterpartIsNamedWithTheReason) {
    const WithoutReference resampling("RESAMPLE");
    const std::string good = R"({ "initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 4] })";
    const auto imported = read_dxdispatch("m.json", model(good,
                                                          fmt::format(R"(
        "shader": {{ "type": "hlsl", "sourcePath": "x.hlsl" }},
        "resample": {{ "type": "RESAMPLE", "desc": {{ "InputTensor": {{ "DataType": "FLOAT32", "Sizes": [1,1,1,2] }},
            "OutputTensor": {{ "DataType": "FLOAT32", "Sizes": [1,1,1,2] }}, "InterpolationMode": "NEAREST_NEIGHBOR",
            "Scales": [1, 1, 1, 1] }} }},
        "chained": {{ "type": "SLICE1", {0} }}, "unused": {{ "type": "SLICE1", {0} }},
        "odd": {{ "type": "DML_OPERATOR_SLICE9", "desc": {{}} }},
        "bad": {{ "type": "SLICE1", "desc": {{ "InputTensor": 1 }} }},)",
                                                                      window),
                                                          R"(
        { "type": "dispatch", "dispatchable": "shader", "bindings": {} },
        { "type": "dispatch", "dispatchable": "resample", "bindings": { "InputTensor": "in", "OutputTensor": "out" } },
        { "type": "dispatch", "dispatchable": "chained", "bindings": { "InputTensor": "out", "OutputTensor": "in" } },
        { "type": "dispatch", "dispatchable": "odd", "bindings": {} },
        { "type": "dispatch", "dispatchable": "bad", "bindings": {} },
        { "type": "dispatch", "dispatchable": "none", "bindings": {} },
        { "type": "dance" },)"));
    ASSERT_TRUE(imported.has_value()) << imported.error().message;
    EXPECT_EQ(imported->cases.size(), 2u) << "of operators without a reference too";
    EXPECT_THAT(imported->left_out,
                ElementsAre(HasSubstr("shader: it is a shader in HLSL"),
                            HasSubstr("chained: InputTensor is \"out\", which an earlier command writes"),
                            HasSubstr("odd: the catalogue has no operator"), HasSubstr("bad: SLICE1 is missing"),
                            HasSubstr("command 7: there is no dispatchable \"none\""), HasSubstr("\"dance\""),
                            HasSubstr("unused: no command dispatches it")));
}

/// ADD with ATensor owned by DirectML and bound at initialisation, after a command that overwrites A.
std::string model_with_owned(const std::string& at_initialization, const std::string& at_execution) {
    return fmt::format(R"({{
"resources": {{
    "A": {{ "initialValuesDataType": "FLOAT32", "initialValues": [0, 1, 2, 3] }},
    "B": {{ "initialValuesDataType": "FLOAT32", "initialValues": [5, 8, -5] }},
    "Out": {{ "initialValuesDataType": "FLOAT32", "initialValues": {{ "valueCount": 3, "value": 0 }} }}
}},
"dispatchables": {{
    "add": {{ "type": "DML_OPERATOR_ELEMENT_WISE_ADD",
        "desc": {{
            "ATensor": {{ "DataType": "FLOAT32", "Sizes": [3], "Flags": "OWNED_BY_DML" }},
            "BTensor": {{ "DataType": "FLOAT32", "Sizes": [3] }},
            "OutputTensor": {{ "DataType": "FLOAT32", "Sizes": [3] }}
        }},
        "bindings": {{ {} }}, "dmlCompileType": "DmlCompileGraph"
    }},
    "relu": {{ "type": "ACTIVATION_RELU", "desc": {{
        "InputTensor": {{ "DataType": "FLOAT32", "Sizes": [3] }}, "OutputTensor": {{ "DataType": "FLOAT32", "Sizes": [3] }} }} }}
}},
"commands": [
    {{ "type": "dispatch", "dispatchable": "relu", "bindings": {{ "InputTensor": "B", "OutputTensor": "A" }} }},
    {{ "type": "dispatch", "dispatchable": "add", "bindings": {{ {} }} }}
] }})",
                       at_initialization, at_execution);
}

TEST(DxDispatchImport, WhatDirectMlOwnsIsBoundByTheDispatchable) {
    const auto imported =
        read_dxdispatch("m.json", model_with_owned(R"("ATensor": { "name": "A", "elementOffset": 1 })",
                                                   R"("BTensor": "B", "OutputTensor": "Out")"));
    ASSERT_TRUE(imported.has_value()) << imported.error().message;
    EXPECT_THAT(imported->left_out, ElementsAre());
    const cases::Suite suite = suite_of(*imported);
    ASSERT_EQ(suite.cases.size(), 2u);
    const cases::Case& add = suite.cases[1];
    EXPECT_EQ(add.descriptor->tensor("ATensor")->flags, core::TensorFlags::owned_by_dml);
    core::Tensor a(*add.descriptor->tensor("ATensor"));
    ASSERT_TRUE(add.inputs[0]->fill(a));
    // The value before the first command.
    EXPECT_THAT(values_of<float>(a), ElementsAre(1, 2, 3));

    const auto by_command =
        read_dxdispatch("m.json", model_with_owned("", R"("ATensor": "A", "BTensor": "B", "OutputTensor": "Out")"));
    ASSERT_TRUE(by_command.has_value());
    EXPECT_THAT(
        by_command->left_out,
        ElementsAre("m.json:8:12: add: nothing is bound to ATensor (\"bindings\" of the dispatchable bind what is "
                    "OWNED_BY_DML)"));
    const auto by_dispatchable =
        read_dxdispatch("m.json", model_with_owned(R"("ATensor": "A", "BTensor": "B")", R"("OutputTensor": "Out")"));
    ASSERT_TRUE(by_dispatchable.has_value());
    EXPECT_THAT(by_dispatchable->left_out, ElementsAre(HasSubstr("add: nothing is bound to BTensor")));
}

/// The reason why a dispatchable was left out names its line and column.
TEST(DxDispatchImport, SaysWhereWhatIsLeftOutWas) {
    const std::string good = model_with_owned(R"("ATensor": "A")", R"("BTensor": "B", "OutputTensor": "Out")");
    struct {
        std::string from;
        std::string to;
        std::string line;
    } const rows[] = {
        {"ELEMENT_WISE_ADD\"", "ELEMENT_WISE_BAD\"",
         "m.json:8:12: add: the catalogue has no operator \"DML_OPERATOR_ELEMENT_WISE_BAD\" (`dmlconform describe` "
         "lists them)"},
        {R"("Sizes": [3], "Flags")", R"("Sizes": [[3]], "Flags")",
         "m.json:10:59: add: Sizes[0] must be an integer; this is an array"},
        {R"("BTensor": "B", "Out)", R"("BTensor": "C", "Out)", "m.json:21:75: add: there is no resource \"C\""},
        {R"("BTensor": "B", "Out)", R"("BTensor": 7, "Out)",
         "m.json:21:75: add: BTensor: a binding is the name of a resource, or an object with a \"name\""},
        {R"("BTensor": "B", "Out)", R"("BTensor": { "name": "B", "elementOffset": -1 }, "Out)",
         "m.json:21:75: add: BTensor: \"elementOffset\" must be an integer of at least 0"},
        {R"("BTensor": "B", "Out)", R"("BTensor": { "name": "B", "elementOffset": 1 }, "Out)",
         "m.json:21:75: add: BTensor takes 12 bytes; \"B\" has 8 from byte 4 on"},
        {R"("bindings": { "BTensor")", R"("binding": { "BTensor")",
         "m.json:21:5: add: the command has no \"bindings\""},
    };
    for (const auto& row : rows) {
        std::string text = good;
        const std::size_t at = text.find(row.from);
        ASSERT_NE(at, std::string::npos) << row.from;
        const auto imported = read_dxdispatch("m.json", text.replace(at, row.from.size(), row.to));
        ASSERT_TRUE(imported.has_value()) << row.to;
        EXPECT_THAT(imported->left_out, ElementsAre(row.line));
    }
}

TEST(DxDispatchImport, BuffersThatAreNotAsTheyMustBe) {
    for (
        const auto& [resource, reason] : std::vector<std::pair<std::string, std::string>>{
            {R"({ "initialValuesDataType": "FLOAT32", "initialValues": [1, 2] })", "takes 16 bytes"},
            {R"({ "initialValuesDataType": "FLOAT33", "initialValues": [1] })", "is not a data type"},
            {R"({ "initialValuesDataType": "FLOAT32" })", "no \"initialValues\""},
            {R"({ "initialValuesDataType": "FLOAT32", "initialValues": { "valueCount": 1e15, "value": 0 } })",
             "make no buffer"},
            {R"({ "initialValuesDataType": "FLOAT32", "initialValues": { "valueCount": 0, "value": 0 } })",
             "make no buffer"},
            {R"({ "initialValuesDataType": "FLOAT32", "initialValues": [1], "sizeInBytes": 1e15 })", "sizeInBytes"},
            {R"({ "initialValuesDataType": "INT8", "initialValues": [300] })", "out of the range"},
            {R"({ "initialValuesDataType": "FLOAT32", "initialValues": [1], "initialValuesOffsetInBytes": -4 })",
             "initialValuesOffsetInBytes"},
            {R"({ "initialValuesDataType": "FLOAT32", "initialValues": [1], "initialValuesOffsetInBytes": 8, "sizeInBytes": 8 })",
             "\"sizeInBytes\" must be from 12"},
            {R"({ "initialValues": "deferred" })", "\"initialValues\" is \"deferred\""},
            {R"({ "initialValues": { "sourcePath": "none.npy" } })", "none.npy"},
            {R"(7)", "there is no resource"}}) {
        const auto imported = read_dxdispatch("m.json", model(resource));
        ASSERT_TRUE(imported.has_value()) << resource;
        EXPECT_EQ(imported->cases.size(), 0u);
        EXPECT_THAT(imported->left_out, ElementsAre(HasSubstr(reason))) << resource;
    }
}

/// An algorithm with quadratic time would not finish.
TEST(DxDispatchImport, ManyCommandsTakeNoLonger) {
    constexpr std::size_t count = 200'000;
    std::string commands;
    for (std::size_t i = 0; i < count; ++i) {
        commands += "{ \"type\": \"dispatch\", \"dispatchable\": \"window\", \"bindings\": {} },\n";
    }
    const auto imported = read_dxdispatch(
        "m.json", model(R"({ "initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 4] })", "", commands));
    ASSERT_TRUE(imported.has_value()) << imported.error().message;
    EXPECT_EQ(imported->cases.size(), 1u);
    EXPECT_EQ(imported->left_out.size(), count);
}

/// A short text can describe a tensor that exceeds all memory.
TEST(DxDispatchImport, ShortTextsForMuchMemoryAreLeftOut) {
    const std::string wide = R"("wide": { "type": "DML_OPERATOR_SLICE1", "desc": {
        "InputTensor": { "DataType": "FLOAT32", "Sizes": [4000000000], "Strides": [0] },
        "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1] },
        "InputWindowOffsets": [0], "InputWindowSizes": [1], "InputWindowStrides": [1] } })";
    const auto imported = read_dxdispatch(
        "m.json",
        model(
            R"({ "initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 4] })", wide,
            R"({ "type": "dispatch", "dispatchable": "wide", "bindings": { "InputTensor": "in", "OutputTensor": "x" } })"));
    ASSERT_TRUE(imported.has_value()) << imported.error().message;
    EXPECT_THAT(imported->left_out, ElementsAre(HasSubstr("too many elements for a case file")));
}

TEST(DxDispatchImport, WhatIsNoModel) {
    for (const char* text : {"", "{}", "[]", "{ \"resources\": {}, \"dispatchables\": [], \"commands\": [] }",
                             "{ \"resources\": {,} }", "\"\\", "/*"}) {
        EXPECT_FALSE(read_dxdispatch("m.json", text).has_value()) << text;
    }
}

TEST(DxDispatchImport, TrailingCommasAreBlanksAndNothingElseChanges) {
    EXPECT_EQ(interop::without_trailing_commas("[1, 2, ]"), "[1, 2  ]");
    EXPECT_EQ(interop::without_trailing_commas("{\"a,]\": [1,/* ,] */\n], // ,}\n}"),
              "{\"a,]\": [1 /* ,] */\n]  // ,}\n}");
    EXPECT_EQ(interop::without_trailing_commas("\"\\\",]\""), "\"\\\",]\"");
    EXPECT_EQ(interop::without_trailing_commas("[1,,]"), "[1, ]");
}

TEST(DxDispatchExport, CasesComeBackAsTheyWere) {
    const cases::Suite suite = cases::load_suite(
        std::vector<std::string>{DMLCONFORM_CASES "/slice1/examples.json", DMLCONFORM_CASES "/slice1/strides.json",
                                 DMLCONFORM_CASES "/slice1/special.json", DMLCONFORM_CASES "/top_k1/examples.json"});
    std::size_t compared = 0;
    for (const cases::Case& subject : suite.cases) {
        interop::DxDispatchModel exported;
        if (!exported.add(subject)) {
            EXPECT_TRUE(subject.expect_error.has_value()) << subject.id;
            continue;
        }
        const auto imported = read_dxdispatch("m.json", exported.text());
        ASSERT_TRUE(imported.has_value()) << imported.error().message;
        ASSERT_THAT(imported->left_out, ElementsAre()) << subject.id;
        const cases::Suite read = suite_of(*imported);
        ASSERT_EQ(read.cases.size(), 1u);
        EXPECT_EQ(to_lines(*read.cases[0].descriptor), to_lines(*subject.descriptor));
        core::Tensor before(*subject.descriptor->inputs()[0].desc);
        core::Tensor after(*subject.descriptor->inputs()[0].desc);
        ASSERT_TRUE(subject.inputs[0]->fill(before) && read.cases[0].inputs[0]->fill(after));
        EXPECT_TRUE(std::ranges::equal(before.buffer.bytes(), after.buffer.bytes())) << subject.id;
        ++compared;
    }
    EXPECT_GT(compared, 5u);
}

const char* const addition = R"({{ "name": "a", "operator": "ELEMENT_WISE_ADD", "desc": {{
    "ATensor": {{ "DataType": "INT32", "Sizes": [3] }}, "BTensor": {{ "DataType": "INT32", "Sizes": [3] }},
    "OutputTensor": {{ "DataType": "INT32", "Sizes": [3] }} }},
    "inPlace": {{ "OutputTensor": "{}" }}, "inputs": {{ "ATensor": [1, 2, 3], "BTensor": [4, 5, 6] }} }})";

TEST(DxDispatchExport, InPlaceIsOneResourceForBoth) {
    for (const std::string input : {"ATensor", "BTensor"}) {
        const cases::Suite suite = cases::read_case_file(
            "x.json", fmt::format("{{ \"cases\": [{}] }}", fmt::format(fmt::runtime(addition), input)));
        ASSERT_EQ(suite.cases.size(), 1u);
        interop::DxDispatchModel exported;
        ASSERT_TRUE(exported.add(suite.cases[0]).has_value());
        const auto json = nlohmann::json::parse(exported.text());
        EXPECT_EQ(json["resources"].size(), 2u);
        EXPECT_EQ(json["commands"][0]["bindings"]["OutputTensor"], "x/a " + input);
        EXPECT_EQ(json["commands"][1]["resource"], "x/a " + input);
        const auto imported = read_dxdispatch("m.json", exported.text());
        ASSERT_TRUE(imported.has_value()) << imported.error().message;
        EXPECT_EQ(imported->cases.at(0)["inPlace"], nlohmann::ordered_json({{"OutputTensor", input}}));
    }
}

/// Outputs at other offsets use other memory, and only operators that allow it work in place.
TEST(DxDispatchImport, OutputsInInputsResources) {
    const auto in_place_of = [](const std::string& type, const std::string& to) {
        const auto imported = read_dxdispatch("m.json", fmt::format(R"({{
"resources": {{ "A": {{ "initialValuesDataType": "FLOAT32", "initialValues": [0, 1, 2, 3, 4, 5] }} }},
"dispatchables": {{ "x": {{ "type": "{}", "desc": {{
    "InputTensor": {{ "DataType": "FLOAT32", "Sizes": [3] }}, "OutputTensor": {{ "DataType": "{}", "Sizes": [3] }} }} }} }},
"commands": [ {{ "type": "dispatch", "dispatchable": "x", "bindings": {{ "InputTensor": "A", "OutputTensor": {} }} }} ] }})",
                                                                    type, type == "CAST" ? "INT32" : "FLOAT32", to));
        EXPECT_TRUE(imported.has_value() && imported->cases.size() == 1);
        return imported && !imported->cases.empty() && imported->cases[0].contains("inPlace");
    };
    EXPECT_TRUE(in_place_of("ACTIVATION_RELU", "\"A\""));
    EXPECT_FALSE(in_place_of("ACTIVATION_RELU", R"({ "name": "A", "elementOffset": 3 })"));
    EXPECT_FALSE(in_place_of("CAST", "\"A\""));
}

/// Tensors are huge because of their size in memory, or because of strides of 0.
TEST(DxDispatchExport, HugeTensorsAreLeftOut) {
    for (const char* input :
         {R"("Sizes": [500000000], "Strides": [0])", R"("Sizes": [4], "TotalTensorSizeInBytes": 40000000)"}) {
        const cases::Suite suite =
            cases::read_case_file("x.json", fmt::format(R"({{ "cases": [{{ "name": "a", "operator": "SLICE1",
                "desc": {{ "InputTensor": {{ "DataType": "FLOAT32", {} }}, "OutputTensor": {{ "DataType": "FLOAT32", "Sizes": [1] }},
                          "InputWindowOffsets": [0], "InputWindowSizes": [1], "InputWindowStrides": [1] }},
                "inputs": {{ "InputTensor": {{ "value": 1 }} }} }}] }})",
                                                        input));
        ASSERT_EQ(suite.cases.size(), 1u);
        interop::DxDispatchModel exported;
        const auto added = exported.add(suite.cases[0]);
        ASSERT_FALSE(added.has_value()) << input;
        EXPECT_THAT(added.error().message, HasSubstr("InputTensor has more than 4194304 elements"));
    }
}

TEST(DxDispatchExport, TheDispatchableBindsWhatDirectMlOwns) {
    const auto suite = cases::read_case_file("m.json", R"({ "cases": [ { "name": "a", "operator": "ELEMENT_WISE_ADD",
        "desc": { "ATensor": { "DataType": "INT32", "Sizes": [1], "Flags": "OWNED_BY_DML" },
                  "BTensor": { "DataType": "INT32", "Sizes": [1] }, "OutputTensor": { "DataType": "INT32", "Sizes": [1] } },
        "inputs": { "ATensor": [1], "BTensor": [2] } } ] })");
    interop::DxDispatchModel exported;
    ASSERT_TRUE(exported.add(suite.cases.at(0)).has_value());
    const auto again = read_dxdispatch("m.json", exported.text());
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_THAT(again->left_out, ElementsAre());
}

TEST(DxDispatchExport, GraphsAreLeftOut) {
    const auto suite = cases::read_case_file("x.json", R"({ "cases": [ { "name": "g", "graph": { "nodes": [
        { "name": "a", "operator": "ELEMENT_WISE_ABS", "desc": { "InputTensor": { "DataType": "INT32", "Sizes": [2] },
          "OutputTensor": { "DataType": "INT32", "Sizes": [2] } }, "inputs": { "InputTensor": "x" },
          "outputs": { "OutputTensor": "y" } } ], "outputs": ["y"] }, "inputs": { "x": [1, -2] } } ] })");
    ASSERT_EQ(suite.cases.size(), 1u);
    interop::DxDispatchModel exported;
    EXPECT_FALSE(exported.add(suite.cases[0]).has_value()) << "DirectML has no operator for it";
}

TEST(DxDispatchExport, AModelHasEverythingThatDxDispatchAsksFor) {
    const auto imported =
        read_dxdispatch("m.json", model(R"({ "initialValuesDataType": "FLOAT32", "initialValues": [1, 2, -0.0, 4] })"));
    const cases::Suite suite = suite_of(*imported);
    interop::DxDispatchModel exported;
    ASSERT_TRUE(exported.add(suite.cases.at(0)).has_value());
    const auto json = nlohmann::json::parse(exported.text());
    const auto& desc = json["dispatchables"]["m/window"]["desc"];
    // Counts are written because DxDispatch requires every field.
    EXPECT_EQ(desc["DimensionCount"], 2);
    // Bits are written for a negative zero.
    EXPECT_EQ(json["resources"]["m/window InputTensor"]["initialValuesDataType"], "UINT32");
    EXPECT_EQ(json["resources"]["m/window InputTensor"]["initialValues"][2], 0x80000000);
    EXPECT_EQ(json["resources"]["m/window OutputTensor"]["initialValues"]["valueCount"], 2);
    EXPECT_EQ(json["commands"][0]["bindings"]["InputTensor"], "m/window InputTensor");
    EXPECT_EQ(json["commands"][1]["type"], "print");
}

}  // namespace
}  // namespace dmlconform::tests::dxdispatch_test
