// ROI_ALIGN and ROI_ALIGN1: mean or maximum of samples in regions of a tensor. What comments say about DirectML 1.15.4
// is undocumented and was measured on it. Equals definitions/regions.cpp.
#include <limits>

#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/movement/indices.h"
#include "engine/cpu/regions/image.h"
#include "engine/cpu/regions/samples.h"

namespace dmlconform::cpu::roi_align_kernels {
namespace {

using window::Grid;
using window::Plane;
using window::Region;
using window::Sample;
using window::Samples;

double average(const Plane& plane, const Samples& samples, double count) {
    double sum = 0;
    samples.for_each([&](const Sample& y, const Sample& x) { sum += plane.value(y, x); });
    return sum / count;
}

Interval average_range(const Plane& plane, const Samples& samples, double count) {
    window::BoundedSum sum;
    samples.for_each([&](const Sample& y, const Sample& x) {
        const double value = plane.value(y, x);
        sum.add(value, [&] { return plane.range(y, x, value); });
    });
    return count == 1 ? sum.range() : window::divided(sum.range(), count);
}

double greatest(const Plane& plane, const Samples& samples) {
    double result = std::nan("");
    samples.for_each([&](const Sample& y, const Sample& x) {
        if (const double value = plane.value(y, x); window::is_greater(value, result)) {
            result = value;
        }
    });
    return result;
}

Interval greatest_range(const Plane& plane, const Samples& samples) {
    Interval result(std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), true);
    samples.for_each(
        [&](const Sample& y, const Sample& x) { result = max(result, plane.range(y, x, plane.value(y, x))); });
    return result;
}

class Alignment {
public:
    explicit Alignment(const KernelArguments& arguments)
        : input_(*arguments.inputs[0]),
          output_(*arguments.outputs[0]),
          slack_(movement::wanted_slack(arguments)),
          image_(input_),
          regions_(arguments.descriptor, *arguments.inputs[1], *arguments.inputs[2], output_.desc.sizes,
                   input_.desc.sizes),
          outside_(double{arguments.descriptor.number("OutOfBoundsInputValue")}),
          strides_(core::signed_strides(output_.desc)) {}

    void compute() const {
        for (std::int64_t number = 0; number < regions_.count(); ++number) {
            Region region = regions_.region(number, slack_ != nullptr);
            // Batch indices out of range are undocumented.
            region.batch = movement::nearest_within(region.batch, image_.batches());
            const std::int64_t rows = std::int64_t{output_.desc.sizes[1]} * std::int64_t{output_.desc.sizes[2]};
            const auto cost = static_cast<std::int64_t>(region.grids.front().count()) * 16 * output_.desc.sizes[3];
            parallel_for(rows, cost, [&](std::int64_t first, std::int64_t last) {
                for (std::int64_t row = first; row < last; ++row) {
                    compute_row(region, number, row);
                }
            });
        }
    }

private:
    /// `row` counts the rows of all channels.
    void compute_row(const Region& region, std::int64_t number, std::int64_t row) const {
        const auto height = std::int64_t{output_.desc.sizes[2]};
        const auto width = std::int64_t{output_.desc.sizes[3]};
        const std::int64_t channel = row / height;
        const Plane plane(image_.plane(region.batch, channel), image_.columns(), outside_, regions_.rules().linear);
        const std::int64_t address = number * strides_[0] + channel * strides_[1] + row % height * strides_[2];
        const std::int64_t first = (number * std::int64_t{output_.desc.sizes[1]} * height + row) * width;
        for (std::int64_t x = 0; x < width; ++x) {
            const Samples samples = Samples::of(region.grids.front(), row % height, x);
            const double value = regions_.rules().maximum ? greatest(plane, samples)
                                                          : average(plane, samples, region.grids.front().count());
            movement::store_computed(output_, address + x * strides_[3], first + x, value, slack_,
                                     [&] { return range(plane, region, row % height, x); });
        }
    }

    /// The range over all numbers of samples that FP32 may compute.
    [[nodiscard]] Interval range(const Plane& plane, const Region& region, std::int64_t row,
                                 std::int64_t column) const {
        const auto range_in = [&](const Grid& grid) {
            const Samples samples = Samples::of(grid, row, column);
            return regions_.rules().maximum ? greatest_range(plane, samples)
                                            : average_range(plane, samples, grid.count());
        };
        // The reference computes with the first grid, and the difference to another one counts as an error.
        constexpr Choice either{true, true, true, false};
        Interval result = range_in(region.grids.front());
        for (std::size_t i = 1; i < region.grids.size(); ++i) {
            result = select(either, result, range_in(region.grids[i]));
        }
        return result;
    }

    const core::Tensor& input_;
    core::Tensor& output_;
    core::ElementSlack* slack_;
    window::Image image_;
    window::Regions regions_;
    double outside_;
    core::Strides strides_;
};

void compute(const KernelArguments& arguments) {
    Alignment(arguments).compute();
}

core::Tolerance tolerance(const operators::Descriptor& /*descriptor*/, const operators::TensorSlot& /*output*/) {
    return movement::computed_tolerance(
        true,
        "numbers of samples and positions as FP32 has them; 12 * 2^-23 of the largest element around for LINEAR; "
        "AVERAGE: "
        "one rounding of the sum of all magnitudes for each addition, in any order, and 1 ULP for the division");
}

}  // namespace

Kernels kernels() {
    return {{.name = "ROI_ALIGN", .compute = compute, .tolerance = tolerance},
            {.name = "ROI_ALIGN1", .compute = compute, .tolerance = tolerance}};
}

}  // namespace dmlconform::cpu::roi_align_kernels
