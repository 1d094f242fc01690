// Builds descriptors for tests in the way in which the C struct is filled: field name, value.
//   const Descriptor slice = describe("SLICE1", {{"InputTensor", tensor(DataType::float32, {4, 4})},
//                                                {"OutputTensor", tensor(DataType::float32, {2, 2})},
//                                                {"InputWindowOffsets", {0, 1}},
//                                                {"InputWindowSizes", {4, 3}},
//                                                {"InputWindowStrides", {-2, 2}}});
//   const Descriptor broken = with(slice, {{"InputWindowStrides", {0, 2}}});
// Nothing is validated, so that tests can build what must be rejected. However, an unknown field, or a value of a kind
// that the field cannot hold, throws.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "engine/core/tensor_desc.h"
#include "engine/operators/catalogue.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::tests {

/// A packed tensor with the smallest possible total size.
[[nodiscard]] inline core::TensorDesc tensor(core::DataType type, core::Dimensions sizes) {
    return core::TensorDesc::packed(type, std::move(sizes));
}

/// A strided tensor with the smallest possible total size.
[[nodiscard]] inline core::TensorDesc tensor(core::DataType type, core::Dimensions sizes, core::Dimensions strides) {
    core::TensorDesc desc;
    desc.data_type = type;
    desc.sizes = std::move(sizes);
    desc.strides = std::move(strides);
    desc.total_bytes = core::minimum_total_bytes(desc).value();
    return desc;
}

/// A field's name and its value. Numbers and lists of integers are converted to the type of the field.
struct Setting {
    using Value = std::variant<operators::FieldValue, double, std::vector<std::int64_t>>;

    std::string_view field;
    Value value;

    Setting(std::string_view name, operators::FieldValue exact) : field(name), value(std::move(exact)) {}
    Setting(std::string_view name, std::nullptr_t /*absent*/) : field(name), value(operators::FieldValue()) {}
    Setting(std::string_view name, std::initializer_list<std::int64_t> list)
        : field(name), value(std::vector<std::int64_t>(list)) {}
    /// A double can represent every value of the 32-bit types.
    template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
    Setting(std::string_view name, Number number) : field(name), value(static_cast<double>(number)) {}
};

namespace detail {

[[noreturn]] inline void bad_value(const operators::Field& field) {
    throw std::logic_error("the test gives " + field.name + " a value that it cannot hold");
}

[[nodiscard]] inline operators::FieldValue number_for(const operators::Field& field, double number) {
    switch (field.type) {
        case operators::FieldType::uint:
            return static_cast<std::uint32_t>(number);
        case operators::FieldType::int_:
            return static_cast<std::int32_t>(number);
        case operators::FieldType::float_:
            return static_cast<float>(number);
        default:
            bad_value(field);
    }
}

[[nodiscard]] inline operators::FieldValue list_for(const operators::Field& field,
                                                    const std::vector<std::int64_t>& list) {
    const auto converted = [&]<class T>(T) {
        std::vector<T> result;
        for (const std::int64_t item : list) {
            result.push_back(static_cast<T>(item));
        }
        return operators::FieldValue(std::move(result));
    };
    switch (field.type) {
        case operators::FieldType::uint_array:
            return converted(std::uint32_t{});
        case operators::FieldType::int_array:
            return converted(std::int32_t{});
        case operators::FieldType::float_array:
            return converted(float{});
        default:
            bad_value(field);
    }
}

[[nodiscard]] inline operators::FieldValue value_for(const operators::Field& field, const Setting::Value& value) {
    if (const auto* number = std::get_if<double>(&value)) {
        return number_for(field, *number);
    }
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
        return list_for(field, *list);
    }
    return std::get<operators::FieldValue>(value);
}

/// The value of a field that a test does not mention: no tensor, no activation, zero, an empty array.
[[nodiscard]] inline operators::FieldValue default_for(const operators::Field& field) {
    switch (field.type) {
        case operators::FieldType::uint:
        case operators::FieldType::int_:
        case operators::FieldType::float_:
            return number_for(field, 0);
        case operators::FieldType::uint_array:
        case operators::FieldType::int_array:
        case operators::FieldType::float_array:
            return field.optional ? operators::FieldValue() : list_for(field, {});
        default:
            return {};
    }
}

/// The length of an array; nothing for other values and for absent arrays.
[[nodiscard]] inline std::optional<std::uint32_t> length_of(const operators::FieldValue& value) {
    return std::visit(
        [](const auto& held) -> std::optional<std::uint32_t> {
            if constexpr (requires { held.items.size(); }) {
                return static_cast<std::uint32_t>(held.items.size());
            } else if constexpr (requires { held.size(); }) {
                return static_cast<std::uint32_t>(held.size());
            } else {
                return std::nullopt;
            }
        },
        value);
}

[[nodiscard]] inline std::size_t index_of(const operators::OperatorSchema& schema, std::string_view name) {
    for (std::size_t i = 0; i < schema.fields.size(); ++i) {
        if (schema.fields[i].name == name) {
            return i;
        }
    }
    throw std::logic_error("the test sets " + std::string(name) + ", which " + schema.name + " does not have");
}

}  // namespace detail

/// The descriptor with some fields replaced. The counts of replaced arrays are updated, unless they are among the
/// settings.
[[nodiscard]] inline operators::Descriptor with(operators::Descriptor descriptor,
                                                const std::vector<Setting>& settings) {
    const operators::OperatorSchema& schema = *descriptor.schema;
    for (const Setting& setting : settings) {
        const std::size_t index = detail::index_of(schema, setting.field);
        descriptor.values[index] = detail::value_for(schema.fields[index], setting.value);
    }
    for (const Setting& setting : settings) {
        const std::size_t index = detail::index_of(schema, setting.field);
        const std::string& count = schema.fields[index].count_field;
        const auto length = detail::length_of(descriptor.values[index]);
        const bool count_is_set =
            std::any_of(settings.begin(), settings.end(), [&](const Setting& other) { return other.field == count; });
        if (!count.empty() && length && !count_is_set) {
            descriptor.values[detail::index_of(schema, count)] = *length;
        }
    }
    return descriptor;
}

/// A descriptor for an operator with the given schema, which must outlive it. Fields that are not mentioned are absent,
/// 0 or empty.
[[nodiscard]] inline operators::Descriptor describe(const operators::OperatorSchema& schema,
                                                    const std::vector<Setting>& settings) {
    operators::Descriptor descriptor;
    descriptor.schema = &schema;
    for (const operators::Field& field : schema.fields) {
        descriptor.values.push_back(detail::default_for(field));
    }
    return with(std::move(descriptor), settings);
}

/// A descriptor for an operator of the catalogue, by full or short name.
[[nodiscard]] inline operators::Descriptor describe(std::string_view name, const std::vector<Setting>& settings) {
    const operators::OperatorSchema* schema = operators::find_operator(name);
    if (schema == nullptr) {
        throw std::logic_error("the catalogue has no " + std::string(name));
    }
    return describe(*schema, settings);
}

/// A fused activation, for example {"FusedActivation", activation("ACTIVATION_ELU", {{"Alpha", 0.5}})}.
[[nodiscard]] inline operators::OperatorDesc activation(std::string_view name,
                                                        const std::vector<Setting>& settings = {}) {
    return std::make_shared<const operators::Descriptor>(describe(name, settings));
}

/// A forward cross-correlation in all dimensions after the channels, without padding, gaps, groups, bias or activation.
[[nodiscard]] inline operators::Descriptor plain_convolution(const core::TensorDesc& input,
                                                             const core::TensorDesc& filter,
                                                             const core::TensorDesc& output) {
    const std::vector<std::uint32_t> ones(input.sizes.size() - 2, 1);
    const std::vector<std::uint32_t> zeros(input.sizes.size() - 2, 0);
    return describe("CONVOLUTION", {{"InputTensor", input},
                                    {"FilterTensor", filter},
                                    {"OutputTensor", output},
                                    {"Mode", 1},
                                    {"Direction", 0},
                                    {"Strides", ones},
                                    {"Dilations", ones},
                                    {"StartPadding", zeros},
                                    {"EndPadding", zeros},
                                    {"OutputPadding", zeros},
                                    {"GroupCount", 1}});
}

}  // namespace dmlconform::tests
