// Expands sampling at coordinates that a tensor has: one gather for each pixel that an interpolation reads.
#include "engine/interop/onnx_expansion_steps.h"

namespace dmlconform::interop::expansion {
namespace {

/// Coordinates are FLOAT32, which represents whole numbers up to this one.
constexpr std::int64_t most_pixels_of_a_plane = std::int64_t{1} << 24;

enum class Padding : std::uint8_t { zeros, border, reflection };

/// The pixels that an interpolation reads along one dimension. The strings are names of values.
struct Tap {
    /// The index of the pixel, which lies in the image.
    std::string index;
    std::string weight;
    /// True where the index was in the image before; empty if that does not matter.
    std::string inside;
};

class Sampler {
public:
    Sampler(Expansion& to, Padding padding, bool align_corners)
        : to_(to), padding_(padding), align_corners_(align_corners) {}

    /// The taps along a dimension of `size` pixels, at coordinates from -1 to 1.
    std::vector<Tap> taps(const std::string& coordinate, std::int64_t size, const std::string& mode) {
        size_ = static_cast<float>(size);
        std::string position = denormalised(coordinate);
        if (mode == "nearest") {
            return {tap(padded(to_.add("Round", {position})), "")};
        }
        position = padded(position);
        const std::string floor = to_.add("Floor", {position});
        const std::string part = to_.add("Sub", {position, floor});
        return mode == "cubic" ? cubic_taps(floor, part) : linear_taps(floor, part);
    }

private:
    std::string with(const char* type, const std::string& a, float b) { return to_.add(type, {a, to_.number(b)}); }

    std::string denormalised(const std::string& coordinate) {
        const std::string shifted = with("Add", coordinate, 1);
        return align_corners_ ? with("Mul", shifted, (size_ - 1) / 2)
                              : with("Sub", with("Mul", shifted, size_ / 2), 0.5F);
    }

    /// The position, or the one in the image that it stands for. The same for indices.
    std::string padded(const std::string& position) {
        if (padding_ == Padding::zeros) {
            return position;
        }
        if (padding_ == Padding::border) {
            return clamped(position);
        }
        const float low = align_corners_ ? 0 : -0.5F;
        const float range = align_corners_ ? size_ - 1 : size_;
        if (range == 0) {
            return with("Mul", position, 0);
        }
        // A triangle wave: up along the range, and down again.
        const std::string from_low = with("Sub", position, low);
        const std::string periods = to_.add("Floor", {with("Div", from_low, 2 * range)});
        const std::string phase = to_.add("Sub", {from_low, with("Mul", periods, 2 * range)});
        const std::string distance = to_.add("Abs", {with("Sub", phase, range)});
        return to_.add("Sub", {to_.number(low + range), distance});
    }

    std::string clamped(const std::string& position) { return with("Min", with("Max", position, 0), size_ - 1); }

    Tap tap(const std::string& index, const std::string& weight) {
        Tap tap{clamped(padded(index)), weight, ""};
        if (padding_ == Padding::zeros) {
            tap.inside = to_.add("Equal", {tap.index, index});
        }
        return tap;
    }

    std::vector<Tap> linear_taps(const std::string& floor, const std::string& part) {
        return {tap(floor, to_.add("Sub", {to_.number(1), part})), tap(with("Add", floor, 1), part)};
    }

    /// Keys' weight of a pixel at a distance of up to 1, and of 1 to 2.
    std::string near_weight(const std::string& distance) {
        constexpr float a = -0.75F;
        const std::string inner = with("Sub", with("Mul", distance, a + 2), a + 3);
        return with("Add", to_.add("Mul", {inner, to_.add("Mul", {distance, distance})}), 1);
    }
    std::string far_weight(const std::string& distance) {
        constexpr float a = -0.75F;
        const std::string linear = with("Sub", with("Mul", distance, a), 5 * a);
        const std::string square = with("Add", to_.add("Mul", {linear, distance}), 8 * a);
        return with("Sub", to_.add("Mul", {square, distance}), 4 * a);
    }

    std::vector<Tap> cubic_taps(const std::string& floor, const std::string& part) {
        return {tap(with("Sub", floor, 1), far_weight(with("Add", part, 1))), tap(floor, near_weight(part)),
                tap(with("Add", floor, 1), near_weight(to_.add("Sub", {to_.number(1), part}))),
                tap(with("Add", floor, 2), far_weight(to_.add("Sub", {to_.number(2), part})))};
    }

    Expansion& to_;
    Padding padding_;
    bool align_corners_;
    float size_ = 0;
};

/// One pixel for each position, [N, C, positions], times its weight.
std::string sampled(Expansion& to, const std::string& image, const std::vector<Tap>& taps,
                    const std::vector<std::int64_t>& sizes, const std::string& shape) {
    std::string index = taps.front().index;
    std::string weight = taps.front().weight;
    std::string inside = taps.front().inside;
    for (std::size_t d = 1; d < taps.size(); ++d) {
        const std::string scaled = to.add("Mul", {index, to.number(static_cast<float>(sizes[d]))});
        index = to.add("Add", {scaled, taps[d].index});
        weight = weight.empty() ? "" : to.add("Mul", {weight, taps[d].weight});
        inside = inside.empty() ? "" : to.add("And", {inside, taps[d].inside});
    }
    const std::string whole = to.add("Cast", {index}, "", {integer("to", onnx_int64)});
    std::string pixel = to.add("GatherElements", {image, to.add("Expand", {whole, shape})}, "", {integer("axis", 2)});
    pixel = inside.empty() ? pixel : to.add("Where", {inside, pixel, to.number(0)});
    return weight.empty() ? pixel : to.add("Mul", {pixel, weight});
}

}  // namespace

Nodes expand_grid_sample(Expansion& to) {
    const OnnxTensor* image = to.known(0);
    const OnnxTensor* grid = to.known(1);
    std::string mode = to.text_of("mode", "linear");
    mode = mode.starts_with("bi") ? mode.substr(2) : mode;
    const std::string written = to.text_of("padding_mode", "zeros");
    if (image == nullptr || grid == nullptr || image->sizes.size() < 4 || image->sizes.size() > 5 ||
        grid->sizes.size() != image->sizes.size() || grid->sizes.back() + 2 != image->sizes.size() ||
        image->type != core::DataType::float32 || grid->type != core::DataType::float32 ||
        grid->sizes[0] != image->sizes[0]) {
        return core::fail("GridSample is mapped for FLOAT32 of two or three spatial dimensions");
    }
    const std::size_t spatial = image->sizes.size() - 2;
    if ((mode != "nearest" && mode != "linear" && mode != "cubic") || (mode == "cubic" && spatial != 2)) {
        return core::fail("GridSample interpolates in another way");
    }
    const std::vector<std::int64_t> sizes(image->sizes.begin() + 2, image->sizes.end());
    const std::int64_t batch = image->sizes[0];
    const std::int64_t channels = image->sizes[1];
    const auto pixels = static_cast<std::int64_t>(image->count()) / (batch * channels);
    const auto positions = static_cast<std::int64_t>(grid->count()) / (batch * static_cast<std::int64_t>(spatial));
    if (pixels > most_pixels_of_a_plane) {
        return core::fail("GridSample is mapped for up to 16777216 pixels of a plane");
    }
    const Padding padding = written == "border"       ? Padding::border
                            : written == "reflection" ? Padding::reflection
                                                      : Padding::zeros;
    Sampler sampler(to, padding, to.integer_of("align_corners", 0) != 0);
    std::vector<std::vector<Tap>> taps;
    for (std::size_t d = 0; d < spatial; ++d) {
        // The grid has the last dimension first.
        const auto channel = static_cast<std::int64_t>(spatial - 1 - d);
        const std::string part = to.add("Slice", {to.input(1), to.whole_number(channel), to.whole_number(channel + 1),
                                                  to.whole_number(static_cast<std::int64_t>(spatial) + 1)});
        taps.push_back(
            sampler.taps(to.add("Reshape", {part, to.whole_numbers({batch, 1, positions})}), sizes[d], mode));
    }
    const std::string flat = to.add("Reshape", {to.input(0), to.whole_numbers({batch, channels, pixels})});
    const std::string shape = to.whole_numbers({batch, channels, positions});
    std::string sum;
    std::vector<std::size_t> at(spatial);
    for (bool more = true; more;) {
        std::vector<Tap> chosen;
        for (std::size_t d = 0; d < spatial; ++d) {
            chosen.push_back(taps[d][at[d]]);
        }
        const std::string pixel = sampled(to, flat, chosen, sizes, shape);
        sum = sum.empty() ? pixel : to.add("Add", {sum, pixel});
        std::size_t d = spatial;
        while (d > 0 && ++at[d - 1] == taps[d - 1].size()) {
            at[--d] = 0;
        }
        more = d > 0;
    }
    std::vector<std::int64_t> result{batch, channels};
    result.insert(result.end(), grid->sizes.begin() + 1, grid->sizes.end() - 1);
    to.add("Reshape", {sum, to.whole_numbers(result)}, to.output(0));
    return to.take();
}

/// The product of a constant grid with the transposed matrices.
Nodes expand_affine_grid(Expansion& to) {
    const OnnxTensor* theta = to.known(0);
    const OnnxTensor* size = to.known(1);
    const bool align_corners = to.integer_of("align_corners", 0) != 0;
    if (theta == nullptr || size == nullptr || !size->has_elements() || theta->sizes.size() != 3 ||
        theta->type != core::DataType::float32 || (size->count() != 4 && size->count() != 5) ||
        theta->sizes[1] + 2 != size->count() || theta->sizes[2] != theta->sizes[1] + 1) {
        return core::fail("AffineGrid is mapped for FLOAT32 of two or three spatial dimensions of known sizes");
    }
    const std::size_t spatial = size->count() - 2;
    std::vector<std::int64_t> shape{size->integer(0)};
    std::int64_t positions = 1;
    for (std::size_t d = 0; d < spatial; ++d) {
        shape.push_back(size->integer(d + 2));
        if (shape.back() < (align_corners ? 2 : 1) || shape.back() > most_pixels_of_a_plane / positions) {
            return core::fail("AffineGrid has too many positions, or too few between aligned corners");
        }
        positions *= shape.back();
    }
    onnx::TensorProto base;
    base.data_type.set(onnx_float);
    base.dims.add(positions);
    base.dims.add(static_cast<std::int64_t>(spatial) + 1);
    for (std::int64_t position = 0; position < positions; ++position) {
        std::int64_t rest = position;
        // The last dimension comes first.
        for (std::size_t d = spatial; d-- > 0;) {
            const auto count = static_cast<double>(shape[d + 1]);
            const auto index = static_cast<double>(rest % shape[d + 1]);
            rest /= shape[d + 1];
            base.float_data.add(
                static_cast<float>(align_corners ? 2 * index / (count - 1) - 1 : (2 * index + 1) / count - 1));
        }
        base.float_data.add(1);
    }
    const std::string grid = to.add("Constant", {}, "", {value(base)});
    const std::string turned = to.add("Transpose", {to.input(0)}, "", {integers("perm", {0, 2, 1})});
    shape.push_back(static_cast<std::int64_t>(spatial));
    to.add("Reshape", {to.add("MatMul", {grid, turned}), to.whole_numbers(shape)}, to.output(0));
    return to.take();
}

/// Slices and pads in the middle.
Nodes expand_center_crop_pad(Expansion& to) {
    const OnnxTensor* data = to.known(0);
    const OnnxTensor* shape = to.known(1);
    if (data == nullptr || shape == nullptr || !shape->has_elements()) {
        return core::fail("the sizes of CenterCropPad are known only when the model runs");
    }
    const std::size_t rank = data->sizes.size();
    std::vector<std::int64_t> axes(rank);
    for (std::size_t d = 0; d < rank; ++d) {
        axes[d] = static_cast<std::int64_t>(d);
    }
    if (const onnx::AttributeProto* written = to.attribute("axes")) {
        axes.assign(written->ints().begin(), written->ints().end());
    }
    if (axes.size() != shape->count()) {
        return core::fail("CenterCropPad has another number of axes than of sizes");
    }
    std::vector<std::int64_t> starts(rank, 0);
    std::vector<std::int64_t> ends(data->sizes.begin(), data->sizes.end());
    std::vector<std::int64_t> pads(2 * rank, 0);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const auto axis = axis_of(axes[i], rank);
        const std::int64_t wanted = shape->integer(i);
        if (!axis || wanted < 1 || wanted > 0x7fffffff) {
            return core::fail("CenterCropPad has an axis or size that is not legal");
        }
        const std::int64_t more = wanted - std::int64_t{data->sizes[*axis]};
        if (more < 0) {
            starts[*axis] = -more / 2;
            ends[*axis] = starts[*axis] + wanted;
        } else {
            pads[*axis] = more / 2;
            pads[*axis + rank] = more - more / 2;
        }
    }
    const std::string part = to.add("Slice", {to.input(0), to.whole_numbers(starts), to.whole_numbers(ends)});
    to.add("Pad", {part, to.whole_numbers(pads)}, to.output(0));
    return to.take();
}

}  // namespace dmlconform::interop::expansion
