// Checks whether a tolerance would accept outputs that no engine has computed.
#include "engine/compare/power.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/compare/element_difference.h"
#include "engine/core/element.h"
#include "engine/core/guard.h"

namespace dmlconform::compare {
namespace {

/// Values that differ by at most this much may be equal apart from the reference's rounding.
constexpr std::uint64_t rounding_ulps = 8;

template <class T>
bool is_nearly(const T& a, const T& b) {
    return is_equal(a, b) ||
           (!std::is_integral_v<T> && !is_nan(a) && !is_nan(b) && ulp_distance(a, b) <= rounding_ulps);
}

template <class T>
T element_from(double value) {
    if constexpr (std::is_integral_v<T>) {
        if (value >= 0x1p64) {
            return static_cast<T>(std::numeric_limits<std::uint64_t>::max());
        }
        // Doubles beyond INT64's range are whole numbers of UINT64.
        return value >= 0x1p63 ? static_cast<T>(static_cast<std::uint64_t>(value))
                               : static_cast<T>(std::llround(std::max(value, -0x1p63)));
    } else {
        return static_cast<T>(value);
    }
}

template <class T>
class PowerTest {
public:
    PowerTest(std::span<const T> expected, const core::Tolerance& tolerance, const core::ElementSlack* slack)
        : expected_(expected), tolerance_(tolerance), slack_(slack) {}

    [[nodiscard]] std::string lack() const {
        T untouched;
        std::memset(static_cast<void*>(&untouched), static_cast<int>(core::untouched), sizeof(T));
        const T zero = element_from<T>(0);
        if (accepts(untouched) && !are_all(untouched)) {
            return "the tolerance also accepts an output that was never written";
        }
        if (are_all(zero)) {
            return accepts(element_from<T>(1)) ? "zeros are expected, and the tolerance also accepts ones" : "";
        }
        if (accepts(zero)) {
            return "the tolerance also accepts zeros";
        }
        if (!are_all(expected_.front())) {
            if (const auto constant = accepted_constant()) {
                return fmt::format("the tolerance also accepts {:.6g} for all elements", *constant);
            }
        }
        return accepts_reverse() ? "the tolerance also accepts the expected values in reverse" : "";
    }

private:
    [[nodiscard]] bool accepts_at(const T& value, std::size_t i) const {
        return !is_beyond(expected_[i], value, tolerance_, slack_, i);
    }

    [[nodiscard]] bool accepts(const T& value) const {
        for (std::size_t i = 0; i < expected_.size(); ++i) {
            if (!accepts_at(value, i)) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] bool are_all(const T& value) const {
        return std::all_of(expected_.begin(), expected_.end(), [&](const T& each) { return is_nearly(each, value); });
    }

    /// How far an element may lie below and above its expected value. The ULP is that of the expected value.
    [[nodiscard]] std::pair<double, double> reach(double value, std::size_t i) const {
        double below = std::max(tolerance_.abs.value_or(0), tolerance_.rel.value_or(0) * std::fabs(value));
        if (tolerance_.ulp) {
            constexpr int fraction = std::is_integral_v<T> ? 0 : sizeof(T) == 2 ? 10 : sizeof(T) == 4 ? 23 : 52;
            const double unit = std::is_integral_v<T> ? 1 : std::ldexp(std::fabs(value), -fraction);
            below = std::max(below, static_cast<double>(*tolerance_.ulp) * unit);
        }
        double above = below;
        if (tolerance_.element_slack && slack_ != nullptr) {
            below = std::max(below, slack_->below[i]);
            above = std::max(above, slack_->above[i]);
        }
        return {below, above};
    }

    /// A number that is within the range of every element; empty if there is none.
    [[nodiscard]] std::optional<double> accepted_constant() const {
        double low = -std::numeric_limits<double>::infinity();
        double high = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < expected_.size(); ++i) {
            const auto value = static_cast<double>(expected_[i]);
            if (std::isfinite(value)) {
                const auto [below, above] = reach(value, i);
                low = std::max(low, value - below);
                high = std::min(high, value + above);
            }
            if (low > high) {
                return std::nullopt;
            }
        }
        const double middle = std::isinf(low) || std::isinf(high) ? 0 : low + (high - low) / 2;
        return accepts(element_from<T>(middle)) ? std::optional(middle) : std::nullopt;
    }

    [[nodiscard]] bool accepts_reverse() const {
        bool is_same = true;
        for (std::size_t i = 0; i < expected_.size(); ++i) {
            const T& other = expected_[expected_.size() - 1 - i];
            if (!accepts_at(other, i)) {
                return false;
            }
            is_same = is_same && is_nearly(expected_[i], other);
        }
        return !is_same;
    }

    std::span<const T> expected_;
    Criteria tolerance_;
    const core::ElementSlack* slack_;
};

}  // namespace

std::string lack_of_power(const core::Tensor& expected, const core::Tolerance& tolerance,
                          const core::ElementSlack* slack) {
    const bool is_lenient = tolerance.ulp || tolerance.abs || tolerance.rel || tolerance.element_slack ||
                            tolerance.alternatives || tolerance.meaningful_part;
    if (!is_lenient) {
        return {};  // only equal values pass
    }
    if (core::bytes_of(expected.desc.data_type) == 0) {
        return lack_of_power(core::widened_copy(expected), tolerance, slack);
    }
    if (!core::is_packed(expected.desc)) {
        return lack_of_power(core::packed_copy(expected), tolerance, slack);
    }
    auto count = *core::element_count(expected.desc.sizes);
    if (tolerance.meaningful_part && slack != nullptr) {
        count = std::min(count, slack->meaningful);
    }
    if (count == 0) {
        return {};
    }
    std::string lack;
    core::with_type(expected.desc.data_type, [&]<class T>() {
        lack = PowerTest<T>(expected.as<T>().first(static_cast<std::size_t>(count)), tolerance, slack).lack();
    });
    return lack;
}

}  // namespace dmlconform::compare
