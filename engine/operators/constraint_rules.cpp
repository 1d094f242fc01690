// Checks and describes the constraints of catalogue entries.
#include "engine/operators/constraint_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace dmlconform::operators {
namespace {

/// Rule names in the order of SameConstraint::Property.
constexpr std::array<std::string_view, 3> same_rules{"tensor.sameDataType", "tensor.sameDimensionCount",
                                                     "tensor.sameSizes"};

/// Rule names in the order of AttributeConstraint::Kind.
constexpr std::array<std::string_view, 4> attribute_rules{"field.dimensionCount", "field.axis", "field.dataType",
                                                          "field.size"};

/// Rule names in the order of SizesConstraint::Kind.
constexpr std::array<std::string_view, 2> sizes_rules{"tensor.oneElement", "tensor.sizesDivide"};

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

/// The tensors that a constraint's name refers to: one tensor, all of an array, or none if absent.
std::vector<TensorSlot> tensors_of(const Descriptor& descriptor, const std::string& name) {
    const std::string field(array_of(name));
    const FieldValue& value = descriptor.value(field);
    std::vector<TensorSlot> tensors;
    if (const auto* tensor = std::get_if<core::TensorDesc>(&value)) {
        tensors.push_back({field, tensor});
    } else if (const auto* array = std::get_if<TensorDescArray>(&value)) {
        for (std::size_t i = 0; i < array->items.size(); ++i) {
            std::string item = fmt::format("{}[{}]", field, i);
            if (name == field || name == item) {
                tensors.push_back({std::move(item), &array->items[i]});
            }
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
                return rejected_by(same_rules[static_cast<std::size_t>(constraint.property)],
                                   fmt::format("{} has {}, but {} has {}", first_name, first, tensor.name, property));
            }
        }
    }
    return {};
}

/// True if each size divides the other tensor's size, with dimensions aligned at the innermost one.
bool divides(const core::Dimensions& sizes, const core::Dimensions& others) {
    bool result = sizes.size() == others.size();
    for (std::size_t d = 0; result && d < sizes.size(); ++d) {
        result = others[d] % sizes[d] == 0;
    }
    return result;
}

Verdict check_sizes(const Descriptor& descriptor, const SizesConstraint& constraint) {
    for (const std::string& field : constraint.tensors) {
        for (const TensorSlot& tensor : tensors_of(descriptor, field)) {
            const core::Dimensions& sizes = tensor.desc->sizes;
            if (constraint.kind == SizesConstraint::Kind::one_element &&
                !std::all_of(sizes.begin(), sizes.end(), [](std::uint32_t size) { return size == 1; })) {
                return rejected_by("tensor.oneElement", fmt::format("{} has sizes {}; it must have one element",
                                                                    tensor.name, core::to_string(sizes)));
            }
            for (const TensorSlot& other : constraint.kind == SizesConstraint::Kind::divide
                                               ? tensors_of(descriptor, constraint.of)
                                               : std::vector<TensorSlot>()) {
                if (!divides(sizes, other.desc->sizes)) {
                    return rejected_by(
                        "tensor.sizesDivide",
                        fmt::format("{} has sizes {}, which do not divide those of {}, {}", tensor.name,
                                    core::to_string(sizes), other.name, core::to_string(other.desc->sizes)));
                }
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
            return rejected_by("field.axis", fmt::format("{} names axis {}, but {} has {} dimensions", constraint.field,
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
                return rejected_by("field.dimensionCount",
                                   fmt::format("{} is {}; {} has {} dimensions{}", constraint.field, *number,
                                               constraint.tensor, desc.sizes.size(),
                                               constraint.less == 0 ? "" : fmt::format(", less {}", constraint.less)));
            }
            return {};
        case AttributeConstraint::Kind::size:
            if (number != nullptr && constraint.less < desc.sizes.size() && *number != desc.sizes[constraint.less]) {
                return rejected_by("field.size", fmt::format("{} is {}; {} has {} elements along dimension {}",
                                                             constraint.field, *number, constraint.tensor,
                                                             desc.sizes[constraint.less], constraint.less));
            }
            return {};
        case AttributeConstraint::Kind::data_type:
        default:
            if (number != nullptr && *number != static_cast<std::uint32_t>(desc.data_type)) {
                return rejected_by("field.dataType",
                                   fmt::format("{} is {}, but {} has data type {}", constraint.field,
                                               to_string(*descriptor.schema->find_field(constraint.field), value),
                                               constraint.tensor, core::name(desc.data_type)));
            }
            return {};
    }
}

/// "A, B and C"
std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
    }
    return text;
}

std::string sentence_of(const SameConstraint& constraint) {
    static constexpr std::array<std::string_view, 3> properties{"data type", "number of dimensions", "sizes"};
    // A single name is that of an array.
    return fmt::format("{}{} have the same {}.", constraint.tensors.size() == 1 ? "All of " : "",
                       joined(constraint.tensors), properties[static_cast<std::size_t>(constraint.property)]);
}

std::string sentence_of(const SizesConstraint& constraint) {
    const bool one = constraint.tensors.size() == 1;
    if (constraint.kind == SizesConstraint::Kind::one_element) {
        return fmt::format("{} {} one element{}.", joined(constraint.tensors), one ? "has" : "have",
                           one ? "" : " each");
    }
    return fmt::format("Each size of {} divides the size of {} in the same dimension.", joined(constraint.tensors),
                       constraint.of);
}

std::string sentence_of(const AttributeConstraint& constraint) {
    switch (constraint.kind) {
        case AttributeConstraint::Kind::size:
            return fmt::format("{} is {}[{}], the size in dimension {}.", constraint.field, constraint.tensor,
                               constraint.less, constraint.less);
        case AttributeConstraint::Kind::axis:
            return fmt::format("{} is less than the number of dimensions of {}.", constraint.field, constraint.tensor);
        case AttributeConstraint::Kind::dimension_count:
            return fmt::format("{} is the number of dimensions of {}{}.", constraint.field, constraint.tensor,
                               constraint.less == 0 ? "" : fmt::format(" minus {}", constraint.less));
        case AttributeConstraint::Kind::data_type:
        default:
            return fmt::format("{} is the data type of {}.", constraint.field, constraint.tensor);
    }
}

}  // namespace

Verdict validate_constraints(const Descriptor& descriptor) {
    for (const SameConstraint& constraint : descriptor.schema->same) {
        if (auto rejection = check_same(descriptor, constraint)) {
            return rejection;
        }
    }
    for (const SizesConstraint& constraint : descriptor.schema->sizes) {
        if (auto rejection = check_sizes(descriptor, constraint)) {
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

Verdict validate_ranges(const Descriptor& descriptor) {
    for (const AttributeConstraint& constraint : descriptor.schema->attributes) {
        if (constraint.kind == AttributeConstraint::Kind::axis ||
            constraint.kind == AttributeConstraint::Kind::dimension_count) {
            if (auto rejection = check_attribute(descriptor, constraint)) {
                return rejection;
            }
        }
    }
    return {};
}

ExplainedRules explained_constraints(const OperatorSchema& schema) {
    ExplainedRules rules;
    const auto add = [&](std::string_view name, const std::string& sentence) {
        const auto known = std::ranges::find(rules, name, &ExplainedRule::name);
        if (known == rules.end()) {
            rules.push_back({std::string(name), sentence});
        } else {
            known->sentence += " " + sentence;
        }
    };
    for (const SameConstraint& constraint : schema.same) {
        add(same_rules[static_cast<std::size_t>(constraint.property)], sentence_of(constraint));
    }
    for (const SizesConstraint& constraint : schema.sizes) {
        add(sizes_rules[static_cast<std::size_t>(constraint.kind)], sentence_of(constraint));
    }
    for (const AttributeConstraint& constraint : schema.attributes) {
        add(attribute_rules[static_cast<std::size_t>(constraint.kind)], sentence_of(constraint));
    }
    return rules;
}

}  // namespace dmlconform::operators
