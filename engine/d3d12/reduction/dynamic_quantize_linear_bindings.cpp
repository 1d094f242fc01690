// DYNAMIC_QUANTIZE_LINEAR: finds the smallest and the largest element, then quantises all elements.
#include <utility>

#include "engine/core/tensor.h"
#include "engine/d3d12/planning/binding.h"
#include "engine/d3d12/planning/element_format.h"
#include "engine/d3d12/planning/strided_dimensions.h"
#include "engine/d3d12/reduction/reduction.h"
#include "shaders/reduction/dynamic_quantize_linear_parameters.hlsli"

namespace dmlconform::d3d12::dynamic_quantize_linear_bindings {
namespace {

using operators::Descriptor;

using Parameters = DynamicQuantizeLinearParameters;

DispatchPlan plan(const Descriptor& descriptor) {
    const core::TensorDesc& source = *descriptor.tensor("InputTensor");
    const core::TensorDesc& target = *descriptor.tensor("OutputTensor");
    Reduction range;
    range.combine = COMBINE_RANGE;
    range.tensors[reduction_input] = {&source, input(0)};
    range.reduced.assign(source.sizes.size(), true);
    DispatchPlan result;
    const BufferRef found = ReductionPlanner(result, std::move(range)).to_parts();

    const auto dimensions =
        merge_dimensions<2>(source.sizes, {core::signed_strides(source), core::signed_strides(target)});
    const std::uint64_t count = count_of(dimensions);
    Parameters parameters{};
    parameters.element_count = static_cast<std::uint32_t>(count);
    parameters.dimension_count = static_cast<std::uint32_t>(dimensions.size());
    parameters.input_kind = kind_of(source.data_type);
    parameters.input_packing = packing_of(source.data_type);
    parameters.output_is_signed = core::is_signed_integer(target.data_type) ? 1 : 0;
    parameters.output_is_packed = core::is_packed(target) ? 1 : 0;
    put_rows(strided_rows(dimensions, 2), parameters.dimensions);
    result.dispatches.push_back({{"dynamic_quantize_linear", {}},
                                 {input(0), found, output(0), output(1), output(2)},
                                 parameters_from(parameters),
                                 groups_of(count, DYNAMIC_QUANTIZE_PER_THREAD * group_size)});
    return result;
}

std::vector<ShaderVariant> variants() {
    return joined({variants_of({.combine = COMBINE_RANGE, .numbers = NUMBERS_REAL, .results = false}),
                   all_variants("dynamic_quantize_linear", {})});
}

}  // namespace

Bindings bindings() {
    return {{.name = "DYNAMIC_QUANTIZE_LINEAR", .plan = plan, .variants = variants}};
}

}  // namespace dmlconform::d3d12::dynamic_quantize_linear_bindings
