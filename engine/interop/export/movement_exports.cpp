// Operators that move elements: windows, joining, padding, blocks, indices.

#include <algorithm>
#include <array>
#include <limits>

#include "engine/interop/export/operator_writer.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::interop::exporting {
namespace {

/// The last dimensions, as many as these; those before them have the size 1.
Value last_dimensions(ModelWriter& w, const Value& x, std::size_t count) {
    return w.reshape(x, {x.sizes.end() - static_cast<std::ptrdiff_t>(std::min(count, x.rank())), x.sizes.end()});
}

/// DirectML's indices may be unsigned.
Value indices_of(OperatorWriter& to, const char* name = "IndicesTensor") {
    const Value indices = to.in(name);
    return indices.type == onnx_int32 ? indices : to.w.cast(indices, onnx_int64);
}

// ---- windows -----------------------------------------------------------------------------------------------------

struct Window {
    Numbers offsets;
    Numbers sizes;
    /// Negative: from the last element of the window back.
    Numbers strides;
};

Window window_of(OperatorWriter& to) {
    if (to.desc.has_field("Offsets")) {
        return {to.numbers("Offsets"), to.numbers("Sizes"), to.numbers("Strides")};
    }
    const auto& strides = to.desc.get<std::vector<std::int32_t>>("InputWindowStrides");
    return {to.numbers("InputWindowOffsets"), to.numbers("InputWindowSizes"), {strides.begin(), strides.end()}};
}

void write_slice(OperatorWriter& to) {
    const Window window = window_of(to);
    Numbers starts;
    Numbers ends;
    for (std::size_t d = 0; d < window.offsets.size(); ++d) {
        const std::int64_t last = window.offsets[d] + window.sizes[d] - 1;
        const bool is_forward = window.strides[d] > 0;
        constexpr std::int64_t before_the_first = -0x7fffffff;
        starts.push_back(is_forward ? window.offsets[d] : last);
        ends.push_back(is_forward ? last + 1 : window.offsets[d] == 0 ? before_the_first : window.offsets[d] - 1);
    }
    to.out("OutputTensor", to.w.slice(to.in("InputTensor"), starts, ends, counted(starts.size()), window.strides));
}

/// Along one dimension, where each element comes from; the number of elements where nothing does.
Value picked_or_zero(ModelWriter& w, const Value& x, std::size_t axis, const Numbers& from) {
    Numbers pads(2 * x.rank(), 0);
    pads[x.rank() + axis] = 1;
    return w.gather(w.pad(x, pads, w.like(x, 0)), w.list(from), axis);
}

/// Elements of the output that the window shows come from the gradient, others are 0.
void write_slice_grad(OperatorWriter& to) {
    const Window window = window_of(to);
    Value x = to.in("InputGradientTensor");
    const core::Dimensions& sizes = to.sizes("OutputGradientTensor");
    constexpr std::uint32_t most_listed = 1 << 16;
    if (std::any_of(sizes.begin(), sizes.end(), [](std::uint32_t size) { return size > most_listed; })) {
        to.fail("a dimension is too large to list where its elements come from");
        return;
    }
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        const std::int64_t count = x.sizes[d];
        Numbers from(sizes[d], count);
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t start =
                window.strides[d] > 0 ? window.offsets[d] : window.offsets[d] + window.sizes[d] - 1;
            const std::int64_t at = start + i * window.strides[d];
            if (at >= 0 && at < std::int64_t{sizes[d]}) {
                from[static_cast<std::size_t>(at)] = i;
            }
        }
        x = picked_or_zero(to.w, x, d, from);
    }
    to.out("OutputGradientTensor", x);
}

void write_split(OperatorWriter& to) {
    const std::size_t axis = to.uint("Axis");
    const Value x = to.in("InputTensor");
    std::vector<Value> parts;
    Numbers sizes;
    const auto slots = to.desc.outputs();
    for (const operators::TensorSlot& slot : slots) {
        parts.push_back({"", x.type, slot.desc->sizes});
        sizes.push_back(slot.desc->sizes[axis]);
    }
    const auto made =
        to.w.node("Split", {x, to.w.list(sizes)}, parts, {attribute("axis", static_cast<std::int64_t>(axis))});
    for (std::size_t i = 0; i < slots.size(); ++i) {
        to.out(slots[i].name, made[i]);
    }
}

void write_join(OperatorWriter& to) {
    std::vector<Value> parts;
    for (const operators::TensorSlot& slot : to.desc.inputs()) {
        parts.push_back(to.in(slot.name));
    }
    to.out("OutputTensor", to.w.concat(parts, to.uint("Axis")));
}

void write_tile(OperatorWriter& to) {
    const Value x = to.in("InputTensor");
    to.out("OutputTensor", to.w.node("Tile", {x, to.w.list(to.numbers("Repeats"))}, x.type, to.sizes("OutputTensor")));
}

// ---- padding -----------------------------------------------------------------------------------------------------

/// The element of a dimension that is read at a position before, in or after it.
std::int64_t mirrored_or_wrapped(std::int64_t position, std::int64_t size, bool wraps) {
    const std::int64_t period = wraps ? size : 2 * size;
    const std::int64_t at = ((position % period) + period) % period;
    return at < size ? at : period - 1 - at;
}

void write_padding_by_indices(OperatorWriter& to, bool wraps) {
    Value x = to.in("InputTensor");
    const Numbers starts = to.numbers("StartPadding");
    const core::Dimensions& sizes = to.sizes("OutputTensor");
    constexpr std::uint32_t most_listed = 1 << 16;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        if (sizes[d] > most_listed) {
            to.fail("a dimension is too large to list where its elements come from");
            return;
        }
        Numbers from;
        for (std::int64_t i = 0; i < std::int64_t{sizes[d]}; ++i) {
            from.push_back(mirrored_or_wrapped(i - starts[d], x.sizes[d], wraps));
        }
        x = sizes[d] == x.sizes[d] ? x : to.w.gather(x, to.w.list(from), d);
    }
    to.out("OutputTensor", x);
}

void write_padding(OperatorWriter& to, const Value& constant) {
    using operators::PaddingMode;
    const auto mode = to.enumerator<PaddingMode>("PaddingMode");
    if (mode > PaddingMode::wrap) {
        to.fail("the padding mode is unknown");
        return;
    }
    if (mode == PaddingMode::symmetric || (mode == PaddingMode::wrap && to.w.opset() < 19)) {
        write_padding_by_indices(to, mode == PaddingMode::wrap);
        return;
    }
    Numbers pads = to.numbers("StartPadding");
    const Numbers ends = to.numbers("EndPadding");
    pads.insert(pads.end(), ends.begin(), ends.end());
    const Value x = to.in("InputTensor");
    std::vector<Value> inputs{x, to.w.list(pads)};
    if (mode == PaddingMode::constant) {
        inputs.push_back(constant);
    }
    const char* const name = mode == PaddingMode::constant     ? "constant"
                             : mode == PaddingMode::edge       ? "edge"
                             : mode == PaddingMode::reflection ? "reflect"
                                                               : "wrap";
    to.out("OutputTensor", to.w.node("Pad", inputs, x.type, to.sizes("OutputTensor"), {attribute("mode", name)}));
}

void write_padding0(OperatorWriter& to) {
    write_padding(to, attribute_scalar(to.w, to.type("InputTensor"), to.number("PaddingValue")));
}
void write_padding1(OperatorWriter& to) {
    write_padding(to, union_scalar(to, "PaddingValue", to.type("InputTensor")));
}

// ---- blocks ------------------------------------------------------------------------------------------------------

bool has_depth_last(OperatorWriter& to) {
    return to.desc.has_field("Order") &&
           to.enumerator<operators::DepthSpaceOrder>("Order") == operators::DepthSpaceOrder::column_row_depth;
}

void write_depth_to_space(OperatorWriter& to) {
    const Value x = to.in("InputTensor");
    to.out("OutputTensor", to.w.node("DepthToSpace", {x}, x.type, to.sizes("OutputTensor"),
                                     {attribute("blocksize", std::int64_t{to.uint("BlockSize")}),
                                      attribute("mode", has_depth_last(to) ? "CRD" : "DCR")}));
}

/// ONNX's node only has the order in which blocks come before channels.
void write_space_to_depth(OperatorWriter& to) {
    const Value x = to.in("InputTensor");
    const std::uint32_t block = to.uint("BlockSize");
    if (!has_depth_last(to)) {
        to.out("OutputTensor", to.w.node("SpaceToDepth", {x}, x.type, to.sizes("OutputTensor"),
                                         {attribute("blocksize", std::int64_t{block})}));
        return;
    }
    const core::Dimensions& sizes = x.sizes;
    const Value apart = to.w.reshape(x, {sizes[0], sizes[1], sizes[2] / block, block, sizes[3] / block, block});
    to.out("OutputTensor", to.w.transpose(apart, {0, 1, 3, 5, 2, 4}));
}

// ---- indices -----------------------------------------------------------------------------------------------------

void write_gather(OperatorWriter& to) {
    const Value indices = last_dimensions(to.w, indices_of(to), to.uint("IndexDimensions"));
    to.out("OutputTensor", to.w.gather(to.in("InputTensor"), indices, to.uint("Axis")));
}

void write_gather_elements(OperatorWriter& to) {
    const Value x = to.in("InputTensor");
    const Value indices = indices_of(to);
    to.out("OutputTensor", to.w.node("GatherElements", {x, indices}, x.type, indices.sizes,
                                     {attribute("axis", std::int64_t{to.uint("Axis")})}));
}

void write_gather_nd(OperatorWriter& to) {
    const Value x = last_dimensions(to.w, to.in("InputTensor"), to.uint("InputDimensionCount"));
    const Value indices = last_dimensions(to.w, indices_of(to), to.uint("IndicesDimensionCount"));
    const std::uint32_t batches = to.desc.has_field("BatchDimensionCount") ? to.uint("BatchDimensionCount") : 0;
    core::Dimensions sizes(indices.sizes.begin(), indices.sizes.end() - 1);
    const std::size_t first = batches + indices.sizes.back();
    if (first > x.rank()) {
        to.fail("an index has more entries than there are dimensions");
        return;
    }
    sizes.insert(sizes.end(), x.sizes.begin() + static_cast<std::ptrdiff_t>(first), x.sizes.end());
    to.out("OutputTensor", to.w.node("GatherND", {x, to.w.cast(indices, onnx_int64)}, x.type, std::move(sizes),
                                     {attribute("batch_dims", std::int64_t{batches})}));
}

void write_scatter(OperatorWriter& to) {
    const Value x = to.in("InputTensor");
    to.out("OutputTensor", to.w.node("ScatterElements", {x, indices_of(to), to.in("UpdatesTensor")}, x.type, x.sizes,
                                     {attribute("axis", std::int64_t{to.uint("Axis")})}));
}

void write_scatter_nd(OperatorWriter& to) {
    const Value x = last_dimensions(to.w, to.in("InputTensor"), to.uint("InputDimensionCount"));
    const Value indices =
        to.w.cast(last_dimensions(to.w, indices_of(to), to.uint("IndicesDimensionCount")), onnx_int64);
    if (indices.sizes.back() > x.rank()) {
        to.fail("an index has more entries than there are dimensions");
        return;
    }
    core::Dimensions sizes(indices.sizes.begin(), indices.sizes.end() - 1);
    sizes.insert(sizes.end(), x.sizes.begin() + indices.sizes.back(), x.sizes.end());
    const Value updates = to.w.reshape(to.in("UpdatesTensor"), sizes);
    to.out("OutputTensor", to.w.node("ScatterND", {x, indices, updates}, x.type, x.sizes));
}

void write_one_hot(OperatorWriter& to) {
    ModelWriter& w = to.w;
    Value indices = to.in("IndicesTensor");
    if (indices.type == onnx_uint64) {
        // Larger indices would be negative as INT64, and negative indices count from the end.
        indices = w.each("Min", {indices, w.bits(core::DataType::uint64, std::numeric_limits<std::int64_t>::max())});
    }
    if (indices.type != onnx_int32) {
        indices = w.cast(indices, onnx_int64);
    }
    std::size_t axis = to.uint("Axis");
    core::Dimensions sizes = indices.sizes;
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(axis));
    core::Dimensions made = to.sizes("OutputTensor");
    const Value depth = w.bits(core::DataType::int64, made[axis]);
    if (sizes.empty()) {
        // ONNX's indices have at least one dimension.
        sizes = {1};
        made = {1, made[axis]};
        axis = 1;
    }
    const Value flat = w.reshape(indices, sizes);
    const Value values = w.reshape(to.in("ValuesTensor"), {2});
    to.out("OutputTensor", w.node("OneHot", {flat, depth, values}, values.type, made,
                                  {attribute("axis", static_cast<std::int64_t>(axis))}));
}

/// ONNX reverses along the first dimension, for each element of the second.
void write_reverse_subsequences(OperatorWriter& to) {
    ModelWriter& w = to.w;
    const Value x = to.in("InputTensor");
    const auto axis = static_cast<std::int64_t>(to.uint("Axis"));
    Numbers order{axis};
    for (std::int64_t d = 0; d < static_cast<std::int64_t>(x.rank()); ++d) {
        if (d != axis) {
            order.push_back(d);
        }
    }
    const Value moved = w.transpose(x, order);
    const std::uint32_t steps = x.sizes[static_cast<std::size_t>(axis)];
    const auto count = static_cast<std::uint32_t>(x.count() / steps);
    const Value lengths = w.cast(w.reshape(to.in("SequenceLengthsTensor"), {count}), onnx_int64);
    const Value flat = w.reshape(moved, {steps, count});
    const Value made = w.node("ReverseSequence", {flat, lengths}, x.type, flat.sizes,
                              {attribute("batch_axis", std::int64_t{1}), attribute("time_axis", std::int64_t{0})});
    to.out("OutputTensor", w.transpose(w.reshape(made, moved.sizes), inverse_of(order)));
}

// ---- constants ---------------------------------------------------------------------------------------------------

/// 0, 1, 2, … as many as these sizes have elements.
Value counting(ModelWriter& w, const core::Dimensions& sizes) {
    const auto count = *core::element_count(sizes);
    const auto number = [&](std::uint64_t value) { return w.bits(core::DataType::int64, value); };
    const Value all =
        w.node("Range", {number(0), number(count), number(1)}, onnx_int64, {static_cast<std::uint32_t>(count)});
    return w.reshape(all, sizes);
}

void write_fill_constant(OperatorWriter& to) {
    const Value value = union_scalar(to, "Value", to.type("OutputTensor"));
    to.out("OutputTensor", to.w.expand(value, to.sizes("OutputTensor")));
}

void write_fill_sequence(OperatorWriter& to) {
    const int wanted = to.type("OutputTensor");
    const int type = wanted == onnx_float16 ? static_cast<int>(onnx_float32) : wanted;
    const auto number = [&](const char* field) { return to.w.cast(union_scalar(to, field, wanted), type); };
    const Value counts = to.w.cast(counting(to.w, to.sizes("OutputTensor")), type);
    to.out("OutputTensor", to.w.add(to.w.mul(counts, number("ValueDelta")), number("ValueStart")));
}

/// For each element of a matrix, the diagonal that it is on.
Value diagonals(ModelWriter& w, const core::Dimensions& sizes) {
    const std::uint32_t rows = sizes[sizes.size() - 2];
    return w.sub(counting(w, {1, sizes.back()}), counting(w, {rows, 1}));
}

Value is_at_least(ModelWriter& w, const Value& value, std::int64_t least) {
    return w.test("Not", {w.test("Less", {value, w.bits(core::DataType::int64, static_cast<std::uint64_t>(least))})});
}

void write_diagonals(OperatorWriter& to, const Value& value, const Value& background, std::int64_t begin,
                     std::int64_t end) {
    ModelWriter& w = to.w;
    const Value diagonal = diagonals(w, to.sizes("OutputTensor"));
    const Value is_after = is_at_least(w, diagonal, begin);
    const Value is_before = w.test("Not", {is_at_least(w, diagonal, end)});
    const Value is_filled = w.test(begin <= end ? "And" : "Or", {is_after, is_before});
    to.out("OutputTensor", w.expand(w.where(is_filled, value, background), to.sizes("OutputTensor")));
}

void write_diagonal_matrix(OperatorWriter& to) {
    const int type = to.type("OutputTensor");
    const std::int64_t offset = to.desc.get<std::int32_t>("Offset");
    write_diagonals(to, attribute_scalar(to.w, type, to.number("Value")), to.w.scalar(type, 0), offset, offset + 1);
}

void write_diagonal_matrix1(OperatorWriter& to) {
    const int type = to.type("OutputTensor");
    const Value background = to.has("InputTensor") ? to.in("InputTensor") : to.w.scalar(type, 0);
    write_diagonals(to, union_scalar(to, "Value", type), background, to.desc.get<std::int32_t>("DiagonalFillBegin"),
                    to.desc.get<std::int32_t>("DiagonalFillEnd"));
}

constexpr std::array<OperatorExport, 25> movement_rows{{
    {"SLICE", write_slice},
    {"SLICE1", write_slice},
    {"SLICE_GRAD", write_slice_grad},
    {"SPLIT", write_split},
    {"JOIN", write_join},
    {"TILE", write_tile},
    {"PADDING", write_padding0},
    {"PADDING1", write_padding1},
    {"DEPTH_TO_SPACE", write_depth_to_space},
    {"DEPTH_TO_SPACE1", write_depth_to_space},
    {"SPACE_TO_DEPTH", write_space_to_depth},
    {"SPACE_TO_DEPTH1", write_space_to_depth},
    {"GATHER", write_gather},
    {"GATHER_ELEMENTS", write_gather_elements},
    {"GATHER_ND", write_gather_nd},
    {"GATHER_ND1", write_gather_nd},
    {"SCATTER", write_scatter},
    {"SCATTER_ND", write_scatter_nd},
    {"ONE_HOT", write_one_hot},
    {"REVERSE_SUBSEQUENCES", write_reverse_subsequences},
    {"FILL_VALUE_CONSTANT", write_fill_constant},
    {"FILL_VALUE_SEQUENCE", write_fill_sequence},
    {"DIAGONAL_MATRIX", write_diagonal_matrix},
    {"DIAGONAL_MATRIX1", write_diagonal_matrix1},
    {"RANDOM_GENERATOR", nullptr, nullptr, "ONNX's random numbers are not those of Philox 4x32-10"},
}};

}  // namespace

std::span<const OperatorExport> movement_exports() {
    return movement_rows;
}

}  // namespace dmlconform::interop::exporting
