// MEAN_VARIANCE_NORMALIZATION and its numbered successors: centre and scale a tensor over a set of axes.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/operators/descriptor.h"

namespace dmlconform::operators {

/// The fields of MEAN_VARIANCE_NORMALIZATION, MEAN_VARIANCE_NORMALIZATION1 or MEAN_VARIANCE_NORMALIZATION2, in terms of
/// which they are one operator. Refers to the descriptor, which must outlive it.
struct MeanVarianceNormalization1 {
    explicit MeanVarianceNormalization1(const Descriptor& descriptor);

    const core::TensorDesc& input;
    const core::TensorDesc& output;
    /// Null when absent.
    const core::TensorDesc* scale = nullptr;
    const core::TensorDesc* bias = nullptr;
    /// One for each dimension: whether mean and variance run over it. Repeated axes count once.
    std::vector<bool> reduced;
    /// Without, the variance is the mean of squares.
    bool subtract_mean = true;
    bool normalize_variance = false;
    float epsilon = 0;
    /// Null when absent.
    const Descriptor* activation = nullptr;
};

}  // namespace dmlconform::operators
