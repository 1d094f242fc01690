// Runs a graph once without noise and several times with noise, all in lockstep, so that values can be freed early.
#include "engine/cpu/graph_reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

#include "engine/core/hash.h"
#include "engine/cpu/node_noise.h"
#include "engine/graph_values.h"

namespace dmlconform::cpu {
namespace {

using operators::GraphNode;

core::Tolerance tolerance_of(const GraphNode& node, std::size_t output) {
    return default_tolerance(*node.descriptor, node.descriptor->outputs()[output]);
}

bool is_exact(const core::Tolerance& tolerance) {
    return tolerance.exact || (tolerance.ulp == 0u && !tolerance.abs && !tolerance.rel && !tolerance.element_slack);
}

/// For each node, whether all implementations read exactly what the reference reads.
std::vector<bool> nodes_with_exact_inputs(const operators::Graph& graph) {
    std::vector<bool> exact_value(graph.values.size(), true);
    std::vector<bool> result(graph.nodes.size());
    for (const std::size_t n : graph.execution_order()) {
        const GraphNode& node = graph.nodes[n];
        result[n] = std::ranges::all_of(node.inputs,
                                        [&](auto value) { return value == operators::no_value || exact_value[value]; });
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            if (node.outputs[i] != operators::no_value) {
                const core::Tolerance own = tolerance_of(node, i);
                exact_value[node.outputs[i]] = result[n] && is_exact(own) && !own.alternatives && !own.meaningful_part;
            }
        }
    }
    return result;
}

/// A packed copy whose elements are at least one byte wide.
core::Tensor elements_of(const core::Tensor& tensor) {
    return core::bytes_of(tensor.desc.data_type) == 0 ? core::widened_copy(tensor) : core::packed_copy(tensor);
}

core::Tolerance tolerance_by_runs(const core::Tolerance& of_last_node) {
    core::Tolerance tolerance;
    tolerance.element_slack = true;
    tolerance.alternatives = of_last_node.alternatives;
    tolerance.meaningful_part = of_last_node.meaningful_part;
    tolerance.slack_formula =
        "8 times the spread of 16 runs of the reference with rounding errors in every node (docs/graphs.md)";
    return tolerance;
}

/// Accumulates the differences between the noisy runs and the reference, for each element of an output.
class Deviations {
public:
    /// The minimum share of elements with a spread for which their common spread is used.
    static constexpr double least_share = 0.05;

    /// Tensors must be packed.
    explicit Deviations(core::Tensor reference)
        : reference_(std::move(reference)),
          squares_(static_cast<std::size_t>(*core::element_count(reference_.desc.sizes))),
          least_(squares_.size()),
          greatest_(squares_.size()),
          nan_(squares_.size()) {}

    void add(const core::Tensor& packed) {
        core::with_type(reference_.desc.data_type, [&]<class T>() {
            const auto expected = reference_.as<T>();
            const auto found = packed.as<T>();
            for (std::size_t i = 0; i < squares_.size(); ++i) {
                const auto wanted = static_cast<double>(expected[i]);
                const auto got = static_cast<double>(found[i]);
                if (got == wanted || (std::isnan(wanted) && std::isnan(got))) {
                    continue;  // this includes equal infinities
                }
                if (std::isnan(got)) {
                    nan_[i] = 1;
                    continue;
                }
                const double by = got - wanted;
                squares_[i] += by * by;
                least_[i] = std::min(least_[i], by);
                greatest_[i] = std::max(greatest_[i], by);
            }
        });
        ++runs_;
    }

    /// How far a legal implementation may deviate, for each element.
    [[nodiscard]] std::vector<double> bounds() const {
        const double common = common_spread_multiple * common_spread();
        std::vector<double> bounds;
        bounds.reserve(squares_.size());
        for (std::size_t i = 0; i < squares_.size(); ++i) {
            bounds.push_back(std::max(spread_multiple * spread(i), common));
        }
        return bounds;
    }

    /// Adds the effect of errors in the inputs to the slack of the node that computes the output.
    void widen(core::ElementSlack& slack) const {
        const std::vector<double> bound = bounds();
        const bool is_integer = !core::is_floating_point(reference_.desc.data_type);
        slack.nan.resize(squares_.size());
        slack.finite.resize(squares_.size());
        slack.sigma.clear();
        for (std::size_t i = 0; i < squares_.size(); ++i) {
            // For integers, the runs contain every value that a tie allows.
            slack.below[i] += is_integer ? -least_[i] : bound[i];
            slack.above[i] += is_integer ? greatest_[i] : bound[i];
            slack.nan[i] = static_cast<std::uint8_t>(slack.nan[i] | nan_[i]);
        }
    }

private:
    [[nodiscard]] double spread(std::size_t i) const { return std::sqrt(squares_[i] / static_cast<double>(runs_)); }

    /// The root mean square of the spreads that are finite and not 0. 0 if there are too few of them.
    [[nodiscard]] double common_spread() const {
        double sum = 0;
        std::size_t count = 0;
        for (const double square : squares_) {
            if (square > 0 && std::isfinite(square)) {
                sum += square;
                ++count;
            }
        }
        // A few elements at a tie say nothing about the others.
        const bool is_common = static_cast<double>(count) >= least_share * static_cast<double>(squares_.size());
        return count == 0 || !is_common ? 0 : std::sqrt(sum / static_cast<double>(count) / static_cast<double>(runs_));
    }

    core::Tensor reference_;
    std::vector<double> squares_;
    std::vector<double> least_;
    std::vector<double> greatest_;
    std::vector<std::uint8_t> nan_;
    std::size_t runs_ = 0;
};

/// Operators with floating-point outputs that jump where an input crosses a threshold.
constexpr std::array<std::string_view, 6> jumping{"ELEMENT_WISE_ROUND", "ELEMENT_WISE_CEIL",  "ELEMENT_WISE_FLOOR",
                                                  "ELEMENT_WISE_SIGN",  "ACTIVATION_HARDMAX", "ACTIVATION_HARDMAX1"};

/// True if a small error of an input may change an output by a whole step: rounding to integers or FLOAT16,
/// comparisons, indices of extremes.
bool decides(const GraphNode& node, std::size_t output) {
    const core::DataType type = node.descriptor->outputs()[output].desc->data_type;
    const auto inputs = node.descriptor->inputs();
    const auto is_finer = [&](const operators::TensorSlot& slot) {
        return slot.desc != nullptr && core::is_floating_point(slot.desc->data_type) &&
               (type != core::DataType::float16 || slot.desc->data_type != core::DataType::float16);
    };
    if (!core::is_floating_point(type) || type == core::DataType::float16) {
        return std::ranges::any_of(inputs, is_finer);
    }
    return std::ranges::find(jumping, node.descriptor->schema->short_name()) != jumping.end();
}

/// Moves the inputs of a decision in one of the runs, far enough to cross every threshold that a legal implementation
/// may cross. Neighbouring elements, and the same element in other runs, move in opposite directions, so that both
/// sides are covered.
void move_across_bounds(core::Tensor& tensor, std::span<const double> by, std::size_t run, std::uint64_t seed) {
    core::with_type(tensor.desc.data_type, [&]<class T>() {
        if constexpr (!std::is_integral_v<T>) {
            const auto elements = tensor.as<T>();
            for (std::size_t i = 0; i < by.size(); ++i) {
                const bool up = ((core::mixed(seed + i) + run) & 1) != 0;
                elements[i] = static_cast<T>(static_cast<double>(elements[i]) + (up ? by[i] : -by[i]));
            }
        }
    });
}

class GraphRuns {
public:
    GraphRuns(const operators::Graph& graph, Accumulation accumulation, std::size_t runs)
        : graph_(graph),
          accumulation_(accumulation),
          reference_(graph),
          exact_inputs_(nodes_with_exact_inputs(graph)),
          slack_(graph.values.size()) {
        for (std::size_t run = 0; run < runs; ++run) {
            runs_.push_back(std::make_unique<GraphValues>(graph));
        }
    }

    Reference compute(std::span<const core::Tensor* const> inputs) {
        reference_.start(inputs);
        for (const auto& run : runs_) {
            run->start(inputs);
        }
        for (std::size_t position = 0; position < reference_.order().size(); ++position) {
            compute_node(reference_.order()[position]);
            reference_.release_after(position);
            for (const auto& run : runs_) {
                run->release_after(position);
            }
        }
        return results();
    }

private:
    [[nodiscard]] bool is_output(operators::ValueIndex value) const {
        return std::ranges::find(graph_.outputs, value) != graph_.outputs.end();
    }

    void compute_node(std::size_t n) {
        const GraphNode& node = graph_.nodes[n];
        const NodeInputs inputs = reference_.inputs_of(node);
        Reference computed = compute_reference(*node.descriptor, inputs.tensors, accumulation_);
        compute_runs(n, inputs, computed);
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            const operators::ValueIndex value = node.outputs[i];
            if (value == operators::no_value) {
                continue;
            }
            if (is_output(value)) {
                slack_[value] = std::move(computed.slack[i]);
            }
            reference_.put(value, std::move(computed.outputs[i]));
        }
    }

    void compute_runs(std::size_t n, const NodeInputs& exact, const Reference& reference) {
        const GraphNode& node = graph_.nodes[n];
        std::vector<std::optional<core::Tolerance>> tolerances(node.outputs.size());
        std::vector<bool> decided(node.outputs.size());
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            if (node.outputs[i] != operators::no_value) {
                tolerances[i] = tolerance_of(node, i);
                decided[i] = !exact_inputs_[n] && decides(node, i);
            }
        }
        const bool any_decided = std::ranges::find(decided, true) != decided.end();
        const auto distances = any_decided ? distances_of(node, exact) : std::vector<std::vector<double>>();
        for (std::size_t run = 0; run < runs_.size(); ++run) {
            std::vector<core::Tensor> outputs = outputs_of(n, run, reference);
            if (any_decided) {
                decide(node, run, distances, decided, outputs);
            }
            for (std::size_t i = 0; i < node.outputs.size(); ++i) {
                if (tolerances[i]) {
                    core::Tensor& output = runs_[run]->put(node.outputs[i], std::move(outputs[i]));
                    const NodeNoise noise(*tolerances[i], reference.slack[i], core::mixed(node.outputs[i] + 1));
                    if (!noise.is_silent()) {
                        noise.add_to(output, run);
                    }
                }
            }
        }
    }

    /// The outputs of a node in a run, before noise is added.
    std::vector<core::Tensor> outputs_of(std::size_t n, std::size_t run, const Reference& reference) const {
        const GraphNode& node = graph_.nodes[n];
        if (!exact_inputs_[n]) {
            return compute_outputs(*node.descriptor, runs_[run]->inputs_of(node).tensors);
        }
        std::vector<core::Tensor> outputs;
        for (const core::Tensor& output : reference.outputs) {
            outputs.push_back(output.buffer.bytes().empty() ? core::Tensor() : seen_as(output.desc, output));
        }
        return outputs;
    }

    /// For each input of a deciding node, the distance by which each element is moved; empty for inputs that are not
    /// moved.
    [[nodiscard]] std::vector<std::vector<double>> distances_of(const GraphNode& node, const NodeInputs& exact) const {
        std::vector<std::vector<double>> distances(exact.tensors.size());
        for (std::size_t i = 0; i < distances.size(); ++i) {
            const core::Tensor* tensor = exact.tensors[i];
            if (tensor == nullptr || !core::is_floating_point(tensor->desc.data_type)) {
                continue;
            }
            Deviations deviations(flat(*tensor));
            for (const auto& run : runs_) {
                deviations.add(flat(*run->inputs_of(node).tensors[i]));
            }
            distances[i] = deviations.bounds();
            limit_to_rounding(node, *tensor, distances[i]);
        }
        return distances;
    }

    /// If a node only rounds to FLOAT16, half a step is enough to change its decisions.
    static void limit_to_rounding(const GraphNode& node, const core::Tensor& tensor, std::vector<double>& distances) {
        const bool to_half = std::ranges::any_of(node.descriptor->outputs(), [](const operators::TensorSlot& slot) {
            return slot.desc != nullptr && slot.desc->data_type == core::DataType::float16;
        });
        if (!to_half) {
            return;
        }
        core::with_type(tensor.desc.data_type, [&]<class T>() {
            const auto elements = tensor.as<T>();
            for (std::size_t i = 0; i < distances.size(); ++i) {
                distances[i] = std::min(distances[i], 0x1p-11 * std::fabs(static_cast<double>(elements[i])));
            }
        });
    }

    /// The tensor's memory as one row, which makes strides irrelevant.
    static core::Tensor flat(const core::Tensor& tensor) {
        const std::uint32_t width = core::bytes_of(tensor.desc.data_type);
        const auto count = static_cast<std::uint32_t>(tensor.desc.total_bytes / width);
        core::TensorDesc desc = core::TensorDesc::packed(tensor.desc.data_type, {count});
        desc.total_bytes = tensor.desc.total_bytes;
        return seen_as(desc, tensor);
    }

    /// Replaces the outputs that depend on decisions.
    void decide(const GraphNode& node, std::size_t run, const std::vector<std::vector<double>>& distances,
                const std::vector<bool>& decided, std::vector<core::Tensor>& outputs) const {
        NodeInputs inputs = runs_[run]->inputs_of(node);
        std::vector<core::Tensor> moved;
        moved.reserve(distances.size());
        for (std::size_t i = 0; i < distances.size(); ++i) {
            if (!distances[i].empty()) {
                moved.push_back(seen_as(inputs.tensors[i]->desc, *inputs.tensors[i]));
                // Two inputs that are compared move towards each other in half of the runs and apart in the other half.
                move_across_bounds(moved.back(), distances[i], run >> i, core::mixed(i + 1));
                inputs.tensors[i] = &moved.back();
            }
        }
        std::vector<core::Tensor> others = compute_outputs(*node.descriptor, inputs.tensors);
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (decided[i]) {
                outputs[i] = std::move(others[i]);
            }
        }
    }

    Reference results() {
        Reference result;
        for (const operators::ValueIndex output : graph_.outputs) {
            const core::Tensor& computed = reference_.at(output);
            const auto& producer = *graph_.values[output].producer;
            core::ElementSlack slack = std::move(slack_[output]);
            if (!runs_.empty() && !exact_inputs_[producer.node]) {
                widen(output, computed, slack);
            }
            result.slack.push_back(std::move(slack));
            result.outputs.push_back(seen_as(computed.desc, computed));
        }
        return result;
    }

    void widen(operators::ValueIndex output, const core::Tensor& computed, core::ElementSlack& slack) const {
        const auto& producer = *graph_.values[output].producer;
        make_room(computed, tolerance_of(graph_.nodes[producer.node], producer.output), slack);
        Deviations deviations(elements_of(computed));
        for (const auto& run : runs_) {
            deviations.add(elements_of(run->at(output)));
        }
        deviations.widen(slack);
    }

    /// Provides bounds for a last node whose tolerance is one number for all elements.
    static void make_room(const core::Tensor& computed, const core::Tolerance& tolerance, core::ElementSlack& slack) {
        const auto count = static_cast<std::size_t>(*core::element_count(computed.desc.sizes));
        if (slack.below.size() == count) {
            return;
        }
        slack.below.assign(count, 0);
        slack.above.assign(count, 0);
        const core::Tensor packed = elements_of(computed);
        core::with_type(packed.desc.data_type, [&]<class T>() {
            const auto values = packed.as<T>();
            for (std::size_t i = 0; i < count; ++i) {
                const NoiseRange range =
                    noise_range(packed.desc.data_type, static_cast<double>(values[i]), i, tolerance, slack);
                slack.below[i] = range.below;
                slack.above[i] = range.above;
            }
        });
    }

    const operators::Graph& graph_;
    Accumulation accumulation_;
    GraphValues reference_;
    std::vector<bool> exact_inputs_;
    std::vector<std::unique_ptr<GraphValues>> runs_;
    /// For each output of the graph, the slack of the node that computes it.
    std::vector<core::ElementSlack> slack_;
};

}  // namespace

core::Tolerance graph_tolerance(const operators::Graph& graph, std::string_view output) {
    const auto& producer = *graph.values[*graph.find_value(output)].producer;
    const core::Tolerance own = tolerance_of(graph.nodes[producer.node], producer.output);
    return nodes_with_exact_inputs(graph)[producer.node] ? own : tolerance_by_runs(own);
}

Reference compute_graph_reference(const operators::Graph& graph, std::span<const core::Tensor* const> inputs,
                                  Accumulation accumulation, std::size_t runs) {
    return GraphRuns(graph, accumulation, runs).compute(inputs);
}

}  // namespace dmlconform::cpu
