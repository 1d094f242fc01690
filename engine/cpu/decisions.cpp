// Lists the operators that decide, and moves their inputs.
#include "engine/cpu/decisions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <type_traits>

#include "engine/core/hash.h"

namespace dmlconform::cpu {
namespace {

struct DecidingOperator {
    std::string_view name;
    Decision decision = Decision::none;
    /// The input that is compared with a bound; empty for all inputs.
    std::string_view decided_by = {};
};

/// Operators whose floating-point outputs are decisions. TOP_K and MAX_POOLING only pick the elements of their integer
/// outputs: values of nearly equal elements are nearly equal.
constexpr std::array<DecidingOperator, 25> deciding{{
    {"ELEMENT_WISE_ROUND", Decision::steps},
    {"ELEMENT_WISE_CEIL", Decision::steps},
    {"ELEMENT_WISE_FLOOR", Decision::steps},
    {"ELEMENT_WISE_SIGN", Decision::steps},
    {"ACTIVATION_RELU_GRAD", Decision::steps, "InputTensor"},
    {"ELEMENT_WISE_CLIP_GRAD", Decision::steps, "InputTensor"},
    {"ELEMENT_WISE_CLIP_GRAD1", Decision::steps, "InputTensor"},
    {"ACTIVATION_HARDMAX", Decision::picks},
    {"ACTIVATION_HARDMAX1", Decision::picks},
    {"MAX_POOLING_GRAD", Decision::picks, "InputTensor"},
    {"ELEMENT_WISE_MODULUS_TRUNCATE", Decision::jumps},
    {"ELEMENT_WISE_MODULUS_FLOOR", Decision::jumps},
    {"ELEMENT_WISE_ATAN_YX", Decision::jumps},
    {"ACTIVATION_THRESHOLDED_RELU", Decision::jumps},
    {"ACTIVATION_SHRINK", Decision::jumps},
    // Beyond the end of the domain, the result is NaN.
    {"ELEMENT_WISE_ACOS", Decision::jumps},
    {"ELEMENT_WISE_ACOSH", Decision::jumps},
    {"ELEMENT_WISE_ASIN", Decision::jumps},
    {"ELEMENT_WISE_ATANH", Decision::jumps},
    {"ELEMENT_WISE_LOG", Decision::jumps},
    {"ELEMENT_WISE_SQRT", Decision::jumps},
    {"ELEMENT_WISE_POW", Decision::jumps},
    {"ELEMENT_WISE_CONSTANT_POW", Decision::jumps},
    {"ROI_POOLING", Decision::jumps, "ROITensor"},
    {"ROI_ALIGN", Decision::jumps, "ROITensor"},
}};

/// Operators whose integer outputs are positions of extremes.
constexpr std::array<std::string_view, 7> picking{"ARGMAX", "ARGMIN",       "REDUCE",      "TOP_K",
                                                  "TOP_K1", "MAX_POOLING1", "MAX_POOLING2"};

const DecidingOperator* find_deciding(std::string_view name) {
    // ROI_ALIGN1 decides like ROI_ALIGN.
    const auto found = std::ranges::find(deciding, name == "ROI_ALIGN1" ? "ROI_ALIGN" : name, &DecidingOperator::name);
    return found == deciding.end() ? nullptr : &*found;
}

bool is_real(const operators::TensorSlot& slot) {
    return slot.desc != nullptr && core::is_floating_point(slot.desc->data_type);
}

/// In each pair of turns, some elements are chosen. They move up in one turn of the two, and all others in the other
/// turn. The first pair chooses every second element. The others divide the elements among them, so that each element
/// is chosen once together with few others: two pairs choose a quarter each, three an eighth, and two a sixteenth.
bool moves_up_to_be_picked(std::uint64_t hash, std::size_t turn) {
    constexpr std::array<std::size_t, 16> pair_of_share{1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7};
    constexpr std::size_t pairs = 8;
    const std::size_t pair = turn / 2 % pairs;
    const bool is_chosen =
        pair == 0 ? (hash >> 8 & 1) != 0 : pair_of_share[static_cast<std::size_t>(hash % 16)] == pair;
    return is_chosen != (turn % 2 != 0);
}

}  // namespace

Decision decision_of(const operators::Descriptor& descriptor, std::size_t output) {
    const core::DataType type = descriptor.outputs()[output].desc->data_type;
    const auto inputs = descriptor.inputs();
    const std::string_view name = descriptor.schema->short_name();
    if (!core::is_floating_point(type)) {
        return std::ranges::none_of(inputs, is_real)               ? Decision::none
               : std::ranges::find(picking, name) != picking.end() ? Decision::picks
                                                                   : Decision::steps;
    }
    if (const DecidingOperator* found = find_deciding(name)) {
        return found->decision;
    }
    const bool rounds = type == core::DataType::float16 && std::ranges::any_of(inputs, [](const auto& slot) {
                            return is_real(slot) && slot.desc->data_type != core::DataType::float16;
                        });
    return rounds ? Decision::rounds_to_float16 : Decision::none;
}

bool takes_part(const operators::Descriptor& descriptor, std::size_t input) {
    const operators::TensorSlot slot = descriptor.inputs()[input];
    const DecidingOperator* found = find_deciding(descriptor.schema->short_name());
    return is_real(slot) && (found == nullptr || found->decided_by.empty() || found->decided_by == slot.name);
}

bool reads_bits(const operators::Descriptor& descriptor, std::size_t input, core::DataType written) {
    const core::DataType read = descriptor.inputs()[input].desc->data_type;
    const bool is_bit_operator = descriptor.schema->short_name().starts_with("ELEMENT_WISE_BIT_");
    return read != written || (is_bit_operator && core::is_floating_point(read));
}

void limit_to_half_steps(const core::Tensor& tensor, std::span<double> distances) {
    core::with_type(tensor.desc.data_type, [&]<class T>() {
        const auto elements = tensor.as<T>();
        for (std::size_t i = 0; i < distances.size(); ++i) {
            distances[i] = std::min(distances[i], 0x1p-11 * std::fabs(static_cast<double>(elements[i])));
        }
    });
}

void move_across_bounds(core::Tensor& tensor, std::span<const double> distances, std::size_t turn, std::uint64_t seed,
                        bool picks) {
    core::with_type(tensor.desc.data_type, [&]<class T>() {
        if constexpr (!std::is_integral_v<T>) {
            const auto elements = tensor.as<T>();
            for (std::size_t i = 0; i < distances.size(); ++i) {
                const std::uint64_t hash = core::mixed(seed + i);
                const bool up = picks ? moves_up_to_be_picked(hash, turn) : ((hash + turn) & 1) != 0;
                elements[i] = static_cast<T>(static_cast<double>(elements[i]) + (up ? distances[i] : -distances[i]));
            }
        }
    });
}

bool take_jumps(const core::Tensor& moved, std::span<const double> spreads, core::Tensor& output) {
    // The inputs moved by eight spreads, and a continuous result follows them. Where it follows eight times as fast as
    // it followed the noise, it jumps.
    constexpr double most_of_continuous = 64;
    bool changed = false;
    core::with_type(output.desc.data_type, [&]<class T>() {
        const auto from = moved.as<T>();
        const auto to = output.as<T>();
        for (std::size_t i = 0; i < spreads.size(); ++i) {
            const auto moved_to = static_cast<double>(from[i]);
            const auto was = static_cast<double>(to[i]);
            if (std::isnan(moved_to) != std::isnan(was) ||
                std::fabs(moved_to - was) > most_of_continuous * spreads[i]) {
                to[i] = from[i];
                changed = true;
            }
        }
    });
    return changed;
}

}  // namespace dmlconform::cpu
