// Operators on sequences and optional values, which only choose among tensors.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "engine/interop/onnx_unrolling_steps.h"

namespace dmlconform::interop::unrolling {
namespace {

struct SequenceNode {
    const onnx::NodeProto& node;
    const Values& inputs;
    Steps& steps;

    [[nodiscard]] bool has_input(std::size_t index) const {
        return index < inputs.size() && !node.input(static_cast<int>(index)).empty();
    }
};

using SequenceResult = core::Result<Values>;

SequenceResult one(core::Result<UnrolledValue> value) {
    return value ? SequenceResult(Values{std::move(*value)}) : tl::unexpected(std::move(value.error()));
}

/// The position that an input gives, below `end`; it may count from the number of tensors. Without the input
/// `otherwise`.
core::Result<std::ptrdiff_t> position_in(const SequenceNode& at, std::size_t input, std::size_t otherwise,
                                         std::size_t end) {
    if (!at.has_input(input)) {
        return static_cast<std::ptrdiff_t>(otherwise);
    }
    const auto written = at.steps.known_integer(at.inputs[input]);
    if (!written) {
        return tl::unexpected(written.error());
    }
    const auto count = static_cast<std::int64_t>(at.inputs.front().tensors.size());
    const std::int64_t position = *written < 0 ? *written + count : *written;
    return position >= 0 && position < static_cast<std::int64_t>(end)
               ? core::Result<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(position))
               : core::fail(fmt::format("a sequence of {} tensors has no position {}", count, *written));
}

SequenceResult empty_sequence(const SequenceNode& /*at*/) {
    return Values{UnrolledValue{true, true, {}}};
}

SequenceResult construct_sequence(const SequenceNode& at) {
    UnrolledValue sequence{true, true, {}};
    for (const UnrolledValue& input : at.inputs) {
        if (input.is_sequence || input.tensors.size() != 1) {
            return core::fail("a sequence of other values than tensors is not mapped");
        }
        sequence.tensors.push_back(input.tensors.front());
    }
    return Values{std::move(sequence)};
}

SequenceResult insert_tensor(const SequenceNode& at) {
    if (at.inputs.size() < 2 || !at.inputs[0].is_sequence || at.inputs[1].is_sequence ||
        at.inputs[1].tensors.size() != 1) {
        return core::fail("SequenceInsert needs a sequence and a tensor");
    }
    UnrolledValue sequence = at.inputs[0];
    const std::size_t count = sequence.tensors.size();
    const auto position = position_in(at, 2, count, count + 1);
    if (!position) {
        return tl::unexpected(position.error());
    }
    sequence.tensors.insert(sequence.tensors.begin() + *position, at.inputs[1].tensors.front());
    return Values{std::move(sequence)};
}

SequenceResult erase_tensor(const SequenceNode& at) {
    if (at.inputs.empty() || !at.inputs[0].is_sequence || at.inputs[0].tensors.empty()) {
        return core::fail("SequenceErase needs a sequence that is not empty");
    }
    UnrolledValue sequence = at.inputs[0];
    const auto position = position_in(at, 1, sequence.tensors.size() - 1, sequence.tensors.size());
    if (!position) {
        return tl::unexpected(position.error());
    }
    sequence.tensors.erase(sequence.tensors.begin() + *position);
    return Values{std::move(sequence)};
}

SequenceResult tensor_at(const SequenceNode& at) {
    if (at.inputs.size() != 2 || !at.inputs[0].is_sequence) {
        return core::fail("SequenceAt needs a sequence and a position");
    }
    const std::vector<std::string>& tensors = at.inputs[0].tensors;
    const auto position = position_in(at, 1, 0, tensors.size());
    return position ? SequenceResult(Values{{false, true, {tensors[static_cast<std::size_t>(*position)]}}})
                    : tl::unexpected(position.error());
}

SequenceResult sequence_length(const SequenceNode& at) {
    return at.inputs.size() == 1 && at.inputs[0].is_sequence
               ? one(at.steps.number(static_cast<std::int64_t>(at.inputs[0].tensors.size())))
               : core::fail("SequenceLength needs a sequence");
}

SequenceResult concatenated(const SequenceNode& at) {
    return at.inputs.size() == 1 && at.inputs[0].is_sequence
               ? one(at.steps.joined(at.inputs[0].tensors, integer(at.node, "axis", 0),
                                     integer(at.node, "new_axis", 0) != 0))
               : core::fail("ConcatFromSequence needs a sequence");
}

SequenceResult optional_value(const SequenceNode& at) {
    return Values{at.has_input(0) ? at.inputs[0] : UnrolledValue{false, false, {}}};
}

SequenceResult element_of_optional(const SequenceNode& at) {
    return at.has_input(0) && at.inputs[0].has_value ? SequenceResult(Values{at.inputs[0]})
                                                     : core::fail("the optional value is empty");
}

SequenceResult has_element(const SequenceNode& at) {
    return one(at.steps.truth(at.has_input(0) && at.inputs[0].has_value));
}

struct SequenceRow {
    std::string_view type;
    SequenceResult (*run)(const SequenceNode&) = nullptr;
};

constexpr std::array<SequenceRow, 10> sequence_rows{{{"SequenceEmpty", empty_sequence},
                                                     {"SequenceConstruct", construct_sequence},
                                                     {"SequenceInsert", insert_tensor},
                                                     {"SequenceErase", erase_tensor},
                                                     {"SequenceAt", tensor_at},
                                                     {"SequenceLength", sequence_length},
                                                     {"ConcatFromSequence", concatenated},
                                                     {"Optional", optional_value},
                                                     {"OptionalGetElement", element_of_optional},
                                                     {"OptionalHasElement", has_element}}};

}  // namespace

std::optional<core::Result<Values>> sequence_results(const onnx::NodeProto& node, const Values& inputs, Steps& steps) {
    const auto row = std::ranges::find(sequence_rows, node.op_type(), &SequenceRow::type);
    return row == sequence_rows.end() ? std::nullopt : std::optional(row->run({node, inputs, steps}));
}

std::vector<std::string_view> sequence_operators() {
    std::vector<std::string_view> types;
    std::ranges::transform(sequence_rows, std::back_inserter(types), &SequenceRow::type);
    return types;
}

}  // namespace dmlconform::interop::unrolling
