// H. B. Mann, D. R. Whitney: On a test of whether one of two random variables is stochastically larger than the other
// (1947), with the recurrence for U's distribution from there. F. Wilcoxon: Individual comparisons by ranking methods
// (1945).
#include "engine/bench/rank_test.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>
#include <vector>

namespace dmlconform::bench {
namespace {

constexpr std::size_t most_exact_pairs = 400;
constexpr std::size_t most_exact_differences = 50;

/// How many of the pairs have the first sample's element larger; half for those that are equal.
double u_statistic(std::span<const double> a, std::span<const double> b) {
    double u = 0;
    for (const double x : a) {
        for (const double y : b) {
            u += x > y ? 1 : x == y ? 0.5 : 0;
        }
    }
    return u;
}

/// The number of arrangements of m and n elements for each value of U, as a share of all.
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

/// The sum of t^3 - t over groups of t equal elements.
double ties_of(std::span<const double> sorted) {
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
    return ties;
}

/// Of a statistic that is `distance` from its mean, in steps of 1.
double normal_p(double distance, double variance) {
    if (variance <= 0) {
        return 1;  // all are equal
    }
    const double z = std::max(0.0, distance - 0.5) / std::sqrt(variance);
    return std::erfc(z / std::numbers::sqrt2);
}

/// Twice the rank of each, the smallest having rank 1 and equal ones sharing theirs.
std::vector<std::size_t> doubled_ranks(std::span<const double> sorted) {
    std::vector<std::size_t> ranks;
    for (const double value : sorted) {
        const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
        ranks.push_back(static_cast<std::size_t>((first - sorted.begin()) + 1 + (last - sorted.begin())));
    }
    return ranks;
}

/// How probable a sum of at most `sum` is when each of the ranks is in it with even chances.
double probability_of_sum(std::size_t sum, std::span<const std::size_t> ranks) {
    std::vector<double> shares(sum + 1);
    shares[0] = 1;
    for (const std::size_t rank : ranks) {
        for (std::size_t i = sum + 1; i-- > 0;) {
            shares[i] = (shares[i] + (i >= rank ? shares[i - rank] : 0)) / 2;
        }
    }
    return std::accumulate(shares.begin(), shares.end(), 0.0);
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
    if (!ties && a.size() * b.size() <= most_exact_pairs) {
        return exact_p(u, a.size(), b.size());
    }
    const auto m = static_cast<double>(a.size());
    const auto n = static_cast<double>(b.size());
    const double total = m + n;
    return normal_p(std::fabs(u - m * n / 2), m * n / 12 * (total + 1 - ties_of(all) / (total * (total - 1))));
}

double signed_rank_p(std::span<const double> differences) {
    std::vector<double> sizes;
    for (const double difference : differences) {
        if (difference != 0) {
            sizes.push_back(std::fabs(difference));
        }
    }
    std::sort(sizes.begin(), sizes.end());
    const auto ranks = doubled_ranks(sizes);
    std::size_t above = 0;
    for (const double difference : differences) {
        if (difference > 0) {
            above += ranks[static_cast<std::size_t>(std::lower_bound(sizes.begin(), sizes.end(), difference) -
                                                    sizes.begin())];
        }
    }
    const std::size_t all = sizes.size() * (sizes.size() + 1);
    if (sizes.size() <= most_exact_differences) {
        return std::min(1.0, 2 * probability_of_sum(std::min(above, all - above), ranks));
    }
    const auto n = static_cast<double>(sizes.size());
    return normal_p(std::fabs(static_cast<double>(above) / 2 - n * (n + 1) / 4),
                    n * (n + 1) * (2 * n + 1) / 24 - ties_of(sizes) / 48);
}

}  // namespace dmlconform::bench
