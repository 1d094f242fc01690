// The finished graph: outputs, notes and counts.
#include "engine/interop/model/importing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "engine/core/utf8.h"

namespace dmlconform::interop {

std::string Importer::output_value(const OnnxTensor& tensor, const std::string& name,
                                   const std::unordered_set<std::string>& taken) {
    if (builder_.is_computed(tensor.value) && !taken.contains(tensor.value)) {
        return tensor.value;
    }
    static const onnx::NodeProto empty;
    OnnxNode node;
    node.type = "Identity";
    node.proto = &empty;
    OnnxTensor copy = without_elements(tensor);
    node.inputs = {copy};
    copy.value = builder_.unique_value_name(name);
    node.outputs = {copy};
    auto mapped = mapped_node(node, &descriptors_);
    if (!mapped) {
        return "";
    }
    const std::size_t origin = add_node_of_model({name, "Identity"});
    builder_.add_node(name, origin, std::move(*mapped));
    return copy.value;
}

core::Result<ImportedModel> Importer::finish(const Scope& scope) {
    ImportedModel result;
    const std::size_t needed = nodes_.size();
    std::vector<std::string> values;
    std::unordered_set<std::string> taken;
    for (int i = 0; i < model_.graph().output.size(); ++i) {
        const std::string& name = model_.graph().output(i).name();
        const auto value = scope.find(name);
        const bool cut = value != nullptr && builder_.is_cut(value->tensor.value);
        if (cut) {
            cut_outputs_.insert(value->tensor.value);
        }
        if (value == nullptr || !value->missing.empty() || cut) {
            result.notes.push_back(fmt::format("output \"{}\" is not computed: {}", core::shortened(name, 60),
                                               value == nullptr ? "no node computes it"
                                               : cut            ? "its node is not judged"
                                                                : value->missing));
            continue;
        }
        if (value->source != nullptr) {
            result.notes.push_back(fmt::format("output \"{}\" is a constant", core::shortened(name, 60)));
            continue;
        }
        std::string output = output_value(value->tensor, name, taken);
        if (!output.empty()) {
            taken.insert(output);
            values.push_back(std::move(output));
            result.outputs.push_back({name, value->tensor, static_cast<std::size_t>(i)});
        }
    }
    const std::vector<bool> matters = add_what_cuts_read(values, taken, result);
    BuiltGraph built = builder_.finish(values);
    if (built.graph.nodes.empty()) {
        const std::string why = !cuts_.empty() ? fmt::format("{} ({}): {}", core::shortened(cuts_[0].cut.node.name, 60),
                                                             cuts_[0].cut.node.type, cuts_[0].cut.reason)
                                : result.notes.empty() ? "the model has no outputs that nodes compute"
                                                       : result.notes.front();
        return core::fail(fmt::format("nothing of the model can be judged: {}", why));
    }
    return described(std::move(result), std::move(built), needed, matters);
}

ImportedModel Importer::described(ImportedModel result, BuiltGraph built, std::size_t needed,
                                  const std::vector<bool>& matters) {
    std::vector<std::size_t> uses(nodes_.size());
    for (const std::size_t origin : built.origins) {
        ++uses[origin];
    }
    result.judged_nodes =
        needed - static_cast<std::size_t>(
                     std::count(uses.begin(), uses.begin() + static_cast<std::ptrdiff_t>(needed), std::size_t{0}));
    result.origins.reserve(built.origins.size());
    for (const std::size_t origin : built.origins) {
        if (--uses[origin] == 0) {
            result.origins.push_back(std::move(nodes_[origin]));
        } else {
            result.origins.push_back(nodes_[origin]);
        }
    }
    for (std::size_t i = 0; i < cuts_.size(); ++i) {
        if (matters[i]) {
            result.cuts.push_back(cuts_[i].cut);
            result.cut_operations += cuts_[i].operations.value_or(0);
            result.cuts_of_unknown_size += cuts_[i].operations ? 0 : 1;
        }
    }
    if (!chosen_sizes_.empty()) {
        result.notes.push_back(fmt::format("size 1 was chosen for {}: --dim NAME=SIZE chooses another one",
                                           fmt::join(chosen_sizes_, ", ")));
    }
    if (narrowed_ != 0) {
        result.notes.push_back(fmt::format(
            "{} nodes compute with 32 bits between casts: DirectML does not take their 64 bits", narrowed_));
    }
    result.needed_nodes = needed;
    result.folded_nodes = needed - std::min(needed, result.judged_nodes + result.cuts.size());
    result.graph = std::make_shared<const operators::Graph>(std::move(built.graph));
    result.inputs = std::move(built.inputs);
    return result;
}

}  // namespace dmlconform::interop
