// Tests of engine/cpu/expected_error and the variances of intervals: expected errors match those of correct FP32
// implementations, and reveal lower precisions.
#include "engine/cpu/expected_error.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/interval.h"
#include "engine/cpu/reduction/totals.h"
#include "tests/cpu/error_statistics.h"
#include "tests/cpu/random_tensors.h"
#include "tests/cpu/references.h"
#include "tests/packed_tensors.h"

namespace dmlconform::tests::expected_error_test {
namespace {

using core::Tensor;
using cpu::expected_error;
using cpu::Interval;

constexpr double unit = 0x1p-24;

/// A number with a known variance, in a range that is much wider.
Interval uncertain(double value, double deviation) {
    return {value - 30 * deviation, value + 30 * deviation, false, value, deviation * deviation};
}

double deviation(const Interval& x) {
    return std::sqrt(x.variance);
}

// ---- intervals ---------------------------------------------------------------------------------------------------

TEST(ExpectedError, IsZeroWhereTheRangeIsOneNumber) {
    EXPECT_EQ(expected_error(Interval(3) + Interval(4)), 0);
    EXPECT_EQ(expected_error(Interval(3) * Interval(0.25)), 0);
    EXPECT_GT(expected_error(Interval(1) / Interval(3)), 0);
}

TEST(ExpectedError, IsThatOfOneRoundingWhereOneOperationRounds) {
    const double third = 0x1.555556p-2;
    EXPECT_DOUBLE_EQ(deviation(Interval(third) + Interval(1)), unit * (third + 1) / std::sqrt(3));
    EXPECT_DOUBLE_EQ(deviation(Interval(third) * Interval(third)), unit * third * third / std::sqrt(3));
    EXPECT_DOUBLE_EQ(deviation(Interval(1) / Interval(3)), 2 * unit / 3 / std::sqrt(3)) << "1 ULP, not half of one";
}

/// 1 + 2^-12 is stored as 1, however it is rounded, and is off by that.
TEST(ExpectedError, HasTheRoundingOfWhatMayBeStoredAsFloat16) {
    using cpu::element_wise::maybe_stored;
    using cpu::element_wise::Store;
    const double value = 1 + 0x1p-12;
    const double rounding = std::sqrt(cpu::float16_rounding_variance(value));
    EXPECT_DOUBLE_EQ(deviation(maybe_stored(core::DataType::float16, Interval(value), Store::wrapping)), rounding);
    EXPECT_DOUBLE_EQ(deviation(maybe_stored(core::DataType::float16, Interval(1.0009), Store::wrapping)),
                     std::sqrt(cpu::float16_rounding_variance(1.0009)));
    EXPECT_EQ(deviation(maybe_stored(core::DataType::float16, Interval(1.5), Store::wrapping)), 0)
        << "a FLOAT16 number";
    EXPECT_EQ(deviation(maybe_stored(core::DataType::float32, Interval(value), Store::wrapping)), 0);
}

TEST(ExpectedError, IsUnknownWhereTheRangeCannotTell) {
    EXPECT_EQ(expected_error(Interval(-1, 1, true)), 0);
    EXPECT_EQ(expected_error(Interval(0, std::numeric_limits<double>::infinity(), false)), 0);
    EXPECT_EQ(expected_error(Interval(0, 1, false, 0, Interval::unknown)), 0);
    EXPECT_EQ(expected_error(uncertain(1, 0.1) / uncertain(0, 1)), 0) << "may be infinite";
    const Interval large = Interval(3e38) * Interval(1.3);
    EXPECT_EQ(expected_error(Interval(1) / sqrt(large + Interval(1))), 0) << "FP32 may have divided by infinity";
    EXPECT_GT(expected_error(Interval(1) / sqrt(Interval(2e38) * Interval(1.3) + Interval(1))), 0);
    const Interval stored =
        cpu::element_wise::maybe_stored(core::DataType::float16, Interval(70001.5), cpu::element_wise::Store::wrapping);
    EXPECT_EQ(expected_error(Interval(1) / stored), 0) << "the tensor may have held 65504, or infinity";
}

TEST(ExpectedError, IsNeverMoreThanHalfTheRange) {
    EXPECT_EQ(expected_error(Interval(2, 4, false, 3, 100)), 1);
    EXPECT_DOUBLE_EQ(expected_error(Interval(2, 4, false)), 1 / std::sqrt(3)) << "anywhere in the range";
}

/// The variances of two independent operands are propagated by the derivative, which a difference quotient checks.
TEST(ExpectedError, IsPassedOnByTheDerivative) {
    struct Function {
        std::string name;
        std::function<Interval(const Interval& x)> bounded;
        std::function<double(double x)> plain;
        double argument;
    };
    const std::vector<Function> functions{
        {"x + 3", [](const Interval& x) { return x + 3; }, [](double x) { return x + 3; }, 0.7},
        {"2 - x", [](const Interval& x) { return 2 - x; }, [](double x) { return 2 - x; }, 0.7},
        {"3 * x", [](const Interval& x) { return 3 * x; }, [](double x) { return 3 * x; }, 0.7},
        {"3 / x", [](const Interval& x) { return 3 / x; }, [](double x) { return 3 / x; }, 0.7},
        {"x / 3", [](const Interval& x) { return x / 3; }, [](double x) { return x / 3; }, 0.7},
        {"|x|", [](const Interval& x) { return abs(x); }, [](double x) { return std::fabs(x); }, -0.7},
        {"sqrt", [](const Interval& x) { return sqrt(x); }, [](double x) { return std::sqrt(x); }, 0.7},
        {"exp", [](const Interval& x) { return exp(x); }, [](double x) { return std::exp(x); }, 0.7},
        {"expm1", [](const Interval& x) { return expm1(x); }, [](double x) { return std::expm1(x); }, 0.7},
        {"log", [](const Interval& x) { return log(x); }, [](double x) { return std::log(x); }, 0.7},
        {"log1p", [](const Interval& x) { return log1p(x); }, [](double x) { return std::log1p(x); }, 0.7},
        {"pow", [](const Interval& x) { return pow(x, 2.5); }, [](double x) { return std::pow(x, 2.5); }, 0.7},
        {"sin", [](const Interval& x) { return sin(x); }, [](double x) { return std::sin(x); }, 0.7},
        {"cos", [](const Interval& x) { return cos(x); }, [](double x) { return std::cos(x); }, 0.7},
        {"asin", [](const Interval& x) { return asin(x); }, [](double x) { return std::asin(x); }, 0.7},
        {"acos", [](const Interval& x) { return acos(x); }, [](double x) { return std::acos(x); }, 0.7},
        {"atan", [](const Interval& x) { return atan(x); }, [](double x) { return std::atan(x); }, 0.7},
        {"atan2(x, 1)", [](const Interval& x) { return atan2(x, 1); }, [](double x) { return std::atan2(x, 1); }, 0.7},
        {"atan2(1, x)", [](const Interval& x) { return atan2(1, x); }, [](double x) { return std::atan2(1, x); }, 0.7},
        {"erf", [](const Interval& x) { return erf(x); }, [](double x) { return std::erf(x); }, 0.7},
    };
    for (const auto& [name, bounded, plain, argument] : functions) {
        // Much larger than rounding errors of the operations, and small enough that the derivative does not change.
        constexpr double off = 0.01;
        constexpr double step = 1e-6;
        const double slope = (plain(argument + step) - plain(argument - step)) / (2 * step);
        const Interval result = bounded(uncertain(argument, off));
        EXPECT_NEAR(result.value, plain(argument), 1e-12) << name;
        EXPECT_NEAR(deviation(result), std::fabs(slope) * off, 0.005 * std::fabs(slope) * off) << name;
    }
}

/// Correlated operands make the estimate too large, except for squares, where it is too small by a factor of 1.4.
TEST(ExpectedError, StaysSensibleForCorrelatedOperands) {
    const Interval x = uncertain(3, 0.01);
    EXPECT_NEAR(deviation(x - x), 0.01 * std::sqrt(2), 1e-5);
    EXPECT_NEAR(deviation(x * x), 0.06 / std::sqrt(2), 1e-5);
    EXPECT_NEAR(deviation(x / x), 0.01 / 3 * std::sqrt(2), 1e-5);
}

TEST(ExpectedError, FollowsTheBranchThatTheValueTakes) {
    const Interval far = uncertain(0.2, 0.01);
    EXPECT_NEAR(deviation(max(far, 0)), 0.01, 1e-5) << "the value is 20 deviations away";
    EXPECT_EQ(max(-far, 0).variance, 0);
    EXPECT_NEAR(deviation(select(far > 0, far, 5)), 0.01, 1e-5);
    const Interval near = uncertain(0.01, 0.01);
    EXPECT_NEAR(deviation(select(near > 0, near, 5)), 4.99, 1e-3) << "either may be taken, which is a difference of 5";
}

TEST(ExpectedError, IsUnknownNearAStep) {
    EXPECT_EQ(floor(uncertain(2.5, 0.01)).variance, 0);
    EXPECT_EQ(floor(uncertain(2.999, 0.01)).variance, Interval::unknown);
    EXPECT_EQ(floor(Interval(2.999)).variance, 0);
}

TEST(ExpectedError, CountsSubnormalNumbersThatBecomeZero) {
    const double subnormal = 0x1p-130;
    EXPECT_DOUBLE_EQ(deviation(Interval(subnormal) + Interval(0)), std::sqrt(2) * subnormal) << "on both sides of it";
}

TEST(ExpectedError, AddsTheRoundingOfFloat16) {
    const auto stored = [](const Interval& x) {
        return cpu::element_wise::stored_range(core::DataType::float16, x, cpu::element_wise::Store::wrapping);
    };
    EXPECT_EQ(stored(Interval(3)).variance, 0);
    EXPECT_EQ(stored(Interval(0.1)).variance, 0) << "rounded to nearest and towards zero, it is the same number";
    EXPECT_DOUBLE_EQ(deviation(stored(Interval(0.3))), 0x1p-11 * 0.3 / std::sqrt(3));
    EXPECT_DOUBLE_EQ(deviation(stored(Interval(0x1.8p-25))), 0x1p-25 / std::sqrt(3)) << "half of the least FLOAT16";
}

// ---- sums --------------------------------------------------------------------------------------------------------

/// For sequential sums of random terms, the mean square error is that of the formula, or somewhat less.
TEST(ExpectedError, IsThatOfASequentialSum) {
    Random random(11);
    for (const std::size_t terms : {2U, 10U, 100U, 1000U}) {
        for (const bool positive : {false, true}) {
            double squares = 0;
            int count = 0;
            constexpr int rounds = 400;
            for (int round = 0; round < rounds; ++round) {
                cpu::reduction::SumRange range;
                float sum = 0;
                double exact = 0;
                for (std::size_t i = 0; i < terms; ++i) {
                    const float term = positive ? random.uniform(0, 1) : random.normal();
                    range.add(double{term});
                    sum += term;
                    exact += double{term};
                }
                // Skips exact sums of two terms.
                if (const double expected = expected_error(range.result()); expected > 0) {
                    const double error = (double{sum} - exact) / expected;
                    squares += error * error;
                    ++count;
                }
            }
            EXPECT_GE(count, rounds / 4) << terms << " terms";
            const double q = std::sqrt(squares / count);
            EXPECT_GT(q, 0.3) << terms << " terms";
            EXPECT_LT(q, 1.2) << terms << " terms";
        }
    }
}

TEST(ExpectedError, IsZeroForSumsOfSmallIntegers) {
    cpu::reduction::SumRange range;
    for (int i = 0; i < 1000; ++i) {
        range.add(i % 7 - 3);
    }
    EXPECT_EQ(range.result().variance, 0);
}

// ---- products ----------------------------------------------------------------------------------------------------

/// Rounds to this many binary digits after the leading one, as tensor cores do with their factors.
float rounded_to(float x, int digits) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const int dropped = 23 - digits;
    const std::uint32_t half = (std::uint32_t{1} << (dropped - 1)) - 1 + (bits >> dropped & 1);
    return std::bit_cast<float>((bits + half) >> dropped << dropped);
}

constexpr std::uint32_t size = 64;

struct Matrices {
    Matrices(std::uint32_t terms, bool normal)
        : a(Tensor(real({size, terms}))), b(Tensor(real({terms, size}))), depth(terms) {
        Random random(terms);
        for (Tensor* tensor : {&a, &b}) {
            for (float& x : tensor->as<float>()) {
                x = normal ? random.normal() : random.uniform(0, 1);
            }
        }
    }

    [[nodiscard]] cpu::Reference reference() const {
        return reference_of(describe("GEMM", {{"ATensor", a.desc},
                                              {"BTensor", b.desc},
                                              {"OutputTensor", real({size, size})},
                                              {"TransA", 0},
                                              {"TransB", 0},
                                              {"Alpha", 1.0F},
                                              {"Beta", 1.0F}}),
                            {&a, &b, nullptr});
    }

    /// Sequential FP32 sums of products whose factors were rounded to `digits` digits.
    [[nodiscard]] std::vector<float> sums(int digits) const {
        std::vector<float> result(std::size_t{size} * size);
        const auto factors_of = [&](const Tensor& tensor) {
            std::vector<float> factors = values_of<float>(tensor);
            for (float& x : factors) {
                x = digits < 23 ? rounded_to(x, digits) : x;
            }
            return factors;
        };
        const std::vector<float> left = factors_of(a);
        const std::vector<float> right = factors_of(b);
        for (std::size_t row = 0; row < size; ++row) {
            for (std::size_t k = 0; k < depth; ++k) {
                for (std::size_t column = 0; column < size; ++column) {
                    result[row * size + column] += left[row * depth + k] * right[k * size + column];
                }
            }
        }
        return result;
    }

    /// The sums in double precision.
    [[nodiscard]] std::vector<double> exact() const {
        std::vector<double> result(std::size_t{size} * size);
        const std::vector<float> left = values_of<float>(a);
        const std::vector<float> right = values_of<float>(b);
        for (std::size_t row = 0; row < size; ++row) {
            for (std::size_t k = 0; k < depth; ++k) {
                for (std::size_t column = 0; column < size; ++column) {
                    result[row * size + column] += double{left[row * depth + k]} * double{right[k * size + column]};
                }
            }
        }
        return result;
    }

    /// The expected errors by the formula for terms in any order.
    [[nodiscard]] std::vector<double> expected_in_any_order() const {
        std::vector<double> result = exact();
        const std::vector<float> left = values_of<float>(a);
        const std::vector<float> right = values_of<float>(b);
        for (std::size_t i = 0; i < result.size(); ++i) {
            double squares = 0;
            for (std::size_t k = 0; k < depth; ++k) {
                const double term = double{left[i / size * depth + k]} * double{right[k * size + i % size]};
                squares += term * term;
            }
            result[i] = std::sqrt(cpu::sum_variance(static_cast<double>(depth), squares, result[i]));
        }
        return result;
    }

    Tensor a;
    Tensor b;
    std::size_t depth;
};

/// Root mean square of error / sigma for 64 x 64 sums, computed with NumPy from the formula alone.
TEST(ExpectedError, TellsPrecisionsOfProductsApart) {
    struct Measured {
        std::uint32_t depth;
        bool normal;
        double tf32;
        double bf16;
    };
    const std::vector<Measured> table{{64, true, 1242, 9888}, {64, false, 245, 2043},  {576, true, 426, 3400},
                                      {576, false, 31, 227},  {4096, true, 161, 1298}, {4096, false, 4.1, 33}};
    for (const auto& [depth, normal, tf32, bf16] : table) {
        const std::string name = std::to_string(depth) + (normal ? " normal" : " uniform");
        const Matrices matrices(depth, normal);
        const std::vector<double> exact = matrices.exact();
        const cpu::Reference reference = matrices.reference();
        const std::vector<double> in_any_order = matrices.expected_in_any_order();
        const auto q = [&](int digits, const std::vector<double>& expected_errors) {
            const ErrorStatistics statistics = error_statistics(exact, matrices.sums(digits), expected_errors);
            EXPECT_EQ(statistics.count, exact.size()) << name;
            return statistics.q;
        };
        EXPECT_NEAR(q(10, in_any_order), tf32, 0.15 * tf32) << name;
        EXPECT_NEAR(q(7, in_any_order), bf16, 0.15 * bf16) << name;
        // The reference also takes the order of terms into account.
        const std::vector<double>& expected_errors = reference.slack[0].sigma;
        EXPECT_GT(q(23, expected_errors), 0.3) << name;
        EXPECT_LT(q(23, expected_errors), 1.2) << name;
        EXPECT_GT(q(10, expected_errors), 0.85 * tf32) << name;
        EXPECT_GT(q(7, expected_errors), 0.85 * bf16) << name;
    }
}

/// Factors are sorted from -1 to 1, so the partial sums in order are much larger than those in random order.
TEST(ExpectedError, KnowsTheOrderOfTerms) {
    constexpr std::uint32_t depth = 576;
    Matrices matrices(depth, true);
    for (std::size_t i = 0; i < std::size_t{size} * depth; ++i) {
        matrices.a.as<float>()[i] = static_cast<float>(i % depth) / static_cast<float>(depth - 1) * 2 - 1;
        float& b = matrices.b.as<float>()[i];
        b = 1 + b / 10;
    }
    const cpu::Reference reference = matrices.reference();
    const std::vector<double> exact = matrices.exact();
    const std::vector<float> honest = matrices.sums(23);
    EXPECT_LT(error_statistics(exact, honest, reference.slack[0].sigma).q, 1.2);
    EXPECT_GT(error_statistics(exact, honest, matrices.expected_in_any_order()).q, 2) << "without the order";
    cpu::reduction::SumRange range;
    for (std::size_t k = 0; k < depth; ++k) {
        range.add(double{matrices.a.as<float>()[k]} * double{matrices.b.as<float>()[k * size]});
    }
    EXPECT_NEAR(expected_error(range.result()) / reference.slack[0].sigma[0], 1, 0.01);
}

TEST(ExpectedError, IsZeroForProductsOfSmallIntegers) {
    Matrices matrices(100, true);
    for (Tensor* tensor : {&matrices.a, &matrices.b}) {
        for (float& x : tensor->as<float>()) {
            x = std::nearbyint(x * 3);
        }
    }
    const cpu::Reference reference = matrices.reference();
    for (const double sigma : reference.slack[0].sigma) {
        EXPECT_EQ(sigma, 0);
    }
}

}  // namespace
}  // namespace dmlconform::tests::expected_error_test
