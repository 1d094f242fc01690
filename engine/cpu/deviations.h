// How much the noisy runs of a graph differ from the reference, element by element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/core/tolerance.h"

namespace dmlconform::cpu {

class Deviations {
public:
    /// The minimum share of elements with a spread for which their common spread is used.
    static constexpr double least_share = 0.05;

    /// Tensors must be packed.
    explicit Deviations(core::Tensor reference);

    /// Adds the differences between a run and the reference.
    void add(const core::Tensor& packed);

    /// The root mean square of each element's differences.
    [[nodiscard]] std::vector<double> spreads() const;
    /// How far a legal implementation may deviate, for each element.
    [[nodiscard]] std::vector<double> bounds() const;
    /// Adds the effect of errors in the inputs to the slack of the node that computes the output: to its range, and to
    /// its standard deviation where that is known.
    void widen(core::ElementSlack& slack) const;

private:
    [[nodiscard]] double spread(std::size_t i) const;
    /// The root mean square of the spreads that are finite and not 0. 0 if there are too few of them. Among the
    /// greatest ones, as many as would be too few do not count if they are far beyond the others: these elements are at
    /// a tie.
    [[nodiscard]] double common_spread() const;

    core::Tensor reference_;
    std::vector<double> squares_;
    std::vector<double> least_;
    std::vector<double> greatest_;
    /// As in ElementSlack. Where NaN is expected, the bounds are those of the runs' values.
    std::vector<std::uint8_t> nan_;
    std::size_t runs_ = 0;
};

/// Widens distances by half a unit of the type, and at least to the neighbours. Runs are stored in a tensor's type,
/// which hides errors below half a unit. An implementation with such an error may round to the neighbour all the same.
void reach_neighbours(const core::Tensor& packed, std::span<double> distances);

}  // namespace dmlconform::cpu
