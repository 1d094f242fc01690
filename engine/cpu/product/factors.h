// The factors of a product, and the product: sums in double precision, with terms in ascending order of k. Products of
// FP32 numbers and of 8-bit numbers are exact in double, so at most the sums are rounded.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/cpu/interval.h"

namespace dmlconform::cpu::product {

/// The elements of an array of doubles, or of FP32 numbers in a tensor.
class Elements {
public:
    explicit Elements(const std::vector<double>& numbers) : doubles_(numbers.data()) {}
    explicit Elements(std::span<const float> numbers) : floats_(numbers.data()) {}

    [[nodiscard]] double operator[](std::size_t i) const {
        return floats_ == nullptr ? doubles_[i] : double{floats_[i]};
    }
    /// Calls visitor(first), where `first` points to the first element.
    template <class Visitor>
    void visit(const Visitor& visitor) const {
        floats_ == nullptr ? visitor(doubles_) : visitor(floats_);
    }
    /// Copies `count` elements to numbers that are `to_step` apart.
    void copy(std::int64_t first, std::int64_t count, double* to, std::int64_t to_step = 1) const;
    /// Sets to[k * rows + row] to the elements of 4 or 8 rows, which are `distance` apart. `has_next`: as many rows
    /// follow, which will be read next.
    void interleave(std::size_t first, std::size_t distance, std::int64_t rows, std::int64_t count, double* to,
                    bool has_next) const;
    /// Adds factor times `count` elements, `step` apart, to `count` sums, `to_step` apart.
    void add_products(std::int64_t first, std::int64_t step, std::int64_t count, double factor, double* sums,
                      std::int64_t to_step) const;

private:
    const double* doubles_ = nullptr;
    const float* floats_ = nullptr;
};

/// One factor: numbers and their error bounds.
struct Numbers {
    std::vector<double> values;
    /// Magnitudes that errors are relative to; at least the values' magnitudes. Empty: the values' magnitudes.
    std::vector<double> bounds = {};
    /// The FP32 range of number i. If null, the value is exact.
    std::function<Interval(std::size_t i)> range = nullptr;
    /// The elements of a packed tensor, if `values` is empty. They are then read where they are.
    std::span<const float> floats = {};
    /// All numbers are FP32 numbers.
    bool are_fp32 = false;

    [[nodiscard]] Elements elements() const { return floats.empty() ? Elements(values) : Elements(floats); }
    [[nodiscard]] std::size_t count() const { return floats.empty() ? values.size() : floats.size(); }
    [[nodiscard]] Interval range_of(std::size_t i) const { return range ? range(i) : Interval(elements()[i]); }
};

/// What is multiplied: the numbers, their bounds, or the squares of the bounds.
enum class Part : std::uint8_t { values, bounds, squares };

/// A value or bound as this part needs it. Bounds are never negative.
inline double in_part(Part part, double x) {
    return part == Part::values ? x : part == Part::bounds ? std::fabs(x) : x * x;
}

/// The shape of `batches` matrix products, each of rows x depth times depth x columns.
struct Shape {
    std::int64_t batches = 1;
    std::int64_t rows = 1;
    std::int64_t depth = 1;
    std::int64_t columns = 1;
};

/// The shape of a matrix product, from the sizes of the left tensor, whose last two dimensions may be transposed, and
/// of the output.
[[nodiscard]] Shape shape_of(const core::Dimensions& left, bool transposed, const core::Dimensions& output);

/// Consecutive elements of a row of the right matrix that exist: `count` positions, `position_step` apart, and the
/// elements of the array that they hold.
struct RightSegment {
    std::int64_t position = 0;
    std::int64_t position_step = 1;
    std::int64_t element = 0;
    std::int64_t element_step = 1;
    std::int64_t count = 0;
};

/// Which rows of the right matrix have elements at the same distances: row k of a batch has those of row k % rows of
/// the first batch, `distance` behind them for each `rows` rows, and `batch_distance` for each batch.
struct Repetition {
    std::int64_t rows = 1;
    std::int64_t distance = 0;
    std::int64_t batch_distance = 0;
};

/// Both factors of a product. The left one is an array of matrices; the right one is computed from an array.
class Factors {
public:
    /// If there are fewer left matrices than batches, they repeat.
    Factors(const Shape& shape, Numbers left, Numbers right);
    Factors(const Factors&) = delete;
    Factors& operator=(const Factors&) = delete;
    virtual ~Factors() = default;

    [[nodiscard]] const Shape& shape() const { return shape_; }
    [[nodiscard]] const Numbers& left() const { return left_; }
    [[nodiscard]] const Numbers& right() const { return right_; }

    [[nodiscard]] std::size_t left_index(std::int64_t batch, std::int64_t row, std::int64_t k) const;

    /// The index of an element of the right matrix that does not exist, so that the term is absent.
    static constexpr std::int64_t nowhere = -1;
    /// The index of element (k, column) of the right matrix in its array, or `nowhere`.
    [[nodiscard]] virtual std::int64_t right_index(std::int64_t batch, std::int64_t k, std::int64_t column) const = 0;
    [[nodiscard]] virtual Repetition repetition() const = 0;
    /// Appends where the elements (k, column) … (k, column + count - 1) are. Positions count from `column`.
    virtual void find_right(std::int64_t batch, std::int64_t k, std::int64_t column, std::int64_t count,
                            std::vector<RightSegment>& segments) const = 0;
    /// Adds factor times these elements to `sums`. Absent elements add nothing.
    virtual void add_right(const Elements& from, std::int64_t batch, std::int64_t k, std::int64_t column,
                           std::int64_t count, double factor, double* sums) const = 0;
    /// Adds all terms of a row, in ascending order of k, to sums that are initially 0.
    virtual void add_row(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t count,
                         double* sums) const;
    /// The number of terms in the sums of that column.
    [[nodiscard]] virtual std::int64_t terms(std::int64_t /*column*/) const { return shape_.depth; }

private:
    Shape shape_;
    Numbers left_;
    Numbers right_;
    std::int64_t left_batches_;
};

/// A product of matrices whose right factors are stored as matrices.
class MatrixFactors final : public Factors {
public:
    using Factors::Factors;

    [[nodiscard]] std::int64_t right_index(std::int64_t batch, std::int64_t k, std::int64_t column) const override;
    [[nodiscard]] Repetition repetition() const override {
        return {1, shape().columns, shape().depth * shape().columns};
    }
    void find_right(std::int64_t batch, std::int64_t k, std::int64_t column, std::int64_t count,
                    std::vector<RightSegment>& segments) const override;
    void add_right(const Elements& from, std::int64_t batch, std::int64_t k, std::int64_t column, std::int64_t count,
                   double factor, double* sums) const override;
};

/// A part of a row of the product: `count` sums starting at one column.
struct Sums {
    std::int64_t batch = 0;
    std::int64_t row = 0;
    std::int64_t column = 0;
    std::int64_t count = 0;
    const double* values = nullptr;
    /// The sums of the bounds' products, or null.
    const double* bounds = nullptr;
    /// With bounds: for each of `values`, the sum of the squared partial sums, in ascending order of k. Padding counts
    /// as terms of 0.
    const double* partial_squares = nullptr;
    /// If a factor has bounds of its own, the sums of the squared bounds of the terms; otherwise null.
    const double* squares = nullptr;

    /// The row-major index of the first sum in the whole product.
    [[nodiscard]] std::int64_t number(const Shape& shape) const {
        return (batch * shape.rows + row) * shape.columns + column;
    }
};

/// Computes all sums in several threads and passes each to `take` once.
void multiply(const Factors& factors, bool with_bounds, const std::function<void(const Sums&)>& take);

}  // namespace dmlconform::cpu::product
