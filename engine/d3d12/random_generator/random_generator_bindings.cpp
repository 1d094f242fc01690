// RANDOM_GENERATOR: one dispatch computes the elements; its first thread writes the new state.

#include "engine/core/tensor.h"
#include "engine/d3d12/planning/binding.h"
#include "engine/d3d12/planning/strided_dimensions.h"
#include "shaders/random_generator/random_generator_parameters.hlsli"

namespace dmlconform::d3d12::random_generator_bindings {
namespace {

using Parameters = RandomGeneratorParameters;

constexpr std::uint64_t elements_per_thread = 4 * RANDOM_GENERATOR_BLOCKS;

/// The stride between words of a state.
std::uint32_t word_stride(const core::TensorDesc& state) {
    return static_cast<std::uint32_t>(core::signed_strides(state).back());
}

DispatchPlan plan(const operators::Descriptor& descriptor) {
    const core::TensorDesc& output_tensor = *descriptor.tensor("OutputTensor");
    const core::TensorDesc* const new_state = descriptor.tensor("OutputStateTensor");
    const auto dimensions = merge_dimensions<1>(output_tensor.sizes, {core::signed_strides(output_tensor)});
    const std::uint64_t count = count_of(dimensions);
    Parameters parameters{};
    parameters.element_count = static_cast<std::uint32_t>(count);
    parameters.dimension_count = static_cast<std::uint32_t>(dimensions.size());
    parameters.packed = dimensions.size() == 1 && (count == 1 || dimensions.front().strides[0] == 1) ? 1 : 0;
    parameters.state_stride = word_stride(*descriptor.tensor("InputStateTensor"));
    parameters.has_new_state = new_state == nullptr ? 0 : 1;
    parameters.new_state_stride = new_state == nullptr ? 0 : word_stride(*new_state);
    put_rows(strided_rows(dimensions, 1), parameters.dimensions);
    return {{},
            {{{"random_generator", {}},
              {input(0), output(0), new_state == nullptr ? BufferRef{} : output(1)},
              parameters_from(parameters),
              groups_of(count, elements_per_thread * group_size)}}};
}

}  // namespace

Bindings bindings() {
    return {{.name = "RANDOM_GENERATOR", .plan = plan, .variants = [] {
                 return std::vector<ShaderVariant>{{"random_generator", {}}};
             }}};
}

}  // namespace dmlconform::d3d12::random_generator_bindings
