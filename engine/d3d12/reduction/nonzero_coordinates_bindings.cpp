// NONZERO_COORDINATES: first counts the non-zero elements of chunks. Then each thread group knows the offset at which
// the coordinates of its chunk begin.
#include <algorithm>
#include <utility>

#include "engine/core/tensor.h"
#include "engine/d3d12/planning/binding.h"
#include "engine/d3d12/planning/element_format.h"
#include "engine/d3d12/planning/strided_dimensions.h"
#include "engine/d3d12/reduction/reduction.h"
#include "shaders/reduction/nonzero_coordinates_parameters.hlsli"

namespace dmlconform::d3d12::nonzero_coordinates_bindings {
namespace {

using operators::Descriptor;

using Parameters = NonzeroCoordinatesParameters;

/// Chunks are long enough that there are few counts, because each group sums the counts of all preceding chunks.
std::uint64_t elements_per_chunk(std::uint64_t elements) {
    constexpr std::uint64_t fewest_tiles = 16;
    constexpr std::uint64_t most_chunks = 4096;
    return std::max(fewest_tiles, groups_of(elements, group_size * most_chunks)) * group_size;
}

/// The stored coordinates, last dimension first, and their addresses.
void put_coordinates(Parameters& parameters, const core::TensorDesc& source, const core::TensorDesc& target) {
    const std::size_t rank = source.sizes.size();
    const core::Strides strides = core::signed_strides(target);
    const std::uint32_t count = target.sizes.back();
    parameters.coordinate_count = count;
    parameters.row_stride = static_cast<std::uint32_t>(strides[strides.size() - 2]);
    for (std::uint32_t c = 0; c < count; ++c) {
        const std::int64_t offset = strides.back() * (count - 1 - c);
        parameters.coordinates[c].words = {source.sizes[rank - 1 - c], static_cast<std::uint32_t>(offset), 0, 0};
    }
}

DispatchPlan plan(const Descriptor& descriptor) {
    const core::TensorDesc& source = *descriptor.tensor("InputTensor");
    const auto dimensions = merge_dimensions<1>(source.sizes, {core::signed_strides(source)});
    const std::uint64_t elements = count_of(dimensions);
    Parameters parameters{};
    parameters.element_count = static_cast<std::uint32_t>(elements);
    parameters.dimension_count = static_cast<std::uint32_t>(dimensions.size());
    parameters.input_kind = kind_of(source.data_type);
    parameters.input_packing = packing_of(source.data_type);
    parameters.elements_per_chunk = static_cast<std::uint32_t>(elements_per_chunk(elements));
    parameters.chunk_count = static_cast<std::uint32_t>(groups_of(elements, parameters.elements_per_chunk));
    put_rows(strided_rows(dimensions, 1), parameters.dimensions);
    put_coordinates(parameters, source, *descriptor.tensor("OutputCoordinatesTensor"));

    Reduction counting;
    counting.combine = COMBINE_SUM;
    counting.numbers = NUMBERS_WORD;
    counting.parameters.map = MAP_IS_NOT_ZERO;
    counting.tensors[reduction_input] = {&source, input(0)};
    counting.reduced.assign(source.sizes.size(), true);
    counting.in_order = true;
    DispatchPlan result;
    const BufferRef counts = ReductionPlanner(result, std::move(counting)).to_chunks(parameters.elements_per_chunk);
    result.dispatches.push_back({{"nonzero_coordinates", {}},
                                 {input(0), counts, output(0), output(1)},
                                 parameters_from(parameters),
                                 parameters.chunk_count});
    return result;
}

std::vector<ShaderVariant> variants() {
    return joined({variants_of({.combine = COMBINE_SUM, .numbers = NUMBERS_WORD, .results = false}),
                   all_variants("nonzero_coordinates", {})});
}

}  // namespace

Bindings bindings() {
    return {{.name = "NONZERO_COORDINATES", .plan = plan, .variants = variants}};
}

}  // namespace dmlconform::d3d12::nonzero_coordinates_bindings
