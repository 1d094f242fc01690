// Operators that move elements: generic descriptors, adapted with matching windows, blocks, indices and sizes. Indices
// are 0 to 2, so the dimensions that they refer to have at least three elements.
#include <algorithm>
#include <cstdlib>

#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/fitting.h"
#include "engine/fuzz/windows.h"

namespace dmlconform::fuzz {
namespace {

using core::Dimensions;
using operators::Descriptor;

constexpr std::uint32_t most_indexed = 3;

std::uint32_t axis_of(const Descriptor& descriptor) {
    return descriptor.uint("Axis");
}

Dimensions with_size(Dimensions sizes, std::size_t dimension, std::uint32_t size) {
    sizes[dimension] = size;
    return sizes;
}

Dimensions with_at_least(Dimensions sizes, std::size_t dimension) {
    sizes[dimension] = std::max(sizes[dimension], most_indexed);
    return sizes;
}

// ---- windows, parts and blocks -----------------------------------------------------------------------------------

void fit_slice(Random& random, Descriptor& descriptor) {
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint32_t> counts;
    std::vector<std::uint32_t> strides;
    for (const std::uint32_t size : sizes_of(descriptor, "InputTensor")) {
        strides.push_back(random.chance(1, 2) ? 1 : random.pick(1, 4));
        const std::uint32_t most = 1 + (size - 1) / strides.back();
        counts.push_back(random.chance(1, 2) ? most : random.pick(1, most));
        offsets.push_back(random.below(size - (counts.back() - 1) * strides.back()));
    }
    field_of(descriptor, "Offsets") = offsets;
    field_of(descriptor, "Sizes") = counts;
    field_of(descriptor, "Strides") = strides;
}

std::uint32_t steps_in(std::uint32_t window, std::int32_t stride) {
    const std::int64_t step = std::abs(std::int64_t{stride});
    return step == 0 ? 1 : 1 + static_cast<std::uint32_t>((window - 1) / step);
}

/// Draws windows anywhere in a tensor, traversed in both directions, with strides that may exceed the window. Returns
/// the number of elements that they select, mostly all.
Dimensions draw_window(Random& random, Descriptor& descriptor, const Dimensions& whole) {
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint32_t> windows;
    std::vector<std::int32_t> strides;
    Dimensions selected;
    for (const std::uint32_t size : whole) {
        offsets.push_back(random.chance(1, 2) ? 0 : random.below(size));
        windows.push_back(random.chance(1, 2) ? size - offsets.back() : random.pick(1, size - offsets.back()));
        const auto step =
            static_cast<std::int32_t>(random.chance(1, 12) ? random.pick(1, 2 * size) : random.pick(1, 3));
        strides.push_back(random.chance(1, 3) ? -step : step);
        const std::uint32_t most = steps_in(windows.back(), strides.back());
        selected.push_back(random.chance(5, 6) ? most : random.pick(1, most));
    }
    field_of(descriptor, "InputWindowOffsets") = offsets;
    field_of(descriptor, "InputWindowSizes") = windows;
    field_of(descriptor, "InputWindowStrides") = strides;
    return selected;
}

void fit_slice1(Random& random, Descriptor& descriptor) {
    lay_out(random, descriptor, "OutputTensor", draw_window(random, descriptor, sizes_of(descriptor, "InputTensor")));
}

void fit_slice_grad(Random& random, Descriptor& descriptor) {
    resize(descriptor, "InputGradientTensor",
           draw_window(random, descriptor, sizes_of(descriptor, "OutputGradientTensor")));
}

/// The states of RANDOM_GENERATOR, whose sizes follow from their number of dimensions.
void fit_states(Random& random, Descriptor& descriptor) {
    set_required_sizes(descriptor, core::highest_feature_level);
    lay_out_all(random, descriptor);
}

/// The generic generator gives all parts the input's sizes.
void fit_split(Random& /*random*/, Descriptor& descriptor) {
    const auto& parts = std::get<operators::TensorDescArray>(field_of(descriptor, "OutputTensors")).items;
    const auto count = static_cast<std::uint32_t>(parts.size());
    const Dimensions& part = parts.front().sizes;
    resize(descriptor, "InputTensor", with_size(part, axis_of(descriptor), count * part[axis_of(descriptor)]));
}

void fit_space_to_depth(Random& /*random*/, Descriptor& descriptor) {
    const std::uint32_t block = descriptor.uint("BlockSize");
    const Dimensions sizes = sizes_of(descriptor, "InputTensor");
    resize(descriptor, "InputTensor", {sizes[0], sizes[1], sizes[2] * block, sizes[3] * block});
}

void fit_depth_to_space(Random& /*random*/, Descriptor& descriptor) {
    const std::uint32_t block = descriptor.uint("BlockSize");
    const Dimensions sizes = sizes_of(descriptor, "InputTensor");
    resize(descriptor, "InputTensor", {sizes[0], sizes[1] * block * block, sizes[2], sizes[3]});
}

/// Draws windows over a tensor. Returns the unfolded sizes.
Dimensions fit_windows(Random& random, Descriptor& descriptor, const Dimensions& image) {
    Dimensions unfolded{image[0], image[1], 1};
    for (const std::uint32_t stops : draw_windows(random, descriptor, image, 1)) {
        unfolded[2] *= stops;
    }
    for (const std::uint32_t window : descriptor.uints("WindowSizes")) {
        unfolded[1] *= window;
    }
    return unfolded;
}

void fit_unfold(Random& random, Descriptor& descriptor) {
    (void)fit_windows(random, descriptor, sizes_of(descriptor, "InputTensor"));
}

void fit_fold(Random& random, Descriptor& descriptor) {
    resize(descriptor, "InputTensor", fit_windows(random, descriptor, sizes_of(descriptor, "OutputTensor")));
}

// ---- indices -----------------------------------------------------------------------------------------------------

void fit_gather(Random& random, Descriptor& descriptor) {
    const Dimensions input = with_at_least(sizes_of(descriptor, "InputTensor"), axis_of(descriptor));
    // The maximum number of index dimensions: the axis provides room for one, and each leading 1 for another.
    std::uint32_t room = 1;
    while (room <= axis_of(descriptor) && input[room - 1] == 1) {
        ++room;
    }
    const std::uint32_t count = random.pick(0, room);
    Dimensions indices(input.size(), 1);
    std::generate(indices.end() - count, indices.end(), [&] { return random.pick(1, 4); });
    field_of(descriptor, "IndexDimensions") = count;
    resize(descriptor, "InputTensor", input);
    resize(descriptor, "IndicesTensor", indices);
}

void fit_gather_elements(Random& random, Descriptor& descriptor) {
    const std::uint32_t axis = axis_of(descriptor);
    const Dimensions input = with_at_least(sizes_of(descriptor, "InputTensor"), axis);
    const Dimensions indices = with_size(input, axis, random.pick(1, 5));
    resize(descriptor, "InputTensor", input);
    resize(descriptor, "IndicesTensor", indices);
    resize(descriptor, "OutputTensor", indices);
}

void fit_scatter(Random& random, Descriptor& descriptor) {
    const std::uint32_t axis = axis_of(descriptor);
    const Dimensions input = with_at_least(sizes_of(descriptor, "InputTensor"), axis);
    const Dimensions indices = with_size(input, axis, random.pick(1, input[axis]));
    resize(descriptor, "InputTensor", input);
    resize(descriptor, "OutputTensor", input);
    resize(descriptor, "IndicesTensor", indices);
    resize(descriptor, "UpdatesTensor", indices);
}

/// Draws index tuples into the dimensions after the batches. Returns the sizes of what they select.
Dimensions fit_tuples(Random& random, Descriptor& descriptor, std::uint32_t batches) {
    Dimensions input = sizes_of(descriptor, "InputTensor");
    const auto rank = static_cast<std::uint32_t>(input.size());
    const std::uint32_t tuple = random.pick(1, std::min(rank - batches, most_indexed));
    for (std::uint32_t i = 0; i < tuple; ++i) {
        input = with_at_least(std::move(input), batches + i);
    }
    const std::uint32_t picking = random.pick(batches, std::min(batches + tuple, rank - 1));
    Dimensions tuples(input.begin(), input.begin() + batches);
    while (tuples.size() < picking) {
        tuples.push_back(random.pick(1, 4));
    }
    Dimensions indices(rank - picking - 1, 1);
    indices.insert(indices.end(), tuples.begin(), tuples.end());
    indices.push_back(tuple);
    field_of(descriptor, "InputDimensionCount") = rank;
    field_of(descriptor, "IndicesDimensionCount") = picking + 1;
    resize(descriptor, "InputTensor", input);
    resize(descriptor, "IndicesTensor", indices);
    Dimensions picked(batches + tuple - picking, 1);
    picked.insert(picked.end(), tuples.begin(), tuples.end());
    picked.insert(picked.end(), input.begin() + batches + tuple, input.end());
    return picked;
}

void fit_gather_nd(Random& random, Descriptor& descriptor) {
    (void)fit_tuples(random, descriptor, 0);
}

void fit_gather_nd1(Random& random, Descriptor& descriptor) {
    const auto rank = static_cast<std::uint32_t>(sizes_of(descriptor, "InputTensor").size());
    const std::uint32_t batches = random.below(std::min(rank, 3U));
    field_of(descriptor, "BatchDimensionCount") = batches;
    (void)fit_tuples(random, descriptor, batches);
}

void fit_scatter_nd(Random& random, Descriptor& descriptor) {
    const Dimensions updates = fit_tuples(random, descriptor, 0);
    resize(descriptor, "UpdatesTensor", updates);
    resize(descriptor, "OutputTensor", sizes_of(descriptor, "InputTensor"));
}

void fit_one_hot(Random& random, Descriptor& descriptor) {
    const Dimensions output = sizes_of(descriptor, "OutputTensor");
    resize(descriptor, "IndicesTensor", with_size(output, axis_of(descriptor), 1));
    Dimensions values(output.size(), 1);
    values[random.below(static_cast<std::uint32_t>(values.size()))] = random.pick(2, 3);
    resize(descriptor, "ValuesTensor", values);
}

void fit_reverse(Random& /*random*/, Descriptor& descriptor) {
    const Dimensions input = with_at_least(sizes_of(descriptor, "InputTensor"), axis_of(descriptor));
    resize(descriptor, "InputTensor", input);
    resize(descriptor, "OutputTensor", input);
    resize(descriptor, "SequenceLengthsTensor", with_size(input, axis_of(descriptor), 1));
}

// ---- all of them -------------------------------------------------------------------------------------------------

constexpr Fitting fittings[] = {
    {"SLICE", fit_slice},
    {"SLICE1", fit_slice1},
    {"SLICE_GRAD", fit_slice_grad},
    {"SPLIT", fit_split},
    {"SPACE_TO_DEPTH", fit_space_to_depth},
    {"SPACE_TO_DEPTH1", fit_space_to_depth},
    {"DEPTH_TO_SPACE", fit_depth_to_space},
    {"DEPTH_TO_SPACE1", fit_depth_to_space},
    {"GATHER", fit_gather},
    {"GATHER_ELEMENTS", fit_gather_elements},
    {"GATHER_ND", fit_gather_nd},
    {"GATHER_ND1", fit_gather_nd1},
    {"SCATTER", fit_scatter},
    {"SCATTER_ND", fit_scatter_nd},
    {"ONE_HOT", fit_one_hot},
    {"REVERSE_SUBSEQUENCES", fit_reverse},
    {"UNFOLD", fit_unfold},
    {"FOLD", fit_fold},
    {"RANDOM_GENERATOR", fit_states},
};

/// Keeps the window of SLICE1 within its input, and its output within the window.
void repair_window(Descriptor& descriptor) {
    const core::TensorDesc* const input = tensor_of(descriptor, "InputTensor");
    const core::TensorDesc* const output = tensor_of(descriptor, "OutputTensor");
    auto* offsets = std::get_if<std::vector<std::uint32_t>>(&field_of(descriptor, "InputWindowOffsets"));
    auto* windows = std::get_if<std::vector<std::uint32_t>>(&field_of(descriptor, "InputWindowSizes"));
    const auto* strides = std::get_if<std::vector<std::int32_t>>(&field_of(descriptor, "InputWindowStrides"));
    if (input == nullptr || output == nullptr || offsets == nullptr || windows == nullptr || strides == nullptr) {
        return;
    }
    Dimensions sizes = output->sizes;
    for (std::size_t d = 0; d < std::min({input->sizes.size(), sizes.size(), offsets->size(), windows->size()}); ++d) {
        const std::uint32_t size = std::max(input->sizes[d], 1U);
        (*offsets)[d] = std::min((*offsets)[d], size - 1);
        (*windows)[d] = std::clamp((*windows)[d], 1U, size - (*offsets)[d]);
        sizes[d] = std::clamp(sizes[d], 1U, steps_in((*windows)[d], (*strides)[d]));
    }
    resize(descriptor, "OutputTensor", sizes);
}

void repair(Descriptor& descriptor) {
    if (descriptor.has_field("InputWindowOffsets") && descriptor.has_field("OutputTensor")) {
        repair_window(descriptor);
    }
    generic_fuzz.repair(descriptor);
}

Descriptor make(Random& random, const operators::OperatorSchema& schema, core::FeatureLevel level) {
    Descriptor descriptor = make_fitting(fittings, random, schema, level);
    repair(descriptor);
    return descriptor;
}

}  // namespace

const OperatorFuzz movement_fuzz{make, kind_by_catalogue, repair};

}  // namespace dmlconform::fuzz
