// BATCH_NORMALIZATION of a single element, and a fast path for FLOAT32 tensors.
#pragma once

#include <optional>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/cpu/kernel.h"

namespace dmlconform::cpu::normalisation {

/// The parameters of a group of elements.
struct Normalisation {
    double mean = 0;
    double variance = 0;
    double scale = 1;
    double bias = 0;
    double epsilon = 0;
    /// A single division for the whole group.
    double factor = factor_of(scale, variance, epsilon);

    [[nodiscard]] static double factor_of(double scale, double variance, double epsilon);

    /// `added` is added after the bias.
    [[nodiscard]] double operator()(double x, double added) const { return (x - mean) * factor + bias + added; }
};

/// The fast path: computes BATCH_NORMALIZATION if no bounds are wanted, there is no activation, and FLOAT32 elements
/// that share mean, variance, scale and bias are contiguous. Otherwise returns false without doing anything.
[[nodiscard]] bool normalise_floats(const KernelArguments& arguments,
                                    const std::vector<const core::Tensor*>& parameters);

/// The same for parts of several runs that share the parameters. Empty if that is not possible.
[[nodiscard]] std::optional<ElementByElement> normalise_parts(const operators::Descriptor& descriptor,
                                                              const std::vector<const core::Tensor*>& parameters);

}  // namespace dmlconform::cpu::normalisation
