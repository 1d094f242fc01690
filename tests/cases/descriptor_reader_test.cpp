// Tests of engine/cases/descriptor_reader: every kind of field, counts, and errors.
#include "engine/cases/descriptor_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cases/reading.h"

namespace dmlconform::tests::descriptor_reader_test {
namespace {

using operators::Descriptor;
using operators::OperatorSchema;

/// An operator with one field of each kind, the same enumeration twice, and a count that several arrays share.
const OperatorSchema& synthetic() {
    static const OperatorSchema schema = operators::parse_schema(R"({
      "operator": "DML_OPERATOR_SYNTHETIC", "number": 999, "featureLevel": "1.0",
      "fields": [
        { "name": "InputCount", "kind": "attribute", "type": "UINT" },
        { "name": "InputTensors", "kind": "input", "type": "TENSOR_DESC_ARRAY", "count": "InputCount" },
        { "name": "MaskTensor", "kind": "input", "type": "TENSOR_DESC", "optional": true },
        { "name": "OutputTensor", "kind": "output", "type": "TENSOR_DESC" },
        { "name": "Size", "kind": "attribute", "type": "UINT" },
        { "name": "Mode", "kind": "attribute", "type": "UINT", "enum": "DML_PADDING_MODE" },
        { "name": "Direction", "kind": "attribute", "type": "UINT", "enum": "DML_AXIS_DIRECTION" },
        { "name": "Flag", "kind": "attribute", "type": "UINT", "enum": "BOOL" },
        { "name": "Exponent", "kind": "attribute", "type": "INT" },
        { "name": "Factor", "kind": "attribute", "type": "FLOAT" },
        { "name": "Count", "kind": "attribute", "type": "UINT" },
        { "name": "Starts", "kind": "attribute", "type": "UINT_ARRAY", "count": "Count" },
        { "name": "Steps", "kind": "attribute", "type": "INT_ARRAY", "count": "Count" },
        { "name": "Scales", "kind": "attribute", "type": "FLOAT_ARRAY", "count": "Count", "optional": true },
        { "name": "ExtraCount", "kind": "attribute", "type": "UINT" },
        { "name": "Extras", "kind": "attribute", "type": "UINT_ARRAY", "count": "ExtraCount", "optional": true },
        { "name": "ScaleBias", "kind": "attribute", "type": "SCALE_BIAS", "optional": true },
        { "name": "PooledSize", "kind": "attribute", "type": "SIZE_2D" },
        { "name": "Activation", "kind": "attribute", "type": "OPERATOR_DESC", "optional": true },
        { "name": "ActivationCount", "kind": "attribute", "type": "UINT" },
        { "name": "Activations", "kind": "attribute", "type": "OPERATOR_DESC_ARRAY", "count": "ActivationCount" }
      ],
      "tensorSupport": [], "constraints": [] })")
                                             .value();
    return schema;
}

Reading<Descriptor> descriptor(std::string_view text, const OperatorSchema& schema) {
    return reading(text, [&](const cases::JsonValue& value, cases::ProblemSink& problems) {
        return cases::read_descriptor(value, schema, problems);
    });
}

/// A complete description in which some members are replaced; the value "" removes one.
std::string synthetic_text(const std::vector<std::pair<std::string, std::string>>& replaced) {
    std::vector<std::pair<std::string, std::string>> members{
        {"InputTensors", R"([{"DataType":"INT8","Sizes":[2]},{"DataType":"INT8","Sizes":[3]}])"},
        {"OutputTensor", R"({"DataType":"INT8","Sizes":[5]})"},
        {"Size", "7"},
        {"Mode", R"("REFLECTION")"},
        {"Direction", R"("DECREASING")"},
        {"Flag", "true"},
        {"Exponent", "-3"},
        {"Factor", "0.5"},
        {"Starts", "[1,2]"},
        {"Steps", "[-1,1]"},
        {"Scales", "[0.5,2]"},
        {"ScaleBias", R"({"Scale":2,"Bias":-0.5})"},
        {"PooledSize", R"({"Width":3,"Height":4})"},
        {"Activation", R"({"Type":"ACTIVATION_ELU","Alpha":0.5})"},
        {"Activations", R"([{"Type":"ACTIVATION_RELU"},{"Type":"ACTIVATION_LINEAR","Desc":{"Alpha":1,"Beta":2}}])"}};
    for (const auto& [name, value] : replaced) {
        const auto same = [&, &key = name](const auto& member) { return member.first == key; };
        const auto found = std::find_if(members.begin(), members.end(), same);
        if (found == members.end()) {
            members.emplace_back(name, value);
        } else {
            found->second = value;
        }
    }
    std::string text;
    for (const auto& [name, value] : members) {
        if (!value.empty()) {
            text += fmt::format("{}\"{}\": {}", text.empty() ? "" : ",\n", name, value);
        }
    }
    return "{" + text + "}";
}

TEST(DescriptorReader, EveryKindOfField) {
    const auto read = descriptor(synthetic_text({}), synthetic());
    ASSERT_TRUE(read.value.has_value()) << all_text(read.problems);
    EXPECT_EQ(read.value->schema, &synthetic());
    EXPECT_EQ(operators::to_lines(*read.value),
              (std::vector<std::string>{"InputCount: 2",
                                        "InputTensors: [INT8 [2]; INT8 [3]]",
                                        "MaskTensor: null",
                                        "OutputTensor: INT8 [5]",
                                        "Size: 7",
                                        "Mode: REFLECTION",
                                        "Direction: DECREASING",
                                        "Flag: TRUE",
                                        "Exponent: -3",
                                        "Factor: 0.5",
                                        "Count: 2",
                                        "Starts: [1,2]",
                                        "Steps: [-1,1]",
                                        "Scales: [0.5,2]",
                                        "ExtraCount: 0",
                                        "Extras: null",
                                        "ScaleBias: {Scale=2, Bias=-0.5}",
                                        "PooledSize: {Width=3, Height=4}",
                                        "Activation: ACTIVATION_ELU(Alpha=0.5)",
                                        "ActivationCount: 2",
                                        "Activations: [ACTIVATION_RELU; ACTIVATION_LINEAR(Alpha=1, Beta=2)]"}));
}

struct FieldRow {
    const char* field;
    const char* value;
    const char* printed;  // as printed by operators::to_string
};

TEST(DescriptorReader, FormsOfFields) {
    const FieldRow rows[] = {
        {"Size", "0", "0"},
        {"Size", "4294967295", "4294967295"},
        {"Size", "3.0", "3"},
        {"Mode", R"("EDGE")", "EDGE"},
        {"Mode", R"("DML_PADDING_MODE_EDGE")", "EDGE"},
        {"Mode", "1", "EDGE"},
        {"Mode", "77", "77"},  // not an enumerator, which validation rejects later
        {"Direction", R"("INCREASING")", "INCREASING"},
        {"Direction", R"("DML_AXIS_DIRECTION_INCREASING")", "INCREASING"},
        {"Direction", "0", "INCREASING"},
        {"Flag", "true", "TRUE"},
        {"Flag", "false", "FALSE"},
        {"Flag", "1", "TRUE"},
        {"Flag", "0", "FALSE"},
        {"Flag", R"("TRUE")", "TRUE"},
        {"Exponent", "-2147483648", "-2147483648"},
        {"Exponent", "2147483647", "2147483647"},
        {"Exponent", "2e3", "2000"},
        {"Factor", "3", "3"},
        {"Factor", "-1e-3", "-0.001"},
        {"Factor", "3.4028234663852886e38", "3.4028235e+38"},
        {"Factor", R"("nan")", "nan"},
        {"Factor", R"("-inf")", "-inf"},
        {"Factor", R"("0x3f800000")", "1"},
        {"Scales", R"([1, "inf"])", "[1,inf]"},
        {"Scales", "null", "null"},
        {"Scales", "", "null"},
        {"Steps", "[-2147483648, 2147483647]", "[-2147483648,2147483647]"},
        {"Starts", "[0, 4294967295]", "[0,4294967295]"},
        {"ScaleBias", "", "null"},
        {"ScaleBias", "null", "null"},
        {"ScaleBias", R"({"Bias": 1, "Scale": 3})", "{Scale=3, Bias=1}"},
        {"PooledSize", R"({"Height": 4294967295, "Width": 0})", "{Width=0, Height=4294967295}"},
        {"MaskTensor", R"({"Type": "BUFFER", "Desc": {"DataType": "INT8", "Sizes": [1]}})", "INT8 [1]"},
        {"MaskTensor", "null", "null"},
        // A required field that is null, which validation rejects later.
        {"OutputTensor", "null", "null"},
        {"Starts", "null", "null"},
        {"InputTensors", "[]", "[]"},
        {"Activations", "[]", "[]"},
        {"Activation", "", "null"},
        {"Activation", "null", "null"},
        {"Activation", R"({"Type": "DML_OPERATOR_ACTIVATION_ELU", "Alpha": 2})", "ACTIVATION_ELU(Alpha=2)"},
        {"Activation", R"({"Type": "ACTIVATION_ELU", "Desc": {"Alpha": 2}})", "ACTIVATION_ELU(Alpha=2)"},
        {"Activation", R"({"Alpha": 2, "Type": "ACTIVATION_ELU", "InputTensor": null, "OutputTensor": null})",
         "ACTIVATION_ELU(Alpha=2)"},
        {"Activation", R"({"Type": "ACTIVATION_RELU", "Desc": {}})", "ACTIVATION_RELU"},
        {"Activation", R"({"Type": "ACTIVATION_SHRINK", "Bias": 1, "Threshold": 2})",
         "ACTIVATION_SHRINK(Bias=1, Threshold=2)"},
        // An activation with a tensor, which validation rejects later.
        {"Activation", R"({"Type": "ACTIVATION_RELU", "InputTensor": {"DataType": "INT8", "Sizes": [1]}})",
         "ACTIVATION_RELU(InputTensor=INT8 [1])"},
        {"Count", "2", "2"},
        {"InputCount", "2", "2"},
        {"ActivationCount", "2", "2"},
        {"ExtraCount", "0", "0"},
        {"ExtraCount", "5", "5"},  // a count without its array, which validation rejects later
    };
    for (const FieldRow& row : rows) {
        SCOPED_TRACE(fmt::format("{}: {}", row.field, row.value));
        const auto read = descriptor(synthetic_text({{row.field, row.value}}), synthetic());
        ASSERT_TRUE(read.value.has_value()) << all_text(read.problems);
        EXPECT_TRUE(read.problems.empty());
        EXPECT_EQ(operators::to_string(*synthetic().find_field(row.field), read.value->value(row.field)), row.printed);
    }
}

TEST(DescriptorReader, CountsFollowTheirArrays) {
    const auto read = descriptor(
        synthetic_text(
            {{"Starts", "[1,2,3]"}, {"Steps", "[1,2,3]"}, {"Scales", ""}, {"Extras", "[9]"}, {"Activations", "[]"}}),
        synthetic());
    ASSERT_TRUE(read.value.has_value()) << all_text(read.problems);
    EXPECT_EQ(read.value->uint("Count"), 3u);
    EXPECT_EQ(read.value->uint("ExtraCount"), 1u);
    EXPECT_EQ(read.value->uint("ActivationCount"), 0u);
    EXPECT_EQ(read.value->uint("InputCount"), 2u);
}

struct ErrorRow {
    std::vector<std::pair<std::string, std::string>> members;
    std::vector<std::string> problems;  // "/pointer: message [hint]", or beginnings of that, in the order of the text
};

TEST(DescriptorReader, Refused) {
    const ErrorRow rows[] = {
        // Missing and unknown members.
        {{{"Size", ""}}, {R"(: SYNTHETIC is missing "Size")"}},
        {{{"OutputTensor", ""}}, {R"(: SYNTHETIC is missing "OutputTensor")"}},
        {{{"InputTensors", ""}}, {R"(: SYNTHETIC is missing "InputTensors")"}},
        {{{"PooledSize", ""}, {"Factor", ""}},
         {R"(: SYNTHETIC is missing "Factor")", R"(: SYNTHETIC is missing "PooledSize")"}},
        {{{"ScaleBais", "1"}},
         {R"(/ScaleBais: unknown key "ScaleBais" in DML_OPERATOR_SYNTHETIC [did you mean `ScaleBias`?])"}},
        {{{"Mode", ""}, {"mode", "1"}},
         {R"(: SYNTHETIC is missing "Mode")",
          R"(/mode: unknown key "mode" in DML_OPERATOR_SYNTHETIC [did you mean `Mode`?])"}},
        {{{"Colour", "1"}}, {R"(/Colour: unknown key "Colour" in DML_OPERATOR_SYNTHETIC)"}},
        // Members of the wrong type.
        {{{"Size", "-1"}}, {"/Size: Size is -1; it must be from 0 to 4294967295"}},
        {{{"Size", "4294967296"}}, {"/Size: Size is 4294967296; it must be from 0 to 4294967295"}},
        {{{"Size", "1.5"}}, {"/Size: Size must be an integer"}},
        {{{"Size", "\"1\""}}, {"/Size: Size must be an integer; this is a string"}},
        {{{"Size", "true"}}, {"/Size: Size must be an integer; this is a boolean"}},
        {{{"Mode", R"("REFLEKTION")"}},
         {R"(/Mode: "REFLEKTION" is not a value of DML_PADDING_MODE [did you mean `REFLECTION`?])"}},
        {{{"Mode", R"("reflection")"}}, {R"(/Mode: "reflection" is not a value of DML_PADDING_MODE [did you mean)"}},
        {{{"Mode", "[1]"}}, {"/Mode: Mode must be a value of DML_PADDING_MODE; this is an array"}},
        {{{"Mode", "true"}}, {"/Mode: Mode must be a value of DML_PADDING_MODE; this is a boolean"}},
        {{{"Mode", "-1"}}, {"/Mode: Mode is -1; it must be from 0 to 4294967295"}},
        {{{"Direction", R"("UP")"}},
         {R"(/Direction: "UP" is not a value of DML_AXIS_DIRECTION [it has INCREASING, DECREASING])"}},
        {{{"Flag", R"("yes")"}}, {R"(/Flag: "yes" is not a value of BOOL)"}},
        {{{"Flag", "2"}}, {"/Flag: "}},
        {{{"Flag", "-1"}}, {"/Flag: "}},
        {{{"Flag", "{}"}}, {"/Flag: Flag must be a value of BOOL; this is an object"}},
        {{{"Exponent", "2147483648"}},
         {"/Exponent: Exponent: 2147483648 is out of the range of INT32 (-2147483648 to 2147483647)"}},
        {{{"Exponent", "0.5"}}, {"/Exponent: Exponent: must be an integer; this is 0.5"}},
        {{{"Exponent", "\"1\""}}, {"/Exponent: Exponent: must be an integer; this is a string"}},
        {{{"Factor", "1e39"}}, {"/Factor: Factor: 1e+39 is out of the range of FLOAT32"}},
        {{{"Factor", "\"big\""}}, {"/Factor: Factor: \"big\" is not a value of FLOAT32"}},
        {{{"Factor", "[1]"}}, {"/Factor: Factor: expected a value of FLOAT32, found an array"}},
        // Problems in arrays name every bad element.
        {{{"Starts", "5"}}, {"/Starts: Starts must be an array of integers; this is a number"}},
        {{{"Starts", "[1,-2]"}}, {"/Starts/1: Starts[1] is -2"}},
        {{{"Steps", "[1.5,\"x\"]"}},
         {"/Steps/0: Steps[0]: must be an integer", "/Steps/1: Steps[1]: must be an integer; this is a string"}},
        {{{"Steps", "{}"}}, {"/Steps: Steps must be an array; this is an object"}},
        {{{"Scales", "[1,null]"}}, {"/Scales/1: Scales[1]: expected a value of FLOAT32, found null"}},
        {{{"InputTensors", R"({"DataType":"INT8","Sizes":[2]})"}},
         {"/InputTensors: InputTensors must be an array; this is an object"}},
        {{{"InputTensors", R"([null,{"DataType":"INT8","Sizes":[-1]}])"}},
         {"/InputTensors/0: expected a tensor description, found null", "/InputTensors/1/Sizes/0: Sizes[0] is -1"}},
        {{{"OutputTensor", "[1]"}}, {"/OutputTensor: expected a tensor description, found an array"}},
        // Contradicting counts.
        {{{"Count", "3"}, {"Scales", ""}},
         {"/Starts: Starts has 2 entries, but Count is 3 [Count may be left out]",
          "/Steps: Steps has 2 entries, but Count is 3 [Count may be left out]"}},
        {{{"Steps", "[1]"}, {"Scales", ""}},
         {"/Steps: Steps has 1 entries, but Count is 2 [arrays with one count must be equally long]"}},
        {{{"InputCount", "1"}},
         {"/InputTensors: InputTensors has 2 entries, but InputCount is 1 [InputCount may be left out]"}},
        {{{"ActivationCount", "0"}}, {"/Activations: Activations has 2 entries, but ActivationCount is 0"}},
        {{{"Count", "\"2\""}}, {"/Count: Count must be an integer; this is a string"}},
        {{{"ScaleBias", "[1,2]"}}, {R"(/ScaleBias: ScaleBias must be { "Scale": …, "Bias": … })"}},
        {{{"ScaleBias", R"({"Scale":1})"}}, {R"(/ScaleBias: ScaleBias must be { "Scale": …, "Bias": … })"}},
        {{{"ScaleBias", R"({"Scale":1,"Bias":"x"})"}}, {"/ScaleBias/Bias: Bias: \"x\" is not a value of FLOAT32"}},
        {{{"PooledSize", R"({"Width":-1,"Height":1})"}}, {"/PooledSize/Width: Width is -1"}},
        {{{"PooledSize", R"({"Width":1,"Height":1,"Depth":1})"}},
         {R"(/PooledSize: PooledSize must be)", R"(/PooledSize/Depth: unknown key "Depth" in PooledSize)"}},
        {{{"Activation", R"("RELU")"}},
         {R"(/Activation: a fused activation needs a "Type" [for example { "Type": "ACTIVATION_RELU" }])"}},
        {{{"Activation", R"({"Alpha":1})"}}, {R"(/Activation: a fused activation needs a "Type")"}},
        {{{"Activation", R"({"Type":9})"}}, {R"(/Activation: a fused activation needs a "Type")"}},
        {{{"Activation", R"({"Type":"ACTIVATION_RELUU"})"}},
         {R"(/Activation/Type: "ACTIVATION_RELUU" is not an operator that the catalogue has [did you mean `ACTIVATION_RELU`?])"}},
        {{{"Activation", R"({"Type":"DML_OPERATOR_ACTIVATION_RELUU"})"}},
         {R"(/Activation/Type: "DML_OPERATOR_ACTIVATION_RELUU" is not an operator that the catalogue has [did you mean `DML_OPERATOR_ACTIVATION_RELU`?])"}},
        {{{"Activation", R"({"Type":"RELU"})"}},
         {R"(/Activation/Type: "RELU" is not an operator that the catalogue has [did you mean `ACTIVATION_RELU`?])"}},
        {{{"Activation", R"({"Type":"ACTIVATION_ELU"})"}}, {R"(/Activation: ACTIVATION_ELU is missing "Alpha")"}},
        {{{"Activation", R"({"Type":"ACTIVATION_ELU","Desc":{}})"}},
         {R"(/Activation/Desc: ACTIVATION_ELU is missing "Alpha")"}},
        {{{"Activation", R"({"Type":"ACTIVATION_ELU","Desc":null})"}},
         {"/Activation/Desc: expected the fields of DML_OPERATOR_ACTIVATION_ELU, found null"}},
        {{{"Activation", R"({"Type":"ACTIVATION_ELU","alpha":1})"}},
         {R"(/Activation: ACTIVATION_ELU is missing "Alpha")",
          R"(/Activation/alpha: unknown key "alpha" in DML_OPERATOR_ACTIVATION_ELU [did you mean `Alpha`?])"}},
        {{{"Activation", R"({"Type":"ACTIVATION_ELU","Desc":{"Alpha":1},"Alpha":1})"}},
         {R"(/Activation/Alpha: unknown key "Alpha" in a fused activation in the long form)"}},
        {{{"Activation", R"({"Type":"ACTIVATION_ELU","Alpha":"x"})"}},
         {"/Activation/Alpha: Alpha: \"x\" is not a value of FLOAT32"}},
        {{{"Activations", R"([{"Type":"ACTIVATION_RELU"},null])"}},
         {R"(/Activations/1: a fused activation needs a "Type")"}},
        // A fused operator may omit only its tensors.
        {{{"Activation", R"({"Type":"SLICE1"})"}},
         {R"(/Activation: SLICE1 is missing "InputWindowOffsets")",
          R"(/Activation: SLICE1 is missing "InputWindowSizes")",
          R"(/Activation: SLICE1 is missing "InputWindowStrides")"}},
    };
    for (const ErrorRow& row : rows) {
        const std::string text = synthetic_text(row.members);
        SCOPED_TRACE(text);
        const auto read = descriptor(text, synthetic());
        EXPECT_FALSE(read.value.has_value());
        EXPECT_TRUE(begin_with(read.problems, row.problems));
    }
}

TEST(DescriptorReader, OtherThanAnObject) {
    for (const char* text : {"null", "[]", "5", "\"SLICE1\""}) {
        const auto read = descriptor(text, synthetic());
        EXPECT_FALSE(read.value.has_value());
        EXPECT_TRUE(contains(all_text(read.problems), "expected the fields of DML_OPERATOR_SYNTHETIC, found "));
    }
}

TEST(DescriptorReader, ScalarUnionsHaveTheTypeThatAnotherFieldNames) {
    struct Row {
        std::string_view members;
        std::string_view printed;  // the value, if it is valid
        std::string_view problem;  // otherwise, the beginning of the only problem
    };
    const Row rows[] = {
        {R"("ValueDataType": "FLOAT32", "Value": 0.5)", "0.5", ""},
        {R"("Value": 0.5, "ValueDataType": "FLOAT32")", "0.5", ""},  // members may be in any order
        {R"("ValueDataType": "DML_TENSOR_DATA_TYPE_FLOAT16", "Value": 65504)", "65504", ""},
        {R"("ValueDataType": 9, "Value": 1e300)", "1e+300", ""},
        {R"("ValueDataType": "INT64", "Value": -9223372036854775808)", "-9223372036854775808", ""},
        {R"("ValueDataType": "UINT64", "Value": 18446744073709551615)", "18446744073709551615", ""},
        {R"("ValueDataType": "INT8", "Value": -1)", "-1", ""},
        {R"("ValueDataType": "FLOAT32", "Value": "-inf")", "-inf", ""},
        {R"("ValueDataType": "FLOAT32", "Value": "0x3f800000")", "1", ""},
        {R"("ValueDataType": "FLOAT32", "Value": null)", "null", ""},  // validation rejects this later
        {R"("ValueDataType": "INT8", "Value": 128)", "",
         "/Value: Value: 128 is out of the range of INT8 (-128 to 127)"},
        {R"("ValueDataType": "UINT8", "Value": 0.5)", "", "/Value: Value: 0.5 is not an integer"},
        {R"("ValueDataType": "FLOAT32", "Value": [1])", "",
         "/Value: Value: expected a value of FLOAT32, found an array"},
        {R"("ValueDataType": "UNKNOWN", "Value": 1)", "", "/Value: Value has no type: ValueDataType is UNKNOWN"},
        {R"("ValueDataType": 14, "Value": 1)", "", "/Value: Value has no type: ValueDataType is UNKNOWN"},
        {R"("ValueDataType": "FLOAT", "Value": 1)", "",
         R"(/ValueDataType: "FLOAT" is not a value of DML_TENSOR_DATA_TYPE)"},
        {R"("Value": 1)", "", R"(: FILL_VALUE_CONSTANT is missing "ValueDataType")"},
    };
    const OperatorSchema& schema = *operators::find_operator("FILL_VALUE_CONSTANT");
    for (const Row& row : rows) {
        SCOPED_TRACE(row.members);
        const auto read = descriptor(
            fmt::format(R"({{"OutputTensor": {{"DataType": "INT8", "Sizes": [1]}}, {}}})", row.members), schema);
        EXPECT_EQ(read.value.has_value(), row.problem.empty());
        if (read.value) {
            EXPECT_EQ(operators::to_lines(*read.value).back(), fmt::format("Value: {}", row.printed));
        } else {
            EXPECT_TRUE(begin_with(read.problems, {std::string(row.problem)}));
        }
    }
}

TEST(DescriptorReader, EveryOperatorOfTheCatalogueCanBeAskedFor) {
    // For an empty object, each missing required field is reported, and nothing else.
    for (const std::string& name : operators::operator_names()) {
        SCOPED_TRACE(name);
        const OperatorSchema& schema = *operators::find_operator(name);
        const auto read = descriptor("{}", schema);
        std::size_t required = 0;
        for (const operators::Field& field : schema.fields) {
            const bool needed = !field.optional && !schema.is_count(field);
            required += needed ? 1 : 0;
        }
        EXPECT_EQ(read.problems.size(), required);
        EXPECT_EQ(read.value.has_value(), required == 0);
    }
}

}  // namespace
}  // namespace dmlconform::tests::descriptor_reader_test
