// Finds the mapping of a node.
#include "engine/interop/onnx_mapping.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/utf8.h"

namespace dmlconform::interop {

std::vector<OnnxMapping> onnx_mappings() {
    std::vector<OnnxMapping> all;
    for (const auto mappings :
         {element_wise_mappings(), parameterised_mappings(), movement_mappings(), indexing_mappings(),
          arrangement_mappings(), filling_mappings(), reduction_mappings(), normalisation_mappings(), window_mappings(),
          resampling_mappings(), recurrent_mappings(), product_mappings(), quantised_convolution_mappings()}) {
        all.insert(all.end(), mappings.begin(), mappings.end());
    }
    std::ranges::sort(all, {}, &OnnxMapping::type);
    return all;
}

core::Result<const OnnxMapping*> mapping_of(const OnnxNode& node) {
    static const std::vector<OnnxMapping> all = onnx_mappings();
    const auto found = std::ranges::lower_bound(all, std::string_view(node.type), {}, &OnnxMapping::type);
    if (found == all.end() || found->type != node.type) {
        return core::fail(fmt::format("{} has no mapping to a DirectML operator", core::shortened(node.type)));
    }
    return &*found;
}

core::Result<nlohmann::ordered_json> map_node(const OnnxNode& node) {
    const auto found = mapping_of(node);
    if (!found) {
        return tl::unexpected(found.error());
    }
    const auto recurrent = recurrent_mappings();
    if (node.output(0) == nullptr && std::ranges::count(recurrent, (*found)->type, &OnnxMapping::type) == 0) {
        return core::fail("the node has no first output");
    }
    return (*found)->map(node);
}

}  // namespace dmlconform::interop
