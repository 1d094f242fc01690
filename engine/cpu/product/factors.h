// What is multiplied, and the product: sums in double, the terms of each in ascending order of k. Numbers of FP32 and
// of 8 bits have exact products in double, so that nothing but the sums is rounded, or nothing at all.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/cpu/interval.h"

namespace dmlconform::cpu::product {

/// One side.
struct Numbers {
    std::vector<double> values;
    /// What errors scale with, at least as large as the values' magnitudes. Empty: the magnitudes.
    std::vector<double> bounds = {};
    /// What FP32 may have for number i. Without: the value.
    std::function<Interval(std::size_t i)> range = nullptr;

    [[nodiscard]] Interval range_of(std::size_t i) const { return range ? range(i) : Interval(values[i]); }
};

/// Numbers, or what their errors scale with.
enum class Part : std::uint8_t { values, bounds };

/// So many products of matrices, of rows x depth and depth x columns.
struct Shape {
    std::int64_t batches = 1;
    std::int64_t rows = 1;
    std::int64_t depth = 1;
    std::int64_t columns = 1;
};

/// Of a product of matrices, from the sizes of the left tensor, whose last two dimensions may be exchanged, and of the
/// output.
[[nodiscard]] Shape shape_of(const core::Dimensions& left, bool transposed, const core::Dimensions& output);

/// Both sides of a product. The left one is an array of matrices, the right one is made from an array.
class Factors {
public:
    /// Where there are fewer matrices on the left than batches, they come again.
    Factors(const Shape& shape, Numbers left, Numbers right);
    Factors(const Factors&) = delete;
    Factors& operator=(const Factors&) = delete;
    virtual ~Factors() = default;

    [[nodiscard]] const Shape& shape() const { return shape_; }
    [[nodiscard]] const Numbers& left() const { return left_; }
    [[nodiscard]] const Numbers& right() const { return right_; }

    [[nodiscard]] std::size_t left_index(std::int64_t batch, std::int64_t row, std::int64_t k) const;

    /// No place on the right: the term does not exist.
    static constexpr std::int64_t nowhere = -1;
    /// Where element (k, column) of the right matrix comes from, or nowhere.
    [[nodiscard]] virtual std::int64_t right_index(std::int64_t batch, std::int64_t k, std::int64_t column) const = 0;
    /// Loads elements (k, column) … (k, column + count - 1) of the right matrix, 0 for those from nowhere.
    virtual void load_right(const std::vector<double>& from, std::int64_t batch, std::int64_t k, std::int64_t column,
                            std::int64_t count, double* to) const = 0;
    /// Adds factor times those elements to so many sums, but nothing for those from nowhere.
    virtual void add_right(const std::vector<double>& from, std::int64_t batch, std::int64_t k, std::int64_t column,
                           std::int64_t count, double factor, double* sums) const = 0;
    /// Adds all terms of a row, which are in ascending order of k, to so many sums, which are 0.
    virtual void add_row(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t count,
                         double* sums) const;
    /// How many terms the sums of that column have.
    [[nodiscard]] virtual std::int64_t terms(std::int64_t /*column*/) const { return shape_.depth; }

private:
    Shape shape_;
    Numbers left_;
    Numbers right_;
    std::int64_t left_batches_;
};

/// The right matrices are an array as they are.
class MatrixFactors final : public Factors {
public:
    using Factors::Factors;

    [[nodiscard]] std::int64_t right_index(std::int64_t batch, std::int64_t k, std::int64_t column) const override;
    void load_right(const std::vector<double>& from, std::int64_t batch, std::int64_t k, std::int64_t column,
                    std::int64_t count, double* to) const override;
    void add_right(const std::vector<double>& from, std::int64_t batch, std::int64_t k, std::int64_t column,
                   std::int64_t count, double factor, double* sums) const override;
};

/// Adds factor times so many elements, `stride` apart, to as many sums, `step` apart.
void add_products(const double* elements, std::int64_t stride, std::int64_t count, double factor, double* sums,
                  std::int64_t step);

/// A part of a row of the product: `count` sums from one column on.
struct Sums {
    std::int64_t batch = 0;
    std::int64_t row = 0;
    std::int64_t column = 0;
    std::int64_t count = 0;
    const double* values = nullptr;
    /// The same sums of the bounds, or null.
    const double* bounds = nullptr;

    /// Of the first one in the whole product, in row-major order.
    [[nodiscard]] std::int64_t number(const Shape& shape) const {
        return (batch * shape.rows + row) * shape.columns + column;
    }
};

/// Computes all sums, on several threads, and hands each to `take` once.
void multiply(const Factors& factors, bool with_bounds, const std::function<void(const Sums&)>& take);

}  // namespace dmlconform::cpu::product
