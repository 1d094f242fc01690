// The table of variants. docs/expectations.md says what each of them computes.
#include "engine/cpu/variants.h"

#include <algorithm>
#include <array>

namespace dmlconform::cpu {
namespace {

using namespace variants_of_kernels;

constexpr std::array<std::string_view, 3> resamplings{"RESAMPLE1", "RESAMPLE2", "RESAMPLE3"};
constexpr std::array<std::string_view, 2> first_resamplings{"RESAMPLE", "RESAMPLE1"};
constexpr std::array<std::string_view, 1> average_grad{"AVERAGE_POOLING_GRAD"};
constexpr std::array<std::string_view, 1> average{"AVERAGE_POOLING1"};
constexpr std::array<std::string_view, 1> norm{"LP_POOLING1"};
constexpr std::array<std::string_view, 1> maximum{"MAX_POOLING2"};
constexpr std::array<std::string_view, 1> quantized_average{"QUANTIZED_LINEAR_AVERAGE_POOLING"};
constexpr std::array<std::string_view, 3> normalizations{"MEAN_VARIANCE_NORMALIZATION", "MEAN_VARIANCE_NORMALIZATION1",
                                                         "MEAN_VARIANCE_NORMALIZATION2"};
constexpr std::array<std::string_view, 1> rnn{"RNN"};
constexpr std::array<std::string_view, 1> gru{"GRU"};
constexpr std::array<std::string_view, 1> lstm{"LSTM"};
constexpr std::array<std::string_view, 1> slice1{"SLICE1"};
constexpr std::array<std::string_view, 1> slice_grad{"SLICE_GRAD"};
constexpr std::array<std::string_view, 2> clips{"ELEMENT_WISE_CLIP", "ELEMENT_WISE_CLIP1"};
constexpr std::array<std::string_view, 2> clip_gradients{"ELEMENT_WISE_CLIP_GRAD", "ELEMENT_WISE_CLIP_GRAD1"};

constexpr Variant all[] = {
    {"clampedOffsets", resamplings, resample_with_clamped_offsets},
    {"elementsBelow", first_resamplings, resample_with_elements_below},
    {"mergedDimensions", slice1, slice1_with_merged_dimensions},
    {"mergedDimensions", slice_grad, slice_grad_with_merged_dimensions},
    {"narrowPositions", average, average_pooling_in_32_bits},
    {"narrowPositions", norm, lp_pooling_in_32_bits},
    {"narrowPositions", maximum, max_pooling_in_32_bits},
    {"narrowPositions", average_grad, average_pooling_grad_in_32_bits},
    {"narrowPositions", quantized_average, quantized_average_pooling_in_32_bits},
    {"storedVariance", normalizations, mean_variance_normalization_with_stored_variance},
    {"absentStates", rnn, rnn_without_absent_states},
    {"absentStates", gru, gru_without_absent_states},
    {"absentStates", lstm, lstm_without_absent_states},
    {"signedHalves", clips, clip_by_halves},
    {"signedHalves", clip_gradients, clip_grad_by_halves},
};

}  // namespace

std::span<const Variant> variants() {
    return all;
}

const Variant* find_variant(const operators::OperatorSchema& schema, std::string_view name) {
    const auto* const found = std::ranges::find_if(all, [&](const Variant& variant) {
        return variant.name == name &&
               std::ranges::find(variant.operators, schema.short_name()) != variant.operators.end();
    });
    return found == std::end(all) ? nullptr : found;
}

}  // namespace dmlconform::cpu
