// Initialiser with random elements. Each depends only on the seed and its row-major index, and is the same on every
// platform: only operations that IEEE 754 defines exactly are used, not the math library.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/cases/element_reader.h"
#include "engine/cases/philox.h"
#include "engine/cases/sources/sources.h"
#include "engine/cases/tensor_desc_reader.h"
#include "engine/core/element.h"

namespace dmlconform::cases {
namespace {

/// A multiple of 2^-53 in [0, 1).
double unit_interval(std::uint64_t bits) {
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

/// Natural logarithm by the series of artanh, accurate to a few ULPs. x must be positive and normal.
double logarithm(double x) {
    int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52) - 1023;
    double significand =
        std::bit_cast<double>((std::bit_cast<std::uint64_t>(x) & 0xfffffffffffffu) | 0x3ff0000000000000u);
    if (significand > 1.4142135623730951) {
        significand /= 2;
        ++exponent;
    }
    const double z = (significand - 1) / (significand + 1);
    double term = z;
    double sum = 0;
    for (int n = 1; n < 25; n += 2) {
        sum += term / n;
        term *= z * z;
    }
    return 2 * sum + exponent * 0.6931471805599453;
}

/// Inverse of the normal distribution: Wichura's AS 241 (PPND7), with about 7 correct digits.
double normal_quantile(double p) {
    const double q = p - 0.5;
    if (std::fabs(q) <= 0.425) {
        const double r = 0.180625 - q * q;
        return q * (((59.109374720 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179) /
               (((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1.0);
    }
    const double tail = std::sqrt(-logarithm(q < 0 ? p : 1 - p));
    double value = 0;
    if (tail <= 5) {
        const double r = tail - 1.6;
        value = (((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r + 1.4234372777) /
                ((0.12021132975 * r + 0.73700164250) * r + 1.0);
    } else {
        const double r = tail - 5;
        value = (((0.017337203997 * r + 0.42868294337) * r + 3.0812263860) * r + 6.6579051150) /
                ((0.012258202635 * r + 0.24197894225) * r + 1.0);
    }
    return q < 0 ? -value : value;
}

/// The upper 64 bits of a * b.
std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t a_low = a & 0xffffffffu;
    const std::uint64_t b_low = b & 0xffffffffu;
    const std::uint64_t middle = (a >> 32) * b_low + (a_low * b_low >> 32);
    return (a >> 32) * (b >> 32) + (middle >> 32) + ((a_low * (b >> 32) + (middle & 0xffffffffu)) >> 32);
}

/// Values that often expose bugs, as bits of the type.
std::vector<std::uint64_t> special_values(core::DataType type) {
    std::vector<std::uint64_t> values;
    if (!core::is_floating_point(type)) {
        const std::uint32_t width = core::bits_of(type);
        const std::uint64_t all = ~std::uint64_t{0} >> (64 - width);
        const std::uint64_t top = std::uint64_t{1} << (width - 1);
        return {0, 1, 2, all, all - 1, top, top - 1, top + 1};
    }
    const std::uint32_t exponent_bits = type == core::DataType::float16 ? 5 : type == core::DataType::float32 ? 8 : 11;
    const std::uint32_t significand_bits = core::bits_of(type) - 1 - exponent_bits;
    const std::uint64_t smallest_normal = std::uint64_t{1} << significand_bits;
    const std::uint64_t infinity = ((std::uint64_t{1} << exponent_bits) - 1) << significand_bits;
    const auto encoded = [&](double value) { return *core::encode_element(type, value); };
    // Zero, the smallest and largest subnormal and normal numbers, infinity, NaNs with and without payload, and values
    // near rounding ties.
    values = {0,
              1,
              smallest_normal - 1,
              smallest_normal,
              infinity - 1,
              infinity,
              infinity + (smallest_normal >> 1),
              infinity + (smallest_normal >> 1) + 5,
              encoded(1),
              encoded(1) + 1,
              encoded(1) - 1,
              encoded(0.5),
              encoded(1.5),
              encoded(2.5),
              encoded(2047.5)};
    const std::uint64_t sign = std::uint64_t{1} << (core::bits_of(type) - 1);
    const std::size_t count = values.size();
    for (std::size_t i = 0; i < count; ++i) {
        values.push_back(values[i] | sign);
    }
    return values;
}

/// Maps 64 random bits to the bits of an element.
class Distribution {
public:
    Distribution() = default;
    Distribution(const Distribution&) = delete;
    Distribution& operator=(const Distribution&) = delete;
    virtual ~Distribution() = default;
    [[nodiscard]] virtual std::uint64_t draw(std::uint64_t bits) const = 0;
};

class Uniform final : public Distribution {
public:
    Uniform(core::DataType type, double low, double high) : type_(type), low_(low), high_(high) {}
    [[nodiscard]] std::uint64_t draw(std::uint64_t bits) const override {
        return *core::encode_element(type_, low_ + (high_ - low_) * unit_interval(bits));
    }

private:
    core::DataType type_;
    double low_;
    double high_;
};

class Normal final : public Distribution {
public:
    Normal(core::DataType type, double mean, double deviation) : type_(type), mean_(mean), deviation_(deviation) {}
    [[nodiscard]] std::uint64_t draw(std::uint64_t bits) const override {
        // The bits select an interval; its middle is never 0 or 1, where the quantile would be infinite.
        return *core::encode_element(type_, mean_ + deviation_ * normal_quantile(unit_interval(bits) + 0x1p-54));
    }
    /// Upper bound for the distance of a draw from the mean, in standard deviations.
    static constexpr double furthest = 9;

private:
    core::DataType type_;
    double mean_;
    double deviation_;
};

class UniformInteger final : public Distribution {
public:
    /// `low` is in two's complement; `span` is the number of values minus 1.
    UniformInteger(core::DataType type, std::uint64_t low, std::uint64_t span) : type_(type), low_(low), span_(span) {}
    [[nodiscard]] std::uint64_t draw(std::uint64_t bits) const override {
        const std::uint64_t offset =
            span_ == std::numeric_limits<std::uint64_t>::max() ? bits : multiply_high(bits, span_ + 1);
        const std::uint64_t value = low_ + offset;
        if (core::is_floating_point(type_)) {
            return *core::encode_element(type_, static_cast<double>(static_cast<std::int64_t>(value)));
        }
        return value;
    }

private:
    core::DataType type_;
    std::uint64_t low_;
    std::uint64_t span_;
};

class AnyBits final : public Distribution {
public:
    [[nodiscard]] std::uint64_t draw(std::uint64_t bits) const override { return bits; }
};

class Special final : public Distribution {
public:
    explicit Special(core::DataType type) : type_(type), values_(special_values(type)) {}
    [[nodiscard]] std::uint64_t draw(std::uint64_t bits) const override {
        // Three of four elements are special, the others small integers, so that special values also meet ordinary
        // ones.
        const auto choice = static_cast<std::uint32_t>(bits);
        const auto index = static_cast<std::uint32_t>(bits >> 32);
        if (choice % 4 == 0) {
            const bool negative = core::is_floating_point(type_) || core::is_signed_integer(type_);
            return *core::encode_element(type_, static_cast<double>(index % 17) - (negative ? 8 : 0));
        }
        return values_[index % values_.size()];
    }

private:
    core::DataType type_;
    std::vector<std::uint64_t> values_;
};

class RandomSource final : public ElementSource {
public:
    RandomSource(std::unique_ptr<const Distribution> distribution, std::uint64_t seed)
        : distribution_(std::move(distribution)), seed_(seed) {}

    [[nodiscard]] core::Result<void> write(core::DataType type, std::span<std::byte> elements) const override {
        const std::uint64_t count = elements.size() * 8 / core::bits_of(type);
        for (std::uint64_t i = 0; i < count; ++i) {
            core::store_element(elements, type, i, distribution_->draw(random_bits(seed_, i)));
        }
        return {};
    }

private:
    std::unique_ptr<const Distribution> distribution_;
    std::uint64_t seed_;
};

// ---- reading -----------------------------------------------------------------------------------------------------

class RandomReader {
public:
    RandomReader(const JsonValue& object, core::DataType type, ProblemSink& problems)
        : object_(object), type_(type), problems_(problems) {}

    std::unique_ptr<const Distribution> read() {
        const std::string* kind = object_.find("random")->string();
        if (kind != nullptr && *kind == "uniform") {
            return read_uniform();
        }
        if (kind != nullptr && *kind == "normal") {
            return read_normal();
        }
        if (kind != nullptr && *kind == "integer") {
            return read_integer();
        }
        if (kind != nullptr && (*kind == "bits" || *kind == "special")) {
            if (!keys({"random", "seed"})) {
                return nullptr;
            }
            return *kind == "bits" ? std::unique_ptr<const Distribution>(std::make_unique<AnyBits>())
                                   : std::make_unique<Special>(type_);
        }
        static const std::array<std::string, 5> kinds{"uniform", "normal", "integer", "bits", "special"};
        const std::string hint = kind == nullptr ? "" : suggestion(*kind, kinds);
        return fail(*object_.find("random"), "\"random\" must name a distribution",
                    hint.empty() ? fmt::format("one of {}", fmt::join(kinds, ", ")) : hint);
    }

private:
    std::unique_ptr<const Distribution> fail(const JsonValue& at, std::string message, std::string hint = {}) {
        problems_.add(at.offset, std::move(message), std::move(hint));
        return nullptr;
    }

    bool keys(std::initializer_list<std::string> allowed) {
        const std::vector<std::string> list(allowed);
        return check_keys(object_, list, "a random initialiser", problems_);
    }

    /// The member's number, or the default if it is absent. Empty if it is not a number.
    std::optional<double> number(const char* key, double otherwise) {
        const JsonValue* value = object_.find(key);
        const auto result = value == nullptr ? std::optional(otherwise) : number_of(*value);
        if (!result) {
            fail(*value, fmt::format("\"{}\" must be a number", key));
        }
        return result;
    }

    bool in_range(const JsonValue& at, double value) {
        // A finite literal must not overflow to infinity; "inf" is the way to write that.
        const auto encoded = core::encode_element(type_, value);
        if (!encoded || !std::isfinite(value)) {
            fail(at, encoded ? fmt::format("the values leave the range of {}", core::name(type_))
                             : encoded.error().message);
            return false;
        }
        return true;
    }

    std::unique_ptr<const Distribution> read_uniform() {
        if (!floating("uniform") || !keys({"random", "seed", "min", "max"})) {
            return nullptr;
        }
        const auto low = number("min", -1);
        const auto high = number("max", 1);
        if (!low || !high || !in_range(object_, *low) || !in_range(object_, *high)) {
            return nullptr;
        }
        if (!(*low <= *high) || !std::isfinite(*high - *low)) {
            return fail(object_, "\"min\" must not be above \"max\", and their difference must be finite");
        }
        return std::make_unique<Uniform>(type_, *low, *high);
    }

    std::unique_ptr<const Distribution> read_normal() {
        if (!floating("normal") || !keys({"random", "seed", "mean", "stddev"})) {
            return nullptr;
        }
        const auto mean = number("mean", 0);
        const auto deviation = number("stddev", 1);
        if (!mean || !deviation) {
            return nullptr;
        }
        if (*deviation < 0) {
            return fail(*object_.find("stddev"), "\"stddev\" must not be negative");
        }
        if (!in_range(object_, *mean - Normal::furthest * *deviation) ||
            !in_range(object_, *mean + Normal::furthest * *deviation)) {
            return nullptr;
        }
        return std::make_unique<Normal>(type_, *mean, *deviation);
    }

    std::unique_ptr<const Distribution> read_integer() {
        if (!keys({"random", "seed", "min", "max"})) {
            return nullptr;
        }
        std::array<std::uint64_t, 2> bounds{};
        std::size_t next = 0;
        for (const char* key : {"min", "max"}) {
            const JsonValue* value = object_.find(key);
            if (value == nullptr) {
                return fail(object_, fmt::format("\"{}\" is missing", key),
                            R"(random integers need both: { "random": "integer", "min": 0, "max": 9 })");
            }
            const auto integer = integer_of(*value);
            if (!integer) {
                return fail(*value, fmt::format("\"{}\" must be an integer", key));
            }
            // Floating-point types accept only integers that a double represents exactly.
            const auto encoded = core::encode_element(type_, *integer);
            if (!encoded || (core::is_floating_point(type_) && integer->magnitude > std::uint64_t{1} << 53)) {
                return fail(*value, encoded ? "at most 2^53 for a floating-point type" : encoded.error().message);
            }
            bounds[next++] = integer->negative ? std::uint64_t{0} - integer->magnitude : integer->magnitude;
        }
        const bool signed_order = type_ != core::DataType::uint64;
        const bool ordered = signed_order ? static_cast<std::int64_t>(bounds[0]) <= static_cast<std::int64_t>(bounds[1])
                                          : bounds[0] <= bounds[1];
        if (!ordered) {
            return fail(object_, "\"min\" must not be above \"max\"");
        }
        return std::make_unique<UniformInteger>(type_, bounds[0], bounds[1] - bounds[0]);
    }

    bool floating(const char* kind) {
        if (!core::is_floating_point(type_)) {
            fail(object_,
                 fmt::format("a {} distribution needs a floating-point type, this tensor is {}", kind,
                             core::name(type_)),
                 R"(use { "random": "integer", "min": …, "max": … })");
            return false;
        }
        return true;
    }

    const JsonValue& object_;
    core::DataType type_;
    ProblemSink& problems_;
};

}  // namespace

SourcePointer read_random(const JsonValue& object, const core::TensorDesc& desc, ProblemSink& problems) {
    std::optional<std::uint64_t> seed = 0;
    if (const JsonValue* value = object.find("seed")) {
        seed = read_unsigned(*value, "seed", std::numeric_limits<std::uint64_t>::max(), problems);
    }
    auto distribution = RandomReader(object, desc.data_type, problems).read();
    if (!seed || distribution == nullptr) {
        return nullptr;
    }
    return std::make_shared<RandomSource>(std::move(distribution), *seed);
}

}  // namespace dmlconform::cases
