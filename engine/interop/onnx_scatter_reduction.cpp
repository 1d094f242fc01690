// Expands scatters with a reduction, which may meet an element several times: one update after the other.
#include "engine/interop/onnx_expansion_steps.h"

namespace dmlconform::interop::expansion {
namespace {

/// Limit for the number of updates that come one after the other.
constexpr std::int64_t most_updates = 256;

/// The operator that combines an element with its update; null for others.
const char* combining_operator(Expansion& to) {
    const onnx::AttributeProto* reduction = to.attribute("reduction");
    const std::string name = reduction == nullptr ? "none" : reduction->s();
    return name == "add" ? "Add" : name == "mul" ? "Mul" : name == "max" ? "Max" : name == "min" ? "Min" : nullptr;
}

/// Entry `i` of the data along an axis, which stays as a dimension of size 1.
std::string entry_along(Expansion& to, const std::string& data, std::int64_t axis, std::int64_t i) {
    return to.add("Slice", {data, to.whole_numbers({i}), to.whole_numbers({i + 1}), to.whole_numbers({axis})});
}

}  // namespace

/// Updates with the same position along the axis are for different elements.
Nodes expand_scatter_elements(Expansion& to) {
    const char* combine = combining_operator(to);
    const OnnxTensor* indices = to.known(1);
    if (combine == nullptr) {
        return unchanged(to);
    }
    const auto axis = indices == nullptr ? std::nullopt : axis_of(to.integer_of("axis", 0), indices->sizes.size());
    if (!axis || indices->sizes[*axis] > most_updates) {
        return core::fail("a scatter with a reduction is mapped for up to 256 updates along its axis");
    }
    const std::int64_t count = indices->sizes[*axis];
    const Attributes along{integer("axis", *axis)};
    std::string data = to.input(0);
    for (std::int64_t i = 0; i < count; ++i) {
        const std::string where = count == 1 ? to.input(1) : entry_along(to, to.input(1), *axis, i);
        const std::string update = count == 1 ? to.input(2) : entry_along(to, to.input(2), *axis, i);
        const std::string old = to.add("GatherElements", {data, where}, "", along);
        data = to.add("ScatterElements", {data, where, to.add(combine, {old, update})},
                      i + 1 == count ? to.output(0) : "", along);
    }
    return to.take();
}

Nodes expand_scatter_nd(Expansion& to) {
    const char* combine = combining_operator(to);
    const OnnxTensor* data_tensor = to.known(0);
    const OnnxTensor* indices = to.known(1);
    if (combine == nullptr) {
        return unchanged(to);
    }
    if (data_tensor == nullptr || indices == nullptr || indices->sizes.empty() || indices->sizes.back() == 0) {
        return core::fail("the sizes of a scatter with a reduction are not known");
    }
    const std::int64_t depth = indices->sizes.back();
    const auto count = static_cast<std::int64_t>(indices->count()) / depth;
    if (count > most_updates || depth > static_cast<std::int64_t>(data_tensor->sizes.size())) {
        return core::fail("a scatter with a reduction is mapped for up to 256 updates");
    }
    std::vector<std::int64_t> update_shape{count};
    update_shape.insert(update_shape.end(), data_tensor->sizes.begin() + depth, data_tensor->sizes.end());
    const std::string all_indices = to.add("Reshape", {to.input(1), to.whole_numbers({count, depth})});
    const std::string all_updates = to.add("Reshape", {to.input(2), to.whole_numbers(update_shape)});
    std::string data = to.input(0);
    for (std::int64_t i = 0; i < count; ++i) {
        const std::string where = count == 1 ? all_indices : entry_along(to, all_indices, 0, i);
        const std::string update = count == 1 ? all_updates : entry_along(to, all_updates, 0, i);
        const std::string old = to.add("GatherND", {data, where});
        data = to.add("ScatterND", {data, where, to.add(combine, {old, update})}, i + 1 == count ? to.output(0) : "");
    }
    return to.take();
}

}  // namespace dmlconform::interop::expansion
