// Conditions on how the elements that an operator reduces lie in memory.
//
//     { "along": "Axes", "runs": 1, "lastPerResult": { "atLeast": 8 } }
//
// They are about the dimensions above 1 of the first input, from the largest stride to the smallest. Two that lie one
// behind the other without a gap, and that are both reduced or both kept, are one, if kept ones lie so in the first
// output as well.
#pragma once

#include <string_view>
#include <vector>

#include "engine/expectations/condition.h"
#include "engine/expectations/dimension_condition.h"

namespace dmlconform::expectations {

/// What a reduction condition can test.
struct Reduction {
    double dimensions = 0;
    /// How many groups of reduced dimensions there are, between kept ones.
    double runs = 0;
    double results = 0;
    /// Reduced elements, without those of the last run.
    double before_last = 0;
    /// Reduced elements, those of the last run (0 if the last dimension is kept), and the largest odd divisor of the
    /// first number; all of them divided by the number of results.
    double per_result = 0;
    double last_per_result = 0;
    double odd_per_result = 0;
    /// No gaps between elements, and none that are repeated.
    bool dense = true;
};

/// Dimensions that the list names and the input lacks are ignored, and so is an output of another rank.
[[nodiscard]] Reduction reduction_of(const core::TensorDesc& input, const core::TensorDesc& output,
                                     std::span<const std::uint32_t> axes);

/// What conditions call these numbers.
[[nodiscard]] std::vector<std::string_view> reduction_numbers();

[[nodiscard]] std::optional<Condition> read_reduction_condition(const cases::JsonValue& value,
                                                                const FindField& find_field,
                                                                cases::ProblemSink& problems);

}  // namespace dmlconform::expectations
