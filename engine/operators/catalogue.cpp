// Parsing and lookup of catalogue entries.
#include "engine/operators/catalogue.h"

#include <algorithm>
#include <array>
#include <list>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "engine/core/ascii_case.h"
#include "engine/core/embedded_text.h"
#include "engine/core/parse_number.h"
#include "engine/operators/operator_name.h"

namespace dmlconform::operators {

// Written by the build from engine/operators/catalogue/*.json and engine/operators/enumerations.json.
extern const std::span<const core::EmbeddedText> catalogue_texts;
extern const std::span<const core::EmbeddedText> enumeration_texts;

namespace {

// Catalogue files are part of the program, so a malformed one is a bug of ours. The readers throw, and parse_schema
// turns exceptions into an error for the tests that pass malformed entries.
using nlohmann::json;

template <class T, std::size_t N>
T one_of(const std::array<std::pair<std::string_view, T>, N>& table, const std::string& text) {
    for (const auto& [name, value] : table) {
        if (name == text) {
            return value;
        }
    }
    throw std::runtime_error("unknown word '" + text + "'");
}

constexpr std::array<std::pair<std::string_view, FieldKind>, 3> field_kinds{{
    {"input", FieldKind::input},
    {"output", FieldKind::output},
    {"attribute", FieldKind::attribute},
}};

constexpr std::array<std::pair<std::string_view, FieldType>, 13> field_types{{
    {"TENSOR_DESC", FieldType::tensor_desc},
    {"TENSOR_DESC_ARRAY", FieldType::tensor_desc_array},
    {"OPERATOR_DESC", FieldType::operator_desc},
    {"OPERATOR_DESC_ARRAY", FieldType::operator_desc_array},
    {"UINT", FieldType::uint},
    {"INT", FieldType::int_},
    {"FLOAT", FieldType::float_},
    {"UINT_ARRAY", FieldType::uint_array},
    {"INT_ARRAY", FieldType::int_array},
    {"FLOAT_ARRAY", FieldType::float_array},
    {"SCALE_BIAS", FieldType::scale_bias},
    {"SIZE_2D", FieldType::size_2d},
    {"SCALAR_UNION", FieldType::scalar_union},
}};

constexpr std::array<std::pair<std::string_view, SameConstraint::Property>, 3> properties{{
    {"DataType", SameConstraint::Property::data_type},
    {"DimensionCount", SameConstraint::Property::dimension_count},
    {"Sizes", SameConstraint::Property::sizes},
}};

/// JSON keys of constraints on attributes. The value names the attribute.
constexpr std::array<std::pair<const char*, AttributeConstraint::Kind>, 4> attribute_constraints{{
    {"dimensionCount", AttributeConstraint::Kind::dimension_count},
    {"axis", AttributeConstraint::Kind::axis},
    {"dataType", AttributeConstraint::Kind::data_type},
    {"size", AttributeConstraint::Kind::size},
}};

/// JSON keys of constraints on sizes. The value lists the tensors.
constexpr std::array<std::pair<const char*, SizesConstraint::Kind>, 2> sizes_constraints{{
    {"oneElement", SizesConstraint::Kind::one_element},
    {"sizesDivide", SizesConstraint::Kind::divide},
}};

constexpr std::string_view data_type_enumeration = "DML_TENSOR_DATA_TYPE";

core::FeatureLevel level_from(const json& value) {
    const auto level = core::parse_feature_level(value.get<std::string>());
    if (!level) {
        throw std::runtime_error("unknown feature level " + value.dump());
    }
    return *level;
}

Field field_from(const json& entry) {
    Field field;
    field.name = entry.at("name").get<std::string>();
    field.kind = one_of(field_kinds, entry.at("kind").get<std::string>());
    field.type = one_of(field_types, entry.at("type").get<std::string>());
    field.optional = entry.value("optional", false);
    field.count_field = entry.value("count", "");
    field.data_type_field = entry.value("dataType", "");
    if (const auto level = entry.find("requiredBefore"); level != entry.end()) {
        field.required_before = level_from(*level);
    }
    if (const auto minimum = entry.find("minimum"); minimum != entry.end()) {
        field.minimum_before = MinimumBefore{minimum->at("value").get<double>(), level_from(minimum->at("before"))};
    }
    if (const auto name = entry.value("enum", ""); !name.empty()) {
        field.enumeration = find_enumeration(name);
        if (field.enumeration == nullptr) {
            throw std::runtime_error("unknown enumeration '" + name + "'");
        }
    }
    return field;
}

void add_support(OperatorSchema& schema, const json& entry) {
    TensorSupport support;
    support.level = level_from(entry.at("featureLevel"));
    support.min_dimensions = entry.at("dimensionCounts").at(0).get<std::uint32_t>();
    support.max_dimensions = entry.at("dimensionCounts").at(1).get<std::uint32_t>();
    for (const json& type : entry.at("dataTypes")) {
        const auto parsed = core::parse_data_type(type.get<std::string>());
        if (!parsed) {
            throw std::runtime_error("unknown data type " + type.dump());
        }
        support.data_types.push_back(*parsed);
    }
    for (const json& tensor : entry.at("tensors")) {
        const auto name = tensor.get<std::string>();
        if (schema.find_field(name) == nullptr) {
            throw std::runtime_error("tensorSupport names '" + name + "', which is not a field");
        }
        schema.tensor_support[name].push_back(support);
    }
}

void add_constraint(OperatorSchema& schema, const json& entry) {
    if (entry.contains("same")) {
        schema.same.push_back({one_of(properties, entry.at("same").get<std::string>()),
                               entry.at("tensors").get<std::vector<std::string>>()});
        return;
    }
    for (const auto& [name, kind] : sizes_constraints) {
        if (const auto tensors = entry.find(name); tensors != entry.end()) {
            schema.sizes.push_back({kind, tensors->get<std::vector<std::string>>(), entry.value("of", "")});
            return;
        }
    }
    for (const auto& [name, kind] : attribute_constraints) {
        if (const auto field = entry.find(name); field != entry.end()) {
            schema.attributes.push_back(
                {kind, field->get<std::string>(), entry.at("of").get<std::string>(),
                 entry.value(kind == AttributeConstraint::Kind::size ? "dimension" : "less", std::uint32_t{0})});
            return;
        }
    }
    throw std::runtime_error("unknown constraint " + entry.dump());
}

/// Finds a field by name. Throws unless it exists and `suits` accepts it.
template <class Suits>
void require_field(const OperatorSchema& schema, const std::string& name, const char* what, Suits&& suits) {
    const Field* field = schema.find_field(array_of(name));
    if (field == nullptr || !suits(*field)) {
        throw std::runtime_error("'" + name + "' is not " + what + " of " + schema.name);
    }
}

/// Throws unless every referenced field exists.
void check_references(const OperatorSchema& schema) {
    const auto is_tensor = [](const Field& field) { return field.is_tensor(); };
    const auto is_number = [](const Field& field) {
        return field.type == FieldType::uint && field.enumeration == nullptr;
    };
    const auto is_axis = [&](const Field& field) { return is_number(field) || field.type == FieldType::uint_array; };
    const auto is_data_type = [](const Field& field) {
        return field.enumeration != nullptr && field.enumeration->name == data_type_enumeration;
    };
    for (const Field& field : schema.fields) {
        if (!field.count_field.empty()) {
            require_field(schema, field.count_field, "a count", is_number);
        }
        if (field.type == FieldType::scalar_union || !field.data_type_field.empty()) {
            require_field(schema, field.data_type_field, "a data type", is_data_type);
        }
    }
    for (const SameConstraint& constraint : schema.same) {
        for (const std::string& tensor : constraint.tensors) {
            require_field(schema, tensor, "a tensor", is_tensor);
        }
    }
    for (const SizesConstraint& constraint : schema.sizes) {
        for (const std::string& tensor : constraint.tensors) {
            require_field(schema, tensor, "a tensor", is_tensor);
        }
        if (constraint.kind == SizesConstraint::Kind::divide) {
            require_field(schema, constraint.of, "a tensor", is_tensor);
        }
    }
    const auto is_of = [](FieldKind kind) {
        return [kind](const Field& field) { return field.kind == kind && field.type == FieldType::tensor_desc; };
    };
    for (const auto& [output, inputs] : schema.in_place) {
        require_field(schema, output, "an output", is_of(FieldKind::output));
        for (const std::string& input : inputs) {
            require_field(schema, input, "an input", is_of(FieldKind::input));
        }
    }
    for (const AttributeConstraint& constraint : schema.attributes) {
        require_field(schema, constraint.tensor, "a tensor", is_tensor);
        switch (constraint.kind) {
            case AttributeConstraint::Kind::dimension_count:
            case AttributeConstraint::Kind::size:
                require_field(schema, constraint.field, "a number", is_number);
                break;
            case AttributeConstraint::Kind::axis:
                require_field(schema, constraint.field, "an axis", is_axis);
                break;
            case AttributeConstraint::Kind::data_type:
                require_field(schema, constraint.field, "a data type", is_data_type);
                break;
        }
    }
}

constexpr std::array<std::pair<std::string_view, ElementUse>, 3> element_uses{
    {{"computed", ElementUse::computed}, {"compared", ElementUse::compared}, {"moved", ElementUse::moved}}};

OperatorSchema schema_from(const json& entry) {
    OperatorSchema schema;
    schema.name = entry.at("operator").get<std::string>();
    schema.number = entry.at("number").get<std::uint32_t>();
    schema.introduced = level_from(entry.at("featureLevel"));
    for (const json& field : entry.at("fields")) {
        schema.fields.push_back(field_from(field));
    }
    for (const json& support : entry.at("tensorSupport")) {
        add_support(schema, support);
    }
    for (auto& [field, rows] : schema.tensor_support) {
        std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.level < b.level; });
    }
    for (const json& constraint : entry.at("constraints")) {
        add_constraint(schema, constraint);
    }
    for (const json& fusable : entry.value("fusable", json::array())) {
        schema.fusable.emplace(fusable.at("activation").get<std::string>(), level_from(fusable.at("featureLevel")));
    }
    schema.in_place = entry.value("inPlace", json::object()).get<decltype(schema.in_place)>();
    schema.elements = one_of(element_uses, entry.value("elements", "computed"));
    schema.element_wise = entry.value("elementWise", false);
    if (const auto network = entry.find("network"); network != entry.end()) {
        schema.network = {network->at("gates").get<std::uint32_t>(), network->at("activations").get<std::uint32_t>()};
    }
    check_references(schema);
    return schema;
}

std::list<Enumeration> load_enumerations() {
    std::list<Enumeration> result;
    const auto document = nlohmann::ordered_json::parse(enumeration_texts.front().text);
    for (const auto& [name, enumerators] : document.items()) {
        Enumeration& enumeration = result.emplace_back();
        enumeration.name = name;
        for (const auto& [enumerator, value] : enumerators.items()) {
            enumeration.enumerators.push_back({enumerator, value.get<std::uint32_t>()});
        }
    }
    return result;
}

/// "DML_OPERATOR_SLICE1" -> "slice1.json".
std::string file_name_of(std::string_view operator_name) {
    return core::lower_case(short_name_of(operator_name)) + ".json";
}

}  // namespace

std::string Enumeration::prefix() const {
    return name == "BOOL" ? std::string() : name + "_";
}

std::optional<std::uint32_t> Enumeration::parse(std::string_view text) const {
    const std::string start = prefix();
    for (const Enumerator& enumerator : enumerators) {
        const std::string_view full = enumerator.name;
        if (text == full || (full.starts_with(start) && text == full.substr(start.size()))) {
            return enumerator.value;
        }
    }
    return std::nullopt;
}

std::optional<std::string_view> Enumeration::name_of(std::uint32_t value) const {
    for (const Enumerator& enumerator : enumerators) {
        if (enumerator.value == value) {
            return enumerator.name;
        }
    }
    return std::nullopt;
}

std::string_view OperatorSchema::short_name() const {
    return short_name_of(name);
}

std::string_view array_of(std::string_view name) {
    return name.substr(0, name.find('['));
}

std::optional<std::size_t> index_in(std::string_view name) {
    const std::string_view index = name.substr(array_of(name).size());
    return index.empty() ? std::nullopt : core::parse_number<std::size_t>(index.substr(1, index.find(']') - 1));
}

const Field* OperatorSchema::find_field(std::string_view field_name) const {
    for (const Field& field : fields) {
        if (field.name == field_name) {
            return &field;
        }
    }
    return nullptr;
}

bool OperatorSchema::is_count(const Field& field) const {
    return std::any_of(fields.begin(), fields.end(), [&](const Field& f) { return f.count_field == field.name; });
}

const TensorSupport* OperatorSchema::support_at(std::string_view field, core::FeatureLevel level) const {
    const auto rows = tensor_support.find(field);
    const TensorSupport* result = nullptr;
    if (rows != tensor_support.end()) {
        for (const TensorSupport& row : rows->second) {
            if (row.level <= level) {
                result = &row;
            }
        }
    }
    return result;
}

core::Result<OperatorSchema> parse_schema(std::string_view text) {
    try {
        return schema_from(json::parse(text));
    } catch (const std::exception& error) {
        return core::fail(error.what());
    }
}

const OperatorSchema* find_operator(std::string_view name) {
    static std::mutex mutex;
    static std::map<std::string, OperatorSchema, std::less<>> parsed;

    const std::string file = file_name_of(name);
    // Case matters: file names are in lower case, operator names in upper case.
    const auto text = std::find_if(catalogue_texts.begin(), catalogue_texts.end(),
                                   [&](const core::EmbeddedText& entry) { return entry.name == file; });
    if (text == catalogue_texts.end()) {
        return nullptr;
    }
    const std::scoped_lock lock(mutex);
    auto entry = parsed.find(file);
    if (entry == parsed.end()) {
        auto schema = parse_schema(text->text);
        if (!schema) {
            throw std::logic_error("catalogue/" + file + ": " + schema.error().message);
        }
        entry = parsed.emplace(file, std::move(*schema)).first;
    }
    const OperatorSchema& schema = entry->second;
    return name == schema.name || name == schema.short_name() ? &schema : nullptr;
}

std::vector<std::string> operator_names() {
    std::vector<const OperatorSchema*> schemas;
    for (const core::EmbeddedText& entry : catalogue_texts) {
        const auto name = entry.name.substr(0, entry.name.size() - std::string_view(".json").size());
        schemas.push_back(find_operator(core::upper_case(name)));
    }
    std::sort(schemas.begin(), schemas.end(), [](const auto* a, const auto* b) { return a->number < b->number; });
    std::vector<std::string> names;
    names.reserve(schemas.size());
    for (const OperatorSchema* schema : schemas) {
        names.push_back(schema->name);
    }
    return names;
}

const Enumeration* find_enumeration(std::string_view name) {
    static const std::list<Enumeration> enumerations = load_enumerations();
    const auto found =
        std::find_if(enumerations.begin(), enumerations.end(), [&](const Enumeration& e) { return e.name == name; });
    return found == enumerations.end() ? nullptr : &*found;
}

}  // namespace dmlconform::operators
