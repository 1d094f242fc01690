// Look-ups in ONNX's messages.
#include "engine/interop/model/node_access.h"

#include <fmt/format.h>

#include <algorithm>

namespace dmlconform::interop {

bool is_own_domain(const std::string& domain) {
    return domain.empty() || domain == "ai.onnx";
}

std::string full_type(const onnx::NodeProto& node) {
    return is_own_domain(node.domain()) ? node.op_type() : fmt::format("{}.{}", node.domain(), node.op_type());
}

std::map<std::string, std::int64_t> opsets_of(const std::vector<onnx::OperatorSetIdProto>& imports) {
    std::map<std::string, std::int64_t> opsets;
    for (const onnx::OperatorSetIdProto& set : imports) {
        opsets[is_own_domain(set.domain()) ? "" : set.domain()] = set.version();
    }
    return opsets;
}

const onnx::AttributeProto* attribute_of(const onnx::NodeProto& node, std::string_view name) {
    const auto found = std::ranges::find(node.attribute(), name, onnx::name_of);
    return found == node.attribute().end() ? nullptr : &*found;
}

void add_reads(const onnx::NodeProto& node, std::unordered_set<std::string>& names) {
    names.insert(node.input().begin(), node.input().end());
    for (const onnx::AttributeProto& attribute : node.attribute()) {
        for (const onnx::NodeProto& inner : attribute.g().node()) {
            add_reads(inner, names);
        }
        for (const onnx::ValueInfoProto& output : attribute.g().output()) {
            names.insert(output.name());
        }
    }
}

}  // namespace dmlconform::interop
