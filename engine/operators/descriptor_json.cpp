// Writes descriptors as JSON and reads them, with one function for each kind of field.
#include "engine/operators/descriptor_json.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "engine/operators/in_place.h"

namespace dmlconform::operators {
namespace {

using nlohmann::json;

// ---- writing -----------------------------------------------------------------------------------------------------

json desc_to_json(const Descriptor& descriptor);

json tensor_to_json(const core::TensorDesc& desc) {
    json object{{"DataType", core::name(desc.data_type)},
                {"Flags", static_cast<std::uint32_t>(desc.flags)},
                {"Sizes", desc.sizes},
                {"TotalTensorSizeInBytes", desc.total_bytes},
                {"GuaranteedBaseOffsetAlignment", desc.base_offset_alignment}};
    if (desc.strides) {
        object["Strides"] = *desc.strides;
    }
    return object;
}

json activation_to_json(const Descriptor& descriptor) {
    return {{"Type", descriptor.schema->name}, {"Desc", desc_to_json(descriptor)}};
}

struct Writer {
    const Field& field;

    json operator()(const Null&) const { return nullptr; }
    json operator()(const core::TensorDesc& desc) const { return tensor_to_json(desc); }
    json operator()(const TensorDescArray& array) const {
        json list = json::array();
        for (const core::TensorDesc& desc : array.items) {
            list.push_back(tensor_to_json(desc));
        }
        return list;
    }
    json operator()(const OperatorDesc& desc) const { return activation_to_json(*desc); }
    json operator()(const OperatorDescArray& array) const {
        json list = json::array();
        for (const OperatorDesc& desc : array.items) {
            list.push_back(activation_to_json(*desc));
        }
        return list;
    }
    json operator()(std::uint32_t value) const {
        const auto name = field.enumeration == nullptr ? std::nullopt : field.enumeration->name_of(value);
        return name ? json(name->substr(field.enumeration->prefix().size())) : json(value);
    }
    json operator()(const ScaleBias& value) const { return {{"Scale", value.scale}, {"Bias", value.bias}}; }
    json operator()(const Size2D& value) const { return {{"Width", value.width}, {"Height", value.height}}; }
    json operator()(const ScalarUnion& value) const { return value.bits; }
    template <class T>
    json operator()(const T& number_or_numbers) const {
        return number_or_numbers;
    }
};

json desc_to_json(const Descriptor& descriptor) {
    json object = json::object();
    for (std::size_t i = 0; i < descriptor.values.size(); ++i) {
        const Field& field = descriptor.schema->fields[i];
        object[field.name] = std::visit(Writer{field}, descriptor.values[i]);
    }
    return object;
}

// ---- reading -----------------------------------------------------------------------------------------------------

/// Thrown for malformed input. Does not leave this file: descriptor_from_json turns it into an error.
class Malformed : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Limit for nested operators. Activations have no activation of their own, so valid input needs only 1.
constexpr int deepest_activation = 2;

Descriptor read_desc(const OperatorSchema& schema, const json& desc, int depth);

std::uint64_t read_unsigned(const std::string& name, const json& value, std::uint64_t largest) {
    if (!value.is_number_unsigned() && !(value.is_number_integer() && value.get<std::int64_t>() >= 0)) {
        throw Malformed(name + " is not an unsigned integer");
    }
    const auto number = value.get<std::uint64_t>();
    if (number > largest) {
        throw Malformed(fmt::format("{} is {}, more than {}", name, number, largest));
    }
    return number;
}

std::uint32_t read_uint(const std::string& name, const json& value) {
    return static_cast<std::uint32_t>(read_unsigned(name, value, std::numeric_limits<std::uint32_t>::max()));
}

std::int32_t read_int(const std::string& name, const json& value) {
    // A number beyond the range of std::int64_t would wrap.
    const bool too_large = value.is_number_unsigned() && value.get<std::uint64_t>() > 0x7fffffff;
    if (!value.is_number_integer() || too_large) {
        throw Malformed(name + " is not an integer of 32 bits");
    }
    const auto number = value.get<std::int64_t>();
    if (number < std::numeric_limits<std::int32_t>::min() || number > std::numeric_limits<std::int32_t>::max()) {
        throw Malformed(name + " is not an integer of 32 bits");
    }
    return static_cast<std::int32_t>(number);
}

float read_float(const std::string& name, const json& value) {
    if (!value.is_number()) {
        throw Malformed(name + " is not a number");
    }
    const auto number = value.get<double>();
    // Converting a finite number out of the range of float is undefined behaviour. Infinities and NaN convert.
    if (number - number == 0 &&
        !(number >= -std::numeric_limits<float>::max() && number <= std::numeric_limits<float>::max())) {
        throw Malformed(name + " is beyond the range of a float");
    }
    return static_cast<float>(number);
}

template <class Read>
auto read_list(const std::string& name, const json& value, Read&& read_item) {
    if (!value.is_array()) {
        throw Malformed(name + " is not an array");
    }
    std::vector<decltype(read_item(name, value))> list;
    list.reserve(value.size());
    for (const json& item : value) {
        list.push_back(read_item(name, item));
    }
    return list;
}

const json& member(const std::string& name, const json& object, const char* key) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    if (found == object.end()) {
        throw Malformed(fmt::format("{} has no {}", name, key));
    }
    return *found;
}

core::TensorDesc read_tensor(const std::string& name, const json& value) {
    core::TensorDesc desc;
    const json& type = member(name, value, "DataType");
    const auto parsed = type.is_string() ? core::parse_data_type(type.get_ref<const std::string&>()) : std::nullopt;
    if (!parsed) {
        throw Malformed(name + ".DataType is not a data type");
    }
    desc.data_type = *parsed;
    desc.flags = static_cast<core::TensorFlags>(read_uint(name + ".Flags", member(name, value, "Flags")));
    desc.sizes = read_list(name + ".Sizes", member(name, value, "Sizes"), read_uint);
    if (const auto strides = value.find("Strides"); strides != value.end() && !strides->is_null()) {
        desc.strides = read_list(name + ".Strides", *strides, read_uint);
        if (desc.strides->size() != desc.sizes.size()) {
            throw Malformed(
                fmt::format("{} has {} strides for {} sizes", name, desc.strides->size(), desc.sizes.size()));
        }
    }
    desc.total_bytes = read_unsigned(name + ".TotalTensorSizeInBytes", member(name, value, "TotalTensorSizeInBytes"),
                                     std::numeric_limits<std::uint64_t>::max());
    desc.base_offset_alignment =
        read_uint(name + ".GuaranteedBaseOffsetAlignment", member(name, value, "GuaranteedBaseOffsetAlignment"));
    return desc;
}

/// Never null. A pointer, because g++ 13 and later warn that a returned reference may refer to the temporary `name`.
const OperatorSchema* read_operator(const std::string& name, const json& value) {
    const OperatorSchema* schema = value.is_string() ? find_operator(value.get_ref<const std::string&>()) : nullptr;
    if (schema == nullptr) {
        throw Malformed(name + " is not an operator that the catalogue has");
    }
    return schema;
}

OperatorDesc read_activation(const std::string& name, const json& value, int depth) {
    if (depth == deepest_activation) {
        throw Malformed(name + " is nested too deeply");
    }
    const OperatorSchema* schema = read_operator(name + ".Type", member(name, value, "Type"));
    return std::make_shared<const Descriptor>(read_desc(*schema, member(name, value, "Desc"), depth + 1));
}

std::uint32_t read_enumerator(const Field& field, const json& value) {
    if (!value.is_string() || field.enumeration == nullptr) {
        return read_uint(field.name, value);
    }
    const auto parsed = field.enumeration->parse(value.get_ref<const std::string&>());
    if (!parsed) {
        throw Malformed(fmt::format("{} is not an enumerator of {}", field.name, field.enumeration->name));
    }
    return *parsed;
}

FieldValue read_field(const Field& field, const json& value, int depth) {
    const std::string& name = field.name;
    const auto activation = [depth](const std::string& of, const json& item) {
        return read_activation(of, item, depth);
    };
    if (value.is_null()) {
        return Null{};
    }
    switch (field.type) {
        case FieldType::tensor_desc:
            return read_tensor(name, value);
        case FieldType::tensor_desc_array:
            return TensorDescArray{read_list(name, value, read_tensor)};
        case FieldType::operator_desc:
            return activation(name, value);
        case FieldType::operator_desc_array:
            return OperatorDescArray{read_list(name, value, activation)};
        case FieldType::int_:
            return read_int(name, value);
        case FieldType::float_:
            return read_float(name, value);
        case FieldType::uint_array:
            return read_list(name, value, read_uint);
        case FieldType::int_array:
            return read_list(name, value, read_int);
        case FieldType::float_array:
            return read_list(name, value, read_float);
        case FieldType::scale_bias:
            return ScaleBias{read_float(name, member(name, value, "Scale")),
                             read_float(name, member(name, value, "Bias"))};
        case FieldType::size_2d:
            return Size2D{read_uint(name, member(name, value, "Width")),
                          read_uint(name, member(name, value, "Height"))};
        case FieldType::scalar_union:
            return ScalarUnion{read_unsigned(name, value, std::numeric_limits<std::uint64_t>::max())};
        case FieldType::uint:
        default:
            return read_enumerator(field, value);
    }
}

/// Engines pass arrays as a count and a pointer, so a count that is too large would lead to reads beyond the end.
void check_counts(const Descriptor& descriptor) {
    for (std::size_t i = 0; i < descriptor.values.size(); ++i) {
        const Field& field = descriptor.schema->fields[i];
        const auto length = field.count_field.empty() ? std::nullopt : array_length(descriptor.values[i]);
        const auto* count = length ? std::get_if<std::uint32_t>(&descriptor.value(field.count_field)) : nullptr;
        if (length && (count == nullptr || *count != *length)) {
            throw Malformed(
                fmt::format("{} has {} entries, but {} says otherwise", field.name, *length, field.count_field));
        }
    }
}

Descriptor read_desc(const OperatorSchema& schema, const json& desc, int depth) {
    if (!desc.is_object()) {
        throw Malformed("the fields of " + schema.name + " are not a map");
    }
    for (const auto& [name, value] : desc.items()) {
        if (schema.find_field(name) == nullptr) {
            throw Malformed(fmt::format("{} has no field {}", schema.name, name));
        }
    }
    Descriptor descriptor{&schema, std::vector<FieldValue>(schema.fields.size())};
    for (std::size_t i = 0; i < schema.fields.size(); ++i) {
        const Field& field = schema.fields[i];
        descriptor.values[i] = read_field(field, member(schema.name, desc, field.name.c_str()), depth);
    }
    check_counts(descriptor);
    return descriptor;
}

std::vector<std::optional<std::size_t>> read_in_place(const Descriptor& descriptor, const json& request) {
    const auto entry = request.find("inPlace");
    if (entry == request.end()) {
        return {};
    }
    InPlaceNames names;
    if (!entry->is_object()) {
        throw Malformed("inPlace is not a map of texts");
    }
    for (const auto& [output, input] : entry->items()) {
        if (!input.is_string()) {
            throw Malformed("inPlace is not a map of texts");
        }
        names.emplace(output, input.get<std::string>());
    }
    if (auto problem = in_place_problem(descriptor, names)) {
        throw Malformed("inPlace: " + *problem);
    }
    return in_place_slots(descriptor, names);
}

}  // namespace

json descriptor_to_json(const Descriptor& descriptor) {
    json object{{"operator", descriptor.schema->name}, {"desc", desc_to_json(descriptor)}};
    if (!descriptor.in_place.empty()) {
        object["inPlace"] = in_place_names(descriptor);
    }
    return object;
}

core::Result<Descriptor> descriptor_from_json(const json& value) {
    try {
        const OperatorSchema* schema = read_operator("operator", member("the request", value, "operator"));
        Descriptor descriptor = read_desc(*schema, member("the request", value, "desc"), 0);
        descriptor.in_place = read_in_place(descriptor, value);
        return descriptor;
    } catch (const Malformed& problem) {
        return core::fail(problem.what());
    }
}

json tensor_desc_to_json(const core::TensorDesc& desc) {
    return tensor_to_json(desc);
}

core::Result<core::TensorDesc> tensor_desc_from_json(const std::string& name, const json& value) {
    try {
        return read_tensor(name, value);
    } catch (const Malformed& problem) {
        return core::fail(problem.what());
    }
}

}  // namespace dmlconform::operators
