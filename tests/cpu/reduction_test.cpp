// Tests of engine/cpu/reduction: iteration independent of the formulas, and tolerances, which
// cases cannot check. The test gathers the reduced slices itself.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "engine/compare/comparison.h"
#include "engine/cpu/reduction/reduction.h"
#include "engine/cpu/reduction/totals.h"
#include "engine/cpu/reference.h"
#include "engine/operators/rules/reduction.h"
#include "tests/cpu/random_tensors.h"

namespace dmlconform::tests::reduction_test {
namespace {

using core::DataType;
using core::Tensor;
using operators::Descriptor;
using operators::FieldKind;

constexpr double infinity = std::numeric_limits<double>::infinity();

// ---- sets --------------------------------------------------------------------------------------------------------

/// The values of each reduced slice, by the output's row-major index.
template <class T>
std::map<std::size_t, std::vector<T>> sets_of(const Tensor& tensor, const std::vector<bool>& reduced) {
    const core::Dimensions& sizes = tensor.desc.sizes;
    core::Dimensions kept = sizes;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        kept[d] = reduced[d] ? 1 : sizes[d];
    }
    const std::vector<T> values = values_of<T>(tensor);
    std::map<std::size_t, std::vector<T>> sets;
    for (std::size_t i = 0; i < values.size(); ++i) {
        auto coordinates = coordinates_of(i, sizes);
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            coordinates[d] = reduced[d] ? 0 : coordinates[d];
        }
        sets[index_of(coordinates, kept)].push_back(values[i]);
    }
    return sets;
}

/// Collects all terms in the order of their arrival.
struct Sequence {
    static constexpr std::size_t lanes = 1;
    std::vector<double> terms;
    void add(double term) { terms.push_back(term); }
};

struct Shape {
    core::TensorDesc input;
    core::TensorDesc output;
    std::vector<bool> reduced;
};

Shape random_shape(Random& random, std::uint32_t largest, std::uint64_t most) {
    const auto rank = random.pick<std::size_t>(1, 5);
    const core::Dimensions sizes = random.sizes(rank, largest, most);
    core::Dimensions kept = sizes;
    std::vector<bool> reduced(rank);
    for (std::size_t d = 0; d < rank; ++d) {
        reduced[d] = random.one_in(2);
        kept[d] = reduced[d] ? 1 : sizes[d];
    }
    return {random.layout(DataType::float32, sizes, FieldKind::input),
            random.layout(DataType::float32, kept, FieldKind::output), reduced};
}

TEST(Reduction, EverySetInOrder) {
    Random random(1);
    for (int round = 0; round < 300; ++round) {
        const Shape shape = random_shape(random, round % 3 == 0 ? 150 : 6, 4000);
        const Tensor input = random.filled<float>(shape.input, [&] { return random.uniform(-1, 1); });
        Tensor output = blank_tensor(shape.output);
        const cpu::reduction::Reduction reduction(input, output, shape.reduced);
        std::map<std::size_t, std::vector<double>> found;
        std::map<std::size_t, std::int64_t> addresses;
        reduction.for_each_total<double, Sequence>([](double x) { return x; },
                                                   [&](std::int64_t set, std::int64_t to, const Sequence& sequence) {
                                                       found[static_cast<std::size_t>(set)] = sequence.terms;
                                                       addresses[static_cast<std::size_t>(set)] = to;
                                                   });
        const auto expected = sets_of<float>(input, shape.reduced);
        ASSERT_EQ(found.size(), expected.size());
        const auto wanted = addresses_of(shape.output);
        for (const auto& [set, values] : expected) {
            ASSERT_EQ(found.at(set), std::vector<double>(values.begin(), values.end()))
                << core::to_string(shape.input) << ", set " << set;
            ASSERT_EQ(static_cast<std::size_t>(addresses.at(set)), wanted.at(set)) << core::to_string(shape.output);
            std::vector<double> one_by_one;
            reduction.for_each_element(static_cast<std::int64_t>(set), [&](double x) { one_by_one.push_back(x); });
            ASSERT_EQ(one_by_one, found.at(set));
        }
        reduction.for_each_total<float, Sequence>([](float x) { return double{x}; },
                                                  [&](std::int64_t set, std::int64_t, const Sequence& sequence) {
                                                      ASSERT_EQ(sequence.terms, found.at(static_cast<std::size_t>(set)))
                                                          << core::to_string(shape.input) << ", set " << set;
                                                  });
    }
}

/// Many short slices, a few long ones, and both directions of iteration, large enough for several threads.
TEST(Reduction, LargeSums) {
    Random random(2);
    for (const core::Dimensions& sizes : {core::Dimensions{3, 60'000}, {60'000, 3}, {200, 300}, {300, 200}}) {
        for (const std::size_t axis : {std::size_t{0}, std::size_t{1}}) {
            const Tensor input =
                random.filled<float>(tensor(DataType::float32, sizes), [&] { return float(random.pick(-9, 9)); });
            core::Dimensions kept = sizes;
            kept[axis] = 1;
            Tensor output = blank_tensor(tensor(DataType::float32, kept));
            std::vector<bool> reduced(2);
            reduced[axis] = true;
            const cpu::reduction::Reduction reduction(input, output, reduced);
            std::vector<double> sums(static_cast<std::size_t>(reduction.sets().count()));
            reduction.for_each_total<double, cpu::reduction::Sum<double>>(
                [](double x) { return x; },
                [&](std::int64_t set, std::int64_t, const auto& total) {
                    sums[static_cast<std::size_t>(set)] = total.result();
                });
            for (const auto& [set, values] : sets_of<float>(input, reduced)) {
                ASSERT_EQ(sums[set], std::accumulate(values.begin(), values.end(), 0.0));
            }
        }
    }
}

// ---- ranges ------------------------------------------------------------------------------------------------------

cpu::Interval range_of_sum(const std::vector<float>& terms) {
    cpu::reduction::SumRange range;
    for (const float term : terms) {
        range.add(cpu::Interval(double{term}));
    }
    return range.result();
}

cpu::Interval range_of_product(const std::vector<float>& factors) {
    cpu::reduction::ProductRange range;
    for (const float factor : factors) {
        range.add(double{factor});
    }
    return range.result();
}

/// Combines terms in FP32 in some order: neighbours first, sequentially, from the end, or random pairs.
template <class Operation>
float in_some_order(Random& random, std::vector<float> terms, const Operation& operation) {
    const int way = random.pick(0, 3);
    while (terms.size() > 1) {
        const std::size_t last = terms.size() - 1;
        const std::size_t a = way == 0 ? 0 : way == 1 ? last - 1 : random.pick<std::size_t>(0, last - 1);
        const std::size_t b = way == 2 ? a + 1 : way == 3 ? last : a + 1;
        terms[a] = operation(terms[a], terms[b]);
        terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(b));
    }
    return terms.front();
}

TEST(SumRange, HasTheSumsOfAllOrders) {
    Random random(3);
    for (int round = 0; round < 2000; ++round) {
        std::vector<float> terms(random.pick<std::size_t>(1, 40));
        const float magnitude = std::ldexp(1.0F, random.pick(-20, 20));
        for (float& term : terms) {
            term = random.normal() * magnitude;
        }
        const cpu::Interval range = range_of_sum(terms);
        for (int order = 0; order < 5; ++order) {
            const float sum = in_some_order(random, terms, [](float a, float b) { return a + b; });
            ASSERT_TRUE(range.contains(double{sum})) << sum << " is not from " << range.low << " to " << range.high;
        }
        double magnitudes = 0;
        for (const float term : terms) {
            magnitudes += std::fabs(double{term});
        }
        ASSERT_LE(range.high - range.low, 2.1 * static_cast<double>(terms.size()) * 0x1p-23 * magnitudes);
    }
}

TEST(ProductRange, HasTheProductsOfAllOrders) {
    Random random(4);
    for (int round = 0; round < 2000; ++round) {
        std::vector<float> factors(random.pick<std::size_t>(1, 40));
        // Some partial products leave FP32's range.
        const float spread = round % 4 == 0 ? 1e12F : 2.0F;
        for (float& factor : factors) {
            factor = (random.one_in(2) ? random.uniform(1, spread) : 1 / random.uniform(1, spread)) *
                     (random.one_in(2) ? 1.0F : -1.0F);
        }
        const cpu::Interval range = range_of_product(factors);
        for (int order = 0; order < 5; ++order) {
            const float product = in_some_order(random, factors, [](float a, float b) { return a * b; });
            ASSERT_TRUE(range.contains(double{product}))
                << product << " is not from " << range.low << " to " << range.high;
        }
        if (spread == 2.0F) {
            ASSERT_LE(range.high - range.low,
                      2.1 * static_cast<double>(factors.size()) * 0x1p-23 * std::fabs(range.high + range.low) / 2);
        }
    }
}

struct RangeCase {
    std::vector<float> terms;
    double low;
    double high;
    bool nan = false;
};

void expect_range(const RangeCase& wanted, const cpu::Interval& range) {
    SCOPED_TRACE(testing::PrintToString(wanted.terms));
    EXPECT_EQ(range.nan, wanted.nan);
    if (wanted.low > wanted.high) {
        EXPECT_FALSE(range.has_numbers());
        return;
    }
    EXPECT_EQ(range.low, wanted.low);
    EXPECT_EQ(range.high, wanted.high);
}

constexpr float big = 3e38F;
const float inf = std::numeric_limits<float>::infinity();
const float not_a_number = std::numeric_limits<float>::quiet_NaN();

TEST(SumRange, AtTheEdges) {
    const RangeCase cases[] = {
        {{}, 0, 0},
        {{0.1F}, 0.1F, 0.1F},
        {{1, 2, 3, -4}, 2, 2},                              // no sum is rounded in any order
        {{16777216, -16777215}, 1, 1},                      // the largest sums that are not rounded
        {{0.5F, 8388607.5F, -8388607.5F}, 0.5, 0.5},        // up to 2^24 halves
        {{inf, 1, -5}, infinity, infinity},                 // infinite in every order
        {{-inf, big}, -infinity, -infinity},                //
        {{inf, -inf}, infinity, -infinity, true},           // NaN in every order
        {{1, not_a_number, 2}, infinity, -infinity, true},  // NaN in every order
        // the partial sum may be -infinity before infinity is added
        {{inf, -big, -big}, infinity, infinity, true},
        {{big, big, -big, -big}, -infinity, infinity, true},  // both infinities may result
    };
    for (const RangeCase& wanted : cases) {
        expect_range(wanted, range_of_sum(wanted.terms));
    }
    const cpu::Interval overflow = range_of_sum({big, big, -big});
    EXPECT_TRUE(overflow.contains(double{big}) && overflow.contains(infinity) && !overflow.nan);
    EXPECT_FALSE(overflow.contains(0));
    EXPECT_GT(range_of_sum({16777216, 1, 2}).high, 16777219) << "17 bits and more are rounded";
    EXPECT_TRUE(range_of_sum({1e-40F}).contains(0)) << "a subnormal number may be zero";
    EXPECT_TRUE(range_of_sum({1.5e-38F, -1.2e-38F}).contains(0)) << "and so may a difference";
}

TEST(ProductRange, AtTheEdges) {
    const RangeCase cases[] = {
        {{}, 1, 1},
        {{0.1F}, 0.1F, 0.1F},
        {{3, -5, 7, 0.125F}, -13.125, -13.125},             // 9 bits: no product is rounded
        {{2, 0, -3}, 0, 0},                                 //
        {{inf, -2}, -infinity, -infinity},                  //
        {{inf, 0}, infinity, -infinity, true},              // NaN in every order
        {{2, not_a_number}, infinity, -infinity, true},     //
        {{big, big, 0}, 0, 0, true},                        // infinity times zero, in some order
        {{inf, 1e-30F, 1e-30F}, infinity, infinity, true},  // zero times infinity, in some order
        {{big, big, 1e-30F, 1e-30F}, 0, infinity, true},    // both of the above
    };
    for (const RangeCase& wanted : cases) {
        expect_range(wanted, range_of_product(wanted.terms));
    }
}

TEST(ProductRange, BeyondFp32) {
    const cpu::Interval range = range_of_product({big, -big, 0.5F});
    EXPECT_TRUE(range.contains(-infinity));
    EXPECT_FALSE(range.contains(-double{big}) || range.contains(infinity) || range.nan);
}

TEST(Product, ComesBackFromBeyondDoubles) {
    cpu::reduction::Product<double> product;
    for (int i = 0; i < 40; ++i) {
        product.add(0x1p100);
    }
    for (int i = 0; i < 40; ++i) {
        product.add(-0x1p-100);
    }
    EXPECT_EQ(product.result(), 1);
    product.add(0);
    EXPECT_EQ(product.result(), 0);
    cpu::reduction::Product<double> large;
    for (int i = 0; i < 40; ++i) {
        large.add(-0x1p100);
    }
    cpu::reduction::Product<double> joined = large;
    joined.join(large);
    EXPECT_EQ(large.result(), infinity);
    EXPECT_EQ(joined.result(), infinity);
}

// ---- the operators' tolerances -----------------------------------------------------------------------------------

/// Compares numbers with the reference's first element.
struct Judge {
    cpu::Reference reference;
    core::Tolerance tolerance;
    std::size_t output = 0;

    Judge(const Descriptor& descriptor, const Tensor& input, std::size_t which = 0)
        : reference(cpu::compute_reference(descriptor, std::vector<const Tensor*>{&input})),
          tolerance(cpu::default_tolerance(descriptor, descriptor.outputs()[which])),
          output(which) {}

    template <class T>
    [[nodiscard]] bool accepts(const std::vector<T>& values) const {
        const Tensor actual = tensor_of(reference.outputs[output].desc, values);
        return compare::compare(reference.outputs[output], actual, tolerance, &reference.slack[output]).passed();
    }
};

Descriptor reduce(operators::ReduceFunction function, std::uint32_t count, DataType type = DataType::float32,
                  std::optional<DataType> output = {}) {
    return describe("REDUCE", {{"Function", static_cast<std::int64_t>(function)},
                               {"InputTensor", tensor(type, {count})},
                               {"OutputTensor", tensor(output.value_or(type), {1})},
                               {"Axes", {0}}});
}

TEST(Reduce, LogSumExpWithAndWithoutTheMaximum) {
    const Judge judge(reduce(operators::ReduceFunction::log_sum_exp, 2),
                      tensor_of<float>(tensor(DataType::float32, {2}), {100, 100}));
    EXPECT_TRUE(judge.accepts<float>({100.693147F})) << "by differences to the maximum";
    EXPECT_TRUE(judge.accepts<float>({inf})) << "e^100 is beyond FP32";
    EXPECT_FALSE(judge.accepts<float>({90}));
    EXPECT_FALSE(judge.accepts<float>({not_a_number}));
}

TEST(Reduce, NormsMayBeScaled) {
    const Judge judge(reduce(operators::ReduceFunction::l2, 2),
                      tensor_of<float>(tensor(DataType::float32, {2}), {3e20F, 4e20F}));
    EXPECT_TRUE(judge.accepts<float>({5e20F}));
    EXPECT_TRUE(judge.accepts<float>({inf}));
    EXPECT_FALSE(judge.accepts<float>({4e20F}));
}

TEST(Reduce, AFloat16SumIsRoundedOnce) {
    const Judge judge(reduce(operators::ReduceFunction::sum, 3, DataType::float16),
                      tensor_of<core::Float16>(tensor(DataType::float16, {3}),
                                               {core::Float16(2048.0), core::Float16(1.0), core::Float16(2.0)}));
    EXPECT_TRUE(judge.accepts<core::Float16>({core::Float16(2052.0)}));
    EXPECT_TRUE(judge.accepts<core::Float16>({core::Float16(2050.0)})) << "towards zero";
    EXPECT_FALSE(judge.accepts<core::Float16>({core::Float16(2048.0)}));
}

TEST(Reduce, SubnormalsMayCountAsZeroInPositions) {
    const Judge judge(reduce(operators::ReduceFunction::argmax, 3, DataType::float32, DataType::uint32),
                      tensor_of<float>(tensor(DataType::float32, {3}), {-1, 0, 1e-40F}));
    EXPECT_TRUE(judge.accepts<std::uint32_t>({2}));
    EXPECT_TRUE(judge.accepts<std::uint32_t>({1}));
    EXPECT_FALSE(judge.accepts<std::uint32_t>({0}));
    const Judge plain(reduce(operators::ReduceFunction::argmax, 3, DataType::float32, DataType::uint32),
                      tensor_of<float>(tensor(DataType::float32, {3}), {-1, 0, 1e-30F}));
    EXPECT_FALSE(plain.accepts<std::uint32_t>({1}));
}

TEST(NonzeroCoordinates, OnlyWhatMeansSomethingIsCompared) {
    const Descriptor descriptor =
        describe("NONZERO_COORDINATES", {{"InputTensor", tensor(DataType::float32, {4})},
                                         {"OutputCountTensor", tensor(DataType::uint32, {1})},
                                         {"OutputCoordinatesTensor", tensor(DataType::uint32, {4, 1})}});
    const Judge judge(descriptor, tensor_of<float>(tensor(DataType::float32, {4}), {0, 5, 0, 6}), 1);
    EXPECT_EQ(judge.reference.slack[1].meaningful, 2u);
    EXPECT_TRUE(judge.accepts<std::uint32_t>({1, 3, 77, 0xcdcdcdcd}));
    EXPECT_FALSE(judge.accepts<std::uint32_t>({1, 2, 0, 0}));
    EXPECT_FALSE(judge.accepts<std::uint32_t>({3, 1, 0, 0}));
}

TEST(DynamicQuantizeLinear, ATieMayGoEitherWay) {
    const Descriptor descriptor =
        describe("DYNAMIC_QUANTIZE_LINEAR", {{"InputTensor", tensor(DataType::float32, {4})},
                                             {"OutputTensor", tensor(DataType::uint8, {4})},
                                             {"OutputScaleTensor", tensor(DataType::float32, {1})},
                                             {"OutputZeroPointTensor", tensor(DataType::uint8, {1})}});
    // 2 / (4 / 255) would be 127.5, if the scale were not rounded.
    const Judge judge(descriptor, tensor_of<float>(tensor(DataType::float32, {4}), {1, 2, 3, 4}));
    EXPECT_TRUE(judge.accepts<std::uint8_t>({64, 127, 191, 255}));
    EXPECT_TRUE(judge.accepts<std::uint8_t>({64, 128, 191, 255}));
    EXPECT_FALSE(judge.accepts<std::uint8_t>({64, 126, 191, 255}));
    EXPECT_FALSE(judge.accepts<std::uint8_t>({63, 127, 191, 255}));
    const Judge scale(descriptor, tensor_of<float>(tensor(DataType::float32, {4}), {1, 2, 3, 7}), 1);
    EXPECT_TRUE(scale.accepts<float>({7.0F / 255}));
    EXPECT_TRUE(scale.accepts<float>({7.0F * (1.0F / 255)})) << "the reciprocal is a constant";
    EXPECT_FALSE(scale.accepts<float>({7.0F / 256}));
}

}  // namespace
}  // namespace dmlconform::tests::reduction_test
