// Decisions: nodes where a small error of an input may change an output by a whole step.
//
// Few of the noisy runs would take the other side of a tie. At a decision, each run therefore moves the node's inputs
// as far as a legal implementation may be off, so that every tie in reach is decided both ways: docs/graphs.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/core/tensor.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cpu {

enum class Decision : std::uint8_t {
    none,
    /// Rounding to FLOAT16 of what is computed more precisely. Half a step is enough to change it, and the effect on
    /// other nodes is that of noise.
    rounds_to_float16,
    /// The result is one of few values: quantised numbers, comparisons, whole numbers.
    steps,
    /// The position of an extreme, which each of many nearly equal elements may be.
    picks,
    /// The result is continuous, except where an input crosses a bound, such as the end of a function's domain.
    jumps,
};

/// How an output of a node depends on its inputs. The output must be present.
[[nodiscard]] Decision decision_of(const operators::Descriptor& descriptor, std::size_t output);

/// True if an input takes part in the decision, so that moving it shows both sides. Other inputs are only passed on.
[[nodiscard]] bool takes_part(const operators::Descriptor& descriptor, std::size_t input);

/// True if the result follows from the bits of an input, so that it may be any number where one bit differs: from those
/// of a floating-point number, or from those of a value of the type `written`, where the node reads another type.
[[nodiscard]] bool reads_bits(const operators::Descriptor& descriptor, std::size_t input, core::DataType written);

/// Limits the distances of elements that are only rounded to FLOAT16 to half a step.
void limit_to_half_steps(const core::Tensor& tensor, std::span<double> distances);

/// Moves the elements of a tensor by their distances, some up and the others down, depending on `turn`. `seed` is
/// different for each input of a node. With 16 turns, each element moves up in eight of them. If `picks`, only few
/// elements move up in some turns, so that each of many candidates is chosen in one of them.
void move_across_bounds(core::Tensor& tensor, std::span<const double> distances, std::size_t turn, std::uint64_t seed,
                        bool picks);

/// Replaces elements of a jumping output by those of `moved`, the output after the node's inputs were moved, if they
/// are further away than a continuous function could be. `spreads` are the root mean squares of the deviations of the
/// output's elements without moved inputs. Returns true if an element was replaced. The layouts must be the same.
bool take_jumps(const core::Tensor& moved, std::span<const double> spreads, core::Tensor& output);

}  // namespace dmlconform::cpu
