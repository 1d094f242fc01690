// Looks up neutral values in neutral_attributes.json and converts them to the field's type.
#include "engine/operators/neutral.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/core/element.h"
#include "engine/core/embedded_text.h"

namespace dmlconform::operators {

// Written by the build from engine/operators/neutral_attributes.json.
extern const std::span<const core::EmbeddedText> neutral_texts;

namespace {

using nlohmann::json;

const json& table() {
    static const json parsed = json::parse(neutral_texts.front().text);
    return parsed;
}

/// The table's entry for a field: the operator's own, otherwise the general one. Null if the table has neither.
const json* entry_of(const OperatorSchema& schema, const Field& field) {
    const json& own = table().at("operators");
    if (const auto found = own.find(std::string(schema.short_name())); found != own.end()) {
        if (const auto value = found->find(field.name); value != found->end()) {
            return &*value;
        }
    }
    const json& shared = table().at("fields");
    const auto found = shared.find(field.name);
    return found == shared.end() ? nullptr : &*found;
}

/// Neutral enumerators without an entry in the table: FALSE for BOOL, and the present value for a data type.
std::optional<FieldValue> neutral_enumerator(const Descriptor& descriptor, const Field& field) {
    if (field.enumeration->name == "BOOL") {
        const json* entry = entry_of(*descriptor.schema, field);
        return FieldValue(static_cast<std::uint32_t>(entry != nullptr && entry->get<bool>()));
    }
    if (field.enumeration->name == "DML_TENSOR_DATA_TYPE") {
        return std::nullopt;
    }
    const json& named = table().at("enumerations");
    const auto found = named.find(field.enumeration->name);
    if (found == named.end()) {
        return FieldValue(field.enumeration->enumerators.front().value);
    }
    return FieldValue(*field.enumeration->parse(found->get<std::string>()));
}

/// The last dimension of the tensor that an axis belongs to. Empty if the field is not an axis.
std::optional<std::uint32_t> last_axis(const Descriptor& descriptor, const Field& field) {
    for (const AttributeConstraint& constraint : descriptor.schema->attributes) {
        const core::TensorDesc* tensor =
            constraint.kind == AttributeConstraint::Kind::axis && constraint.field == field.name
                ? descriptor.tensor(constraint.tensor)
                : nullptr;
        if (tensor != nullptr && !tensor->sizes.empty()) {
            return static_cast<std::uint32_t>(tensor->sizes.size() - 1);
        }
    }
    return std::nullopt;
}

FieldValue activation(std::string_view name) {
    Descriptor fused;
    fused.schema = find_operator(name);
    fused.values.resize(fused.schema->fields.size());
    return std::make_shared<const Descriptor>(std::move(fused));
}

/// Activations of a recurrent network in one direction. Of several, the first is that of its gates.
FieldValue network_activations(const OperatorSchema& schema) {
    OperatorDescArray all;
    for (std::uint32_t i = 0; i < schema.network.activations; ++i) {
        const bool is_of_gates = i == 0 && schema.network.activations > 1;
        all.items.push_back(std::get<OperatorDesc>(activation(is_of_gates ? "ACTIVATION_SIGMOID" : "ACTIVATION_TANH")));
    }
    return all;
}

template <class T>
std::optional<FieldValue> filled(const Descriptor& descriptor, const Field& field) {
    const auto* now = std::get_if<std::vector<T>>(&descriptor.value(field.name));
    const json* entry = entry_of(*descriptor.schema, field);
    return now == nullptr || entry == nullptr ? std::nullopt
                                              : std::optional<FieldValue>(std::vector<T>(now->size(), entry->get<T>()));
}

/// Enlarges the last two dimensions by 2. With scales of 1 nothing would be resampled.
std::optional<FieldValue> neutral_scales(const Descriptor& descriptor) {
    const auto* now = std::get_if<std::vector<float>>(&descriptor.value("Scales"));
    if (now == nullptr) {
        return std::nullopt;
    }
    std::vector<float> scales(now->size(), 1.0F);
    std::fill(scales.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(2, scales.size())), scales.end(), 2.0F);
    return FieldValue(std::move(scales));
}

std::optional<FieldValue> neutral_scalar(const Descriptor& descriptor, const Field& field) {
    const json* entry = entry_of(*descriptor.schema, field);
    if (entry == nullptr) {
        return std::nullopt;
    }
    const auto bits = core::encode_element(descriptor.scalar_type(field), entry->get<double>());
    return bits ? std::optional<FieldValue>(ScalarUnion{*bits}) : std::nullopt;
}

}  // namespace

std::optional<FieldValue> neutral_value(const Descriptor& descriptor, const Field& field) {
    if (const auto axis = last_axis(descriptor, field)) {
        return field.type == FieldType::uint ? FieldValue(*axis) : FieldValue(std::vector<std::uint32_t>{*axis});
    }
    const json* entry = entry_of(*descriptor.schema, field);
    switch (field.type) {
        case FieldType::uint:
            if (field.enumeration != nullptr) {
                return neutral_enumerator(descriptor, field);
            }
            return entry == nullptr ? std::nullopt : std::optional<FieldValue>(entry->get<std::uint32_t>());
        case FieldType::int_:
            return entry == nullptr ? std::nullopt : std::optional<FieldValue>(entry->get<std::int32_t>());
        case FieldType::float_:
            return entry == nullptr ? std::nullopt : std::optional<FieldValue>(entry->get<float>());
        case FieldType::uint_array:
            return filled<std::uint32_t>(descriptor, field);
        case FieldType::int_array:
            return filled<std::int32_t>(descriptor, field);
        case FieldType::float_array:
            return field.name == "Scales" ? neutral_scales(descriptor) : filled<float>(descriptor, field);
        case FieldType::operator_desc:
            return field.optional ? std::optional<FieldValue>(Null{}) : std::nullopt;
        case FieldType::operator_desc_array:
            return network_activations(*descriptor.schema);
        case FieldType::scale_bias:
            return field.optional ? std::optional<FieldValue>(Null{}) : std::nullopt;
        case FieldType::size_2d:
            return FieldValue(Size2D{2, 2});
        case FieldType::scalar_union:
            return neutral_scalar(descriptor, field);
        default:
            return std::nullopt;
    }
}

}  // namespace dmlconform::operators
