// Derives the limits of a value from its readers.
#include "engine/interop/random_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace dmlconform::interop {
namespace {

using operators::Descriptor;
using Limits = std::vector<std::optional<std::uint64_t>>;

void lower(std::optional<std::uint64_t>& limit, std::uint64_t to) {
    limit = std::min(limit.value_or(to), std::max<std::uint64_t>(to, 1));
}

/// The smallest size of the dimensions that a coordinate list refers to.
std::uint64_t smallest(const core::Dimensions& sizes, std::size_t first) {
    std::uint64_t least = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t d = std::min(first, sizes.size()); d < sizes.size(); ++d) {
        least = std::min<std::uint64_t>(least, sizes[d]);
    }
    return least;
}

std::uint64_t along_axis(const Descriptor& node, const char* tensor) {
    const core::Dimensions& sizes = node.tensor(tensor)->sizes;
    const std::uint32_t axis = node.uint("Axis");
    return axis < sizes.size() ? sizes[axis] : 1;
}

/// The limit of an operator for indices or lengths in its input `slot`.
std::optional<std::uint64_t> limit_of(const Descriptor& node, std::string_view slot) {
    const std::string_view name = node.schema->short_name();
    if (slot == "IndicesTensor") {
        if (name == "GATHER" || name == "GATHER_ELEMENTS" || name == "SCATTER") {
            return along_axis(node, "InputTensor");
        }
        if (name == "ONE_HOT") {
            return along_axis(node, "OutputTensor");
        }
        if (name == "GATHER_ND" || name == "GATHER_ND1" || name == "SCATTER_ND") {
            const core::Dimensions& sizes = node.tensor("InputTensor")->sizes;
            return smallest(sizes,
                            sizes.size() - std::min<std::size_t>(sizes.size(), node.uint("InputDimensionCount")));
        }
        if (name == "MAX_UNPOOLING") {
            const core::Dimensions& sizes = node.tensor("OutputTensor")->sizes;
            return std::uint64_t{sizes.back()} * (sizes.size() < 2 ? 1 : sizes[sizes.size() - 2]);
        }
    }
    if (slot == "SequenceLengthsTensor") {
        return name == "REVERSE_SUBSEQUENCES" ? along_axis(node, "InputTensor") + 1
                                              : std::uint64_t{node.tensor("InputTensor")->sizes[1]} + 1;
    }
    if (slot == "BatchIndicesTensor") {
        return node.tensor("InputTensor")->sizes[0];
    }
    return std::nullopt;
}

/// Operators whose outputs are elements of their inputs.
constexpr std::array<std::string_view, 9> copies{
    "CAST", "ELEMENT_WISE_IDENTITY", "ELEMENT_WISE_IF", "GATHER", "JOIN", "SLICE1", "SPLIT", "TILE", "GATHER_ELEMENTS"};

}  // namespace

Limits index_limits(const operators::Graph& graph) {
    Limits limits(graph.values.size());
    const auto order = graph.execution_order();
    for (auto position = order.rbegin(); position != order.rend(); ++position) {
        const operators::GraphNode& node = graph.nodes[*position];
        std::optional<std::uint64_t> of_outputs;
        for (const operators::ValueIndex output : node.outputs) {
            if (output != operators::no_value && limits[output]) {
                lower(of_outputs, *limits[output]);
            }
        }
        const bool copied = std::ranges::find(copies, node.descriptor->schema->short_name()) != copies.end();
        const auto slots = node.descriptor->inputs();
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            if (node.inputs[i] == operators::no_value) {
                continue;
            }
            const auto own = limit_of(*node.descriptor, slots[i].name);
            if (own) {
                lower(limits[node.inputs[i]], *own);
            } else if (copied && of_outputs && slots[i].name != "ConditionTensor") {
                lower(limits[node.inputs[i]], *of_outputs);
            }
        }
    }
    return limits;
}

cases::Initialiser random_input(core::DataType type, const core::Dimensions& sizes, bool is_bool,
                                std::optional<std::uint64_t> limit, std::uint64_t seed) {
    std::string text;
    if (core::is_floating_point(type) && !limit) {
        text = fmt::format(R"({{"random": "normal", "mean": 0, "stddev": 1, "seed": {}}})", seed);
    } else {
        constexpr std::uint64_t small_numbers = 10;
        const bool signed_byte = type == core::DataType::int8;
        const bool byte = !limit && !is_bool && core::bytes_of(type) == 1;
        const std::int64_t low = byte && signed_byte ? -128 : 0;
        // Numbers that every type represents exactly.
        const std::uint64_t largest = signed_byte                 ? 127
                                      : core::bytes_of(type) == 1 ? 255
                                      : core::bytes_of(type) == 2 ? 2048
                                                                  : std::uint64_t{1} << 24;
        const std::uint64_t wanted = byte ? largest : limit.value_or(is_bool ? 2 : small_numbers) - 1;
        const std::uint64_t high = std::min(wanted, largest);
        text = fmt::format(R"({{"random": "integer", "min": {}, "max": {}, "seed": {}}})", low, high, seed);
    }
    cases::ProblemSink problems("", text);
    const auto value = cases::parse_json(text);
    return *cases::read_initialiser(*value, core::TensorDesc::packed(type, sizes), problems);
}

}  // namespace dmlconform::interop
