// Rules of operators that slide a window over their input: poolings and local response normalisation. What comments say
// about DirectML 1.15.4 was measured on it.
#include "engine/operators/rules/window.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dmlconform::operators::window_rules {
namespace {

using WideSizes = std::vector<std::uint64_t>;

double count_of(const core::Dimensions& sizes) {
    return static_cast<double>(*core::element_count(sizes));
}

}  // namespace

}  // namespace dmlconform::operators::window_rules

namespace dmlconform::operators {

SlidingWindow::SlidingWindow(const Descriptor& descriptor, const core::Dimensions& image, std::size_t dimension)
    : size(descriptor.uints(descriptor.has_field("WindowSizes") ? "WindowSizes" : "WindowSize")[dimension]),
      stride(descriptor.uints("Strides")[dimension]),
      dilation(descriptor.has_field("Dilations") ? descriptor.uints("Dilations")[dimension] : 1),
      padded(std::uint64_t{image[dimension + 2]} + descriptor.uints("StartPadding")[dimension] +
             descriptor.uints("EndPadding")[dimension]) {}

WindowReach reach_of(const Descriptor& descriptor, const core::Dimensions& image, std::size_t dimension,
                     std::uint64_t positions) {
    const SlidingWindow window(descriptor, image, dimension);
    return window_reach({positions, window.stride}, {window.size, window.dilation},
                        descriptor.uints("StartPadding")[dimension], image[dimension + 2]);
}

SizeFormula window_positions_of(std::string_view operator_name, std::string_view image) {
    const OperatorSchema& schema = *find_operator(operator_name);
    const auto entry = [&](std::string_view field) { return SizeFormula(fmt::format("{}[d]", field)); };
    const SizeFormula padded =
        SizeFormula(fmt::format("{}[d + 2]", image)) + entry("StartPadding") + entry("EndPadding");
    return window_positions(padded, entry(schema.find_field("WindowSizes") != nullptr ? "WindowSizes" : "WindowSize"),
                            schema.find_field("Dilations") != nullptr ? entry("Dilations") : SizeFormula(1),
                            entry("Strides"));
}

ExplainedRule window_rule() {
    return {"window", "Each size, stride and dilation of the window is at least 1."};
}

ExplainedRule window_in_bounds_rule() {
    return {"windowInBounds",
            "The window with its dilation fits into the padded image: it has no more elements along any dimension."};
}

/// DirectML 1.15.4 accepts zeros. With a dilation of 0 it does not terminate.
Verdict check_window_numbers(const Descriptor& descriptor, const core::Dimensions& image) {
    for (std::size_t d = 0; d + 2 < image.size(); ++d) {
        const SlidingWindow window(descriptor, image, d);
        if (window.size == 0 || window.stride == 0 || window.dilation == 0) {
            return broken_rule(descriptor, "window",
                               fmt::format("along spatial dimension {} the window has {} elements, stride {} and "
                                           "dilation {}; all must be at least 1",
                                           d, window.size, window.stride, window.dilation));
        }
    }
    return {};
}

Verdict check_windows(const Descriptor& descriptor, const core::Dimensions& image) {
    if (auto rejection = check_window_numbers(descriptor, image)) {
        return rejection;
    }
    for (std::size_t d = 0; d + 2 < image.size(); ++d) {
        const SlidingWindow window(descriptor, image, d);
        if (window.length() > window.padded) {
            return broken_rule(
                descriptor, "windowInBounds",
                fmt::format("a window takes {} elements along spatial dimension {}, which has {} with its "
                            "padding",
                            window.length(), d, window.padded));
        }
    }
    return {};
}

}  // namespace dmlconform::operators

namespace dmlconform::operators::window_rules {
namespace {

// ---- poolings ----------------------------------------------------------------------------------------------------

ExplainedRules pooling_rules() {
    return {window_rule(), window_in_bounds_rule()};
}

ExplainedRules lp_rules() {
    return {window_rule(), window_in_bounds_rule(), {"p", "P is at least 1, as there is no 0th root."}};
}

/// The formulas of `pooled_sizes`.
std::vector<std::string> pooled_formulas(std::string_view operator_name, std::string_view output,
                                         std::string_view image) {
    return {fmt::format("{}[0] = {}[0]", output, image), fmt::format("{}[1] = {}[1]", output, image),
            size_line(fmt::format("{}[d + 2]", output), window_positions_of(operator_name, image))};
}

/// Output sizes of a pooling: the batches and channels of the input, then the documentation's formula. DirectML 1.15.4
/// checks only batches and channels, and treats what lies outside as padding.
WideSizes pooled_sizes(const Descriptor& descriptor, const core::Dimensions& image) {
    WideSizes sizes{image[0], image[1]};
    for (std::size_t d = 0; d + 2 < image.size(); ++d) {
        sizes.push_back(SlidingWindow(descriptor, image, d).stops());
    }
    return sizes;
}

WideSizes pooling_sizes(const Descriptor& descriptor) {
    return pooled_sizes(descriptor, descriptor.sizes("InputTensor"));
}

Verdict check_pooling(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    return check_windows(descriptor, descriptor.sizes("InputTensor"));
}

Verdict check_lp(const Descriptor& descriptor, core::FeatureLevel level) {
    if (descriptor.uint("P") == 0) {
        return broken_rule(descriptor, "p", "P is 0; it must be at least 1, as there is no 0th root");
    }
    return check_pooling(descriptor, level);
}

/// The image that windows of a pooling or of its gradient slide over, and the tensor with an element for each position.
struct Pooling {
    bool is_gradient;
    const core::Dimensions& image;
    const core::Dimensions& stops;

    explicit Pooling(const Descriptor& descriptor)
        : is_gradient(descriptor.has_field("OutputGradientTensor")),
          image(descriptor.sizes(is_gradient ? "OutputGradientTensor" : "InputTensor")),
          stops(descriptor.sizes(is_gradient ? "InputGradientTensor" : "OutputTensor")) {}
};

/// One operation for each element of each window that is not padding.
double pooling_operations(const Descriptor& descriptor) {
    const Pooling pooling(descriptor);
    double operations = double{1} * pooling.stops[0] * pooling.stops[1];
    for (std::size_t d = 0; d + 2 < pooling.image.size(); ++d) {
        operations *= reach_of(descriptor, pooling.image, d, pooling.stops[d + 2]).pairs;
    }
    return operations;
}

/// Only what is in a window, and the gradients of windows that are not all padding.
double pooling_bytes(const Descriptor& descriptor, const TensorSlot& input) {
    const bool has_gradients = input.name == "InputGradientTensor";
    if (input.name != "InputTensor" && !has_gradients) {
        return element_bytes(*input.desc);
    }
    const Pooling pooling(descriptor);
    std::vector<double> counts{double{1} * input.desc->sizes[0], double{1} * input.desc->sizes[1]};
    for (std::size_t d = 0; d + 2 < pooling.image.size(); ++d) {
        const WindowReach reach = reach_of(descriptor, pooling.image, d, pooling.stops[d + 2]);
        counts.push_back(has_gradients ? reach.positions : reach.elements);
    }
    return element_bytes(*input.desc, counts);
}

// ---- gradients of poolings ---------------------------------------------------------------------------------------

ExplainedRules average_grad_rules() {
    return {window_rule(),
            {"gradientSizes",
             "InputGradientTensor and OutputGradientTensor have the same numbers of batches and channels."}};
}

ExplainedRules max_grad_rules() {
    return {window_rule(),
            window_in_bounds_rule(),
            {"gradientSizes", "InputGradientTensor has the sizes of the pooling's output.",
             pooled_formulas("MAX_POOLING_GRAD", "InputGradientTensor", "InputTensor")}};
}

/// The documentation says what sizes the gradients "typically" have. DirectML 1.15.4 checks only batches and channels:
/// missing windows contribute nothing, and surplus windows see only padding.
Verdict check_average_grad(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const core::Dimensions& input = descriptor.sizes("InputGradientTensor");
    const core::Dimensions& output = descriptor.sizes("OutputGradientTensor");
    if (!std::equal(input.begin(), input.begin() + 2, output.begin())) {
        return broken_rule(
            descriptor, "gradientSizes",
            fmt::format("InputGradientTensor has sizes {} and OutputGradientTensor {}; the first two sizes, batches "
                        "and channels, must be equal",
                        core::to_string(input), core::to_string(output)));
    }
    return check_window_numbers(descriptor, output);
}

/// Measured on DirectML 1.15.4: the gradient must have the sizes of the pooling's output.
Verdict check_max_grad(const Descriptor& descriptor, core::FeatureLevel level) {
    if (auto rejection = check_pooling(descriptor, level)) {
        return rejection;
    }
    const core::Dimensions& gradient = descriptor.sizes("InputGradientTensor");
    const WideSizes wanted = pooling_sizes(descriptor);
    if (!std::equal(wanted.begin(), wanted.end(), gradient.begin(), gradient.end())) {
        return broken_rule(descriptor, "gradientSizes",
                           fmt::format("InputGradientTensor has sizes {}; they must be [{}]", core::to_string(gradient),
                                       fmt::join(wanted, ",")));
    }
    return {};
}

// ---- QUANTIZED_LINEAR_AVERAGE_POOLING ----------------------------------------------------------------------------

ExplainedRules quantized_rules() {
    return {window_rule(),
            window_in_bounds_rule(),
            {"parameterSizes",
             "Each scale and zero point has one element, or sizes of 1 and InputTensor[1] in dimension 1."}};
}

/// Requires one element, or one per channel.
Verdict check_parameter(const Descriptor& descriptor, std::string_view field, std::uint32_t channels) {
    const core::TensorDesc* desc = descriptor.tensor(field);
    if (desc == nullptr || *core::element_count(desc->sizes) == 1) {
        return {};
    }
    core::Dimensions per_channel(desc->sizes.size(), 1);
    if (per_channel.size() > 1) {
        per_channel[1] = channels;
    }
    if (desc->sizes == per_channel) {
        return {};
    }
    return broken_rule(
        descriptor, "parameterSizes",
        fmt::format("{} has sizes {}; it must have one element, or {} along dimension 1 for the channels", field,
                    core::to_string(desc->sizes), channels));
}

Verdict check_quantized(const Descriptor& descriptor, core::FeatureLevel level) {
    for (const std::string_view field :
         {"InputScaleTensor", "InputZeroPointTensor", "OutputScaleTensor", "OutputZeroPointTensor"}) {
        if (auto rejection = check_parameter(descriptor, field, descriptor.sizes("InputTensor")[1])) {
            return rejection;
        }
    }
    return check_pooling(descriptor, level);
}

// ---- local response normalisation --------------------------------------------------------------------------------

ExplainedRules local_response_rules() {
    return {{"localSize", "LocalSize is at least 1."}};
}

Verdict check_local_response(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    if (descriptor.uint("LocalSize") == 0) {
        return broken_rule(descriptor, "localSize", "LocalSize is 0; it must be at least 1");
    }
    return {};
}

/// Two operations for each element of a region, clipped to the tensor, and four for each output.
double local_response_operations(const Descriptor& descriptor) {
    const core::Dimensions& sizes = descriptor.sizes("InputTensor");
    const std::uint32_t local = descriptor.uint("LocalSize");
    const double region = descriptor.uint("CrossChannel") != 0
                              ? static_cast<double>(std::min(local, sizes[1]))
                              : static_cast<double>(std::min(local, sizes[2])) * std::min(local, sizes[3]);
    return count_of(sizes) * (2 * region + 4);
}

}  // namespace

RulesRows rules() {
    RulesRows rows{
        {.name = "AVERAGE_POOLING_GRAD",
         .validate = check_average_grad,
         .rules = average_grad_rules(),
         .operations = pooling_operations,
         .bytes_read = pooling_bytes},
        {.name = "MAX_POOLING_GRAD",
         .validate = check_max_grad,
         .rules = max_grad_rules(),
         .operations = pooling_operations,
         .bytes_read = pooling_bytes},
        {.name = "QUANTIZED_LINEAR_AVERAGE_POOLING",
         .validate = check_quantized,
         .rules = quantized_rules(),
         .output_sizes = pooling_sizes,
         .output_formulas = pooled_formulas("QUANTIZED_LINEAR_AVERAGE_POOLING", "OutputTensor", "InputTensor"),
         .operations = pooling_operations,
         .bytes_read = pooling_bytes},
    };
    for (const std::string_view name :
         {"AVERAGE_POOLING", "AVERAGE_POOLING1", "MAX_POOLING", "MAX_POOLING1", "MAX_POOLING2"}) {
        rows.push_back({.name = name,
                        .validate = check_pooling,
                        .rules = pooling_rules(),
                        .output_sizes = pooling_sizes,
                        .output_formulas = pooled_formulas(name, "OutputTensor", "InputTensor"),
                        .operations = pooling_operations,
                        .bytes_read = pooling_bytes});
    }
    for (const std::string_view name : {"LP_POOLING", "LP_POOLING1"}) {
        rows.push_back({.name = name,
                        .validate = check_lp,
                        .rules = lp_rules(),
                        .output_sizes = pooling_sizes,
                        .output_formulas = pooled_formulas(name, "OutputTensor", "InputTensor"),
                        .operations = pooling_operations,
                        .bytes_read = pooling_bytes});
    }
    for (const std::string_view name : {"LOCAL_RESPONSE_NORMALIZATION", "LOCAL_RESPONSE_NORMALIZATION_GRAD"}) {
        rows.push_back({.name = name,
                        .validate = check_local_response,
                        .rules = local_response_rules(),
                        .operations = local_response_operations});
    }
    return rows;
}

}  // namespace dmlconform::operators::window_rules
