// Operators that read or write at indices from a tensor, implemented as gathers of units.
//
// Scatters take two passes: the first one finds the update for each element of the output, so that the second one can
// gather it.
#include <cstddef>
#include <utility>

#include "engine/core/tensor.h"
#include "engine/d3d12/movement/moved_units.h"
#include "engine/d3d12/movement/movement.h"
#include "engine/d3d12/planning/binding.h"
#include "engine/d3d12/planning/words.h"
#include "shaders/movement/indexed_movement_parameters.hlsli"
#include "shaders/movement/scatter_parameters.hlsli"

namespace dmlconform::d3d12::indexed_movement_bindings {
namespace {

using core::TensorDesc;
using operators::Descriptor;

/// Fills the parameters of indices.hlsli that depend on the index tensor.
template <class Parameters>
void describe_indices(Parameters& parameters, const TensorDesc& indices) {
    parameters.index_words = static_cast<std::uint32_t>(core::bytes_of(indices.data_type) / word_bytes);
    parameters.index_has_sign = core::is_signed_integer(indices.data_type) ? 1 : 0;
    parameters.tuple_size = 1;
}

/// One of the indices that form coordinates in the data.
struct IndexedDimension {
    std::uint32_t size = 0;
    std::int64_t stride = 0;
};

/// A dimension that data, index tensor and the third tensor (a gather's output, a scatter's updates) have in common.
struct AddressedDimension {
    std::uint32_t size = 0;
    std::int64_t data_stride = 0;
    std::int64_t index_stride = 0;
};

/// How indices address the data.
struct Addressing {
    /// The last dimensions of the third tensor. All preceding ones have size 1.
    std::vector<AddressedDimension> dimensions;
    std::vector<IndexedDimension> indexed;
    std::int64_t tuple_stride = 0;
};

/// Strides of the addressed data: the input of a gather, or the numbered output of a scatter.
using Strides = core::Strides;

Addressing along_axis(const Descriptor& descriptor, const TensorDesc& data, const Strides& data_strides) {
    const TensorDesc& indices = *descriptor.tensor("IndicesTensor");
    const Strides index_strides = core::signed_strides(indices);
    const std::uint32_t axis = descriptor.uint("Axis");
    Addressing result;
    for (std::size_t d = 0; d < indices.sizes.size(); ++d) {
        result.dimensions.push_back({indices.sizes[d], d == axis ? 0 : data_strides[d], index_strides[d]});
    }
    result.indexed = {{data.sizes[axis], data_strides[axis]}};
    return result;
}

Addressing by_tensor(const Descriptor& descriptor, const TensorDesc& data, const Strides& data_strides) {
    const TensorDesc& indices = *descriptor.tensor("IndicesTensor");
    const Strides index_strides = core::signed_strides(indices);
    const std::uint32_t axis = descriptor.uint("Axis");
    Addressing result;
    for (std::size_t d = 0; d < axis; ++d) {
        result.dimensions.push_back({data.sizes[d], data_strides[d], 0});
    }
    for (std::size_t d = indices.sizes.size() - descriptor.uint("IndexDimensions"); d < indices.sizes.size(); ++d) {
        result.dimensions.push_back({indices.sizes[d], 0, index_strides[d]});
    }
    for (std::size_t d = axis + 1; d < data.sizes.size(); ++d) {
        result.dimensions.push_back({data.sizes[d], data_strides[d], 0});
    }
    result.indexed = {{data.sizes[axis], data_strides[axis]}};
    return result;
}

Addressing by_tuples(const Descriptor& descriptor, const TensorDesc& data, const Strides& data_strides) {
    const std::size_t batches =
        descriptor.has_field("BatchDimensionCount") ? descriptor.uint("BatchDimensionCount") : 0;
    const TensorDesc& indices = *descriptor.tensor("IndicesTensor");
    const Strides index_strides = core::signed_strides(indices);
    std::size_t d = data.sizes.size() - descriptor.uint("InputDimensionCount");
    std::size_t i = indices.sizes.size() - descriptor.uint("IndicesDimensionCount");
    Addressing result;
    for (std::size_t b = 0; b < batches; ++b, ++d, ++i) {
        result.dimensions.push_back({data.sizes[d], data_strides[d], index_strides[i]});
    }
    for (; i + 1 < indices.sizes.size(); ++i) {
        result.dimensions.push_back({indices.sizes[i], 0, index_strides[i]});
    }
    for (std::size_t t = 0; t < indices.sizes.back(); ++t, ++d) {
        result.indexed.push_back({data.sizes[d], data_strides[d]});
    }
    for (; d < data.sizes.size(); ++d) {
        result.dimensions.push_back({data.sizes[d], data_strides[d], 0});
    }
    result.tuple_stride = index_strides.back();
    return result;
}

/// Strides that number an output's elements.
Strides numbering(const TensorDesc& output) {
    return core::signed_strides(TensorDesc::packed(output.data_type, output.sizes));
}

/// Plans a dispatch that gathers one unit for each element of the output.
class Gather {
public:
    Gather(std::uint32_t kind, const TensorDesc& output) : units_(output.data_type) {
        parameters_.kind = kind;
        parameters_.has_source = 1;
    }

    [[nodiscard]] IndexedMovementParameters& parameters() { return parameters_; }

    void along(std::uint64_t size, std::int64_t source, std::int64_t target, std::int64_t index,
               std::int64_t position = 0) {
        units_.add(size, {source, target, index, position});
    }
    void choose(const IndexedDimension& indexed) {
        parameters_.tuple[units_.source_steps.size()].words[0] = indexed.size;
        units_.source_steps.push_back(indexed.stride);
    }

    [[nodiscard]] Dispatch dispatch(BufferRef source, BufferRef updates, BufferRef indices) && {
        units_.arrange();
        if (parameters_.kind != KIND_RESOLVE) {
            units_.widen();
        }
        for (std::size_t t = 0; t < units_.source_steps.size(); ++t) {
            parameters_.tuple[t].words[1] = static_cast<std::uint32_t>(units_.source_steps[t]);
        }
        const bool packed = units_.bytes < word_bytes && units_.packed();
        const std::uint64_t count = count_of(units_.dimensions);
        parameters_.unit_count = static_cast<std::uint32_t>(count);
        parameters_.dimension_count = static_cast<std::uint32_t>(units_.dimensions.size());
        return {{"indexed_movement",
                 {{"WIDTH", static_cast<std::uint32_t>(units_.bytes * bits_per_byte)}, {"PACKED", packed ? 1u : 0u}}},
                {source, updates, indices, output(0)},
                words_with(parameters_, units_.dimensions, arrays),
                groups_of(count, group_size * (packed ? word_bytes / units_.bytes : 1))};
    }

private:
    /// Source, target, indices, and the position along the axis.
    static constexpr std::size_t arrays = 4;

    MovedUnits units_;
    IndexedMovementParameters parameters_{};
};

DispatchPlan plan_gather(const Descriptor& descriptor, const Addressing& addressing) {
    const TensorDesc& target = *descriptor.tensor("OutputTensor");
    const Strides target_strides = core::signed_strides(target);
    Gather gather(KIND_GATHER, target);
    describe_indices(gather.parameters(), *descriptor.tensor("IndicesTensor"));
    gather.parameters().tuple_size = static_cast<std::uint32_t>(addressing.indexed.size());
    gather.parameters().tuple_stride = static_cast<std::uint32_t>(addressing.tuple_stride);
    const auto& dimensions = addressing.dimensions;
    // Dimensions that exceed those of the output have size 1.
    for (std::size_t k = 1; k <= dimensions.size() && k <= target_strides.size(); ++k) {
        const AddressedDimension& dimension = dimensions[dimensions.size() - k];
        gather.along(dimension.size, dimension.data_stride, target_strides[target_strides.size() - k],
                     dimension.index_stride);
    }
    for (const IndexedDimension& indexed : addressing.indexed) {
        gather.choose(indexed);
    }
    return {{}, {std::move(gather).dispatch(input(0), input(0), input(1))}};
}

/// `address` is a function above.
template <Addressing (*address)(const Descriptor&, const TensorDesc&, const Strides&)>
DispatchPlan gathered(const Descriptor& descriptor) {
    const TensorDesc& data = *descriptor.tensor("InputTensor");
    return plan_gather(descriptor, address(descriptor, data, core::signed_strides(data)));
}

DispatchPlan plan_one_hot(const Descriptor& descriptor) {
    const TensorDesc& values = *descriptor.tensor("ValuesTensor");
    const TensorDesc& target = *descriptor.tensor("OutputTensor");
    const Strides target_strides = core::signed_strides(target);
    const Strides index_strides = core::signed_strides(*descriptor.tensor("IndicesTensor"));
    const std::uint32_t axis = descriptor.uint("Axis");
    Gather gather(KIND_ONE_HOT, target);
    describe_indices(gather.parameters(), *descriptor.tensor("IndicesTensor"));
    for (std::size_t d = 0; d < target.sizes.size(); ++d) {
        gather.along(target.sizes[d], 0, target_strides[d], d == axis ? 0 : index_strides[d], d == axis ? 1 : 0);
    }
    // The second element is the next one along the last dimension of size greater than 1.
    const Strides value_strides = core::signed_strides(values);
    std::size_t last = values.sizes.size() - 1;
    while (last > 0 && values.sizes[last] == 1) {
        --last;
    }
    gather.choose({target.sizes[axis], value_strides[last]});
    return {{}, {std::move(gather).dispatch(input(1), input(1), input(0))}};
}

DispatchPlan plan_reverse_subsequences(const Descriptor& descriptor) {
    const TensorDesc& source = *descriptor.tensor("InputTensor");
    const TensorDesc& target = *descriptor.tensor("OutputTensor");
    const TensorDesc& lengths = *descriptor.tensor("SequenceLengthsTensor");
    const Strides source_strides = core::signed_strides(source);
    const Strides target_strides = core::signed_strides(target);
    const Strides length_strides = core::signed_strides(lengths);
    const std::uint32_t axis = descriptor.uint("Axis");
    Gather gather(KIND_REVERSE, target);
    describe_indices(gather.parameters(), lengths);
    for (std::size_t d = 0; d < target.sizes.size(); ++d) {
        const bool on_axis = d == axis;
        gather.along(target.sizes[d], on_axis ? 0 : source_strides[d], target_strides[d],
                     on_axis ? 0 : length_strides[d], on_axis ? 1 : 0);
    }
    gather.choose({target.sizes[axis], source_strides[axis]});
    return {{}, {std::move(gather).dispatch(input(0), input(0), input(1))}};
}

/// Finds the last update for each element of a numbered output.
Dispatch find_updates(const TensorDesc& indices, const TensorDesc& updates, const Addressing& addressing) {
    ScatterParameters parameters{};
    describe_indices(parameters, indices);
    parameters.tuple_size = static_cast<std::uint32_t>(addressing.indexed.size());
    parameters.tuple_stride = static_cast<std::uint32_t>(addressing.tuple_stride);
    for (std::size_t t = 0; t < addressing.indexed.size(); ++t) {
        parameters.tuple[t].words = {addressing.indexed[t].size,
                                     static_cast<std::uint32_t>(addressing.indexed[t].stride), 0, 0};
    }
    const Strides update_strides = core::signed_strides(updates);
    StridedDimensions<3> dimensions;
    for (std::size_t k = 1; k <= addressing.dimensions.size() && k <= update_strides.size(); ++k) {
        const AddressedDimension& dimension = addressing.dimensions[addressing.dimensions.size() - k];
        dimensions.push_back(
            {dimension.size,
             {update_strides[update_strides.size() - k], dimension.data_stride, dimension.index_stride}});
    }
    dimensions = merged(dimensions);
    const std::uint64_t count = count_of(dimensions);
    parameters.update_count = static_cast<std::uint32_t>(count);
    parameters.dimension_count = static_cast<std::uint32_t>(dimensions.size());
    return {
        {"scatter", {}}, {input(1), temporary(0)}, words_with(parameters, dimensions, 3), groups_of(count, group_size)};
}

/// Writes to each element of the output its update, otherwise the source's element, or zero without a source.
Dispatch resolve_updates(const TensorDesc* source, const TensorDesc& target, BufferRef source_buffer,
                         BufferRef updates_buffer) {
    const Strides target_strides = core::signed_strides(target);
    const Strides numbers = numbering(target);
    const Strides source_strides = source == nullptr ? target_strides : core::signed_strides(*source);
    Gather gather(KIND_RESOLVE, target);
    gather.parameters().has_source = source == nullptr ? 0 : 1;
    for (std::size_t d = 0; d < target.sizes.size(); ++d) {
        gather.along(target.sizes[d], source_strides[d], target_strides[d], numbers[d]);
    }
    return std::move(gather).dispatch(source_buffer, updates_buffer, temporary(0));
}

DispatchPlan plan_scatter(const Descriptor& descriptor, const TensorDesc* source, const TensorDesc& updates,
                          const Addressing& addressing) {
    const TensorDesc& target = *descriptor.tensor("OutputTensor");
    const std::size_t updates_input = source == nullptr ? 0 : 2;
    const std::uint64_t count = *core::element_count(target.sizes);
    Movement clear(count);
    clear.set_band(0, 0, true);
    DispatchPlan plan;
    plan.temporaries = {count * word_bytes};
    plan.dispatches = {
        std::move(clear).dispatch(temporary(0), temporary(0)),
        find_updates(*descriptor.tensor("IndicesTensor"), updates, addressing),
        resolve_updates(source, target, input(0), input(updates_input)),
    };
    return plan;
}

template <Addressing (*address)(const Descriptor&, const TensorDesc&, const Strides&)>
DispatchPlan scattered(const Descriptor& descriptor) {
    const TensorDesc& target = *descriptor.tensor("OutputTensor");
    return plan_scatter(descriptor, descriptor.tensor("InputTensor"), *descriptor.tensor("UpdatesTensor"),
                        address(descriptor, target, numbering(target)));
}

/// Indices are row-major indices of the output's elements.
DispatchPlan plan_max_unpooling(const Descriptor& descriptor) {
    const TensorDesc& indices = *descriptor.tensor("IndicesTensor");
    const Strides index_strides = core::signed_strides(indices);
    Addressing addressing;
    for (std::size_t d = 0; d < indices.sizes.size(); ++d) {
        addressing.dimensions.push_back({indices.sizes[d], 0, index_strides[d]});
    }
    const std::uint64_t count = *core::element_count(descriptor.sizes("OutputTensor"));
    addressing.indexed = {{static_cast<std::uint32_t>(count), 1}};
    return plan_scatter(descriptor, nullptr, *descriptor.tensor("InputTensor"), addressing);
}

std::vector<ShaderVariant> gather_variants() {
    return joined({all_variants("indexed_movement", {{"WIDTH", {8, 16}}, {"PACKED", {0, 1}}}),
                   all_variants("indexed_movement", {{"WIDTH", {32, 64, 128}}, {"PACKED", {0}}})});
}

std::vector<ShaderVariant> scatter_variants() {
    return joined({gather_variants(), all_variants("scatter", {}), movement_variants()});
}

}  // namespace

Bindings bindings() {
    return {
        {.name = "GATHER", .plan = gathered<by_tensor>, .variants = gather_variants},
        {.name = "GATHER_ELEMENTS", .plan = gathered<along_axis>, .variants = gather_variants},
        {.name = "GATHER_ND", .plan = gathered<by_tuples>, .variants = gather_variants},
        {.name = "GATHER_ND1", .plan = gathered<by_tuples>, .variants = gather_variants},
        {.name = "ONE_HOT", .plan = plan_one_hot, .variants = gather_variants},
        {.name = "REVERSE_SUBSEQUENCES", .plan = plan_reverse_subsequences, .variants = gather_variants},
        {.name = "SCATTER", .plan = scattered<along_axis>, .variants = scatter_variants},
        {.name = "SCATTER_ND", .plan = scattered<by_tuples>, .variants = scatter_variants},
        {.name = "MAX_UNPOOLING", .plan = plan_max_unpooling, .variants = scatter_variants},
    };
}

}  // namespace dmlconform::d3d12::indexed_movement_bindings
