// ROI_POOLING: the largest element of each bin of a region. What comments say about DirectML 1.15.4 is undocumented and
// was measured on it. Equals definitions/regions.cpp.
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/core/element.h"
#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/regions/image.h"
#include "engine/cpu/regions/samples.h"

namespace dmlconform::cpu::roi_pooling_kernels {
namespace {

/// Elements first … last - 1 along an axis.
struct Part {
    std::int64_t first = 0;
    std::int64_t last = 0;

    friend bool operator==(const Part&, const Part&) = default;
};

/// Clamps coordinates. No tensor has elements beyond, and products with numbers of bins still fit 64 bits.
constexpr double furthest = 0x1p31;

std::int64_t divided_down(std::int64_t a, std::int64_t b) {
    return a / b - (a % b < 0 ? 1 : 0);
}

/// Measured on DirectML 1.15.4: NaN is 0, and halves are rounded to even.
std::int64_t coordinate(double position) {
    return std::isnan(position) ? 0
                                : static_cast<std::int64_t>(std::clamp(std::nearbyint(position), -furthest, furthest));
}

/// The bins of a region along an axis, between two inclusive coordinates. Measured on DirectML 1.15.4: a region has at
/// least one element.
std::vector<Part> parts_of(std::int64_t start, std::int64_t end, std::int64_t count, std::int64_t size) {
    const std::int64_t length = std::max<std::int64_t>(end - start + 1, 1);
    std::vector<Part> parts;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t first = divided_down(i * length, count) + start;
        const std::int64_t last = -divided_down(-(i + 1) * length, count) + start;
        parts.push_back({std::clamp<std::int64_t>(first, 0, size), std::clamp<std::int64_t>(last, 0, size)});
    }
    return parts;
}

/// True if coordinates are so large that products with numbers of bins exceed 32 bits. Results for such regions are
/// unspecified. NaN is 0, so that it does not hide another corner.
bool is_far_out(double start, double end, double scale, std::int64_t count) {
    const auto distance = [scale](double corner) {
        const double position = corner * scale;
        return std::isnan(position) ? 0 : std::fabs(position);
    };
    return (distance(start) + distance(end) + 2) * static_cast<double>(count) >= 0x1p30;
}

/// All bins that FP32 may compute along an axis, the exact ones first: rounding a product may move it across a half.
std::vector<std::vector<Part>> possible_parts(double start, double end, double scale, std::int64_t count,
                                              std::int64_t size) {
    const auto possible = [scale](double corner) {
        const Interval product = Interval(corner) * Interval(scale);
        std::vector<std::int64_t> coordinates{coordinate(corner * scale)};
        for (const double position : {product.low, product.high}) {
            if (product.has_numbers() && std::ranges::count(coordinates, coordinate(position)) == 0) {
                coordinates.push_back(coordinate(position));
            }
        }
        return coordinates;
    };
    std::vector<std::vector<Part>> result;
    for (const std::int64_t first : possible(start)) {
        for (const std::int64_t last : possible(end)) {
            std::vector<Part> parts = parts_of(first, last, count, size);
            if (std::ranges::count(result, parts) == 0) {
                result.push_back(std::move(parts));
            }
        }
    }
    return result;
}

class RegionPooling {
public:
    explicit RegionPooling(const KernelArguments& arguments)
        : regions_(*arguments.inputs[1]),
          output_(*arguments.outputs[0]),
          alternatives_(arguments.slack.empty() ? nullptr : &arguments.slack[0].alternatives),
          image_(*arguments.inputs[0]),
          scale_(double{arguments.descriptor.number("SpatialScale")}),
          strides_(core::signed_strides(output_.desc)) {}

    void compute() {
        for (std::int64_t number = 0; number < std::int64_t{output_.desc.sizes[0]}; ++number) {
            pool(number);
        }
        if (alternatives_ != nullptr) {
            std::ranges::sort(*alternatives_);
            alternatives_->erase(std::unique(alternatives_->begin(), alternatives_->end()), alternatives_->end());
        }
    }

private:
    void pool(std::int64_t number) {
        const core::Strides strides = core::signed_strides(regions_.desc);
        std::array<double, 5> region{};  // batch, x1, y1, x2, y2
        element_wise::load(regions_.buffer.bytes(), {regions_.desc.data_type, number * strides[2], strides[3]},
                           region.size(), region.data());
        // Batch indices out of range are undocumented. Measured on DirectML 1.15.4: fractions are dropped.
        const double batch = std::isnan(region[0]) ? 0 : std::trunc(region[0]);
        const auto at = static_cast<std::int64_t>(std::clamp(batch, 0.0, static_cast<double>(image_.batches() - 1)));
        const auto rows =
            possible_parts(region[2], region[4], scale_, std::int64_t{output_.desc.sizes[2]}, image_.rows());
        const auto columns =
            possible_parts(region[1], region[3], scale_, std::int64_t{output_.desc.sizes[3]}, image_.columns());
        const bool far_out = is_far_out(region[2], region[4], scale_, std::int64_t{output_.desc.sizes[2]}) ||
                             is_far_out(region[1], region[3], scale_, std::int64_t{output_.desc.sizes[3]});
        for (std::int64_t channel = 0; channel < std::int64_t{output_.desc.sizes[1]}; ++channel) {
            const double* const plane = image_.plane(at, channel);
            store(plane, {number, channel}, rows.front(), columns.front());
            if (alternatives_ != nullptr && far_out) {
                list_all(plane, {number, channel});
            } else if (alternatives_ != nullptr && rows.size() * columns.size() > 1) {
                list_alternatives(plane, {number, channel}, rows, columns);
            }
        }
    }

    /// Measured on DirectML 1.15.4: an empty bin gives 0, and a number is larger than NaN.
    [[nodiscard]] double greatest(const double* plane, const Part& rows, const Part& columns) const {
        if (rows.first >= rows.last || columns.first >= columns.last) {
            return 0;
        }
        double result = std::nan("");
        for (std::int64_t y = rows.first; y < rows.last; ++y) {
            for (std::int64_t x = columns.first; x < columns.last; ++x) {
                const double element = plane[y * image_.columns() + x];
                result = window::is_greater(element, result) ? element : result;
            }
        }
        return result;
    }

    struct OutputPlane {
        std::int64_t region;
        std::int64_t channel;
    };

    void store(const double* plane, const OutputPlane& at, const std::vector<Part>& rows,
               const std::vector<Part>& columns) {
        for (std::size_t y = 0; y < rows.size(); ++y) {
            for (std::size_t x = 0; x < columns.size(); ++x) {
                const double value = greatest(plane, rows[y], columns[x]);
                const std::int64_t address = at.region * strides_[0] + at.channel * strides_[1] +
                                             static_cast<std::int64_t>(y) * strides_[2] +
                                             static_cast<std::int64_t>(x) * strides_[3];
                element_wise::store(output_.buffer.bytes(), {output_.desc.data_type, address, 0}, 1, &value,
                                    element_wise::Store::wrapping);
            }
        }
    }

    /// Any element of the plane, or 0 for an empty bin.
    void list_all(const double* plane, const OutputPlane& at) {
        const std::int64_t outputs = std::int64_t{output_.desc.sizes[2]} * std::int64_t{output_.desc.sizes[3]};
        const std::int64_t first = (at.region * std::int64_t{output_.desc.sizes[1]} + at.channel) * outputs;
        for (std::int64_t i = 0; i < outputs; ++i) {
            const auto add = [&](double value) {
                alternatives_->emplace_back(static_cast<std::uint64_t>(first + i),
                                            *core::encode_element(output_.desc.data_type, value));
            };
            add(0);
            for (std::int64_t element = 0; element < image_.rows() * image_.columns(); ++element) {
                add(plane[element]);
            }
        }
    }

    void list_alternatives(const double* plane, const OutputPlane& at, const std::vector<std::vector<Part>>& rows,
                           const std::vector<std::vector<Part>>& columns) {
        const std::int64_t height = std::int64_t{output_.desc.sizes[2]};
        const std::int64_t width = std::int64_t{output_.desc.sizes[3]};
        const std::int64_t first = (at.region * std::int64_t{output_.desc.sizes[1]} + at.channel) * height;
        for (std::int64_t y = 0; y < height; ++y) {
            for (std::int64_t x = 0; x < width; ++x) {
                for (const auto& row : rows) {
                    for (const auto& column : columns) {
                        const double value =
                            greatest(plane, row[static_cast<std::size_t>(y)], column[static_cast<std::size_t>(x)]);
                        alternatives_->emplace_back(static_cast<std::uint64_t>((first + y) * width + x),
                                                    *core::encode_element(output_.desc.data_type, value));
                    }
                }
            }
        }
    }

    const core::Tensor& regions_;
    core::Tensor& output_;
    std::vector<std::pair<std::uint64_t, std::uint64_t>>* alternatives_;
    window::Image image_;
    double scale_;
    core::Strides strides_;
};

void compute(const KernelArguments& arguments) {
    RegionPooling(arguments).compute();
}

core::Tolerance tolerance(const operators::Descriptor& /*descriptor*/, const operators::TensorSlot& /*output*/) {
    return {.exact = true, .ulp = {}, .abs = {}, .rel = {}, .alternatives = true};
}

}  // namespace

Kernels kernels() {
    return {{.name = "ROI_POOLING", .compute = compute, .tolerance = tolerance}};
}

}  // namespace dmlconform::cpu::roi_pooling_kernels
