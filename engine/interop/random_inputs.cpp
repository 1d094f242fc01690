// Derives the limits of a value from its readers.
#include "engine/interop/random_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "engine/operators/element_rules.h"

namespace dmlconform::interop {
namespace {

using operators::Descriptor;
using Limits = std::vector<std::optional<std::uint64_t>>;

void lower(std::optional<std::uint64_t>& limit, std::uint64_t to) {
    limit = std::min(limit.value_or(to), std::max<std::uint64_t>(to, 1));
}

/// The bound of the numbers in an input of indices or counts. Empty if the tensor that they refer to is absent.
std::optional<std::uint64_t> bound_of(const Descriptor& node, const operators::IndexRange& range) {
    const core::TensorDesc* const tensor = node.tensor(range.of);
    if (tensor == nullptr) {
        return std::nullopt;
    }
    const core::Dimensions& sizes = tensor->sizes;
    const auto size_of = [&](std::size_t d) { return std::uint64_t{d < sizes.size() ? sizes[d] : 1}; };
    switch (range.kind) {
        case operators::IndexRange::Kind::axis:
            return size_of(node.uint(range.field));
        case operators::IndexRange::Kind::dimension:
            return size_of(range.dimension);
        case operators::IndexRange::Kind::last_of: {
            const std::size_t count = std::min<std::size_t>(sizes.size(), node.uint(range.field));
            return count == 0 ? std::uint64_t{std::numeric_limits<std::uint32_t>::max()}
                              : std::uint64_t{
                                    *std::min_element(sizes.end() - static_cast<std::ptrdiff_t>(count), sizes.end())};
        }
        case operators::IndexRange::Kind::plane:
        default:
            return std::uint64_t{sizes.back()} * (sizes.size() < 2 ? 1 : sizes[sizes.size() - 2]);
    }
}

/// How many numbers from 0 on an input of indices or counts may have. Empty for other inputs.
std::optional<std::uint64_t> limit_of(const Descriptor& node, const std::string& slot) {
    const auto& indices = operators::element_rules(*node.schema).indices;
    const auto range = indices.find(slot);
    if (range == indices.end()) {
        return std::nullopt;
    }
    const auto bound = bound_of(node, range->second);
    return bound && range->second.counts ? *bound + 1 : bound;
}

/// True if the input's elements become elements of the outputs.
bool passes_on(const Descriptor& node, std::string_view slot) {
    const std::vector<std::string>& names = operators::element_rules(*node.schema).passes_on;
    return std::ranges::find(names, operators::array_of(slot)) != names.end();
}

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
        const auto slots = node.descriptor->inputs();
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            if (node.inputs[i] == operators::no_value) {
                continue;
            }
            const auto own = limit_of(*node.descriptor, slots[i].name);
            if (own) {
                lower(limits[node.inputs[i]], *own);
            } else if (of_outputs && passes_on(*node.descriptor, slots[i].name)) {
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
        const std::uint32_t bits = core::bits_of(type);
        const bool is_signed = core::is_signed_integer(type);
        // Numbers that every type of that width represents exactly.
        const std::uint64_t largest = bits <= 8    ? (std::uint64_t{1} << (is_signed ? bits - 1 : bits)) - 1
                                      : bits == 16 ? 2048
                                                   : std::uint64_t{1} << 24;
        const bool whole_range = !limit && !is_bool && bits <= 8;
        const std::int64_t low = whole_range && is_signed ? -static_cast<std::int64_t>(largest) - 1 : 0;
        const std::uint64_t wanted = whole_range ? largest : limit.value_or(is_bool ? 2 : small_numbers) - 1;
        const std::uint64_t high = std::min(wanted, largest);
        text = fmt::format(R"({{"random": "integer", "min": {}, "max": {}, "seed": {}}})", low, high, seed);
    }
    cases::ProblemSink problems("", text);
    const auto value = cases::parse_json(text);
    return *cases::read_initialiser(*value, core::TensorDesc::packed(type, sizes), problems);
}

}  // namespace dmlconform::interop
