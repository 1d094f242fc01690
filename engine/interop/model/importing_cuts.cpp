// Nodes without a counterpart, which cut the graph.
#include "engine/interop/model/importing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "engine/core/utf8.h"

namespace dmlconform::interop {

void Importer::cut(const onnx::NodeProto& proto, const std::string& reason, Scope& scope, std::size_t origin) {
    Cut cut{{nodes_[origin], reason}, core::shortened(full_type(proto), 60), {}, {}, std::nullopt};
    std::unordered_set<std::string> names;
    add_reads(proto, names);
    constexpr std::uint64_t memory_of_read = 200;
    if (!check_memory(names.size() * memory_of_read)) {
        names.clear();
    }
    for (const std::string& name : std::set<std::string>(names.begin(), names.end())) {
        if (const auto value = name.empty() ? nullptr : scope.find(name); value && value->missing.empty()) {
            cut.reads.push_back(without_elements(value->tensor));
        }
    }
    const auto node = node_of(proto, scope);
    const bool known = node && std::ranges::all_of(inputs_to_know(*node), [&](std::size_t index) {
                           return node->input(index)->has_elements();
                       });
    const auto sizes = known && !node->inputs.empty() ? results(*node) : core::fail("");
    for (int i = 0; i < proto.output.size(); ++i) {
        const std::string& name = proto.output(i);
        if (name.empty()) {
            continue;
        }
        const auto declared = declared_.find(name);
        auto tensor = sizes && static_cast<std::size_t>(i) < sizes->size()
                          ? core::Result<OnnxTensor>((*sizes)[static_cast<std::size_t>(i)])
                      : declared == declared_.end() ? core::Result<OnnxTensor>(core::fail(""))
                                                    : declared_tensor(*declared->second, true);
        if (tensor && tensor->count() != 0) {
            if (i == 0 && node) {
                cut.operations = operations_of(*node, *tensor);
            }
            set_input(name, ModelInput::Kind::cut, std::move(*tensor), scope);
            cut.values.push_back(scope.find(name)->tensor.value);
        } else {
            scope.set(name,
                      {{}, nullptr, fmt::format("{} is not in the graph, and its sizes are not known", cut.type)});
        }
    }
    memory_ += memory_of(cut);
    cuts_.push_back(std::move(cut));
}

double Importer::operations_of(const OnnxNode& node, const OnnxTensor& output) {
    const auto elements = static_cast<double>(output.count());
    if (node.inputs.size() < 2 || !node.inputs[1] || node.inputs[1]->sizes.empty()) {
        return elements;
    }
    const OnnxTensor& weights = *node.inputs[1];
    if (node.type.ends_with("Conv") && weights.sizes[0] != 0) {
        return 2 * elements * static_cast<double>(weights.count()) / weights.sizes[0];
    }
    const bool is_matrix = node.type.find("MatMul") != std::string::npos || node.type.ends_with("Gemm");
    return is_matrix && node.inputs[0] && !node.inputs[0]->sizes.empty() ? 2 * elements * node.inputs[0]->sizes.back()
                                                                         : elements;
}

std::vector<bool> Importer::add_what_cuts_read(std::vector<std::string>& outputs,
                                               std::unordered_set<std::string>& taken, ImportedModel& result) {
    std::vector<bool> matters(cuts_.size());
    std::unordered_set<std::string> read = cut_outputs_;
    const auto need = [&](const std::string& value) {
        const auto inputs = builder_.need(value);
        read.insert(inputs.begin(), inputs.end());
    };
    std::ranges::for_each(outputs, need);
    // Backwards: nodes only read what comes before them.
    for (std::size_t i = cuts_.size(); i-- > 0;) {
        const auto& values = cuts_[i].values;
        matters[i] = values.empty() ||
                     std::ranges::any_of(values, [&](const std::string& value) { return read.contains(value); });
        for (const OnnxTensor& tensor : matters[i] ? cuts_[i].reads : std::vector<OnnxTensor>()) {
            need(tensor.value);
            if (builder_.is_computed(tensor.value) && taken.insert(tensor.value).second) {
                outputs.push_back(tensor.value);
                result.outputs.push_back({tensor.value, without_elements(tensor), std::nullopt});
            }
        }
    }
    return matters;
}

}  // namespace dmlconform::interop
