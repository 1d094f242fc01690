// Computes values one by one or, together with the results of the reference, for the whole graph.
#include "engine/run/node_values.h"

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <utility>

#include "engine/cpu/graph_reference.h"
#include "engine/engine_lost.h"
#include "engine/graph_values.h"
#include "engine/run/reference_source.h"

namespace dmlconform::run {
namespace {

std::uint64_t bytes_of(const std::vector<core::ElementSlack>& slack) {
    std::uint64_t bytes = 0;
    for (const core::ElementSlack& one : slack) {
        bytes += (one.below.size() + one.above.size() + one.sigma.size()) * sizeof(double) + one.nan.size() +
                 one.finite.size() + one.alternatives.size() * sizeof(one.alternatives.front());
    }
    return bytes;
}

}  // namespace

struct NodeValues::Together {
    /// The ranges of a node that nobody has asked for yet.
    struct Ranges {
        std::size_t node = 0;
        std::vector<core::ElementSlack> slack;
        std::uint64_t bytes = 0;
    };

    std::vector<bool> nodes;
    std::size_t runs = 0;
    std::uint64_t memory = 0;
    /// The node for which nodes are computed at the moment.
    std::size_t asked = 0;
    /// The inputs of the graph, while nodes are computed.
    std::vector<Shared> inputs;
    std::unique_ptr<cpu::GraphReference> reference;
    std::vector<bool> computed;
    std::deque<Ranges> ranges;
    std::uint64_t range_bytes = 0;
    std::optional<cpu::Reference> whole;
};

NodeValues::NodeValues(std::shared_ptr<const cases::Case> whole, std::uint64_t memory)
    : whole_(std::move(whole)), graph_(*whole_->descriptor->graph), values_(graph_.values.size(), memory) {}

NodeValues::~NodeValues() = default;

void NodeValues::compute_together(std::vector<bool> nodes, std::size_t runs, std::uint64_t memory) {
    together_ = std::make_unique<Together>();
    together_->computed.resize(nodes.size());
    together_->nodes = std::move(nodes);
    together_->runs = runs;
    together_->memory = memory;
}

core::Result<NodeValues::Shared> NodeValues::value(operators::ValueIndex index) {
    const std::lock_guard lock(mutex_);
    if (const auto& producer = graph_.values[index].producer; producer && !values_.has(index)) {
        compute_through(producer->node);
    }
    return value_alone(index);
}

core::Result<NodeValues::Shared> NodeValues::value_alone(operators::ValueIndex index) {
    // Walks back to values that are known, without recursion, because chains may be long.
    std::vector<operators::ValueIndex> wanted{index};
    while (!wanted.empty()) {
        const operators::ValueIndex next = wanted.back();
        if (is_ready(next)) {
            wanted.pop_back();
            continue;
        }
        const auto missing = missing_inputs(next);
        if (!missing.empty()) {
            wanted.insert(wanted.end(), missing.begin(), missing.end());
            continue;
        }
        if (auto made = make(next); !made) {
            return tl::unexpected(made.error());
        }
    }
    return held(index);
}

/// Large inputs of the graph, such as weights, are made again whenever they are needed.
bool NodeValues::is_made_again(operators::ValueIndex index) const {
    constexpr std::uint64_t large = std::uint64_t{1} << 20;
    return !graph_.values[index].producer && graph_.values[index].desc.total_bytes >= large;
}

bool NodeValues::is_ready(operators::ValueIndex index) const {
    return is_made_again(index) || values_.has(index);
}

/// A value that is ready.
core::Result<NodeValues::Shared> NodeValues::held(operators::ValueIndex index) {
    if (!is_made_again(index)) {
        return values_.get(index);
    }
    if (together_ && !together_->inputs.empty()) {
        return together_
            ->inputs[static_cast<std::size_t>(std::ranges::find(graph_.inputs, index) - graph_.inputs.begin())];
    }
    auto tensor = input(index);
    return tensor ? core::Result<Shared>(std::make_shared<const core::Tensor>(std::move(*tensor)))
                  : tl::unexpected(std::move(tensor.error()));
}

core::Result<core::Tensor> NodeValues::input(operators::ValueIndex index) const {
    core::Tensor tensor(graph_.values[index].desc);
    const auto position = std::ranges::find(graph_.inputs, index) - graph_.inputs.begin();
    if (auto filled = whole_->inputs[static_cast<std::size_t>(position)]->fill(tensor); !filled) {
        return tl::unexpected(std::move(filled.error()));
    }
    return tensor;
}

std::vector<operators::ValueIndex> NodeValues::missing_inputs(operators::ValueIndex index) const {
    std::vector<operators::ValueIndex> missing;
    if (const auto& producer = graph_.values[index].producer) {
        std::ranges::copy_if(graph_.nodes[producer->node].inputs, std::back_inserter(missing),
                             [&](auto input) { return input != operators::no_value && !is_ready(input); });
    }
    return missing;
}

core::Result<void> NodeValues::make(operators::ValueIndex index) {
    const auto& producer = graph_.values[index].producer;
    if (!producer) {
        auto tensor = input(index);
        return tensor ? values_.put(index, std::move(*tensor)) : tl::unexpected(std::move(tensor.error()));
    }
    const operators::GraphNode& node = graph_.nodes[producer->node];
    const auto slots = node.descriptor->inputs();
    std::vector<std::shared_ptr<const core::Tensor>> kept;
    std::vector<core::Tensor> views;
    views.reserve(slots.size());
    std::vector<const core::Tensor*> inputs;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc == nullptr) {
            inputs.push_back(nullptr);
            continue;
        }
        auto value = held(node.inputs[i]);
        if (!value) {
            return tl::unexpected(std::move(value.error()));
        }
        kept.push_back(std::move(*value));
        const bool as_it_is = kept.back()->desc == *slots[i].desc;
        inputs.push_back(as_it_is ? kept.back().get() : &views.emplace_back(seen_as(*slots[i].desc, *kept.back())));
    }
    auto outputs = cpu::compute_outputs(*node.descriptor, inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (node.outputs[i] != operators::no_value) {
            if (auto put = values_.put(node.outputs[i], std::move(outputs[i])); !put) {
                return put;
            }
        }
    }
    return {};
}

std::optional<cpu::Reference> NodeValues::take(std::size_t node) {
    const std::lock_guard lock(mutex_);
    compute_through(node);
    if (!together_) {
        return std::nullopt;
    }
    const auto found = std::ranges::find(together_->ranges, node, &Together::Ranges::node);
    if (found == together_->ranges.end()) {
        return std::nullopt;
    }
    Together::Ranges ranges = std::move(*found);
    together_->range_bytes -= ranges.bytes;
    together_->ranges.erase(found);
    auto outputs = outputs_of(node);
    return outputs ? std::optional(cpu::Reference{std::move(*outputs), std::move(ranges.slack)}) : std::nullopt;
}

std::optional<cpu::Reference> NodeValues::take_whole() {
    const std::lock_guard lock(mutex_);
    for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
        compute_through(node);
    }
    return together_ ? std::exchange(together_->whole, std::nullopt) : std::nullopt;
}

void NodeValues::compute_through(std::size_t node) {
    if (together_) {
        together_->asked = node;
    }
    try {
        while (together_ && !together_->computed[node] && start_together()) {
            compute_next_together();
        }
    } catch (const EngineLost&) {
        throw;  // the run was interrupted
    } catch (const std::exception&) {
        together_.reset();  // such as memory that ran out: each case tries by itself
    }
}

/// False if the inputs of the graph cannot be made.
bool NodeValues::start_together() {
    if (together_->reference != nullptr) {
        return true;
    }
    std::vector<Shared> inputs;
    std::vector<const core::Tensor*> pointers;
    for (const operators::ValueIndex index : graph_.inputs) {
        auto value = value_alone(index);
        if (!value) {
            together_.reset();
            return false;
        }
        pointers.push_back(inputs.emplace_back(std::move(*value)).get());
    }
    together_->inputs = std::move(inputs);
    together_->reference = std::make_unique<cpu::GraphReference>(graph_, pointers, cpu::Accumulation::fp32,
                                                                 together_->runs, end_of_references());
    return true;
}

void NodeValues::compute_next_together() {
    cpu::GraphReference& reference = *together_->reference;
    reference.compute_next([this](std::size_t node, cpu::Reference& computed) { keep(node, computed); });
    if (!reference.next()) {
        together_->whole = reference.results();
        together_->reference.reset();
        together_->inputs.clear();
    }
}

void NodeValues::keep(std::size_t node, cpu::Reference& computed) {
    together_->computed[node] = true;
    const auto& outputs = graph_.nodes[node].outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i] != operators::no_value && !values_.has(outputs[i])) {
            const core::Tensor& output = computed.outputs[i];
            if (const auto put = values_.put(outputs[i], seen_as(output.desc, output)); !put) {
                throw std::runtime_error(put.error().message);
            }
        }
    }
    if (together_->nodes[node]) {
        keep_ranges(node, std::move(computed.slack));
    }
}

void NodeValues::keep_ranges(std::size_t node, std::vector<core::ElementSlack> slack) {
    auto& all = together_->ranges;
    const std::uint64_t bytes = bytes_of(slack);
    all.push_back({node, std::move(slack), bytes});
    together_->range_bytes += bytes;
    // Several nodes may be computed in one step, so the newest one need not be the one that is asked for.
    for (auto oldest = all.begin(); together_->range_bytes > together_->memory && oldest + 1 != all.end();) {
        if (oldest->node == together_->asked) {
            ++oldest;
            continue;
        }
        together_->range_bytes -= oldest->bytes;
        oldest = all.erase(oldest);
    }
}

core::Result<std::vector<core::Tensor>> NodeValues::outputs_of(std::size_t node) {
    std::vector<core::Tensor> outputs;
    for (const operators::ValueIndex value : graph_.nodes[node].outputs) {
        if (value == operators::no_value) {
            outputs.emplace_back();
            continue;
        }
        const auto kept = value_alone(value);
        if (!kept) {
            return tl::unexpected(kept.error());
        }
        outputs.push_back(seen_as((*kept)->desc, **kept));
    }
    return outputs;
}

}  // namespace dmlconform::run
