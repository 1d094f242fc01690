// Conditions on one tensor of a descriptor.
//
//     null    {}    { "DataType": ["INT64", "UINT64"], "Strides": "packed", "values": { "below": 0 } }
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "engine/expectations/case_facts.h"
#include "engine/expectations/number_condition.h"

namespace dmlconform::expectations {

/// A tensor as a condition sees it.
struct TensorFact {
    /// Null if it is absent.
    const core::TensorDesc* desc = nullptr;
    /// Index among the inputs; empty for an output.
    std::optional<std::size_t> input{};
};

/// Holds if all parts hold.
struct TensorCondition {
    /// `null`: the tensor must be absent, and there are no other parts.
    bool absent = false;
    std::vector<core::DataType> data_types{};
    std::optional<NumberCondition> dimension_count{};
    /// How many dimensions there are without leading sizes of 1.
    std::optional<NumberCondition> significant_dimensions{};
    std::optional<NumberCondition> elements{};
    /// The number of addresses from the first element to the last, divided by the number of elements.
    std::optional<NumberCondition> addresses_per_element{};
    /// Conditions on sizes by dimension. A dimension that the tensor lacks fails the condition.
    std::map<std::uint32_t, NumberCondition> sizes{};
    /// absent: packed without explicit strides. packed: with or without explicit strides. repeating: has a stride of 0.
    /// transposed: some dimension has a larger stride than one before it. unequal: strides that are not all the same.
    enum class Layout : std::uint8_t { absent, given, packed, strided, repeating, transposed, unequal };
    std::optional<Layout> layout{};
    std::optional<NumberCondition> alignment{};
    /// Must hold for some element of an input. Never holds for outputs, whose elements are unknown.
    std::optional<NumberCondition> values{};

    [[nodiscard]] bool holds(const TensorFact& tensor, CaseFacts& facts) const;
};

/// Reports problems; the result is then empty.
[[nodiscard]] std::optional<TensorCondition> read_tensor_condition(const cases::JsonValue& value, std::string_view name,
                                                                   cases::ProblemSink& problems);

}  // namespace dmlconform::expectations
