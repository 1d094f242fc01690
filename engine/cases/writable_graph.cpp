// Renames nodes and values, and describes inputs anew.
#include "engine/cases/writable_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "engine/cases/case_writer.h"

namespace dmlconform::cases {
namespace {

using operators::Graph;
using operators::ValueIndex;

constexpr std::size_t longest_name = 480;

/// Adds a number to names that are taken.
class Names {
public:
    std::string unique(const std::string& name) {
        std::string candidate = name;
        for (std::size_t number = 2; !taken_.insert(candidate).second; ++number) {
            candidate = fmt::format("{}-{}", name, number);
        }
        return candidate;
    }

private:
    std::unordered_set<std::string> taken_;
};

std::string value_name(std::string name) {
    name.resize(std::min(name.size(), longest_name));
    for (char& c : name) {
        const bool legal = static_cast<unsigned char>(c) > ' ' && static_cast<unsigned char>(c) < 0x7f && c != '"' &&
                           c != '\\' && c != '`';
        c = legal ? c : '-';
    }
    return name.empty() || name == "*" ? "value" : name;
}

std::string node_name(std::string name) {
    name.resize(std::min(name.size(), longest_name));
    return case_name("/" + name);
}

/// For each value, the descriptor of the first node that reads it, or null.
std::vector<const core::TensorDesc*> first_readers(const Graph& graph,
                                                   std::vector<std::vector<operators::TensorSlot>>& slots) {
    std::vector<const core::TensorDesc*> readers(graph.values.size());
    for (const operators::GraphNode& node : graph.nodes) {
        slots.push_back(node.descriptor->inputs());
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            if (node.inputs[i] != operators::no_value && readers[node.inputs[i]] == nullptr) {
                readers[node.inputs[i]] = slots.back()[i].desc;
            }
        }
    }
    return readers;
}

}  // namespace

core::Result<std::shared_ptr<const Graph>> writable_graph(const std::shared_ptr<const Graph>& graph) {
    auto copy = std::make_shared<Graph>(*graph);
    Names nodes;
    for (operators::GraphNode& node : copy->nodes) {
        node.name = nodes.unique(node_name(node.name));
    }
    Names values;
    for (operators::GraphValue& value : copy->values) {
        value.name = values.unique(value_name(value.name));
    }
    std::vector<std::vector<operators::TensorSlot>> slots;
    const auto readers = first_readers(*copy, slots);
    for (const ValueIndex input : copy->inputs) {
        core::TensorDesc& desc = copy->values[input].desc;
        const core::TensorDesc* reader = readers[input];
        if (reader == nullptr || *reader == desc) {
            continue;
        }
        const bool same_elements = reader->data_type == desc.data_type && core::is_packed(*reader) &&
                                   core::is_packed(desc) &&
                                   core::element_count(reader->sizes) == core::element_count(desc.sizes);
        if (!same_elements) {
            return core::fail(fmt::format("the first reader of `{}` sees it as {}, and others see more",
                                          copy->values[input].name, core::to_string(*reader)));
        }
        desc = *reader;
    }
    return std::shared_ptr<const Graph>(std::move(copy));
}

}  // namespace dmlconform::cases
