// Reductions: generic descriptors, adapted with functions that support the type, distinct axes, and matching sizes.
#include "engine/operators/rules/reduction.h"

#include <algorithm>
#include <array>

#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/fitting.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::fuzz {
namespace {

using core::Dimensions;
using operators::Descriptor;
using operators::ReduceFunction;

void fit_function(Random& random, Descriptor& descriptor, core::FeatureLevel level) {
    const core::DataType input = tensor_of(descriptor, "InputTensor")->data_type;
    const auto function = random.one_of(operators::functions_of(input, level));
    const bool is_position = function == ReduceFunction::argmax || function == ReduceFunction::argmin;
    constexpr std::array indices{core::DataType::uint32, core::DataType::int32, core::DataType::uint64,
                                 core::DataType::int64};
    core::TensorDesc& output = *tensor_of(descriptor, "OutputTensor");
    output.data_type = !is_position                       ? input
                       : level < core::FeatureLevel{3, 0} ? core::DataType::uint32
                                                          : random.one_of(indices);
    set_sizes(output, output.sizes);  // updates the total size for the new type
    field_of(descriptor, "Function") = static_cast<std::uint32_t>(function);
}

/// Gives the output of coordinates one row per input element, and a column per dimension or fewer.
void fit_coordinates(Descriptor& descriptor) {
    const Dimensions input = sizes_of(descriptor, "InputTensor");
    Dimensions sizes = sizes_of(descriptor, "OutputCoordinatesTensor");
    if (input.empty() || sizes.size() < 2) {
        return;
    }
    const auto first = std::ranges::find_if(input, [](std::uint32_t size) { return size != 1; });
    const auto least = std::max(static_cast<std::uint32_t>(input.end() - first), 1U);
    std::fill(sizes.begin(), sizes.end() - 2, 1);
    sizes[sizes.size() - 2] = static_cast<std::uint32_t>(core::element_count(input).value_or(1));
    sizes.back() = std::clamp(sizes.back(), least, static_cast<std::uint32_t>(input.size()));
    resize(descriptor, "OutputCoordinatesTensor", sizes);
}

void repair(Descriptor& descriptor) {
    if (tensor_of(descriptor, "InputTensor") != nullptr &&
        tensor_of(descriptor, "OutputCoordinatesTensor") != nullptr) {
        fit_coordinates(descriptor);
    }
    generic_fuzz.repair(descriptor);
}

Descriptor make(Random& random, const operators::OperatorSchema& schema, core::FeatureLevel level) {
    Descriptor descriptor = generic_fuzz.make(random, schema, level);
    if (descriptor.has_field("Axes")) {
        field_of(descriptor, "Axes") = random_axes(random, sizes_of(descriptor, "InputTensor").size());
    }
    if (descriptor.has_field("Function")) {
        fit_function(random, descriptor, level);
    }
    if (descriptor.has_field("P")) {
        field_of(descriptor, "P") = random.pick(1, 2);
    }
    set_counts(descriptor);
    repair(descriptor);
    return descriptor;
}

/// REDUCE compares elements with some functions.
ElementKind element_kind(const Descriptor& descriptor, std::string_view input) {
    if (!descriptor.has_field("Function")) {
        return kind_by_catalogue(descriptor, input);
    }
    constexpr std::array compared{ReduceFunction::argmax, ReduceFunction::argmin, ReduceFunction::max,
                                  ReduceFunction::min};
    const auto function = enumerator<ReduceFunction>(descriptor, "Function");
    return std::ranges::find(compared, function) != compared.end() ? ElementKind::ordered : ElementKind::number;
}

}  // namespace

const OperatorFuzz reduction_fuzz{make, element_kind, repair};

}  // namespace dmlconform::fuzz
