// Evaluates conditions on the layout of reduced elements.
#include "engine/expectations/reduction_condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "engine/core/utf8.h"
#include "engine/expectations/number_condition.h"

namespace dmlconform::expectations {
namespace {

using cases::JsonValue;
using cases::ProblemSink;

struct ReducedDimension {
    std::uint64_t size;
    std::uint64_t stride;
    bool is_reduced;
    /// 0 of one that is reduced.
    std::uint64_t output_stride;

    /// Whether `inner` goes on where this one ends.
    [[nodiscard]] bool is_continued_by(const ReducedDimension& inner) const {
        return is_reduced == inner.is_reduced && stride == inner.size * inner.stride &&
               output_stride == inner.size * inner.output_stride;
    }
};

/// By descending strides, and joined where that is possible.
std::vector<ReducedDimension> joined_dimensions(const core::TensorDesc& input, const core::TensorDesc& output,
                                                std::span<const std::uint32_t> axes) {
    const auto strides = core::effective_strides(input);
    const auto output_strides = core::effective_strides(output.sizes.size() == input.sizes.size() ? output : input);
    std::vector<ReducedDimension> all;
    for (std::size_t i = 0; i < input.sizes.size(); ++i) {
        if (input.sizes[i] != 1) {
            const bool is_reduced = std::ranges::find(axes, i) != axes.end();
            all.push_back({input.sizes[i], strides[i], is_reduced, is_reduced ? 0 : output_strides[i]});
        }
    }
    std::ranges::stable_sort(all, std::ranges::greater(), &ReducedDimension::stride);
    std::vector<ReducedDimension> joined;
    for (const ReducedDimension& each : all) {
        if (!joined.empty() && joined.back().is_continued_by(each)) {
            joined.back() = {joined.back().size * each.size, each.stride, each.is_reduced, each.output_stride};
        } else {
            joined.push_back(each);
        }
    }
    return joined;
}

struct Tests {
    std::string axes;
    std::vector<std::pair<double Reduction::*, NumberCondition>> numbers;
    std::optional<bool> dense;

    [[nodiscard]] bool hold(const operators::Descriptor& descriptor) const {
        const auto inputs = descriptor.inputs();
        const auto outputs = descriptor.outputs();
        if (!descriptor.has_field(axes) || inputs.empty() || inputs.front().desc == nullptr || outputs.empty() ||
            outputs.front().desc == nullptr) {
            return false;
        }
        const auto* const list = std::get_if<std::vector<std::uint32_t>>(&descriptor.value(axes));
        if (list == nullptr) {
            return false;
        }
        const Reduction reduction = reduction_of(*inputs.front().desc, *outputs.front().desc, *list);
        return dense.value_or(reduction.dense) == reduction.dense &&
               std::ranges::all_of(numbers, [&](const auto& test) { return test.second.holds(reduction.*test.first); });
    }
};

struct ReductionNumber {
    std::string_view name;
    double Reduction::*number;
};
constexpr ReductionNumber numbers_of_reductions[] = {
    {"dimensions", &Reduction::dimensions},
    {"runs", &Reduction::runs},
    {"results", &Reduction::results},
    {"beforeLast", &Reduction::before_last},
    {"perResult", &Reduction::per_result},
    {"lastPerResult", &Reduction::last_per_result},
    {"oddPerResult", &Reduction::odd_per_result},
};

bool read_test(const cases::JsonMember& member, const FindField& find_field, Tests& tests, ProblemSink& problems) {
    if (member.key == "along") {
        const std::string* const name = member.value.string();
        const operators::Field* const field = name == nullptr ? nullptr : find_field(*name);
        const bool fits = field != nullptr && field->type == operators::FieldType::uint_array && field->name == *name;
        if (!fits) {
            problems.add(member.value.offset, "this is not the name of an attribute that lists dimensions");
        }
        tests.axes = fits ? *name : std::string();
        return fits;
    }
    if (member.key == "dense" && member.value.boolean() != nullptr) {
        tests.dense = *member.value.boolean();
        return true;
    }
    const auto* const found = std::ranges::find(numbers_of_reductions, member.key, &ReductionNumber::name);
    if (found == std::end(numbers_of_reductions)) {
        problems.add(member.key_offset,
                     fmt::format("\"{}\" is not a test of \"reduction\"", core::shortened(member.key)),
                     fmt::format("there are along, {}, and dense (a boolean)", fmt::join(reduction_numbers(), ", ")));
        return false;
    }
    auto test = read_number_condition(member.value, member.key, nullptr, problems);
    if (test) {
        tests.numbers.emplace_back(found->number, std::move(*test));
    }
    return test.has_value();
}

}  // namespace

std::vector<std::string_view> reduction_numbers() {
    std::vector<std::string_view> names;
    std::ranges::transform(numbers_of_reductions, std::back_inserter(names), &ReductionNumber::name);
    return names;
}

Reduction reduction_of(const core::TensorDesc& input, const core::TensorDesc& output,
                       std::span<const std::uint32_t> axes) {
    const auto dimensions = joined_dimensions(input, output, axes);
    Reduction reduction;
    reduction.dimensions = static_cast<double>(dimensions.size());
    std::uint64_t reduced = 1;
    std::uint64_t results = 1;
    std::uint64_t last = 1;  // the elements of the last run
    std::uint64_t expected_stride = 1;
    bool is_within_last = true;
    for (std::size_t i = dimensions.size(); i-- > 0;) {
        const ReducedDimension& each = dimensions[i];
        is_within_last = is_within_last && each.is_reduced;
        last *= is_within_last ? each.size : 1;
        (each.is_reduced ? reduced : results) *= each.size;
        reduction.runs += each.is_reduced && (i == 0 || !dimensions[i - 1].is_reduced) ? 1 : 0;
        reduction.dense = reduction.dense && each.stride == expected_stride;
        expected_stride = each.size * each.stride;
    }
    const bool ends_reduced = !dimensions.empty() && dimensions.back().is_reduced;
    const auto divisor = static_cast<double>(results);
    reduction.results = divisor;
    // Sizes of 0 are illegal, but may be asked about.
    reduction.before_last = static_cast<double>(reduced / std::max<std::uint64_t>(1, last));
    reduction.per_result = static_cast<double>(reduced) / divisor;
    reduction.last_per_result = ends_reduced ? static_cast<double>(last) / divisor : 0;
    // Products of large sizes wrap.
    const std::uint64_t even_part = std::max<std::uint64_t>(1, reduced & -reduced);
    reduction.odd_per_result = static_cast<double>(reduced / even_part) / divisor;
    return reduction;
}

std::optional<Condition> read_reduction_condition(const JsonValue& value, const FindField& find_field,
                                                  ProblemSink& problems) {
    Tests tests;
    for (const cases::JsonMember& member : value.object() == nullptr ? JsonValue::Object() : *value.object()) {
        if (!read_test(member, find_field, tests, problems)) {
            return std::nullopt;
        }
    }
    if (tests.axes.empty()) {
        problems.add(value.offset, "\"reduction\" must be an object of tests that names the reduced dimensions",
                     R"(for example { "along": "Axes", "runs": 1 })");
        return std::nullopt;
    }
    return Condition{[tests = std::move(tests)](CaseFacts& facts) { return tests.hold(facts.descriptor()); }, false};
}

}  // namespace dmlconform::expectations
