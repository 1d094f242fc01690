// An operator descriptor: DML_OPERATOR_DESC and the struct it points to, as a value whose fields the catalogue lists.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/core/tensor_desc.h"
#include "engine/operators/catalogue.h"

namespace dmlconform::operators {

struct Descriptor;
struct Graph;

/// An absent optional field. In the C struct it is a null pointer.
using Null = std::monostate;

struct TensorDescArray {
    std::vector<core::TensorDesc> items;
};

/// Never null. An absent activation is Null.
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

/// DML_SCALAR_UNION: the bits of a scalar. Another field of the operator holds the type.
struct ScalarUnion {
    std::uint64_t bits = 0;
};

using FieldValue = std::variant<Null, core::TensorDesc, TensorDescArray, OperatorDesc, OperatorDescArray, std::uint32_t,
                                std::int32_t, float, std::vector<std::uint32_t>, std::vector<std::int32_t>,
                                std::vector<float>, ScaleBias, Size2D, ScalarUnion>;

/// A tensor of a descriptor. Slots have the order in which DirectML binds tensors: by field, and by element within
/// arrays.
struct TensorSlot {
    /// "InputTensor", or "InputTensors[1]" for an element of an array.
    std::string name;
    /// Null if the optional tensor is absent.
    const core::TensorDesc* desc = nullptr;
};

struct Verdicts;

/// What validate() has found about a descriptor that does not change any more: see sealed() in rules.h. Copies of the
/// descriptor, which may be changed, start without.
class KnownVerdicts {
public:
    KnownVerdicts() = default;
    KnownVerdicts(const KnownVerdicts& /*other*/) noexcept {}
    KnownVerdicts& operator=(const KnownVerdicts& /*other*/) noexcept {  // NOLINT(bugprone-unhandled-self-assignment)
        verdicts_ = nullptr;
        return *this;
    }
    ~KnownVerdicts() = default;

    void keep_in(std::shared_ptr<Verdicts> verdicts) { verdicts_ = std::move(verdicts); }
    /// Null if they are not kept.
    [[nodiscard]] Verdicts* get() const { return verdicts_.get(); }

private:
    std::shared_ptr<Verdicts> verdicts_;
};

/// A schema with the values of its fields. The accessors throw if the operator has no such field, or if the field has
/// another type; both are bugs of the caller.
struct Descriptor {
    const OperatorSchema* schema = nullptr;
    /// One value for each of schema->fields.
    std::vector<FieldValue> values;
    /// For each of outputs(), which of inputs() shares its memory. Empty: none does.
    std::vector<std::optional<std::size_t>> in_place = {};
    /// The graph, if this describes a graph instead of an operator. The schema is then the graph's: see
    /// graph_descriptor in graph.h.
    std::shared_ptr<const Graph> graph = nullptr;
    KnownVerdicts verdicts = {};

    /// True if the operator has the field, even if its value is absent.
    [[nodiscard]] bool has_field(std::string_view field) const { return schema->find_field(field) != nullptr; }
    [[nodiscard]] const FieldValue& value(std::string_view field) const;

    /// Null if absent.
    [[nodiscard]] const core::TensorDesc* tensor(std::string_view field) const {
        return std::get_if<core::TensorDesc>(&value(field));
    }
    /// Of a tensor that must be present.
    [[nodiscard]] const core::Dimensions& sizes(std::string_view field) const { return tensor(field)->sizes; }
    /// Null if absent, or if the operator has no such field.
    [[nodiscard]] const core::TensorDesc* find_tensor(std::string_view field) const {
        return has_field(field) ? tensor(field) : nullptr;
    }
    /// Null if absent.
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

    /// The data type of a scalar union, read from the field that holds it. UNKNOWN if the value of that field is not a
    /// data type.
    [[nodiscard]] core::DataType scalar_type(const Field& field) const;

    [[nodiscard]] std::vector<TensorSlot> inputs() const { return slots(FieldKind::input); }
    [[nodiscard]] std::vector<TensorSlot> outputs() const { return slots(FieldKind::output); }

private:
    [[nodiscard]] std::vector<TensorSlot> slots(FieldKind kind) const;
};

/// The number of entries of an array. Empty if the value is absent or not an array.
[[nodiscard]] std::optional<std::size_t> array_length(const FieldValue& value);

/// Prints one line for each field, such as "InputTensor: FLOAT32 [1,1,4,4]".
[[nodiscard]] std::vector<std::string> to_lines(const Descriptor& descriptor);

/// Prints a value: enumerators by name, "null" for an absent field. A scalar union is printed as bits, because its type
/// is in another field; to_lines prints its value.
[[nodiscard]] std::string to_string(const Field& field, const FieldValue& value);

}  // namespace dmlconform::operators
