// Rules of matrix products and convolutions, from their documentation; channels and sizes follow from the definition of
// a convolution. What comments say about DirectML 1.15.4 was measured on it.
#include <fmt/format.h>

#include <algorithm>

#include "engine/operators/enumerators.h"
#include "engine/operators/rules.h"
#include "engine/operators/rules/parameter_sizes.h"
#include "engine/operators/size_formula.h"
#include "engine/operators/window_reach.h"

namespace dmlconform::operators::product_rules {
namespace {

using WideSizes = std::vector<std::uint64_t>;

double count_of(const core::Dimensions& sizes) {
    return static_cast<double>(*core::element_count(sizes));
}

// ---- matrix products ---------------------------------------------------------------------------------------------

ExplainedRules gemm_rules() {
    return {{"batches", "All sizes of ATensor and BTensor but the last two are equal. Strides of 0 repeat a matrix."},
            {"innerSizes",
             "A has as many columns as B has rows, after the transpositions: ATensor[-1] (ATensor[-2] if TransA is "
             "TRANSPOSE) = BTensor[-2] (BTensor[-1] if TransB is TRANSPOSE)."},
            {"fusedAxes",
             "For a fused ACTIVATION_SOFTMAX, all sizes of OutputTensor but the last two are 1. Axes of a fused "
             "ACTIVATION_SOFTMAX1 are less than the number of dimensions of OutputTensor."}};
}

ExplainedRules integer_rules() {
    return {{"batches", "All sizes of ATensor and BTensor but the last two are equal. Strides of 0 repeat a matrix."},
            {"innerSizes", "A has as many columns as B has rows: ATensor[-1] = BTensor[-2]."},
            {"parameterSizes",
             "Scales and zero points have one element, or one for each row of A and of the output (ATensor[-2] "
             "elements in dimension -2), or one for each column of B (BTensor[-1] elements in dimension -1)."}};
}

std::vector<std::string> product_formulas(bool transposes) {
    return {"OutputTensor[d] = ATensor[d] for all dimensions d but the last two",
            transposes ? "OutputTensor[-2] = ATensor[-2], or ATensor[-1] if TransA is TRANSPOSE"
                       : "OutputTensor[-2] = ATensor[-2]",
            transposes ? "OutputTensor[-1] = BTensor[-1], or BTensor[-2] if TransB is TRANSPOSE"
                       : "OutputTensor[-1] = BTensor[-1]"};
}

/// A matrix in the last two dimensions, with its size after the transposition that the descriptor asks for.
struct Matrix {
    std::uint32_t rows = 1;
    std::uint32_t columns = 1;
};

Matrix matrix_of(const Descriptor& descriptor, std::string_view field, std::string_view transform) {
    const core::Dimensions& sizes = descriptor.sizes(field);
    const bool transposed = descriptor.schema->find_field(transform) != nullptr &&
                            enumerator<MatrixTransform>(descriptor, transform) == MatrixTransform::transpose;
    const std::uint32_t rows = sizes[sizes.size() - 2];
    return transposed ? Matrix{sizes.back(), rows} : Matrix{rows, sizes.back()};
}

Matrix matrix_a(const Descriptor& descriptor) {
    return matrix_of(descriptor, "ATensor", "TransA");
}

Matrix matrix_b(const Descriptor& descriptor) {
    return matrix_of(descriptor, "BTensor", "TransB");
}

/// Measured on DirectML 1.15.4: sizes are not broadcast. Strides of 0 repeat a matrix.
Verdict check_matrices(const Descriptor& descriptor) {
    const core::Dimensions& a = descriptor.sizes("ATensor");
    const core::Dimensions& b = descriptor.sizes("BTensor");
    if (!std::equal(a.begin(), a.end() - 2, b.begin(), b.end() - 2)) {
        return broken_rule(descriptor, "batches",
                           fmt::format("ATensor has sizes {} and BTensor {}; all but the last two must be equal",
                                       core::to_string(a), core::to_string(b)));
    }
    if (matrix_a(descriptor).columns != matrix_b(descriptor).rows) {
        return broken_rule(descriptor, "innerSizes",
                           fmt::format("A has {} columns and B {} rows; these numbers must be equal",
                                       matrix_a(descriptor).columns, matrix_b(descriptor).rows));
    }
    return {};
}

WideSizes product_sizes(const Descriptor& descriptor) {
    const core::Dimensions& a = descriptor.sizes("ATensor");
    WideSizes sizes(a.begin(), a.end() - 2);
    sizes.push_back(matrix_a(descriptor).rows);
    sizes.push_back(matrix_b(descriptor).columns);
    return sizes;
}

/// One multiplication and one addition for each term of each sum.
double product_operations(const Descriptor& descriptor) {
    return 2 * count_of(descriptor.sizes("OutputTensor")) * matrix_a(descriptor).columns;
}

/// Requires at least two elements along the axes of a fused softmax. Measured on DirectML 1.15.4: the restrictions of
/// the separate operator apply.
Verdict check_fused_axes(const Descriptor& descriptor) {
    const Descriptor* fused = descriptor.activation("FusedActivation");
    const core::Dimensions& sizes = descriptor.sizes("OutputTensor");
    if (fused == nullptr || fused->schema->element_wise) {
        return {};
    }
    const bool has_axes = fused->schema->find_field("Axes") != nullptr;
    if (!has_axes && std::any_of(sizes.begin(), sizes.end() - 2, [](std::uint32_t size) { return size != 1; })) {
        return broken_rule(descriptor, "fusedAxes",
                           fmt::format("OutputTensor has sizes {}; for the fused {} all but the last two must be 1",
                                       core::to_string(sizes), fused->schema->short_name()));
    }
    if (has_axes) {
        for (const std::uint32_t axis : fused->uints("Axes")) {
            if (axis >= sizes.size()) {
                return broken_rule(descriptor, "fusedAxes",
                                   fmt::format("Axes of the fused {} names {}, but OutputTensor has {} dimensions",
                                               fused->schema->short_name(), axis, sizes.size()));
            }
        }
    }
    return {};
}

Verdict check_gemm(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const Verdict rejection = check_matrices(descriptor);
    return rejection ? rejection : check_fused_axes(descriptor);
}

/// Scales and zero points of A and of the output have one element, or one per row; those of B one, or one per column.
Verdict check_integer_product(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    if (auto rejection = check_matrices(descriptor)) {
        return rejection;
    }
    for (const std::string_view of : {"A", "B", "Output"}) {
        for (const std::string_view kind : {"ScaleTensor", "ZeroPointTensor"}) {
            const std::string field = fmt::format("{}{}", of, kind);
            if (descriptor.schema->find_field(field) == nullptr) {
                continue;
            }
            const bool columns = of == "B";
            const std::uint32_t count = columns ? matrix_b(descriptor).columns : matrix_a(descriptor).rows;
            if (auto rejection = check_one_or_each(descriptor, field, columns ? 1 : 2, count)) {
                return rejection;
            }
        }
    }
    return {};
}

// ---- convolutions ------------------------------------------------------------------------------------------------

bool is_backward(const Descriptor& descriptor) {
    return descriptor.has_field("Direction") &&
           enumerator<ConvolutionDirection>(descriptor, "Direction") == ConvolutionDirection::backward;
}

/// The output size along one dimension of a forward convolution. `padded` is the size of the padded input.
template <class Number>
Number forward_size(const Number& padded, const Number& filter, const Number& stride, const Number& dilation) {
    return (padded - (filter - 1) * dilation - 1) / stride + 1;
}

/// The size that a backward filter writes to, before padding is removed.
template <class Number>
Number written_size(const Number& input, const Number& filter, const Number& stride, const Number& dilation) {
    return (input - 1) * stride + (filter - 1) * dilation + 1;
}

/// The numbers of one spatial dimension.
struct Spatial {
    std::uint64_t input = 1;
    std::uint64_t filter = 1;
    std::uint64_t stride = 1;
    std::uint64_t dilation = 1;
    std::uint64_t padding = 0;
    std::uint64_t output_padding = 0;

    /// Distance from the filter's first to its last element. Below 2^64, because both factors are below 2^32.
    [[nodiscard]] std::uint64_t reach() const { return (filter - 1) * dilation + 1; }
    /// The padded input, over which a forward filter slides.
    [[nodiscard]] std::uint64_t padded() const { return input + padding; }
    /// `written_size`. Both terms are below 2^64; a sum that no
    /// tensor can have is clamped to 2^63.
    [[nodiscard]] std::uint64_t written() const {
        constexpr std::uint64_t most = std::uint64_t{1} << 63U;
        const std::uint64_t moved = (input - 1) * stride;
        return moved >= most || reach() >= most - moved ? most : written_size(input, filter, stride, dilation);
    }
};

/// The index of a spatial dimension in the arrays. Integer convolutions have two entries even for three-dimensional
/// tensors, which are treated as having height 1.
std::size_t entry_of(const Descriptor& descriptor, std::size_t spatial) {
    const std::size_t count = descriptor.sizes("InputTensor").size() - 2;
    return spatial + (descriptor.uint("DimensionCount") - count);
}

Spatial spatial_of(const Descriptor& descriptor, std::size_t d) {
    const std::size_t entry = entry_of(descriptor, d);
    Spatial spatial;
    spatial.input = descriptor.sizes("InputTensor")[d + 2];
    spatial.filter = descriptor.sizes("FilterTensor")[d + 2];
    spatial.stride = descriptor.uints("Strides")[entry];
    spatial.dilation = descriptor.uints("Dilations")[entry];
    spatial.padding = std::uint64_t{descriptor.uints("StartPadding")[entry]} + descriptor.uints("EndPadding")[entry];
    if (descriptor.has_field("OutputPadding")) {
        spatial.output_padding = descriptor.uints("OutputPadding")[entry];
    }
    return spatial;
}

/// The documentation gives strides and dilations of 0 no meaning, nor a filter that does not fit. DirectML 1.15.4
/// accepts them.
Verdict check_spatial(const Descriptor& descriptor, std::size_t d) {
    const Spatial spatial = spatial_of(descriptor, d);
    if (spatial.stride == 0 || spatial.dilation == 0) {
        return broken_rule(descriptor, "strideAndDilation",
                           fmt::format("spatial dimension {} has stride {} and dilation {}; both must be at least 1", d,
                                       spatial.stride, spatial.dilation));
    }
    if (is_backward(descriptor)) {
        if (spatial.written() <= spatial.padding) {
            return broken_rule(descriptor, "filterFits",
                               fmt::format("spatial dimension {}: the filter writes {} elements, of which the padding "
                                           "of {} is removed; at least one must remain",
                                           d, spatial.written(), spatial.padding));
        }
    } else if (spatial.reach() > spatial.padded()) {
        return broken_rule(descriptor, "filterFits",
                           fmt::format("spatial dimension {}: a filter of {} with dilation {} reaches over {} "
                                       "elements, the padded input has {}",
                                       d, spatial.filter, spatial.dilation, spatial.reach(), spatial.padded()));
    }
    return {};
}

/// Forward, each group of filters sees one group of input channels. Backward, there is one filter for each input
/// channel.
Verdict check_channels(const Descriptor& descriptor) {
    const std::uint32_t groups = descriptor.uint("GroupCount");
    const core::Dimensions& filter = descriptor.sizes("FilterTensor");
    const std::uint32_t channels = descriptor.sizes("InputTensor")[1];
    if (groups == 0 || filter[0] % groups != 0) {
        return broken_rule(
            descriptor, "groupCount",
            fmt::format("GroupCount is {}; it must be at least 1 and divide the {} filters", groups, filter[0]));
    }
    const std::uint64_t wanted = is_backward(descriptor) ? filter[0] : std::uint64_t{filter[1]} * groups;
    if (wanted != channels) {
        return broken_rule(descriptor, "inputChannels",
                           fmt::format("InputTensor has {} channels; FilterTensor with sizes {} takes {}", channels,
                                       core::to_string(filter), wanted));
    }
    return {};
}

std::uint64_t output_channels(const Descriptor& descriptor) {
    const core::Dimensions& filter = descriptor.sizes("FilterTensor");
    return is_backward(descriptor) ? std::uint64_t{filter[1]} * descriptor.uint("GroupCount") : filter[0];
}

Verdict check_geometry(const Descriptor& descriptor) {
    if (auto rejection = check_channels(descriptor)) {
        return rejection;
    }
    for (std::size_t d = 0; d + 2 < descriptor.sizes("InputTensor").size(); ++d) {
        if (auto rejection = check_spatial(descriptor, d)) {
            return rejection;
        }
    }
    return {};
}

/// Measured on DirectML 1.15.4: any DimensionCount is accepted for which the arrays have enough entries. The first
/// entries are used.
Verdict check_dimension_count(const Descriptor& descriptor, std::size_t wanted) {
    if (descriptor.uint("DimensionCount") != wanted) {
        return broken_rule(
            descriptor, "dimensionCount",
            fmt::format("DimensionCount is {}; for tensors of {} dimensions it must be {}",
                        descriptor.uint("DimensionCount"), descriptor.sizes("InputTensor").size(), wanted));
    }
    return {};
}

/// The documentation allows four and five dimensions.
Verdict check_convolution(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const std::size_t rank = descriptor.sizes("InputTensor").size();
    if (auto rejection = check_dimension_count(descriptor, rank - 2)) {
        return rejection;
    }
    if (auto rejection = check_geometry(descriptor)) {
        return rejection;
    }
    const core::TensorDesc* bias = descriptor.tensor("BiasTensor");
    WideSizes wanted(rank, 1);
    wanted[1] = output_channels(descriptor);
    if (bias != nullptr && !std::equal(wanted.begin(), wanted.end(), bias->sizes.begin(), bias->sizes.end())) {
        return broken_rule(descriptor, "biasSizes",
                           fmt::format("BiasTensor has sizes {}; it must have size {} in dimension 1, and 1 in all "
                                       "others",
                                       core::to_string(bias->sizes), wanted[1]));
    }
    return {};
}

/// The documentation says "Only a value of 2 is supported", as for QUANTIZED_LINEAR_CONVOLUTION.
Verdict check_convolution_integer(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    if (auto rejection = check_dimension_count(descriptor, 2)) {
        return rejection;
    }
    if (auto rejection = check_geometry(descriptor)) {
        return rejection;
    }
    const bool padded = descriptor.uints("StartPadding")[0] != 0 || descriptor.uints("EndPadding")[0] != 0;
    if (descriptor.sizes("InputTensor").size() == 3 && padded) {
        return broken_rule(descriptor, "heightPadding",
                           "StartPadding[0] and EndPadding[0] must be 0 for 3-D tensors, which have no height");
    }
    if (auto rejection = check_one_or_each(descriptor, "InputZeroPointTensor", 0, 1)) {
        return rejection;
    }
    const core::TensorDesc* zero_points = descriptor.tensor("FilterZeroPointTensor");
    const std::size_t from_end = zero_points == nullptr ? 0 : zero_points->sizes.size() - 1;
    return check_one_or_each(descriptor, "FilterZeroPointTensor", from_end, descriptor.sizes("FilterTensor")[0]);
}

WideSizes convolution_sizes(const Descriptor& descriptor) {
    WideSizes sizes{descriptor.sizes("InputTensor")[0], output_channels(descriptor)};
    for (std::size_t d = 0; d + 2 < descriptor.sizes("InputTensor").size(); ++d) {
        const Spatial spatial = spatial_of(descriptor, d);
        sizes.push_back(spatial.output_padding +
                        (is_backward(descriptor)
                             ? spatial.written() - spatial.padding
                             : forward_size(spatial.padded(), spatial.filter, spatial.stride, spatial.dilation)));
    }
    return sizes;
}

/// What `describe` says. Only CONVOLUTION has backward filters and output padding.
std::vector<std::string> convolution_formulas(bool backward) {
    const SizeFormula input("InputTensor[d + 2]");
    const SizeFormula filter("FilterTensor[d + 2]");
    const SizeFormula start("StartPadding[d]");
    const SizeFormula end("EndPadding[d]");
    const SizeFormula stride("Strides[d]");
    const SizeFormula dilation("Dilations[d]");
    const SizeFormula more = backward ? SizeFormula("OutputPadding[d]") : SizeFormula(0);
    std::vector<std::string> formulas{
        "OutputTensor[0] = InputTensor[0]", "OutputTensor[1] = FilterTensor[0]",
        size_line("OutputTensor[d + 2]", forward_size(input + start + end, filter, stride, dilation) + more)};
    if (backward) {
        formulas.emplace_back("If Direction is BACKWARD:");
        formulas.emplace_back("OutputTensor[1] = FilterTensor[1] * GroupCount");
        formulas.push_back(
            size_line("OutputTensor[d + 2]", written_size(input, filter, stride, dilation) - start - end + more));
    }
    return formulas;
}

ExplainedRule group_count_rule() {
    return {"groupCount", "GroupCount is at least 1 and divides the number of filters, FilterTensor[0]."};
}

ExplainedRule stride_and_dilation_rule() {
    return {"strideAndDilation", "Each stride and each dilation is at least 1."};
}

ExplainedRules convolution_rules() {
    return {{"dimensionCount", "DimensionCount is the number of dimensions of InputTensor minus 2."},
            group_count_rule(),
            {"inputChannels",
             "InputTensor[1] = FilterTensor[1] * GroupCount, or FilterTensor[0] if Direction is BACKWARD."},
            stride_and_dilation_rule(),
            {"filterFits",
             "The filter with its dilation fits into the padded input along each dimension. Backward, at least one "
             "element remains when the padding is removed."},
            {"biasSizes", "BiasTensor has the output's number of channels in dimension 1, and size 1 in all others."}};
}

ExplainedRules convolution_integer_rules() {
    return {
        {"dimensionCount",
         "DimensionCount is 2. For tensors of three dimensions, entry 1 of the arrays is for dimension 2, the "
         "width."},
        group_count_rule(),
        {"inputChannels", "InputTensor[1] = FilterTensor[1] * GroupCount."},
        stride_and_dilation_rule(),
        {"heightPadding",
         "StartPadding[0] and EndPadding[0] are 0 for tensors of three dimensions, which have no height."},
        {"filterFits", "The filter with its dilation fits into the padded input along each dimension."},
        {"parameterSizes",
         "InputZeroPointTensor has one element. FilterZeroPointTensor has one, or FilterTensor[0] in dimension 1."}};
}

/// The tensor that a filter slides over, and the one with an element for each of its positions.
const core::Dimensions& image_of(const Descriptor& descriptor) {
    return descriptor.sizes(is_backward(descriptor) ? "OutputTensor" : "InputTensor");
}

const core::Dimensions& positions_of(const Descriptor& descriptor) {
    return descriptor.sizes(is_backward(descriptor) ? "InputTensor" : "OutputTensor");
}

WindowReach reach_of_filter(const Descriptor& descriptor, std::size_t d) {
    const Spatial spatial = spatial_of(descriptor, d);
    return window_reach({positions_of(descriptor)[d + 2], spatial.stride}, {spatial.filter, spatial.dilation},
                        descriptor.uints("StartPadding")[entry_of(descriptor, d)], image_of(descriptor)[d + 2]);
}

/// One multiplication and one addition for each filter element at each of its positions, unless it is on padding.
double convolution_operations(const Descriptor& descriptor) {
    const core::Dimensions& positions = positions_of(descriptor);
    double terms = double{1} * positions[0] * positions[1] * descriptor.sizes("FilterTensor")[1];
    for (std::size_t d = 0; d + 2 < positions.size(); ++d) {
        terms *= reach_of_filter(descriptor, d).pairs;
    }
    return 2 * terms;
}

/// Only the elements of the input and the filter that meet, and all of the other tensors.
double convolution_bytes(const Descriptor& descriptor, const TensorSlot& input) {
    const bool is_filter = input.name == "FilterTensor";
    if (!is_filter && input.name != "InputTensor") {
        return element_bytes(*input.desc);
    }
    const core::Dimensions& sizes = input.desc->sizes;
    std::vector<double> counts{double{1} * sizes[0], double{1} * sizes[1]};
    for (std::size_t d = 0; d + 2 < sizes.size(); ++d) {
        const WindowReach reach = reach_of_filter(descriptor, d);
        counts.push_back(is_filter ? reach.window : is_backward(descriptor) ? reach.positions : reach.elements);
    }
    return element_bytes(*input.desc, counts);
}

}  // namespace

RulesRows rules() {
    RulesRows rows{{.name = "GEMM",
                    .validate = check_gemm,
                    .rules = gemm_rules(),
                    .output_sizes = product_sizes,
                    .output_formulas = product_formulas(true),
                    .operations = product_operations},
                   {.name = "CONVOLUTION",
                    .validate = check_convolution,
                    .rules = convolution_rules(),
                    .output_sizes = convolution_sizes,
                    .output_formulas = convolution_formulas(true),
                    .operations = convolution_operations,
                    .bytes_read = convolution_bytes},
                   {.name = "CONVOLUTION_INTEGER",
                    .validate = check_convolution_integer,
                    .rules = convolution_integer_rules(),
                    .output_sizes = convolution_sizes,
                    .output_formulas = convolution_formulas(false),
                    .operations = convolution_operations,
                    .bytes_read = convolution_bytes}};
    for (const std::string_view name :
         {"MATRIX_MULTIPLY_INTEGER", "MATRIX_MULTIPLY_INTEGER_TO_FLOAT", "QUANTIZED_LINEAR_MATRIX_MULTIPLY"}) {
        rows.push_back({.name = name,
                        .validate = check_integer_product,
                        .rules = integer_rules(),
                        .output_sizes = product_sizes,
                        .output_formulas = product_formulas(false),
                        .operations = product_operations});
    }
    return rows;
}

}  // namespace dmlconform::operators::product_rules
