// Access to the fields of descriptors, and printing of descriptors.
#include "engine/operators/descriptor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "engine/core/element.h"
#include "engine/operators/graph.h"
#include "engine/operators/in_place.h"

namespace dmlconform::operators {
namespace {

/// Prints a field's value. The type of a scalar union is in another field of the descriptor.
std::string field_text(const Descriptor& descriptor, std::size_t index) {
    const Field& field = descriptor.schema->fields[index];
    const auto* scalar = std::get_if<ScalarUnion>(&descriptor.values[index]);
    const core::DataType type = scalar == nullptr ? core::DataType::unknown : descriptor.scalar_type(field);
    return type == core::DataType::unknown ? to_string(field, descriptor.values[index])
                                           : core::format_element(type, scalar->bits);
}

std::string inline_text(const Descriptor& descriptor) {
    std::string text(descriptor.schema->short_name());
    std::vector<std::string> members;
    for (std::size_t i = 0; i < descriptor.values.size(); ++i) {
        const Field& field = descriptor.schema->fields[i];
        if (!std::holds_alternative<Null>(descriptor.values[i])) {
            members.push_back(fmt::format("{}={}", field.name, field_text(descriptor, i)));
        }
    }
    if (!members.empty()) {
        text += fmt::format("({})", fmt::join(members, ", "));
    }
    return text;
}

/// Which graph values a node's tensors are, such as "FilterTensor = w".
std::vector<std::string> connections(const Graph& graph, const std::vector<TensorSlot>& slots,
                                     const std::vector<ValueIndex>& values) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (values[i] != no_value) {
            parts.push_back(fmt::format("{} = {}", slots[i].name, graph.values[values[i]].name));
        }
    }
    return parts;
}

/// Appends one line for each node: its fields and the values that its tensors are.
void append_nodes(const Graph& graph, std::vector<std::string>& lines) {
    for (const GraphNode& node : graph.nodes) {
        lines.push_back(fmt::format("node {}: {}; reads {}; writes {}", node.name, inline_text(*node.descriptor),
                                    fmt::join(connections(graph, node.descriptor->inputs(), node.inputs), ", "),
                                    fmt::join(connections(graph, node.descriptor->outputs(), node.outputs), ", ")));
    }
}

struct Printer {
    const Field& field;

    std::string operator()(const Null&) const { return "null"; }
    std::string operator()(const core::TensorDesc& desc) const { return core::to_string(desc); }
    std::string operator()(const TensorDescArray& array) const {
        std::vector<std::string> parts;
        for (const core::TensorDesc& desc : array.items) {
            parts.push_back(core::to_string(desc));
        }
        return fmt::format("[{}]", fmt::join(parts, "; "));
    }
    std::string operator()(const OperatorDesc& desc) const { return inline_text(*desc); }
    std::string operator()(const OperatorDescArray& array) const {
        std::vector<std::string> parts;
        for (const OperatorDesc& desc : array.items) {
            parts.push_back(inline_text(*desc));
        }
        return fmt::format("[{}]", fmt::join(parts, "; "));
    }
    std::string operator()(std::uint32_t value) const {
        if (field.enumeration != nullptr) {
            if (const auto name = field.enumeration->name_of(value)) {
                return std::string(name->substr(field.enumeration->prefix().size()));
            }
        }
        return fmt::format("{}", value);
    }
    std::string operator()(std::int32_t value) const { return fmt::format("{}", value); }
    std::string operator()(float value) const { return fmt::format("{}", value); }
    template <class T>
    std::string operator()(const std::vector<T>& values) const {
        return fmt::format("[{}]", fmt::join(values, ","));
    }
    std::string operator()(const ScaleBias& value) const {
        return fmt::format("{{Scale={}, Bias={}}}", value.scale, value.bias);
    }
    std::string operator()(const Size2D& value) const {
        return fmt::format("{{Width={}, Height={}}}", value.width, value.height);
    }
    std::string operator()(const ScalarUnion& value) const { return fmt::format("0x{:x}", value.bits); }
};

}  // namespace

const FieldValue& Descriptor::value(std::string_view field) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (schema->fields[i].name == field) {
            return values[i];
        }
    }
    throw std::logic_error(fmt::format("{} has no field {}", schema->name, field));
}

const Descriptor* Descriptor::activation(std::string_view field) const {
    const auto* desc = std::get_if<OperatorDesc>(&value(field));
    return desc == nullptr ? nullptr : desc->get();
}

core::DataType Descriptor::scalar_type(const Field& field) const {
    const auto* type =
        field.data_type_field.empty() ? nullptr : std::get_if<std::uint32_t>(&value(field.data_type_field));
    return type != nullptr && *type < core::data_type_count ? static_cast<core::DataType>(*type)
                                                            : core::DataType::unknown;
}

std::vector<TensorSlot> Descriptor::slots(FieldKind kind) const {
    std::vector<TensorSlot> result;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const Field& field = schema->fields[i];
        if (field.kind != kind) {
            continue;
        }
        if (const auto* array = std::get_if<TensorDescArray>(&values[i])) {
            for (std::size_t item = 0; item < array->items.size(); ++item) {
                result.push_back({fmt::format("{}[{}]", field.name, item), &array->items[item]});
            }
        } else {
            result.push_back({field.name, std::get_if<core::TensorDesc>(&values[i])});
        }
    }
    return result;
}

std::optional<std::size_t> array_length(const FieldValue& value) {
    return std::visit(
        [](const auto& held) -> std::optional<std::size_t> {
            if constexpr (requires { held.items.size(); }) {
                return held.items.size();
            } else if constexpr (requires { held.size(); }) {
                return held.size();
            } else {
                return std::nullopt;
            }
        },
        value);
}

std::vector<std::string> to_lines(const Descriptor& descriptor) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < descriptor.values.size(); ++i) {
        const Field& field = descriptor.schema->fields[i];
        lines.push_back(fmt::format("{}: {}", field.name, field_text(descriptor, i)));
    }
    if (descriptor.graph != nullptr) {
        append_nodes(*descriptor.graph, lines);
    }
    for (const auto& [output, input] : in_place_names(descriptor)) {
        lines.push_back(fmt::format("in place: {} in the memory of {}", output, input));
    }
    return lines;
}

std::string to_string(const Field& field, const FieldValue& value) {
    return std::visit(Printer{field}, value);
}

}  // namespace dmlconform::operators
