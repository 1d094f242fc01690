// Lays out structs with C's alignment: each field is at a multiple of its size.
#include "engine/directml/marshal.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <variant>

namespace dmlconform::directml {

/// Appends the fields of one struct.
class StructWriter {
public:
    StructWriter(MarshalledOperator& owner, std::size_t field_count)
        // No field is larger than 8 bytes.
        : owner_(owner), begin_(owner.allocate(field_count * 8)) {}

    [[nodiscard]] const std::byte* begin() const { return begin_; }
    [[nodiscard]] std::size_t size() const { return size_; }

    void put_null(const operators::Field& field) {
        switch (field.type) {
            // An absent number cannot be null; CreateOperator sees 0.
            case operators::FieldType::uint:
            case operators::FieldType::int_:
            case operators::FieldType::float_:
                return put(std::uint32_t{0});
            case operators::FieldType::size_2d:
                return put_value(operators::Size2D{});
            case operators::FieldType::scalar_union:
                return put(std::uint64_t{0});
            default:
                return put<const void*>(nullptr);
        }
    }

    void put_value(const core::TensorDesc& tensor) { put_pointer(&tensor, 1); }
    void put_value(const operators::TensorDescArray& array) { put_pointer(array.items.data(), array.items.size()); }
    void put_value(const operators::OperatorDesc& activation) { put_activations(&activation, 1); }
    void put_value(const operators::OperatorDescArray& array) {
        put_activations(array.items.data(), array.items.size());
    }
    void put_value(std::uint32_t number) { put(number); }
    void put_value(std::int32_t number) { put(number); }
    void put_value(float number) { put(number); }
    template <class T>
    void put_value(const std::vector<T>& numbers) {
        std::byte* copy = owner_.allocate(numbers.size() * sizeof(T));
        std::copy_n(reinterpret_cast<const std::byte*>(numbers.data()), numbers.size() * sizeof(T), copy);
        put<const void*>(copy);
    }
    void put_value(const operators::ScaleBias& value) { put_value(std::vector<float>{value.scale, value.bias}); }
    void put_value(const operators::Size2D& value) {
        put(value.width);
        put(value.height);
    }
    void put_value(const operators::ScalarUnion& value) { put(value.bits); }

private:
    template <class T>
    void put(const T& value) {
        size_ = (size_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
        std::memcpy(begin_ + size_, &value, sizeof(T));
        size_ += sizeof(T);
    }

    void put_pointer(const core::TensorDesc* tensors, std::size_t count) {
        std::byte* descs = owner_.allocate(count * sizeof(TypedDesc));
        for (std::size_t i = 0; i < count; ++i) {
            put_desc(descs, i, owner_.marshal(tensors[i]));
        }
        put<const void*>(descs);
    }

    void put_activations(const operators::OperatorDesc* activations, std::size_t count) {
        std::byte* descs = owner_.allocate(count * sizeof(TypedDesc));
        for (std::size_t i = 0; i < count; ++i) {
            put_desc(descs, i, owner_.marshal(*activations[i]));
        }
        put<const void*>(descs);
    }

    static void put_desc(std::byte* descs, std::size_t index, const TypedDesc& desc) {
        std::memcpy(descs + index * sizeof(TypedDesc), &desc, sizeof(TypedDesc));
    }

    MarshalledOperator& owner_;
    std::byte* begin_;
    std::size_t size_ = 0;
};

namespace {

using operators::FieldType;

/// True if the value has the field's type. Any other value would shift all following fields.
bool fits(const operators::FieldValue& value, FieldType type) {
    // The alternatives after Null are those of FieldType, in its order.
    constexpr auto last = static_cast<std::size_t>(FieldType::scalar_union);
    static_assert(std::variant_size_v<operators::FieldValue> == last + 2);
    return value.index() == static_cast<std::size_t>(type) + 1;
}

}  // namespace

MarshalledOperator::MarshalledOperator(const operators::Descriptor& descriptor) : desc_(marshal(descriptor)) {}

std::byte* MarshalledOperator::allocate(std::size_t bytes) {
    // An array without elements is not a null pointer.
    return reinterpret_cast<std::byte*>(memory_.emplace_back(std::make_unique<std::uint64_t[]>(bytes / 8 + 1)).get());
}

TypedDesc MarshalledOperator::marshal(const operators::Descriptor& descriptor) {
    const std::vector<operators::Field>& fields = descriptor.schema->fields;
    StructWriter writer(*this, fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const operators::FieldValue& value = descriptor.values.at(i);
        if (std::holds_alternative<operators::Null>(value)) {
            writer.put_null(fields[i]);
            continue;
        }
        if (!fits(value, fields[i].type)) {
            throw std::logic_error(fields[i].name + " has a value of another type than the catalogue says");
        }
        std::visit(
            [&](const auto& held) {
                if constexpr (!std::is_same_v<std::decay_t<decltype(held)>, operators::Null>) {
                    writer.put_value(held);
                }
            },
            value);
    }
    struct_size_ = writer.size();
    return {descriptor.schema->number, writer.begin()};
}

TypedDesc MarshalledOperator::marshal(const core::TensorDesc& tensor) {
    const auto copy = [&](const core::Dimensions& dimensions) {
        std::byte* memory = allocate(dimensions.size() * sizeof(std::uint32_t));
        std::copy_n(reinterpret_cast<const std::byte*>(dimensions.data()), dimensions.size() * sizeof(std::uint32_t),
                    memory);
        return reinterpret_cast<const std::uint32_t*>(memory);
    };
    BufferTensorDesc desc;
    desc.data_type = static_cast<std::uint32_t>(tensor.data_type);
    desc.flags = static_cast<std::uint32_t>(tensor.flags);
    desc.dimension_count = static_cast<std::uint32_t>(tensor.sizes.size());
    desc.sizes = copy(tensor.sizes);
    desc.strides = tensor.strides ? copy(*tensor.strides) : nullptr;
    desc.total_bytes = tensor.total_bytes;
    desc.base_offset_alignment = tensor.base_offset_alignment;
    std::byte* memory = allocate(sizeof(desc));
    std::memcpy(memory, &desc, sizeof(desc));
    return {buffer_tensor_type, memory};
}

}  // namespace dmlconform::directml
