// A descriptor of any operator with a value in every field. It is well-formed (counts match arrays, tensors have a
// layout), but hardly ever legal. Used for code that converts arbitrary descriptors between forms.
#pragma once

#include <memory>
#include <random>

#include "engine/core/element.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests {

class RandomDescriptors {
public:
    explicit RandomDescriptors(std::uint32_t seed) : generator_(seed) {}

    [[nodiscard]] operators::Descriptor make(const operators::OperatorSchema& schema) { return make(schema, false); }

private:
    std::uint32_t pick(std::uint32_t low, std::uint32_t high) {
        return std::uniform_int_distribution<std::uint32_t>(low, high)(generator_);
    }

    operators::Descriptor make(const operators::OperatorSchema& schema, bool fused) {
        operators::Descriptor descriptor;
        descriptor.schema = &schema;
        length_ = pick(0, 4);  // the same for all arrays, because some share a count
        for (const operators::Field& field : schema.fields) {
            const bool absent = (fused && field.is_tensor()) || (field.optional && pick(0, 2) == 0);
            descriptor.values.push_back(absent ? operators::FieldValue() : value_for(schema, field, descriptor));
        }
        return descriptor;
    }

    core::TensorDesc tensor_desc() {
        const auto type = static_cast<core::DataType>(pick(1, 11));  // types of whole bytes only
        core::Dimensions sizes(pick(1, 8));
        for (std::uint32_t& size : sizes) {
            size = pick(1, 3);
        }
        core::TensorDesc desc = pick(0, 1) == 0 ? tensor(type, sizes) : tensor(type, sizes, sizes);
        desc.total_bytes += pick(0, 1) * 4;
        desc.base_offset_alignment = pick(0, 1) * 16;
        desc.flags = static_cast<core::TensorFlags>(pick(0, 1));
        return desc;
    }

    operators::OperatorDesc fused_activation() {
        static constexpr const char* names[] = {"ACTIVATION_RELU", "ACTIVATION_ELU", "ACTIVATION_SHRINK",
                                                "ACTIVATION_SOFTMAX1"};
        const std::uint32_t length = length_;
        auto descriptor = make(*operators::find_operator(names[pick(0, 3)]), true);
        length_ = length;
        return std::make_shared<const operators::Descriptor>(std::move(descriptor));
    }

    template <class T, class Make>
    std::vector<T> list(Make&& make_item) {
        std::vector<T> items;
        for (std::uint32_t i = 0; i < length_; ++i) {
            items.push_back(make_item());
        }
        return items;
    }

    float number() { return static_cast<float>(pick(0, 4000)) / 16 - 100; }

    std::int32_t integer() { return static_cast<std::int32_t>(pick(0, 0xffffffff)); }

    std::uint32_t unsigned_for(const operators::OperatorSchema& schema, const operators::Field& field) {
        if (field.enumeration != nullptr) {
            const auto& enumerators = field.enumeration->enumerators;
            const bool data_type = field.enumeration->name == "DML_TENSOR_DATA_TYPE";
            // The type of a scalar must not be UNKNOWN.
            return enumerators[pick(data_type ? 1 : 0, static_cast<std::uint32_t>(enumerators.size()) - 1)].value;
        }
        return schema.is_count(field) ? length_ : pick(0, 0xffffffff);
    }

    /// A scalar of the type that the fields chosen so far give it.
    operators::ScalarUnion scalar(const operators::Field& field, const operators::Descriptor& so_far) {
        const core::DataType type = so_far.scalar_type(field);
        return {core::encode_element(type, static_cast<double>(pick(0, 7))).value()};
    }

    operators::FieldValue value_for(const operators::OperatorSchema& schema, const operators::Field& field,
                                    const operators::Descriptor& so_far) {
        using operators::FieldType;
        switch (field.type) {
            case FieldType::tensor_desc:
                return tensor_desc();
            case FieldType::tensor_desc_array:
                return operators::TensorDescArray{list<core::TensorDesc>([&] { return tensor_desc(); })};
            case FieldType::operator_desc:
                return fused_activation();
            case FieldType::operator_desc_array:
                return operators::OperatorDescArray{list<operators::OperatorDesc>([&] { return fused_activation(); })};
            case FieldType::int_:
                return integer();
            case FieldType::float_:
                return number();
            case FieldType::uint_array:
                return list<std::uint32_t>([&] { return pick(0, 0xffffffff); });
            case FieldType::int_array:
                return list<std::int32_t>([&] { return integer(); });
            case FieldType::float_array:
                return list<float>([&] { return number(); });
            case FieldType::scale_bias:
                return operators::ScaleBias{number(), number()};
            case FieldType::size_2d:
                return operators::Size2D{pick(0, 0xffffffff), pick(0, 0xffffffff)};
            case FieldType::scalar_union:
                return scalar(field, so_far);
            case FieldType::uint:
            default:
                return unsigned_for(schema, field);
        }
    }

    std::mt19937 generator_;
    std::uint32_t length_ = 0;
};

}  // namespace dmlconform::tests
