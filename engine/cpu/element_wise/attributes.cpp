// Converts attributes to the number types of formulas.
#include "engine/cpu/element_wise/attributes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <variant>

#include "engine/core/element.h"
#include "engine/cpu/element_wise/load_store.h"

namespace dmlconform::cpu::element_wise {

using operators::Descriptor;

namespace {

bool is_identity(const operators::ScaleBias& scale_bias) {
    return scale_bias.scale == 1 && scale_bias.bias == 0;
}

/// Converts an attribute to the formula's number type. For integers it is truncated and clamped to the operator's type,
/// as by CAST, so that NaN is 0.
template <class T>
T attribute_number(double value, core::DataType type) {
    if constexpr (std::is_same_v<T, double>) {
        return value;
    } else {
        const double stored = stored_value(type, value, Store::converting);
        // The upper ends of 64-bit types are not doubles; the next larger power of two is.
        if (stored >= 0x1p63) {
            return T::of(core::is_signed_integer(type) ? std::uint64_t{INT64_MAX}
                         : stored >= 0x1p64            ? UINT64_MAX
                                                       : static_cast<std::uint64_t>(stored));
        }
        return T::of(static_cast<std::uint64_t>(static_cast<std::int64_t>(stored)));
    }
}

template <class T>
T scalar_number(const Descriptor& descriptor, const operators::Field& field, std::uint64_t bits, core::DataType type) {
    const core::DataType from = descriptor.scalar_type(field);
    std::array<std::byte, 8> memory{};
    core::store_element(memory, from, 0, bits);
    const Segment one{from, 0, 0};
    if constexpr (!std::is_same_v<T, double>) {
        if (!core::is_floating_point(from)) {
            T number;
            load(memory, one, 1, &number);
            return number;
        }
    }
    double number = 0;
    load(memory, one, 1, &number);
    return attribute_number<T>(number, type);
}

}  // namespace

const operators::ScaleBias* scale_bias_of(const Descriptor& descriptor) {
    for (const operators::FieldValue& value : descriptor.values) {
        const auto* found = std::get_if<operators::ScaleBias>(&value);
        if (found != nullptr && !is_identity(*found)) {
            return found;
        }
    }
    return nullptr;
}

const Descriptor* activation_of(const Descriptor& descriptor) {
    for (const operators::FieldValue& value : descriptor.values) {
        if (const auto* found = std::get_if<operators::OperatorDesc>(&value)) {
            return found->get();
        }
    }
    return nullptr;
}

template <class T>
Context<T> context_of(const Descriptor& descriptor) {
    const auto inputs = descriptor.inputs();
    const auto outputs = descriptor.outputs();
    Context<T> context;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        context.present[i] = inputs[i].desc != nullptr;
    }
    const core::DataType type =
        outputs.empty() || outputs[0].desc == nullptr ? core::DataType::float32 : outputs[0].desc->data_type;
    context.input_bits = inputs.empty() || inputs[0].desc == nullptr ? 0 : core::bits_of(inputs[0].desc->data_type);
    context.input_is_signed =
        !inputs.empty() && inputs[0].desc != nullptr && core::is_signed_integer(inputs[0].desc->data_type);
    context.output_bits = core::bits_of(type);
    context.output_is_half = type == core::DataType::float16;
    context.output_is_signed = core::is_signed_integer(type);
    if (!core::is_floating_point(type)) {
        // Stands for the ends of 64-bit types, which only integer formulas need exactly, and these wrap instead.
        constexpr double beyond = 0x1p80;
        context.lowest = attribute_number<T>(-beyond, type);
        context.highest = attribute_number<T>(beyond, type);
    }
    // Reals stand for integers in the ranges that ScaleBias makes of them. Attributes are those that it has without.
    const bool converts = !core::is_floating_point(type) && scale_bias_of(descriptor) != nullptr;
    std::size_t count = 0;
    for (std::size_t f = 0; f < descriptor.values.size() && count < most_attributes; ++f) {
        const operators::Field& field = descriptor.schema->fields[f];
        const operators::FieldValue& value = descriptor.values[f];
        if (const auto* number = std::get_if<float>(&value)) {
            const double given{*number};
            context.attributes[count++] =
                attribute_number<T>(converts ? stored_value(type, given, Store::converting) : given, type);
        } else if (const auto* scalar = std::get_if<operators::ScalarUnion>(&value)) {
            context.attributes[count++] = scalar_number<T>(descriptor, field, scalar->bits, type);
        } else if (const auto* choice = std::get_if<std::uint32_t>(&value);
                   choice != nullptr && field.enumeration != nullptr &&
                   field.enumeration->name != "DML_TENSOR_DATA_TYPE") {
            context.attributes[count++] = T(*choice);
        }
    }
    return context;
}

template Context<double> context_of(const Descriptor& descriptor);
template Context<Signed> context_of(const Descriptor& descriptor);
template Context<Unsigned> context_of(const Descriptor& descriptor);

Context<Interval> interval_context(const Context<double>& real) {
    Context<Interval> context;
    std::copy(real.attributes.begin(), real.attributes.end(), context.attributes.begin());
    context.input_bits = real.input_bits;
    context.output_bits = real.output_bits;
    context.output_is_half = real.output_is_half;
    context.input_is_signed = real.input_is_signed;
    context.output_is_signed = real.output_is_signed;
    context.present = real.present;
    context.lowest = real.lowest;
    context.highest = real.highest;
    return context;
}

bool computes_in_reals(const Row& row, const Descriptor& descriptor) {
    if (row.operands == Operands::as_bits || row.real == nullptr) {
        return false;
    }
    const auto inputs = descriptor.inputs();
    return row.operands == Operands::as_real || row.signed_integer == nullptr ||
           std::any_of(inputs.begin(), inputs.end(), [](const operators::TensorSlot& input) {
               return input.desc != nullptr && core::is_floating_point(input.desc->data_type);
           });
}

bool rounds(const Row& row, const Descriptor& descriptor) {
    const auto outputs = descriptor.outputs();
    return computes_in_reals(row, descriptor) || scale_bias_of(descriptor) != nullptr ||
           (row.operands != Operands::as_bits && row.real != nullptr &&
            std::any_of(outputs.begin(), outputs.end(), [](const operators::TensorSlot& output) {
                return output.desc != nullptr && output.desc->data_type == core::DataType::float16;
            }));
}

}  // namespace dmlconform::cpu::element_wise
