// Tests of engine/cpu/normalisation/exponential: against a wider type, and equal results for vectors of any width.
#include "engine/cpu/normalisation/exponential.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "engine/cpu/wide_registers.h"

namespace dmlconform::tests::exponential_test {
namespace {

using cpu::normalisation::exponential;

/// From 0 down to arguments whose powers are 0, of all magnitudes.
std::vector<double> some_arguments() {
    std::mt19937_64 random(7);
    std::vector<double> arguments;
    for (int i = 0; i < 200'000; ++i) {
        const double fraction = static_cast<double>(random() >> 11) * 0x1p-53;
        arguments.push_back(-std::ldexp(fraction, static_cast<int>(random() % 40) - 30));
    }
    return arguments;
}

TEST(Exponential, IsOffByLessThanItSays) {
    long double most = 0;
    for (const double x : some_arguments()) {
        if (x >= -708) {
            // A long double is more precise than a double on most machines, and never less.
            const long double exact = std::exp(static_cast<long double>(x));
            most = std::max(most, std::fabs(static_cast<long double>(exponential(x)) - exact) / exact);
        }
    }
    EXPECT_LE(most, 0x1p-43L);
    // A smaller maximum would mean that the arguments are badly chosen.
    EXPECT_GE(most, 0x1p-45L);
}

TEST(Exponential, Ends) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(exponential(0.0), 1.0);
    EXPECT_EQ(exponential(-0.0), 1.0);
    EXPECT_EQ(exponential(-infinity), 0.0);
    EXPECT_EQ(exponential(-1e300), 0.0);
    EXPECT_EQ(exponential(std::nextafter(-708, -infinity)), 0.0);
    EXPECT_NEAR(exponential(-708) / std::exp(-708), 1, 0x1p-43);
    EXPECT_TRUE(std::isnan(exponential(std::numeric_limits<double>::quiet_NaN())));
}

TEST(Exponential, IsTheSameInWideRegisters) {
    const std::vector<double> arguments = some_arguments();
    std::vector<double> powers(arguments.size());
    cpu::in_wide_registers([&] {
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            powers[i] = exponential(arguments[i]);
        }
    });
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        ASSERT_EQ(std::bit_cast<std::uint64_t>(powers[i]), std::bit_cast<std::uint64_t>(exponential(arguments[i])))
            << arguments[i];
    }
}

}  // namespace
}  // namespace dmlconform::tests::exponential_test
