// Writes descriptors in the form of case files, with one function for each kind of field.
#include <nlohmann/json.hpp>

#include "engine/cases/case_writer.h"
#include "engine/cases/element_writer.h"
#include "engine/core/element.h"

namespace dmlconform::cases {
namespace {

using nlohmann::ordered_json;
using operators::Descriptor;
using operators::Field;

ordered_json number_json(float number) {
    return element_json(core::DataType::float32, core::encode_element(core::DataType::float32, number).value_or(0));
}

ordered_json tensor_json(const core::TensorDesc& desc) {
    ordered_json object{{"DataType", core::name(desc.data_type)}, {"Sizes", desc.sizes}};
    if (desc.strides) {
        object["Strides"] = *desc.strides;
    }
    if (desc.flags != core::TensorFlags::none) {
        object["Flags"] = "OWNED_BY_DML";
    }
    const bool laid_out = !desc.strides || desc.strides->size() == desc.sizes.size();
    if (!laid_out || core::minimum_total_bytes(desc).value_or(0) != desc.total_bytes) {
        object["TotalTensorSizeInBytes"] = desc.total_bytes;
    }
    if (desc.base_offset_alignment != 0) {
        object["GuaranteedBaseOffsetAlignment"] = desc.base_offset_alignment;
    }
    return object;
}

ordered_json struct_json(const Descriptor& descriptor, bool fused, Counts counts);

ordered_json activation_json(const operators::OperatorDesc& desc) {
    ordered_json object{{"Type", desc->schema->short_name()}};
    object.update(struct_json(*desc, true, Counts::left_out));
    return object;
}

struct FieldWriter {
    const Descriptor& descriptor;
    const Field& field;

    ordered_json operator()(const operators::Null&) const { return nullptr; }
    ordered_json operator()(const core::TensorDesc& desc) const { return tensor_json(desc); }
    ordered_json operator()(const operators::OperatorDesc& desc) const { return activation_json(desc); }
    ordered_json operator()(std::uint32_t value) const {
        const auto name = field.enumeration == nullptr ? std::nullopt : field.enumeration->name_of(value);
        if (!name) {
            return value;
        }
        if (field.enumeration->name == "BOOL") {
            return value != 0;
        }
        return name->substr(field.enumeration->prefix().size());
    }
    ordered_json operator()(std::int32_t value) const { return value; }
    ordered_json operator()(float value) const { return number_json(value); }
    ordered_json operator()(const operators::ScaleBias& value) const {
        return {{"Scale", number_json(value.scale)}, {"Bias", number_json(value.bias)}};
    }
    ordered_json operator()(const operators::Size2D& value) const {
        return {{"Width", value.width}, {"Height", value.height}};
    }
    ordered_json operator()(const operators::ScalarUnion& value) const {
        return element_json(descriptor.scalar_type(field), value.bits);
    }
    ordered_json operator()(const std::vector<float>& list) const {
        ordered_json items = ordered_json::array();
        for (const float item : list) {
            items.push_back(number_json(item));
        }
        return items;
    }
    template <class List>
    ordered_json operator()(const List& list) const {
        ordered_json items = ordered_json::array();
        if constexpr (requires { list.items; }) {
            for (const auto& item : list.items) {
                items.push_back((*this)(item));
            }
        } else {
            for (const auto item : list) {
                items.push_back(item);
            }
        }
        return items;
    }
};

/// The value of a count that is left out: the length of its arrays.
std::uint32_t counted(const Descriptor& descriptor, const Field& count) {
    for (std::size_t i = 0; i < descriptor.values.size(); ++i) {
        const auto length = operators::array_length(descriptor.values[i]);
        if (descriptor.schema->fields[i].count_field == count.name && length) {
            return static_cast<std::uint32_t>(*length);
        }
    }
    return 0;
}

ordered_json struct_json(const Descriptor& descriptor, bool fused, Counts counts) {
    ordered_json object = ordered_json::object();
    for (std::size_t i = 0; i < descriptor.values.size(); ++i) {
        const Field& field = descriptor.schema->fields[i];
        const auto& value = descriptor.values[i];
        const bool absent = std::holds_alternative<operators::Null>(value);
        const auto* number = std::get_if<std::uint32_t>(&value);
        const bool repeats =
            descriptor.schema->is_count(field) && number != nullptr && *number == counted(descriptor, field);
        if ((repeats && counts == Counts::left_out) || (absent && (field.optional || (fused && field.is_tensor())))) {
            continue;
        }
        object[field.name] = std::visit(FieldWriter{descriptor, field}, value);
    }
    return object;
}

}  // namespace

ordered_json desc_to_json(const Descriptor& descriptor, Counts counts) {
    return struct_json(descriptor, false, counts);
}

}  // namespace dmlconform::cases
