// Adds up squares of differences, and derives bounds from them: docs/graphs.md.
#include "engine/cpu/deviations.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

#include "engine/cpu/graph_reference.h"
#include "engine/cpu/node_noise.h"

namespace dmlconform::cpu {
namespace {

/// An element whose spread is this multiple of that of most elements is at a tie, as in take_jumps().
constexpr double most_of_untied = 64;

/// The mean of the numbers that are not above a limit, in their order, so that it is the same on every machine.
double mean_up_to(double limit, const std::vector<double>& numbers) {
    double sum = 0;
    std::size_t count = 0;
    for (const double number : numbers) {
        if (number <= limit) {
            sum += number;
            ++count;
        }
    }
    return sum / static_cast<double>(count);
}

}  // namespace

Deviations::Deviations(core::Tensor reference)
    : reference_(std::move(reference)),
      squares_(static_cast<std::size_t>(*core::element_count(reference_.desc.sizes))),
      least_(squares_.size()),
      greatest_(squares_.size()),
      nan_(squares_.size()) {}

void Deviations::add(const core::Tensor& packed) {
    core::with_type(reference_.desc.data_type, [&]<class T>() {
        const auto expected = reference_.as<T>();
        const auto found = packed.as<T>();
        for (std::size_t i = 0; i < squares_.size(); ++i) {
            const auto wanted = static_cast<double>(expected[i]);
            const auto got = static_cast<double>(found[i]);
            if (got == wanted || (std::isnan(wanted) && std::isnan(got))) {
                continue;  // this includes equal infinities
            }
            if (std::isnan(got)) {
                nan_[i] = 1;
                continue;
            }
            if (std::isnan(wanted)) {
                least_[i] = nan_[i] == 0 ? got : std::min(least_[i], got);
                greatest_[i] = nan_[i] == 0 ? got : std::max(greatest_[i], got);
                nan_[i] = 2;
                continue;
            }
            const double by = got - wanted;
            squares_[i] += by * by;
            least_[i] = std::min(least_[i], by);
            greatest_[i] = std::max(greatest_[i], by);
        }
    });
    ++runs_;
}

std::vector<double> Deviations::spreads() const {
    std::vector<double> spreads;
    spreads.reserve(squares_.size());
    for (std::size_t i = 0; i < squares_.size(); ++i) {
        spreads.push_back(spread(i));
    }
    return spreads;
}

std::vector<double> Deviations::bounds() const {
    const double common = common_spread_multiple * common_spread();
    std::vector<double> bounds = spreads();
    for (double& bound : bounds) {
        bound = std::max(spread_multiple * bound, common);
    }
    return bounds;
}

void Deviations::widen(core::ElementSlack& slack) const {
    const std::vector<double> bound = bounds();
    const bool is_integer = !core::is_floating_point(reference_.desc.data_type);
    slack.nan.resize(squares_.size());
    slack.finite.resize(squares_.size());
    for (std::size_t i = 0; i < squares_.size(); ++i) {
        if (nan_[i] == 2) {
            const bool had_range = slack.nan[i] == 2;
            slack.below[i] = had_range ? std::max(slack.below[i], -least_[i]) : -least_[i];
            slack.above[i] = had_range ? std::max(slack.above[i], greatest_[i]) : greatest_[i];
            slack.nan[i] = 2;
            continue;
        }
        // Where an element may be off and no standard deviation is known, there still is none.
        if (!slack.sigma.empty() && (slack.sigma[i] > 0 || std::max(slack.below[i], slack.above[i]) == 0)) {
            slack.sigma[i] = std::hypot(slack.sigma[i], bound[i] / spread_multiple);
        }
        // For integers, the runs contain every value that a tie allows.
        slack.below[i] += is_integer ? -least_[i] : bound[i];
        slack.above[i] += is_integer ? greatest_[i] : bound[i];
        slack.nan[i] = std::max(slack.nan[i], nan_[i]);
    }
}

double Deviations::spread(std::size_t i) const {
    return std::sqrt(squares_[i] / static_cast<double>(runs_));
}

double Deviations::common_spread() const {
    std::vector<double> moving;
    std::ranges::copy_if(squares_, std::back_inserter(moving),
                         [](double square) { return square > 0 && std::isfinite(square); });
    // A few elements at a tie say nothing about the others.
    const auto count = static_cast<double>(moving.size());
    if (moving.empty() || count < least_share * static_cast<double>(squares_.size())) {
        return 0;
    }
    std::vector<double> sorted = moving;
    const auto few = static_cast<std::ptrdiff_t>(least_share * count);
    const auto last_of_most = sorted.end() - 1 - few;
    std::ranges::nth_element(sorted, last_of_most);
    const double most = mean_up_to(*last_of_most, moving);
    const double untied = std::max(*last_of_most, most_of_untied * most_of_untied * most);
    return std::sqrt(mean_up_to(untied, moving) / static_cast<double>(runs_));
}

void reach_neighbours(const core::Tensor& packed, std::span<double> distances) {
    core::Tolerance one_unit;
    one_unit.ulp = 1;
    core::with_type(packed.desc.data_type, [&]<class T>() {
        const auto values = packed.as<T>();
        for (std::size_t i = 0; i < distances.size(); ++i) {
            const auto value = static_cast<double>(values[i]);
            if (std::isfinite(value)) {
                const double unit = noise_range(packed.desc.data_type, value, i, one_unit, {}).above;
                distances[i] = std::max(distances[i] + unit / 2, unit);
            }
        }
    });
}

}  // namespace dmlconform::cpu
