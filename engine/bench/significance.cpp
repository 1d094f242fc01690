// The incomplete beta function by Lentz's method, and S. Holm: A simple sequentially rejective multiple test procedure
// (1979).
#include "engine/bench/significance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace dmlconform::bench {
namespace {

/// The continued fraction of the incomplete beta function, which converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
    constexpr int most_terms = 500;
    constexpr double tiny = std::numeric_limits<double>::min() / std::numeric_limits<double>::epsilon();
    const auto not_zero = [](double value) { return std::fabs(value) < tiny ? tiny : value; };
    double c = 1;
    double d = 1 / not_zero(1 - (a + b) * x / (a + 1));
    double product = d;
    for (int m = 1; m <= most_terms; ++m) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / not_zero(1 + even * d);
        c = not_zero(1 + even / c);
        product *= d * c;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / not_zero(1 + odd * d);
        c = not_zero(1 + odd / c);
        product *= d * c;
        if (std::fabs(d * c - 1) < std::numeric_limits<double>::epsilon()) {
            break;
        }
    }
    return product;
}

/// The regularised incomplete beta function.
double incomplete_beta(double a, double b, double x) {
    if (x <= 0 || x >= 1) {
        return x <= 0 ? 0 : 1;
    }
    const double front =
        std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

double student_p(double t, double freedom) {
    return std::isfinite(t) ? incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) : 0;
}

std::vector<double> correct_for_number(std::span<const double> p) {
    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
    std::vector<double> corrected(p.size());
    double greatest = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        greatest = std::max(greatest, std::min(1.0, p[order[i]] * static_cast<double>(p.size() - i)));
        corrected[order[i]] = greatest;
    }
    return corrected;
}

}  // namespace dmlconform::bench
