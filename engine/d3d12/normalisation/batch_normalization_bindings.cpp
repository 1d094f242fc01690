// Batch normalisations: reductions over the dimensions in which the parameters have size 1, followed by an element-wise
// computation.
#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "engine/core/tensor.h"
#include "engine/d3d12/planning/binding.h"
#include "engine/d3d12/planning/element_format.h"
#include "engine/d3d12/planning/fused_activation.h"
#include "engine/d3d12/planning/strided_dimensions.h"
#include "engine/d3d12/reduction/reduction.h"
#include "shaders/normalisation/batch_normalization_parameters.hlsli"

namespace dmlconform::d3d12::batch_normalization_bindings {
namespace {

using operators::Descriptor;

using Parameters = BatchNormalizationParameters;

constexpr std::uint64_t vector_size = 4;

/// In the order of the shader's rows.
enum Array : std::size_t { x, second, mean, variance, scale, bias, line, y, second_y, array_count };

using Dimensions = StridedDimensions<array_count>;

constexpr const char* tensor_names[] = {"InputTensor",    "InputGradientTensor", "MeanTensor",
                                        "VarianceTensor", "ScaleTensor",         "BiasTensor"};

/// What the dispatches of an operator have in common.
class Planner {
public:
    explicit Planner(const Descriptor& descriptor) : descriptor_(descriptor) {
        const auto slots = descriptor.inputs();
        for (std::size_t i = 0; i < slots.size(); ++i) {
            const auto* name = std::find(std::begin(tensor_names), std::end(tensor_names), slots[i].name);
            const auto array = name != std::end(tensor_names) ? static_cast<Array>(name - std::begin(tensor_names))
                                                              : second;  // FusedAddTensor
            tensors_[array] = slots[i].desc;
            buffers_[array] = slots[i].desc != nullptr ? input(i) : BufferRef{};
        }
        parameters_.kind = kind_of(tensors_[x]->data_type);
        parameters_.packing = packing_of(tensors_[x]->data_type);
        parameters_.epsilon = descriptor.number("Epsilon");
    }

    [[nodiscard]] DispatchPlan normalize() && {
        put_activation(parameters_, descriptor_.activation("FusedActivation"));
        step(STEP_NORMALIZE, *tensors_[x], 0);
        return std::move(plan_);
    }

    [[nodiscard]] DispatchPlan train() && {
        Reduction sums = reduction(COMBINE_SUM);
        sums_ = ReductionPlanner(plan_, sums).to_parts();
        sums.combine = COMBINE_DEVIATIONS;
        put_lines(sums);
        line_parts_ = ReductionPlanner(plan_, sums).to_parts(sums_);
        step(STEP_STATISTICS, *tensors_[scale], 1, 2);
        put_activation(parameters_, descriptor_.activation("FusedActivation"));
        parameters_.has_second = tensors_[second] != nullptr ? 1 : 0;
        step(STEP_NORMALIZE_FOUND, *tensors_[x], 0);
        return std::move(plan_);
    }

    [[nodiscard]] DispatchPlan gradients(std::uint32_t gradient_step) && {
        const Reduction sums = reduction(COMBINE_GRADIENTS);
        put_lines(sums);
        line_parts_ = ReductionPlanner(plan_, sums).to_parts();
        step(STEP_SUMS, *tensors_[scale], 1, 2);
        step(gradient_step, *tensors_[x], 0);
        return std::move(plan_);
    }

private:
    /// A reduction over the dimensions in which the scale has size 1.
    [[nodiscard]] Reduction reduction(std::uint32_t combine) const {
        Reduction result;
        result.combine = combine;
        result.tensors[reduction_input] = {tensors_[x], buffers_[x]};
        if (combine == COMBINE_GRADIENTS) {
            result.tensors[reduction_second] = {tensors_[second], buffers_[second]};
            result.tensors[reduction_mean] = {tensors_[mean], buffers_[mean]};
        }
        for (const std::uint32_t size : tensors_[scale]->sizes) {
            result.reduced.push_back(size == 1);
        }
        return result;
    }

    void put_lines(const Reduction& sums) {
        line_strides_ = line_strides(sums);
        std::uint64_t line_size = 1;
        std::uint64_t lines = 1;
        for (std::size_t d = 0; d < sums.reduced.size(); ++d) {
            (sums.reduced[d] ? line_size : lines) *= tensors_[x]->sizes[d];
        }
        parameters_.line_size = static_cast<float>(line_size);
        parameters_.part_count = static_cast<std::uint32_t>(lines);
    }

    /// The elements of the output, in memory order.
    [[nodiscard]] Dimensions dimensions_of(const core::TensorDesc& shape, std::size_t target,
                                           std::size_t second_target) const {
        auto tensors = tensors_;
        tensors[y] = descriptor_.outputs()[target].desc;
        tensors[second_y] = second_target != 0 ? descriptor_.outputs()[second_target].desc : nullptr;
        Dimensions dimensions;
        for (std::size_t d = shape.sizes.size(); d-- > 0;) {
            SharedDimension<array_count> dimension;
            dimension.size = shape.sizes[d];
            for (std::size_t a = 0; a < array_count; ++a) {
                if (tensors[a] != nullptr && tensors[a]->sizes[d] != 1) {
                    dimension.strides[a] = core::signed_strides(*tensors[a])[d];
                }
            }
            dimension.strides[line] = line_strides_.empty() ? 0 : line_strides_[d];
            dimensions.push_back(dimension);
        }
        std::stable_sort(dimensions.begin(), dimensions.end(),
                         [](const auto& a, const auto& b) { return a.strides[y] < b.strides[y]; });
        return merged(dimensions);
    }

    /// True if four adjacent elements always share their parameters.
    [[nodiscard]] bool is_vector(const Dimensions& dimensions, std::uint32_t step) const {
        if (step == STEP_STATISTICS || step == STEP_SUMS || dimensions.front().size % vector_size != 0) {
            return false;
        }
        for (const Array array : {x, second, y}) {
            const bool is_used = array == y || tensors_[array] != nullptr;
            const auto is_whole = [&](const auto& dimension) {
                return dimension.strides[array] % static_cast<std::int64_t>(vector_size) == 0;
            };
            if (is_used && (dimensions.front().strides[array] != 1 ||
                            !std::all_of(dimensions.begin() + 1, dimensions.end(), is_whole))) {
                return false;
            }
        }
        return std::all_of(&dimensions.front().strides[mean], &dimensions.front().strides[line] + 1,
                           [](std::int64_t stride) { return stride == 0; });
    }

    void step(std::uint32_t step, const core::TensorDesc& shape, std::size_t target, std::size_t second_target = 0) {
        Dimensions dimensions = dimensions_of(shape, target, second_target);
        const bool vector = is_vector(dimensions, step);
        if (vector) {
            dimensions.front().size /= vector_size;
            for (std::int64_t& stride : dimensions.front().strides) {
                stride *= static_cast<std::int64_t>(vector_size);
            }
        }
        Parameters parameters = parameters_;
        parameters.element_count = static_cast<std::uint32_t>(count_of(dimensions));
        parameters.dimension_count = static_cast<std::uint32_t>(dimensions.size());
        put_rows(strided_rows(dimensions, array_count), parameters.dimensions);
        Dispatch dispatch;
        dispatch.shader = {"batch_normalization", {{"STEP", step}, {"VECTOR", vector ? 1u : 0u}}};
        dispatch.buffers.assign(buffers_.begin(), buffers_.begin() + line);
        dispatch.buffers.insert(dispatch.buffers.end(), {sums_, line_parts_, output(target), output(target),
                                                         second_target != 0 ? output(second_target) : BufferRef{}});
        dispatch.parameters = parameters_from(parameters);
        dispatch.groups = groups_of(count_of(dimensions), group_size);
        plan_.dispatches.push_back(std::move(dispatch));
    }

    const Descriptor& descriptor_;
    std::array<const core::TensorDesc*, array_count> tensors_{};
    std::array<BufferRef, array_count> buffers_{};
    BufferRef sums_;
    BufferRef line_parts_;
    core::Strides line_strides_;
    Parameters parameters_{};
    DispatchPlan plan_;
};

std::vector<ShaderVariant> steps(const std::vector<std::uint32_t>& element_steps,
                                 const std::vector<std::uint32_t>& line_steps) {
    return joined({all_variants("batch_normalization", {{"STEP", element_steps}, {"VECTOR", {0, 1}}}),
                   all_variants("batch_normalization", {{"STEP", line_steps}, {"VECTOR", {0}}})});
}

std::vector<ShaderVariant> training_variants() {
    auto result = steps({STEP_NORMALIZE_FOUND}, {STEP_STATISTICS});
    for (const std::uint32_t combine : std::initializer_list<std::uint32_t>{COMBINE_SUM, COMBINE_DEVIATIONS}) {
        append(result, variants_of({.combine = combine, .numbers = NUMBERS_REAL, .results = false}));
    }
    return result;
}

Binding gradient_binding(std::string_view name, std::uint32_t step) {
    return {
        .name = name,
        .plan = [step](const Descriptor& descriptor) { return Planner(descriptor).gradients(step); },
        .variants =
            [step] {
                return joined({steps({step}, {STEP_SUMS}),
                               variants_of({.combine = COMBINE_GRADIENTS, .numbers = NUMBERS_REAL, .results = false})});
            }};
}

}  // namespace

Bindings bindings() {
    return {{.name = "BATCH_NORMALIZATION",
             .plan = [](const Descriptor& descriptor) { return Planner(descriptor).normalize(); },
             .variants = [] { return steps({STEP_NORMALIZE}, {}); }},
            {.name = "BATCH_NORMALIZATION_TRAINING",
             .plan = [](const Descriptor& descriptor) { return Planner(descriptor).train(); },
             .variants = training_variants},
            gradient_binding("BATCH_NORMALIZATION_GRAD", STEP_GRADIENT),
            gradient_binding("BATCH_NORMALIZATION_TRAINING_GRAD", STEP_TRAINING_GRADIENT)};
}

}  // namespace dmlconform::d3d12::batch_normalization_bindings
