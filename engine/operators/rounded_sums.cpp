// Counts terms of sums, operator by operator.
#include "engine/operators/rounded_sums.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "engine/operators/enumerators.h"

namespace dmlconform::operators {
namespace {

using core::RoundedSum;
using Sums = std::vector<RoundedSum>;

/// No formula has more operations that are not part of a sum between an input and an output.
constexpr double other_operations = 32;

double size_of(const Descriptor& descriptor, std::string_view tensor, std::size_t from_the_end) {
    const core::Dimensions& sizes = descriptor.sizes(tensor);
    return from_the_end < sizes.size() ? static_cast<double>(sizes[sizes.size() - 1 - from_the_end]) : 1;
}

double elements_of(const Descriptor& descriptor, std::string_view tensor) {
    return static_cast<double>(*core::element_count(descriptor.sizes(tensor)));
}

double product(const std::vector<std::uint32_t>& numbers) {
    double count = 1;
    for (const std::uint32_t number : numbers) {
        count *= number;
    }
    return count;
}

// ---- products ----------------------------------------------------------------------------------------------------

/// Alpha may be applied to each term.
Sums of_gemm(const Descriptor& descriptor) {
    const auto transform = enumerator<MatrixTransform>(descriptor, "TransA");
    const double terms = size_of(descriptor, "ATensor", transform == MatrixTransform::none ? 0 : 1);
    return {{terms, descriptor.number("Alpha") == 1 ? 1.0 : 2.0}};
}

/// Going backward, each filter's output channels are those of a group.
Sums of_convolution(const Descriptor& descriptor) {
    const core::Dimensions& sizes = descriptor.sizes("FilterTensor");
    const std::size_t dimensions = descriptor.uint("DimensionCount");
    double terms = 1;
    for (std::size_t d = sizes.size() - dimensions; d < sizes.size(); ++d) {
        terms *= sizes[d];
    }
    const bool is_forward = enumerator<ConvolutionDirection>(descriptor, "Direction") == ConvolutionDirection::forward;
    const std::size_t channels = sizes.size() - dimensions - (is_forward ? 1 : 2);
    terms *= sizes[channels];
    terms /= is_forward ? 1 : descriptor.uint("GroupCount");
    return {{terms, 1}};
}

/// Both factors of each term may be multiplied by a scale before.
Sums of_dequantized_product(const Descriptor& descriptor) {
    return {{size_of(descriptor, "ATensor", 0), 3}};
}

/// Scores, the sum of their powers, and the weighted values.
Sums of_attention(const Descriptor& descriptor) {
    const double heads = descriptor.uint(descriptor.has_field("HeadCount") ? "HeadCount" : "QueryHeadCount");
    double width = 0;
    double keys = 0;
    for (const TensorSlot& slot : descriptor.inputs()) {
        if (slot.desc == nullptr) {
            continue;
        }
        const core::Dimensions& sizes = slot.desc->sizes;
        const std::string_view name = slot.name;
        const bool is_past = name.starts_with("PastKey");
        // Keys that are stacked on queries or values have dimensions of their own for that: {…, heads, 3, size}.
        const bool is_stacked = name.starts_with("Stacked");
        if (name == "KeyTensor" || is_past) {
            keys += sizes[sizes.size() - 2];
        } else if (is_stacked) {
            keys += sizes[sizes.size() - 4];
        }
        if (name == "QueryTensor") {
            width = sizes.back() / heads;
        } else if (is_past || is_stacked) {
            width = sizes.back();
        }
    }
    return {{width, 2}, {3 * keys, 0}, {keys, 2}};
}

// ---- recurrent networks ------------------------------------------------------------------------------------------

/// Each step has `sums` after each other, of which the last are `gates` beside each other.
Sums of_steps(const Descriptor& descriptor, std::size_t sums, double gates) {
    const double terms = size_of(descriptor, "InputTensor", 0) + size_of(descriptor, "RecurrenceTensor", 0);
    Sums all;
    for (double step = 0; step < size_of(descriptor, "InputTensor", 2); ++step) {
        all.insert(all.end(), sums - 1, {terms + other_operations, 1});
        all.push_back({gates * terms + other_operations, 1});
    }
    return all;
}

Sums of_rnn(const Descriptor& descriptor) {
    return of_steps(descriptor, 1, 1);
}

/// The gates of input, forgetting, output and the cell.
Sums of_lstm(const Descriptor& descriptor) {
    return of_steps(descriptor, 1, 4);
}

/// What the reset gate multiplies, then the update gate and the new state.
Sums of_gru(const Descriptor& descriptor) {
    return of_steps(descriptor, 2, 2);
}

// ---- sets --------------------------------------------------------------------------------------------------------

/// The elements of a set: those along the axes that are named, or along the last dimension.
double elements_in_set(const Descriptor& descriptor) {
    if (descriptor.has_field("Axis")) {
        return descriptor.sizes("InputTensor")[descriptor.uint("Axis")];
    }
    if (!descriptor.has_field("Axes")) {
        return size_of(descriptor, "InputTensor", 0);
    }
    double count = 1;
    std::vector<std::uint32_t> axes = descriptor.uints("Axes");
    std::ranges::sort(axes);
    axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
    for (const std::uint32_t axis : axes) {
        count *= descriptor.sizes("InputTensor")[axis];
    }
    return count;
}

Sums of_set(const Descriptor& descriptor) {
    return {{elements_in_set(descriptor), 0}};
}

Sums of_squares(const Descriptor& descriptor) {
    return {{elements_in_set(descriptor), 1}};
}

/// With P = 1, the formula multiplies the sum by itself, of which the expected error has half of the variance.
Sums of_norm(const Descriptor& descriptor) {
    return {{(descriptor.uint("P") == 1 ? 2 : 1) * elements_in_set(descriptor), 1}};
}

/// Each power is of a difference from the maximum.
Sums of_powers(const Descriptor& descriptor) {
    return {{3 * elements_in_set(descriptor), 0}};
}

Sums of_reduction(const Descriptor& descriptor) {
    using enum ReduceFunction;
    switch (enumerator<ReduceFunction>(descriptor, "Function")) {
        case log_sum_exp:
            return of_powers(descriptor);
        case l2:
        case sum_square:
            return of_squares(descriptor);
        default:
            return of_set(descriptor);
    }
}

/// A mean and a variance, whose terms are squares of rounded differences.
RoundedSum of_statistics(double terms) {
    return {2 * terms, 3};
}

Sums of_normalization(const Descriptor& descriptor) {
    if (descriptor.has_field("Axes")) {
        return {of_statistics(elements_in_set(descriptor))};
    }
    const core::Dimensions& sizes = descriptor.sizes("InputTensor");
    const double channels = descriptor.uint("CrossChannel") != 0 ? 1 : sizes[1];
    return {of_statistics(elements_of(descriptor, "InputTensor") / sizes[0] / channels)};
}

/// A set is all elements of a channel, or of what else has a scale of its own.
Sums of_batch(const Descriptor& descriptor) {
    return {of_statistics(elements_of(descriptor, "InputTensor") / elements_of(descriptor, "ScaleTensor"))};
}

// ---- windows -----------------------------------------------------------------------------------------------------

/// A region of LocalSize channels, or a square of that side.
double elements_of_region(const Descriptor& descriptor) {
    const double size = descriptor.uint("LocalSize");
    return descriptor.uint("CrossChannel") != 0 ? size : size * size;
}

Sums of_region(const Descriptor& descriptor) {
    return {{elements_of_region(descriptor), 1}};
}

/// Each term of the second sum has a sum of its own.
Sums of_region_gradient(const Descriptor& descriptor) {
    const double terms = elements_of_region(descriptor);
    return {{terms, 1}, {terms + other_operations, 2}};
}

/// Gradients may be divided before.
Sums of_window(const Descriptor& descriptor) {
    return {{product(descriptor.uints("WindowSize")), 2}};
}

Sums of_window_of_powers(const Descriptor& descriptor) {
    return {{2 * product(descriptor.uints("WindowSize")), 1}};
}

Sums of_folding(const Descriptor& descriptor) {
    return {{product(descriptor.uints("WindowSizes")), 0}};
}

/// At an edge, all gradients along a dimension may meet.
Sums of_resampling_gradient(const Descriptor& descriptor) {
    const core::Dimensions& from = descriptor.sizes("InputGradientTensor");
    const core::Dimensions& to = descriptor.sizes("OutputGradientTensor");
    double terms = 1;
    for (std::size_t d = 0; d < from.size(); ++d) {
        terms *= from[d] == to[d] ? 1 : from[d];
    }
    return {{terms, 3}};
}

/// The average of samples, of which each interpolates between four elements.
double elements_of_samples(const Descriptor& descriptor) {
    const double samples = descriptor.uint("MaximumSamplesPerOutput");
    return 4 * samples * samples;
}

Sums of_aligned_region(const Descriptor& descriptor) {
    return {{elements_of_samples(descriptor), 3}};
}

Sums of_aligned_region_gradient(const Descriptor& descriptor) {
    const double channels = size_of(descriptor, "InputGradientTensor", 2);
    return {{elements_of_samples(descriptor) * elements_of(descriptor, "InputGradientTensor") / channels, 3}};
}

// ---- the table ---------------------------------------------------------------------------------------------------

struct Row {
    std::string_view name;
    Sums (*sums)(const Descriptor& descriptor);
};

constexpr std::array rounded_operators{
    Row{"ACTIVATION_LOG_SOFTMAX", of_powers},
    Row{"ACTIVATION_LOG_SOFTMAX1", of_powers},
    Row{"ACTIVATION_SOFTMAX", of_powers},
    Row{"ACTIVATION_SOFTMAX1", of_powers},
    Row{"AVERAGE_POOLING", of_window},
    Row{"AVERAGE_POOLING1", of_window},
    Row{"AVERAGE_POOLING_GRAD", of_window},
    Row{"BATCH_NORMALIZATION_GRAD", of_batch},
    Row{"BATCH_NORMALIZATION_TRAINING", of_batch},
    Row{"BATCH_NORMALIZATION_TRAINING_GRAD", of_batch},
    Row{"CONVOLUTION", of_convolution},
    Row{"CUMULATIVE_PRODUCT", of_set},
    Row{"CUMULATIVE_SUMMATION", of_set},
    Row{"FOLD", of_folding},
    Row{"GEMM", of_gemm},
    Row{"GRU", of_gru},
    Row{"LOCAL_RESPONSE_NORMALIZATION", of_region},
    Row{"LOCAL_RESPONSE_NORMALIZATION_GRAD", of_region_gradient},
    Row{"LP_NORMALIZATION", of_norm},
    Row{"LP_POOLING", of_window_of_powers},
    Row{"LP_POOLING1", of_window_of_powers},
    Row{"LSTM", of_lstm},
    Row{"MATRIX_MULTIPLY_INTEGER_TO_FLOAT", of_dequantized_product},
    Row{"MAX_POOLING_GRAD", of_window},
    Row{"MEAN_VARIANCE_NORMALIZATION", of_normalization},
    Row{"MEAN_VARIANCE_NORMALIZATION1", of_normalization},
    Row{"MEAN_VARIANCE_NORMALIZATION2", of_normalization},
    Row{"MULTIHEAD_ATTENTION", of_attention},
    Row{"MULTIHEAD_ATTENTION1", of_attention},
    Row{"REDUCE", of_reduction},
    Row{"RESAMPLE_GRAD", of_resampling_gradient},
    Row{"RESAMPLE_GRAD1", of_resampling_gradient},
    Row{"RNN", of_rnn},
    Row{"ROI_ALIGN", of_aligned_region},
    Row{"ROI_ALIGN1", of_aligned_region},
    Row{"ROI_ALIGN_GRAD", of_aligned_region_gradient},
};

/// A fused softmax adds a sum over at most all elements of the output.
Sums of_fused_softmax(const Descriptor& descriptor) {
    const Descriptor* const activation =
        descriptor.has_field("FusedActivation") ? descriptor.activation("FusedActivation") : nullptr;
    if (activation == nullptr || activation->schema->name.find("SOFTMAX") == std::string::npos) {
        return {};
    }
    return {{3 * elements_of(descriptor, "OutputTensor"), 0}};
}

}  // namespace

std::vector<RoundedSum> rounded_sums(const Descriptor& descriptor) {
    const auto* const row = std::ranges::find(rounded_operators, descriptor.schema->short_name(), &Row::name);
    Sums sums = row == rounded_operators.end() ? Sums{{0, 0}} : row->sums(descriptor);
    sums.front().roundings += other_operations;
    const Sums fused = of_fused_softmax(descriptor);
    sums.insert(sums.end(), fused.begin(), fused.end());
    return sums;
}

}  // namespace dmlconform::operators
