// FILL_VALUE_SEQUENCE: each thread writes four elements.
#include <bit>

#include "engine/core/float16.h"
#include "engine/core/tensor.h"
#include "engine/d3d12/planning/binding.h"
#include "engine/d3d12/planning/element_format.h"
#include "engine/d3d12/planning/strided_dimensions.h"
#include "shaders/movement/fill_value_sequence_parameters.hlsli"

namespace dmlconform::d3d12::fill_value_sequence_bindings {
namespace {

using core::DataType;

using Parameters = FillValueSequenceParameters;

/// An attribute in the form that the shader needs.
Parameters::uint4 scalar(const operators::Descriptor& descriptor, std::string_view name, DataType type) {
    const std::uint64_t bits = descriptor.get<operators::ScalarUnion>(name).bits;
    if (type == DataType::float16) {
        const auto value = static_cast<float>(core::Float16::from_bits(static_cast<std::uint16_t>(bits)));
        return {{std::bit_cast<std::uint32_t>(value), 0, 0, 0}};
    }
    return {{static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32), 0, 0}};
}

DispatchPlan plan(const operators::Descriptor& descriptor) {
    const core::TensorDesc& output_tensor = *descriptor.tensor("OutputTensor");
    const auto dimensions = merge_dimensions<1>(output_tensor.sizes, {core::signed_strides(output_tensor)});
    const std::uint64_t count = count_of(dimensions);
    Parameters parameters{};
    parameters.element_count = static_cast<std::uint32_t>(count);
    parameters.dimension_count = static_cast<std::uint32_t>(dimensions.size());
    parameters.kind = kind_of(output_tensor.data_type);
    parameters.packing = packing_of(output_tensor.data_type);
    parameters.packed = dimensions.size() == 1 && (count == 1 || dimensions.front().strides[0] == 1) ? 1 : 0;
    parameters.start = scalar(descriptor, "ValueStart", output_tensor.data_type);
    parameters.delta = scalar(descriptor, "ValueDelta", output_tensor.data_type);
    return {{},
            {{{"fill_value_sequence", {}},
              {output(0)},
              words_with(parameters, dimensions, 1),
              groups_of(count, FILL_VALUE_SEQUENCE_PER_THREAD * group_size)}}};
}

}  // namespace

Bindings bindings() {
    return {{.name = "FILL_VALUE_SEQUENCE", .plan = plan, .variants = [] {
                 return std::vector<ShaderVariant>{{"fill_value_sequence", {}}};
             }}};
}

}  // namespace dmlconform::d3d12::fill_value_sequence_bindings
