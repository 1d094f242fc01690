// Operators that move elements: generic descriptors, adapted with matching windows, blocks, indices and sizes. Indices
// are 0 to 2, so the dimensions that they refer to have at least three elements.
#include <algorithm>
#include <array>

#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/fitting.h"
#include "engine/fuzz/windows.h"

namespace dmlconform::fuzz {
namespace {

using core::Dimensions;
using operators::Descriptor;

constexpr std::uint32_t most_indexed = 3;

core::TensorDesc& tensor_of(Descriptor& descriptor, std::string_view field) {
    return std::get<core::TensorDesc>(field_of(descriptor, field));
}

void resize(Descriptor& descriptor, std::string_view field, const Dimensions& sizes) {
    core::TensorDesc& desc = tensor_of(descriptor, field);
    if (desc.sizes != sizes) {
        set_sizes(desc, sizes);
    }
}

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
    for (const std::uint32_t size : tensor_of(descriptor, "InputTensor").sizes) {
        strides.push_back(random.chance(1, 2) ? 1 : random.pick(1, 4));
        const std::uint32_t most = 1 + (size - 1) / strides.back();
        counts.push_back(random.chance(1, 2) ? most : random.pick(1, most));
        offsets.push_back(random.below(size - (counts.back() - 1) * strides.back()));
    }
    field_of(descriptor, "Offsets") = offsets;
    field_of(descriptor, "Sizes") = counts;
    field_of(descriptor, "Strides") = strides;
}

void fit_slice_grad(Random& random, Descriptor& descriptor) {
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint32_t> windows;
    std::vector<std::int32_t> strides;
    Dimensions gradients;
    for (const std::uint32_t size : tensor_of(descriptor, "OutputGradientTensor").sizes) {
        offsets.push_back(random.chance(1, 2) ? 0 : random.below(size));
        windows.push_back(random.pick(1, size - offsets.back()));
        const std::uint32_t step = random.pick(1, 3);
        strides.push_back(random.chance(1, 2) ? static_cast<std::int32_t>(step) : -static_cast<std::int32_t>(step));
        const std::uint32_t most = 1 + (windows.back() - 1) / step;
        gradients.push_back(random.chance(3, 4) ? most : random.pick(1, most));
    }
    field_of(descriptor, "InputWindowOffsets") = offsets;
    field_of(descriptor, "InputWindowSizes") = windows;
    field_of(descriptor, "InputWindowStrides") = strides;
    resize(descriptor, "InputGradientTensor", gradients);
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
    const Dimensions sizes = tensor_of(descriptor, "InputTensor").sizes;
    resize(descriptor, "InputTensor", {sizes[0], sizes[1], sizes[2] * block, sizes[3] * block});
}

void fit_depth_to_space(Random& /*random*/, Descriptor& descriptor) {
    const std::uint32_t block = descriptor.uint("BlockSize");
    const Dimensions sizes = tensor_of(descriptor, "InputTensor").sizes;
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
    (void)fit_windows(random, descriptor, tensor_of(descriptor, "InputTensor").sizes);
}

void fit_fold(Random& random, Descriptor& descriptor) {
    resize(descriptor, "InputTensor", fit_windows(random, descriptor, tensor_of(descriptor, "OutputTensor").sizes));
}

// ---- indices -----------------------------------------------------------------------------------------------------

void fit_gather(Random& random, Descriptor& descriptor) {
    const Dimensions input = with_at_least(tensor_of(descriptor, "InputTensor").sizes, axis_of(descriptor));
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
    const Dimensions input = with_at_least(tensor_of(descriptor, "InputTensor").sizes, axis);
    const Dimensions indices = with_size(input, axis, random.pick(1, 5));
    resize(descriptor, "InputTensor", input);
    resize(descriptor, "IndicesTensor", indices);
    resize(descriptor, "OutputTensor", indices);
}

void fit_scatter(Random& random, Descriptor& descriptor) {
    const std::uint32_t axis = axis_of(descriptor);
    const Dimensions input = with_at_least(tensor_of(descriptor, "InputTensor").sizes, axis);
    const Dimensions indices = with_size(input, axis, random.pick(1, input[axis]));
    resize(descriptor, "InputTensor", input);
    resize(descriptor, "OutputTensor", input);
    resize(descriptor, "IndicesTensor", indices);
    resize(descriptor, "UpdatesTensor", indices);
}

/// Draws index tuples into the dimensions after the batches. Returns the sizes of what they select.
Dimensions fit_tuples(Random& random, Descriptor& descriptor, std::uint32_t batches) {
    Dimensions input = tensor_of(descriptor, "InputTensor").sizes;
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
    const auto rank = static_cast<std::uint32_t>(tensor_of(descriptor, "InputTensor").sizes.size());
    const std::uint32_t batches = random.below(std::min(rank, 3U));
    field_of(descriptor, "BatchDimensionCount") = batches;
    (void)fit_tuples(random, descriptor, batches);
}

void fit_scatter_nd(Random& random, Descriptor& descriptor) {
    const Dimensions updates = fit_tuples(random, descriptor, 0);
    resize(descriptor, "UpdatesTensor", updates);
    resize(descriptor, "OutputTensor", tensor_of(descriptor, "InputTensor").sizes);
}

void fit_one_hot(Random& random, Descriptor& descriptor) {
    const Dimensions output = tensor_of(descriptor, "OutputTensor").sizes;
    resize(descriptor, "IndicesTensor", with_size(output, axis_of(descriptor), 1));
    Dimensions values(output.size(), 1);
    values[random.below(static_cast<std::uint32_t>(values.size()))] = random.pick(2, 3);
    resize(descriptor, "ValuesTensor", values);
}

void fit_reverse(Random& /*random*/, Descriptor& descriptor) {
    const Dimensions input = with_at_least(tensor_of(descriptor, "InputTensor").sizes, axis_of(descriptor));
    resize(descriptor, "InputTensor", input);
    resize(descriptor, "OutputTensor", input);
    resize(descriptor, "SequenceLengthsTensor", with_size(input, axis_of(descriptor), 1));
}

/// The generic generator and the output sizes are sufficient.
void fit_nothing(Random& /*random*/, Descriptor& /*descriptor*/) {}

// ---- all of them -------------------------------------------------------------------------------------------------

constexpr std::array<Fitting, 26> fittings{{
    {"SLICE", fit_slice},
    {"SLICE_GRAD", fit_slice_grad},
    {"SPLIT", fit_split},
    {"JOIN", fit_nothing},
    {"PADDING", fit_nothing},
    {"PADDING1", fit_nothing},
    {"TILE", fit_nothing},
    {"SPACE_TO_DEPTH", fit_space_to_depth},
    {"SPACE_TO_DEPTH1", fit_space_to_depth},
    {"DEPTH_TO_SPACE", fit_depth_to_space},
    {"DEPTH_TO_SPACE1", fit_depth_to_space},
    {"DIAGONAL_MATRIX", fit_nothing},
    {"DIAGONAL_MATRIX1", fit_nothing},
    {"FILL_VALUE_CONSTANT", fit_nothing},
    {"FILL_VALUE_SEQUENCE", fit_nothing},
    {"GATHER", fit_gather},
    {"GATHER_ELEMENTS", fit_gather_elements},
    {"GATHER_ND", fit_gather_nd},
    {"GATHER_ND1", fit_gather_nd1},
    {"SCATTER", fit_scatter},
    {"SCATTER_ND", fit_scatter_nd},
    {"ONE_HOT", fit_one_hot},
    {"REVERSE_SUBSEQUENCES", fit_reverse},
    {"MAX_UNPOOLING", fit_nothing},
    {"UNFOLD", fit_unfold},
    {"FOLD", fit_fold},
}};

Descriptor make(Random& random, const operators::OperatorSchema& schema, core::FeatureLevel level) {
    Descriptor descriptor = make_fitting(fittings, random, schema, level);
    set_counts(descriptor);
    generic_fuzz.repair(descriptor);
    return descriptor;
}

ElementKind element_kind(const Descriptor& descriptor, std::string_view input) {
    if (input == "IndicesTensor" || input == "SequenceLengthsTensor") {
        return ElementKind::index;
    }
    return descriptor.schema->short_name() == "FOLD" ? ElementKind::number : ElementKind::bits;
}

}  // namespace

std::span<const OperatorFuzz> movement_fuzz() {
    static const std::vector<OperatorFuzz> all = fuzz_of_each(fittings, make, element_kind);
    return all;
}

}  // namespace dmlconform::fuzz
