// Sums in each order that implementations use, generic over the number format. All operators of the test engine use
// these functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tests/precision/arithmetic.h"

namespace dmlconform::precision {

struct Order {
    enum class Kind : std::uint8_t { sequential, backwards, pairwise, blocked, lanes, kahan, fused, random };
    Kind kind = Kind::sequential;
    /// The number of terms in a block, or of running sums.
    std::size_t width = 1;

    [[nodiscard]] std::string name() const {
        switch (kind) {
            case Kind::sequential:
                return "sequential";
            case Kind::backwards:
                return "backwards";
            case Kind::pairwise:
                return "pairwise";
            case Kind::blocked:
                return "blocks of " + std::to_string(width);
            case Kind::lanes:
                return std::to_string(width) + " running sums";
            case Kind::kahan:
                return "Kahan";
            case Kind::fused:
                return "fused multiply-add";
            case Kind::random:
                return "random";
        }
        return "";
    }
};

inline const std::vector<Order>& all_orders() {
    using enum Order::Kind;
    static const std::vector<Order> orders{{sequential, 1}, {backwards, 1}, {pairwise, 1}, {blocked, 4}, {blocked, 32},
                                           {blocked, 256},  {lanes, 8},     {kahan, 1},    {fused, 1},   {random, 1}};
    return orders;
}

/// A term of a sum: a product.
struct Term {
    float a = 0;
    float b = 1;
};

/// The arithmetic of an implementation: operations in a number format, and sums in an order.
template <class Format>
class Machine {
public:
    explicit Machine(Order order, int layer = every_layer) : order_(order), layer_(layer) {}

    static constexpr int every_layer = -1;

    /// The machine for one layer of a chain. Uses plain FP32 if the format applies only to the factors of another
    /// layer.
    [[nodiscard]] Machine in_layer(int layer) const {
        Machine result = *this;
        result.rounds_operands_ = layer_ == every_layer || layer_ == layer;
        return result;
    }

    /// The sum of `count` products, of which term(i) is the i-th.
    template <class Terms>
    [[nodiscard]] float sum(std::size_t count, const Terms& terms) const {
        const auto rounded = [&](std::size_t i) {
            const Term term = terms(i);
            return rounds_operands_ ? Term{Format::operand(term.a), Format::operand(term.b)} : term;
        };
        using enum Order::Kind;
        switch (order_.kind) {
            case sequential:
                return run(0, count, rounded);
            case backwards:
                return run(0, count, [&](std::size_t i) { return rounded(count - 1 - i); });
            case pairwise:
                return halves(0, count, rounded);
            case blocked:
                return blocks(count, rounded);
            case lanes:
                return running_sums(count, rounded);
            case kahan:
                return compensated(count, rounded);
            case fused:
                return fused_sum(count, rounded);
            case random:
                return shuffled(count, rounded);
        }
        return 0;
    }

    [[nodiscard]] static float add(float a, float b) { return Format::result(a + b); }
    [[nodiscard]] static float multiply(float a, float b) { return Format::result(a * b); }
    [[nodiscard]] static float divide(float a, float b) { return Format::result(a / b); }
    [[nodiscard]] static float root(float a) { return Format::result(std::sqrt(a)); }
    [[nodiscard]] static float exponential(float a) { return Format::result(std::exp(a)); }
    [[nodiscard]] static float logarithm(float a) { return Format::result(std::log(a)); }

private:
    template <class Terms>
    [[nodiscard]] static float value(const Terms& terms, std::size_t i) {
        const Term term = terms(i);
        return term.b == 1 ? term.a : Format::product(term.a, term.b);
    }

    template <class Terms>
    [[nodiscard]] static float run(std::size_t first, std::size_t last, const Terms& terms) {
        float total = value(terms, first);
        for (std::size_t i = first + 1; i < last; ++i) {
            total = Format::sum(total, value(terms, i));
        }
        return total;
    }

    template <class Terms>
    [[nodiscard]] static float halves(std::size_t first, std::size_t last, const Terms& terms) {
        if (last - first < 3) {
            return run(first, last, terms);
        }
        const std::size_t middle = first + (last - first) / 2;
        return Format::sum(halves(first, middle, terms), halves(middle, last, terms));
    }

    template <class Terms>
    [[nodiscard]] float blocks(std::size_t count, const Terms& terms) const {
        float total = run(0, std::min(order_.width, count), terms);
        for (std::size_t i = order_.width; i < count; i += order_.width) {
            total = Format::sum(total, run(i, std::min(i + order_.width, count), terms));
        }
        return total;
    }

    template <class Terms>
    [[nodiscard]] float running_sums(std::size_t count, const Terms& terms) const {
        std::vector<float> totals;
        for (std::size_t i = 0; i < count; ++i) {
            if (i < order_.width) {
                totals.push_back(value(terms, i));
            } else {
                totals[i % order_.width] = Format::sum(totals[i % order_.width], value(terms, i));
            }
        }
        return halves(0, totals.size(), [&](std::size_t i) { return Term{totals[i], 1}; });
    }

    template <class Terms>
    [[nodiscard]] static float compensated(std::size_t count, const Terms& terms) {
        float total = value(terms, 0);
        float lacking = 0;
        for (std::size_t i = 1; i < count; ++i) {
            const float term = Format::sum(value(terms, i), -lacking);
            const float next = Format::sum(total, term);
            lacking = Format::sum(Format::sum(next, -total), -term);
            total = next;
        }
        return total;
    }

    template <class Terms>
    [[nodiscard]] static float fused_sum(std::size_t count, const Terms& terms) {
        float total = value(terms, 0);
        for (std::size_t i = 1; i < count; ++i) {
            const Term term = terms(i);
            total = Format::fused(term.a, term.b, total);
        }
        return total;
    }

    template <class Terms>
    [[nodiscard]] static float shuffled(std::size_t count, const Terms& terms) {
        static std::vector<std::size_t> positions;
        static std::minstd_rand generator(7);
        if (positions.size() != count) {
            positions.resize(count);
            std::iota(positions.begin(), positions.end(), std::size_t{0});
        }
        // Partially shuffles for each sum, because a complete shuffle would take longer than the sum.
        for (std::size_t i = 0; i < std::min<std::size_t>(count, 16); ++i) {
            std::swap(positions[generator() % count], positions[generator() % count]);
        }
        return run(0, count, [&](std::size_t i) { return terms(positions[i]); });
    }

    Order order_;
    int layer_;
    bool rounds_operands_ = true;
};

}  // namespace dmlconform::precision
