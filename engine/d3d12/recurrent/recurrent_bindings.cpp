// RNN, LSTM and GRU: one or two dispatches for each step, preceded by one that prepares the initial states, and
// followed by one that stores the last states.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string>
#include <utility>

#include "engine/d3d12/planning/binding.h"
#include "engine/d3d12/planning/element_format.h"
#include "engine/d3d12/planning/fused_activation.h"
#include "engine/d3d12/product/product.h"
#include "engine/operators/enumerators.h"
#include "shaders/recurrent/recurrent_parameters.hlsli"

namespace dmlconform::d3d12::recurrent_bindings {
namespace {

using operators::Descriptor;

using Parameters = RecurrentParameters;

/// Limit for the number of steps, each of which takes one or two dispatches.
constexpr std::uint32_t most_steps = 1 << 16;
/// Mesa's llvmpipe silently ends a thread's loops after 65,535 iterations in total, and LSTM has four sums.
constexpr std::uint64_t most_terms = std::uint64_t{1} << 18;
static_assert(4 * (most_terms / RECURRENT_LANES + 2) < 65535);

/// In the order of the shaders' buffers.
constexpr std::array<std::string_view, RECURRENT_TENSORS> tensor_names{
    "InputTensor",          "WeightTensor",       "RecurrenceTensor",      "BiasTensor",
    "HiddenInitTensor",     "CellMemInitTensor",  "SequenceLengthsTensor", "PeepholeTensor",
    "OutputSequenceTensor", "OutputSingleTensor", "OutputCellSingleTensor"};

/// The cells that an operator's dispatches compute in a step, in order.
std::vector<std::uint32_t> cells_of(const Descriptor& descriptor) {
    const std::string_view name = descriptor.schema->short_name();
    if (name == "GRU") {
        return descriptor.uint("LinearBeforeReset") != 0 ? std::vector<std::uint32_t>{CELL_GRU_LINEAR}
                                                         : std::vector<std::uint32_t>{CELL_GRU_GATES, CELL_GRU};
    }
    return name == "LSTM" ? std::vector<std::uint32_t>{CELL_LSTM} : std::vector<std::uint32_t>{CELL_RNN};
}

class Planner {
public:
    explicit Planner(const Descriptor& descriptor)
        : descriptor_(descriptor), has_cells_(descriptor.has_field("CellMemInitTensor")) {
        const auto inputs = descriptor.inputs();
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            put_tensor(inputs[i], input(i));
        }
        const auto outputs = descriptor.outputs();
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            put_tensor(outputs[i], output(i));
        }
        put_shape();
        put_activations();
        if (has_cells_) {
            parameters_.is_coupled = descriptor.uint("CoupleInputForget") != 0 ? 1 : 0;
            parameters_.clip_threshold = descriptor.uint("UseClipThreshold") != 0
                                             ? descriptor.number("ClipThreshold")
                                             : std::numeric_limits<float>::quiet_NaN();
        }
    }

    [[nodiscard]] DispatchPlan plan() && {
        const std::vector<std::uint32_t> cells = cells_of(descriptor_);
        // Temporaries for the states before and after a step, for cells or update gates, and for the results of reset
        // gates.
        const std::size_t temporaries = has_cells_ ? 3 : cells.front() == CELL_GRU_GATES ? 4 : 2;
        plan_.temporaries.assign(temporaries, state_count() * sizeof(float));
        const std::uint64_t end_groups = groups_of(state_count(), group_size);
        const std::uint32_t has_cells = has_cells_ ? 1 : 0;
        // The initial states are written where a preceding step would have put them.
        add({"recurrent_begin", {{"CELLS", has_cells}}}, 1, end_groups);
        for (std::uint32_t turn = 0; turn < parameters_.step_count; ++turn) {
            parameters_.turn = turn;
            for (const std::uint32_t cell : cells) {
                add({"recurrent_step", {{"CELL", cell}}}, turn % 2, step_groups());
            }
        }
        add({"recurrent_end", {{"CELLS", has_cells}}}, parameters_.step_count % 2, end_groups);
        return std::move(plan_);
    }

private:
    void put_tensor(const operators::TensorSlot& slot, BufferRef buffer) {
        if (slot.desc == nullptr) {
            return;
        }
        const auto tensor = static_cast<std::size_t>(std::find(tensor_names.begin(), tensor_names.end(), slot.name) -
                                                     tensor_names.begin());
        buffers_.at(tensor) = buffer;
        parameters_.present |= 1U << tensor;
        const std::vector<std::uint32_t> strides = strides_in_words(*slot.desc);
        std::copy(strides.begin(), strides.end(), parameters_.strides[tensor].words.begin());
    }

    void put_shape() {
        const core::TensorDesc& source = *descriptor_.tensor("InputTensor");
        using Direction = operators::RecurrentNetworkDirection;
        const auto direction = enumerator<Direction>(descriptor_, "Direction");
        parameters_.step_count = source.sizes[1];
        parameters_.batch_count = source.sizes[2];
        parameters_.input_count = source.sizes[3];
        parameters_.hidden_count = descriptor_.sizes("RecurrenceTensor")[3];
        parameters_.direction_count = direction == Direction::bidirectional ? 2 : 1;
        parameters_.first_backward = direction == Direction::backward ? 0 : 1;
        parameters_.packing = packing_of(source.data_type);
    }

    void put_activations() {
        const auto& items = descriptor_.get<operators::OperatorDescArray>("ActivationDescs").items;
        const std::size_t count = items.size() / parameters_.direction_count;
        for (std::size_t i = 0; i < items.size(); ++i) {
            const FusedActivation activation = fused_activation(items[i].get());
            parameters_.activations[i / count * RECURRENT_ACTIVATIONS + i % count].words = {
                activation.number, std::bit_cast<std::uint32_t>(activation.first),
                std::bit_cast<std::uint32_t>(activation.second), 0};
        }
    }

    /// The number of states: directions times batches times hidden units.
    [[nodiscard]] std::uint64_t state_count() const {
        return std::uint64_t{parameters_.direction_count} * parameters_.batch_count * parameters_.hidden_count;
    }

    [[nodiscard]] std::uint64_t step_groups() const {
        const std::uint64_t units = parameters_.direction_count *
                                    groups_of(parameters_.batch_count, RECURRENT_BATCHES_PER_UNIT) *
                                    parameters_.hidden_count;
        return groups_of(units, RECURRENT_UNITS_PER_GROUP);
    }

    /// `states`: the index (0 or 1) of the temporary with the states before the step. The other one receives those
    /// after it.
    void add(ShaderVariant shader, std::size_t states, std::uint64_t groups) {
        Dispatch dispatch;
        dispatch.shader = std::move(shader);
        dispatch.buffers.assign(buffers_.begin(), buffers_.end());
        dispatch.buffers.push_back(temporary(states));
        dispatch.buffers.push_back(temporary(1 - states));
        for (const std::size_t more : {std::size_t{2}, std::size_t{3}}) {
            dispatch.buffers.push_back(more < plan_.temporaries.size() ? temporary(more) : BufferRef{});
        }
        dispatch.parameters = parameters_from(parameters_);
        dispatch.groups = groups;
        plan_.dispatches.push_back(std::move(dispatch));
    }

    const Descriptor& descriptor_;
    bool has_cells_;
    std::array<BufferRef, RECURRENT_TENSORS> buffers_{};
    Parameters parameters_{};
    DispatchPlan plan_;
};

std::optional<std::string> unsupported(const Descriptor& descriptor) {
    const core::Dimensions& sizes = descriptor.sizes("InputTensor");
    const std::uint64_t terms = std::uint64_t{sizes[3]} + descriptor.sizes("RecurrenceTensor")[3];
    if (sizes[1] > most_steps) {
        return fmt::format("there are {} steps; the shaders can take {}", sizes[1], most_steps);
    }
    if (terms > most_terms) {
        return fmt::format("each gate sums {} products; the shaders can do {}", terms, most_terms);
    }
    return std::nullopt;
}

Binding binding(std::string_view name, std::uint32_t has_cells, std::vector<std::uint32_t> cells) {
    return {.name = name,
            .plan = [](const Descriptor& descriptor) { return Planner(descriptor).plan(); },
            .variants =
                [has_cells, cells = std::move(cells)] {
                    auto result = all_variants("recurrent_step", {{"CELL", cells}});
                    result.push_back({"recurrent_begin", {{"CELLS", has_cells}}});
                    result.push_back({"recurrent_end", {{"CELLS", has_cells}}});
                    return result;
                },
            .unsupported = unsupported};
}

}  // namespace

Bindings bindings() {
    return {binding("RNN", 0, {CELL_RNN}), binding("LSTM", 1, {CELL_LSTM}),
            binding("GRU", 0, {CELL_GRU_GATES, CELL_GRU, CELL_GRU_LINEAR})};
}

}  // namespace dmlconform::d3d12::recurrent_bindings
