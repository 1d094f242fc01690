// Rules of reductions. What comments say about DirectML 1.15.4 was measured on it.
#include "engine/operators/rules/reduction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "engine/operators/enumerators.h"
#include "engine/operators/rules.h"

namespace dmlconform::operators::reduction_rules {
namespace {

using core::DataType;
using core::FeatureLevel;
using WideSizes = std::vector<std::uint64_t>;

/// The input's sizes, with 1 along each axis. Measured on DirectML 1.15.4: axes may repeat, and the list may be empty.
WideSizes reduced_sizes(const Descriptor& descriptor) {
    const core::Dimensions& input = descriptor.sizes("InputTensor");
    WideSizes sizes(input.begin(), input.end());
    for (const std::uint32_t axis : descriptor.uints("Axes")) {
        sizes[axis] = 1;
    }
    return sizes;
}

/// One operation for each element of the input.
double reducing_operations(const Descriptor& descriptor) {
    return static_cast<double>(*core::element_count(descriptor.sizes("InputTensor")));
}

// ---- REDUCE ------------------------------------------------------------------------------------------------------

/// The feature level from which on some functions accept a data type.
struct TypesFrom {
    FeatureLevel level;
    std::span<const DataType> types;
};

constexpr std::array real_types{DataType::float32, DataType::float16};
constexpr std::array words{DataType::int32, DataType::uint32};
constexpr std::array narrow{DataType::int16, DataType::int8, DataType::uint16, DataType::uint8};
constexpr std::array long_words{DataType::int64, DataType::uint64};

constexpr FeatureLevel always{1, 0};

constexpr std::array<TypesFrom, 1> real{{{always, real_types}}};
constexpr std::array<TypesFrom, 3> sums_of_magnitudes{{{always, real_types}, {{5, 0}, words}, {{5, 0}, long_words}}};
constexpr std::array<TypesFrom, 3> sums{{{always, real_types}, {{2, 1}, words}, {{5, 0}, long_words}}};
constexpr std::array<TypesFrom, 4> extremes{
    {{always, real_types}, {{2, 1}, words}, {{3, 0}, narrow}, {{5, 0}, long_words}}};
constexpr std::array<TypesFrom, 4> compared{
    {{always, real_types}, {{2, 1}, words}, {{2, 1}, narrow}, {{4, 1}, long_words}}};
constexpr std::array index_types{DataType::uint32};
constexpr std::array more_index_types{DataType::int32, DataType::uint64, DataType::int64};
constexpr std::array<TypesFrom, 2> positions{{{always, index_types}, {{3, 0}, more_index_types}}};

bool is_position(ReduceFunction function) {
    return function == ReduceFunction::argmax || function == ReduceFunction::argmin;
}

std::span<const TypesFrom> input_types(ReduceFunction function) {
    switch (function) {
        case ReduceFunction::argmax:
        case ReduceFunction::argmin:
            return compared;
        case ReduceFunction::max:
        case ReduceFunction::min:
            return extremes;
        case ReduceFunction::multiply:
        case ReduceFunction::sum:
            return sums;
        case ReduceFunction::l1:
        case ReduceFunction::sum_square:
            return sums_of_magnitudes;
        default:
            return real;
    }
}

/// Accepts the types in the list; rejects others.
Verdict check_type(const Descriptor& descriptor, std::string_view rule, std::string_view tensor,
                   std::span<const TypesFrom> allowed, FeatureLevel level) {
    const DataType type = descriptor.tensor(tensor)->data_type;
    std::vector<std::string_view> names;
    for (const TypesFrom& types : allowed) {
        if (types.level <= level) {
            if (std::ranges::find(types.types, type) != types.types.end()) {
                return {};
            }
            std::ranges::transform(types.types, std::back_inserter(names), core::name);
        }
    }
    return broken_rule(
        descriptor, rule,
        fmt::format("{} is {}; at feature level {} {} has {}", tensor, core::name(type), to_string(level),
                    to_string(*descriptor.schema->find_field("Function"), descriptor.value("Function")),
                    fmt::join(names, " ")));
}

/// "FLOAT32 FLOAT16, from feature level 2.1 on also INT32 UINT32"
std::string text_of(std::span<const TypesFrom> allowed) {
    std::string text;
    FeatureLevel level = always;
    for (const TypesFrom& types : allowed) {
        std::vector<std::string_view> names;
        std::ranges::transform(types.types, std::back_inserter(names), core::name);
        text += types.level != level ? fmt::format(", from feature level {} on also ", to_string(types.level))
                : text.empty()       ? ""
                                     : " ";
        text += fmt::format("{}", fmt::join(names, " "));
        level = types.level;
    }
    return text;
}

/// One line for each set of types, with the functions that have it.
std::vector<std::string> input_type_lines() {
    const Enumeration& functions = *find_enumeration("DML_REDUCE_FUNCTION");
    std::vector<std::pair<std::string, std::vector<std::string>>> by_types;
    for (const Enumeration::Enumerator& enumerator : functions.enumerators) {
        const std::string types = text_of(input_types(static_cast<ReduceFunction>(enumerator.value)));
        const auto known = std::ranges::find(by_types, types, &decltype(by_types)::value_type::first);
        auto& names =
            known == by_types.end() ? by_types.emplace_back(types, std::vector<std::string>()).second : known->second;
        names.push_back(enumerator.name.substr(functions.prefix().size()));
    }
    std::vector<std::string> lines;
    for (const auto& [types, names] : by_types) {
        lines.push_back(fmt::format("{}: {}", fmt::join(names, ", "), types));
    }
    return lines;
}

ExplainedRules reduce_rules() {
    return {{"inputType", "InputTensor has one of the data types that Function takes.", input_type_lines()},
            {"outputType", fmt::format("OutputTensor has the data type of InputTensor, but for ARGMAX and ARGMIN {}.",
                                       text_of(positions))}};
}

std::vector<std::string> reduced_formulas() {
    return {"OutputTensor[d] = 1 for each dimension d in Axes", "OutputTensor[d] = InputTensor[d] for all others"};
}

Verdict check_reduce(const Descriptor& descriptor, FeatureLevel level) {
    const auto function = enumerator<ReduceFunction>(descriptor, "Function");
    if (auto rejection = check_type(descriptor, "inputType", "InputTensor", input_types(function), level)) {
        return rejection;
    }
    if (is_position(function)) {
        return check_type(descriptor, "outputType", "OutputTensor", positions, level);
    }
    const DataType input = descriptor.tensor("InputTensor")->data_type;
    const DataType output = descriptor.tensor("OutputTensor")->data_type;
    if (input != output) {
        return broken_rule(descriptor, "outputType",
                           fmt::format("OutputTensor is {}; it must have InputTensor's type, {}", core::name(output),
                                       core::name(input)));
    }
    return {};
}

// ---- LP_NORMALIZATION, NONZERO_COORDINATES -----------------------------------------------------------------------

ExplainedRules norm_rules() {
    return {{"p", "P is 1 or 2."}};
}

Verdict check_norm(const Descriptor& descriptor, FeatureLevel /*level*/) {
    const std::uint32_t p = descriptor.uint("P");
    if (p != 1 && p != 2) {
        return broken_rule(descriptor, "p", fmt::format("P is {}; it must be 1 or 2", p));
    }
    return {};
}

ExplainedRules coordinates_rules() {
    return {{"coordinatesSizes",
             "OutputCoordinatesTensor has one row for each element of InputTensor, in dimension -2. A row has at least "
             "one coordinate for each dimension from the first on whose size is not 1, and at most one for each "
             "dimension. All other sizes are 1."}};
}

/// One row for each element of the input. A row holds the last coordinates, at least those after leading sizes of 1.
Verdict check_coordinates(const Descriptor& descriptor, FeatureLevel /*level*/) {
    const core::Dimensions& input = descriptor.sizes("InputTensor");
    const core::Dimensions& sizes = descriptor.sizes("OutputCoordinatesTensor");
    const auto first = std::ranges::find_if(input, [](std::uint32_t size) { return size != 1; });
    // Measured on DirectML 1.15.4: at least one coordinate, even if all sizes are 1.
    const auto least = std::max<std::ptrdiff_t>(input.end() - first, 1);
    const std::uint64_t elements = *core::element_count(input);
    const bool leading_ones = std::all_of(sizes.begin(), sizes.end() - 2, [](std::uint32_t size) { return size == 1; });
    if (!leading_ones || sizes[sizes.size() - 2] != elements || sizes.back() < static_cast<std::uint64_t>(least) ||
        sizes.back() > input.size()) {
        return broken_rule(descriptor, "coordinatesSizes",
                           fmt::format("OutputCoordinatesTensor has sizes {}; the last two must be {} and {} to {}, "
                                       "and all others 1",
                                       core::to_string(sizes), elements, least, input.size()));
    }
    return {};
}

}  // namespace

RulesRows rules() {
    return {
        {.name = "REDUCE",
         .validate = check_reduce,
         .rules = reduce_rules(),
         .output_sizes = reduced_sizes,
         .output_formulas = reduced_formulas(),
         .operations = reducing_operations},
        {.name = "ARGMIN",
         .output_sizes = reduced_sizes,
         .output_formulas = reduced_formulas(),
         .operations = reducing_operations},
        {.name = "ARGMAX",
         .output_sizes = reduced_sizes,
         .output_formulas = reduced_formulas(),
         .operations = reducing_operations},
        {.name = "LP_NORMALIZATION", .validate = check_norm, .rules = norm_rules()},
        {.name = "NONZERO_COORDINATES",
         .validate = check_coordinates,
         .rules = coordinates_rules(),
         .operations = reducing_operations},
    };
}

}  // namespace dmlconform::operators::reduction_rules

namespace dmlconform::operators {

std::vector<ReduceFunction> functions_of(core::DataType type, core::FeatureLevel level) {
    std::vector<ReduceFunction> functions;
    for (std::uint32_t number = 0; number <= static_cast<std::uint32_t>(ReduceFunction::sum_square); ++number) {
        const auto function = static_cast<ReduceFunction>(number);
        const auto takes = [&](const reduction_rules::TypesFrom& types) {
            return types.level <= level && std::ranges::find(types.types, type) != types.types.end();
        };
        if (std::ranges::any_of(reduction_rules::input_types(function), takes)) {
            functions.push_back(function);
        }
    }
    return functions;
}

}  // namespace dmlconform::operators
