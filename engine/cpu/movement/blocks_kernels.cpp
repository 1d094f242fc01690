// Moves blocks between space and depth, and upsamples. Equals definitions/movement.cpp and definitions/resampling.cpp.
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/movement/move.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::cpu::blocks_kernels {
namespace {

using movement::Axis;
using movement::Move;

/// The older operators have no order.
bool depth_is_innermost(const operators::Descriptor& descriptor) {
    using Order = operators::DepthSpaceOrder;
    return descriptor.has_field("Order") && enumerator<Order>(descriptor, "Order") == Order::column_row_depth;
}

/// Both directions are described by the spatial tensor: the pixel in row i and column j of its block is in plane (i *
/// block + j) * depth + c, or c * block * block + i * block + j. The six dimensions are those of the spatial tensor.
Move rearranged(const KernelArguments& arguments, bool to_depth) {
    Move move = movement::first_to_first(arguments);
    const core::TensorDesc& space = to_depth ? move.from->desc : move.to->desc;
    const core::TensorDesc& depth = to_depth ? move.to->desc : move.from->desc;
    const core::Strides in_space = core::signed_strides(space);
    const core::Strides in_depth = core::signed_strides(depth);
    const std::int64_t block = arguments.descriptor.uint("BlockSize");
    const std::int64_t channels = space.sizes[1];
    const bool innermost = depth_is_innermost(arguments.descriptor);
    const std::int64_t plane_of_column = innermost ? 1 : channels;
    const std::int64_t plane_of_channel = innermost ? block * block : 1;
    move.axes.clear();
    const auto push = [&](std::int64_t size, std::int64_t space_stride, std::int64_t depth_stride) {
        move.axes.push_back({.size = size,
                             .to_stride = to_depth ? depth_stride : space_stride,
                             .from_stride = to_depth ? space_stride : depth_stride});
    };
    push(space.sizes[0], in_space[0], in_depth[0]);
    push(channels, in_space[1], plane_of_channel * in_depth[1]);
    if (to_depth) {
        // The block dimensions come first, so that the innermost dimension is as long as the output's.
        push(block, in_space[2], block * plane_of_column * in_depth[1]);
        push(block, in_space[3], plane_of_column * in_depth[1]);
        push(depth.sizes[2], block * in_space[2], in_depth[2]);
        push(depth.sizes[3], block * in_space[3], in_depth[3]);
    } else {
        push(depth.sizes[2], block * in_space[2], in_depth[2]);
        push(block, in_space[2], block * plane_of_column * in_depth[1]);
        // Each row starts with the first columns of all blocks, followed by the second ones.
        push(block, in_space[3], plane_of_column * in_depth[1]);
        push(depth.sizes[3], block * in_space[3], in_depth[3]);
    }
    return move;
}

Move space_to_depth(const KernelArguments& arguments) {
    return rearranged(arguments, true);
}

Move depth_to_space(const KernelArguments& arguments) {
    return rearranged(arguments, false);
}

// ---- UPSAMPLE_2D -------------------------------------------------------------------------------------------------

/// Height and width are two dimensions each: pixels and their copies.
Move nearest(const KernelArguments& arguments) {
    const auto& scale = arguments.descriptor.get<operators::Size2D>("ScaleSize");
    Move move = movement::first_to_first(arguments);
    const core::Strides strides = core::signed_strides(move.from->desc);
    std::vector<Axis> axes;
    for (std::size_t d = 0; d < strides.size(); ++d) {
        const std::int64_t to_stride = move.axes[d].to_stride;
        const std::int64_t copies = d + 1 == strides.size() ? scale.width : d + 2 == strides.size() ? scale.height : 1;
        axes.push_back({.size = move.from->desc.sizes[d], .to_stride = copies * to_stride, .from_stride = strides[d]});
        axes.push_back({.size = copies, .to_stride = to_stride, .from_stride = 0});
    }
    move.axes = std::move(axes);
    return move;
}

/// The pixels of the input between which an output pixel lies along one axis, and its distance from the first of them.
struct Between {
    std::int64_t first = 0;
    std::int64_t second = 0;
    double way = 0;
};

/// Measured on DirectML 1.15.4: the centre of a pixel is half a pixel from its edges. Beyond the outermost centres the
/// input is constant.
Between between(std::int64_t pixel, std::int64_t size, std::int64_t scale) {
    // The distance from the first centre, in units of half an output pixel, is exact.
    const std::int64_t distance = std::clamp<std::int64_t>(2 * pixel + 1 - scale, 0, 2 * scale * (size - 1));
    const std::int64_t first = distance / (2 * scale);
    return {first, std::min(first + 1, size - 1),
            static_cast<double>(distance % (2 * scale)) / static_cast<double>(2 * scale)};
}

/// The distance with FP32's rounding errors: it is computed from a position that can be as large as the size of the
/// axis.
Interval rounded_way(const Between& at) {
    const double error = at.way == 0 && at.first == 0 ? 0 : 0x1p-22 * static_cast<double>(at.second + 1);
    return {std::max(0.0, at.way - error), std::min(1.0, at.way + error), false};
}

/// Interpolates. If the distance is 0, the second pixel is ignored, even if it is infinite. If the pixels are equal
/// infinities, they are not subtracted.
double mixed(double a, double b, double way) {
    return way == 0 ? a : std::isfinite(a) && std::isfinite(b) ? a + (b - a) * way : a * (1 - way) + b * way;
}
Interval mixed(const Interval& a, const Interval& b, const Interval& way) {
    return a + (b - a) * way;
}

/// Interpolates by weights instead of a difference, with different rounding errors. A weight of zero may be skipped, or
/// produce NaN with an infinity.
Interval weighted(const Interval& a, const Interval& b, const Interval& way) {
    const auto share = [](const Interval& element, const Interval& weight) {
        const Interval product = element * weight;
        return weight.low <= 0 && product.nan ? hull(product, 0) : product;
    };
    return share(a, Interval(1) - way) + share(b, way);
}

/// Computes row by row; each output row lies between two input rows.
class Bilinear {
public:
    explicit Bilinear(const KernelArguments& arguments)
        : input_(*arguments.inputs[0]),
          output_(*arguments.outputs[0]),
          slack_(movement::wanted_slack(arguments)),
          height_scale_(arguments.descriptor.get<operators::Size2D>("ScaleSize").height),
          strides_(core::signed_strides(input_.desc)),
          column_stride_(core::signed_strides(output_.desc).back()) {
        const std::int64_t scale = arguments.descriptor.get<operators::Size2D>("ScaleSize").width;
        for (std::int64_t x = 0; x < output_.desc.sizes.back(); ++x) {
            columns_.push_back(between(x, input_.desc.sizes.back(), scale));
        }
    }

    void compute() const {
        const movement::Rows rows(output_.desc);
        parallel_for(rows.count(), 16 * rows.length(), [&](std::int64_t first, std::int64_t last) {
            std::vector<double> above(input_.desc.sizes.back());
            std::vector<double> below(above.size());
            std::vector<double> values(columns_.size());
            rows.for_each_row(
                first, last, [&](movement::Coordinates position, std::int64_t address, std::int64_t number) {
                    const std::size_t rank = position.size();
                    const Between y = between(position[rank - 2], input_.desc.sizes[rank - 2], height_scale_);
                    const std::int64_t image = movement::address_of(position.first(rank - 2), strides_);
                    load(image + y.first * strides_[rank - 2], above);
                    load(image + y.second * strides_[rank - 2], below);
                    for (std::size_t i = 0; i < columns_.size(); ++i) {
                        const auto [left, right, way] = columns_[i];
                        const auto l = static_cast<std::size_t>(left);
                        const auto r = static_cast<std::size_t>(right);
                        values[i] = mixed(mixed(above[l], above[r], way), mixed(below[l], below[r], way), y.way);
                    }
                    const element_wise::Segment target{output_.desc.data_type, address, column_stride_};
                    element_wise::store(output_.buffer.bytes(), target, values.size(), values.data(),
                                        element_wise::Store::wrapping);
                    if (slack_ != nullptr) {
                        element_wise::load(output_.buffer.bytes(), target, values.size(), values.data());
                        bound(above, below, y, values, static_cast<std::size_t>(number));
                    }
                });
        });
    }

private:
    void load(std::int64_t address, std::vector<double>& row) const {
        element_wise::load(input_.buffer.bytes(), {input_.desc.data_type, address, strides_.back()}, row.size(),
                           row.data());
    }

    void bound(const std::vector<double>& above, const std::vector<double>& below, const Between& y,
               const std::vector<double>& stored, std::size_t number) const {
        const core::DataType type = output_.desc.data_type;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const auto l = static_cast<std::size_t>(columns_[i].first);
            const auto r = static_cast<std::size_t>(columns_[i].second);
            const Interval result = range({above[l], above[r], below[l], below[r]}, y, columns_[i]);
            note_accepted(*slack_, number + i, type, stored[i],
                          element_wise::stored_range(type, result, element_wise::Store::wrapping));
        }
    }

    /// Combines the four corners (above left, above right, below left, below right): rows first or columns first, by
    /// differences or by weights.
    static Interval range(const std::array<Interval, 4>& p, const Between& y, const Between& x) {
        const Interval v = rounded_way(y);
        const Interval h = rounded_way(x);
        return hull(hull(mixed(mixed(p[0], p[1], h), mixed(p[2], p[3], h), v),
                         mixed(mixed(p[0], p[2], v), mixed(p[1], p[3], v), h)),
                    hull(weighted(weighted(p[0], p[1], h), weighted(p[2], p[3], h), v),
                         weighted(weighted(p[0], p[2], v), weighted(p[1], p[3], v), h)));
    }

    const core::Tensor& input_;
    core::Tensor& output_;
    core::ElementSlack* slack_;
    std::int64_t height_scale_;
    core::Strides strides_;
    std::int64_t column_stride_;
    std::vector<Between> columns_;
};

/// Tolerances are computed for descriptors without attributes, too.
bool is_linear(const operators::Descriptor& descriptor) {
    using operators::InterpolationMode;
    return !std::holds_alternative<operators::Null>(descriptor.value("InterpolationMode")) &&
           enumerator<InterpolationMode>(descriptor, "InterpolationMode") == InterpolationMode::linear;
}

void upsample(const KernelArguments& arguments) {
    if (is_linear(arguments.descriptor)) {
        Bilinear(arguments).compute();
    } else {
        movement::carry_out(nearest(arguments));
    }
}

core::Tolerance upsample_tolerance(const operators::Descriptor& descriptor, const operators::TensorSlot& /*output*/) {
    return movement::computed_tolerance(
        is_linear(descriptor), "FP32 as Direct3D allows it (position: one rounding; -, *, +: one rounding each)");
}

}  // namespace

Kernels kernels() {
    return {movement::moving("SPACE_TO_DEPTH", space_to_depth),
            movement::moving("SPACE_TO_DEPTH1", space_to_depth),
            movement::moving("DEPTH_TO_SPACE", depth_to_space),
            movement::moving("DEPTH_TO_SPACE1", depth_to_space),
            {.name = "UPSAMPLE_2D", .compute = upsample, .tolerance = upsample_tolerance}};
}

}  // namespace dmlconform::cpu::blocks_kernels
