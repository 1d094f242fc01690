// Tests of engine/run/precision_verdict: names the precision in which a product was computed, for any implementation.
#include "engine/run/precision_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <optional>
#include <random>

#include "engine/run/case_run.h"
#include "engine/run/failure_kind.h"
#include "tests/descriptor_builder.h"
#include "tests/run/fake_engine.h"
#include "tests/run/some_cases.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests::precision_verdict_test {
namespace {

using core::DataType;
using core::Float16;
using core::Precision;

constexpr std::uint32_t size = 16;

enum class Operands { fp32, tf32, tf32_cut, bf16 };
enum class Sums { fp32, truncating, float16, bfloat16 };

float with_bits(float value, int bits) {
    const int unused = 24 - bits;
    const auto raw = std::bit_cast<std::uint32_t>(value);
    return std::bit_cast<float>((raw + (1u << (unused - 1)) - 1 + ((raw >> unused) & 1u)) & ~((1u << unused) - 1));
}

float operand(float value, Operands operands) {
    switch (operands) {
        case Operands::tf32:
            return with_bits(value, 11);
        case Operands::tf32_cut:
            return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & ~0x1fffu);
        case Operands::bf16:
            return with_bits(value, 8);
        default:
            return value;
    }
}

float sum_of(float a, double b, Sums sums) {
    const double exact = double{a} + b;
    const auto nearest = static_cast<float>(exact);
    switch (sums) {
        case Sums::truncating:
            return std::fabs(double{nearest}) > std::fabs(exact) ? std::nextafter(nearest, 0.0f) : nearest;
        case Sums::float16:
            return static_cast<float>(Float16(exact));
        case Sums::bfloat16:
            return with_bits(nearest, 8);
        default:
            return nearest;
    }
}

/// A matrix product of random numbers with mean 0, its exact result, and the expected errors.
class Product {
public:
    /// `first`: the first element of ATensor, instead of a random one.
    Product(DataType type, std::uint32_t length, std::optional<float> first = std::nullopt)
        : length_(length),
          descriptor_(describe("GEMM", {{"ATensor", tensor(type, {1, 1, size, length})},
                                        {"BTensor", tensor(type, {1, 1, length, size})},
                                        {"OutputTensor", tensor(type, {1, 1, size, size})},
                                        {"TransA", 0},
                                        {"TransB", 0},
                                        {"Alpha", 1.0},
                                        {"Beta", 0.0}})),
          a_(random(tensor(type, {1, 1, size, length}), 1)),
          b_(random(tensor(type, {1, 1, length, size}), 2)) {
        if (first) {
            a_.as<float>()[0] = *first;
        }
        for (const core::Tensor* input : {&a_, &b_}) {
            inputs_.push_back(input);
        }
        inputs_.push_back(nullptr);
        reference_ = cpu::compute_reference(descriptor_, inputs_);
        set_sigma(type);
    }

    [[nodiscard]] core::Tensor computed(Operands operands, Sums sums) const {
        std::vector<float> values;
        for (std::uint32_t i = 0; i < size; ++i) {
            for (std::uint32_t j = 0; j < size; ++j) {
                float sum = 0;
                for (std::uint32_t k = 0; k < length_; ++k) {
                    sum = sum_of(sum, double{operand(a(i, k), operands)} * double{operand(b(k, j), operands)}, sums);
                }
                values.push_back(sum);
            }
        }
        const core::TensorDesc& desc = *descriptor_.outputs()[0].desc;
        if (desc.data_type == DataType::float32) {
            return tensor_of(desc, values);
        }
        return tensor_of(desc, std::vector<Float16>(values.begin(), values.end()));
    }

    /// The result in FP32 with inputs that are changed first, by one function each.
    template <class ChangeA, class ChangeB>
    [[nodiscard]] core::Tensor computed_from(const ChangeA& change_a, const ChangeB& change_b) const {
        std::vector<float> values;
        for (std::uint32_t i = 0; i < size; ++i) {
            for (std::uint32_t j = 0; j < size; ++j) {
                double sum = 0;
                for (std::uint32_t k = 0; k < length_; ++k) {
                    sum += double{change_a(a(i, k))} * double{change_b(b(k, j))};
                }
                values.push_back(static_cast<float>(sum));
            }
        }
        return tensor_of(*descriptor_.outputs()[0].desc, values);
    }

    [[nodiscard]] run::OutputPrecision verdict(const core::Tensor& actual, Precision promised = Precision::fp32,
                                               bool differs = false) const {
        return *run::precision_verdict({descriptor_, inputs_, reference_, 0, promised, differs}, actual);
    }

private:
    static core::Tensor random(const core::TensorDesc& desc, unsigned seed) {
        std::mt19937 source(seed);
        std::normal_distribution<float> values;
        std::vector<float> list(static_cast<std::size_t>(*core::element_count(desc.sizes)));
        std::ranges::generate(list, [&] { return values(source); });
        return desc.data_type == DataType::float32 ? tensor_of(desc, list)
                                                   : tensor_of(desc, std::vector<Float16>(list.begin(), list.end()));
    }

    [[nodiscard]] float element(const core::Tensor& tensor, std::size_t index) const {
        return tensor.desc.data_type == DataType::float32 ? tensor.as<float>()[index]
                                                          : static_cast<float>(tensor.as<Float16>()[index]);
    }
    [[nodiscard]] float a(std::uint32_t i, std::uint32_t k) const { return element(a_, i * length_ + k); }
    [[nodiscard]] float b(std::uint32_t k, std::uint32_t j) const { return element(b_, k * size + j); }

    /// Sets sigma by the formula for a sequential sum, independent of the kernel.
    void set_sigma(DataType type) {
        auto& sigma = reference_.slack[0].sigma;
        sigma.clear();
        for (std::uint32_t i = 0; i < size; ++i) {
            for (std::uint32_t j = 0; j < size; ++j) {
                double sum = 0;
                double squares = 0;
                for (std::uint32_t k = 0; k < length_; ++k) {
                    const double product = double{a(i, k)} * double{b(k, j)};
                    sum += product;
                    squares += product * product;
                }
                double variance = 0x1p-48 / 3 * (length_ * (squares / 2 + sum * sum / 3) + sum * sum);
                variance += type == DataType::float16 ? 0x1p-22 / 3 * sum * sum + 0x1p-50 : 0;
                sigma.push_back(std::sqrt(variance));
            }
        }
    }

    std::uint32_t length_;
    operators::Descriptor descriptor_;
    core::Tensor a_;
    core::Tensor b_;
    std::vector<const core::Tensor*> inputs_;
    cpu::Reference reference_;
};

TEST(PrecisionVerdict, TellsHowAProductWasComputed) {
    struct Row {
        Operands operands;
        Sums sums;
        const char* name;
        bool fails;
    };
    constexpr std::array rows{Row{Operands::fp32, Sums::fp32, "FP32", false},
                              Row{Operands::tf32, Sums::fp32, "TF32 (11 bits)", true},
                              Row{Operands::tf32_cut, Sums::fp32, "TF32 (11 bits)", true},
                              Row{Operands::bf16, Sums::fp32, "BF16 (8 bits)", true},
                              Row{Operands::fp32, Sums::truncating, "FP32, rounding towards zero", false},
                              Row{Operands::tf32, Sums::truncating, "TF32 (11 bits)", true}};
    for (const std::uint32_t length : {16u, 200u, 2000u}) {
        const Product product(DataType::float32, length);
        for (const Row& row : rows) {
            const run::OutputPrecision verdict = product.verdict(product.computed(row.operands, row.sums));
            EXPECT_EQ(verdict.computes_as, row.name) << length;
            EXPECT_EQ(verdict.promised, row.fails ? "FP32" : "") << row.name << " " << length;
        }
    }
}

/// At this length, factors of 11 bits and sums rounded towards zero have errors of the same size.
TEST(PrecisionVerdict, TellsVeryLongSumsThatRoundTowardsZeroFromCoarseOperands) {
    const Product product(DataType::float32, 65536);
    EXPECT_EQ(product.verdict(product.computed(Operands::fp32, Sums::truncating)).computes_as,
              "FP32, rounding towards zero");
    EXPECT_EQ(product.verdict(product.computed(Operands::tf32, Sums::fp32)).computes_as, "TF32 (11 bits)");
}

/// Errors towards zero that are larger than those of sums that round towards zero.
TEST(PrecisionVerdict, TellsOtherErrorsTowardsZeroFromRounding) {
    const auto cut_to = [](int bits) {
        return [bits](float value) {
            return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) >> (24 - bits) << (24 - bits));
        };
    };
    const auto same = [](float value) { return value; };
    const auto nearest = [](float value) { return with_bits(value, 11); };
    const auto times = [](float factor) { return [factor](float value) { return factor * value; }; };
    const auto expect = [](const Product& product, const core::Tensor& actual, const char* name) {
        const run::OutputPrecision verdict = product.verdict(actual);
        EXPECT_TRUE(verdict.statistic.truncates()) << name;
        EXPECT_THAT(verdict.computes_as, testing::MatchesRegex(name));
        EXPECT_EQ(verdict.promised, "FP32") << name;
    };
    const Product longest(DataType::float32, 4096);
    expect(longest, longest.computed_from(times(0.999f), same), "less than FP32 .results 0.1 % too small.");
    expect(longest, longest.computed_from(cut_to(12), cut_to(12)), "less than FP32 .1[67][.][0-9] bits.");
    expect(longest, longest.computed_from(cut_to(11), same), "TF32 .11 bits. of ATensor only");
    expect(longest, longest.computed_from(same, cut_to(8)), "BF16 .8 bits. of BTensor only");
    expect(longest, longest.computed_from(cut_to(11), nearest), "TF32 .11 bits.");
    const Product short_one(DataType::float32, 256);
    expect(short_one, short_one.computed_from(cut_to(16), cut_to(16)), "less than FP32 .1[89][.][0-9] bits.");
    const Product middle(DataType::float32, 512);
    expect(middle, middle.computed_from(times(0.9999f), same), "less than FP32 .results 0.01 % too small.");
}

/// Errors of rounding one operand to nearest have no direction.
TEST(PrecisionVerdict, TellsASingleOperandThatIsRoundedToNearest) {
    const Product product(DataType::float32, 500);
    const auto verdict =
        product.verdict(product.computed_from([](float a) { return a; }, [](float b) { return with_bits(b, 11); }));
    EXPECT_EQ(verdict.computes_as, "TF32 (11 bits) of BTensor only");
    EXPECT_EQ(verdict.promised, "FP32");
}

TEST(PrecisionVerdict, TellsHowSumsWereKept) {
    const Product product(DataType::float32, 500);
    const auto half = product.verdict(product.computed(Operands::fp32, Sums::float16));
    EXPECT_EQ(half.computes_as, "less than FP32 (results of 11 bits)");
    EXPECT_EQ(half.promised, "FP32");
    core::Tensor shifted = product.computed(Operands::fp32, Sums::float16);
    for (float& value : shifted.as<float>()) {
        value = std::nextafter(value, 0.0f);  // no longer a number of 11 bits
    }
    EXPECT_EQ(product.verdict(shifted).computes_as, "FP16 accumulation (11 bits)");
    shifted = product.computed(Operands::fp32, Sums::bfloat16);
    for (float& value : shifted.as<float>()) {
        value = std::nextafter(value, 0.0f);
    }
    EXPECT_EQ(product.verdict(shifted).computes_as, "BF16 accumulation (8 bits)");
    const Product float16(DataType::float16, 500);
    EXPECT_EQ(float16.verdict(float16.computed(Operands::fp32, Sums::fp32)).computes_as, "FP32");
    const auto accumulated = float16.verdict(float16.computed(Operands::fp32, Sums::float16));
    EXPECT_EQ(accumulated.computes_as, "FP16 accumulation");
    EXPECT_EQ(accumulated.promised, "FP32");
}

/// Zeros instead of subnormal numbers may have any consequences.
TEST(PrecisionVerdict, ErrorsThatFlushingMayHaveAreNotJudged) {
    for (const float first : {0x1p-63f, 0x1p63f, 0x1p-64f, 0x1p64f}) {
        const Product product(DataType::float32, 500, first);
        core::Tensor coarse = product.computed(Operands::fp32, Sums::bfloat16);
        for (float& value : coarse.as<float>()) {
            value = std::nextafter(value, 0.0f);
        }
        const bool is_extreme = first < 0x1p-63f || first > 0x1p63f;
        const run::OutputPrecision verdict = product.verdict(coarse);
        EXPECT_TRUE(verdict.statistic.can_tell());
        EXPECT_EQ(verdict.promised, is_extreme ? "" : "FP32") << first;
        EXPECT_EQ(verdict.computes_as.empty(), is_extreme) << first << ": " << verdict.computes_as;
        const run::OutputPrecision rounded = product.verdict(product.computed(Operands::tf32, Sums::fp32));
        EXPECT_EQ(rounded.computes_as, "TF32 (11 bits)") << "which flushing does not look like, " << first;
        EXPECT_EQ(rounded.promised, "FP32") << first;
    }
}

TEST(PrecisionVerdict, KeepsToWhatWasPromised) {
    const Product product(DataType::float32, 500);
    const core::Tensor tf32 = product.computed(Operands::tf32, Sums::fp32);
    const core::Tensor bf16 = product.computed(Operands::bf16, Sums::fp32);
    const core::Tensor half = product.computed(Operands::fp32, Sums::float16);
    EXPECT_EQ(product.verdict(tf32, Precision::tf32).promised, "");
    const core::Tensor cut = product.computed(Operands::tf32_cut, Sums::fp32);
    EXPECT_EQ(product.verdict(cut, Precision::tf32).promised, "");
    EXPECT_EQ(product.verdict(tf32, Precision::bf16).promised, "");
    EXPECT_EQ(product.verdict(tf32, Precision::fp16).promised, "");
    EXPECT_EQ(product.verdict(bf16, Precision::tf32).promised, "TF32 (11 bits)");
    EXPECT_EQ(product.verdict(bf16, Precision::bf16).promised, "");
    EXPECT_EQ(product.verdict(half, Precision::tf32).promised, "TF32 (11 bits)");
    EXPECT_EQ(product.verdict(half, Precision::fp16).promised, "");
    const Product float16(DataType::float16, 500);
    const core::Tensor accumulated = float16.computed(Operands::fp32, Sums::float16);
    EXPECT_EQ(float16.verdict(accumulated, Precision::fp16).promised, "");
    EXPECT_EQ(float16.verdict(accumulated, Precision::tf32).promised, "TF32 (11 bits)") << "its operands have 11 bits";
}

TEST(PrecisionVerdict, OutputsThatDifferAreOnlyExplained) {
    const Product product(DataType::float32, 16);
    const auto tf32 = product.verdict(product.computed(Operands::tf32, Sums::fp32), Precision::fp32, true);
    EXPECT_EQ(tf32.computes_as, "TF32 (11 bits)");
    EXPECT_EQ(tf32.promised, "") << "the difference is the failure";
    const core::Tensor half = product.computed(Operands::fp32, Sums::float16);
    EXPECT_EQ(product.verdict(half, Precision::fp32, true).computes_as, "less than FP32 (results of 11 bits)");
    core::Tensor garbage = product.computed(Operands::fp32, Sums::fp32);
    std::ranges::reverse(garbage.as<float>());
    EXPECT_EQ(product.verdict(garbage, Precision::fp32, true).computes_as, "");
}

// ---- a case as a whole -------------------------------------------------------------------------------------------

/// A product with long sums, whose ranges are wide.
constexpr std::string_view long_product = R"({ "name": "product", "operator": "GEMM",
    "desc": { "ATensor": { "DataType": "FLOAT32", "Sizes": [1,1,8,4096] },
              "BTensor": { "DataType": "FLOAT32", "Sizes": [1,1,4096,8] },
              "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1,1,8,8] },
              "TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0 },
    "inputs": { "ATensor": { "random": "normal", "mean": 0, "stddev": 1, "seed": 1 },
                "BTensor": { "random": "normal", "mean": 0, "stddev": 1, "seed": 2 } } )";

/// An engine with about 100 times the error of a correct sum, but well within the range.
Behaviour coarse() {
    Behaviour behaviour;
    behaviour.change = [](std::span<core::Tensor* const> outputs) {
        float error = 0.02f;
        for (float& value : outputs[0]->as<float>()) {
            value += error = -error;
        }
    };
    return behaviour;
}

run::CaseResult judged(Behaviour behaviour, const std::string& more = "", Precision precision = Precision::fp32) {
    const auto cases = cases_of({std::string(long_product) + more + "}"});
    FakeEngine engine(std::move(behaviour));
    run::CaseSettings settings;
    settings.precisions = {precision};
    run::CaseResult result = run::run_case(cases[0], engine, settings);
    EXPECT_TRUE(result.outputs.at(0).comparison.passed());
    result.subject = std::make_shared<const cases::Case>(cases[0]);
    return result;
}

TEST(PrecisionVerdict, FailsWhatIsWithinItsRange) {
    EXPECT_EQ(judged(Behaviour{}).status, run::Status::pass);
    EXPECT_EQ(judged(Behaviour{}).outputs[0].precision->computes_as, "FP32");
    const run::CaseResult result = judged(coarse());
    EXPECT_EQ(result.status, run::Status::fail);
    EXPECT_THAT(result.reason, testing::MatchesRegex("the output is within every element's range, but computes as less "
                                                     "than FP32 \\(.* bits\\), and FP32 was promised"));
    EXPECT_TRUE(run::happened(expectations::Happening::precision, result));
    EXPECT_TRUE(run::happened(expectations::Happening::anything, result));
    EXPECT_FALSE(run::happened(expectations::Happening::differs, result));
}

TEST(PrecisionVerdict, LessMayBePromised) {
    EXPECT_EQ(judged(coarse(), "", Precision::tf32).status, run::Status::pass);
    EXPECT_EQ(judged(coarse(), "", Precision::fp16).status, run::Status::pass);
    EXPECT_EQ(judged(coarse(), R"(, "precision": "bf16")").status, run::Status::pass);
    EXPECT_EQ(judged(coarse(), R"(, "precision": "fp32")", Precision::tf32).status, run::Status::fail)
        << "the case knows better";
}

TEST(PrecisionVerdict, RangesAreAsWideAsThePromise) {
    const auto cases = cases_of({std::string(long_product) + "}"});
    Behaviour behaviour;
    behaviour.change = [](std::span<core::Tensor* const> outputs) { outputs[0]->as<float>()[5] += 100; };
    FakeEngine engine(behaviour);
    for (const Precision precision : {Precision::fp32, Precision::tf32}) {
        run::CaseSettings settings;
        settings.precisions = {precision};
        const auto comparison = run::run_case(cases[0], engine, settings).outputs.at(0).comparison;
        EXPECT_EQ(comparison.passed(), precision == Precision::tf32);
    }
}

}  // namespace
}  // namespace dmlconform::tests::precision_verdict_test
