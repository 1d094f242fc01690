// Binary segmentation with t-tests.
#include "engine/history/change_points.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/bench/quantiles.h"
#include "engine/bench/significance.h"

namespace dmlconform::history {
namespace {

double median_of(std::span<const double> values) {
    return bench::median({values.begin(), values.end()});
}

/// The sum of squared distances from the mean.
double squares_of(std::span<const double> values) {
    double mean = 0;
    for (const double value : values) {
        mean += value / static_cast<double>(values.size());
    }
    double squares = 0;
    for (const double value : values) {
        squares += (value - mean) * (value - mean);
    }
    return squares;
}

struct Split {
    std::size_t index = 0;
    /// The medians of the logarithms before and after the index.
    double before = 0;
    double after = 0;
    double p = 1;
    /// The t-statistic, which tells splits with a p-value of 0 apart.
    double t = 0;
};

class Search {
public:
    Search(std::vector<double> logarithms, std::span<const double> errors, const ChangePointSettings& settings)
        : values_(std::move(logarithms)), errors_(errors), settings_(settings) {}

    std::vector<ChangePoint> run() {
        search(0, values_.size());
        std::ranges::sort(found_, {}, &ChangePoint::index);
        return found_;
    }

private:
    /// True if nothing follows that could confirm a change at this index.
    [[nodiscard]] bool is_last(std::size_t index) const { return index + 1 == values_.size(); }

    /// Divides the values from `first` to before `end`, of which at most `most` count after the split.
    [[nodiscard]] Split split_at(std::size_t index, std::size_t first, std::size_t end, std::size_t most) const {
        const std::span<const double> all(values_);
        const std::size_t left = std::min(index - first, settings_.window);
        const std::size_t right = std::min(end - index, most);
        const auto before = all.subspan(index - left, left);
        const auto after = all.subspan(index, right);
        Split split{index, median_of(before), median_of(after)};
        const auto freedom = static_cast<double>(left + right - 2);
        double variance = (squares_of(before) + squares_of(after)) / freedom;
        if (!errors_.empty()) {
            double squares = 0;
            for (const double error : errors_.subspan(index - left, left + right)) {
                squares += error * error;
            }
            variance = std::max(variance, squares / static_cast<double>(left + right));
        }
        const double share = 1 / static_cast<double>(left) + 1 / static_cast<double>(right);
        const double distance = std::fabs(split.after - split.before);
        split.t = distance == 0 ? 0 : distance / std::sqrt(variance * share);
        split.p = bench::student_p(split.t, freedom);
        return split;
    }

    void search(std::size_t first, std::size_t end) {
        std::optional<Split> best = best_split(first, end, settings_.window);
        if (!best) {
            // Another change may follow soon, and then the values after the first one are not at one level.
            best = best_split(first, end, settings_.least);
        }
        if (best) {
            found_.push_back({best->index, std::exp(best->before), std::exp(best->after), !is_last(best->index)});
            search(first, best->index);
            search(best->index, end);
        }
    }

    /// The most significant split; empty if none is significant.
    [[nodiscard]] std::optional<Split> best_split(std::size_t first, std::size_t end, std::size_t most) const {
        const std::size_t least = std::max<std::size_t>(settings_.least, 2);
        std::optional<Split> best;
        double tried = 0;
        for (std::size_t i = first + least; i < end; ++i) {
            // A single value before another change is an outlier.
            if (i + 1 == end && !is_last(i)) {
                break;
            }
            ++tried;
            const Split split = split_at(i, first, end, most);
            const bool is_large = std::fabs(split.after - split.before) > std::log1p(settings_.threshold);
            if (is_large && (!best || split.p < best->p || (split.p == best->p && split.t > best->t))) {
                best = split;
            }
        }
        // Everything is tried with two numbers of values.
        const bool is_significant = best && best->p * (is_last(best->index) ? 1 : 2 * tried) < settings_.significance;
        return is_significant ? best : std::nullopt;
    }

    std::vector<double> values_;
    std::span<const double> errors_;
    const ChangePointSettings& settings_;
    std::vector<ChangePoint> found_;
};

}  // namespace

std::vector<ChangePoint> find_change_points(std::span<const double> values, const ChangePointSettings& settings,
                                            std::span<const double> errors) {
    std::vector<double> logarithms;
    std::ranges::transform(values, std::back_inserter(logarithms), [](double value) { return std::log(value); });
    return Search(std::move(logarithms), errors, settings).run();
}

}  // namespace dmlconform::history
