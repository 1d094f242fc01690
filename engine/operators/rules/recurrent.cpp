// Rules of RNN, LSTM and GRU, from their documentation, and their cost. What comments say about DirectML 1.15.4 was
// measured on it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "engine/core/counted.h"
#include "engine/operators/enumerators.h"
#include "engine/operators/rules.h"
#include "engine/operators/size_formula.h"

namespace dmlconform::operators::recurrent_rules {
namespace {

using WideSizes = std::vector<std::uint64_t>;

/// The numbers that determine the sizes of all tensors. With formulas as numbers, the sizes are formulas, too.
template <class Number>
struct Numbers {
    using Sizes = std::vector<Number>;

    Number gates;
    Number steps;
    Number batch;
    Number inputs;
    Number hidden;
    Number directions;

    /// The required sizes of each tensor that an operator may have.
    [[nodiscard]] std::vector<SizesOfTensor<Number>> sizes() const {
        const Sizes states{1, directions, batch, hidden};
        return {{"InputTensor", {1, steps, batch, inputs}},
                {"WeightTensor", {1, directions, gates * hidden, inputs}},
                {"RecurrenceTensor", {1, directions, gates * hidden, hidden}},
                {"BiasTensor", {1, 1, directions, 2 * gates * hidden}},
                {"HiddenInitTensor", states},
                {"CellMemInitTensor", states},
                {"SequenceLengthsTensor", {1, 1, 1, batch}},
                {"PeepholeTensor", {1, 1, directions, 3 * hidden}},
                {"OutputSequenceTensor", {steps, directions, batch, hidden}},
                {"OutputSingleTensor", states},
                {"OutputCellSingleTensor", states}};
    }
};

struct Shape : Numbers<std::uint64_t> {
    std::uint64_t activations = 1;

    explicit Shape(const Descriptor& descriptor) {
        gates = descriptor.schema->network.gates;
        activations = descriptor.schema->network.activations;
        const core::Dimensions& input = descriptor.sizes("InputTensor");
        steps = input[1];
        batch = input[2];
        inputs = input[3];
        hidden = descriptor.sizes("RecurrenceTensor")[3];
        using Direction = RecurrentNetworkDirection;
        directions = enumerator<Direction>(descriptor, "Direction") == Direction::bidirectional ? 2 : 1;
    }
};

/// What `describe` says: the sizes of all tensors, for each operator.
ExplainedRules explained(std::string_view name) {
    const OperatorSchema& schema = *find_operator(name);
    const Numbers<SizeFormula> symbols{.gates = schema.network.gates,
                                       .steps = SizeFormula("steps"),
                                       .batch = SizeFormula("batch"),
                                       .inputs = SizeFormula("inputs"),
                                       .hidden = SizeFormula("hidden"),
                                       .directions = SizeFormula("directions")};
    std::vector<std::string> formulas;
    for (const auto& [field, sizes, may_have_more] : symbols.sizes()) {
        if (schema.find_field(field) != nullptr) {
            formulas.push_back(sizes_line(field, sizes));
        }
    }
    formulas.emplace_back("directions = 2 if Direction is BIDIRECTIONAL, otherwise 1");
    const std::uint32_t activations = schema.network.activations;
    return {{"sizes",
             "All sizes follow from five numbers: steps, batch and inputs, which are sizes of InputTensor, hidden, the "
             "last size of RecurrenceTensor, and directions.",
             std::move(formulas)},
            {"activationCount",
             fmt::format("ActivationDescs has {} for each direction.", core::counted(activations, "activation"))},
            {"outputs", "At least one of OutputSequenceTensor and OutputSingleTensor is present."},
            {"ownedByDml", "No input has the flag OWNED_BY_DML."}};
}

/// Null if the tensor is absent, or if the operator has no such field.
const core::TensorDesc* tensor_of(const Descriptor& descriptor, std::string_view field) {
    return descriptor.schema->find_field(field) == nullptr ? nullptr : descriptor.tensor(field);
}

Verdict check_sizes(const Descriptor& descriptor, const Shape& shape) {
    for (const auto& [field, sizes, may_have_more] : shape.sizes()) {
        const core::TensorDesc* const desc = tensor_of(descriptor, field);
        if (desc != nullptr && !std::equal(sizes.begin(), sizes.end(), desc->sizes.begin(), desc->sizes.end())) {
            return broken_rule(
                descriptor, "sizes",
                fmt::format("{} has sizes {}; they must be [{}] (steps {}, batch size {}, input size {}, "
                            "hidden size {}, directions {})",
                            field, core::to_string(desc->sizes), fmt::join(sizes, ","), shape.steps, shape.batch,
                            shape.inputs, shape.hidden, shape.directions));
        }
    }
    return {};
}

std::vector<TensorSizes> sizes_of_networks(const Descriptor& descriptor) {
    return Shape(descriptor).sizes();
}

Verdict check(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    for (const TensorSlot& input : descriptor.inputs()) {
        if (input.desc != nullptr && input.desc->flags != core::TensorFlags::none) {
            return broken_rule(
                descriptor, "ownedByDml",
                fmt::format("{} has the flag OWNED_BY_DML, which this operator does not allow", input.name));
        }
    }
    const Shape shape(descriptor);
    if (auto rejection = check_sizes(descriptor, shape)) {
        return rejection;
    }
    const std::size_t activations = descriptor.get<OperatorDescArray>("ActivationDescs").items.size();
    if (activations != shape.activations * shape.directions) {
        return broken_rule(descriptor, "activationCount",
                           fmt::format("ActivationDescs has {} activations; it must have {} for each of {}",
                                       activations, shape.activations, core::counted(shape.directions, "direction")));
    }
    // Measured on DirectML 1.15.4: OutputCellSingleTensor as the only output is rejected.
    if (descriptor.tensor("OutputSequenceTensor") == nullptr && descriptor.tensor("OutputSingleTensor") == nullptr) {
        return broken_rule(descriptor, "outputs",
                           "OutputSequenceTensor and OutputSingleTensor are both absent; one of them must be present");
    }
    return {};
}

/// One multiplication and one addition for each weight, in each step of each sequence.
double operations(const Descriptor& descriptor) {
    const Shape shape(descriptor);
    const auto weights = static_cast<double>(shape.directions * shape.gates * shape.hidden) *
                         static_cast<double>(shape.inputs + shape.hidden);
    return 2 * weights * static_cast<double>(shape.steps * shape.batch);
}

}  // namespace

RulesRows rules() {
    RulesRows rows;
    for (const std::string_view name : {"RNN", "LSTM", "GRU"}) {
        rows.push_back({.name = name,
                        .validate = check,
                        .rules = explained(name),
                        .sizes = sizes_of_networks,
                        .operations = operations});
    }
    return rows;
}

}  // namespace dmlconform::operators::recurrent_rules
