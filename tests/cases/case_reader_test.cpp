// Tests of engine/cases/case_reader: the keys of a case, defaults, and their errors.
#include "engine/cases/case_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "engine/cases/case_file.h"
#include "engine/core/element.h"
#include "tests/cases/reading.h"
#include "tests/tensor_values.h"
#include "tests/without_reference.h"

namespace dmlconform::tests::case_reader_test {
namespace {

using cases::Case;
using cases::read_case_file;
using cases::Suite;

/// A slice of [1,2,3,4] that takes every second element.
constexpr std::string_view slice_desc =
    R"("operator": "SLICE1",
       "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [4] },
                 "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2] },
                 "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [2] })";
constexpr std::string_view slice_inputs = R"("inputs": { "InputTensor": [1, 2, 3, 4] })";

/// A file with one case of that slice, plus these members.
std::string one_case(std::string_view members, std::string_view inputs = slice_inputs) {
    return fmt::format(R"({{ "cases": [ {{ {}{}{}, {} }} ] }})", slice_desc, inputs.empty() ? "" : ", ", inputs,
                       members);
}

Suite read(std::string_view text) {
    return read_case_file("folder/slices.json", text);
}

/// Reads a file with exactly one case and no problems.
Case only_case(std::string_view text) {
    Suite suite = read(text);
    if (!suite.problems.empty() || suite.cases.size() != 1) {
        throw std::logic_error("not one good case: " + all_text(suite.problems));
    }
    return std::move(suite.cases.front());
}

std::vector<float> floats(const cases::Initialiser& initialiser, core::Dimensions sizes) {
    core::Tensor tensor(core::TensorDesc::packed(core::DataType::float32, std::move(sizes)));
    EXPECT_TRUE(initialiser.fill(tensor).has_value());
    return values_of<float>(tensor);
}

TEST(CaseReader, EverythingThatACaseSays) {
    const Case entry = only_case(one_case(R"(
        "name": "doc/every_second-1.5", "description": "Takes every second element.", "tags": ["doc", "smoke"],
        "expected": { "OutputTensor": [1, 3] }, "tolerance": { "*": { "ulp": 2 } }, "minFeatureLevel": "4.1",
        "precision": "tf32")"));
    EXPECT_EQ(entry.id, "slices/doc/every_second-1.5");
    EXPECT_EQ(entry.description, "Takes every second element.");
    EXPECT_EQ(entry.file, "folder/slices.json");
    EXPECT_EQ(entry.line, 1u);
    EXPECT_EQ(entry.descriptor->schema->name, "DML_OPERATOR_SLICE1");
    EXPECT_EQ(entry.descriptor->uint("DimensionCount"), 1u);
    EXPECT_EQ(entry.min_feature_level, (core::FeatureLevel{4, 1}));
    ASSERT_EQ(entry.inputs.size(), 1u);
    EXPECT_EQ(floats(*entry.inputs[0], {4}), (std::vector<float>{1, 2, 3, 4}));
    ASSERT_EQ(entry.expected.size(), 1u);
    EXPECT_EQ(floats(*entry.expected[0], {2}), (std::vector<float>{1, 3}));
    ASSERT_EQ(entry.tolerances.size(), 1u);
    EXPECT_EQ(core::to_string(*entry.tolerances[0]), "2 ulp");
    EXPECT_EQ(entry.precision, core::Precision::tf32);
    EXPECT_EQ(entry.expect_error, std::nullopt);
    EXPECT_EQ(entry.tags, (std::vector<std::string>{"doc", "smoke"}));
    EXPECT_TRUE(entry.has_tag("smoke"));
    EXPECT_FALSE(entry.has_tag("smok"));
    EXPECT_FALSE(entry.has_tag("Smoke"));
    EXPECT_FALSE(entry.needs_reference());
}

TEST(CaseReader, EverythingThatACaseNeedNotSay) {
    const Case entry = only_case(one_case(R"("name": "a")"));
    EXPECT_EQ(entry.description, "");
    EXPECT_TRUE(entry.tags.empty());
    EXPECT_FALSE(entry.expected[0].has_value());
    EXPECT_FALSE(entry.tolerances[0].has_value());
    EXPECT_TRUE(entry.needs_reference());
    // Tensors with one dimension need feature level 3.0.
    EXPECT_EQ(entry.min_feature_level, (core::FeatureLevel{3, 0}));
}

TEST(CaseReader, TheWorkedExampleOfTheFormat) {
    const Suite suite = read(R"({
  "cases": [
    {
      "name": "doc/example-2-negative-strides",
      "operator": "DML_OPERATOR_SLICE1",
      "desc": {
        "InputTensor":  { "DataType": "FLOAT32", "Sizes": [1,1,4,4] },
        "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1,1,2,2] },
        "DimensionCount": 4,
        "InputWindowOffsets": [0,0,0,1],
        "InputWindowSizes":   [1,1,4,3],
        "InputWindowStrides": [1,1,-2,2]
      },
      "inputs":   { "InputTensor": { "start": 1, "step": 1 } },
      "expected": { "OutputTensor": [14, 16, 6, 8] }
    },
    {
      "name": "invalid/zero-stride",
      "operator": "SLICE1",
      "desc": {
        "InputTensor":  { "DataType": "FLOAT32", "Sizes": [4] },
        "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1] },
        "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [0]
      },
      "expectError": "E_INVALIDARG"
    }
  ]
})");
    ASSERT_TRUE(suite.problems.empty()) << all_text(suite.problems);
    ASSERT_EQ(suite.cases.size(), 2u);
    EXPECT_EQ(suite.cases[0].id, "slices/doc/example-2-negative-strides");
    EXPECT_EQ(suite.cases[0].line, 3u);
    EXPECT_EQ(suite.cases[0].min_feature_level, (core::FeatureLevel{2, 1}));
    EXPECT_EQ(suite.cases[1].id, "slices/invalid/zero-stride");
    EXPECT_EQ(suite.cases[1].line, 17u);
    EXPECT_EQ(suite.cases[1].expect_error, core::HResult::invalid_argument);
    EXPECT_FALSE(suite.cases[1].inputs[0].has_value());
    // Cases with expectError run at every level.
    EXPECT_EQ(suite.cases[1].min_feature_level, (core::FeatureLevel{2, 1}));
}

TEST(CaseReader, FeatureLevels) {
    struct Row {
        std::string_view type;
        std::string_view sizes;
        std::string_view members;
        core::FeatureLevel level;
    };
    const Row rows[] = {
        {"FLOAT32", "[1,1,1,4]", "", {2, 1}},
        {"FLOAT32", "[4]", "", {3, 0}},
        {"INT64", "[4]", "", {4, 1}},
        {"INT64", "[1,1,1,4]", "", {4, 1}},
        {"INT64", "[1,1,1,4]", R"(, "minFeatureLevel": "2.1")", {2, 1}},
        {"FLOAT32", "[4]", R"(, "minFeatureLevel": "6.4")", {6, 4}},
        {"FLOAT32", "[4]", R"(, "minFeatureLevel": "DML_FEATURE_LEVEL_5_0")", {5, 0}},
        // Illegal at every level, but without expectError: run everywhere, so that somebody notices.
        {"UINT4", "[4]", R"(, "minFeatureLevel": "1.0")", {1, 0}},
    };
    for (const Row& row : rows) {
        const std::string window = row.sizes == "[4]" ? "[0]" : "[0,0,0,0]";
        const std::string ones = row.sizes == "[4]" ? "[1]" : "[1,1,1,1]";
        const std::string text = fmt::format(
            R"({{"cases": [{{"name": "a", "operator": "SLICE1", "desc": {{
                "InputTensor": {{"DataType": "{0}", "Sizes": {1}}}, "OutputTensor": {{"DataType": "{0}", "Sizes": {2}}},
                "InputWindowOffsets": {3}, "InputWindowSizes": {2}, "InputWindowStrides": {2}}}, {4}{5}}}]}})",
            row.type, row.sizes, ones, window,
            row.type == "UINT4" ? R"("expectError": "E_INVALIDARG")" : R"("inputs": {"InputTensor": {"value": 1}})",
            row.members);
        EXPECT_EQ(only_case(text).min_feature_level, row.level) << row.type << row.sizes << row.members;
    }
}

TEST(CaseReader, ADescriptorThatNoLevelAcceptsIsRunFromTheOperatorsFirst) {
    const auto illegal = [](std::string_view more) {
        return fmt::format(R"({{"cases": [{{"name": "a", "operator": "SLICE1", "desc": {{
            "InputTensor": {{"DataType": "FLOAT32", "Sizes": [4]}}, "OutputTensor": {{"DataType": "FLOAT32", "Sizes": [4]}},
            "InputWindowOffsets": [3], "InputWindowSizes": [4], "InputWindowStrides": [1]}}, {}}}]}})",
                           more);
    };
    EXPECT_EQ(only_case(illegal(R"("expectError": "E_INVALIDARG")")).min_feature_level, (core::FeatureLevel{2, 1}));
    // Without expectError, an illegal descriptor is a problem.
    EXPECT_TRUE(
        begin_with(read(illegal(R"("inputs": {"InputTensor": {"value": 1}})")).problems,
                   {"/cases/0/desc: the descriptor is illegal: InputWindowOffsets[0] + InputWindowSizes[0] is 3 + "
                    "4 = 7, but the input has 4 elements along that dimension [SLICE1.windowInBounds]"}));
}

TEST(CaseReader, Names) {
    for (const char* name : {"a", "A-z_0.9/b", "...", "/", "doc/x"}) {
        EXPECT_EQ(only_case(one_case(fmt::format(R"("name": "{}")", name))).id, fmt::format("slices/{}", name));
    }
    for (const char* name :
         {"", " ", "a b", "a*", "a?", "a[1]", "a:b", "a,b", "a=b", "ä", "a\\\\b", "a\\nb", "a\\u0000"}) {
        const Suite suite = read(one_case(fmt::format(R"("name": "{}")", name)));
        ASSERT_EQ(suite.problems.size(), 1u) << name;
        EXPECT_TRUE(contains(suite.problems[0].message, "is not a name for a case"));
        EXPECT_EQ(suite.problems[0].pointer, "/cases/0/name");
    }
}

TEST(CaseReader, ExpectedErrors) {
    const std::pair<std::string_view, std::uint32_t> rows[] = {
        {"E_INVALIDARG", 0x80070057},           {"E_NOTIMPL", 0x80004001},
        {"E_OUTOFMEMORY", 0x8007000e},          {"0x80070057", 0x80070057},
        {"DXGI_ERROR_UNSUPPORTED", 0x887a0004}, {"0x8000ffff", 0x8000ffff},
    };
    for (const auto& [name, code] : rows) {
        const Case entry = only_case(one_case(fmt::format(R"("name": "a", "expectError": "{}")", name), ""));
        ASSERT_TRUE(entry.expect_error.has_value());
        EXPECT_EQ(static_cast<std::uint32_t>(*entry.expect_error), code) << name;
    }
}

struct ErrorRow {
    std::string members;
    bool with_inputs;
    std::vector<std::string> problems;  // "/pointer: message", or beginnings of that
};

TEST(CaseReader, Refused) {
    const ErrorRow rows[] = {
        {R"("tags": [])", true, {R"(/cases/0: a case needs "name")"}},
        {R"("name": 5)", true, {R"(/cases/0/name: "name" must be a string; this is a number)"}},
        {R"("name": "a", "expekted": {})",
         true,
         {R"(/cases/0/expekted: unknown key "expekted" in a case [did you mean `expected`?])"}},
        {R"("name": "a", "colour": 1)", true, {R"(/cases/0/colour: unknown key "colour" in a case)"}},
        {R"("name": "a", "precision": "fp64")",
         true,
         {R"(/cases/0/precision: "fp64" is not a precision [one of fp32, tf32, bf16, fp16])"}},
        {R"("name": "a", "precision": 32)",
         true,
         {R"(/cases/0/precision: "precision" must be a string; this is a number)"}},
        {R"("name": "a", "description": ["x"])",
         true,
         {R"(/cases/0/description: "description" must be a string; this is an array)"}},
        {R"("name": "a", "tags": "doc")",
         true,
         {R"(/cases/0/tags: "tags" must be an array of strings; this is a string)"}},
        {R"("name": "a", "tags": ["doc", 5, null])",
         true,
         {"/cases/0/tags/1: a tag must be a string; this is a number",
          "/cases/0/tags/2: a tag must be a string; this is null"}},
        {R"("name": "a", "minFeatureLevel": "9.9")",
         true,
         {R"(/cases/0/minFeatureLevel: "9.9" is not a feature level [for example "4.1"])"}},
        {R"("name": "a", "minFeatureLevel": 4.1)",
         true,
         {R"(/cases/0/minFeatureLevel: "minFeatureLevel" must be a string; this is a number)"}},
        {R"("name": "a")",
         false,
         {R"(/cases/0: "inputs" is missing data for InputTensor [for example "InputTensor": { "start": 1, "step": 1 }])"}},
        {R"("name": "a", "inputs": {})", false, {R"(/cases/0/inputs: "inputs" is missing data for InputTensor)"}},
        {R"("name": "a", "inputs": [1])", false, {R"(/cases/0/inputs: "inputs" must be an object; this is an array)"}},
        {R"("name": "a", "inputs": {"InputTensro": [1,2,3,4]})",
         false,
         {R"(/cases/0/inputs: "inputs" is missing data for InputTensor)",
          R"(/cases/0/inputs/InputTensro: unknown key "InputTensro" in "inputs" [did you mean `InputTensor`?])"}},
        {R"("name": "a", "inputs": {"InputTensor": [1,2,3]})",
         false,
         {"/cases/0/inputs/InputTensor: 3 elements for [4] [it takes 4]"}},
        {R"("name": "a", "inputs": {"InputTensor": null})",
         false,
         {"/cases/0/inputs/InputTensor: expected a data initialiser, found null"}},
        {R"("name": "a", "expected": {"OutputTensor": [1]})",
         true,
         {"/cases/0/expected/OutputTensor: 1 elements for [2]"}},
        {R"("name": "a", "expected": {"Output": [1, 3]})",
         true,
         {R"(/cases/0/expected/Output: unknown key "Output" in "expected")"}},
        {R"("name": "a", "expected": {"InputTensor": [1, 2, 3, 4]})",
         true,
         {R"(/cases/0/expected/InputTensor: unknown key)"}},
        {R"("name": "a", "expected": [1, 3])",
         true,
         {R"(/cases/0/expected: "expected" must be an object; this is an array)"}},
        {R"("name": "a", "expectError": "E_INVALIDARG")",
         true,
         {R"(/cases/0/inputs: "inputs" and "expectError" exclude each other)"}},
        {R"("name": "a", "expectError": "E_INVALIDARG", "expected": {"OutputTensor": [1, 3]})",
         true,
         {R"(/cases/0/inputs: "inputs" and "expectError" exclude each other)",
          R"(/cases/0/expected: "expected" and "expectError" exclude each other)"}},
        {R"("name": "a", "expectError": "E_INVALIDARGS")",
         false,
         {R"(/cases/0/expectError: "E_INVALIDARGS" names no error [for example "E_INVALIDARG" or "0x80070057"])"}},
        {R"("name": "a", "expectError": "S_OK")", false, {R"(/cases/0/expectError: "S_OK" names no error)"}},
        {R"("name": "a", "expectError": "0x00000000")",
         false,
         {R"(/cases/0/expectError: "0x00000000" names no error)"}},
        {R"("name": "a", "expectError": "0x00000001")",
         false,
         {R"(/cases/0/expectError: "0x00000001" names no error)"}},
        {R"("name": "a", "expectError": "")", false, {R"(/cases/0/expectError: "" names no error)"}},
        {R"("name": "a", "expectError": true)",
         false,
         {R"(/cases/0/expectError: "expectError" must be a string; this is a boolean)"}},
        {R"("name": "a", "tolerance": {"*": {"ulp": -1}})", true, {"/cases/0/tolerance/*/ulp: ulp is -1"}},
        {R"("name": "a", "inPlace": ["OutputTensor"])",
         true,
         {R"(/cases/0/inPlace: "inPlace" must be an object; this is an array)"}},
        {R"("name": "a", "inPlace": {"OutputTensor": 1})",
         true,
         {R"(/cases/0/inPlace/OutputTensor: "inPlace" names an input for each output; this is a number)"}},
        {R"("name": "a", "inPlace": {"OutputTensor": "InputTensor"})",
         true,
         {"/cases/0/inPlace: SLICE1 has no output OutputTensor that may share an input's memory"}},
        // Members that only sweeps may have.
        {R"("name": "a", "skipInvalid": true)",
         true,
         {R"(/cases/0/skipInvalid: "skipInvalid" is for cases with a "sweep")"}},
        {R"("name": "a", "skipInvalid": 1)",
         true,
         {R"(/cases/0/skipInvalid: "skipInvalid" must be true or false; this is a number)"}},
    };
    for (const ErrorRow& row : rows) {
        SCOPED_TRACE(row.members);
        const Suite suite = read(one_case(row.members, row.with_inputs ? slice_inputs : ""));
        EXPECT_TRUE(begin_with(suite.problems, row.problems));
        EXPECT_TRUE(suite.cases.empty());
    }
}

TEST(CaseReader, WithoutAReferenceEveryOutputNeedsValues) {
    const WithoutReference none("RANDOM_GENERATOR");
    const auto generator = [](std::string_view rest) {
        return fmt::format(R"({{"cases": [{{"name": "a", "operator": "RANDOM_GENERATOR", "desc": {{
            "InputStateTensor": {{"DataType": "UINT32", "Sizes": [1,1,1,6]}},
            "OutputTensor": {{"DataType": "UINT32", "Sizes": [1,1,1,1]}},
            "OutputStateTensor": {{"DataType": "UINT32", "Sizes": [1,1,1,6]}},
            "Type": "PHILOX_4X32_10"}},
            {}}}]}})",
                           rest);
    };
    struct Row {
        std::string text;
        std::vector<std::string> problems;
    };
    const Row rows[] = {
        {generator(
             R"("inputs": {"InputStateTensor": [1, 2, 3, 4, 5, 6]}, "expected": {"OutputTensor": [1], "OutputStateTensor": [1, 2, 3, 4, 5, 6]})"),
         {}},
        {generator(
             R"("inputs": {"InputStateTensor": [1, 2, 3, 4, 5, 6]}, "expected": {"OutputStateTensor": [1, 2, 3, 4, 5, 6]})"),
         {R"(/cases/0/expected: "expected" is missing values for OutputTensor: there is no reference for RANDOM_GENERATOR yet [for example "OutputTensor": [1, 2, 3])"}},
        {generator(R"("inputs": {"InputStateTensor": [1, 2, 3, 4, 5, 6]})"),
         {R"(/cases/0: "expected" is missing values for OutputTensor)",
          R"(/cases/0: "expected" is missing values for OutputStateTensor)"}},
        {generator(R"("inputs": {"InputStateTensor": [1, 2, 3, 4, 5, 6]}, "expected": 1)"),
         {R"(/cases/0/expected: "expected" must be an object; this is a number)"}},
        {generator(R"("expectError": "E_INVALIDARG")"), {}},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.text);
        EXPECT_TRUE(begin_with(read(row.text).problems, row.problems));
    }
}

TEST(CaseReader, OperatorAndDescriptor) {
    const std::pair<std::string_view, std::vector<std::string>> rows[] = {
        {R"({"name": "a"})", {R"(/cases/0: a case needs "operator")", R"(/cases/0: a case needs "desc")"}},
        {R"({"name": "a", "operator": "SLICE1"})", {R"(/cases/0: a case needs "desc")"}},
        {R"({"name": "a", "operator": 1, "desc": {}})",
         {R"(/cases/0/operator: "operator" must be a string; this is a number)"}},
        {R"({"name": "a", "operator": "SLICE2", "desc": {}})",
         {R"(/cases/0/operator: the catalogue has no operator "SLICE2" [did you mean `SLICE)"}},
        {R"({"name": "a", "operator": "DML_OPERATOR_TOPK1", "desc": {}})",
         {R"(/cases/0/operator: the catalogue has no operator "DML_OPERATOR_TOPK1" [did you mean `DML_OPERATOR_TOP_K1`?])"}},
        {R"({"name": "a", "operator": "slice1", "desc": {}})",
         {R"(/cases/0/operator: the catalogue has no operator "slice1" [did you mean `SLICE1`?])"}},
        {R"({"name": "a", "operator": "FROBNICATE", "desc": {}})",
         {R"(/cases/0/operator: the catalogue has no operator "FROBNICATE" [`dmlconform describe` lists them])"}},
        {R"({"name": "a", "operator": "../slice1", "desc": {}})",
         {R"(/cases/0/operator: the catalogue has no operator "../slice1")"}},
        {R"({"name": "a", "operator": "SLICE1", "desc": []})",
         {"/cases/0/desc: expected the fields of DML_OPERATOR_SLICE1, found an array"}},
        {R"("a case")", {"/cases/0: a case must be an object; this is a string"}},
        {"null", {"/cases/0: a case must be an object; this is null"}},
    };
    for (const auto& [entry, problems] : rows) {
        const Suite suite = read(fmt::format(R"({{"cases": [{}]}})", entry));
        EXPECT_TRUE(begin_with(suite.problems, problems)) << entry;
    }
}

TEST(CaseReader, DataForAbsentTensors) {
    // The scale is optional and absent here.
    const Suite suite = read(R"({"cases": [{"name": "a", "operator": "MEAN_VARIANCE_NORMALIZATION1", "desc": {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "OutputTensor": {"DataType": "FLOAT32", "Sizes": [4]},
        "ScaleTensor": null, "Axes": [0], "NormalizeVariance": true, "Epsilon": 1e-5},
        "inputs": {"InputTensor": {"value": 1}, "ScaleTensor": {"value": 1}}}]})");
    ASSERT_EQ(suite.problems.size(), 1u) << all_text(suite.problems);
    EXPECT_TRUE(contains(short_text(suite.problems[0]),
                         "/cases/0/inputs/ScaleTensor: ScaleTensor is absent in \"desc\", so it takes no data"));
}

TEST(CaseReader, OptionalTensorsNeedDataWhenTheyArePresent) {
    const Suite suite = read(R"({"cases": [{"name": "a", "operator": "MEAN_VARIANCE_NORMALIZATION1", "desc": {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "OutputTensor": {"DataType": "FLOAT32", "Sizes": [4]},
        "ScaleTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "BiasTensor": {"DataType": "FLOAT32", "Sizes": [4]},
        "Axes": [0], "NormalizeVariance": true, "Epsilon": 1e-5},
        "inputs": {"InputTensor": {"value": 1}, "ScaleTensor": {"value": 1}}}]})");
    ASSERT_EQ(suite.problems.size(), 1u) << all_text(suite.problems);
    EXPECT_TRUE(contains(suite.problems[0].message, "\"inputs\" is missing data for BiasTensor"));
}

TEST(CaseReader, AReferenceIsNeededForOutputsWithoutExpectedValues) {
    const auto top_k = [](std::string_view expected) {
        return only_case(fmt::format(R"({{"cases": [{{"name": "a", "operator": "TOP_K1", "desc": {{
            "InputTensor": {{"DataType": "INT8", "Sizes": [4]}}, "OutputValueTensor": {{"DataType": "INT8", "Sizes": [1]}},
            "OutputIndexTensor": {{"DataType": "UINT32", "Sizes": [1]}}, "Axis": 0, "K": 1,
            "AxisDirection": "DECREASING"}}, "inputs": {{"InputTensor": [1, 2, 3, 4]}}, "expected": {{{}}}}}]}})",
                                     expected))
            .needs_reference();
    };
    EXPECT_TRUE(top_k(""));
    EXPECT_TRUE(top_k(R"("OutputValueTensor": [4])"));
    EXPECT_TRUE(top_k(R"("OutputIndexTensor": [3])"));
    EXPECT_FALSE(top_k(R"("OutputValueTensor": [4], "OutputIndexTensor": [3])"));
}

TEST(CaseReader, DefaultsAreMergedUnderEveryCase) {
    const Suite suite =
        read(fmt::format(R"({{ "defaults": {{ {}, {}, "tags": ["a", "b"], "description": "d" }}, "cases": [
        {{ "name": "same" }},
        {{ "name": "other", "tags": ["c"], "desc": {{ "InputWindowStrides": [1], "OutputTensor": {{ "Sizes": [3] }} }},
           "expected": {{ "OutputTensor": [1, 2, 3] }} }},
        {{ "name": "third", "description": "e", "inputs": {{ "InputTensor": {{ "value": 7 }} }} }} ] }})",
                         slice_desc, slice_inputs));
    ASSERT_TRUE(suite.problems.empty()) << all_text(suite.problems);
    ASSERT_EQ(suite.cases.size(), 3u);
    EXPECT_EQ(suite.cases[0].tags, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(suite.cases[0].description, "d");
    EXPECT_EQ(suite.cases[0].descriptor->sizes("OutputTensor"), (core::Dimensions{2}));
    EXPECT_EQ(suite.cases[1].tags, (std::vector<std::string>{"c"})) << "arrays are replaced";
    EXPECT_EQ(suite.cases[1].descriptor->sizes("OutputTensor"), (core::Dimensions{3}));
    EXPECT_EQ(suite.cases[1].descriptor->tensor("OutputTensor")->data_type, core::DataType::float32);
    EXPECT_EQ(suite.cases[1].descriptor->get<std::vector<std::int32_t>>("InputWindowStrides"),
              (std::vector<std::int32_t>{1}));
    EXPECT_EQ(floats(*suite.cases[1].inputs[0], {4}), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(floats(*suite.cases[2].inputs[0], {4}), (std::vector<float>{7, 7, 7, 7}))
        << "an array replaced by an object";
    EXPECT_EQ(suite.cases[2].description, "e");
    EXPECT_EQ(suite.cases[0].expected[0].has_value(), false);
}

TEST(CaseReader, MistakesInDefaultsAreReportedOnceAndWhereTheyAre) {
    const Suite suite = read(fmt::format(R"({{ "defaults": {{ "operator": "SLICE1",
   "desc": {{ "InputTensor": {{ "DataType": "FLOAT23", "Sizes": [4] }} }}, "colour": 1, "inputs": 5 }},
  "cases": [ {{ "name": "a" }}, {{ "name": "b" }}, {{ "name": "c", "desc": {{ "InputTensor": {{ "DataType": "FLOAT32" }} }} }} ] }})"));
    std::size_t types = 0;
    std::size_t colours = 0;
    for (const auto& problem : suite.problems) {
        types += problem.pointer == "/defaults/desc/InputTensor/DataType" ? 1 : 0;
        colours += problem.pointer == "/defaults/colour" ? 1 : 0;
    }
    EXPECT_EQ(types, 1u) << all_text(suite.problems);
    // May be reported twice: as an unknown default, and as an unknown key of the cases that inherit it.
    EXPECT_LE(colours, 2u) << all_text(suite.problems);
    EXPECT_GE(colours, 1u);
}

TEST(CaseReader, ReportsSeveralMistakesEachWithItsPosition) {
    const Suite suite = read(R"({
  // A comment, so that lines have to be counted.
  "cases": [
    { "name": "good", "operator": "SLICE1",
      "desc": { "InputTensor": { "DataType": "INT8", "Sizes": [2] }, "OutputTensor": { "DataType": "INT8", "Sizes": [1] },
                "InputWindowOffsets": [0], "InputWindowSizes": [2], "InputWindowStrides": [2] },
      "inputs": { "InputTensor": [1, 2] } },
    { "name": "bad name", "operator": "SLICE1", "tags": [1],
      "desc": { "InputTensor": { "DataType": "INT8", "Sizes": [2] }, "OutputTensor": { "DataType": "INT8", "Sizes": [1] },
                "InputWindowOffsets": [0], "InputWindowSizes": [2], "InputWindowStrides": [2] },
      "inputs": { "InputTensor": [1, 200] } },
    { "name": "c", "operator": "SLICEONE", "desc": {} }
  ],
  "caes": []
})");
    EXPECT_EQ(
        short_texts(suite.problems),
        (std::vector<std::string>{
            R"(8:15 /cases/1/name: "bad name" is not a name for a case [letters, digits and `_ . - /`, at most 500 of them])",
            "8:58 /cases/1/tags/0: a tag must be a string; this is a number",
            "11:38 /cases/1/inputs/InputTensor/1: 200 is out of the range of INT8 (-128 to 127)",
            R"(12:32 /cases/2/operator: the catalogue has no operator "SLICEONE" [`dmlconform describe` lists them])",
            R"(14:3 /caes: unknown key "caes" in a case file [did you mean `cases`?])"}));
    ASSERT_EQ(suite.cases.size(), 1u);
    EXPECT_EQ(suite.cases[0].line, 4u);
}

TEST(CaseReader, InPlace) {
    const auto add = [](const std::string& members) {
        return R"({"cases": [{"name": "a", "operator": "ELEMENT_WISE_ADD", "desc": {
            "ATensor": {"DataType": "FLOAT32", "Sizes": [2, 3], "Strides": [4, 1]},
            "BTensor": {"DataType": "FLOAT32", "Sizes": [2, 3]},
            "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 3], "Strides": [4, 1]}},
            "inputs": {"ATensor": {"value": 1}, "BTensor": {"value": 2}}, )" +
               members + "}]}";
    };
    const Case entry = only_case(add(R"("inPlace": {"OutputTensor": "ATensor"})"));
    ASSERT_EQ(entry.descriptor->in_place.size(), 1u);
    EXPECT_EQ(entry.descriptor->in_place[0], 0u);
    EXPECT_EQ(to_lines(*entry.descriptor).back(), "in place: OutputTensor in the memory of ATensor");
    EXPECT_TRUE(
        begin_with(read(add(R"("inPlace": {"OutputTensor": "BTensor"})")).problems,
                   {"/cases/0/inPlace: OutputTensor and BTensor must have the same data type, sizes, strides"}));
    EXPECT_TRUE(
        begin_with(read(add(R"("inPlace": {"OutputTensor": "CTensor"})")).problems,
                   {"/cases/0/inPlace: OutputTensor may share the memory of ATensor or BTensor, and not that of "
                    "CTensor"}));
}

TEST(CaseReader, KeysAreDocumentedOnes) {
    const auto keys = cases::case_keys();
    EXPECT_EQ(std::vector<std::string>(keys.begin(), keys.end()),
              (std::vector<std::string>{"name", "description", "operator", "desc", "graph", "inputs", "expected",
                                        "expectError", "tolerance", "minFeatureLevel", "tags", "inPlace", "sweep",
                                        "skipInvalid", "precision", "expectedPrecision"}));
}

}  // namespace
}  // namespace dmlconform::tests::case_reader_test
