// Values of a plane at the samples of a region, and the largest of them.
#pragma once

#include <span>

#include "engine/cpu/regions/regions.h"

namespace dmlconform::cpu::window {

/// The elements of one channel, row by row without gaps. Positions are in elements, relative to the centre of the first
/// one. Weights are those of DirectML's documentation for bilinear interpolation, or 1 for the nearest element.
class Plane {
public:
    /// Samples outside the plane have the value `outside`.
    Plane(const double* elements, std::int64_t columns, double outside, bool linear)
        : elements_(elements), columns_(columns), outside_(outside), linear_(linear) {}

    [[nodiscard]] double at(std::int64_t row, std::int64_t column) const { return elements_[row * columns_ + column]; }

    /// The interpolated value. Neighbours with a weight of zero are ignored, even if they are infinite.
    [[nodiscard]] double value(const Sample& y, const Sample& x) const;

    /// The FP32 range of the value.
    [[nodiscard]] Interval range(const Sample& y, const Sample& x, double value) const;

private:
    [[nodiscard]] double in_row(std::int64_t row, const Between& x) const;
    [[nodiscard]] Interval interpolated(const Sample& y, const Sample& x, double value) const;

    const double* elements_;
    std::int64_t columns_;
    double outside_;
    bool linear_;
};

/// The samples of one output.
struct Samples {
    std::span<const Sample> y;
    std::span<const Sample> x;

    [[nodiscard]] static Samples of(const Grid& grid, std::int64_t row, std::int64_t column) {
        const auto part = [](const std::vector<Sample>& all, std::int64_t output, std::int64_t count) {
            return std::span(all).subspan(static_cast<std::size_t>(output * count), static_cast<std::size_t>(count));
        };
        return {part(grid.y, row, grid.rows), part(grid.x, column, grid.columns)};
    }

    /// Calls visit(y, x) row by row.
    template <class Visit>
    void for_each(const Visit& visit) const {
        for (const Sample& row : y) {
            for (const Sample& column : x) {
                visit(row, column);
            }
        }
    }
};

/// Measured on DirectML 1.15.4: a number is greater than NaN, and the first of equal numbers wins.
[[nodiscard]] bool is_greater(double candidate, double greatest);

}  // namespace dmlconform::cpu::window
