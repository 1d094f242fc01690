// Tests of engine/cases/sources/random_source and philox: the same bits on every machine, with the right distributions.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "engine/cases/philox.h"
#include "engine/core/element.h"
#include "tests/cases/filling.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::random_source_test {
namespace {

using cases::philox4x32_10;
using cases::PhiloxCounter;
using cases::PhiloxKey;
using cases::random_bits;
using core::DataType;

TEST(Philox, KnownAnswers) {
    // From kat_vectors, the known answers that Random123 (the reference implementation of Philox) contains.
    struct Row {
        PhiloxCounter counter;
        PhiloxKey key;
        PhiloxCounter result;
    };
    const Row rows[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(philox4x32_10(row.counter, row.key), row.result);
    }
}

TEST(Philox, StreamsOfSeeds) {
    EXPECT_EQ(random_bits(7, 0), 0xc009f9dcf4607a2du);
    EXPECT_EQ(random_bits(7, 1), 0x15edac821d3aba42u);
    EXPECT_EQ(random_bits(7, 2), 0xcb97bc13682e8e9bu);
    EXPECT_EQ(random_bits(7, 3), 0xf535eea62bfaff6bu);
    EXPECT_EQ(random_bits(0x123456789abcdef0, 5), 0x55c92771a4aec973u) << "all 64 bits of the seed count";
    EXPECT_EQ(random_bits(7, (std::uint64_t{1} << 34) + 1), 0xbb030e1ae748dd7du) << "and more than 32 of the index";
}

struct PinnedRow {
    DataType type;
    const char* text;
    const char* elements;
};

TEST(RandomSource, TheSameSeedGivesTheSameElementsForEver) {
    // Computed by an independent program. If one of these changes, all earlier results become incomparable.
    const PinnedRow rows[] = {
        {DataType::float64, R"({"random": "uniform", "min": 0, "max": 10, "seed": 7})",
         "7.501522221031126 0.856578653012815 7.952840373401902"},
        {DataType::float32, R"({"random": "uniform", "min": -1, "max": 1, "seed": 7})",
         "0.50030446 -0.8286843 0.59056807"},
        {DataType::int8, R"({"random": "integer", "min": -128, "max": 127, "seed": 7})", "64 -107 75"},
        {DataType::uint16, R"({"random": "integer", "min": 0, "max": 9, "seed": 7})", "7 0 7"},
        {DataType::float32, R"({"random": "integer", "min": 0, "max": 9, "seed": 7})", "7 0 7"},
        {DataType::int32, R"({"random": "bits", "seed": 7})", "-195003859 490388034 1747881627"},
    };
    for (const PinnedRow& row : rows) {
        EXPECT_EQ(elements(filled(row.text, tensor(row.type, {3}))), row.elements) << row.text;
    }
}

TEST(RandomSource, TheOrderInMemoryDoesNotMatter) {
    for (const char* kind : {R"("uniform", "min": -1, "max": 1)", R"("normal", "mean": 0, "stddev": 1)", R"("bits")",
                             R"("special")", R"("integer", "min": 0, "max": 100)"}) {
        const std::string text = fmt::format(R"({{"random": {}, "seed": 3}})", kind);
        const std::string packed = elements(filled(text, tensor(DataType::float32, {4, 6})));
        EXPECT_EQ(elements(filled(text, tensor(DataType::float32, {4, 6}, {1, 4}))), packed) << kind;
        EXPECT_EQ(elements(filled(text, tensor(DataType::float32, {4, 6}, {20, 3}))), packed) << kind;
        EXPECT_EQ(elements(filled(text, tensor(DataType::float32, {24}))), packed) << kind;
        // A smaller tensor has the same first elements.
        EXPECT_TRUE(packed.starts_with(elements(filled(text, tensor(DataType::float32, {5}))) + " ")) << kind;
        EXPECT_NE(
            elements(filled(fmt::format(R"({{"random": {}, "seed": 4}})", kind), tensor(DataType::float32, {24}))),
            packed)
            << kind;
    }
}

TEST(RandomSource, SeedsReachTo64Bits) {
    const auto with_seed = [](const char* seed) {
        return elements(
            filled(fmt::format(R"({{"random": "bits", "seed": {}}})", seed), tensor(DataType::uint64, {2})));
    };
    EXPECT_NE(with_seed("18446744073709551615"), with_seed("4294967295"));
    EXPECT_EQ(with_seed("0"), elements(filled(R"({"random": "bits"})", tensor(DataType::uint64, {2}))))
        << "the default";
}

constexpr std::uint32_t many = 20000;

std::vector<double> drawn(const char* text, DataType type) {
    const core::Tensor data = filled(text, tensor(type, {many}));
    std::vector<double> values;
    for (std::uint64_t i = 0; i < many; ++i) {
        values.push_back(core::decode_element(type, core::load_element(data.buffer.bytes(), type, i)));
    }
    return values;
}

double mean_of(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) {
        sum += value;
    }
    return sum / static_cast<double>(values.size());
}

double deviation_of(const std::vector<double>& values) {
    const double mean = mean_of(values);
    double sum = 0;
    for (const double value : values) {
        sum += (value - mean) * (value - mean);
    }
    return std::sqrt(sum / static_cast<double>(values.size()));
}

TEST(RandomSource, Uniform) {
    for (const DataType type : {DataType::float16, DataType::float32, DataType::float64}) {
        const auto values = drawn(R"({"random": "uniform", "min": -2, "max": 6, "seed": 1})", type);
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        EXPECT_GE(*least, -2);
        EXPECT_LE(*most, 6);
        EXPECT_LT(*least, -1.99);
        EXPECT_GT(*most, 5.99);
        EXPECT_NEAR(mean_of(values), 2, 0.07);  // four standard errors
        EXPECT_NEAR(deviation_of(values), 8 / std::sqrt(12), 0.04);
    }
    for (const double value : drawn(R"({"random": "uniform", "min": 3, "max": 3})", DataType::float32)) {
        ASSERT_EQ(value, 3);
    }
    // The ends of the range are representable in the type.
    for (const double value : drawn(R"({"random": "uniform", "min": -65504, "max": 65504})", DataType::float16)) {
        ASSERT_TRUE(std::isfinite(value));
    }
}

TEST(RandomSource, Normal) {
    for (const DataType type : {DataType::float16, DataType::float32, DataType::float64}) {
        auto values = drawn(R"({"random": "normal", "mean": 10, "stddev": 2, "seed": 1})", type);
        EXPECT_NEAR(mean_of(values), 10, 0.06);
        EXPECT_NEAR(deviation_of(values), 2, 0.04);
        std::sort(values.begin(), values.end());
        // The normal distribution's quantiles at -2, -1, 1 and 2 standard deviations.
        for (const auto& [deviations, share] :
             {std::pair(-2.0, 0.02275), std::pair(-1.0, 0.15866), std::pair(1.0, 0.84134), std::pair(2.0, 0.97725)}) {
            const auto below = std::lower_bound(values.begin(), values.end(), 10 + 2 * deviations) - values.begin();
            EXPECT_NEAR(static_cast<double>(below) / many, share, 0.012) << deviations;
        }
    }
    // The normal quantiles of the first draws, computed by another implementation.
    const double first[] = {0.6749688500369047, -1.3679883249593705, 0.8248937317910294,
                            1.7263102119346938, -2.3887407819101094, 1.0307908086210136};
    const auto values = drawn(R"({"random": "normal", "mean": 0, "stddev": 1, "seed": 7})", DataType::float64);
    for (std::size_t i = 0; i < std::size(first); ++i) {
        EXPECT_NEAR(values[i], first[i], 2e-7);
    }
    for (const double value : drawn(R"({"random": "normal", "mean": 5, "stddev": 0})", DataType::float32)) {
        ASSERT_EQ(value, 5);
    }
}

TEST(RandomSource, HasDefaultsForTheParametersOfDistributions) {
    const auto type = DataType::float32;
    EXPECT_EQ(drawn(R"({"random": "normal"})", type), drawn(R"({"random": "normal", "mean": 0, "stddev": 1})", type));
    EXPECT_EQ(drawn(R"({"random": "uniform"})", type), drawn(R"({"random": "uniform", "min": -1, "max": 1})", type));
}

TEST(RandomSource, Integers) {
    const auto die = drawn(R"({"random": "integer", "min": -3, "max": 2, "seed": 1})", DataType::int32);
    for (int face = -3; face <= 2; ++face) {
        EXPECT_NEAR(static_cast<double>(std::count(die.begin(), die.end(), face)), many / 6.0, 220) << face;
    }
    EXPECT_EQ(std::set<double>(die.begin(), die.end()).size(), 6u);
    const auto bytes = drawn(R"({"random": "integer", "min": 0, "max": 255, "seed": 1})", DataType::uint8);
    EXPECT_EQ(std::set<double>(bytes.begin(), bytes.end()).size(), 256u);
    const auto narrow = drawn(R"({"random": "integer", "min": 127, "max": 127})", DataType::int8);
    EXPECT_EQ(*std::min_element(narrow.begin(), narrow.end()), 127);
    for (const auto& [type, low, high] :
         {std::tuple(DataType::int64, "-9223372036854775808", "9223372036854775807"),
          std::tuple(DataType::uint64, "0", "18446744073709551615"), std::tuple(DataType::uint64, "1", "2")}) {
        const std::string text = fmt::format(R"({{"random": "integer", "min": {}, "max": {}}})", low, high);
        const core::Tensor data = filled(text, tensor(type, {1000}));
        std::set<std::uint64_t> top_bits;
        for (const std::uint64_t value : values_of<std::uint64_t>(data)) {
            top_bits.insert(value >> 61);
        }
        EXPECT_EQ(top_bits.size(), std::string_view(high) == "2" ? 1u : 8u) << text;
    }
    // Integers can be drawn for floating-point types as well.
    const auto halves = drawn(R"({"random": "integer", "min": -2048, "max": 2048, "seed": 5})", DataType::float16);
    EXPECT_TRUE(std::all_of(halves.begin(), halves.end(), [](double x) { return x == std::floor(x); }));
    EXPECT_LT(*std::min_element(halves.begin(), halves.end()), -2000);
}

/// The kinds of values that occur.
struct Kinds {
    bool nan = false;
    bool infinite = false;
    bool negative_zero = false;
    bool zero = false;
    bool subnormal = false;
    bool largest = false;
    bool one = false;
};

Kinds kinds_of(const std::vector<double>& values, double smallest_normal, double largest) {
    Kinds kinds;
    for (const double value : values) {
        kinds.nan = kinds.nan || std::isnan(value);
        kinds.infinite = kinds.infinite || std::isinf(value);
        kinds.zero = kinds.zero || (value == 0 && !std::signbit(value));
        kinds.negative_zero = kinds.negative_zero || (value == 0 && std::signbit(value));
        kinds.subnormal = kinds.subnormal || (value != 0 && std::fabs(value) < smallest_normal);
        kinds.largest = kinds.largest || std::fabs(value) == largest;
        kinds.one = kinds.one || value == 1;
    }
    return kinds;
}

TEST(RandomSource, BitsAreAnything) {
    const auto values = drawn(R"({"random": "bits", "seed": 1})", DataType::float16);
    const Kinds kinds = kinds_of(values, 0x1p-14, 65504);
    EXPECT_TRUE(kinds.nan && kinds.subnormal);
    const core::Tensor bytes = filled(R"({"random": "bits"})", tensor(DataType::uint8, {many}));
    const auto list = values_of<std::uint8_t>(bytes);
    EXPECT_EQ(std::set<std::uint8_t>(list.begin(), list.end()).size(), 256u);
}

TEST(RandomSource, SpecialValues) {
    struct Row {
        DataType type;
        double smallest_normal;
        double largest;
    };
    for (const Row& row : {Row{DataType::float16, 0x1p-14, 65504}, Row{DataType::float32, 0x1p-126, 0x1.fffffep127},
                           Row{DataType::float64, 0x1p-1022, std::numeric_limits<double>::max()}}) {
        const Kinds kinds =
            kinds_of(drawn(R"({"random": "special", "seed": 1})", row.type), row.smallest_normal, row.largest);
        EXPECT_TRUE(kinds.nan && kinds.infinite && kinds.zero && kinds.negative_zero && kinds.subnormal &&
                    kinds.largest && kinds.one)
            << core::name(row.type);
    }
    for (const auto& [type, low, high] :
         {std::tuple(DataType::int8, -128.0, 127.0), std::tuple(DataType::uint8, 0.0, 255.0),
          std::tuple(DataType::int16, -32768.0, 32767.0), std::tuple(DataType::uint32, 0.0, 4294967295.0),
          std::tuple(DataType::int64, -0x1p63, 0x1p63), std::tuple(DataType::uint64, 0.0, 0x1p64)}) {
        const auto values = drawn(R"({"random": "special", "seed": 1})", type);
        EXPECT_EQ(*std::min_element(values.begin(), values.end()), low) << core::name(type);
        EXPECT_EQ(*std::max_element(values.begin(), values.end()), high) << core::name(type);
        EXPECT_NE(std::count(values.begin(), values.end(), 0), 0);
        EXPECT_NE(std::count(values.begin(), values.end(), 1), 0);
    }
}

struct ErrorRow {
    DataType type;
    const char* text;
    std::vector<std::string> problems;
};

TEST(RandomSource, Refused) {
    const ErrorRow rows[] = {
        {DataType::float32,
         R"({"random": "unifrom"})",
         {R"(1:12 /random: "random" must name a distribution [did you mean `uniform`?])"}},
        {DataType::float32,
         R"({"random": 7})",
         {R"(1:12 /random: "random" must name a distribution [one of uniform, normal, integer, bits, special])"}},
        {DataType::float32, R"({"random": "uniform", "min": 0, "max": "1"})", {R"(1:40 /max: "max" must be a number)"}},
        {DataType::float32,
         R"({"random": "uniform", "min": 0, "max": 1, "mean": 0})",
         {R"(1:43 /mean: unknown key "mean" in a random initialiser)"}},
        {DataType::float32, R"({"random": "uniform", "min": 1, "max": 0})", {R"(1:1 : "min" must not be above "max")"}},
        {DataType::float32,
         R"({"random": "uniform", "min": 0, "max": 1e39})",
         {R"(1:1 : 1e+39 is out of the range of FLOAT32)"}},
        {DataType::float16,
         R"({"random": "uniform", "min": -1e5, "max": 0})",
         {R"(1:1 : -100000 is out of the range of FLOAT16)"}},
        {DataType::float64,
         R"({"random": "uniform", "min": -1e308, "max": 1e308})",
         {R"(1:1 : "min" must not be above)"}},
        {DataType::int8,
         R"({"random": "uniform", "min": 0, "max": 1})",
         {R"(1:1 : a uniform distribution needs a floating-point type, this tensor is INT8 [use { "random": "integer", "min": …, "max": … }])"}},
        {DataType::int8,
         R"({"random": "normal", "mean": 0, "stddev": 1})",
         {"1:1 : a normal distribution needs a floating-point type"}},
        {DataType::float32, R"({"random": "normal", "mean": "x"})", {R"(1:30 /mean: "mean" must be a number)"}},
        {DataType::float32,
         R"({"random": "normal", "mean": 0, "stddev": -1})",
         {R"(1:43 /stddev: "stddev" must not be negative)"}},
        {DataType::float32,
         R"({"random": "normal", "mean": 0, "stddev": 1e38})",
         {"1:1 : -9e+38 is out of the range of FLOAT32"}},
        {DataType::float32, R"({"random": "normal", "mean": 0, "stddev": 1, "min": 0})", {"1:46 /min: unknown key"}},
        {DataType::float64,
         R"({"random": "normal", "mean": 0, "stddev": 1e308})",
         {"1:1 : the values leave the range of FLOAT64"}},
        {DataType::int8, R"({"random": "integer", "min": 0})", {R"(1:1 : "max" is missing)"}},
        {DataType::int8, R"({"random": "integer", "min": 0.5, "max": 1})", {R"(1:30 /min: "min" must be an integer)"}},
        {DataType::int8,
         R"({"random": "integer", "min": -129, "max": 1})",
         {"1:30 /min: -129 is out of the range of INT8 (-128 to 127)"}},
        {DataType::uint8,
         R"({"random": "integer", "min": -1, "max": 1})",
         {"1:30 /min: -1 is out of the range of UINT8"}},
        {DataType::int8, R"({"random": "integer", "min": 5, "max": 4})", {R"(1:1 : "min" must not be above "max")"}},
        {DataType::uint64,
         R"({"random": "integer", "min": 18446744073709551615, "max": 0})",
         {R"(1:1 : "min" must not be above "max")"}},
        {DataType::int64, R"({"random": "integer", "min": 0, "max": -1})", {R"(1:1 : "min" must not be above "max")"}},
        {DataType::float64, R"({"random": "integer", "min": 0, "max": 9007199254740993})", {"1:40 /max: at most 2^53"}},
        {DataType::float16,
         R"({"random": "integer", "min": 0, "max": 70000})",
         {"1:40 /max: 70000 is out of the range of FLOAT16"}},
        {DataType::float32,
         R"({"random": "bits", "min": 0})",
         {R"(1:20 /min: unknown key "min" in a random initialiser)"}},
        {DataType::float32, R"({"random": "bits", "seed": -1})", {"1:28 /seed: seed is -1"}},
        {DataType::float32, R"({"random": "bits", "seed": 1.5})", {"1:28 /seed: seed must be an integer"}},
        {DataType::float32,
         R"({"random": "special", "seed": "x"})",
         {"1:31 /seed: seed must be an integer; this is a string"}},
    };
    for (const ErrorRow& row : rows) {
        SCOPED_TRACE(fmt::format("{} {}", core::name(row.type), row.text));
        const auto read = initialiser(row.text, tensor(row.type, {2}));
        EXPECT_FALSE(read.value.has_value());
        EXPECT_TRUE(begin_with(read.problems, row.problems));
    }
}

}  // namespace
}  // namespace dmlconform::tests::random_source_test
