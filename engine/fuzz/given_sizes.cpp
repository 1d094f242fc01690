// Resolves full and short names of tensors.
#include "engine/fuzz/given_sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/example_case.h"

namespace dmlconform::fuzz {
namespace {

using operators::Descriptor;
using operators::Field;

/// The names of all tensors that the operator can have, in the order of the struct, with this many elements for each
/// array.
std::vector<std::string> names_of(const Descriptor& descriptor, std::size_t in_array) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < descriptor.values.size(); ++i) {
        const Field& field = descriptor.schema->fields[i];
        if (const auto* array = std::get_if<operators::TensorDescArray>(&descriptor.values[i])) {
            for (std::size_t item = 0; item < std::max(array->items.size(), in_array); ++item) {
                names.push_back(fmt::format("{}[{}]", field.name, item));
            }
        } else if (field.type == operators::FieldType::tensor_desc) {
            names.push_back(field.name);
        }
    }
    return names;
}

/// "B" for "BTensor", "Input[1]" for "InputTensors[1]".
std::string short_name(std::string name) {
    for (const std::string_view ending : {"Tensors", "Tensor"}) {
        const std::size_t end = operators::array_of(name).size();
        if (std::string_view(name).substr(0, end).ends_with(ending)) {
            return name.erase(end - ending.size(), ending.size());
        }
    }
    return name;
}

/// The name of the tensor that `first_tensor` finds; empty if there is none.
std::string first_name(const Descriptor& descriptor) {
    const core::TensorDesc* first = first_tensor(descriptor);
    for (const auto& slots : {descriptor.inputs(), descriptor.outputs()}) {
        for (const operators::TensorSlot& slot : slots) {
            if (slot.desc != nullptr && slot.desc == first) {
                return slot.name;
            }
        }
    }
    return {};
}

/// A tensor with the first tensor's data type, or else the first type that the field supports.
core::TensorDesc new_tensor(const Descriptor& descriptor, const Field& field) {
    core::TensorDesc desc;
    const core::TensorDesc* first = first_tensor(descriptor);
    desc.data_type = first != nullptr ? first->data_type : core::DataType::float32;
    if (const auto* support = descriptor.schema->support_at(field.name, core::highest_feature_level)) {
        const auto& types = support->data_types;
        if (!types.empty() && std::find(types.begin(), types.end(), desc.data_type) == types.end()) {
            desc.data_type = types.front();
        }
    }
    return desc;
}

}  // namespace

core::Result<std::string> full_name(const Descriptor& descriptor, std::string_view name, std::size_t in_array) {
    const std::vector<std::string> names = names_of(descriptor, in_array);
    const auto found = std::ranges::find_if(names, [&](const std::string& known) {
        return name.empty() ? known == first_name(descriptor) : known == name || short_name(known) == name;
    });
    if (found == names.end()) {
        return core::fail(fmt::format("{} has no tensor \"{}\"", descriptor.schema->short_name(), name),
                          fmt::format("its tensors are {}", fmt::join(names, ", ")));
    }
    return *found;
}

core::Result<GivenSizes> with_full_names(const Descriptor& descriptor, const GivenSizes& given) {
    const std::vector<std::string> names = names_of(descriptor, given.size());
    GivenSizes full;
    for (const auto& [name, sizes] : given) {
        const auto found = full_name(descriptor, name, given.size());
        if (!found) {
            return tl::unexpected(found.error());
        }
        const auto is_given = [&](const std::string& known) {
            return std::any_of(full.begin(), full.end(), [&](const auto& other) { return other.first == known; });
        };
        if (is_given(*found)) {
            const auto other = std::find_if_not(names.begin(), names.end(), is_given);
            return core::fail(fmt::format("the sizes of {} are given twice", *found),
                              other == names.end() ? "" : fmt::format("--sizes {}=… is for another tensor", *other));
        }
        full.emplace_back(*found, sizes);
    }
    return full;
}

void remove_optional_inputs(Descriptor& descriptor, const GivenSizes& given) {
    const std::string first = first_name(descriptor);
    for (std::size_t i = 0; i < descriptor.values.size(); ++i) {
        const Field& field = descriptor.schema->fields[i];
        const bool named = std::any_of(given.begin(), given.end(), [&](const auto& entry) {
            return operators::array_of(entry.first) == field.name;
        });
        if (field.is_tensor() && field.kind == operators::FieldKind::input && field.optional && !named &&
            operators::array_of(first) != field.name) {
            descriptor.values[i] = operators::Null{};
        }
    }
}

void put_sizes(Descriptor& descriptor, const GivenSizes& given) {
    for (const auto& [name, sizes] : given) {
        const std::string field(operators::array_of(name));
        operators::FieldValue& value = field_of(descriptor, field);
        if (auto* array = std::get_if<operators::TensorDescArray>(&value)) {
            std::size_t count = 0;
            for (const auto& other : given) {
                count = operators::array_of(other.first) == field
                            ? std::max(count, operators::index_in(other.first).value_or(0) + 1)
                            : count;
            }
            array->items.resize(count, new_tensor(descriptor, *descriptor.schema->find_field(field)));
            set_sizes(array->items[operators::index_in(name).value_or(0)], sizes);
            continue;
        }
        if (!std::holds_alternative<core::TensorDesc>(value)) {
            value = new_tensor(descriptor, *descriptor.schema->find_field(field));
        }
        set_sizes(std::get<core::TensorDesc>(value), sizes);
    }
}

}  // namespace dmlconform::fuzz
