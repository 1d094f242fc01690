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
    /// Null for an absent one.
    const core::TensorDesc* desc = nullptr;
    /// Among the inputs; nothing for an output.
    std::optional<std::size_t> input{};
};

/// All that is said has to hold.
struct TensorCondition {
    /// `null`: the tensor has to be absent, and nothing else is said.
    bool absent = false;
    std::vector<core::DataType> data_types{};
    std::optional<NumberCondition> dimension_count{};
    std::optional<NumberCondition> elements{};
    /// By dimension. One that the tensor does not have makes the test fail.
    std::map<std::uint32_t, NumberCondition> sizes{};
    /// absent: packed without saying so. packed: whether it is said or not. repeating: an element counts many times.
    enum class Layout : std::uint8_t { absent, given, packed, strided, repeating };
    std::optional<Layout> layout{};
    std::optional<NumberCondition> alignment{};
    /// Of some element of an input. Of outputs nothing is known.
    std::optional<NumberCondition> values{};

    [[nodiscard]] bool holds(const TensorFact& tensor, CaseFacts& facts) const;
};

/// Reports what is wrong and returns nothing then.
[[nodiscard]] std::optional<TensorCondition> read_tensor_condition(const cases::JsonValue& value, std::string_view name,
                                                                   cases::ProblemSink& problems);

}  // namespace dmlconform::expectations
