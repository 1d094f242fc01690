// Expands ONNX nodes that DirectML has no operator for, but that several operators compute.
#include <numbers>

#include "engine/interop/onnx_expansion_steps.h"

namespace dmlconform::interop::expansion {
namespace {

/// DirectML's products have four dimensions at most.
constexpr std::size_t most_product_dimensions = 4;

/// A cast to BOOL tests whether a number is not 0, which includes NaN.
Nodes expand_cast(Expansion& to) {
    const OnnxTensor* data = to.known(0);
    const OnnxTensor* like = to.node().op_type() == "CastLike" ? to.known(1) : nullptr;
    const bool to_bool = like == nullptr ? to.integer_of("to", 0) == onnx_bool : like->is_bool;
    if (!to_bool || data == nullptr || data->is_bool) {
        return unchanged(to);
    }
    to.add("Not", {to.add("Equal", {to.input(0), to.number_like(0, 0)})}, to.output(0));
    return to.take();
}

Nodes expand_mish(Expansion& to) {
    to.add("Mul", {to.input(0), to.add("Tanh", {to.add("Softplus", {to.input(0)})})}, to.output(0));
    return to.take();
}

/// The approximation by tanh, as in ONNX's function body.
Nodes expand_gelu(Expansion& to) {
    if (to.text_of("approximate", "") != "tanh") {
        return unchanged(to);
    }
    const std::string& data = to.input(0);
    const std::string cube = to.add("Mul", {to.add("Mul", {data, data}), data});
    const std::string inner = to.add("Add", {data, to.add("Mul", {cube, to.number_like(0, 0.044715F)})});
    const auto factor = static_cast<float>(std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
    const std::string tanh = to.add("Tanh", {to.add("Mul", {inner, to.number_like(0, factor)})});
    const std::string half = to.add("Mul", {data, to.number_like(0, 0.5F)});
    to.add("Mul", {half, to.add("Add", {tanh, to.number_like(0, 1)})}, to.output(0));
    return to.take();
}

/// Computed bounds, because DirectML only accepts constants.
Nodes expand_clip(Expansion& to) {
    const auto is_known = [&](int index) {
        return to.input(index).empty() || (to.known(index) != nullptr && to.known(index)->has_elements());
    };
    if (is_known(1) && is_known(2)) {
        return unchanged(to);
    }
    const bool both = !to.input(1).empty() && !to.input(2).empty();
    std::string result = to.input(0);
    if (!to.input(1).empty()) {
        result = to.add("Max", {result, to.input(1)}, both ? "" : to.output(0));
    }
    if (!to.input(2).empty()) {
        to.add("Min", {result, to.input(2)}, to.output(0));
    }
    return to.take();
}

/// For more dimensions than DirectML's products support, all except the last two are merged.
Nodes expand_matmul(Expansion& to) {
    const OnnxTensor* a = to.known(0);
    const OnnxTensor* b = to.known(1);
    if (a == nullptr || b == nullptr || std::max(a->sizes.size(), b->sizes.size()) <= most_product_dimensions) {
        return unchanged(to);
    }
    const bool same =
        a->sizes.size() == b->sizes.size() && std::equal(a->sizes.begin(), a->sizes.end() - 2, b->sizes.begin());
    if (!same && b->sizes.size() != 2) {
        return unchanged(to);
    }
    const std::int64_t rows = a->sizes[a->sizes.size() - 2];
    std::vector<std::int64_t> shape(a->sizes.begin(), a->sizes.end() - 1);
    shape.push_back(b->sizes.back());
    const std::string flat_a = to.add("Reshape", {to.input(0), to.whole_numbers({-1, rows, a->sizes.back()})});
    const std::string flat_b =
        same ? to.add("Reshape", {to.input(1), to.whole_numbers({-1, b->sizes[b->sizes.size() - 2], b->sizes.back()})})
             : to.input(1);
    to.add("Reshape", {to.add("MatMul", {flat_a, flat_b}), to.whole_numbers(shape)}, to.output(0));
    return to.take();
}

/// What is added before each axis, followed by what is added after each. Nothing if it is not known or illegal.
std::optional<std::vector<std::int64_t>> pads_of_all_axes(Expansion& to, std::size_t rank) {
    const OnnxTensor* pads = to.known(1);
    const bool has_axes = !to.input(3).empty();
    const OnnxTensor* axes = has_axes ? to.known(3) : nullptr;
    const auto is_unknown = [](const OnnxTensor* tensor) { return tensor == nullptr || !tensor->has_elements(); };
    if (is_unknown(pads) || (has_axes && is_unknown(axes))) {
        return std::nullopt;
    }
    const std::size_t count = has_axes ? axes->count() : rank;
    if (pads->count() != 2 * count) {
        return std::nullopt;
    }
    std::vector<std::int64_t> all(2 * rank, 0);
    for (std::size_t i = 0; i < count; ++i) {
        const auto axis = axis_of(has_axes ? axes->integer(i) : static_cast<std::int64_t>(i), rank);
        if (!axis) {
            return std::nullopt;
        }
        const auto pad = [&](std::size_t index) {
            return std::clamp<std::int64_t>(pads->integer(index), -0x7fffffff, 0x7fffffff);
        };
        all[*axis] = pad(i);
        all[rank + *axis] = pad(count + i);
    }
    return all;
}

/// Negative padding removes elements, which DirectML's operator does not support.
Nodes expand_pad(Expansion& to) {
    const OnnxTensor* data = to.known(0);
    const auto pads = data == nullptr ? std::nullopt : pads_of_all_axes(to, data->sizes.size());
    if (!pads || std::ranges::none_of(*pads, [](std::int64_t pad) { return pad < 0; })) {
        return unchanged(to);
    }
    const std::size_t rank = data->sizes.size();
    std::vector<std::int64_t> starts;
    std::vector<std::int64_t> ends;
    std::vector<std::int64_t> positive;
    for (std::size_t i = 0; i < 2 * rank; ++i) {
        positive.push_back(std::max<std::int64_t>((*pads)[i], 0));
        const std::int64_t cut = std::max<std::int64_t>(-(*pads)[i], 0);
        if (i < rank) {
            starts.push_back(cut);
        } else {
            ends.push_back(std::int64_t{data->sizes[i - rank]} - cut);
        }
    }
    const std::string part = to.add("Slice", {to.input(0), to.whole_numbers(starts), to.whole_numbers(ends)});
    to.add("Pad", {part, to.whole_numbers(positive), to.input(2)}, to.output(0), to.attributes_without({}));
    return to.take();
}

/// The indices are those of the output that the windows make. A larger output_shape has more elements at the ends.
Nodes expand_max_unpool(Expansion& to) {
    const OnnxTensor* data = to.known(0);
    const OnnxTensor* shape = to.known(2);
    const onnx::AttributeProto* kernel = to.attribute("kernel_shape");
    if (data == nullptr || shape == nullptr || !shape->has_elements() || kernel == nullptr ||
        shape->count() != data->sizes.size() || data->sizes.size() < 3) {
        return unchanged(to);
    }
    const std::size_t rank = data->sizes.size();
    const auto entry = [&](const char* name, std::size_t index, std::int64_t otherwise) {
        const onnx::AttributeProto* list = to.attribute(name);
        return list == nullptr || list->ints.size() <= static_cast<int>(index) ? otherwise
                                                                               : list->ints(static_cast<int>(index));
    };
    std::vector<std::int64_t> pads(2 * rank, 0);
    bool is_larger = false;
    for (std::size_t d = 2; d < rank; ++d) {
        const std::int64_t made = (std::int64_t{data->sizes[d]} - 1) * entry("strides", d - 2, 1) +
                                  entry("kernel_shape", d - 2, 1) - entry("pads", d - 2, 0) -
                                  entry("pads", d - 2 + rank - 2, 0);
        pads[rank + d] = shape->integer(d) - made;
        is_larger = is_larger || pads[rank + d] > 0;
        if (pads[rank + d] < 0) {
            return unchanged(to);
        }
    }
    if (!is_larger) {
        return unchanged(to);
    }
    const std::string made = to.add("MaxUnpool", {to.input(0), to.input(1)}, "", to.attributes_without({}));
    to.add("Pad", {made, to.whole_numbers(pads)}, to.output(0));
    return to.take();
}

/// Before ONNX standardised it, ONNX Runtime used it in ONNX's domain.
Nodes expand_simplified(Expansion& to) {
    to.add("RMSNormalization", {to.input(0), to.input(1)}, to.output(0), to.attributes_without({"stash_type"}));
    return to.take();
}

}  // namespace

std::span<const ExpansionRow> composed_expansions() {
    static constexpr ExpansionRow rows[] = {
        {"Attention", expand_attention, "GEMM, ACTIVATION_SOFTMAX1 and element-wise operators"},
        {"Cast", expand_cast},
        {"CastLike", expand_cast},
        {"Clip", expand_clip},
        {"Einsum", expand_einsum},
        {"Gelu", expand_gelu},
        {"MatMul", expand_matmul},
        {"Det", expand_determinant, "up to four rows: SLICE1 and element-wise operators"},
        {"TfIdfVectorizer", expand_gram_counts, "integers: GATHER, ELEMENT_WISE_LOGICAL_EQUALS, REDUCE and GEMM"},
        {"MaxUnpool", expand_max_unpool, "another output_shape: and PADDING1"},
        {"Mish", expand_mish, "element-wise operators"},
        {"Pad", expand_pad},
        {"Resize", expand_resize},
        {"RotaryEmbedding", expand_rotary_embedding, "GATHER, SLICE1, JOIN and element-wise operators"},
        {"HannWindow", expand_signal_window, "element-wise operators"},
        {"HammingWindow", expand_signal_window, "element-wise operators"},
        {"BlackmanWindow", expand_signal_window, "element-wise operators"},
        {"DFT", expand_fourier_transform, "GEMM with a matrix of cosines and sines; FLOAT32"},
        {"STFT", expand_short_time_transform, "GATHER of the frames, and as DFT"},
        {"GridSample", expand_grid_sample, "GATHER_ELEMENTS for each pixel that an output reads; FLOAT32"},
        {"AffineGrid", expand_affine_grid, "GEMM with a constant grid; FLOAT32"},
        {"CenterCropPad", expand_center_crop_pad, "SLICE1 and PADDING1"},
        {"ScatterElements", expand_scatter_elements, "with a reduction: up to 256 updates one after the other"},
        {"ScatterND", expand_scatter_nd, "with a reduction: up to 256 updates one after the other"},
        {"SimplifiedLayerNormalization", expand_simplified, "MEAN_VARIANCE_NORMALIZATION2 without a mean"},
    };
    return rows;
}

}  // namespace dmlconform::interop::expansion
