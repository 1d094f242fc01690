// Derives types and sizes of a node's outputs before they are computed. Rules for first outputs are in files of their
// own: onnx_result_rules.h.
#include <fmt/format.h>

#include <algorithm>

#include "engine/core/utf8.h"
#include "engine/interop/onnx_mapping.h"
#include "engine/interop/onnx_result_rules.h"

namespace dmlconform::interop {
namespace {

using Result = core::Result<OnnxTensor>;

using Results = core::Result<std::vector<OnnxTensor>>;

Results split(const OnnxNode& node) {
    const core::Dimensions& sizes = node.input(0)->sizes;
    const auto axis = axis_of(node.integer("axis", 0), sizes.size());
    auto parts = node.list(1, "split");
    const std::int64_t outputs = node.proto->output.size();
    if (!axis || outputs == 0) {
        return core::fail("Split without an axis or without outputs");
    }
    if (parts.empty()) {
        const std::int64_t size = sizes[*axis];
        const std::int64_t part = (size + outputs - 1) / outputs;
        for (std::int64_t i = 0; i < outputs; ++i) {
            parts.push_back(std::clamp<std::int64_t>(size - i * part, 0, part));
        }
    }
    std::vector<OnnxTensor> results;
    std::int64_t sum = 0;
    for (const std::int64_t part : parts) {
        core::Dimensions own = sizes;
        if (part < 0 || part > std::int64_t{sizes[*axis]} - sum) {
            return core::fail("Split into parts that are not those of the size");
        }
        sum += part;
        own[*axis] = static_cast<std::uint32_t>(part);
        results.push_back(*sized(own, *node.input(0)));
    }
    return sum == std::int64_t{sizes[*axis]} ? Results(std::move(results))
                                             : core::fail("Split into parts that are not those of the size");
}

Results top_k(const OnnxNode& node) {
    core::Dimensions sizes = node.input(0)->sizes;
    const auto axis = axis_of(node.integer("axis", -1), sizes.size());
    const auto k = node.opset < 10 ? std::vector{node.integer("k", 0)} : node.list(1, "");
    if (!axis || k.size() != 1 || k[0] < 0 || k[0] > std::int64_t{sizes[*axis]}) {
        return core::fail("TopK without an axis, or with a k that is not one of its sizes");
    }
    sizes[*axis] = static_cast<std::uint32_t>(k[0]);
    return std::vector{*sized(sizes, *node.input(0)), *sized(sizes, core::DataType::int64)};
}

Results dynamically_quantised(const OnnxNode& node) {
    return std::vector{*sized(node.input(0)->onnx_sizes(), core::DataType::uint8), *sized({}, core::DataType::float32),
                       *sized({}, core::DataType::uint8)};
}

}  // namespace

Result first_result(const OnnxNode& node) {
    const auto all = results(node);
    return all ? Result(all->front()) : tl::unexpected(all.error());
}

Results results(const OnnxNode& node) {
    const auto unknown = [&](std::string reason) {
        const auto mapping = mapping_of(node);
        return mapping ? Results(core::fail(std::move(reason))) : tl::unexpected(mapping.error());
    };
    if (node.inputs.empty() || node.input(0) == nullptr) {
        return unknown("the first input is absent");
    }
    static const std::vector<std::pair<std::string_view, Results (*)(const OnnxNode&)>> several{
        {"Split", split}, {"TopK", top_k}, {"DynamicQuantizeLinear", dynamically_quantised}};
    for (const auto& [type, rule] : several) {
        if (node.type == type) {
            return rule(node);
        }
    }
    for (const auto rules : {element_result_rules(), shape_result_rules(), selection_result_rules()}) {
        for (const OnnxResultRule& rule : rules) {
            if (std::find(rule.types.begin(), rule.types.end(), node.type) != rule.types.end()) {
                auto result = rule.result(node);
                return result ? Results(std::vector{std::move(*result)}) : tl::unexpected(result.error());
            }
        }
    }
    if (auto made = window_results(node)) {
        return std::move(*made);
    }
    return unknown(fmt::format("the sizes of what {} computes are not known", core::shortened(node.type)));
}

}  // namespace dmlconform::interop
