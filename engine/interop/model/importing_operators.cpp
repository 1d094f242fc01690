// Nodes that become one operator, are folded, or compute in 32 bits between casts.
#include "engine/interop/model/importing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "engine/core/utf8.h"

namespace dmlconform::interop {
namespace {

/// Larger constants are computed when the model runs.
constexpr std::size_t most_folded_elements = 65536;

}  // namespace

core::Result<void> Importer::import_single(OnnxNode& node, const onnx::NodeProto& proto, Scope& scope,
                                           std::size_t origin) {
    if (auto constant = constant_result(node)) {
        if (!*constant || proto.output.size() != 1) {
            return core::fail(*constant ? "it has more than one output" : constant->error().message);
        }
        set_constant(proto.output(0), constant_tensor(std::move(**constant)), scope);
        return {};
    }
    auto outputs = results(node);
    if (!outputs) {
        return tl::unexpected(outputs.error());
    }
    outputs->resize(std::min(outputs->size(), std::max<std::size_t>(node.outputs.size(), 1)));
    if (node.type == "ConstantOfShape") {
        return fill(node, proto, outputs->front(), scope);
    }
    if (std::ranges::all_of(*outputs, [](const OnnxTensor& output) { return output.count() == 0; })) {
        for (std::size_t i = 0; i < outputs->size(); ++i) {
            set_constant(proto.output(static_cast<int>(i)), constant_tensor((*outputs)[i]), scope);
        }
        return {};
    }
    return fold(node, proto, *outputs, scope) ? core::Result<void>()
                                              : add_operator(node, proto, std::move(*outputs), scope, origin);
}

core::Result<void> Importer::fill(const OnnxNode& node, const onnx::NodeProto& proto, OnnxTensor output, Scope& scope) {
    OnnxTensor element = one_number(0);
    if (const onnx::AttributeProto* value = node.attribute("value")) {
        auto read = onnx_tensor(value->t());
        if (!read || read->count() != 1) {
            return core::fail(read ? "the value is not one number" : read.error().message);
        }
        element = std::move(*read);
    }
    set_constant(proto.output(0), repeated_constant(std::move(output), element), scope);
    return {};
}

bool Importer::fold(const OnnxNode& node, const onnx::NodeProto& proto, std::vector<OnnxTensor> outputs, Scope& scope) {
    const auto constant = [](const auto& input) { return !input || input->has_elements(); };
    const auto small = [](const OnnxTensor& output) { return output.count() <= most_folded_elements; };
    if (node.inputs.empty() || !std::ranges::all_of(node.inputs, constant) || !std::ranges::all_of(outputs, small)) {
        return false;
    }
    std::uint64_t bytes = 0;
    for (const OnnxTensor& output : outputs) {
        bytes += 3 * output.bytes();  // while it is computed, and then for its users and the graph
    }
    if (!check_memory(bytes)) {
        return false;
    }
    OnnxNode named = node;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        outputs[i].value = fmt::format("#{}", i);
        if (i < named.outputs.size()) {
            named.outputs[i] = outputs[i];
        }
    }
    const auto values = folded(std::move(named), outputs);
    for (std::size_t i = 0; values && i < values->size(); ++i) {
        if (const std::string& name = proto.output(static_cast<int>(i)); !name.empty()) {
            set_constant(name, constant_tensor((*values)[i]), scope);
        }
    }
    return values.has_value();
}

core::Result<void> Importer::add_operator(OnnxNode& node, const onnx::NodeProto& proto, std::vector<OnnxTensor> outputs,
                                          Scope& scope, std::size_t origin) {
    // DirectML's operator always has these outputs, even if nobody reads them.
    const bool all_outputs = node.type == "TopK" || node.type == "DynamicQuantizeLinear";
    node.outputs.resize(std::max(node.outputs.size(), all_outputs ? outputs.size() : 1));
    std::vector<std::string> names;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        const bool named = static_cast<int>(i) < proto.output.size() && !proto.output(static_cast<int>(i)).empty();
        names.push_back(named ? proto.output(static_cast<int>(i)) : "");
        node.outputs[i].reset();
        if (i < outputs.size() && (named || all_outputs)) {
            outputs[i].value = builder_.unique_value_name(named ? names[i] : nodes_[origin].name + ".unused");
            node.outputs[i] = outputs[i];
        }
    }
    if (const auto done = add_mapped(node, origin); !done) {
        return done;
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i].empty()) {
            continue;
        }
        if (node.outputs[i] && builder_.is_computed(node.outputs[i]->value)) {
            scope.set(names[i], {*node.outputs[i], nullptr, ""});
        } else {
            scope.set(names[i], {{},
                                 nullptr,
                                 fmt::format("DirectML does not compute output {} of {}", i + 1,
                                             core::shortened(node.type, 60))});
        }
    }
    return {};
}

core::Result<void> Importer::add_mapped(const OnnxNode& node, std::size_t origin) {
    auto mapped = mapped_node(node, &descriptors_);
    if (mapped) {
        builder_.add_node(nodes_[origin].name, origin, std::move(*mapped));
        return {};
    }
    for (const bool integers_too : {false, true}) {
        if (auto narrow = narrowed(node, integers_too); narrow && add_narrowed(node, *narrow, origin)) {
            return {};
        }
    }
    return tl::unexpected(mapped.error());
}

bool Importer::add_narrowed(const OnnxNode& wide, OnnxNode& narrow, std::size_t origin) {
    bool differs = false;
    std::vector<std::pair<OnnxTensor, OnnxTensor>> casts_before;
    for (std::size_t i = 0; i < wide.inputs.size(); ++i) {
        if (!wide.inputs[i] || wide.inputs[i]->type == narrow.inputs[i]->type) {
            continue;
        }
        differs = true;
        OnnxTensor& input = *narrow.inputs[i];
        if (input.has_elements()) {
            input.value.clear();
            continue;
        }
        input.value = narrow_name(*wide.inputs[i], input.type);
        if (!builder_.is_computed(input.value)) {
            casts_before.emplace_back(*wide.inputs[i], input);
        }
    }
    std::vector<std::pair<OnnxTensor, OnnxTensor>> casts_after;
    for (std::size_t i = 0; i < wide.outputs.size(); ++i) {
        if (wide.outputs[i] && wide.outputs[i]->type != narrow.outputs[i]->type) {
            differs = true;
            narrow.outputs[i]->value = narrow_name(*wide.outputs[i], narrow.outputs[i]->type);
            casts_after.emplace_back(*narrow.outputs[i], *wide.outputs[i]);
        }
    }
    auto mapped = differs ? mapped_node(narrow, &descriptors_) : core::fail("");
    if (!mapped) {
        return false;
    }
    bool good = true;
    for (const auto& [from, to] : casts_before) {
        good = add_cast(from, to, origin) && good;
    }
    builder_.add_node(nodes_[origin].name, origin, std::move(*mapped));
    for (const auto& [from, to] : casts_after) {
        good = add_cast(from, to, origin) && good;
    }
    ++narrowed_;
    return good;
}

std::string Importer::narrow_name(const OnnxTensor& wide, core::DataType type) {
    std::string& name = narrow_names_[wide.value];
    if (name.empty()) {
        name = builder_.unique_value_name(fmt::format("{}.{}", wide.value, core::name(type)));
    }
    return name;
}

bool Importer::add_cast(const OnnxTensor& from, const OnnxTensor& to, std::size_t origin) {
    static const onnx::NodeProto empty;
    OnnxNode node;
    node.type = "Cast";
    node.proto = &empty;
    node.inputs = {from};
    node.outputs = {to};
    auto mapped = mapped_node(node, &descriptors_);
    if (mapped) {
        builder_.add_node(nodes_[origin].name + ".cast", origin, std::move(*mapped));
    }
    return mapped.has_value();
}

}  // namespace dmlconform::interop
