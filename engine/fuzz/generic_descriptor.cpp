// The generic generator, based on the catalogue entry alone: draws tensors that have the required properties in common,
// and attributes that follow from them. Further rules of an operator are not considered.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "engine/core/element.h"
#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/fitting.h"
#include "engine/fuzz/integer_kinds.h"
#include "engine/fuzz/layout.h"

namespace dmlconform::fuzz {
namespace {

using operators::AttributeConstraint;
using operators::Descriptor;
using operators::Field;
using operators::FieldType;
using operators::OperatorSchema;
using operators::SameConstraint;
using Property = SameConstraint::Property;

class GenericMaker {
public:
    GenericMaker(Random& random, const OperatorSchema& schema, core::FeatureLevel level)
        : random_(random), schema_(schema), level_(level), sizes_(random_sizes(random, core::max_dimension_count)) {}

    Descriptor make() {
        Descriptor descriptor = blank_descriptor(schema_);
        for (std::size_t i = 0; i < schema_.fields.size(); ++i) {
            if (schema_.fields[i].is_tensor()) {
                descriptor.values[i] = tensors(schema_.fields[i]);
            }
        }
        // In a second pass, because attributes depend on tensors.
        for (std::size_t i = 0; i < schema_.fields.size(); ++i) {
            const Field& field = schema_.fields[i];
            const bool absent = field.optional && random_.chance(1, 2);
            if (!field.is_tensor() && !absent) {
                descriptor.values[i] = attribute(field, descriptor);
            }
        }
        set_counts(descriptor);
        set_required_sizes(descriptor, level_);
        return descriptor;
    }

private:
    /// The fields that must share the property with this one, including itself.
    [[nodiscard]] std::set<std::string> sharing(const std::string& field, Property property) const {
        std::set<std::string> names{field};
        // Tensors of the same sizes also have the same number of dimensions.
        for (const SameConstraint& same : schema_.same) {
            const bool counts = same.property == property ||
                                (property == Property::dimension_count && same.property == Property::sizes);
            const bool named = std::any_of(same.tensors.begin(), same.tensors.end(), [&](const std::string& name) {
                return name == field || name == operators::array_of(field);
            });
            if (counts && named) {
                names.insert(same.tensors.begin(), same.tensors.end());
            }
        }
        return names;
    }

    core::DataType type_of(const std::string& field) {
        if (const auto known = types_.find(field); known != types_.end()) {
            return known->second;
        }
        const auto names = sharing(field, Property::data_type);
        // Another element of the same array may have been drawn already.
        for (const std::string& name : names) {
            if (const auto known = types_.find(name); known != types_.end()) {
                return types_.emplace(field, known->second).first->second;
            }
        }
        const std::string_view array = operators::array_of(field);
        core::DataType type = random_type(random_, schema_, array, level_);
        for (int attempt = 0; attempt < 20 && !allowed(names, type); ++attempt) {
            type = random_type(random_, schema_, array, level_);
        }
        for (const std::string& name : names) {
            types_.emplace(name, type);
        }
        return type;
    }

    [[nodiscard]] bool allowed(const std::set<std::string>& names, core::DataType type) const {
        return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
            const auto* support = schema_.support_at(operators::array_of(name), level_);
            return support == nullptr ||
                   std::find(support->data_types.begin(), support->data_types.end(), type) != support->data_types.end();
        });
    }

    std::uint32_t rank_of(const std::string& field) {
        if (const auto known = ranks_.find(field); known != ranks_.end()) {
            return known->second;
        }
        std::uint32_t rank = random_rank(random_, schema_, field, level_);
        const auto names = sharing(field, Property::dimension_count);
        for (const std::string& name : names) {
            if (const auto* support = schema_.support_at(name, level_)) {
                rank = std::clamp(rank, support->min_dimensions, std::min(support->max_dimensions, 8U));
            }
        }
        for (const std::string& name : names) {
            ranks_.emplace(name, rank);
        }
        return rank;
    }

    /// Draws a tensor for the field, or for the element of an array with that name.
    core::TensorDesc tensor(const Field& field, const std::string& name) {
        const core::DataType type = type_of(name);
        const std::uint32_t rank = rank_of(field.name);
        // The innermost of the sizes that all tensors of the operator use: most operators require equal sizes.
        core::Dimensions sizes(sizes_.end() - rank, sizes_.end());
        for (const operators::SizesConstraint& constraint : schema_.sizes) {
            if (std::find(constraint.tensors.begin(), constraint.tensors.end(), field.name) ==
                constraint.tensors.end()) {
                continue;
            }
            if (constraint.kind == operators::SizesConstraint::Kind::one_element) {
                std::fill(sizes.begin(), sizes.end(), 1);
            } else {
                sizes = divisors(sizes);
            }
        }
        return random_layout(random_, type, std::move(sizes), field.kind);
    }

    /// Sizes that divide these; the same for each call, because tensors that divide another one must be equal.
    core::Dimensions divisors(core::Dimensions sizes) {
        if (divisors_.size() != sizes.size()) {
            divisors_ = sizes;
            for (std::uint32_t& size : divisors_) {
                const std::uint32_t block = random_.pick(1, std::min(size, 4U));
                size = random_.chance(1, 3) ? 1 : size % block == 0 ? size / block : size;
            }
        }
        return divisors_;
    }

    operators::FieldValue tensors(const Field& field) {
        if (schema_.support_at(field.name, level_) == nullptr || (field.optional && random_.chance(1, 2))) {
            return operators::Null{};
        }
        if (field.type == FieldType::tensor_desc) {
            return tensor(field, field.name);
        }
        operators::TensorDescArray array;
        const std::uint32_t count = random_.pick(1, 3);
        for (std::uint32_t i = 0; i < count; ++i) {
            array.items.push_back(tensor(field, field.name + "[" + std::to_string(i) + "]"));
        }
        return array;
    }

    [[nodiscard]] const AttributeConstraint* constraint(const std::string& field,
                                                        AttributeConstraint::Kind kind) const {
        for (const AttributeConstraint& candidate : schema_.attributes) {
            if (candidate.field == field && candidate.kind == kind) {
                return &candidate;
            }
        }
        return nullptr;
    }

    std::uint32_t length_of(const Field& field) {
        if (const auto* counted = constraint(field.count_field, AttributeConstraint::Kind::dimension_count)) {
            return rank_of(counted->tensor) - std::min(rank_of(counted->tensor), counted->less);
        }
        if (const auto* counted = constraint(field.count_field, AttributeConstraint::Kind::size)) {
            return size_of(*counted);
        }
        for (const Field& first : schema_.fields) {
            if (first.is_tensor()) {
                return rank_of(first.name);
            }
        }
        return 1;
    }

    std::uint32_t size_of(const AttributeConstraint& size) {
        const std::uint32_t rank = rank_of(size.tensor);
        return size.less < rank ? sizes_[sizes_.size() - rank + size.less] : 1;
    }

    std::uint32_t number(const Field& field) {
        if (field.enumeration != nullptr && !field.enumeration->enumerators.empty()) {
            if (const auto* typed = constraint(field.name, AttributeConstraint::Kind::data_type)) {
                return static_cast<std::uint32_t>(type_of(typed->tensor));
            }
            return random_.one_of(field.enumeration->enumerators).value;
        }
        if (const auto* axis = constraint(field.name, AttributeConstraint::Kind::axis)) {
            return random_.below(std::max(rank_of(axis->tensor), 1U));
        }
        if (const auto* size = constraint(field.name, AttributeConstraint::Kind::size)) {
            return size_of(*size);
        }
        if (const auto* count = constraint(field.name, AttributeConstraint::Kind::dimension_count)) {
            return rank_of(count->tensor) - std::min(rank_of(count->tensor), count->less);
        }
        return random_.pick(1, 3);
    }

    float real() { return static_cast<float>(random_.pick(1, 32)) / 8.0F; }

    template <class T, class Make>
    std::vector<T> list(const Field& field, Make&& make_item) {
        std::vector<T> items;
        for (std::uint32_t i = length_of(field); i > 0; --i) {
            items.push_back(make_item());
        }
        return items;
    }

    operators::FieldValue attribute(const Field& field, const Descriptor& so_far) {
        switch (field.type) {
            case FieldType::uint:
                return number(field);
            case FieldType::int_:
                return static_cast<std::int32_t>(random_.below(3));
            case FieldType::float_:
                return real();
            case FieldType::uint_array: {
                const auto* axis = constraint(field.name, AttributeConstraint::Kind::axis);
                return list<std::uint32_t>(
                    field, [&] { return axis != nullptr ? random_.below(rank_of(axis->tensor)) : random_.pick(1, 2); });
            }
            case FieldType::int_array:
                return list<std::int32_t>(field, [&] { return static_cast<std::int32_t>(random_.pick(1, 2)); });
            case FieldType::float_array:
                return list<float>(field, [&] { return real(); });
            case FieldType::operator_desc:
                return random_activation(random_, schema_, level_);
            case FieldType::operator_desc_array:
                return operators::OperatorDescArray{{random_activation(random_, schema_, level_)}};
            case FieldType::scale_bias:
                return operators::ScaleBias{real(), real()};
            case FieldType::size_2d:
                return operators::Size2D{random_.pick(1, 3), random_.pick(1, 3)};
            case FieldType::scalar_union:
            default:
                return scalar(field, so_far);
        }
    }

    operators::FieldValue scalar(const Field& field, const Descriptor& so_far) {
        const core::DataType type = so_far.scalar_type(field);
        if (core::bits_of(type) == 0) {
            return operators::ScalarUnion{};
        }
        return operators::ScalarUnion{core::encode_element(type, static_cast<double>(random_.below(4))).value_or(0)};
    }

    Random& random_;
    const OperatorSchema& schema_;
    core::FeatureLevel level_;
    core::Dimensions sizes_;
    core::Dimensions divisors_;
    std::map<std::string, core::DataType> types_;
    std::map<std::string, std::uint32_t> ranks_;
};

Descriptor make(Random& random, const OperatorSchema& schema, core::FeatureLevel level) {
    return GenericMaker(random, schema, level).make();
}

ElementKind element_kind(const Descriptor& descriptor, std::string_view input) {
    for (const operators::TensorSlot& slot : descriptor.inputs()) {
        if (slot.name == input && slot.desc != nullptr && !core::is_floating_point(slot.desc->data_type)) {
            return integer_kind(descriptor, input, slot.desc->data_type);
        }
    }
    // What 0 / 0 is quantised to is unspecified.
    const bool is_divisor =
        input == "OutputScaleTensor" ||
        (input == "ScaleTensor" && descriptor.schema->short_name() == "ELEMENT_WISE_QUANTIZE_LINEAR");
    return is_divisor ? ElementKind::scale : ElementKind::number;
}

void repair(Descriptor& descriptor) {
    for (const SameConstraint& same : descriptor.schema->same) {
        const core::TensorDesc* first = nullptr;
        for (const TensorField& tensor : tensors_of(descriptor)) {
            const bool named =
                std::find(same.tensors.begin(), same.tensors.end(), tensor.field->name) != same.tensors.end();
            if (same.property != Property::sizes || !named) {
                continue;
            }
            first = first == nullptr ? tensor.desc : first;
            if (tensor.desc->sizes != first->sizes) {
                set_sizes(*tensor.desc, first->sizes);
            }
        }
    }
    set_required_sizes(descriptor, core::highest_feature_level);
}

}  // namespace

const OperatorFuzz generic_fuzz{make, element_kind, repair};

}  // namespace dmlconform::fuzz
