// Measures the widths with random arguments, using a descriptor that suits every operator of the family.
#include "engine/cpu/element_wise/widths.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

#include "engine/core/element.h"
#include "engine/cpu/element_wise/machine.h"
#include "engine/cpu/reference.h"

namespace dmlconform::cpu::element_wise {
namespace {

using core::DataType;
using operators::Descriptor;
using operators::Field;
using operators::FieldType;
using operators::FieldValue;
using operators::OperatorSchema;

constexpr std::uint32_t arguments = 4096;

/// FLOAT32 if the operator supports it for that tensor, otherwise the first supported type.
DataType type_of(const OperatorSchema& schema, std::string_view field) {
    const operators::TensorSupport* support = schema.support_at(field, core::highest_feature_level);
    const auto& types = support->data_types;
    return std::find(types.begin(), types.end(), DataType::float32) != types.end() ? DataType::float32 : types.front();
}

core::TensorDesc tensor_for(const OperatorSchema& schema, const Field& field) {
    const bool single =
        std::any_of(schema.sizes.begin(), schema.sizes.end(), [&](const operators::SizesConstraint& sizes) {
            return sizes.kind == operators::SizesConstraint::Kind::one_element &&
                   std::find(sizes.tensors.begin(), sizes.tensors.end(), field.name) != sizes.tensors.end();
        });
    return core::TensorDesc::packed(type_of(schema, field.name), {1, 1, 1, single ? 1 : arguments});
}

/// Attributes are 0.7, 0.57, …, for which products must be rounded; bounds are -1 and 1. Every operator accepts these
/// values.
float number_for(const Field& field, float& next) {
    if (field.name == "Min" || field.name == "Max") {
        return field.name == "Min" ? -1.0f : 1.0f;
    }
    const float number = next;
    next -= 0.13f;
    return number;
}

FieldValue value_for(const OperatorSchema& schema, const Field& field, float& next) {
    switch (field.type) {
        case FieldType::tensor_desc:
            return tensor_for(schema, field);
        case FieldType::tensor_desc_array: {
            // Quantisation parameters: a scale, and a zero point of an integer type.
            core::TensorDesc scale = tensor_for(schema, field);
            core::TensorDesc zero_point = core::TensorDesc::packed(DataType::int8, scale.sizes);
            return operators::TensorDescArray{{std::move(scale), std::move(zero_point)}};
        }
        case FieldType::uint:
            return std::uint32_t{
                field.enumeration != nullptr && field.enumeration->name == "DML_TENSOR_DATA_TYPE" ? 1u : 0u};
        case FieldType::float_:
            return number_for(field, next);
        case FieldType::float_array:
            return std::vector<float>{number_for(field, next)};
        case FieldType::scalar_union:
            return operators::ScalarUnion{std::bit_cast<std::uint32_t>(number_for(field, next))};
        default:
            return {};
    }
}

Descriptor sample(const OperatorSchema& schema) {
    Descriptor descriptor;
    descriptor.schema = &schema;
    float next = 0.7f;
    for (const Field& field : schema.fields) {
        descriptor.values.push_back(value_for(schema, field, next));
    }
    return descriptor;
}

/// Numbers from 2^-10 to 16 of both signs, or small integers. Built from bits, so that they are equal on all platforms.
core::Tensor random_tensor(const core::TensorDesc& desc, std::mt19937_64& random) {
    core::Tensor tensor(desc);
    const std::uint64_t count = *core::element_count(desc.sizes);
    for (std::uint64_t k = 0; k < count; ++k) {
        const std::uint64_t bits = random();
        const auto exponent = static_cast<std::uint32_t>(117 + (bits >> 32) % 14);
        const std::uint64_t element =
            core::is_floating_point(desc.data_type) ? (bits & 0x807fffffu) | exponent << 23 : bits & 0x3f;
        core::store_element(tensor.buffer.bytes(), desc.data_type, k, element);
    }
    return tensor;
}

/// The distance between adjacent numbers of the type around this value (one ULP).
double ulp_of(DataType type, double value) {
    if (type != DataType::float32) {
        return 1;
    }
    int exponent = 0;
    (void)std::frexp(std::max(std::fabs(value), static_cast<double>(std::numeric_limits<float>::min())), &exponent);
    return std::ldexp(1.0, exponent - 24);
}

}  // namespace

std::optional<Widths> widths_of(const OperatorSchema& schema) {
    const Row* row = find_row(schema.short_name());
    if (row == nullptr || row->interval == nullptr) {
        return std::nullopt;
    }
    const Descriptor descriptor = sample(schema);
    std::mt19937_64 random(177);
    std::vector<core::Tensor> inputs;
    std::vector<const core::Tensor*> pointers;
    for (const operators::TensorSlot& slot : descriptor.inputs()) {
        inputs.push_back(random_tensor(*slot.desc, random));
    }
    std::transform(inputs.begin(), inputs.end(), std::back_inserter(pointers),
                   [](const auto& tensor) { return &tensor; });
    const Reference reference = compute_reference(descriptor, pointers);
    std::vector<double> widths;
    for (std::size_t o = 0; o < reference.outputs.size(); ++o) {
        const core::Tensor& output = reference.outputs[o];
        for (std::size_t k = 0; k < reference.slack[o].below.size(); ++k) {
            const DataType type = output.desc.data_type;
            const double value = core::decode_element(type, core::load_element(output.buffer.bytes(), type, k));
            if (std::isfinite(value)) {
                widths.push_back((reference.slack[o].below[k] + reference.slack[o].above[k]) / ulp_of(type, value));
            }
        }
    }
    if (widths.empty()) {
        return std::nullopt;
    }
    std::sort(widths.begin(), widths.end());
    return Widths{widths[widths.size() / 2], widths.back()};
}

}  // namespace dmlconform::cpu::element_wise
