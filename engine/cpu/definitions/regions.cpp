// Operators on regions of interest. What the documentation leaves open is as measured on DirectML 1.15.4.
#include "engine/cpu/definitions/interpolation.h"

namespace dmlconform::cpu::definitions::regions_definitions {
namespace {

/// Positions of samples in a region, along one axis.
struct Axis {
    double start;
    double end;
    /// Of an output, and of all outputs.
    std::int64_t samples;
    std::int64_t all;
    bool to_corners;
    double input_offset;
    double output_offset;

    /// Each output has as many samples as it has elements below it, rounded up, within the limits.
    Axis(const Call& call, std::string_view scale, double from, double to, std::int64_t outputs)
        : start(from * call.number(scale)),
          end(to * call.number(scale)),
          to_corners(call.has_field("AlignRegionsToCorners") && call.flag("AlignRegionsToCorners")),
          input_offset(call.has_field("InputPixelOffset") ? call.number("InputPixelOffset") : 0.5),
          output_offset(call.has_field("OutputPixelOffset") ? call.number("OutputPixelOffset") : -0.5) {
        const double ratio = std::ceil(std::fabs(end - start) / static_cast<double>(outputs));
        const auto least = static_cast<double>(call.uint("MinimumSamplesPerOutput"));
        const auto most = static_cast<double>(call.uint("MaximumSamplesPerOutput"));
        samples = static_cast<std::int64_t>(std::isnan(ratio) ? least : std::clamp(ratio, least, most));
        all = samples * outputs;
    }

    /// With aligned corners, the first and the last sample are at the corners; a single sample is in the middle.
    [[nodiscard]] double position(std::int64_t output, std::int64_t sample) const {
        if (to_corners && all == 1) {
            return (start + end) / 2 - input_offset;
        }
        const auto number = static_cast<double>(output * samples + sample);
        const auto steps = static_cast<double>(to_corners ? all - 1 : all);
        return (number - output_offset) * (end - start) / steps + start - input_offset;
    }
    /// True unless the position is one element away from the input; with aligned corners, unless it is beyond the
    /// outermost elements.
    [[nodiscard]] bool is_inside(double position, std::int64_t size) const {
        const auto last = static_cast<double>(size - 1);
        return to_corners ? !(position < 0 || position > last) : !(position <= -1 || position >= last + 1);
    }
};

/// The axes of a region, whose corners are {left, top, right, bottom}, for outputs of that many rows and columns.
std::pair<Axis, Axis> axes_of(const Call& call, const Array<double>& corners, std::int64_t region,
                              const Index& outputs) {
    const auto corner = [&](std::int64_t i) { return corners.elements[static_cast<std::size_t>(region * 4 + i)]; };
    return {Axis(call, "SpatialScaleY", corner(1), corner(3), outputs[2]),
            Axis(call, "SpatialScaleX", corner(0), corner(2), outputs[3])};
}

/// The elements around a position, or the nearest one.
template <class Real>
Shares<Real> around(const Call& call, double position, std::int64_t size) {
    using operators::InterpolationMode;
    const bool is_linear =
        enumerator<InterpolationMode>(call.descriptor, "InterpolationMode") == InterpolationMode::linear;
    return linear(Real(is_linear ? position : std::floor(position + 0.5)), size);
}

/// The input at a position, interpolated or at the nearest element.
template <class Real>
Real sampled(const Call& call, const Array<Real>& x, const Index& plane, double row, double column) {
    Real sum = 0;
    for (const Share<Real>& y : around<Real>(call, row, x.sizes[2])) {
        for (const Share<Real>& z : around<Real>(call, column, x.sizes[3])) {
            sum += x[plane.then({y.element, z.element})] * y.weight * z.weight;
        }
    }
    return sum;
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_roi_align_operator_desc
// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_roi_align1_operator_desc
// The mean or the maximum of samples in each part of a region.
constexpr auto roi_align = []<class Real>(Call& call) {
    using operators::ReduceFunction;
    const bool maximum = enumerator<ReduceFunction>(call.descriptor, "ReductionFunction") == ReduceFunction::max;
    const auto x = call.input<Real>("InputTensor");
    const auto corners = call.input<double>("ROITensor");
    const auto batches = call.input<Signed>("BatchIndicesTensor");
    auto& output = call.output<Real>("OutputTensor");
    for_each_index(output.sizes, [&](const Index& at) {
        const auto [rows, columns] = axes_of(call, corners, at[0], output.sizes);
        const std::int64_t batch = batches.elements[static_cast<std::size_t>(at[0])].value;
        const std::int64_t from_start = batch < 0 ? batch + x.sizes[0] : batch;
        const Index plane{std::clamp<std::int64_t>(from_start, 0, x.sizes[0] - 1), at[1]};
        Real sum = 0;
        Real largest = std::nan("");
        for_each_index({rows.samples, columns.samples}, [&, &rows = rows, &columns = columns](const Index& sample) {
            const double row = rows.position(at[2], sample[0]);
            const double column = columns.position(at[3], sample[1]);
            const bool is_inside = rows.is_inside(row, x.sizes[2]) && columns.is_inside(column, x.sizes[3]);
            const Real value =
                is_inside ? sampled(call, x, plane, row, column) : Real(call.number("OutOfBoundsInputValue"));
            sum += value;
            largest = max(largest, value);
        });
        output[at] = maximum ? largest : sum / Real(static_cast<double>(rows.samples * columns.samples));
    });
};

/// A sample of an output, its position in the input, and its share of the output's gradient.
struct Sample {
    double row;
    double column;
    double share;
    bool is_inside;
};

/// The samples that an output element consists of: all of an average, or the first of the largest ones, where samples
/// outside the input count as 0.
template <class Real>
std::vector<Sample> samples_of(const Call& call, const Array<Real>& x, const Index& sizes, const Index& at,
                               const Index& plane, const std::pair<Axis, Axis>& axes) {
    using operators::ReduceFunction;
    const auto& [rows, columns] = axes;
    std::vector<Sample> all;
    for (std::int64_t i = 0; i < rows.samples; ++i) {
        for (std::int64_t k = 0; k < columns.samples; ++k) {
            const double row = rows.position(at[2], i);
            const double column = columns.position(at[3], k);
            all.push_back({row, column, 1 / static_cast<double>(rows.samples * columns.samples),
                           rows.is_inside(row, sizes[2]) && columns.is_inside(column, sizes[3])});
        }
    }
    if (enumerator<ReduceFunction>(call.descriptor, "ReductionFunction") != ReduceFunction::max) {
        return all;
    }
    Sample chosen = all.front();
    Real largest = std::nan("");
    for (const Sample& one : all) {
        const Real value = one.is_inside ? sampled(call, x, plane, one.row, one.column) : Real(0);
        if (value > largest || (is_nan(largest) && !is_nan(value))) {
            largest = value;
            chosen = one;
        }
    }
    chosen.share = 1;
    return {chosen};
}

/// The difference of the elements around a position along an axis: dimension 2 or 3. Across it, the input is
/// interpolated. Beyond the edges, both neighbours are the outermost element.
template <class Real>
Real slope(const Array<Real>& x, const Index& plane, const Sample& at, std::size_t d) {
    const std::size_t other = 5 - d;
    const double along = std::floor(d == 2 ? at.row : at.column);
    const double across = d == 2 ? at.column : at.row;
    const Real distance = Real(across) - Real(std::floor(across));
    const auto element = [&](double position, double crosswise) {
        const auto inside = [&](double number, std::size_t dimension) {
            return static_cast<std::int64_t>(std::clamp(number, 0.0, static_cast<double>(x.sizes[dimension] - 1)));
        };
        return x[plane.then({0, 0}).with(d, inside(position, d)).with(other, inside(crosswise, other))];
    };
    const auto rise = [&](double crosswise) { return element(along + 1, crosswise) - element(along, crosswise); };
    return rise(std::floor(across)) * (Real(1) - distance) + rise(std::floor(across) + 1) * distance;
}

/// The derivatives of a position with respect to the start and the end of its region. The documentation's "inputWidth"
/// is that of the input, and its coordinate counts samples.
template <class Real>
std::pair<Real, Real> leverage(const Axis& axis, std::int64_t output, std::int64_t size) {
    const auto whole = static_cast<double>(axis.to_corners ? size - 1 : size);
    const auto steps = static_cast<double>(axis.to_corners ? axis.all - 1 : axis.all);
    const Real at_end = steps == 0 ? Real(whole / 2) : Real(static_cast<double>(output)) * Real(whole) / Real(steps);
    return {steps == 0 ? at_end : Real(whole) - at_end, at_end};
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_roi_align_grad_operator_desc
// Distributes each gradient over the elements that its samples were made of, and over the corners of its region by the
// slopes of the input there. Regions of batches that do not exist contribute nothing.
constexpr auto roi_align_grad = []<class Real>(Call& call) {
    const auto x = call.input<Real>("InputTensor");
    const auto dy = call.input<Real>("InputGradientTensor");
    const auto corners = call.input<double>("ROITensor");
    const auto batches = call.input<Signed>("BatchIndicesTensor");
    const Index sizes = call.sizes(call.has("InputTensor") ? "InputTensor" : "OutputGradientTensor");
    Array<Real> dx(sizes);
    Array<Real> of_corners(corners.sizes);
    for_each_index(dy.sizes, [&](const Index& at) {
        const Index plane{batches.elements[static_cast<std::size_t>(at[0])].value, at[1]};
        if (!plane.is_inside(sizes)) {
            return;
        }
        const auto axes = axes_of(call, corners, at[0], dy.sizes);
        const auto [top, bottom] = leverage<Real>(axes.first, at[2], sizes[2]);
        const auto [left, right] = leverage<Real>(axes.second, at[3], sizes[3]);
        for (const Sample& sample : samples_of(call, x, sizes, at, plane, axes)) {
            const Real part = dy[at] * Real(sample.share);
            if (sample.is_inside && call.has("OutputGradientTensor")) {
                for (const Share<Real>& y : around<Real>(call, sample.row, sizes[2])) {
                    for (const Share<Real>& z : around<Real>(call, sample.column, sizes[3])) {
                        dx[plane.then({y.element, z.element})] += part * y.weight * z.weight;
                    }
                }
            }
            if (sample.is_inside && call.has("OutputROIGradientTensor")) {
                Real* const to = &of_corners.elements[static_cast<std::size_t>(at[0] * 4)];
                const Real down = slope(x, plane, sample, 2);
                const Real along = slope(x, plane, sample, 3);
                to[0] += part * along * left;
                to[1] += part * down * top;
                to[2] += part * along * right;
                to[3] += part * down * bottom;
            }
        }
    });
    const auto put = [&](std::string_view name, const Array<Real>& numbers) {
        if (call.has(name)) {
            call.output<Real>(name) = numbers;
        }
    };
    put("OutputGradientTensor", dx);
    put("OutputROIGradientTensor", of_corners);
};

/// The elements of part `i` of `count` parts of a region, from the first one to the one before the last one.
std::pair<std::int64_t, std::int64_t> part_of(double start, double end, double scale, std::int64_t i,
                                              std::int64_t count, std::int64_t size) {
    const auto element = [&](double corner) { return static_cast<std::int64_t>(std::nearbyint(corner * scale)); };
    const std::int64_t length = std::max<std::int64_t>(element(end) - element(start) + 1, 1);
    const std::int64_t first = i * length / count + element(start);
    const std::int64_t last = ((i + 1) * length + count - 1) / count + element(start);
    return {std::clamp<std::int64_t>(first, 0, size), std::clamp<std::int64_t>(last, 0, size)};
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_roi_pooling_operator_desc
// The largest element in each part of a region, whose corners are rounded to elements; 0 for an empty part. A number is
// larger than NaN.
constexpr auto roi_pooling = []<class Real>(Call& call) {
    const auto x = call.input<Real>("InputTensor");
    const auto regions = call.input<double>("ROITensor");
    const double scale = call.number("SpatialScale");
    auto& output = call.output<Real>("OutputTensor");
    for_each_index(output.sizes, [&](const Index& at) {
        // Batch, left, top, right, bottom
        const double* const region = &regions.elements[static_cast<std::size_t>(at[0] * 5)];
        const double batch = std::clamp(std::trunc(region[0]), 0.0, static_cast<double>(x.sizes[0] - 1));
        const auto rows = part_of(region[2], region[4], scale, at[2], output.sizes[2], x.sizes[2]);
        const auto columns = part_of(region[1], region[3], scale, at[3], output.sizes[3], x.sizes[3]);
        Real largest = std::nan("");
        for (std::int64_t row = rows.first; row < rows.second; ++row) {
            for (std::int64_t column = columns.first; column < columns.second; ++column) {
                largest = max(largest, x[{static_cast<std::int64_t>(batch), at[1], row, column}]);
            }
        }
        output[at] = rows.first >= rows.second || columns.first >= columns.second ? Real(0) : largest;
    });
};

}  // namespace

Definitions definitions() {
    return {define("ROI_ALIGN", roi_align), define("ROI_ALIGN1", roi_align), define("ROI_ALIGN_GRAD", roi_align_grad),
            define("ROI_POOLING", roi_pooling)};
}

}  // namespace dmlconform::cpu::definitions::regions_definitions
