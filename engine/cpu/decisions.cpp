// Asks the catalogue which operators decide, and moves their inputs.
#include "engine/cpu/decisions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "engine/core/floating_format.h"
#include "engine/core/hash.h"
#include "engine/operators/element_rules.h"

namespace dmlconform::cpu {
namespace {

Decision decision_from(operators::Decides::Kind kind) {
    switch (kind) {
        case operators::Decides::Kind::steps:
            return Decision::steps;
        case operators::Decides::Kind::picks:
            return Decision::picks;
        case operators::Decides::Kind::jumps:
            return Decision::jumps;
        case operators::Decides::Kind::nothing:
        default:
            return Decision::none;
    }
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
    const operators::Decides& decides = operators::element_rules(*descriptor.schema).decides;
    if (!core::is_floating_point(type)) {
        return std::ranges::none_of(inputs, is_real) ? Decision::none : decision_from(decides.integers);
    }
    if (decides.values != operators::Decides::Kind::nothing) {
        return decision_from(decides.values);
    }
    const bool rounds = type == core::DataType::float16 && std::ranges::any_of(inputs, [](const auto& slot) {
                            return is_real(slot) && slot.desc->data_type != core::DataType::float16;
                        });
    return rounds ? Decision::rounds_to_float16 : Decision::none;
}

bool takes_part(const operators::Descriptor& descriptor, std::size_t input) {
    const operators::TensorSlot slot = descriptor.inputs()[input];
    const std::string& by = operators::element_rules(*descriptor.schema).decides.by;
    return is_real(slot) && (by.empty() || by == slot.name);
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
            distances[i] =
                std::min(distances[i], core::float16.half_rounding * std::fabs(static_cast<double>(elements[i])));
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
