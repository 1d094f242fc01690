// Tests of engine/operators/catalogue: parsing an entry with every kind of field, messages for broken entries, and the
// compiled-in entries.
#include "engine/operators/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>
#include <tuple>

namespace dmlconform::operators::catalogue_test {
namespace {

using core::DataType;
using core::FeatureLevel;

/// A made-up operator with every field type of DirectML's operators.
constexpr std::string_view synthetic = R"({
  "operator": "DML_OPERATOR_SYNTHETIC",
  "number": 999,
  "featureLevel": "3.1",
  "fields": [
    { "name": "InputTensor", "kind": "input", "type": "TENSOR_DESC" },
    { "name": "MaskTensor", "kind": "input", "type": "TENSOR_DESC", "optional": true, "requiredBefore": "5.2" },
    { "name": "InputTensorCount", "kind": "attribute", "type": "UINT" },
    { "name": "InputTensors", "kind": "input", "type": "TENSOR_DESC_ARRAY", "count": "InputTensorCount" },
    { "name": "OutputTensor", "kind": "output", "type": "TENSOR_DESC" },
    { "name": "Axis", "kind": "attribute", "type": "UINT" },
    { "name": "Mode", "kind": "attribute", "type": "UINT", "enum": "DML_PADDING_MODE" },
    { "name": "CrossChannel", "kind": "attribute", "type": "UINT", "enum": "BOOL" },
    { "name": "Exponent", "kind": "attribute", "type": "INT" },
    { "name": "Alpha", "kind": "attribute", "type": "FLOAT", "minimum": { "value": 0.5, "before": "5.1" } },
    { "name": "SizeCount", "kind": "attribute", "type": "UINT" },
    { "name": "Sizes", "kind": "attribute", "type": "UINT_ARRAY", "count": "SizeCount" },
    { "name": "Strides", "kind": "attribute", "type": "INT_ARRAY", "count": "SizeCount", "optional": true },
    { "name": "Scales", "kind": "attribute", "type": "FLOAT_ARRAY", "count": "SizeCount" },
    { "name": "ScaleBias", "kind": "attribute", "type": "SCALE_BIAS", "optional": true },
    { "name": "PooledSize", "kind": "attribute", "type": "SIZE_2D" },
    { "name": "ValueDataType", "kind": "attribute", "type": "UINT", "enum": "DML_TENSOR_DATA_TYPE" },
    { "name": "Value", "kind": "attribute", "type": "SCALAR_UNION", "dataType": "ValueDataType" },
    { "name": "FusedActivation", "kind": "attribute", "type": "OPERATOR_DESC", "optional": true },
    { "name": "ActivationCount", "kind": "attribute", "type": "UINT" },
    { "name": "Activations", "kind": "attribute", "type": "OPERATOR_DESC_ARRAY", "count": "ActivationCount" }
  ],
  "tensorSupport": [
    { "featureLevel": "5.0", "tensors": ["InputTensor"], "dimensionCounts": [1, 8], "dataTypes": ["INT64", "UINT4"] },
    { "featureLevel": "3.1", "tensors": ["InputTensor", "OutputTensor"], "dimensionCounts": [4, 5],
      "dataTypes": ["FLOAT32", "DML_TENSOR_DATA_TYPE_FLOAT16"] },
    { "featureLevel": "4.1", "tensors": ["MaskTensor"], "dimensionCounts": [2, 2], "dataTypes": ["UINT8"] }
  ],
  "constraints": [
    { "same": "DataType", "tensors": ["InputTensor", "OutputTensor"] },
    { "same": "DimensionCount", "tensors": ["InputTensor", "MaskTensor", "OutputTensor"] },
    { "same": "Sizes", "tensors": ["InputTensor", "OutputTensor"] },
    { "oneElement": ["MaskTensor"] },
    { "sizesDivide": ["MaskTensor"], "of": "InputTensor" },
    { "size": "SizeCount", "of": "InputTensor", "dimension": 1 },
    { "dimensionCount": "SizeCount", "of": "InputTensor", "less": 2 },
    { "axis": "Axis", "of": "OutputTensor" },
    { "dataType": "ValueDataType", "of": "OutputTensor" }
  ],
  "fusable": [
    { "activation": "DML_OPERATOR_ACTIVATION_RELU", "featureLevel": "3.1" },
    { "activation": "DML_OPERATOR_ACTIVATION_GELU", "featureLevel": "5.1" }
  ]
})";

OperatorSchema parsed() {
    auto schema = parse_schema(synthetic);
    EXPECT_TRUE(schema) << schema.error().message;
    return schema ? *schema : OperatorSchema();
}

TEST(ParseSchema, Fields) {
    struct Row {
        std::string_view name;
        FieldKind kind;
        FieldType type;
        bool optional;
        std::string_view enumeration;
        std::string_view count;
        bool is_count;
        bool is_tensor;
    };
    constexpr auto input = FieldKind::input;
    constexpr auto output = FieldKind::output;
    constexpr auto attribute = FieldKind::attribute;
    const Row rows[] = {
        {"InputTensor", input, FieldType::tensor_desc, false, "", "", false, true},
        {"MaskTensor", input, FieldType::tensor_desc, true, "", "", false, true},
        {"InputTensorCount", attribute, FieldType::uint, false, "", "", true, false},
        {"InputTensors", input, FieldType::tensor_desc_array, false, "", "InputTensorCount", false, true},
        {"OutputTensor", output, FieldType::tensor_desc, false, "", "", false, true},
        {"Axis", attribute, FieldType::uint, false, "", "", false, false},
        {"Mode", attribute, FieldType::uint, false, "DML_PADDING_MODE", "", false, false},
        {"CrossChannel", attribute, FieldType::uint, false, "BOOL", "", false, false},
        {"Exponent", attribute, FieldType::int_, false, "", "", false, false},
        {"Alpha", attribute, FieldType::float_, false, "", "", false, false},
        {"SizeCount", attribute, FieldType::uint, false, "", "", true, false},
        {"Sizes", attribute, FieldType::uint_array, false, "", "SizeCount", false, false},
        {"Strides", attribute, FieldType::int_array, true, "", "SizeCount", false, false},
        {"Scales", attribute, FieldType::float_array, false, "", "SizeCount", false, false},
        {"ScaleBias", attribute, FieldType::scale_bias, true, "", "", false, false},
        {"PooledSize", attribute, FieldType::size_2d, false, "", "", false, false},
        {"ValueDataType", attribute, FieldType::uint, false, "DML_TENSOR_DATA_TYPE", "", false, false},
        {"Value", attribute, FieldType::scalar_union, false, "", "", false, false},
        {"FusedActivation", attribute, FieldType::operator_desc, true, "", "", false, false},
        {"ActivationCount", attribute, FieldType::uint, false, "", "", true, false},
        {"Activations", attribute, FieldType::operator_desc_array, false, "", "ActivationCount", false, false},
    };
    const OperatorSchema schema = parsed();
    ASSERT_EQ(schema.fields.size(), std::size(rows));
    for (std::size_t i = 0; i < schema.fields.size(); ++i) {
        const Field& field = schema.fields[i];
        const Row& row = rows[i];
        SCOPED_TRACE(row.name);
        EXPECT_EQ(field.name, row.name);
        EXPECT_EQ(field.kind, row.kind);
        EXPECT_EQ(field.type, row.type);
        EXPECT_EQ(field.optional, row.optional);
        EXPECT_EQ(field.enumeration == nullptr ? "" : field.enumeration->name, row.enumeration);
        EXPECT_EQ(field.count_field, row.count);
        EXPECT_EQ(schema.is_count(field), row.is_count);
        EXPECT_EQ(field.is_tensor(), row.is_tensor);
        EXPECT_EQ(schema.find_field(row.name), &field);
        EXPECT_EQ(field.data_type_field, field.name == "Value" ? "ValueDataType" : "");
        EXPECT_EQ(field.required_before.has_value(), field.name == "MaskTensor");
        EXPECT_EQ(field.minimum_before.has_value(), field.name == "Alpha");
    }
    const auto bound = schema.find_field("Alpha")->minimum_before;
    ASSERT_TRUE(bound);
    EXPECT_EQ(bound->minimum, 0.5);
    EXPECT_EQ(bound->level, (FeatureLevel{5, 1}));
    EXPECT_EQ(schema.find_field("inputtensor"), nullptr);
    EXPECT_EQ(schema.find_field(""), nullptr);
}

TEST(ParseSchema, TheRest) {
    const OperatorSchema schema = parsed();
    EXPECT_EQ(schema.name, "DML_OPERATOR_SYNTHETIC");
    EXPECT_EQ(schema.short_name(), "SYNTHETIC");
    EXPECT_EQ(schema.number, 999u);
    EXPECT_EQ(schema.introduced, (FeatureLevel{3, 1}));
    ASSERT_EQ(schema.same.size(), 3u);
    EXPECT_EQ(schema.same[0].property, SameConstraint::Property::data_type);
    EXPECT_EQ(schema.same[1].property, SameConstraint::Property::dimension_count);
    EXPECT_EQ(schema.same[1].tensors, (std::vector<std::string>{"InputTensor", "MaskTensor", "OutputTensor"}));
    EXPECT_EQ(schema.same[2].property, SameConstraint::Property::sizes);
    ASSERT_EQ(schema.fusable.size(), 2u);
    EXPECT_EQ(schema.fusable.at("DML_OPERATOR_ACTIVATION_GELU"), (FeatureLevel{5, 1}));
}

TEST(ParseSchema, SupportHoldsFromItsLevelToTheNext) {
    const OperatorSchema schema = parsed();
    // The rows are not in the order of their feature levels.
    struct Row {
        std::string_view field;
        FeatureLevel level;
        std::uint32_t max_dimensions;  // 0 if there is no row
    };
    const Row rows[] = {
        {"InputTensor", {3, 0}, 0},  {"InputTensor", {3, 1}, 5}, {"InputTensor", {4, 1}, 5},
        {"InputTensor", {5, 0}, 8},  {"InputTensor", {6, 4}, 8}, {"OutputTensor", {5, 0}, 5},
        {"OutputTensor", {6, 4}, 5}, {"MaskTensor", {4, 0}, 0},  {"MaskTensor", {4, 1}, 2},
        {"InputTensors", {6, 4}, 0}, {"NoSuchField", {6, 4}, 0},
    };
    for (const Row& row : rows) {
        const TensorSupport* support = schema.support_at(row.field, row.level);
        EXPECT_EQ(support == nullptr ? 0 : support->max_dimensions, row.max_dimensions)
            << row.field << " at " << to_string(row.level);
    }
    const TensorSupport* support = schema.support_at("InputTensor", {3, 1});
    ASSERT_NE(support, nullptr);
    EXPECT_EQ(support->min_dimensions, 4u);
    EXPECT_EQ(support->level, (FeatureLevel{3, 1}));
    EXPECT_EQ(support->data_types, (std::vector{DataType::float32, DataType::float16}));
    EXPECT_EQ(schema.support_at("InputTensor", {5, 0})->data_types, (std::vector{DataType::int64, DataType::uint4}));
}

TEST(ParseSchema, ConstraintsOnAttributes) {
    using Kind = AttributeConstraint::Kind;
    const OperatorSchema schema = parsed();
    EXPECT_EQ(schema.same.size(), 3u);
    ASSERT_EQ(schema.sizes.size(), 2u);
    EXPECT_EQ(schema.sizes[0].kind, operators::SizesConstraint::Kind::one_element);
    EXPECT_EQ(schema.sizes[0].tensors, std::vector<std::string>{"MaskTensor"});
    EXPECT_EQ(schema.sizes[1].kind, operators::SizesConstraint::Kind::divide);
    EXPECT_EQ(schema.sizes[1].of, "InputTensor");
    ASSERT_EQ(schema.attributes.size(), 4u);
    const std::tuple<Kind, std::string_view, std::string_view, std::uint32_t> wanted[] = {
        {Kind::size, "SizeCount", "InputTensor", 1},
        {Kind::dimension_count, "SizeCount", "InputTensor", 2},
        {Kind::axis, "Axis", "OutputTensor", 0},
        {Kind::data_type, "ValueDataType", "OutputTensor", 0}};
    for (std::size_t i = 0; i < std::size(wanted); ++i) {
        const AttributeConstraint& constraint = schema.attributes[i];
        EXPECT_EQ(std::tuple(constraint.kind, std::string_view(constraint.field), std::string_view(constraint.tensor),
                             constraint.less),
                  wanted[i]);
    }
    EXPECT_EQ(schema.find_field("MaskTensor")->required_before, (FeatureLevel{5, 2}));
}

TEST(ParseSchema, FusableMayBeLeftOut) {
    std::string text(synthetic);
    const auto from = text.rfind(",\n  \"fusable\"");
    text.replace(from, std::string::npos, "}");
    const auto schema = parse_schema(text);
    ASSERT_TRUE(schema) << schema.error().message;
    EXPECT_TRUE(schema->fusable.empty());
}

TEST(ParseSchema, BrokenEntriesSayWhatIsWrong) {
    struct Row {
        std::string_view from;  // replaced at its first occurrence
        std::string_view to;
        std::string_view message;  // part of the error message
    };
    const Row rows[] = {
        {"{", "", "parse error"},
        {"\"operator\"", "\"Operator\"", "'operator' not found"},
        {"\"number\": 999", "\"number\": \"999\"", "must be number"},
        {"\"featureLevel\": \"3.1\"", "\"featureLevel\": \"3.2\"", "unknown feature level \"3.2\""},
        {"\"featureLevel\": \"3.1\"", "\"featureLevel\": 3.1", "must be string"},
        {"\"featureLevel\": \"5.0\"", "\"featureLevel\": \"5\"", "unknown feature level \"5\""},
        {"\"fields\"", "\"field\"", "'fields' not found"},
        {"\"name\": \"Axis\"", "\"nme\": \"Axis\"", "'name' not found"},
        {"\"kind\": \"input\"", "\"kind\": \"inout\"", "unknown word 'inout'"},
        {"\"kind\": \"input\"", "\"kind\": \"\"", "unknown word ''"},
        {"\"SIZE_2D\"", "\"SIZE_3D\"", "unknown word 'SIZE_3D'"},
        {"\"type\": \"SIZE_2D\"", "\"optional\": false", "'type' not found"},
        {"\"optional\": true", "\"optional\": \"yes\"", "must be boolean"},
        {"\"before\": \"5.1\"", "\"before\": \"5.3\"", "unknown feature level \"5.3\""},
        {"\"before\": \"5.1\"", "\"until\": \"5.1\"", "'before' not found"},
        {"\"value\": 0.5", "\"value\": \"0.5\"", "must be number"},
        {"DML_PADDING_MODE", "DML_PADDING", "unknown enumeration 'DML_PADDING'"},
        {"\"tensorSupport\"", "\"tensorsupport\"", "'tensorSupport' not found"},
        {"\"dimensionCounts\": [1, 8]", "\"dimensionCounts\": [1]", "array index 1 is out of range"},
        {"\"dimensionCounts\": [1, 8]", "\"dimensionCounts\": 8", "cannot use at()"},
        {"\"INT64\"", "\"INT128\"", "unknown data type \"INT128\""},
        {"\"tensors\": [\"MaskTensor\"]", "\"tensors\": [\"Mask\"]", "'Mask', which is not a field"},
        {"\"constraints\"", "\"constraint\"", "'constraints' not found"},
        {"\"same\": \"Sizes\"", "\"same\": \"Strides\"", "unknown word 'Strides'"},
        {"\"activation\"", "\"operator\"", "'activation' not found"},
        {"\"requiredBefore\": \"5.2\"", "\"requiredBefore\": \"9.9\"", "unknown feature level \"9.9\""},
        // Fields that do not exist or cannot be meant.
        {"\"count\": \"InputTensorCount\"", "\"count\": \"Count\"", "'Count' is not a count"},
        {"\"count\": \"InputTensorCount\"", "\"count\": \"Mode\"", "'Mode' is not a count"},
        {"\"dataType\": \"ValueDataType\"", "\"dataType\": \"Type\"", "'Type' is not a data type"},
        {"\"dataType\": \"ValueDataType\"", "\"dataType\": \"Mode\"", "'Mode' is not a data type"},
        {", \"dataType\": \"ValueDataType\"", "", "'' is not a data type"},
        {"\"same\": \"DataType\", \"tensors\": [\"InputTensor\"", "\"same\": \"DataType\", \"tensors\": [\"Axis\"",
         "'Axis' is not a tensor"},
        {"\"axis\": \"Axis\"", "\"axis\": \"Alpha\"", "'Alpha' is not an axis"},
        {"\"axis\": \"Axis\"", "\"axes\": \"Axis\"", "unknown constraint"},
        {"\"of\": \"OutputTensor\"", "\"of\": \"Output\"", "'Output' is not a tensor"},
        {"\"of\": \"OutputTensor\"", "\"tensor\": \"OutputTensor\"", "'of' not found"},
        {"\"dimensionCount\": \"SizeCount\"", "\"dimensionCount\": \"Sizes\"", "'Sizes' is not a number"},
    };
    for (const Row& row : rows) {
        std::string text(synthetic);
        const auto at = text.find(row.from);
        ASSERT_NE(at, std::string::npos) << row.from;
        text.replace(at, row.from.size(), row.to);
        const auto schema = parse_schema(text);
        ASSERT_FALSE(schema) << row.from << " -> " << row.to;
        EXPECT_NE(schema.error().message.find(row.message), std::string::npos)
            << row.from << " -> " << row.to << ": " << schema.error().message;
    }
    for (const char* text : {"", "[]", "null", "1"}) {
        EXPECT_FALSE(parse_schema(text)) << text;
    }
}

TEST(Catalogue, NumbersAreTheHeaders) {
    // DML_OPERATOR_TYPE of DirectML.h 1.15, counted from DML_OPERATOR_INVALID = 0.
    struct Row {
        std::string_view name;
        std::uint32_t number;
        FeatureLevel introduced;
    };
    const Row rows[] = {
        {"SLICE1", 111, {2, 1}},
        {"TOP_K1", 112, {2, 1}},
        {"MEAN_VARIANCE_NORMALIZATION1", 115, {2, 1}},
        {"QUANTIZED_LINEAR_CONVOLUTION", 120, {2, 1}},
        {"ACTIVATION_ELU", 35, {1, 0}},
        {"ACTIVATION_CELU", 128, {3, 0}},
        {"ACTIVATION_GELU", 157, {5, 1}},
        {"ACTIVATION_SHRINK", 90, {2, 0}},
        {"ELEMENT_WISE_IDENTITY", 1, {1, 0}},
        {"CONVOLUTION", 53, {1, 0}},
        {"UNFOLD", 177, {6, 4}},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.name);
        const OperatorSchema* schema = find_operator(row.name);
        ASSERT_NE(schema, nullptr);
        EXPECT_EQ(schema->number, row.number);
        EXPECT_EQ(schema->introduced, row.introduced);
        EXPECT_EQ(schema->short_name(), row.name);
    }
}

TEST(Catalogue, Lookup) {
    const OperatorSchema* schema = find_operator("SLICE1");
    ASSERT_NE(schema, nullptr);
    EXPECT_EQ(schema->name, "DML_OPERATOR_SLICE1");
    EXPECT_EQ(find_operator("DML_OPERATOR_SLICE1"), schema);
    for (const char* name : {"", "slice1", "Slice1", "SLICE2", "SLICE1 ", "DML_OPERATOR_", "DML_OPERATOR_slice1",
                             "dml_operator_slice1", "DML_OPERATOR_DML_OPERATOR_SLICE1", "SLICE1.json", "INVALID"}) {
        EXPECT_EQ(find_operator(name), nullptr) << '"' << name << '"';
    }
}

TEST(Catalogue, LookupFromSeveralThreads) {
    // Uses names that no earlier test of this file has requested, so that threads parse these entries at the same time.
    // The sanitizers detect races.
    std::vector<const OperatorSchema*> found(8);
    {
        std::vector<std::jthread> threads;
        for (auto& result : found) {
            threads.emplace_back([&result] { result = find_operator("ACTIVATION_SOFTSIGN"); });
        }
    }
    EXPECT_NE(found[0], nullptr);
    EXPECT_EQ(std::set(found.begin(), found.end()).size(), 1u);
}

/// Checks for every compiled-in entry what parse_schema does not check.
TEST(Catalogue, EveryEntryIsConsistent) {
    const auto names = operator_names();
    EXPECT_EQ(names.size(), 177u) << "operators of feature level 6.4";
    std::uint32_t number = 0;
    for (const std::string& name : names) {
        SCOPED_TRACE(name);
        const OperatorSchema* schema = find_operator(name);
        ASSERT_NE(schema, nullptr);
        ASSERT_TRUE(name.starts_with("DML_OPERATOR_"));
        EXPECT_EQ(schema->number, ++number) << "the header's enumeration has no gaps";
        const auto is_tensor = [&](const std::string& field) {
            const Field* found = schema->find_field(field);
            return found != nullptr && found->is_tensor();
        };

        std::set<std::string> fields;
        for (const Field& field : schema->fields) {
            EXPECT_TRUE(fields.insert(field.name).second) << field.name << " twice";
            EXPECT_EQ(field.is_tensor(), field.kind != FieldKind::attribute) << field.name;
            EXPECT_TRUE(field.enumeration == nullptr || field.type == FieldType::uint) << field.name;
            const bool array = field.type == FieldType::tensor_desc_array ||
                               field.type == FieldType::operator_desc_array || field.type == FieldType::uint_array ||
                               field.type == FieldType::int_array || field.type == FieldType::float_array;
            EXPECT_EQ(array, !field.count_field.empty()) << field.name;
            EXPECT_EQ(field.type == FieldType::scalar_union, !field.data_type_field.empty()) << field.name;
            EXPECT_FALSE(field.required_before && !field.optional) << field.name;
            if (array) {
                const Field* count = schema->find_field(field.count_field);
                ASSERT_NE(count, nullptr) << field.count_field;
                EXPECT_TRUE(count->type == FieldType::uint && count->enumeration == nullptr) << field.count_field;
            }
            if (field.is_tensor()) {
                // Supported since the level that introduced the operator; an optional tensor may have been added later.
                EXPECT_TRUE(schema->support_at(field.name, field.optional ? core::highest_feature_level
                                                                          : schema->introduced) != nullptr)
                    << field.name;
            }
        }
        for (const auto& [field, rows] : schema->tensor_support) {
            EXPECT_TRUE(is_tensor(field)) << field;
            for (std::size_t i = 0; i < rows.size(); ++i) {
                EXPECT_LE(1u, rows[i].min_dimensions) << field;
                EXPECT_LE(rows[i].min_dimensions, rows[i].max_dimensions) << field;
                EXPECT_LE(rows[i].max_dimensions, 8u) << field;
                EXPECT_FALSE(rows[i].data_types.empty()) << field;
                EXPECT_GE(rows[i].level, schema->introduced) << field;
                EXPECT_TRUE(i == 0 || rows[i - 1].level < rows[i].level) << field << " has two rows for a level";
                const std::set<DataType> types(rows[i].data_types.begin(), rows[i].data_types.end());
                EXPECT_EQ(types.size(), rows[i].data_types.size()) << field;
                EXPECT_FALSE(types.contains(DataType::unknown)) << field;
            }
        }
        for (const SameConstraint& constraint : schema->same) {
            // A single array means that its tensors share the property.
            EXPECT_TRUE(constraint.tensors.size() >= 2 ||
                        schema->find_field(constraint.tensors.at(0))->type == FieldType::tensor_desc_array);
            EXPECT_TRUE(std::all_of(
                constraint.tensors.begin(), constraint.tensors.end(),
                [&](const std::string& tensor) { return is_tensor(std::string(operators::array_of(tensor))); }));
        }
        for (const auto& [activation, level] : schema->fusable) {
            const OperatorSchema* fused = find_operator(activation);
            ASSERT_NE(fused, nullptr) << activation;
            EXPECT_TRUE(std::any_of(schema->fields.begin(), schema->fields.end(), [](const Field& field) {
                return field.type == FieldType::operator_desc || field.type == FieldType::operator_desc_array;
            }));
            EXPECT_GE(level, schema->introduced) << activation;
            EXPECT_GE(level, fused->introduced) << activation;
        }
    }
}

TEST(Enumeration, EveryOneParsesItsEnumeratorsBothWays) {
    for (const std::string& name : operator_names()) {
        for (const Field& field : find_operator(name)->fields) {
            if (field.enumeration != nullptr) {
                EXPECT_EQ(find_enumeration(field.enumeration->name), field.enumeration);
            }
        }
    }
    for (const char* name :
         {"DML_REDUCE_FUNCTION", "DML_MATRIX_TRANSFORM", "DML_CONVOLUTION_MODE", "DML_CONVOLUTION_DIRECTION",
          "DML_PADDING_MODE", "DML_INTERPOLATION_MODE", "DML_RECURRENT_NETWORK_DIRECTION", "DML_ROUNDING_MODE",
          "DML_IS_INFINITY_MODE", "DML_AXIS_DIRECTION", "DML_DEPTH_SPACE_ORDER", "DML_RANDOM_GENERATOR_TYPE",
          "DML_MULTIHEAD_ATTENTION_MASK_TYPE", "DML_QUANTIZATION_TYPE", "DML_TENSOR_DATA_TYPE"}) {
        SCOPED_TRACE(name);
        const Enumeration* enumeration = find_enumeration(name);
        ASSERT_NE(enumeration, nullptr);
        EXPECT_EQ(enumeration->prefix(), std::string(name) + "_");
        for (std::uint32_t value = 0; value < enumeration->enumerators.size(); ++value) {
            const auto& enumerator = enumeration->enumerators[value];
            // In the header, all enumerators count from 0.
            EXPECT_EQ(enumerator.value, value);
            ASSERT_TRUE(enumerator.name.starts_with(enumeration->prefix())) << enumerator.name;
            EXPECT_EQ(enumeration->parse(enumerator.name), value);
            EXPECT_EQ(enumeration->parse(enumerator.name.substr(enumeration->prefix().size())), value);
            EXPECT_EQ(enumeration->name_of(value), enumerator.name);
        }
        EXPECT_EQ(enumeration->name_of(static_cast<std::uint32_t>(enumeration->enumerators.size())), std::nullopt);
        EXPECT_EQ(enumeration->parse(""), std::nullopt);
        EXPECT_EQ(enumeration->parse(enumeration->prefix()), std::nullopt);
    }
    EXPECT_EQ(find_enumeration("DML_NO_SUCH_THING"), nullptr);
    EXPECT_EQ(find_enumeration(""), nullptr);
}

TEST(Catalogue, SaysWhatMayBeFusedIntoWhatTakesActivations) {
    for (const std::string& name : operator_names()) {
        const OperatorSchema& schema = *find_operator(name);
        const bool fuses = std::any_of(schema.fields.begin(), schema.fields.end(), [](const Field& field) {
            return field.type == FieldType::operator_desc || field.type == FieldType::operator_desc_array;
        });
        EXPECT_EQ(fuses, !schema.fusable.empty()) << name;
    }
}

TEST(Catalogue, SaysWhatNetworksHaveAndHowElementsAreUsed) {
    const auto parts = [](const char* name) {
        const NetworkParts& network = find_operator(name)->network;
        return std::pair(network.gates, network.activations);
    };
    EXPECT_EQ(parts("RNN"), std::pair(1u, 1u));
    EXPECT_EQ(parts("GRU"), std::pair(3u, 2u));
    EXPECT_EQ(parts("LSTM"), std::pair(4u, 3u));
    EXPECT_EQ(parts("GEMM"), std::pair(0u, 0u));
    EXPECT_EQ(find_operator("GATHER")->elements, ElementUse::moved);
    EXPECT_EQ(find_operator("MAX_POOLING2")->elements, ElementUse::compared);
    EXPECT_EQ(find_operator("AVERAGE_POOLING")->elements, ElementUse::computed);
    std::string text(synthetic);
    text.insert(text.find("\"fields\""), "\"elements\": \"sorted\", ");
    EXPECT_FALSE(parse_schema(text));
}

TEST(Enumeration, AxisDirectionAndBool) {
    const Enumeration* direction = find_enumeration("DML_AXIS_DIRECTION");
    ASSERT_NE(direction, nullptr);
    EXPECT_EQ(direction->parse("INCREASING"), 0u);
    EXPECT_EQ(direction->parse("DML_AXIS_DIRECTION_DECREASING"), 1u);
    EXPECT_EQ(direction->parse("decreasing"), std::nullopt);
    EXPECT_EQ(direction->parse("DIRECTION_DECREASING"), std::nullopt);
    const Enumeration* boolean = find_enumeration("BOOL");
    ASSERT_NE(boolean, nullptr);
    EXPECT_EQ(boolean->prefix(), "");
    EXPECT_EQ(boolean->parse("FALSE"), 0u);
    EXPECT_EQ(boolean->parse("TRUE"), 1u);
    EXPECT_EQ(boolean->parse("true"), std::nullopt);
    EXPECT_EQ(boolean->name_of(1), "TRUE");
    EXPECT_EQ(boolean->name_of(2), std::nullopt);
}

}  // namespace
}  // namespace dmlconform::operators::catalogue_test
