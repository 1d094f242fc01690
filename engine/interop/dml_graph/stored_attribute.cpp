// Reads attributes, with one function for each kind of value.
#include "engine/interop/dml_graph/stored_attribute.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include "engine/core/utf8.h"

namespace dmlconform::interop {
namespace {

using operators::Field;
using operators::FieldType;
using operators::FieldValue;

/// The members of AttributeValue that are structs.
enum StructAttribute : std::uint8_t {
    struct_uint32 = 3,
    struct_uint64 = 4,
    struct_int32 = 5,
    struct_float32 = 6,
    struct_scale_bias = 10,
    struct_size_2d = 11,
    struct_bool = 13,
};

/// Limit for the length of an array. DirectML's have an entry for each dimension or each activation.
constexpr std::uint32_t most_entries = 64;

core::Result<operators::OperatorDesc> activation_of(const StoredGraph& file, const stored::Activation& stored) {
    const auto name = stored_name(stored.type(), "the type of a fused activation");
    if (!name) {
        return tl::unexpected(name.error());
    }
    const operators::OperatorSchema* schema = operators::find_operator(*name);
    if (schema == nullptr) {
        return core::fail(fmt::format("the catalogue has no operator \"{}\"", core::shortened(std::string(*name))));
    }
    auto descriptor = read_stored_attributes(file, *schema, stored.attributes());
    const auto counted = descriptor ? check_stored_counts(*descriptor) : core::Result<void>();
    if (!descriptor || !counted) {
        return tl::unexpected(descriptor ? counted.error() : descriptor.error());
    }
    return std::make_shared<const operators::Descriptor>(std::move(*descriptor));
}

class AttributeReader {
public:
    AttributeReader(const StoredGraph& file, const stored::Attribute& attribute)
        : file_(file), attribute_(attribute), type_(static_cast<std::uint8_t>(attribute.value_type())) {}

    core::Result<FieldValue> read(const Field& field) const {
        switch (field.type) {
            case FieldType::operator_desc:
                return activation();
            case FieldType::operator_desc_array:
                return activations();
            case FieldType::uint:
                return whole_number(field);
            case FieldType::int_:
                return of_struct<stored::Int32>(struct_int32);
            case FieldType::float_:
                return of_struct<stored::Float32>(struct_float32);
            case FieldType::uint_array:
                return list(attribute_.value_as_UInts());
            case FieldType::int_array:
                return list(attribute_.value_as_Ints());
            case FieldType::float_array:
                return list(attribute_.value_as_Floats());
            case FieldType::scale_bias:
                return scale_and_bias(field);
            case FieldType::size_2d:
                return size();
            default:
                return scalar();
        }
    }

private:
    [[nodiscard]] core::Result<FieldValue> other_kind() const {
        return core::fail(fmt::format("a value of another kind ({}) is stored", type_));
    }

    template <class Struct>
    [[nodiscard]] const Struct* as(StructAttribute type) const {
        return type_ == type ? file_.checked_struct<Struct>(attribute_.value()) : nullptr;
    }

    template <class Struct>
    [[nodiscard]] core::Result<FieldValue> of_struct(StructAttribute type) const {
        const Struct* stored = as<Struct>(type);
        return stored == nullptr ? other_kind() : core::Result<FieldValue>(FieldValue(stored->value()));
    }

    template <class List>
    [[nodiscard]] core::Result<FieldValue> list(const List* stored) const {
        if (stored == nullptr || stored->values() == nullptr) {
            return other_kind();
        }
        if (stored->values()->size() > most_entries) {
            return core::fail(fmt::format("it has {} entries", stored->values()->size()));
        }
        using Entry = std::decay_t<decltype(stored->values()->Get(0))>;
        return FieldValue(std::vector<Entry>(stored->values()->begin(), stored->values()->end()));
    }

    /// UINT, enumerations and BOOL.
    [[nodiscard]] core::Result<FieldValue> whole_number(const Field& field) const {
        if (const auto* stored = as<stored::Bool>(struct_bool)) {
            // Not value(): another number than 0 and 1 is not a bool.
            std::uint8_t byte = 0;
            std::memcpy(&byte, stored, 1);
            return FieldValue(std::uint32_t{byte});
        }
        const auto* stored = as<stored::UInt32>(struct_uint32);
        if (stored == nullptr) {
            return other_kind();
        }
        if (field.enumeration != nullptr && field.enumeration->name == "BOOL" && stored->value() > 1) {
            return core::fail(fmt::format("{} is neither 0 nor 1", stored->value()));
        }
        return FieldValue(stored->value());
    }

    [[nodiscard]] core::Result<FieldValue> activation() const {
        if (type_ != stored::AttributeValue_Activation) {
            return other_kind();
        }
        const auto* stored = attribute_.value_as_Activation();
        if (stored == nullptr) {
            return FieldValue(operators::Null{});
        }
        auto activation = activation_of(file_, *stored);
        return activation ? core::Result<FieldValue>(FieldValue(std::move(*activation)))
                          : tl::unexpected(activation.error());
    }

    [[nodiscard]] core::Result<FieldValue> activations() const {
        if (type_ != stored::AttributeValue_Activations) {
            return other_kind();
        }
        const auto* stored = attribute_.value_as_Activations();
        if (stored == nullptr || stored->values() == nullptr) {
            return FieldValue(operators::Null{});
        }
        if (stored->values()->size() > most_entries) {
            return core::fail(fmt::format("it has {} entries", stored->values()->size()));
        }
        operators::OperatorDescArray array;
        for (const stored::Activation* item : *stored->values()) {
            auto activation = activation_of(file_, *item);
            if (!activation) {
                return tl::unexpected(activation.error());
            }
            array.items.push_back(std::move(*activation));
        }
        return FieldValue(std::move(array));
    }

    [[nodiscard]] core::Result<FieldValue> scale_and_bias(const Field& field) const {
        const auto* stored = as<stored::ScaleBias>(struct_scale_bias);
        if (stored != nullptr) {
            return FieldValue(operators::ScaleBias{stored->scale(), stored->bias()});
        }
        const bool absent = attribute_.value() == nullptr && type_ == struct_scale_bias;
        return absent && field.optional ? core::Result<FieldValue>(FieldValue(operators::Null{})) : other_kind();
    }

    [[nodiscard]] core::Result<FieldValue> size() const {
        const auto* stored = as<stored::Size2D>(struct_size_2d);
        return stored == nullptr
                   ? other_kind()
                   : core::Result<FieldValue>(FieldValue(operators::Size2D{stored->width(), stored->height()}));
    }

    [[nodiscard]] core::Result<FieldValue> scalar() const {
        const auto* stored = attribute_.value_as_Scalar();
        if (stored == nullptr) {
            return other_kind();
        }
        const auto bits = scalar_bits(*stored);
        return bits ? core::Result<FieldValue>(FieldValue(operators::ScalarUnion{*bits})) : other_kind();
    }

    /// The union's bytes, or the bits of a number with a type.
    static std::optional<std::uint64_t> scalar_bits(const stored::Scalar& scalar) {
        std::uint64_t bits = 0;
        const auto copy = [&](std::size_t bytes) { std::memcpy(&bits, scalar.value(), bytes); };
        static_assert(std::endian::native == std::endian::little, "the file's bytes are little-endian");
        switch (scalar.value_type()) {
            case stored::ScalarValue_Int8:
            case stored::ScalarValue_UInt8:
                copy(1);
                return bits;
            case stored::ScalarValue_Int16:
            case stored::ScalarValue_UInt16:
                copy(2);
                return bits;
            case stored::ScalarValue_Int32:
            case stored::ScalarValue_UInt32:
            case stored::ScalarValue_Float32:
                copy(4);
                return bits;
            case stored::ScalarValue_Bytes:
            case stored::ScalarValue_Int64:
            case stored::ScalarValue_UInt64:
            case stored::ScalarValue_Float64:
                copy(8);
                return bits;
            default:
                return std::nullopt;
        }
    }

    const StoredGraph& file_;
    const stored::Attribute& attribute_;
    std::uint8_t type_;
};

/// A scalar has 8 bytes in the file, of which those beyond its type may be anything.
void clear_unused_bits(operators::Descriptor& descriptor) {
    const auto& fields = descriptor.schema->fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (auto* scalar = std::get_if<operators::ScalarUnion>(&descriptor.values[i])) {
            const std::uint32_t bits = core::bits_of(descriptor.scalar_type(fields[i]));
            scalar->bits = bits < 64 ? scalar->bits & ((std::uint64_t{1} << bits) - 1) : scalar->bits;
        }
    }
}

}  // namespace

core::Result<operators::Descriptor> read_stored_attributes(const StoredGraph& file,
                                                           const operators::OperatorSchema& schema,
                                                           const StoredAttributes* attributes) {
    operators::Descriptor descriptor{&schema, std::vector<FieldValue>(schema.fields.size())};
    const std::uint32_t count = attributes == nullptr ? 0 : attributes->size();
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < schema.fields.size(); ++i) {
        const Field& field = schema.fields[i];
        if (field.kind != operators::FieldKind::attribute) {
            continue;
        }
        if (next == count) {
            return core::fail(fmt::format("it has {} attributes: {} is missing", count, field.name));
        }
        const stored::Attribute& attribute = *attributes->Get(next++);
        const flatbuffers::String* name = attribute.name();
        if (name != nullptr && name->size() != 0 && name->string_view() != field.name) {
            return core::fail(
                fmt::format("attribute {} is \"{}\", not {}", next, core::shortened(name->str()), field.name),
                "attributes have the order of the operator's struct");
        }
        auto value = AttributeReader(file, attribute).read(field);
        if (!value) {
            return core::fail(fmt::format("{}: {}", field.name, value.error().message), value.error().hint);
        }
        descriptor.values[i] = std::move(*value);
    }
    if (next != count) {
        return core::fail(fmt::format("it has {} attributes; the operator has {}", count, next));
    }
    clear_unused_bits(descriptor);
    return descriptor;
}

core::Result<void> check_stored_counts(const operators::Descriptor& descriptor) {
    const auto& fields = descriptor.schema->fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const auto length =
            fields[i].count_field.empty() ? std::nullopt : operators::array_length(descriptor.values[i]);
        const auto* count = length ? std::get_if<std::uint32_t>(&descriptor.value(fields[i].count_field)) : nullptr;
        if (count != nullptr && *count != *length) {
            return core::fail(
                fmt::format("{} has {} entries, but {} is {}", fields[i].name, *length, fields[i].count_field, *count));
        }
    }
    return {};
}

}  // namespace dmlconform::interop
