// Computes the values of a graph node by node, and makes cases that read them.
#include "engine/run/node_cases.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <set>
#include <unordered_map>

#include "engine/cases/shared_reference.h"
#include "engine/cpu/reference.h"
#include "engine/graph_values.h"
#include "engine/operators/graph.h"
#include "engine/operators/graph_builder.h"
#include "engine/operators/rules.h"
#include "engine/run/case_memory.h"
#include "engine/run/case_values.h"
#include "engine/run/node_values.h"

namespace dmlconform::run {

namespace {

/// Initialiser with the elements of a value in the layout that a node reads.
class ValueSource final : public cases::ElementSource {
public:
    ValueSource(std::shared_ptr<NodeValues> values, operators::ValueIndex index, core::TensorDesc seen)
        : values_(std::move(values)), index_(index), seen_(std::move(seen)) {}

    core::Result<void> write(core::DataType /*type*/, std::span<std::byte> elements) const override {
        const auto value = values_->value(index_);
        if (!value) {
            return tl::unexpected(value.error());
        }
        const bool as_it_is = (*value)->desc == seen_ && core::is_packed(seen_);
        const core::Tensor packed = as_it_is ? core::Tensor() : core::packed_copy(seen_as(seen_, **value));
        if (!elements.empty()) {
            // GCC 12 makes a loop over single bytes of std::ranges::copy.
            std::memcpy(elements.data(), (as_it_is ? **value : packed).buffer.bytes().data(), elements.size());
        }
        return {};
    }

private:
    std::shared_ptr<NodeValues> values_;
    operators::ValueIndex index_;
    core::TensorDesc seen_;
};

class NodeReference final : public cases::SharedReference {
public:
    NodeReference(std::shared_ptr<NodeValues> values, std::size_t node) : values_(std::move(values)), node_(node) {}

private:
    std::optional<cpu::Reference> take() override { return values_->take(node_); }

    std::shared_ptr<NodeValues> values_;
    std::size_t node_;
};

class WholeReference final : public cases::SharedReference {
public:
    explicit WholeReference(std::shared_ptr<NodeValues> values) : values_(std::move(values)) {}

private:
    std::optional<cpu::Reference> take() override { return values_->take_whole(); }

    std::shared_ptr<NodeValues> values_;
};

/// What the values of a graph, the ranges of its nodes, and what else the reference needs may take together.
struct MemoryShares {
    std::uint64_t values = 0;
    std::uint64_t ranges = 0;
};

/// Empty if the memory is too little for all of these.
std::optional<MemoryShares> shares_of(std::uint64_t memory, const cases::Case& whole) {
    constexpr std::uint64_t least = std::uint64_t{64} << 20;
    const std::uint64_t reference = memory_needed(whole);
    if (reference > memory || memory - reference < 2 * least) {
        return std::nullopt;
    }
    const std::uint64_t half = (memory - reference) / 2;
    return MemoryShares{half, half};
}

/// The runs that the reference of a graph and of its nodes can be computed together with; 0 if the graph's case does
/// not need them.
std::size_t runs_together(const cases::Case& whole) {
    const ReferenceWish wish = reference_wish(whole);
    const bool computes_all = whole.problem.empty() && cpu::has_reference(*whole.descriptor);
    const bool is_needed = computes_all && needs_slack(whole);
    return is_needed && wish.accumulation == cpu::Accumulation::fp32 ? wish.runs : 0;
}

/// A text that describes a node's operation and inputs; equal for equal nodes.
std::string identity_of(const operators::GraphNode& node) {
    return fmt::format("{} {}; {}; {}", node.descriptor->schema->name,
                       fmt::join(operators::to_lines(*node.descriptor), ";"), fmt::join(node.inputs, ","),
                       node.descriptor->in_place.size());
}

/// The graph of a subset of the nodes. Values become outputs if other nodes read them, if they are outputs of the
/// graph, or if nobody reads them.
operators::Graph part_of(const operators::Graph& graph, const std::vector<bool>& nodes) {
    operators::GraphBuilder builder;
    std::vector<bool> read_inside(graph.values.size());
    std::vector<bool> read_outside(graph.values.size());
    for (std::size_t n = 0; n < nodes.size(); ++n) {
        for (const operators::ValueIndex value : graph.nodes[n].inputs) {
            if (value != operators::no_value) {
                (nodes[n] ? read_inside : read_outside)[value] = true;
            }
        }
    }
    for (const operators::ValueIndex output : graph.outputs) {
        read_outside[output] = true;
    }
    const auto names = [&](const std::vector<operators::ValueIndex>& values) {
        std::vector<std::string> list;
        for (const operators::ValueIndex value : values) {
            list.push_back(value == operators::no_value ? "" : graph.values[value].name);
        }
        return list;
    };
    for (std::size_t n = 0; n < nodes.size(); ++n) {
        if (nodes[n]) {
            const operators::GraphNode& node = graph.nodes[n];
            // Names stay unique in a subset.
            (void)builder.add_node(node.name, node.descriptor, names(node.inputs), names(node.outputs));
        }
    }
    for (std::size_t n = 0; n < nodes.size(); ++n) {
        for (const operators::ValueIndex value :
             nodes[n] ? graph.nodes[n].outputs : std::vector<operators::ValueIndex>()) {
            if (value != operators::no_value && (read_outside[value] || !read_inside[value])) {
                builder.add_output(graph.values[value].name);
            }
        }
    }
    for (const operators::ValueIndex input : graph.inputs) {
        if (graph.values[input].is_constant && read_inside[input]) {
            builder.set_constant(graph.values[input].name);
        }
    }
    return builder.graph();
}

}  // namespace

std::vector<bool> judged_nodes(const cases::Case& subject) {
    const operators::Graph* graph = subject.descriptor->graph.get();
    if (graph == nullptr || subject.expect_error) {
        return {};
    }
    std::vector<bool> judged(graph->nodes.size());
    std::vector<bool> known(graph->values.size(), true);
    std::set<std::string> seen;
    for (const std::size_t n : graph->execution_order()) {
        const operators::GraphNode& node = graph->nodes[n];
        const bool computed =
            cpu::has_reference(*node.descriptor) && std::ranges::all_of(node.inputs, [&](operators::ValueIndex value) {
                return value == operators::no_value || known[value];
            });
        for (const operators::ValueIndex value : node.outputs) {
            if (value != operators::no_value) {
                known[value] = computed;
            }
        }
        judged[n] = computed && seen.insert(identity_of(node)).second;
    }
    return judged;
}

bool are_identical(const operators::GraphNode& a, const operators::GraphNode& b) {
    return identity_of(a) == identity_of(b);
}

std::vector<std::size_t> identical_nodes(const operators::Graph& graph) {
    // All texts of a large graph would take much more memory than the graph.
    std::vector<std::size_t> result;
    std::ranges::transform(graph.nodes, std::back_inserter(result), [](const operators::GraphNode& node) {
        return std::hash<std::string>()(identity_of(node));
    });
    std::unordered_map<std::size_t, std::size_t> counts;
    for (const std::size_t identity : result) {
        ++counts[identity];
    }
    std::ranges::transform(result, result.begin(), [&](std::size_t identity) { return counts[identity]; });
    return result;
}

std::string node_id(const cases::Case& subject, std::size_t node) {
    return fmt::format("{}/{}", subject.id, subject.descriptor->graph->nodes[node].name);
}

GraphCase::GraphCase(std::shared_ptr<const cases::Case> whole, std::uint64_t memory, Judged judged)
    : unshared_(std::move(whole)), whole_(unshared_), judged_(judged_nodes(*whole_)) {
    if (judged_.empty()) {
        return;
    }
    order_ = whole_->descriptor->graph->execution_order();
    memory_beside_ = memory_for_largest_node(*whole_->descriptor->graph);
    const std::size_t runs = judged == Judged::together ? runs_together(*whole_) : 0;
    const auto shares = runs == 0 ? std::nullopt : shares_of(memory, *whole_);
    values_ = std::make_shared<NodeValues>(unshared_, shares ? shares->values : memory);
    if (shares) {
        values_->compute_together(judged_, runs, shares->ranges);
        share_reference();
    }
}

void GraphCase::share_reference() {
    auto shared = std::make_shared<cases::Case>(*unshared_);
    shared->reference = std::make_shared<WholeReference>(values_);
    shared->reference->belongs_to(shared);
    whole_ = std::move(shared);
    is_shared_ = true;
}

std::shared_ptr<const cases::Case> GraphCase::node(std::size_t index) const {
    if (index >= judged_.size() || !judged_[index]) {
        return nullptr;
    }
    const operators::GraphNode& node = whole_->descriptor->graph->nodes[index];
    auto result = std::make_shared<cases::Case>();
    result->id = node_id(*whole_, index);
    result->graph_id = whole_->id;
    result->node_name = node.name;
    result->description =
        fmt::format("Node `{}` of the graph, with the inputs that the reference computes.", node.name);
    result->file = whole_->file;
    result->line = whole_->line;
    result->tags = whole_->tags;
    result->precision = whole_->precision;
    result->problem = whole_->problem;
    result->memory_beside = memory_beside_;
    result->descriptor = node.descriptor;
    result->min_feature_level = operators::minimum_feature_level(*node.descriptor).value_or(whole_->min_feature_level);
    const auto slots = node.descriptor->inputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        result->inputs.push_back(slots[i].desc == nullptr
                                     ? std::nullopt
                                     : std::optional(cases::Initialiser(
                                           std::make_shared<ValueSource>(values_, node.inputs[i], *slots[i].desc))));
    }
    result->expected.resize(node.outputs.size());
    result->tolerances.resize(node.outputs.size());
    if (is_shared_) {
        result->reference = std::make_shared<NodeReference>(values_, index);
        result->reference->belongs_to(result);
    }
    return result;
}

std::shared_ptr<const cases::Case> GraphCase::node_in_order(std::size_t position) const {
    return position < order_.size() ? node(order_[position]) : nullptr;
}

std::shared_ptr<const cases::Case> GraphCase::part(const std::vector<bool>& nodes) const {
    const operators::Graph& graph = *whole_->descriptor->graph;
    if (values_ == nullptr || !cpu::has_reference(*whole_->descriptor)) {
        return nullptr;
    }
    auto result = std::make_shared<cases::Case>(*unshared_);
    result->descriptor = operators::graph_descriptor(std::make_shared<const operators::Graph>(part_of(graph, nodes)));
    const auto verdict = operators::validate(*result->descriptor, core::highest_feature_level);
    if (verdict) {
        return nullptr;
    }
    result->min_feature_level = *operators::minimum_feature_level(*result->descriptor);
    result->inputs.clear();
    for (const operators::TensorSlot& slot : result->descriptor->inputs()) {
        result->inputs.emplace_back(
            cases::Initialiser(std::make_shared<ValueSource>(values_, *graph.find_value(slot.name), *slot.desc)));
    }
    const auto outputs = result->descriptor->outputs();
    result->expected.assign(outputs.size(), std::nullopt);
    result->expected_in_fp32 = false;
    result->tolerances.assign(outputs.size(), std::nullopt);
    const auto old_outputs = whole_->descriptor->outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const auto old = std::ranges::find(old_outputs, outputs[i].name, &operators::TensorSlot::name);
        if (old != old_outputs.end()) {
            result->tolerances[i] = whole_->tolerances[static_cast<std::size_t>(old - old_outputs.begin())];
        }
    }
    return result;
}

std::shared_ptr<const GraphCase> SharedGraphCases::at(std::size_t number,
                                                      const std::function<std::shared_ptr<const GraphCase>()>& read) {
    const std::lock_guard lock(mutex_);
    if (auto held = cases_[number].lock()) {
        return held;
    }
    auto made = read();
    if (made == nullptr) {
        return nullptr;
    }
    std::erase_if(cases_, [](const auto& entry) { return entry.second.expired(); });
    cases_[number] = made;
    return made;
}

}  // namespace dmlconform::run
