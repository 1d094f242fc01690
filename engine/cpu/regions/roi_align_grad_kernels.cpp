// ROI_ALIGN_GRAD: gradients of ROI_ALIGN1 with respect to its input and to the corners of its regions. What comments
// say about DirectML 1.15.4 is undocumented and was measured on it. Equals definitions/regions.cpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "engine/core/floating_format.h"
#include "engine/cpu/expected_error.h"
#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/movement/indices.h"
#include "engine/cpu/regions/image.h"
#include "engine/cpu/regions/samples.h"
#include "engine/cpu/tensor_numbers.h"

namespace dmlconform::cpu::roi_align_grad_kernels {
namespace {

using window::Between;
using window::Grid;
using window::Plane;
using window::Region;
using window::Sample;
using window::Samples;
using window::Weight;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Indices into Descriptor::inputs() and outputs().
enum Input : std::size_t { input_tensor, input_gradient, region_tensor, batch_indices };
enum Output : std::size_t { output_gradient, region_gradient };

// ---- which samples count -----------------------------------------------------------------------------------------

/// A sample of an output, and its share of the output's gradient.
struct Chosen {
    const Sample& y;
    const Sample& x;
    double part = 0;
    Interval range;
};

/// Calls visit(chosen) for each sample of an average.
template <class Visit>
void for_each_of_average(const Samples& samples, double count, const Visit& visit) {
    const Interval range = count == 1 ? Interval(1) : Interval(1) / window::in_fp32(count);
    samples.for_each([&](const Sample& y, const Sample& x) { visit(Chosen{y, x, 1 / count, range}); });
}

/// Calls visit(chosen) for the largest sample and, if bounds are wanted, for those that FP32 may choose instead.
/// Measured on DirectML 1.15.4: of equal samples the first in row-major order is chosen; samples outside count as 0.
template <class Visit>
void for_each_of_maximum(const Plane& plane, const Samples& samples, bool bounded, const Visit& visit) {
    double greatest = std::nan("");
    const Sample* row = &samples.y.front();
    const Sample* column = &samples.x.front();
    // Lower bound of the largest sample.
    double least = -infinity;
    samples.for_each([&](const Sample& y, const Sample& x) {
        const double value = plane.value(y, x);
        if (window::is_greater(value, greatest)) {
            greatest = value;
            row = &y;
            column = &x;
        }
        if (const Interval range = bounded ? plane.range(y, x, value) : Interval(value); !range.nan) {
            least = std::max(least, range.low);
        }
    });
    if (!bounded) {
        visit(Chosen{*row, *column, 1, 1});
        return;
    }
    // A sample cannot be chosen if another one is certainly larger, or precedes it and is at least as large.
    double in_front = -infinity;
    const auto may_be_greatest = [&](const Sample& y, const Sample& x) {
        const Interval range = plane.range(y, x, plane.value(y, x));
        const bool beaten = range.high < least || range.high <= in_front;
        if (!range.nan) {
            in_front = std::max(in_front, range.low);
        }
        return !beaten;
    };
    std::vector<std::pair<const Sample*, const Sample*>> candidates;
    samples.for_each([&](const Sample& y, const Sample& x) {
        if (may_be_greatest(y, x)) {
            candidates.emplace_back(&y, &x);
        }
    });
    for (const auto& [y, x] : candidates) {
        const bool here = y == row && x == column;
        visit(Chosen{*y, *x, here ? 1.0 : 0.0, candidates.size() == 1 ? Interval(1) : Interval(0, 1, false)});
    }
    if (candidates.empty()) {
        visit(Chosen{*row, *column, 1, Interval(0, 1, false)});
    }
}

// ---- sums that are filled from many sides ------------------------------------------------------------------------

/// One sum for each element of an output.
class Sums {
public:
    Sums(core::Tensor* output, core::ElementSlack* slack) : output_(output), slack_(slack) {
        if (output_ != nullptr) {
            const auto count = static_cast<std::size_t>(*core::element_count(output_->desc.sizes));
            values_.resize(count);
            ranges_.resize(slack_ == nullptr ? 0 : count);
        }
    }

    [[nodiscard]] bool wanted() const { return output_ != nullptr; }
    [[nodiscard]] bool bounded() const { return slack_ != nullptr; }

    void add(std::int64_t number, double value) { values_[static_cast<std::size_t>(number)] += value; }
    void add_range(std::int64_t number, const Interval& range) { ranges_[static_cast<std::size_t>(number)].add(range); }

    void store() const {
        if (output_ == nullptr) {
            return;
        }
        const movement::Rows rows(output_->desc);
        rows.for_each(0, rows.count(), [&](movement::Coordinates, std::int64_t address, std::int64_t number) {
            const auto at = static_cast<std::size_t>(number);
            movement::store_computed(*output_, address, number, values_[at], slack_,
                                     [&] { return ranges_[at].result(); });
        });
    }

private:
    core::Tensor* output_;
    core::ElementSlack* slack_;
    std::vector<double> values_;
    std::vector<reduction::SumRange> ranges_;
};

// ---- slopes ------------------------------------------------------------------------------------------------------

/// The slopes of a plane to the right and downwards.
struct Slopes {
    double x = 0;
    double y = 0;
    Interval x_range = 0;
    Interval y_range = 0;
};

/// The slope along `along`, at the sample's position across. Beyond the edges, both neighbours are the outermost
/// element.
template <class At>
double slope(const Between& along, const Between& across, double way, const At& at) {
    const double first = at(across.first, along.second) - at(across.first, along.first);
    const double second = at(across.second, along.second) - at(across.second, along.first);
    return way == 0 ? first : first * (1 - way) + second * way;
}

/// The slopes at every position that rounding may lead to. Measured on DirectML 1.15.4: at an element's position, the
/// slope is that towards the next element; the documentation's formula is undefined there.
template <class At>
Interval slope_range(const std::vector<Between>& along, const std::vector<Between>& across, const At& at) {
    Interval range(infinity, -infinity, false);
    window::Around around;
    for (const Between& part : along) {
        for (const Between& other : across) {
            for (const double way : {other.from, other.to}) {
                const double rise = slope(part, other, way, at);
                range.low = std::min(range.low, rise);
                range.high = std::max(range.high, rise);
            }
            for (const std::int64_t line : {other.first, other.second}) {
                around.add(at(line, part.first));
                around.add(at(line, part.second));
            }
        }
        if (part.from == 0) {
            range.low = std::min(range.low, 0.0);
            range.high = std::max(range.high, 0.0);
        }
    }
    if (!around.finite || 2 * around.largest > core::float32.largest) {
        return {-infinity, infinity, true};
    }
    // Two differences and their mean, all of numbers no larger than twice the largest element.
    const double error =
        range.low == range.high && range.low == 0 ? 0 : 12 * core::float32.one_rounding * around.largest;
    const double variance =
        error == 0 ? 0 : 6 * rounding_variance(around.largest) + uniform_variance((range.high - range.low) / 2);
    return Interval(range.low - error, range.high + error, false, range.low / 2 + range.high / 2, variance) +
           Interval(0);
}

class Surface {
public:
    Surface(const double* elements, std::int64_t rows, std::int64_t columns)
        : elements_(elements), rows_(rows), columns_(columns) {}

    [[nodiscard]] Slopes at(const Sample& y, const Sample& x, bool bounded) const {
        const auto by_row = [&](std::int64_t row, std::int64_t column) { return elements_[row * columns_ + column]; };
        const auto by_column = [&](std::int64_t column, std::int64_t row) { return by_row(row, column); };
        Slopes slopes;
        if (std::isnan(y.position) || std::isnan(x.position)) {
            slopes.x = slopes.y = std::nan("");
        } else if (y.is_inside && x.is_inside) {
            const Between down = window::steps_between(y.position, y.position, rows_).front();
            const Between right = window::steps_between(x.position, x.position, columns_).front();
            slopes.x = slope(right, down, down.from, by_row);
            slopes.y = slope(down, right, right.from, by_column);
        }
        // The value depends only on the position, so that it is the same with and without bounds.
        if (y.anywhere || x.anywhere) {
            slopes.x_range = slopes.y_range = Interval(-infinity, infinity, true);
        } else if (bounded && (y.inside && x.inside).may_hold) {
            const auto down = steps(y, rows_);
            const auto right = steps(x, columns_);
            slopes.x_range = slope_range(right, down, by_row);
            slopes.y_range = slope_range(down, right, by_column);
            if ((y.inside && x.inside).may_fail) {
                slopes.x_range = hull(slopes.x_range, 0);
                slopes.y_range = hull(slopes.y_range, 0);
            }
        }
        return slopes;
    }

private:
    static std::vector<Between> steps(const Sample& sample, std::int64_t size) {
        const Interval range = sample.range.nan ? Interval(-1, static_cast<double>(size), false) : sample.range;
        return window::steps_between(range.low, range.high, size);
    }

    const double* elements_;
    std::int64_t rows_;
    std::int64_t columns_;
};

/// The derivatives of a sample's coordinate with respect to the region's start and end. Measured on DirectML 1.15.4:
/// the documentation's "inputWidth" is that of the input, and its coordinate counts samples, scaled to the input.
struct Leverage {
    Interval at_start;
    Interval at_end;
    double start = 0;
    double end = 0;

    Leverage(std::int64_t output, std::int64_t samples, std::int64_t size, bool to_corners) {
        const double whole = static_cast<double>(to_corners ? size - 1 : size);
        const double steps = static_cast<double>(to_corners ? samples - 1 : samples);
        const Interval number = window::in_fp32(static_cast<double>(output));
        if (steps == 0) {
            start = end = whole / 2;
            at_start = at_end = Interval(whole) / Interval(2);
            return;
        }
        end = static_cast<double>(output) * whole / steps;
        start = whole - end;
        at_end = hull(window::divided(number * Interval(whole), steps), number * window::divided(whole, steps));
        at_start = Interval(whole) - at_end;
    }
};

// ---- the operator ------------------------------------------------------------------------------------------------

class AlignmentGradient {
public:
    explicit AlignmentGradient(const KernelArguments& arguments)
        : gradients_(numbers_of(*arguments.inputs[input_gradient])),
          sizes_(arguments.inputs[input_gradient]->desc.sizes),
          image_sizes_(arguments.inputs[input_tensor] != nullptr ? arguments.inputs[input_tensor]->desc.sizes
                                                                 : arguments.outputs[output_gradient]->desc.sizes),
          regions_(arguments.descriptor, *arguments.inputs[region_tensor], *arguments.inputs[batch_indices], sizes_,
                   image_sizes_),
          to_image_(present(arguments, output_gradient), slack(arguments, output_gradient)),
          to_regions_(present(arguments, region_gradient), slack(arguments, region_gradient)) {
        if (arguments.inputs[input_tensor] != nullptr) {
            image_.emplace(*arguments.inputs[input_tensor]);
        }
    }

    void compute() {
        const bool bounded = to_image_.bounded() || to_regions_.bounded();
        for (std::int64_t number = 0; number < regions_.count(); ++number) {
            const Region region = regions_.region(number, bounded);
            // Batch indices out of range are undocumented. Measured on DirectML 1.15.4: they contribute nothing.
            if (!movement::is_within(region.batch, std::int64_t{image_sizes_[0]})) {
                continue;
            }
            for (std::int64_t channel = 0; channel < std::int64_t{sizes_[1]}; ++channel) {
                for (std::int64_t y = 0; y < std::int64_t{sizes_[2]}; ++y) {
                    for (std::int64_t x = 0; x < std::int64_t{sizes_[3]}; ++x) {
                        add({region, number, channel, y, x});
                    }
                }
            }
        }
        to_image_.store();
        to_regions_.store();
    }

private:
    /// An element of the forward output.
    struct OutputElement {
        const Region& region;
        std::int64_t number;
        std::int64_t channel;
        std::int64_t y;
        std::int64_t x;
    };

    static core::Tensor* present(const KernelArguments& arguments, std::size_t output) {
        core::Tensor* const tensor = arguments.outputs[output];
        return tensor == nullptr || tensor->desc.sizes.empty() ? nullptr : tensor;
    }

    static core::ElementSlack* slack(const KernelArguments& arguments, std::size_t output) {
        return arguments.slack.empty() || arguments.slack[output].below.empty() ? nullptr : &arguments.slack[output];
    }

    [[nodiscard]] const double* plane(const OutputElement& at) const {
        return image_ ? image_->plane(at.region.batch, at.channel) : nullptr;
    }

    /// Visits the samples that count for an output, assuming the number of samples of this grid.
    template <class Visit>
    void for_each_chosen(const OutputElement& at, const Grid& grid, bool bounded, const Visit& visit) const {
        const Samples samples = Samples::of(grid, at.y, at.x);
        if (!regions_.rules().maximum) {
            for_each_of_average(samples, grid.count(), visit);
            return;
        }
        const Plane values(plane(at), std::int64_t{image_sizes_[3]}, 0, regions_.rules().linear);
        for_each_of_maximum(values, samples, bounded, visit);
    }

    void add(const OutputElement& at) {
        const auto sizes = std::int64_t{sizes_[1]} * std::int64_t{sizes_[2]} * std::int64_t{sizes_[3]};
        const double gradient = gradients_[static_cast<std::size_t>(
            at.number * sizes + (at.channel * std::int64_t{sizes_[2]} + at.y) * std::int64_t{sizes_[3]} + at.x)];
        if (to_image_.wanted()) {
            add_to_image(at, gradient);
        }
        if (to_regions_.wanted()) {
            add_to_regions(at, gradient);
        }
    }

    // ---- to the image ----

    /// What an output adds to elements of a plane, by their indices.
    struct Addition {
        std::int64_t element;
        double value;
        Interval range;
    };

    [[nodiscard]] std::vector<Addition> additions(const OutputElement& at, const Grid& grid, double gradient) const {
        std::vector<Addition> result;
        const bool bounded = to_image_.bounded();
        for_each_chosen(at, grid, bounded, [&](const Chosen& chosen) {
            for (const Weight& y : window::weights_of(chosen.y)) {
                for (const Weight& x : window::weights_of(chosen.x)) {
                    const double weight = y.value * x.value * chosen.part;
                    const Interval range = bounded ? y.range * x.range * chosen.range : Interval(0);
                    result.push_back({y.element * std::int64_t{image_sizes_[3]} + x.element,
                                      weight == 0 ? 0 : gradient * weight, window::weighted(gradient, range)});
                }
            }
        });
        return result;
    }

    void add_to_image(const OutputElement& at, double gradient) {
        const std::int64_t plane_size = std::int64_t{image_sizes_[2]} * std::int64_t{image_sizes_[3]};
        const std::int64_t start = (at.region.batch * std::int64_t{image_sizes_[1]} + at.channel) * plane_size;
        const bool certain = at.region.grids.size() == 1;
        for (const Addition& addition : additions(at, at.region.grids.front(), gradient)) {
            to_image_.add(start + addition.element, addition.value);
            if (to_image_.bounded() && certain) {
                to_image_.add_range(start + addition.element, addition.range);
            }
        }
        if (to_image_.bounded() && !certain) {
            add_any_grid(at, start, gradient);
        }
    }

    /// If FP32 may compute another number of samples: the hull of what each number adds to an element.
    void add_any_grid(const OutputElement& at, std::int64_t start, double gradient) {
        struct Sum {
            std::int64_t element;
            std::vector<reduction::SumRange> of_grid;
            int terms = 0;
        };
        std::vector<Sum> sums;
        const std::size_t count = at.region.grids.size();
        for (std::size_t i = 0; i < count; ++i) {
            for (const Addition& addition : additions(at, at.region.grids[i], gradient)) {
                const auto found = std::ranges::find(sums, addition.element, &Sum::element);
                Sum& sum = found != sums.end()
                               ? *found
                               : sums.emplace_back(Sum{addition.element, std::vector<reduction::SumRange>(count)});
                sum.of_grid[i].add(addition.range);
                ++sum.terms;
            }
        }
        for (const Sum& sum : sums) {
            Interval range = sum.of_grid.front().result();
            for (const reduction::SumRange& other : sum.of_grid) {
                range = hull(range, other.result());
            }
            to_image_.add_range(start + sum.element, range);
            // Assumes the maximum number of additions.
            for (int i = 1; i < sum.terms; ++i) {
                to_image_.add_range(start + sum.element, 0);
            }
        }
    }

    // ---- to the regions ----

    void add_to_regions(const OutputElement& at, double gradient) {
        const bool bounded = to_regions_.bounded();
        std::array<Interval, 4> ranges{};
        for (const Grid& grid : at.region.grids) {
            const bool first = &grid == &at.region.grids.front();
            const Slopes slopes = mean_slopes(at, grid, bounded);
            const bool to_corners = regions_.rules().to_corners;
            const Leverage x(at.x, std::int64_t{sizes_[3]} * grid.columns, std::int64_t{image_sizes_[3]}, to_corners);
            const Leverage y(at.y, std::int64_t{sizes_[2]} * grid.rows, std::int64_t{image_sizes_[2]}, to_corners);
            if (first) {
                const std::array<double, 4> terms{slopes.x * x.start, slopes.y * y.start, slopes.x * x.end,
                                                  slopes.y * y.end};
                for (std::size_t i = 0; i < terms.size(); ++i) {
                    to_regions_.add(at.number * 4 + static_cast<std::int64_t>(i),
                                    terms[i] == 0 ? 0 : gradient * terms[i]);
                }
            }
            const std::array<std::pair<Interval, Interval>, 4> factors{{{slopes.x_range, x.at_start},
                                                                        {slopes.y_range, y.at_start},
                                                                        {slopes.x_range, x.at_end},
                                                                        {slopes.y_range, y.at_end}}};
            for (std::size_t i = 0; bounded && i < factors.size(); ++i) {
                const Interval term = term_of_region(gradient, factors[i].first, factors[i].second);
                ranges[i] = first ? term : hull(ranges[i], term);
            }
        }
        for (std::size_t i = 0; bounded && i < ranges.size(); ++i) {
            to_regions_.add_range(at.number * 4 + static_cast<std::int64_t>(i), ranges[i]);
            // Assumes one addition for each sample.
            for (double more = at.region.grids.front().count(); more > 1; --more) {
                to_regions_.add_range(at.number * 4 + static_cast<std::int64_t>(i), 0);
            }
        }
    }

    /// gradient * slope * leverage, in any order. Measured on DirectML 1.15.4: the first product may overflow.
    [[nodiscard]] static Interval term_of_region(double gradient, const Interval& slope, const Interval& leverage) {
        const Interval term = slope * leverage;
        const Interval product = hull(Interval(gradient) * term, hull((Interval(gradient) * slope) * leverage,
                                                                      (Interval(gradient) * leverage) * slope));
        // The slope may be 0. Then the term is 0, or NaN if an infinite gradient is multiplied by 0.
        return term.contains(0) ? hull(product, 0) : product;
    }

    [[nodiscard]] Slopes mean_slopes(const OutputElement& at, const Grid& grid, bool bounded) const {
        const Surface surface(plane(at), std::int64_t{image_sizes_[2]}, std::int64_t{image_sizes_[3]});
        Slopes mean;
        reduction::SumRange x_range;
        reduction::SumRange y_range;
        for_each_chosen(at, grid, bounded, [&](const Chosen& chosen) {
            const Slopes slopes = surface.at(chosen.y, chosen.x, bounded);
            // Samples that only the bounds consider add nothing: 0 times NaN would be NaN.
            if (chosen.part != 0) {
                mean.x += slopes.x * chosen.part;
                mean.y += slopes.y * chosen.part;
            }
            if (bounded) {
                x_range.add(slopes.x_range * chosen.range);
                y_range.add(slopes.y_range * chosen.range);
            }
        });
        mean.x_range = x_range.result();
        mean.y_range = y_range.result();
        return mean;
    }

    std::vector<double> gradients_;
    core::Dimensions sizes_;
    core::Dimensions image_sizes_;
    std::optional<window::Image> image_;
    window::Regions regions_;
    Sums to_image_;
    Sums to_regions_;
};

void compute(const KernelArguments& arguments) {
    AlignmentGradient(arguments).compute();
}

core::Tolerance tolerance(const operators::Descriptor& /*descriptor*/, const operators::TensorSlot& /*output*/) {
    return movement::computed_tolerance(
        true,
        "numbers of samples, positions and weights as FP32 has them; MAX: any sample that FP32 may take for the "
        "greatest; one rounding of the sum of all magnitudes for each addition, in any order");
}

}  // namespace

Kernels kernels() {
    return {{.name = "ROI_ALIGN_GRAD", .compute = compute, .tolerance = tolerance}};
}

}  // namespace dmlconform::cpu::roi_align_grad_kernels
