// Operators that copy elements.
#include "engine/core/element.h"
#include "engine/cpu/definitions/call.h"

namespace dmlconform::cpu::definitions::movement_definitions {
namespace {

/// Where a window along dimension `d` has element `i`. A negative stride starts at the window's last element.
std::int64_t in_window(const Call& call, std::size_t d, std::int64_t i) {
    const std::int64_t step = call.ints("InputWindowStrides")[d];
    const std::int64_t first = call.uints("InputWindowOffsets")[d];
    return (step > 0 ? first : first + call.uints("InputWindowSizes")[d] - 1) + i * step;
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_slice_operator_desc
constexpr auto slice = []<class Real>(Call& call) {
    const auto x = call.input<Bits>("InputTensor");
    auto& output = call.output<Bits>("OutputTensor");
    for_each_index(output.sizes, [&](const Index& at) {
        Index from = at;
        for (std::size_t d = 0; d < at.size(); ++d) {
            from[d] = call.uints("Offsets")[d] + at[d] * call.uints("Strides")[d];
        }
        output[at] = x[from];
    });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_slice1_operator_desc
constexpr auto slice1 = []<class Real>(Call& call) {
    const auto x = call.input<Bits>("InputTensor");
    auto& output = call.output<Bits>("OutputTensor");
    for_each_index(output.sizes, [&](const Index& at) {
        Index from = at;
        for (std::size_t d = 0; d < at.size(); ++d) {
            from[d] = in_window(call, d, at[d]);
        }
        output[at] = x[from];
    });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_slice_grad_operator_desc
// Puts gradients where SLICE1 reads, and 0 elsewhere.
constexpr auto slice_grad = []<class Real>(Call& call) {
    const auto gradient = call.input<Bits>("InputGradientTensor");
    auto& output = call.output<Bits>("OutputGradientTensor");
    for_each_index(gradient.sizes, [&](const Index& at) {
        Index to = at;
        for (std::size_t d = 0; d < at.size(); ++d) {
            to[d] = in_window(call, d, at[d]);
        }
        output[to] = gradient[at];
    });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_split_operator_desc
constexpr auto split = []<class Real>(Call& call) {
    const auto x = call.input<Bits>("InputTensor");
    const auto axis = static_cast<std::size_t>(call.uint("Axis"));
    std::int64_t start = 0;
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
        auto& output = call.output<Bits>("OutputTensors[" + std::to_string(i) + "]");
        for_each_index(output.sizes, [&](const Index& at) { output[at] = x[at.with(axis, start + at[axis])]; });
        start += output.sizes[axis];
    }
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_join_operator_desc
constexpr auto join = []<class Real>(Call& call) {
    auto& output = call.output<Bits>("OutputTensor");
    const auto axis = static_cast<std::size_t>(call.uint("Axis"));
    std::int64_t start = 0;
    for (std::size_t i = 0; i < call.input_count(); ++i) {
        const auto x = call.input_number<Bits>(i);
        for_each_index(x.sizes, [&](const Index& at) { output[at.with(axis, start + at[axis])] = x[at]; });
        start += x.sizes[axis];
    }
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_tile_operator_desc
constexpr auto tile = []<class Real>(Call& call) {
    const auto x = call.input<Bits>("InputTensor");
    auto& output = call.output<Bits>("OutputTensor");
    for_each_index(output.sizes, [&](const Index& at) {
        Index from = at;
        for (std::size_t d = 0; d < at.size(); ++d) {
            from[d] = at[d] % x.sizes[d];
        }
        output[at] = x[from];
    });
};

/// Walks from 0 to the size, and back by that many positions; repeats this in both directions.
std::int64_t reflected(std::int64_t at, std::int64_t size, bool repeats_ends) {
    const std::int64_t period = repeats_ends ? 2 * size : std::max<std::int64_t>(2 * (size - 1), 1);
    const std::int64_t folded = (at % period + period) % period;
    return folded < size ? folded : period - (repeats_ends ? 1 : 0) - folded;
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_padding_operator_desc
// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_padding1_operator_desc
constexpr auto padding = []<class Real>(Call& call) {
    using operators::PaddingMode;
    const auto mode = enumerator<PaddingMode>(call.descriptor, "PaddingMode");
    const Bits value = call.constant("PaddingValue", call.type("OutputTensor"));
    const Index start = call.uints("StartPadding");
    const auto x = call.input<Bits>("InputTensor");
    auto& output = call.output<Bits>("OutputTensor");
    for_each_index(output.sizes, [&](const Index& at) {
        Index from = at;
        for (std::size_t d = 0; d < at.size(); ++d) {
            const std::int64_t size = x.sizes[d];
            const std::int64_t position = at[d] - start[d];
            from[d] = mode == PaddingMode::edge         ? std::clamp<std::int64_t>(position, 0, size - 1)
                      : mode == PaddingMode::reflection ? reflected(position, size, false)
                      : mode == PaddingMode::symmetric  ? reflected(position, size, true)
                      : mode == PaddingMode::wrap       ? (position % size + size) % size
                                                        : position;
        }
        output[at] = from.is_inside(x.sizes) ? x[from] : value;
    });
};

/// The element of a dimension that an index stands for. Negative indices count from the end. Indices beyond the ends
/// read the outermost element, which the documentation leaves open.
std::int64_t read_at(Signed index, std::int64_t size) {
    return std::clamp<std::int64_t>(index.value < 0 ? index.value + size : index.value, 0, size - 1);
}

/// The last `count` coordinates; 0 for those that are missing in front.
Index last(const Index& at, std::size_t count) {
    return at.size() >= count ? at.part(at.size() - count, at.size()) : Index::of(count - at.size(), 0).then(at);
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_gather_operator_desc
// The axis of the input is replaced by the dimensions of the indices.
constexpr auto gather = []<class Real>(Call& call) {
    const auto x = call.input<Bits>("InputTensor");
    const auto indices = call.input<Signed>("IndicesTensor");
    const auto axis = static_cast<std::size_t>(call.uint("Axis"));
    const auto dimensions = static_cast<std::size_t>(call.uint("IndexDimensions"));
    auto& output = call.output<Bits>("OutputTensor");
    for_each_index(output.sizes, [&](const Index& at) {
        const Index own = last(at, x.sizes.size() - 1 + dimensions);
        const Signed index = indices[last(own.part(axis, axis + dimensions), indices.sizes.size())];
        output[at] =
            x[own.part(0, axis).then({read_at(index, x.sizes[axis])}).then(own.part(axis + dimensions, own.size()))];
    });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_gather_elements_operator_desc
constexpr auto gather_elements = []<class Real>(Call& call) {
    const auto x = call.input<Bits>("InputTensor");
    const auto indices = call.input<Signed>("IndicesTensor");
    const auto axis = static_cast<std::size_t>(call.uint("Axis"));
    auto& output = call.output<Bits>("OutputTensor");
    for_each_index(output.sizes,
                   [&](const Index& at) { output[at] = x[at.with(axis, read_at(indices[at], x.sizes[axis]))]; });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_gather_nd_operator_desc
// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_gather_nd1_operator_desc
// The last dimension of the indices has the first coordinates of what is read, after those of the batches.
constexpr auto gather_nd = []<class Real>(Call& call) {
    const auto x = call.input<Bits>("InputTensor");
    const auto indices = call.input<Signed>("IndicesTensor");
    const auto batches =
        static_cast<std::size_t>(call.has_field("BatchDimensionCount") ? call.uint("BatchDimensionCount") : 0);
    const auto input_dimensions = static_cast<std::size_t>(call.uint("InputDimensionCount"));
    const auto tuple_dimensions = static_cast<std::size_t>(call.uint("IndicesDimensionCount")) - 1;
    const auto length = static_cast<std::size_t>(indices.sizes.back());
    const Index sizes = last(x.sizes, input_dimensions);
    auto& output = call.output<Bits>("OutputTensor");
    for_each_index(output.sizes, [&](const Index& at) {
        const Index own = last(at, tuple_dimensions + input_dimensions - batches - length);
        Index from = own.part(0, batches);
        for (std::size_t i = 0; i < length; ++i) {
            const Index tuple = own.part(0, tuple_dimensions).then({static_cast<std::int64_t>(i)});
            from.push_back(read_at(indices[last(tuple, indices.sizes.size())], sizes[batches + i]));
        }
        output[at] = x[last(from.then(own.part(tuple_dimensions, own.size())), x.sizes.size())];
    });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_one_hot_operator_desc
// The values are {off, on}. An index beyond the ends sets nothing.
constexpr auto one_hot = []<class Real>(Call& call) {
    const auto indices = call.input<Signed>("IndicesTensor");
    const auto values = call.input<Bits>("ValuesTensor");
    const auto axis = static_cast<std::size_t>(call.uint("Axis"));
    auto& output = call.output<Bits>("OutputTensor");
    for_each_index(output.sizes, [&](const Index& at) {
        const std::int64_t index = indices[at.with(axis, 0)].value;
        output[at] = values.elements[at[axis] == (index < 0 ? index + output.sizes[axis] : index) ? 1 : 0];
    });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_reverse_subsequences_operator_desc
// The first elements along the axis, as many as the sequence's length, are reversed.
constexpr auto reverse_subsequences = []<class Real>(Call& call) {
    const auto x = call.input<Bits>("InputTensor");
    const auto lengths = call.input<Unsigned>("SequenceLengthsTensor");
    const auto axis = static_cast<std::size_t>(call.uint("Axis"));
    auto& output = call.output<Bits>("OutputTensor");
    for_each_index(output.sizes, [&](const Index& at) {
        const auto most = static_cast<std::uint64_t>(x.sizes[axis]);
        const auto length = static_cast<std::int64_t>(std::min(lengths[at.with(axis, 0)].value, most));
        output[at] = x[at[axis] < length ? at.with(axis, length - 1 - at[axis]) : at];
    });
};

/// The element of a dimension that an index writes to; negative beyond the ends.
std::int64_t write_at(Signed index, std::int64_t size) {
    const std::int64_t at = index.value < 0 ? index.value + size : index.value;
    return at < size ? at : -1;
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_scatter_operator_desc
// The last of several updates of an element wins; the documentation leaves open which one does.
constexpr auto scatter = []<class Real>(Call& call) {
    const auto indices = call.input<Signed>("IndicesTensor");
    const auto updates = call.input<Bits>("UpdatesTensor");
    const auto axis = static_cast<std::size_t>(call.uint("Axis"));
    auto& output = call.output<Bits>("OutputTensor");
    output = call.input<Bits>("InputTensor");
    for_each_index(updates.sizes, [&](const Index& at) {
        const Index to = at.with(axis, write_at(indices[at], output.sizes[axis]));
        if (to.is_inside(output.sizes)) {
            output[to] = updates[at];
        }
    });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_scatter_nd_operator_desc
// The last dimension of the indices has the first coordinates of what is written.
constexpr auto scatter_nd = []<class Real>(Call& call) {
    const auto indices = call.input<Signed>("IndicesTensor");
    const auto updates = call.input<Bits>("UpdatesTensor");
    const auto input_dimensions = static_cast<std::size_t>(call.uint("InputDimensionCount"));
    const auto tuple_dimensions = static_cast<std::size_t>(call.uint("IndicesDimensionCount")) - 1;
    const auto length = static_cast<std::size_t>(indices.sizes.back());
    auto& output = call.output<Bits>("OutputTensor");
    output = call.input<Bits>("InputTensor");
    const Index sizes = last(output.sizes, input_dimensions);
    for_each_index(updates.sizes, [&](const Index& at) {
        const Index own = last(at, tuple_dimensions + input_dimensions - length);
        Index to;
        for (std::size_t i = 0; i < length; ++i) {
            const Index tuple = own.part(0, tuple_dimensions).then({static_cast<std::int64_t>(i)});
            to.push_back(write_at(indices[last(tuple, indices.sizes.size())], sizes[i]));
        }
        to = last(to.then(own.part(tuple_dimensions, own.size())), output.sizes.size());
        if (to.is_inside(output.sizes)) {
            output[to] = updates[at];
        }
    });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_max_unpooling_operator_desc
// The indices count all elements of the output in row-major order.
constexpr auto max_unpooling = []<class Real>(Call& call) {
    const auto x = call.input<Bits>("InputTensor");
    const auto indices = call.input<Unsigned>("IndicesTensor");
    auto& output = call.output<Bits>("OutputTensor");
    for_each_index(x.sizes, [&](const Index& at) {
        if (indices[at].value < output.elements.size()) {
            output.elements[indices[at].value] = x[at];
        }
    });
};

/// The element with depth that an element of space comes from or goes to. Each pixel of a block has its channel: by
/// default, those of a pixel are adjacent.
Index in_depth(const Call& call, const Index& space, std::int64_t channels) {
    using Order = operators::DepthSpaceOrder;
    const std::int64_t block = call.uint("BlockSize");
    const std::int64_t pixel = space[2] % block * block + space[3] % block;
    const bool depth_last =
        call.has_field("Order") && enumerator<Order>(call.descriptor, "Order") == Order::column_row_depth;
    const std::int64_t channel = depth_last ? space[1] * block * block + pixel : pixel * channels + space[1];
    return {space[0], channel, space[2] / block, space[3] / block};
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_space_to_depth_operator_desc
// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_space_to_depth1_operator_desc
constexpr auto space_to_depth = []<class Real>(Call& call) {
    const auto x = call.input<Bits>("InputTensor");
    auto& output = call.output<Bits>("OutputTensor");
    for_each_index(x.sizes, [&](const Index& at) { output[in_depth(call, at, x.sizes[1])] = x[at]; });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_depth_to_space_operator_desc
// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_depth_to_space1_operator_desc
constexpr auto depth_to_space = []<class Real>(Call& call) {
    const auto x = call.input<Bits>("InputTensor");
    auto& output = call.output<Bits>("OutputTensor");
    for_each_index(output.sizes, [&](const Index& at) { output[at] = x[in_depth(call, at, output.sizes[1])]; });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_fill_value_constant_operator_desc
constexpr auto fill_value_constant = []<class Real>(Call& call) {
    auto& output = call.output<Bits>("OutputTensor");
    std::ranges::fill(output.elements, call.constant("Value", call.type("OutputTensor")));
};

/// A constant as a number of its type.
template <class Number>
Number number_of(const Call& call, std::string_view name) {
    const core::DataType type = call.type("OutputTensor");
    const std::uint64_t bits = call.constant(name, type).value;
    if constexpr (requires { Number::of(bits); }) {
        return Number::of(bits);
    } else {
        return Number(core::decode_element(type, bits));
    }
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_fill_value_sequence_operator_desc
// ValueStart + i * ValueDelta, in row-major order
constexpr auto fill_value_sequence = []<class Real>(Call& call) {
    with_number<Real>(call.type("OutputTensor"), [&]<class Number>() {
        auto& output = call.output<Number>("OutputTensor");
        for_each_index(output.sizes, [&](const Index& at) {
            const Number i(static_cast<double>(output.number_of(at)));
            output[at] = number_of<Number>(call, "ValueStart") + i * number_of<Number>(call, "ValueDelta");
        });
    });
};

/// Writes the value where fills(diagonal) holds, in all matrices. Diagonal 0 starts at the top left corner; those above
/// it are positive.
template <class Fills>
void fill_diagonals(const Call& call, Array<Bits>& output, const Fills& fills) {
    const std::size_t rank = output.sizes.size();
    for_each_index(output.sizes, [&](const Index& at) {
        if (fills(at[rank - 1] - at[rank - 2])) {
            output[at] = call.constant("Value", call.type("OutputTensor"));
        }
    });
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_diagonal_matrix_operator_desc
constexpr auto diagonal_matrix = []<class Real>(Call& call) {
    const std::int64_t offset = call.descriptor.get<std::int32_t>("Offset");
    fill_diagonals(call, call.output<Bits>("OutputTensor"), [&](std::int64_t diagonal) { return diagonal == offset; });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_diagonal_matrix1_operator_desc
// Fills from one diagonal to the one before another. If they are in descending order, fills all diagonals outside.
constexpr auto diagonal_matrix1 = []<class Real>(Call& call) {
    const std::int64_t begin = call.descriptor.get<std::int32_t>("DiagonalFillBegin");
    const std::int64_t end = call.descriptor.get<std::int32_t>("DiagonalFillEnd");
    auto& output = call.output<Bits>("OutputTensor");
    if (call.has("InputTensor")) {
        output = call.input<Bits>("InputTensor");
    }
    fill_diagonals(call, output, [&](std::int64_t diagonal) {
        return begin <= end ? begin <= diagonal && diagonal < end : diagonal < end || begin <= diagonal;
    });
};

/// Calls visit(index of the image, index of the blocks) for all elements of all windows. Indices of the image may be
/// beyond its ends, in the padding.
template <class Visit>
void for_each_in_blocks(const Call& call, const Index& image, const Visit& visit) {
    const Index window = call.uints("WindowSizes");
    Index blocks;
    for (std::size_t d = 0; d < window.size(); ++d) {
        const std::int64_t padded = image[d + 2] + call.uints("StartPadding")[d] + call.uints("EndPadding")[d];
        blocks.push_back((padded - call.uints("Dilations")[d] * (window[d] - 1) - 1) / call.uints("Strides")[d] + 1);
    }
    const Array<Bits> window_numbers(window);
    const Array<Bits> block_numbers(blocks);
    for_each_index(image.part(0, 2).then(blocks).then(window), [&](const Index& at) {
        const Index block = at.part(2, 2 + blocks.size());
        const Index element = at.part(2 + blocks.size(), at.size());
        Index in_image = at.part(0, 2);
        for (std::size_t d = 0; d < window.size(); ++d) {
            in_image.push_back(block[d] * call.uints("Strides")[d] + element[d] * call.uints("Dilations")[d] -
                               call.uints("StartPadding")[d]);
        }
        const auto channel = at[1] * window.product() + static_cast<std::int64_t>(window_numbers.number_of(element));
        visit(in_image, Index{at[0], channel, static_cast<std::int64_t>(block_numbers.number_of(block))});
    });
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_unfold_operator_desc
// Each column has the elements of one window; each channel has as many rows as the window has elements.
constexpr auto unfold = []<class Real>(Call& call) {
    const auto x = call.input<Bits>("InputTensor");
    auto& output = call.output<Bits>("OutputTensor");
    for_each_in_blocks(call, x.sizes, [&](const Index& in_image, const Index& in_blocks) {
        if (in_image.is_inside(x.sizes)) {
            output[in_blocks] = x[in_image];
        }
    });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_fold_operator_desc
// The sum of all blocks that cover an element. Integers are summed in 32 bits or more, which wrap, and then clamped, as
// measured on DirectML 1.15.4.
constexpr auto fold = []<class Real>(Call& call) {
    with_number<Real>(call.type("InputTensor"), [&]<class Number>() {
        const auto x = call.input<Number>("InputTensor");
        auto& output = call.output<Number>("OutputTensor", Store::clamping);
        for_each_in_blocks(call, output.sizes, [&](const Index& in_image, const Index& in_blocks) {
            if (in_image.is_inside(output.sizes)) {
                output[in_image] = output[in_image] + x[in_blocks];
            }
        });
    });
};

}  // namespace

Definitions definitions() {
    return {define("SLICE", slice),
            define("SLICE1", slice1),
            define("SLICE_GRAD", slice_grad),
            define("SPLIT", split),
            define("JOIN", join),
            define("TILE", tile),
            define("PADDING", padding),
            define("PADDING1", padding),
            define("GATHER", gather),
            define("GATHER_ELEMENTS", gather_elements),
            define("GATHER_ND", gather_nd),
            define("GATHER_ND1", gather_nd),
            define("ONE_HOT", one_hot),
            define("REVERSE_SUBSEQUENCES", reverse_subsequences),
            define("SCATTER", scatter),
            define("SCATTER_ND", scatter_nd),
            define("MAX_UNPOOLING", max_unpooling),
            define("SPACE_TO_DEPTH", space_to_depth),
            define("SPACE_TO_DEPTH1", space_to_depth),
            define("DEPTH_TO_SPACE", depth_to_space),
            define("DEPTH_TO_SPACE1", depth_to_space),
            define("FILL_VALUE_CONSTANT", fill_value_constant),
            define("FILL_VALUE_SEQUENCE", fill_value_sequence),
            define("DIAGONAL_MATRIX", diagonal_matrix),
            define("DIAGONAL_MATRIX1", diagonal_matrix1),
            define("UNFOLD", unfold),
            define("FOLD", fold)};
}

}  // namespace dmlconform::cpu::definitions::movement_definitions
