// H. B. Mann, D. R. Whitney: On a test of whether one of two random variables is stochastically larger than the other
// (1947), with the recurrence for U's distribution from there.
#include "engine/bench/rank_test.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

namespace dmlconform::bench {
namespace {

constexpr std::size_t most_exact_pairs = 400;

/// The number of pairs in which the first sample's element is larger; ties count half.
double u_statistic(std::span<const double> a, std::span<const double> b) {
    double u = 0;
    for (const double x : a) {
        for (const double y : b) {
            u += x > y ? 1 : x == y ? 0.5 : 0;
        }
    }
    return u;
}

/// The probability of each value of U for samples of m and n elements.
std::vector<double> u_distribution(std::size_t m, std::size_t n) {
    // The coefficients of the Gaussian binomial (m + n over m) in q: the product over i of (1 - q^(n+i)) / (1 - q^i).
    std::vector<double> counts(m * n + 1);
    counts[0] = 1;
    for (std::size_t i = 1; i <= m; ++i) {
        for (std::size_t u = counts.size(); u-- > n + i;) {
            counts[u] -= counts[u - (n + i)];
        }
        for (std::size_t u = i; u < counts.size(); ++u) {
            counts[u] += counts[u - i];
        }
    }
    double total = 0;
    for (const double count : counts) {
        total += count;
    }
    for (double& count : counts) {
        count /= total;
    }
    return counts;
}

double exact_p(double u, std::size_t m, std::size_t n) {
    const auto shares = u_distribution(m, n);
    const auto smaller = static_cast<std::size_t>(std::min(u, static_cast<double>(m * n) - u));
    double tail = 0;
    for (std::size_t i = 0; i <= smaller; ++i) {
        tail += shares[i];
    }
    return std::min(1.0, 2 * tail);
}

/// The number of ways to choose `chosen` of `all`.
double combinations(std::size_t all, std::size_t chosen) {
    double count = 1;
    for (std::size_t i = 0; i < chosen; ++i) {
        count *= static_cast<double>(all - i) / static_cast<double>(i + 1);
    }
    return std::round(count);
}

/// How many divisions of the values into samples of m and n have each value of 2 U. Equal values are taken together:
/// if k of t of them go to the first sample, 2 U grows by 2 k for each smaller value of the second sample, and by
/// k (t - k).
std::vector<double> tied_distribution(std::span<const double> sorted, std::size_t m) {
    const std::size_t n = sorted.size() - m;
    const std::size_t most = 2 * m * n;
    // By the number of values that went to the first sample.
    std::vector<std::vector<double>> counts(m + 1, std::vector<double>(most + 1));
    counts[0][0] = 1;
    for (std::size_t first = 0; first < sorted.size();) {
        const auto [begin, end] = std::equal_range(sorted.begin(), sorted.end(), sorted[first]);
        const auto t = static_cast<std::size_t>(end - begin);
        std::vector<std::vector<double>> next(m + 1, std::vector<double>(most + 1));
        for (std::size_t taken = 0; taken <= std::min(m, first); ++taken) {
            for (std::size_t k = 0; k <= std::min(t, m - taken); ++k) {
                const std::size_t growth = 2 * k * (first - taken) + k * (t - k);
                const double ways = combinations(t, k);
                for (std::size_t u = 0; u + growth <= most; ++u) {
                    next[taken + k][u + growth] += ways * counts[taken][u];
                }
            }
        }
        counts = std::move(next);
        first += t;
    }
    return counts[m];
}

double exact_tied_p(double u, std::span<const double> sorted, std::size_t m) {
    const auto counts = tied_distribution(sorted, m);
    const auto twice = static_cast<std::size_t>(2 * u);
    double below = 0;
    double above = 0;
    double total = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        below += i <= twice ? counts[i] : 0;
        above += i >= twice ? counts[i] : 0;
        total += counts[i];
    }
    return std::min(1.0, 2 * std::min(below, above) / total);
}

double normal_p(double u, std::span<const double> sorted, double m, double n) {
    const double total = m + n;
    double ties = 0;
    for (std::size_t i = 0; i < sorted.size();) {
        std::size_t end = i;
        while (end < sorted.size() && sorted[end] == sorted[i]) {
            ++end;
        }
        const auto t = static_cast<double>(end - i);
        ties += t * t * t - t;
        i = end;
    }
    const double variance = m * n / 12 * (total + 1 - ties / (total * (total - 1)));
    if (variance <= 0) {
        return 1;  // all are equal
    }
    const double z = std::max(0.0, std::fabs(u - m * n / 2) - 0.5) / std::sqrt(variance);
    return std::erfc(z / std::numbers::sqrt2);
}

/// The interval of the sorted values without `outside` values at each end.
Interval between(std::vector<double> values, std::size_t outside) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (2 * outside >= values.size() || outside == 0) {
        return {-infinity, infinity};
    }
    std::sort(values.begin(), values.end());
    return {values[outside - 1], values[values.size() - outside]};
}

/// How many of the pairs' differences are excluded on each side: the maximum for which the tail of U stays below the
/// limit.
std::size_t pairs_outside(std::size_t m, std::size_t n, double confidence) {
    const double tail = (1 - confidence) / 2;
    if (m * n > most_exact_pairs) {
        // The normal distribution's quantile, by bisection.
        double z = 0;
        for (double step = 4; step > 1e-9; step /= 2) {
            z += std::erfc((z + step) / std::numbers::sqrt2) / 2 > tail ? step : 0;
        }
        const auto pairs = static_cast<double>(m * n);
        const double outside = pairs / 2 - z * std::sqrt(pairs * static_cast<double>(m + n + 1) / 12);
        return outside < 1 ? 0 : static_cast<std::size_t>(outside);
    }
    const auto shares = u_distribution(m, n);
    double sum = 0;
    std::size_t outside = 0;
    while (outside < shares.size() && sum + shares[outside] <= tail) {
        sum += shares[outside++];
    }
    return outside;
}

}  // namespace

double mann_whitney_p(std::span<const double> a, std::span<const double> b) {
    if (a.empty() || b.empty()) {
        return 1;
    }
    std::vector<double> all(a.begin(), a.end());
    all.insert(all.end(), b.begin(), b.end());
    std::sort(all.begin(), all.end());
    const bool ties = std::adjacent_find(all.begin(), all.end()) != all.end();
    const double u = u_statistic(a, b);
    if (a.size() * b.size() <= most_exact_pairs) {
        return ties ? exact_tied_p(u, all, a.size()) : exact_p(u, a.size(), b.size());
    }
    return normal_p(u, all, static_cast<double>(a.size()), static_cast<double>(b.size()));
}

double least_mann_whitney_p(std::size_t a, std::size_t b) {
    // Counts the ways to mix the ranks. In two of them, all of one sample come first.
    double mixtures = 1;
    for (std::size_t i = 1; i <= a; ++i) {
        mixtures *= static_cast<double>(b + i) / static_cast<double>(i);
    }
    return std::min(1.0, 2 / mixtures);
}

double sign_p(std::span<const double> differences) {
    const auto above =
        static_cast<double>(std::count_if(differences.begin(), differences.end(), [](double d) { return d > 0; }));
    const auto below =
        static_cast<double>(std::count_if(differences.begin(), differences.end(), [](double d) { return d < 0; }));
    const double all = above + below;
    // The lower tail of a binomial distribution with p = 1/2. Uses logarithms, because 2^-n underflows for many
    // differences.
    double tail = 0;
    for (double i = 0; i <= std::min(above, below); ++i) {
        tail +=
            std::exp(std::lgamma(all + 1) - std::lgamma(i + 1) - std::lgamma(all - i + 1) - all * std::numbers::ln2);
    }
    return std::min(1.0, 2 * tail);
}

Interval shift_interval(std::span<const double> a, std::span<const double> b, double confidence) {
    std::vector<double> shifts;
    for (const double x : a) {
        for (const double y : b) {
            shifts.push_back(y - x);
        }
    }
    return between(std::move(shifts), a.empty() || b.empty() ? 0 : pairs_outside(a.size(), b.size(), confidence));
}

Interval median_interval(std::span<const double> sample, double confidence) {
    const auto n = static_cast<double>(sample.size());
    const double tail = (1 - confidence) / 2;
    double sum = 0;
    std::size_t outside = 0;
    for (double i = 0; i < n; ++i) {
        sum += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) - n * std::numbers::ln2);
        if (sum > tail) {
            break;
        }
        ++outside;
    }
    return between({sample.begin(), sample.end()}, outside);
}

double trend_p(std::span<const double> sample) {
    double rising = 0;  // the number of ascending pairs minus that of descending ones
    for (std::size_t i = 0; i < sample.size(); ++i) {
        for (std::size_t j = i + 1; j < sample.size(); ++j) {
            rising += sample[j] > sample[i] ? 1 : sample[j] < sample[i] ? -1 : 0;
        }
    }
    const auto n = static_cast<double>(sample.size());
    const double variance = n * (n - 1) * (2 * n + 5) / 18;
    if (variance <= 0) {
        return 1;
    }
    const double z = std::max(0.0, std::fabs(rising) - 1) / std::sqrt(variance);
    return std::erfc(z / std::numbers::sqrt2);
}

}  // namespace dmlconform::bench
