// Tests what is accepted of graphs with long products, beside decisions and without: honest FP32 passes, and what is
// coarser does not, although each element is within the range of its node.
#include "engine/run/segments.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "engine/run/case_run.h"
#include "engine/run/failure_kind.h"
#include "tests/graph_builder.h"
#include "tests/packed_tensors.h"
#include "tests/run/honest_engine.h"

namespace dmlconform::tests {
namespace segments_test {
namespace {

using run::Status;

constexpr std::uint32_t side = 16;

float to_tf32(float x) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu;
    std::memcpy(&x, &bits, sizeof bits);
    return x;
}

float in_tf32(float a, float b) {
    return to_tf32(a) * to_tf32(b);
}

float slightly_too_large(float a, float b) {
    return a * b * 1.001F;
}

/// A product of `terms` terms, and a node before or behind it. Behind products of about 1000, some of 1024 elements
/// are so close to a tie that they may be rounded up or down.
std::shared_ptr<const cases::Case> with_product(const std::string& form, std::uint32_t terms) {
    const core::TensorDesc a = real({1, 1, side, terms});
    const core::TensorDesc b = real({1, 1, terms, side});
    const core::TensorDesc y = real({1, 1, side, side});
    const bool is_last = form == "RELU before it";
    const TestNode product{"product",
                           describe("GEMM", {{"ATensor", a}, {"BTensor", b}, {"OutputTensor", y}, {"Alpha", 1}}),
                           {is_last ? "t" : "x", "w", ""},
                           {is_last ? "y" : "t"}};
    const TestNode other = is_last                    ? unary("relu", "ACTIVATION_RELU", a, "x", "t")
                           : form == "RELU behind it" ? unary("relu", "ACTIVATION_RELU", y, "t", "y")
                                                      : unary("round", "ELEMENT_WISE_ROUND", y, "t", "y");
    auto subject = std::make_shared<cases::Case>();
    subject->id = "test/product";
    subject->descriptor = graph_of(is_last ? std::vector{other, product} : std::vector{product, other}, {"y"});
    std::mt19937_64 random(terms);
    for (const operators::TensorSlot& slot : subject->descriptor->inputs()) {
        const bool is_weight = slot.name == "w";
        const float result = form == "ROUND behind it" ? 1000 : 1;
        std::normal_distribution<float> normal(0, is_weight ? result / std::sqrt(static_cast<float>(terms)) : 1.0F);
        std::vector<float> values(std::size_t{side} * terms);
        std::ranges::generate(values, [&] { return normal(random); });
        std::vector<std::byte> bytes(values.size() * sizeof(float));
        std::memcpy(bytes.data(), values.data(), bytes.size());
        subject->inputs.emplace_back(cases::given_elements(std::move(bytes)));
    }
    subject->expected.resize(1);
    subject->tolerances.resize(1);
    return subject;
}

struct LongProduct {
    const char* form;
    std::uint32_t terms;
};

class Segments : public testing::TestWithParam<LongProduct> {
protected:
    static run::CaseResult result_with(HonestEngine& engine) {
        return run::run_case(*with_product(GetParam().form, GetParam().terms), engine);
    }
};

TEST_P(Segments, AcceptHonestProducts) {
    HonestEngine engine(1);
    const run::CaseResult result = result_with(engine);
    EXPECT_EQ(result.status, Status::pass) << message_of(result);
}

TEST_P(Segments, RejectProductsInTf32) {
    HonestEngine engine(1);
    engine.arithmetic().multiply = in_tf32;
    EXPECT_EQ(result_with(engine).status, Status::fail);
}

TEST_P(Segments, RejectProductsThatAreTooLarge) {
    HonestEngine engine(1);
    engine.arithmetic().multiply = slightly_too_large;
    EXPECT_EQ(result_with(engine).status, Status::fail);
}

INSTANTIATE_TEST_SUITE_P(Forms, Segments,
                         testing::Values(LongProduct{"RELU behind it", 512}, LongProduct{"RELU behind it", 4096},
                                         LongProduct{"RELU before it", 512}, LongProduct{"RELU before it", 4096},
                                         LongProduct{"ROUND behind it", 512}, LongProduct{"ROUND behind it", 4096}),
                         [](const auto& info) {
                             std::string name = std::string(info.param.form) + " " + std::to_string(info.param.terms);
                             std::ranges::replace(name, ' ', '_');
                             return name;
                         });

/// Expectations and the reducer ask what kind of failure it is.
TEST(SegmentFaults, AreOfTheKindOfTheirValue) {
    using What = run::FailureKind::What;
    const cases::Case subject;
    run::CaseResult result;
    result.finish(Status::fail, "judged in segments");
    EXPECT_EQ(kind_of(subject, result).what, What::other);
    result.segments = run::SegmentFault::value;
    EXPECT_EQ(kind_of(subject, result).what, What::differs);
    result.segments = run::SegmentFault::precision;
    EXPECT_EQ(kind_of(subject, result).what, What::precision);
}

/// An engine that does not support the graph with further outputs is judged by the outputs that it has.
TEST(SegmentSupport, IsNotDemanded) {
    const auto subject = with_product("ROUND behind it", 512);
    HonestEngine engine(1);
    engine.most_outputs = 1;
    const run::CaseResult honest = run::run_case(*subject, engine);
    EXPECT_EQ(honest.status, Status::pass) << message_of(honest);
    engine.arithmetic().multiply = [](float a, float b) { return a * b * 1.1F; };
    EXPECT_EQ(run::run_case(*subject, engine).status, Status::fail);
}

}  // namespace
}  // namespace segments_test
}  // namespace dmlconform::tests
