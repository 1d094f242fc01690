// End-to-end tests of tolerances: an engine whose answers are off by a little less than the derived budget must pass,
// and one that is off by a little more must fail.
// The budgets are computed here from docs/case-files.md and docs/judging.md, not by the program's code.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <type_traits>

#include "engine/core/float16.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"
#include "tests/without_reference.h"

namespace dmlconform::tests::budget_test {
namespace {

using core::Float16;
using nlohmann::json;
using Text = std::string;

template <class T>
Text bytes_of(const std::vector<T>& values) {
    Text text;
    for (const T& value : values) {
        for (const std::byte byte : std::as_bytes(std::span(&value, 1))) {
            text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
        }
    }
    return text;
}

/// An engine's answers to a case, and the expected verdict.
struct Trial {
    Text what;
    /// All members of the case except its name.
    Text members;
    /// Bytes of each output.
    std::vector<Text> outputs;
    bool passes = false;
};

class Budgets : public testing::Test {
protected:
    /// Runs all trials against an engine that gives these answers.
    void expect(const std::vector<Trial>& trials) {
        json answers = json::array();
        Text cases;
        for (std::size_t i = 0; i < trials.size(); ++i) {
            answers.push_back(trials[i].outputs);
            cases += fmt::format("{}{{ \"name\": \"{}\", {} }}", i == 0 ? "" : ",\n", i, trials[i].members);
        }
        const Text case_file = folder_.write("budget.json", fmt::format("{{ \"cases\": [\n{}\n] }}\n", cases));
        const Text answer_file = folder_.write("answers.txt", answers.dump());
        const Text result_file = folder_.at("result.json");
        const ProgramResult run =
            dmlconform({"run", case_file, "--jobs", "1", "--quiet", "--json", result_file, "--engine",
                        fmt::format("exec:python3 '{}' '{}' '{}'", ANSWERING_WORKER, EXAMPLE_WORKER, answer_file)});
        ASSERT_TRUE(ends_with_code(run, 1)) << "some of them have to fail";
        const json results = json::parse(content_of(result_file)).at("results");
        ASSERT_EQ(results.size(), trials.size()) << run.all();
        for (std::size_t i = 0; i < trials.size(); ++i) {
            EXPECT_EQ(results[i].at("id"), fmt::format("budget/{}", i));
            EXPECT_EQ(results[i].at("status"), trials[i].passes ? "pass" : "fail") << trials[i].what << "\n"
                                                                                   << results[i].dump(2);
        }
    }

    TemporaryFolder folder_;
};

TEST_F(Budgets, Slice1) {
    const auto members = [](const char* type, const char* values) {
        return fmt::format(R"("operator": "SLICE1",
            "desc": {{ "InputTensor": {{ "DataType": "{0}", "Sizes": [4] }}, "OutputTensor": {{ "DataType": "{0}", "Sizes": [2] }},
                      "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [2] }},
            "inputs": {{ "InputTensor": {1} }})",
                           type, values);
    };
    const Text floats = members("FLOAT32", "[1, 2, -0.0, 4]");
    const Text bytes = members("INT8", "[1, 2, -128, 4]");
    using F32 = std::vector<float>;
    using S8 = std::vector<std::int8_t>;
    expect({{"exact", floats, {bytes_of(F32{1, -0.0f})}, true},
            {"one ULP up", floats, {bytes_of(F32{std::nextafter(1.0f, 2.0f), -0.0f})}, false},
            {"one ULP down", floats, {bytes_of(F32{std::nextafter(1.0f, 0.0f), -0.0f})}, false},
            {"the other zero", floats, {bytes_of(F32{1, 0})}, false},
            {"exact", bytes, {bytes_of(S8{1, -128})}, true},
            {"one unit up", bytes, {bytes_of(S8{2, -128})}, false},
            {"the other end", bytes, {bytes_of(S8{1, 127})}, false}});
}

TEST_F(Budgets, TopK1) {
    const Text members = R"("operator": "TOP_K1",
        "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [4] }, "OutputValueTensor": { "DataType": "FLOAT32", "Sizes": [2] },
                  "OutputIndexTensor": { "DataType": "UINT32", "Sizes": [2] }, "Axis": 0, "K": 2, "AxisDirection": "DECREASING" },
        "inputs": { "InputTensor": [3, 7, 7, 5] })";
    using F32 = std::vector<float>;
    using U32 = std::vector<std::uint32_t>;
    const Text values = bytes_of(F32{7, 7});
    const Text indices = bytes_of(U32{1, 2});
    expect({{"exact", members, {values, indices}, true},
            {"a value one ULP up", members, {bytes_of(F32{7, std::nextafter(7.0f, 8.0f)}), indices}, false},
            {"a value one ULP down", members, {bytes_of(F32{7, std::nextafter(7.0f, 6.0f)}), indices}, false},
            {"an index one up", members, {values, bytes_of(U32{1, 3})}, false},
            {"equal values the other way round", members, {values, bytes_of(U32{2, 1})}, false}});
}

/// The result is exact, except that the other neighbour of a tie is accepted if the tie lies within 4 * 2^-24 of the
/// value.
TEST_F(Budgets, QuantizedLinearConvolution) {
    // The result is 21 or -21 times a scale near 1/2, so it is near the tie at 10.5 or -10.5. The FLOAT32 numbers next
    // to 1/2 differ from it by 2^-23 above and 2^-24 below, relative to it. So the tie is within 4 * 2^-24 for up to
    // two steps above and four below. Exactly two and four steps are not tested because they depend on the reference's
    // rounding.
    const auto members = [](int input, double scale) {
        return fmt::format(R"("operator": "QUANTIZED_LINEAR_CONVOLUTION",
            "desc": {{ "InputTensor": {{ "DataType": "INT8", "Sizes": [1,1,1,1] }}, "InputScaleTensor": {{ "DataType": "FLOAT32", "Sizes": [1] }},
                      "FilterTensor": {{ "DataType": "INT8", "Sizes": [1,1,1,1] }}, "FilterScaleTensor": {{ "DataType": "FLOAT32", "Sizes": [1] }},
                      "OutputTensor": {{ "DataType": "INT8", "Sizes": [1,1,1,1] }}, "OutputScaleTensor": {{ "DataType": "FLOAT32", "Sizes": [1] }},
                      "Strides": [1,1], "Dilations": [1,1], "StartPadding": [0,0], "EndPadding": [0,0], "GroupCount": 1 }},
            "inputs": {{ "InputTensor": [{}], "FilterTensor": [3], "InputScaleTensor": [{:.17g}], "FilterScaleTensor": [1],
                        "OutputScaleTensor": [1] }})",
                           input, scale);
    };
    struct Row {
        double scale;
        std::vector<int> accepted;  // among 9 to 12
    };
    const Row rows[] = {
        {0.5, {10, 11}},
        {0.5 + 1 * 0x1p-24, {10, 11}},
        {0.5 + 3 * 0x1p-24, {11}},
        {0.5 - 3 * 0x1p-25, {10, 11}},
        {0.5 - 5 * 0x1p-25, {10}},
        {0.49, {10}},  // the exact result is 10.29
        {0.51, {11}},  // the exact result is 10.71
        {0.5238095, {11}},
    };
    std::vector<Trial> trials;
    for (const Row& row : rows) {
        for (int answer = 9; answer <= 12; ++answer) {
            const bool passes = std::ranges::find(row.accepted, answer) != row.accepted.end();
            for (const int sign : {1, -1}) {
                trials.push_back({fmt::format("{} * 21 * {:.17g}", sign, row.scale),
                                  members(7 * sign, row.scale),
                                  {bytes_of(std::vector<std::int8_t>{static_cast<std::int8_t>(sign * answer)})},
                                  passes});
            }
        }
    }
    expect(trials);
}

/// The type's two numbers around a limit: the last one within it, and the first one beyond.
template <class T>
struct AroundLimit {
    T within{};
    T beyond{};
};

float number_next_to(float value, double to) {
    return std::nextafter(value, static_cast<float>(to));
}

Float16 number_next_to(Float16 value, double to) {
    const auto number = static_cast<double>(value);
    // The bits of a number increase with its magnitude. None of these tests comes near zero.
    const bool away = (to > number) == (number > 0);
    return Float16::from_bits(static_cast<std::uint16_t>(value.bits + (away ? 1 : -1)));
}

/// The numbers around `limit`, the end of what is accepted in the direction of `sign`.
template <class T>
AroundLimit<T> around_limit(double limit, int sign) {
    const double inwards = limit - sign * std::fabs(limit);
    const double outwards = limit + sign * std::fabs(limit);
    const T number = static_cast<T>(limit);
    return sign * (static_cast<double>(number) - limit) > 0 ? AroundLimit<T>{number_next_to(number, inwards), number}
                                                            : AroundLimit<T>{number, number_next_to(number, outwards)};
}

/// Numbers that legal implementations may have after some steps.
struct Range {
    double low = 0;
    double high = 0;

    Range(double number) : low(number), high(number) {}  // NOLINT(google-explicit-constructor): formulas mix both
    Range(double from, double to) : low(from), high(to) {}
};

Range hull(const Range& a, const Range& b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

/// The numbers of FLOAT32 next to a real number, or itself.
float float_below(long double x) {
    const auto number = static_cast<float>(x);
    return number > x ? std::nextafter(number, -std::numeric_limits<float>::infinity()) : number;
}

float float_above(long double x) {
    return -float_below(-x);
}

/// Rounded once, in either direction.
Range rounded_once(long double low, long double high) {
    return {float_below(low), float_above(high)};
}

Range operator-(const Range& a) {
    return {-a.high, -a.low};
}

Range operator+(const Range& a, const Range& b) {
    using Wide = long double;
    return rounded_once(Wide{a.low} + Wide{b.low}, Wide{a.high} + Wide{b.high});
}

Range operator-(const Range& a, const Range& b) {
    return a + -b;
}

Range operator*(const Range& a, const Range& b) {
    const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    return rounded_once(low, high);
}

/// Off by one ULP, which is what Direct3D guarantees of roots and quotients of positive numbers.
Range off_by_one_ulp(double low, double high) {
    const auto ulp = [](double x) { return std::ldexp(1.0, std::ilogb(x) - 23); };
    return {float_above(low - ulp(low)), float_below(high + ulp(high))};
}

/// 1 / sqrt(x)
Range reciprocal_root(const Range& x) {
    const Range root = off_by_one_ulp(std::sqrt(x.low), std::sqrt(x.high));
    return off_by_one_ulp(1 / root.high, 1 / root.low);
}

/// Rounded to nearest or towards zero, where the type is FLOAT16. Of a tie, both neighbours are accepted.
template <class T>
Range stored(const Range& x) {
    if constexpr (std::is_same_v<T, float>) {
        return x;
    } else {
        // The number of FLOAT16 that is furthest below x among those that it may be rounded to.
        const auto lowest = [](double number) {
            const Float16 nearest(number);
            const auto value = static_cast<double>(nearest);
            const auto below = value > number ? static_cast<double>(number_next_to(nearest, number - 1)) : value;
            const auto above = value < number ? static_cast<double>(number_next_to(nearest, number + 1)) : value;
            return number > 0 || number - below <= above - number ? below : above;
        };
        return {lowest(x.low), -lowest(-x.high)};
    }
}

/// Intermediate results may be kept in FP32, too.
template <class T>
Range maybe_stored(const Range& x) {
    return hull(x, stored<T>(x));
}

/// How far a sum of `count` numbers is off, relative to the largest partial sum, if each number is rounded `more` times
/// as well: the worst roundings of a tree, or seven standard deviations of independent roundings, but not more than
/// there are roundings.
double error_of_sum(double count, double more) {
    const double of_tree = (std::ceil(std::log2(count)) + more) * 0x1p-23;
    const double one_by_one = 7 * std::sqrt((count + more) / 3) * 0x1p-24;
    return std::min(std::max(of_tree, one_by_one), (count - 1 + more) * 0x1p-23);
}

struct Normalization {
    const char* type;
    std::vector<double> input;
    double scale;
    double bias;
};

struct Budgeted {
    double value = 0;
    /// What implementations may compute, before the result is stored.
    Range accepted = 0;
};

/// The formula with the roundings that docs/judging.md allows: mean and variance with the error of a sum, and, for
/// FLOAT16, maybe stored. Then scale * (x - mean) * rstd + bias with the product in any order, or
/// x * factor + (bias - mean * factor), whose errors of factor and mean cancel.
template <class T>
std::vector<Budgeted> budgets_of(const Normalization& n, double added) {
    constexpr double flushed = std::numeric_limits<float>::min();
    const auto count = static_cast<double>(n.input.size());
    double mean = 0;
    double positive = 0;
    double negative = 0;
    for (const double x : n.input) {
        mean += x / count;
        positive += std::max(x, 0.0) / count;
        negative += std::max(-x, 0.0) / count;
    }
    double variance = 0;
    for (const double x : n.input) {
        variance += (x - mean) * (x - mean) / count;
    }
    // The mean is divided, maybe by multiplying with a rounded reciprocal.
    const double of_mean = error_of_sum(count, 2) * std::max(positive, negative) + flushed;
    const Range means = maybe_stored<T>({mean - of_mean, mean + of_mean});
    // The variance is divided in the same way. Its terms are squares, whose rounding adds one error; squaring doubles
    // the rounding error of a distance. The mean's error makes the variance larger.
    const double of_variance = error_of_sum(count, 2 + 3) * variance + flushed;
    const double shift = std::max(means.high - mean, mean - means.low);
    const Range variances =
        maybe_stored<T>({variance - of_variance, variance + of_variance + shift * shift * (1 + (count + 5) * 0x1p-23)});
    const Range rstd = reciprocal_root(variances + added);

    const Range factor = n.scale * rstd;
    const Range mean_product = factor * means;
    const Range rest = n.bias - mean_product;
    const auto size = [](const Range& x) { return std::max(std::fabs(x.low), std::fabs(x.high)); };
    std::vector<Budgeted> result;
    for (const double x : n.input) {
        const Range distance = x - means;
        const Range product = hull(hull((n.scale * distance) * rstd, n.scale * (distance * rstd)), factor * distance);
        const Range x_product = factor * x;
        const Range folded = x_product + rest;
        const Range cancelled = factor * distance + n.bias;
        const double by = (size(x_product) + size(mean_product) + size(rest)) * 0x1p-23 + 3 * flushed;
        const Range both{std::max(folded.low, cancelled.low - by), std::min(folded.high, cancelled.high + by)};
        result.push_back({n.scale * (x - mean) / std::sqrt(variance + added) + n.bias, hull(product + n.bias, both)});
    }
    return result;
}

Text normalization_members(const Normalization& n, double added, const Text& activation) {
    return fmt::format(R"("operator": "MEAN_VARIANCE_NORMALIZATION1",
        "desc": {{ "InputTensor": {{ "DataType": "{0}", "Sizes": [1,1,1,{1}] }}, "OutputTensor": {{ "DataType": "{0}", "Sizes": [1,1,1,{1}] }},
                  "ScaleTensor": {{ "DataType": "{0}", "Sizes": [1,1,1,1] }}, "BiasTensor": {{ "DataType": "{0}", "Sizes": [1,1,1,1] }},
                  "Axes": [3], "NormalizeVariance": true, "Epsilon": {2}{3} }},
        "inputs": {{ "InputTensor": [{4}], "ScaleTensor": [{5}], "BiasTensor": [{6}] }})",
                       n.type, n.input.size(), added, activation, fmt::join(n.input, ", "), n.scale, n.bias);
}

/// Tests every element separately, in both directions.
template <class T>
void add_trials(const Text& members, const std::vector<Budgeted>& elements, std::vector<Trial>& trials) {
    std::vector<T> exact;
    for (const Budgeted& element : elements) {
        exact.push_back(static_cast<T>(element.value));
    }
    trials.push_back({"exact", members, {bytes_of(exact)}, true});
    for (std::size_t i = 0; i < elements.size(); ++i) {
        for (const int sign : {1, -1}) {
            const Range accepted = stored<T>(elements[i].accepted);
            const double end = sign > 0 ? accepted.high : accepted.low;
            const auto limit = around_limit<T>(end, sign);
            for (const bool within : {true, false}) {
                auto answer = exact;
                answer[i] = within ? limit.within : limit.beyond;
                trials.push_back({fmt::format("element {}, {} beyond {} by {}", i, within ? "not" : "just",
                                              elements[i].value, end - elements[i].value),
                                  members,
                                  {bytes_of(answer)},
                                  within});
            }
        }
    }
}

const Normalization normalizations[] = {
    {"FLOAT32", {1, 2, 4, 9}, 2, 0.5},     {"FLOAT32", {1000, 1001, 1003, 1007}, -3, 100},
    {"FLOAT32", {-5, 5, -6, 7}, 0.125, 0}, {"FLOAT16", {1, 2, 4, 9}, 2, 5},
    {"FLOAT16", {-5, 5, -6, 7}, -4, 64},
};

TEST_F(Budgets, MeanVarianceNormalization1) {
    constexpr double added = 0.25;
    std::vector<Trial> trials;
    for (const Normalization& n : normalizations) {
        const Text members = normalization_members(n, added, "");
        if (n.type == Text("FLOAT16")) {
            add_trials<Float16>(members, budgets_of<Float16>(n, added), trials);
        } else {
            add_trials<float>(members, budgets_of<float>(n, added), trials);
        }
    }
    expect(trials);
}

/// -3 x + 1, of an argument that may be stored before, with one rounding of the product and one of the sum.
template <class T>
std::vector<Budgeted> after_linear(std::vector<Budgeted> elements) {
    for (Budgeted& element : elements) {
        element.value = -3 * element.value + 1;
        element.accepted = -3 * maybe_stored<T>(element.accepted) + 1;
    }
    return elements;
}

TEST_F(Budgets, MeanVarianceNormalization1WithAnActivation) {
    constexpr double added = 0.25;
    std::vector<Trial> trials;
    for (const Normalization& n : normalizations) {
        const Text members = normalization_members(
            n, added, R"(, "FusedActivation": { "Type": "ACTIVATION_LINEAR", "Alpha": -3, "Beta": 1 })");
        if (n.type == Text("FLOAT16")) {
            add_trials<Float16>(members, after_linear<Float16>(budgets_of<Float16>(n, added)), trials);
        } else {
            add_trials<float>(members, after_linear<float>(budgets_of<float>(n, added)), trials);
        }
    }
    expect(trials);
}

template <class T>
T steps_from(T number, int steps) {
    for (int i = 0; i < std::abs(steps); ++i) {
        number = number_next_to(number, steps > 0 ? 1e4 : 0);
    }
    return number;
}

/// Operators without specific rules have a default tolerance: 16 ULPs for FLOAT32, 4 for FLOAT16.
TEST_F(Budgets, OperatorsWithoutRules) {
    const WithoutReference gemm("GEMM");
    const auto members = [](const char* type) {
        return fmt::format(R"("operator": "GEMM",
            "desc": {{ "ATensor": {{ "DataType": "{0}", "Sizes": [1,1,1,2] }}, "BTensor": {{ "DataType": "{0}", "Sizes": [1,1,2,1] }},
                      "OutputTensor": {{ "DataType": "{0}", "Sizes": [1,1,1,1] }}, "TransA": "NONE", "TransB": "NONE", "Alpha": 1,
                      "Beta": 0 }},
            "inputs": {{ "ATensor": [1, 2], "BTensor": [3, 1.5] }}, "expected": {{ "OutputTensor": [6] }})",
                           type);
    };
    std::vector<Trial> trials;
    for (const int steps : {-1, 0, 1}) {
        trials.push_back({fmt::format("{} ULPs of FLOAT32", steps),
                          members("FLOAT32"),
                          {bytes_of(std::vector{steps_from(6.0f, steps)})},
                          steps == 0});
    }
    for (const int steps : {-1, 0, 1}) {
        trials.push_back({fmt::format("{} ULPs of FLOAT16", steps),
                          members("FLOAT16"),
                          {bytes_of(std::vector{steps_from(Float16(6), steps)})},
                          steps == 0});
    }
    expect(trials);
}

}  // namespace
}  // namespace dmlconform::tests::budget_test
