// MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1, one head at a time. Equals definitions/attention.cpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "engine/core/floating_format.h"
#include "engine/cpu/attention/operands.h"
#include "engine/cpu/composition/arithmetic.h"
#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/parallel.h"

namespace dmlconform::cpu::attention_kernels {
namespace {

using attention::Operand;
using attention::Operands;
using composition::Bounded;
using composition::Exact;

/// {batch, head, position, size}: the past, then the other rows with the bias added.
template <class Arithmetic>
class Numbers {
public:
    using Number = typename Arithmetic::Number;

    Numbers(const Operand& operand, std::int64_t batch, Arithmetic arithmetic)
        : heads_(operand.rows.heads), positions_(operand.positions()), size_(operand.rows.size) {
        numbers_.reserve(static_cast<std::size_t>(batch * heads_ * positions_ * size_));
        for (std::int64_t b = 0; b < batch; ++b) {
            for (std::int64_t h = 0; h < heads_; ++h) {
                for (std::int64_t p = 0; p < positions_; ++p) {
                    append(operand, b, h, p, arithmetic);
                }
            }
        }
    }

    [[nodiscard]] std::span<const Number> at(std::int64_t batch, std::int64_t head, std::int64_t position) const {
        return {numbers_.data() + ((batch * heads_ + head) * positions_ + position) * size_,
                static_cast<std::size_t>(size_)};
    }

private:
    void append(const Operand& operand, std::int64_t batch, std::int64_t head, std::int64_t position,
                Arithmetic arithmetic) {
        if (position < operand.past.positions) {
            const auto row = operand.past.at(batch, head, position);
            numbers_.insert(numbers_.end(), row.begin(), row.end());
            return;
        }
        const auto row = operand.rows.at(batch, head, position - operand.past.positions);
        for (std::size_t i = 0; i < row.size(); ++i) {
            const Number number = row[i];
            numbers_.push_back(
                operand.bias.empty()
                    ? number
                    : arithmetic.stored(number + Number(operand.bias[static_cast<std::size_t>(head * size_) + i])));
        }
    }

    std::int64_t heads_;
    std::int64_t positions_;
    std::int64_t size_;
    std::vector<Number> numbers_;
};

/// One query of one head.
struct QueryRow {
    std::int64_t batch = 0;
    std::int64_t head = 0;
    std::int64_t query = 0;
};

template <class Arithmetic>
class Attention {
public:
    using Number = typename Arithmetic::Number;

    Attention(const Operands& operands, Arithmetic arithmetic)
        : operands_(operands),
          arithmetic_(arithmetic),
          queries_(operands.queries, operands.batch, arithmetic),
          keys_(operands.keys, operands.batch, arithmetic),
          values_(operands.values, operands.batch, arithmetic) {}

    [[nodiscard]] const Numbers<Arithmetic>& keys() const { return keys_; }
    [[nodiscard]] const Numbers<Arithmetic>& values() const { return values_; }

    /// The output row of a query of one head.
    [[nodiscard]] std::vector<Number> row(const QueryRow& at) const {
        const std::vector<Number> all_scores = scores(at);
        const std::vector<Number> powers = powers_of(all_scores);
        std::vector<Number> result = weighted_row(at, powers, total_of(powers));
        if constexpr (std::is_same_v<Arithmetic, Bounded>) {
            if (may_overflow_all(all_scores)) {
                return or_nan(row_between_values(at, all_scores.size()));
            }
            if (may_be_large(powers) && have_maximum(all_scores)) {
                narrow(result, row_below_maximum(at, all_scores));
                narrow(result, row_between_values(at, all_scores.size()));
            }
        }
        return result;
    }

private:
    /// The key/value head of a query head. Groups of adjacent query heads share one.
    [[nodiscard]] std::int64_t key_head(std::int64_t head) const {
        return head * operands_.keys.rows.heads / operands_.queries.rows.heads;
    }

    [[nodiscard]] std::vector<Number> scores(const QueryRow& at) const {
        const std::int64_t count = operands_.keys.positions();
        const auto query = queries_.at(at.batch, at.head, at.query);
        std::vector<Number> scores;
        for (std::int64_t key = 0; key < count; ++key) {
            scores.push_back(biased(product(query, keys_.at(at.batch, key_head(at.head), key)), at, key));
        }
        return scores;
    }

    /// The score with its position bias and mask. Implementations may add these to each other first: of FLOAT16, a mask
    /// of -10000 leaves other digits then.
    [[nodiscard]] Number biased(const Number& score, const QueryRow& at, std::int64_t key) const {
        const auto plus = [&](const Number& a, const Number& b) { return arithmetic_.stored(a + b); };
        if (operands_.position_bias.empty()) {
            return operands_.mask.is_present() ? plus(score, mask(at, key)) : score;
        }
        const std::int64_t head = at.batch * operands_.queries.rows.heads + at.head;
        const std::int64_t row = head * operands_.queries.rows.positions + at.query;
        const Number bias = operands_.position_bias[static_cast<std::size_t>(row * operands_.keys.positions() + key)];
        const Number sum = plus(score, bias);
        return operands_.mask.is_present()
                   ? arithmetic_.either(plus(sum, mask(at, key)), plus(score, plus(bias, mask(at, key))))
                   : sum;
    }
    [[nodiscard]] Number mask(const QueryRow& at, std::int64_t key) const {
        return operands_.mask.added(at.batch, at.head, at.query, key);
    }

    /// The scaled dot product. Implementations may scale the query first, or each product.
    [[nodiscard]] Number product(std::span<const Number> query, std::span<const Number> key) const {
        auto sum = arithmetic_.sum();
        auto scaled = arithmetic_.sum();
        for (std::size_t i = 0; i < query.size(); ++i) {
            sum.add_product(query[i], key[i]);
            scaled.add_product(arithmetic_.stored(query[i] * operands_.scale), key[i]);
        }
        return arithmetic_.stored(
            arithmetic_.either(arithmetic_.stored(sum.result()) * operands_.scale, scaled.result()));
    }

    [[nodiscard]] Number total_of(const std::vector<Number>& powers) const {
        auto sum = arithmetic_.sum();
        for (const Number& power : powers) {
            sum.add(power);
        }
        return sum.result();
    }

    [[nodiscard]] std::vector<Number> weighted_row(const QueryRow& at, const std::vector<Number>& powers,
                                                   const Number& total) const {
        std::vector<Number> result;
        for (std::int64_t i = 0; i < operands_.values.rows.size; ++i) {
            result.push_back(weighted(at, powers, total, static_cast<std::size_t>(i)));
        }
        return result;
    }

    /// exp(score - maximum). The subtracted number cancels in the quotients, so the bounds can use the exact maximum.
    /// If the scores are inexact, powers may then exceed 1.
    [[nodiscard]] std::vector<Number> powers_of(std::vector<Number> scores) const {
        const double largest = largest_of(scores);
        for (Number& score : scores) {
            score = exp(score - largest);
        }
        return scores;
    }

    /// Ignores NaN, which reappears in the sum.
    [[nodiscard]] static double largest_of(const std::vector<double>& scores) {
        double largest = -std::numeric_limits<double>::infinity();
        for (const double score : scores) {
            largest = score > largest ? score : largest;
        }
        return largest;
    }
    [[nodiscard]] static double largest_of(const std::vector<Interval>& scores) {
        double largest = -std::numeric_limits<double>::infinity();
        for (const Interval& score : scores) {
            largest = std::max(largest, score.has_numbers() ? score.low : largest);
        }
        return largest;
    }

    /// Whether powers exceed 1 so far that their sums might overflow, which those of implementations do not. Otherwise
    /// row_below_maximum would be less narrow.
    [[nodiscard]] static bool may_be_large(const std::vector<Interval>& powers) {
        return std::ranges::any_of(powers, [](const Interval& power) { return power.high > 2; });
    }

    /// Whether the maximum is finite in all implementations, so that subtracting it does not give NaN.
    [[nodiscard]] static bool have_maximum(const std::vector<Interval>& scores) {
        const auto is_below_infinity = [](const Interval& score) {
            return !score.nan && score.high < std::numeric_limits<double>::infinity();
        };
        return std::ranges::all_of(scores, is_below_infinity) && std::isfinite(largest_of(scores));
    }

    /// Whether all scores are numbers, but may be -infinity in some implementations: those give NaN, and others a mean.
    [[nodiscard]] static bool may_overflow_all(const std::vector<Interval>& scores) {
        const auto may_be_finite = [](const Interval& score) { return std::isfinite(score.high); };
        return largest_of(scores) == -std::numeric_limits<double>::infinity() &&
               std::ranges::all_of(scores, &Interval::has_numbers) && std::ranges::any_of(scores, may_be_finite);
    }

    [[nodiscard]] static std::vector<Interval> or_nan(std::vector<Interval> row) {
        for (Interval& range : row) {
            range.nan = true;
        }
        return row;
    }

    /// For each score, the maximum of all others.
    [[nodiscard]] static std::vector<Interval> maximum_of_others(const std::vector<Interval>& scores) {
        std::vector<Interval> result(scores.size(), Interval(-std::numeric_limits<double>::infinity()));
        Interval before = result.front();
        Interval after = result.front();
        for (std::size_t i = 0, last = scores.size() - 1; i <= last; ++i) {
            result[i] = max(result[i], before);
            result[last - i] = max(result[last - i], after);
            before = max(before, scores[i]);
            after = max(after, scores[last - i]);
        }
        return result;
    }

    /// The row's bounds by what implementations do: they subtract the maximum of the scores that they computed, so that
    /// no power exceeds 1, and at least one is 1. Requires have_maximum.
    [[nodiscard]] std::vector<Interval> row_below_maximum(const QueryRow& at,
                                                          const std::vector<Interval>& scores) const {
        std::vector<Interval> powers = maximum_of_others(scores);
        for (std::size_t key = 0; key < scores.size(); ++key) {
            powers[key] = exp(min(scores[key] - powers[key], Interval(0)));
        }
        return weighted_row(at, powers, max(total_of(powers), arithmetic_.stored(exp(Interval(0)))));
    }

    /// The row's bounds by the definition of a weighted mean: it is between the values, up to roundings. The sum of the
    /// powers rounds for each key, and so does the sum of the products; division and product round each weight. In
    /// FLOAT16, the sum, a weight and a product may be stored as well. Requires have_maximum.
    [[nodiscard]] std::vector<Interval> row_between_values(const QueryRow& at, std::size_t keys) const {
        const double count = static_cast<double>(keys);
        const double rounding = std::expm1(2 * (count + 2) * core::float32.one_rounding +
                                           (arithmetic_.half ? 3 * core::float16.one_rounding : 0));
        const double smallest = arithmetic_.half ? core::float16.smallest : core::float32.smallest_normal;
        std::vector<Interval> row;
        for (std::int64_t i = 0; i < operands_.values.rows.size; ++i) {
            Interval range = value_at(at, 0, i);
            for (std::size_t key = 1; key < keys; ++key) {
                range = hull(range, value_at(at, key, i));
            }
            const double largest = std::max(std::fabs(range.low), std::fabs(range.high));
            const double by = largest * rounding + 2 * count * (1 + largest) * smallest;
            row.push_back({range.low - by, range.high + by, range.nan || !std::isfinite(by)});
        }
        return row;
    }

    [[nodiscard]] Number value_at(const QueryRow& at, std::size_t key, std::int64_t i) const {
        return values_.at(at.batch, key_head(at.head), static_cast<std::int64_t>(key))[static_cast<std::size_t>(i)];
    }

    /// Both ranges hold, so what they have in common does.
    static void narrow(std::vector<Interval>& ranges, const std::vector<Interval>& others) {
        for (std::size_t i = 0; i < ranges.size(); ++i) {
            const Interval& other = others[i];
            Interval& range = ranges[i];
            if (range.has_numbers() && other.has_numbers()) {
                range.low = std::max(range.low, other.low);
                range.high = std::min(range.high, other.high);
                range.nan = range.nan && other.nan;
                range.variance = std::isfinite(range.variance) ? range.variance : other.variance;
            }
        }
    }

    /// Implementations divide by the sum before or after the multiplication with the values.
    [[nodiscard]] Number weighted(const QueryRow& at, const std::vector<Number>& powers, const Number& total,
                                  std::size_t i) const {
        auto before = arithmetic_.sum();
        auto afterwards = arithmetic_.sum();
        for (std::size_t key = 0; key < powers.size(); ++key) {
            const Number value = value_at(at, key, static_cast<std::int64_t>(i));
            before.add_product(arithmetic_.stored(powers[key] / total), value);
            afterwards.add_product(powers[key], value);
        }
        return arithmetic_.either(before.result(), afterwards.result() / total);
    }

    const Operands& operands_;
    Arithmetic arithmetic_;
    Numbers<Arithmetic> queries_;
    Numbers<Arithmetic> keys_;
    Numbers<Arithmetic> values_;
};

/// An output that may be absent, and its bounds if they are wanted.
struct Written {
    core::Tensor* tensor = nullptr;
    core::ElementSlack* slack = nullptr;

    Written(const KernelArguments& arguments, std::size_t number) {
        core::Tensor* const output = arguments.outputs[number];
        if (output != nullptr && !output->desc.sizes.empty()) {
            tensor = output;
            const bool wanted = !arguments.slack.empty() && !arguments.slack[number].below.empty();
            slack = wanted ? &arguments.slack[number] : nullptr;
        }
    }
};

class Evaluation {
public:
    explicit Evaluation(const KernelArguments& arguments)
        : operands_(arguments),
          output_(arguments, 0),
          present_keys_(arguments, 1),
          present_values_(arguments, 2),
          values_(operands_, {}) {
        if (output_.slack != nullptr || present_keys_.slack != nullptr || present_values_.slack != nullptr) {
            bounds_.emplace(operands_, Bounded{arguments.outputs[0]->desc.data_type == core::DataType::float16});
        }
    }

    void run() const {
        put_output();
        put_present(
            present_keys_, values_.keys(), [this]() -> const auto& { return bounds_->keys(); });
        put_present(
            present_values_, values_.values(), [this]() -> const auto& { return bounds_->values(); });
    }

private:
    /// {batch, query, head * size}, with leading ones.
    void put_output() const {
        const std::int64_t heads = operands_.queries.rows.heads;
        const std::int64_t queries = operands_.queries.rows.positions;
        const std::int64_t size = operands_.values.rows.size;
        const core::Strides strides = core::signed_strides(output_.tensor->desc);
        const std::size_t rank = strides.size();
        const std::int64_t cost = operands_.keys.positions() * (operands_.keys.rows.size + size) * (bounds_ ? 100 : 2);
        parallel_for(operands_.batch * heads * queries, cost, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first; i < last; ++i) {
                const QueryRow at{i / (heads * queries), i / queries % heads, i % queries};
                const std::vector<double> row = values_.row(at);
                const std::vector<Interval> ranges =
                    output_.slack != nullptr ? bounds_->row(at) : std::vector<Interval>();
                for (std::size_t k = 0; k < row.size(); ++k) {
                    const std::int64_t column = at.head * size + static_cast<std::int64_t>(k);
                    movement::store_computed(
                        *output_.tensor,
                        at.batch * strides[rank - 3] + at.query * strides[rank - 2] + column * strides[rank - 1],
                        (at.batch * queries + at.query) * heads * size + column, row[k], output_.slack,
                        [&] { return ranges[k]; });
                }
            }
        });
    }

    /// {batch, head, position, size}, with leading ones.
    template <class Bounds>
    void put_present(const Written& present, const Numbers<Exact>& values, const Bounds& bounds) const {
        if (present.tensor == nullptr) {
            return;
        }
        const core::Dimensions& sizes = present.tensor->desc.sizes;
        const core::Strides strides = core::signed_strides(present.tensor->desc);
        const std::size_t first = sizes.size() - 4;
        const std::int64_t heads = sizes[first + 1];
        const std::int64_t positions = sizes[first + 2];
        std::int64_t number = 0;
        for (std::int64_t row = 0; row < operands_.batch * heads * positions; ++row) {
            const std::int64_t batch = row / (heads * positions);
            const std::int64_t head = row / positions % heads;
            const std::int64_t position = row % positions;
            const auto numbers = values.at(batch, head, position);
            std::int64_t address = batch * strides[first] + head * strides[first + 1] + position * strides[first + 2];
            for (std::size_t i = 0; i < numbers.size(); ++i) {
                movement::store_computed(*present.tensor, address, number, numbers[i], present.slack,
                                         [&] { return bounds().at(batch, head, position)[i]; });
                address += strides[first + 3];
                ++number;
            }
        }
    }

    Operands operands_;
    Written output_;
    Written present_keys_;
    Written present_values_;
    Attention<Exact> values_;
    std::optional<Attention<Bounded>> bounds_;
};

core::Tolerance tolerance(const operators::Descriptor& descriptor, const operators::TensorSlot& output) {
    const bool is_copied = output.name != "OutputTensor" && descriptor.tensor("BiasTensor") == nullptr;
    return movement::computed_tolerance(
        !is_copied,
        output.desc->data_type == core::DataType::float16
            ? "the formula on intervals: sums in any order in FP32, exp as Direct3D allows it; scores, weights "
              "and sums with biases may be stored as FLOAT16"
            : "the formula on intervals: sums in any order in FP32, exp as Direct3D allows it");
}

}  // namespace

Kernels kernels() {
    Kernels rows;
    for (const char* name : {"MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1"}) {
        rows.push_back({.name = name,
                        .compute = [](const KernelArguments& arguments) { Evaluation(arguments).run(); },
                        .tolerance = tolerance,
                        .loads_numbers = true});
    }
    return rows;
}

}  // namespace dmlconform::cpu::attention_kernels
