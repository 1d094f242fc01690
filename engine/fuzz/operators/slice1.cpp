// SLICE1: windows anywhere in the input, traversed in both directions, with strides that may exceed the window.
#include <algorithm>

#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/layout.h"
#include "engine/fuzz/operator_fuzz.h"

namespace dmlconform::fuzz {
namespace {

using operators::Descriptor;

std::uint32_t steps_in(std::uint32_t window, std::int32_t stride) {
    const std::int64_t step = stride < 0 ? -std::int64_t{stride} : std::int64_t{stride};
    return step == 0 ? 1 : 1 + static_cast<std::uint32_t>((window - 1) / step);
}

void repair(Descriptor& descriptor) {
    const auto* input = std::get_if<core::TensorDesc>(&field_of(descriptor, "InputTensor"));
    auto* output = std::get_if<core::TensorDesc>(&field_of(descriptor, "OutputTensor"));
    auto* offsets = std::get_if<std::vector<std::uint32_t>>(&field_of(descriptor, "InputWindowOffsets"));
    auto* windows = std::get_if<std::vector<std::uint32_t>>(&field_of(descriptor, "InputWindowSizes"));
    const auto* strides = std::get_if<std::vector<std::int32_t>>(&field_of(descriptor, "InputWindowStrides"));
    if (input == nullptr || output == nullptr || offsets == nullptr || windows == nullptr || strides == nullptr) {
        return;
    }
    core::Dimensions sizes = output->sizes;
    for (std::size_t d = 0; d < std::min({input->sizes.size(), sizes.size(), offsets->size(), windows->size()}); ++d) {
        const std::uint32_t size = std::max(input->sizes[d], 1U);
        (*offsets)[d] = std::min((*offsets)[d], size - 1);
        (*windows)[d] = std::clamp((*windows)[d], 1U, size - (*offsets)[d]);
        sizes[d] = std::clamp(sizes[d], 1U, steps_in((*windows)[d], (*strides)[d]));
    }
    if (sizes != output->sizes) {
        set_sizes(*output, sizes);
    }
}

Descriptor make(Random& random, const operators::OperatorSchema& schema, core::FeatureLevel level) {
    Descriptor descriptor = blank_descriptor(schema);
    const core::DataType type = random_type(random, schema, "InputTensor", level);
    const core::Dimensions sizes = random_sizes(random, random_rank(random, schema, "InputTensor", level));
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint32_t> windows;
    std::vector<std::int32_t> strides;
    core::Dimensions output;
    for (const std::uint32_t size : sizes) {
        offsets.push_back(random.chance(1, 2) ? 0 : random.below(size));
        windows.push_back(random.chance(1, 2) ? size - offsets.back() : random.pick(1, size - offsets.back()));
        const auto step =
            static_cast<std::int32_t>(random.chance(1, 12) ? random.pick(1, 2 * size) : random.pick(1, 3));
        strides.push_back(random.chance(1, 3) ? -step : step);
        const std::uint32_t most = steps_in(windows.back(), strides.back());
        output.push_back(random.chance(5, 6) ? most : random.pick(1, most));
    }
    field_of(descriptor, "InputTensor") = random_layout(random, type, sizes, operators::FieldKind::input);
    field_of(descriptor, "OutputTensor") = random_layout(random, type, output, operators::FieldKind::output);
    field_of(descriptor, "InputWindowOffsets") = offsets;
    field_of(descriptor, "InputWindowSizes") = windows;
    field_of(descriptor, "InputWindowStrides") = strides;
    set_counts(descriptor);
    return descriptor;
}

ElementKind element_kind(const Descriptor& /*descriptor*/, std::string_view /*input*/) {
    return ElementKind::bits;
}

}  // namespace

const OperatorFuzz slice1_fuzz{"SLICE1", make, element_kind, repair};

}  // namespace dmlconform::fuzz
