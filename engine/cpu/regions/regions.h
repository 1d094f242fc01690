// Regions of interest: the sample positions of ROI_ALIGN and related operators.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/cpu/kernel.h"
#include "engine/cpu/resampling/interpolation.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cpu::window {

/// Attributes that apply to all regions.
struct RegionRules {
    double scale_x = 1;
    double scale_y = 1;
    /// Measured on DirectML 1.15.4: ROI_ALIGN puts samples relative to the centres of elements, as the documentation
    /// of ROI_ALIGN1 says.
    double input_offset = 0.5;
    double output_offset = -0.5;
    std::int64_t minimum_samples = 1;
    std::int64_t maximum_samples = 1;
    bool to_corners = false;
    bool linear = false;
    bool maximum = false;

    explicit RegionRules(const operators::Descriptor& descriptor);
};

/// One axis of a region: `outputs` outputs, each with the same number of samples, along `size` input elements.
class RegionAxis {
public:
    RegionAxis(const RegionRules& rules, double scale, double start, double end, std::int64_t outputs,
               std::int64_t size);

    /// The number of samples of an output, followed by other numbers that FP32 may compute.
    [[nodiscard]] const std::vector<std::int64_t>& counts() const { return counts_; }

    /// All samples, ordered by output, if each output has `count` of them.
    [[nodiscard]] std::vector<Sample> samples(std::int64_t count, bool bounded) const;

private:
    [[nodiscard]] std::int64_t count_of(double ratio) const;
    [[nodiscard]] double position(double number, double all) const;
    [[nodiscard]] Interval position_in_fp32(double number, double all) const;
    void mark_inside(Sample& sample) const;

    const RegionRules& rules_;
    std::int64_t outputs_;
    std::int64_t size_;
    double start_;
    double end_;
    double length_;
    Interval start_range_;
    Interval end_range_;
    Interval length_range_;
    /// The start and the length, if the input's offset is subtracted from both corners first.
    Interval shifted_start_;
    Interval shifted_length_;
    std::vector<std::int64_t> counts_;
};

/// The samples of a region in both directions, for a given number of samples per output.
struct Grid {
    std::int64_t rows = 1;
    std::int64_t columns = 1;
    std::vector<Sample> y;
    std::vector<Sample> x;

    [[nodiscard]] double count() const { return static_cast<double>(rows) * static_cast<double>(columns); }
};

/// One region. The first grid follows the formula; the others are those that FP32 may compute.
struct Region {
    std::int64_t batch = 0;
    std::vector<Grid> grids;
};

/// The list of regions: a tensor {.., n, 4} of corners, and one batch index for each.
class Regions {
public:
    Regions(const operators::Descriptor& descriptor, const core::Tensor& regions, const core::Tensor& batches,
            const core::Dimensions& outputs, const core::Dimensions& image);

    [[nodiscard]] const RegionRules& rules() const { return rules_; }
    [[nodiscard]] std::int64_t count() const { return count_; }
    [[nodiscard]] Region region(std::int64_t number, bool bounded) const;

private:
    RegionRules rules_;
    const core::Tensor& regions_;
    const core::Tensor& batches_;
    core::Dimensions outputs_;
    core::Dimensions image_;
    std::int64_t count_;
};

}  // namespace dmlconform::cpu::window
