// One operator descriptor: a DML_OPERATOR_DESC and its struct as a value, laid out by the catalogue.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/core/tensor_desc.h"
#include "engine/operators/catalogue.h"

namespace dmlconform::operators {

struct Descriptor;

/// An absent optional field: a null pointer in the C struct.
using Null = std::monostate;

struct TensorDescArray {
    std::vector<core::TensorDesc> items;
};

/// Never null inside; an absent activation is Null.
using OperatorDesc = std::shared_ptr<const Descriptor>;

struct OperatorDescArray {
    std::vector<OperatorDesc> items;
};

/// DML_SCALE_BIAS.
struct ScaleBias {
    float scale = 1;
    float bias = 0;
};

/// DML_SIZE_2D.
struct Size2D {
    std::uint32_t width = 0;
    std::uint32_t height = 0;
};

/// DML_SCALAR_UNION: the bits of a scalar, in the type that another field of the operator gives.
struct ScalarUnion {
    std::uint64_t bits = 0;
};

using FieldValue = std::variant<Null, core::TensorDesc, TensorDescArray, OperatorDesc, OperatorDescArray, std::uint32_t,
                                std::int32_t, float, std::vector<std::uint32_t>, std::vector<std::int32_t>,
                                std::vector<float>, ScaleBias, Size2D, ScalarUnion>;

/// A tensor of a descriptor, in the order in which DirectML binds them: field by field, arrays element by element.
struct TensorSlot {
    /// "InputTensor", or "InputTensors[1]" for an element of an array.
    std::string name;
    /// Null for an absent optional tensor.
    const core::TensorDesc* desc = nullptr;
};

/// Accessors by name are for fields that the operator has; asking for another one, or for one as the wrong
/// type, is a mistake in our code and throws.
struct Descriptor {
    const OperatorSchema* schema = nullptr;
    /// One for each of schema->fields.
    std::vector<FieldValue> values;
    /// How it is to be bound: for each of outputs(), which of inputs() it shares its memory with. Empty: none does.
    std::vector<std::optional<std::size_t>> in_place = {};

    [[nodiscard]] const FieldValue& value(std::string_view field) const;

    /// Null when absent.
    [[nodiscard]] const core::TensorDesc* tensor(std::string_view field) const {
        return std::get_if<core::TensorDesc>(&value(field));
    }
    /// Null when absent.
    [[nodiscard]] const Descriptor* activation(std::string_view field) const;

    template <class T>
    [[nodiscard]] const T& get(std::string_view field) const {
        return std::get<T>(value(field));
    }
    [[nodiscard]] std::uint32_t uint(std::string_view field) const { return get<std::uint32_t>(field); }
    [[nodiscard]] float number(std::string_view field) const { return get<float>(field); }
    [[nodiscard]] const std::vector<std::uint32_t>& uints(std::string_view field) const {
        return get<std::vector<std::uint32_t>>(field);
    }

    /// The type of a scalar union, from the field that holds it; UNKNOWN when that field holds no type.
    [[nodiscard]] core::DataType scalar_type(const Field& field) const;

    [[nodiscard]] std::vector<TensorSlot> inputs() const { return slots(FieldKind::input); }
    [[nodiscard]] std::vector<TensorSlot> outputs() const { return slots(FieldKind::output); }

private:
    [[nodiscard]] std::vector<TensorSlot> slots(FieldKind kind) const;
};

/// The number of entries of an array, which counts are compared with; nothing if it is absent, or not an array.
[[nodiscard]] std::optional<std::size_t> array_length(const FieldValue& value);

/// One line for each field: "InputTensor: FLOAT32 [1,1,4,4]".
[[nodiscard]] std::vector<std::string> to_lines(const Descriptor& descriptor);

/// The value as it is printed: enumerators by name, "null" for an absent field. A scalar union is its bits here,
/// because its type is in another field; to_lines prints its value.
[[nodiscard]] std::string to_string(const Field& field, const FieldValue& value);

}  // namespace dmlconform::operators
