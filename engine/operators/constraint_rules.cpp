// Constraints of catalogue entries: checking, and saying what they are.
#include "engine/operators/constraint_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string_view>

namespace dmlconform::operators {
namespace {

/// In the order of SameConstraint::Property.
constexpr std::array<std::string_view, 3> same_rules{"tensor.sameDataType", "tensor.sameDimensionCount",
                                                     "tensor.sameSizes"};
constexpr std::array<std::string_view, 3> property_names{"DataType", "DimensionCount", "Sizes"};

/// In the order of AttributeConstraint::Kind.
constexpr std::array<std::string_view, 3> attribute_rules{"field.dimensionCount", "field.axis", "field.dataType"};

Verdict reject(std::string_view rule, std::string message) {
    return Rejection{.rule = std::string(rule), .message = std::move(message), .legal_from = {}};
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

/// The tensors that a field has: none, one, or those of an array.
std::vector<TensorSlot> tensors_of(const Descriptor& descriptor, const std::string& field) {
    const FieldValue& value = descriptor.value(field);
    std::vector<TensorSlot> tensors;
    if (const auto* tensor = std::get_if<core::TensorDesc>(&value)) {
        tensors.push_back({field, tensor});
    } else if (const auto* array = std::get_if<TensorDescArray>(&value)) {
        for (std::size_t i = 0; i < array->items.size(); ++i) {
            tensors.push_back({fmt::format("{}[{}]", field, i), &array->items[i]});
        }
    }
    return tensors;
}

Verdict check_same(const Descriptor& descriptor, const SameConstraint& constraint) {
    std::string first_name;
    std::string first;
    for (const std::string& field : constraint.tensors) {
        for (const TensorSlot& tensor : tensors_of(descriptor, field)) {
            std::string property = property_of(*tensor.desc, constraint.property);
            if (first_name.empty()) {
                first_name = tensor.name;
                first = std::move(property);
            } else if (property != first) {
                return reject(same_rules[static_cast<std::size_t>(constraint.property)],
                              fmt::format("{} has {}, but {} has {}", first_name, first, tensor.name, property));
            }
        }
    }
    return {};
}

Verdict check_axis(const AttributeConstraint& constraint, const FieldValue& value, const core::TensorDesc& desc) {
    std::vector<std::uint32_t> axes;
    if (const auto* axis = std::get_if<std::uint32_t>(&value)) {
        axes.push_back(*axis);
    } else if (const auto* list = std::get_if<std::vector<std::uint32_t>>(&value)) {
        axes = *list;
    }
    for (const std::uint32_t axis : axes) {
        if (axis >= desc.sizes.size()) {
            return reject("field.axis", fmt::format("{} names axis {}, but {} has {} dimensions", constraint.field,
                                                    axis, constraint.tensor, desc.sizes.size()));
        }
    }
    return {};
}

Verdict check_attribute(const Descriptor& descriptor, const AttributeConstraint& constraint) {
    const auto tensors = tensors_of(descriptor, constraint.tensor);
    if (tensors.empty()) {
        return {};
    }
    const core::TensorDesc& desc = *tensors.front().desc;
    const FieldValue& value = descriptor.value(constraint.field);
    const auto* number = std::get_if<std::uint32_t>(&value);
    switch (constraint.kind) {
        case AttributeConstraint::Kind::axis:
            return check_axis(constraint, value, desc);
        case AttributeConstraint::Kind::dimension_count:
            if (number != nullptr && std::uint64_t{*number} + constraint.less != desc.sizes.size()) {
                return reject("field.dimensionCount",
                              fmt::format("{} is {}; {} has {} dimensions{}", constraint.field, *number,
                                          constraint.tensor, desc.sizes.size(),
                                          constraint.less == 0 ? "" : fmt::format(", less {}", constraint.less)));
            }
            return {};
        case AttributeConstraint::Kind::data_type:
        default:
            if (number != nullptr && *number != static_cast<std::uint32_t>(desc.data_type)) {
                return reject("field.dataType",
                              fmt::format("{} is {}, but {} has data type {}", constraint.field,
                                          to_string(*descriptor.schema->find_field(constraint.field), value),
                                          constraint.tensor, core::name(desc.data_type)));
            }
            return {};
    }
}

}  // namespace

Verdict validate_constraints(const Descriptor& descriptor) {
    for (const SameConstraint& constraint : descriptor.schema->same) {
        if (auto rejection = check_same(descriptor, constraint)) {
            return rejection;
        }
    }
    for (const AttributeConstraint& constraint : descriptor.schema->attributes) {
        if (auto rejection = check_attribute(descriptor, constraint)) {
            return rejection;
        }
    }
    return {};
}

std::vector<std::string> constraint_rule_names(const OperatorSchema& schema) {
    std::vector<std::string> names;
    for (const SameConstraint& constraint : schema.same) {
        names.emplace_back(same_rules[static_cast<std::size_t>(constraint.property)]);
    }
    for (const AttributeConstraint& constraint : schema.attributes) {
        names.emplace_back(attribute_rules[static_cast<std::size_t>(constraint.kind)]);
    }
    return names;
}

std::vector<std::string> constraint_lines(const OperatorSchema& schema) {
    std::vector<std::string> lines;
    for (const SameConstraint& constraint : schema.same) {
        lines.push_back(fmt::format("{}: same {}", fmt::join(constraint.tensors, ", "),
                                    property_names[static_cast<std::size_t>(constraint.property)]));
    }
    for (const AttributeConstraint& constraint : schema.attributes) {
        switch (constraint.kind) {
            case AttributeConstraint::Kind::axis:
                lines.push_back(fmt::format("{} < {}.DimensionCount", constraint.field, constraint.tensor));
                break;
            case AttributeConstraint::Kind::dimension_count:
                lines.push_back(fmt::format("{} = {}.DimensionCount{}", constraint.field, constraint.tensor,
                                            constraint.less == 0 ? "" : fmt::format(" - {}", constraint.less)));
                break;
            case AttributeConstraint::Kind::data_type:
            default:
                lines.push_back(fmt::format("{} = {}.DataType", constraint.field, constraint.tensor));
                break;
        }
    }
    return lines;
}

}  // namespace dmlconform::operators
