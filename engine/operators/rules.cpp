// Validation of whole descriptors: what the catalogue says first, then the operator's own rules.
#include "engine/operators/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/operators/rules_registry.h"
#include "engine/operators/tensor_rules.h"

namespace dmlconform::operators {
namespace {

/// In the order of SameConstraint::Property.
constexpr std::array<std::string_view, 3> same_rules{"tensor.sameDataType", "tensor.sameDimensionCount",
                                                     "tensor.sameSizes"};

Verdict reject(std::string_view rule, std::string message) {
    return Rejection{.rule = std::string(rule), .message = std::move(message), .legal_from = {}};
}

Verdict check_number(const Field& field, const FieldValue& value, core::FeatureLevel level) {
    const auto& bound = field.minimum_before;
    const auto* number = std::get_if<float>(&value);
    if (bound && number != nullptr && level < bound->level && !(double{*number} >= bound->minimum)) {
        return reject("field.minimum", fmt::format("{} is {}; before feature level {} it must be at least {}",
                                                   field.name, *number, to_string(bound->level), bound->minimum));
    }
    return {};
}

Verdict check_field(const Descriptor& descriptor, std::size_t index, core::FeatureLevel level) {
    const Field& field = descriptor.schema->fields[index];
    const FieldValue& value = descriptor.values[index];
    if (std::holds_alternative<Null>(value) && !field.optional) {
        return reject("field.required", fmt::format("{} is null, but it is not optional", field.name));
    }
    if (const auto* tensor = std::get_if<core::TensorDesc>(&value)) {
        return validate_tensor(*descriptor.schema, field, *tensor, level);
    }
    if (const auto* tensors = std::get_if<TensorDescArray>(&value)) {
        for (const core::TensorDesc& tensor : tensors->items) {
            if (auto rejection = validate_tensor(*descriptor.schema, field, tensor, level)) {
                return rejection;
            }
        }
    }
    if (auto rejection = check_number(field, value, level)) {
        return rejection;
    }
    const auto* number = std::get_if<std::uint32_t>(&value);
    // Any BOOL other than 0 is TRUE.
    if (number != nullptr && field.enumeration != nullptr && field.enumeration->name != "BOOL" &&
        !field.enumeration->name_of(*number)) {
        return reject("field.enumeration",
                      fmt::format("{} is {}, which {} does not have", field.name, *number, field.enumeration->name));
    }
    return {};
}

std::string property_of(const core::TensorDesc& desc, SameConstraint::Property property) {
    switch (property) {
        case SameConstraint::Property::data_type:
            return std::string(core::name(desc.data_type));
        case SameConstraint::Property::dimension_count:
            return fmt::format("{} dimensions", desc.sizes.size());
        case SameConstraint::Property::sizes:
        default:
            return "sizes " + core::to_string(desc.sizes);
    }
}

Verdict check_same(const Descriptor& descriptor, const SameConstraint& constraint) {
    const std::string* first_name = nullptr;
    std::string first;
    for (const std::string& name : constraint.tensors) {
        const core::TensorDesc* desc = descriptor.tensor(name);
        if (desc == nullptr) {
            continue;
        }
        std::string property = property_of(*desc, constraint.property);
        if (first_name == nullptr) {
            first_name = &name;
            first = std::move(property);
        } else if (property != first) {
            return reject(same_rules[static_cast<std::size_t>(constraint.property)],
                          fmt::format("{} has {}, but {} has {}", *first_name, first, name, property));
        }
    }
    return {};
}

Verdict check_activation(const Descriptor& descriptor, const Descriptor& activation, core::FeatureLevel level) {
    const auto fusable = descriptor.schema->fusable.find(activation.schema->name);
    if (fusable == descriptor.schema->fusable.end()) {
        return reject("activation.fusable", fmt::format("{} cannot be fused into {}", activation.schema->short_name(),
                                                        descriptor.schema->short_name()));
    }
    if (fusable->second > level) {
        return reject(
            "activation.featureLevel",
            fmt::format("{} can be fused into {} from feature level {} on; this is {}", activation.schema->short_name(),
                        descriptor.schema->short_name(), to_string(fusable->second), to_string(level)));
    }
    for (const Field& field : activation.schema->fields) {
        if (field.is_tensor() && !std::holds_alternative<Null>(activation.value(field.name))) {
            return reject(
                "activation.tensors",
                fmt::format("{} of a fused activation must be null: it acts on the operator's output", field.name));
        }
        if (!field.is_tensor() && !field.optional && std::holds_alternative<Null>(activation.value(field.name))) {
            return reject("field.required", fmt::format("{} of {} is null, but it is not optional", field.name,
                                                        activation.schema->short_name()));
        }
        if (auto rejection = check_number(field, activation.value(field.name), level)) {
            return rejection;
        }
    }
    return {};
}

Verdict validate_at(const Descriptor& descriptor, core::FeatureLevel level) {
    const OperatorSchema& schema = *descriptor.schema;
    if (schema.introduced > level) {
        return reject("operator.featureLevel",
                      fmt::format("{} exists from feature level {} on; this is {}", schema.short_name(),
                                  to_string(schema.introduced), to_string(level)));
    }
    for (std::size_t i = 0; i < descriptor.values.size(); ++i) {
        if (auto rejection = check_field(descriptor, i, level)) {
            return rejection;
        }
    }
    for (const SameConstraint& constraint : schema.same) {
        if (auto rejection = check_same(descriptor, constraint)) {
            return rejection;
        }
    }
    for (const FieldValue& value : descriptor.values) {
        const auto* activation = std::get_if<OperatorDesc>(&value);
        if (activation == nullptr) {
            continue;
        }
        if (auto rejection = check_activation(descriptor, **activation, level)) {
            return rejection;
        }
    }
    const OperatorRules* rules = find_rules(schema);
    return rules == nullptr ? Verdict{} : rules->validate(descriptor, level);
}

}  // namespace

Verdict validate(const Descriptor& descriptor, core::FeatureLevel level) {
    Verdict verdict = validate_at(descriptor, level);
    if (verdict) {
        for (const core::FeatureLevel higher : core::feature_levels()) {
            if (higher > level && !validate_at(descriptor, higher)) {
                verdict->legal_from = higher;
                break;
            }
        }
    }
    return verdict;
}

std::optional<core::FeatureLevel> minimum_feature_level(const Descriptor& descriptor) {
    for (const core::FeatureLevel level : core::feature_levels()) {
        if (!validate_at(descriptor, level)) {
            return level;
        }
    }
    return std::nullopt;
}

double element_bytes(const core::TensorDesc& desc) {
    const auto strides = core::effective_strides(desc);
    double bytes = core::bits_of(desc.data_type) / 8.0;
    for (std::size_t d = 0; d < desc.sizes.size(); ++d) {
        bytes *= strides[d] == 0 ? 1 : desc.sizes[d];
    }
    return bytes;
}

double element_bytes(const Descriptor& descriptor) {
    double bytes = 0;
    for (const auto& slots : {descriptor.inputs(), descriptor.outputs()}) {
        for (const TensorSlot& slot : slots) {
            bytes += slot.desc == nullptr ? 0 : element_bytes(*slot.desc);
        }
    }
    return bytes;
}

std::vector<std::string> rule_names(const OperatorSchema& schema) {
    std::vector<std::string> names{"operator.featureLevel", "field.required",        "tensor.featureLevel",
                                   "tensor.dataType",       "tensor.dimensionCount", "tensor.sizes",
                                   "tensor.elementCount",   "tensor.totalSize",      "tensor.outputStrides",
                                   "tensor.alignment"};
    for (const Field& field : schema.fields) {
        if (field.enumeration != nullptr && field.enumeration->name != "BOOL") {
            names.emplace_back("field.enumeration");
            break;
        }
    }
    for (const SameConstraint& constraint : schema.same) {
        names.emplace_back(same_rules[static_cast<std::size_t>(constraint.property)]);
    }
    if (!schema.fusable.empty()) {
        names.insert(names.end(),
                     {"activation.fusable", "activation.featureLevel", "activation.tensors", "field.minimum"});
    }
    if (const OperatorRules* rules = find_rules(schema)) {
        for (const std::string_view name : rules->names) {
            names.push_back(fmt::format("{}.{}", schema.short_name(), name));
        }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

const OperatorRules* find_rules(const OperatorSchema& schema) {
    for (const auto& [name, rules] : rules_registry) {
        if (name == schema.short_name()) {
            return rules;
        }
    }
    return nullptr;
}

}  // namespace dmlconform::operators
