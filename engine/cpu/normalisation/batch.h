// BATCH_NORMALIZATION of one element, and of FLOAT32 tensors from memory to memory.
#pragma once

#include <vector>

#include "engine/core/tensor.h"
#include "engine/cpu/kernel.h"

namespace dmlconform::cpu::normalisation {

/// What a set of elements shares.
struct Normalisation {
    double mean = 0;
    double variance = 0;
    double scale = 1;
    double bias = 0;
    double epsilon = 0;
    /// One division for the whole set.
    double factor = factor_of(scale, variance, epsilon);

    [[nodiscard]] static double factor_of(double scale, double variance, double epsilon);

    /// `added` comes after bias.
    [[nodiscard]] double operator()(double x, double added) const { return (x - mean) * factor + bias + added; }
};

/// Computes BATCH_NORMALIZATION if neither bounds nor an activation is asked for, and elements are FLOAT32 ones that
/// lie side by side with those that share their parameters: mean, variance, scale and bias. Otherwise false, and
/// nothing is done.
[[nodiscard]] bool normalise_floats(const KernelArguments& arguments,
                                    const std::vector<const core::Tensor*>& parameters);

}  // namespace dmlconform::cpu::normalisation
