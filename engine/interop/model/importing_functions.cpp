// Functions of the model, and branches whose condition is constant.
#include "engine/interop/model/importing.h"

#include <algorithm>
#include <utility>

#include "engine/core/utf8.h"
#include "engine/interop/onnx_message_memory.h"

namespace dmlconform::interop {

const onnx::GraphProto* Importer::chosen_branch(const onnx::NodeProto& proto, const Scope& scope) {
    const auto condition = proto.input.size() == 1 ? scope.find(proto.input(0)) : nullptr;
    if (condition == nullptr || condition->tensor.count() != 1 || !condition->tensor.has_elements() ||
        !condition->missing.empty()) {
        return nullptr;
    }
    const onnx::AttributeProto* branch =
        attribute_of(proto, condition->tensor.integer(0) != 0 ? "then_branch" : "else_branch");
    return branch == nullptr || branch->g().output.size() != proto.output.size() ? nullptr : &branch->g();
}

core::Result<void> Importer::import_branch(const onnx::NodeProto& proto, const onnx::GraphProto& branch, Scope& around,
                                           int depth) {
    Scope scope(&around, around.opsets(), scope_memory_);
    if (auto done = add_initializers(branch, scope); !done) {
        return done;
    }
    std::unordered_set<std::string> outputs;
    for (const onnx::ValueInfoProto& output : branch.output()) {
        outputs.insert(output.name());
    }
    if (auto done = import_nodes(branch.node(), std::move(outputs), scope, depth + 1); !done) {
        return done;
    }
    for (int i = 0; i < proto.output.size(); ++i) {
        take_output(proto.output(i), branch.output(i).name(), scope, around);
    }
    return {};
}

void Importer::take_output(const std::string& outer, const std::string& inner, const Scope& from, Scope& to) {
    const auto value = from.find(inner);
    if (value != nullptr) {
        to.share(outer, value);
    } else {
        to.set(outer, NamedValue{{}, nullptr, "nothing computes it"});
    }
}

core::Result<void> Importer::import_function(const onnx::NodeProto& call, const onnx::FunctionProto& function,
                                             Scope& around, int depth) {
    Scope scope(nullptr, opsets_of(function.opset_import()), scope_memory_);
    for (int i = 0; i < std::min(function.input.size(), call.input.size()); ++i) {
        if (const auto value = around.find(call.input(i))) {
            scope.share(function.input(i), value);
        }
    }
    onnx::NodeList nodes;
    std::uint64_t memory = 0;
    for (const onnx::NodeProto& node : function.node()) {
        nodes.push_back(with_attributes(node, call, function));
        const std::uint64_t taken = onnx::memory_of_list_element<onnx::NodeProto> + onnx::memory_inside(nodes.back());
        memory += taken;
        memory_ += taken;
        if (auto fits = check_memory(); !fits) {
            return fits;
        }
    }
    imported_ += nodes.size();
    if (auto done = import_nodes(nodes, {function.output().begin(), function.output().end()}, scope, depth + 1);
        !done) {
        return done;
    }
    memory_ -= memory;
    for (int i = 0; i < std::min(function.output.size(), call.output.size()); ++i) {
        take_output(call.output(i), function.output(i), scope, around);
    }
    return {};
}

onnx::NodeProto Importer::with_attributes(const onnx::NodeProto& node, const onnx::NodeProto& call,
                                          const onnx::FunctionProto& function) {
    onnx::NodeProto result = node;
    result.attribute.edit().clear();
    // Inputs that the call omits are empty.
    for (std::string& input : result.input.edit()) {
        const auto found = std::ranges::find(function.input(), input);
        const auto position = static_cast<int>(found - function.input().begin());
        if (found != function.input().end() && (position >= call.input.size() || call.input(position).empty())) {
            input.clear();
        }
    }
    for (const onnx::AttributeProto& attribute : node.attribute()) {
        if (!attribute.ref_attr_name.has()) {
            result.attribute.add(attribute);
            continue;
        }
        const onnx::AttributeProto* given = attribute_of(call, attribute.ref_attr_name());
        const auto standard = std::ranges::find(function.attribute_proto(), attribute.ref_attr_name(), onnx::name_of);
        if (given == nullptr && standard != function.attribute_proto().end()) {
            given = &*standard;
        }
        if (given != nullptr) {
            onnx::AttributeProto& added = result.attribute.add();
            added = *given;
            added.name.set(attribute.name());
        }
    }
    return result;
}

}  // namespace dmlconform::interop
