// MEAN_VARIANCE_NORMALIZATION and its numbered successors: centre and scale a tensor over a set of axes.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/operators/descriptor.h"

namespace dmlconform::operators {

/// The common fields of the three MEAN_VARIANCE_NORMALIZATION operators, by which they are one operator. Refers to the
/// descriptor, which must outlive it.
struct MeanVarianceNormalization1 {
    explicit MeanVarianceNormalization1(const Descriptor& descriptor);

    const core::TensorDesc& input;
    const core::TensorDesc& output;
    /// Null if absent.
    const core::TensorDesc* scale = nullptr;
    const core::TensorDesc* bias = nullptr;
    /// For each dimension, whether mean and variance are taken over it. Repeated axes count once.
    std::vector<bool> reduced;
    /// If false, the variance is the mean of squares.
    bool subtract_mean = true;
    bool normalize_variance = false;
    float epsilon = 0;
    /// Null if absent.
    const Descriptor* activation = nullptr;
};

}  // namespace dmlconform::operators
