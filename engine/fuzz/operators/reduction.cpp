// Reductions: generic descriptors, adapted with functions that support the type, distinct axes, and matching sizes.
#include <algorithm>
#include <array>

#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/operator_fuzz.h"
#include "engine/operators/enumerators.h"
#include "engine/operators/rules/reduction.h"

namespace dmlconform::fuzz {
namespace {

using core::Dimensions;
using operators::Descriptor;
using operators::ReduceFunction;

core::TensorDesc& tensor_of(Descriptor& descriptor, std::string_view field) {
    return std::get<core::TensorDesc>(field_of(descriptor, field));
}

/// Any of the dimensions in any order, sometimes none.
void fit_axes(Random& random, Descriptor& descriptor) {
    std::vector<std::uint32_t> axes;
    const auto rank = static_cast<std::uint32_t>(tensor_of(descriptor, "InputTensor").sizes.size());
    for (std::uint32_t axis = 0; axis < rank; ++axis) {
        if (random.chance(1, 2)) {
            axes.insert(axes.begin() + random.below(static_cast<std::uint32_t>(axes.size()) + 1), axis);
        }
    }
    if (axes.empty() && random.chance(3, 4)) {
        axes.push_back(random.below(rank));
    }
    field_of(descriptor, "Axes") = axes;
}

void fit_function(Random& random, Descriptor& descriptor, core::FeatureLevel level) {
    const core::DataType input = tensor_of(descriptor, "InputTensor").data_type;
    const auto function = random.one_of(operators::functions_of(input, level));
    const bool is_position = function == ReduceFunction::argmax || function == ReduceFunction::argmin;
    constexpr std::array indices{core::DataType::uint32, core::DataType::int32, core::DataType::uint64,
                                 core::DataType::int64};
    core::TensorDesc& output = tensor_of(descriptor, "OutputTensor");
    output.data_type = !is_position                       ? input
                       : level < core::FeatureLevel{3, 0} ? core::DataType::uint32
                                                          : random.one_of(indices);
    set_sizes(output, output.sizes);  // updates the total size for the new type
    field_of(descriptor, "Function") = static_cast<std::uint32_t>(function);
}

/// One row for each element, with all coordinates or fewer.
void fit_coordinates(Descriptor& descriptor) {
    const Dimensions& input = tensor_of(descriptor, "InputTensor").sizes;
    core::TensorDesc& output = tensor_of(descriptor, "OutputCoordinatesTensor");
    if (input.empty() || output.sizes.size() < 2) {
        return;
    }
    const auto first = std::ranges::find_if(input, [](std::uint32_t size) { return size != 1; });
    const auto least = std::max(static_cast<std::uint32_t>(input.end() - first), 1U);
    Dimensions sizes(output.sizes.size(), 1);
    sizes[sizes.size() - 2] = static_cast<std::uint32_t>(core::element_count(input).value_or(1));
    sizes.back() = std::clamp(output.sizes.back(), least, static_cast<std::uint32_t>(input.size()));
    if (output.sizes != sizes) {
        set_sizes(output, sizes);
    }
}

bool has_field(const Descriptor& descriptor, std::string_view name) {
    return descriptor.schema->find_field(name) != nullptr;
}

void repair(Descriptor& descriptor) {
    if (has_field(descriptor, "OutputCoordinatesTensor")) {
        fit_coordinates(descriptor);
    }
    generic_fuzz.repair(descriptor);
}

Descriptor make(Random& random, const operators::OperatorSchema& schema, core::FeatureLevel level) {
    Descriptor descriptor = generic_fuzz.make(random, schema, level);
    if (has_field(descriptor, "Axes")) {
        fit_axes(random, descriptor);
    }
    if (has_field(descriptor, "Function")) {
        fit_function(random, descriptor, level);
    }
    if (has_field(descriptor, "P")) {
        field_of(descriptor, "P") = random.pick(1, 2);
    }
    set_counts(descriptor);
    repair(descriptor);
    return descriptor;
}

/// True if elements are compared with each other or with zero, instead of computed with.
bool compares(const Descriptor& descriptor) {
    if (!has_field(descriptor, "Function")) {
        return true;
    }
    switch (enumerator<ReduceFunction>(descriptor, "Function")) {
        case ReduceFunction::argmax:
        case ReduceFunction::argmin:
        case ReduceFunction::max:
        case ReduceFunction::min:
            return true;
        default:
            return false;
    }
}

ElementKind kind_of_compared(const Descriptor& descriptor, std::string_view /*input*/) {
    return compares(descriptor) ? ElementKind::ordered : ElementKind::number;
}

ElementKind kind_of_numbers(const Descriptor& /*descriptor*/, std::string_view /*input*/) {
    return ElementKind::number;
}

constexpr std::array<OperatorFuzz, 8> all{{
    {"REDUCE", make, kind_of_compared, repair},
    {"ARGMIN", make, kind_of_compared, repair},
    {"ARGMAX", make, kind_of_compared, repair},
    {"NONZERO_COORDINATES", make, kind_of_compared, repair},
    {"CUMULATIVE_SUMMATION", make, kind_of_numbers, repair},
    {"CUMULATIVE_PRODUCT", make, kind_of_numbers, repair},
    {"DYNAMIC_QUANTIZE_LINEAR", make, kind_of_numbers, repair},
    {"LP_NORMALIZATION", make, kind_of_numbers, repair},
}};

}  // namespace

std::span<const OperatorFuzz> reduction_fuzz() {
    return all;
}

}  // namespace dmlconform::fuzz
