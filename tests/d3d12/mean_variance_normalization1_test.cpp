// Tests of MEAN_VARIANCE_NORMALIZATION1 on the D3D12 engine: types, axes, layouts, group sizes, and every activation.
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/d3d12/device/device.h"
#include "tests/d3d12/against_reference.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::mean_variance_normalization1_test {
namespace {

using core::DataType;
using operators::Descriptor;

using NormalizationOnD3d12 = D3d12Test;

constexpr std::array types{DataType::float32, DataType::float16};

std::vector<operators::OperatorDesc> all_activations() {
    return {activation("ACTIVATION_IDENTITY"),
            activation("ACTIVATION_CELU", {{"Alpha", 0.75}}),
            activation("ACTIVATION_ELU", {{"Alpha", 1.5}}),
            activation("ACTIVATION_GELU"),
            activation("ACTIVATION_HARD_SIGMOID", {{"Alpha", 0.2}, {"Beta", 0.5}}),
            activation("ACTIVATION_HARD_SWISH", {{"Alpha", 0.25}, {"Beta", 0.5}}),
            activation("ACTIVATION_LEAKY_RELU", {{"Alpha", 0.01}}),
            activation("ACTIVATION_LINEAR", {{"Alpha", -2.5}, {"Beta", 0.75}}),
            activation("ACTIVATION_PARAMETRIC_SOFTPLUS", {{"Alpha", 1.5}, {"Beta", -0.5}}),
            activation("ACTIVATION_RELU"),
            activation("ACTIVATION_SCALED_ELU", {{"Alpha", 1.67326319217681884765625}, {"Gamma", 1.0507009873554}}),
            activation("ACTIVATION_SCALED_TANH", {{"Alpha", 1.7159}, {"Beta", 0.6667}}),
            activation("ACTIVATION_SHRINK", {{"Bias", 0.25}, {"Threshold", 0.5}}),
            activation("ACTIVATION_SIGMOID"),
            activation("ACTIVATION_SOFTPLUS", {{"Steepness", 2}}),
            activation("ACTIVATION_SOFTSIGN"),
            activation("ACTIVATION_SWISH", {{"SigmoidInputScale", 1.25}}),
            activation("ACTIVATION_TANH"),
            activation("ACTIVATION_THRESHOLDED_RELU", {{"Alpha", 0.25}})};
}

core::Dimensions broadcastable(Random& random, const core::Dimensions& sizes) {
    core::Dimensions result = sizes;
    for (std::uint32_t& size : result) {
        size = random.chance(2) ? 1 : size;
    }
    return result;
}

Descriptor random_normalization(Random& random, DataType type, const core::Dimensions& sizes) {
    std::vector<std::uint32_t> axes;
    for (std::uint32_t axis = 0; axis < sizes.size(); ++axis) {
        if (random.chance(2)) {
            axes.insert(random.chance(2) ? axes.begin() : axes.end(), axis);
        }
    }
    std::vector<Setting> settings{{"InputTensor", random_input(random, type, sizes)},
                                  {"OutputTensor", random_output(random, type, sizes)},
                                  {"AxisCount", axes.size()},
                                  {"Axes", axes},
                                  {"NormalizeVariance", random.chance(4) ? 0 : 1},
                                  {"Epsilon", random.chance(2) ? 1e-5 : 0.1}};
    if (!random.chance(3)) {
        settings.emplace_back("ScaleTensor", random_input(random, type, broadcastable(random, sizes)));
    }
    if (!random.chance(3)) {
        settings.emplace_back("BiasTensor", random_input(random, type, broadcastable(random, sizes)));
    }
    if (random.chance(2)) {
        static const auto activations = all_activations();
        settings.emplace_back("FusedActivation", random.one_of(activations));
    }
    return describe("MEAN_VARIANCE_NORMALIZATION1", settings);
}

Descriptor normalization(DataType type, const core::Dimensions& sizes, const std::vector<std::uint32_t>& axes,
                         double epsilon = 1e-5) {
    return describe("MEAN_VARIANCE_NORMALIZATION1", {{"InputTensor", tensor(type, sizes)},
                                                     {"OutputTensor", tensor(type, sizes)},
                                                     {"AxisCount", axes.size()},
                                                     {"Axes", axes},
                                                     {"NormalizeVariance", 1},
                                                     {"Epsilon", epsilon}});
}

/// Numbers from -1 to 1, shifted by `offset`.
std::vector<core::Tensor> random_inputs(Random& random, const Descriptor& descriptor, double offset) {
    std::vector<core::Tensor> inputs;
    for (const operators::TensorSlot& slot : descriptor.inputs()) {
        if (slot.desc == nullptr) {
            inputs.emplace_back();
        } else {
            const double move = slot.name == "InputTensor" ? offset : 0.5;
            inputs.push_back(drawn(*slot.desc, [&] { return random.between_reals(-1, 1) + move; }));
        }
    }
    return inputs;
}

void expect_like_reference(Engine& engine, Random& random, const Descriptor& descriptor, double offset = 0.25) {
    tests::expect_like_reference(engine, descriptor, random_inputs(random, descriptor, offset));
}

TEST_F(NormalizationOnD3d12, RandomShapesAndLayouts) {
    Random random(1);
    for (int turn = 0; turn < 600 && !HasFailure(); ++turn) {
        const core::Dimensions sizes = random_sizes(random, random.between(1, 8), 4000);
        expect_like_reference(engine(), random,
                              random_normalization(random, types[static_cast<std::size_t>(turn) % 2], sizes));
    }
}

/// Simulates a device whose FLOAT16 conversions are unusable. Such devices are rare, and lavapipe is not one.
TEST_F(NormalizationOnD3d12, HalvesConvertedByIntegers) {
    auto device = another_device();
    ASSERT_TRUE(device.has_value());
    (*device)->half_conversions = false;
    d3d12::D3d12Engine without(std::move(*device), adapter(), core::highest_feature_level);
    Random random(11);
    for (int turn = 0; turn < 100 && !HasFailure(); ++turn) {
        const core::Dimensions sizes = random_sizes(random, random.between(1, 4), 4000);
        expect_like_reference(without, random, random_normalization(random, DataType::float16, sizes));
    }
}

/// Sizes around those at which the number of threads, thread groups or passes changes.
TEST_F(NormalizationOnD3d12, SetsOfAnySize) {
    Random random(2);
    for (const DataType type : types) {
        for (const std::uint32_t size : {1u,    2u,    3u,    4u,    7u,    8u,    16u,   100u,  255u,   256u,
                                         1000u, 1024u, 4095u, 4096u, 4097u, 4100u, 8192u, 8200u, 16384u, 50001u}) {
            expect_like_reference(engine(), random, normalization(type, {3, size}, {1}));
            if (size < 10000) {
                expect_like_reference(engine(), random, normalization(type, {2, size, 5}, {1}));
                expect_like_reference(engine(), random, normalization(type, {size, 24}, {0}));
            }
        }
    }
}

/// Groups that are kept in registers are normalised by one dispatch. Others have a dispatch for the statistics of
/// chunks, and one for statistics that too many chunks have.
TEST(NormalizationPlan, KeepsGroups) {
    struct Row {
        DataType type;
        core::Dimensions sizes;
        core::Dimensions strides;  // empty if packed
        std::size_t dispatches;
    };
    const Row rows[] = {// Up to 4 vectors per thread, whatever the number of groups is.
                        {DataType::float32, {1, 1, 4096}, {}, 1},
                        {DataType::float32, {1, 1, 4100}, {}, 2},
                        // Up to 16, or 8 of FLOAT16, if there are 128 groups.
                        {DataType::float32, {127, 1, 4100}, {}, 2},
                        {DataType::float32, {128, 1, 16384}, {}, 1},
                        {DataType::float32, {128, 1, 16388}, {}, 2},
                        {DataType::float16, {128, 1, 16384}, {}, 1},
                        {DataType::float16, {128, 1, 16392}, {}, 2},
                        // More than 8 only of one row.
                        {DataType::float32, {128, 2, 4096}, {8208, 4104, 1}, 1},
                        {DataType::float32, {128, 2, 4100}, {8208, 4104, 1}, 2},
                        // A thread for each chunk.
                        {DataType::float32, {1, 1, 256 * 4096}, {}, 2},
                        {DataType::float32, {1, 1, 256 * 4096 + 4}, {}, 3}};
    for (const Row& row : rows) {
        const core::TensorDesc desc =
            row.strides.empty() ? tensor(row.type, row.sizes) : tensor(row.type, row.sizes, row.strides);
        SCOPED_TRACE(to_string(desc));
        const Descriptor descriptor =
            with(normalization(row.type, row.sizes, {1, 2}), {{"InputTensor", desc}, {"OutputTensor", desc}});
        EXPECT_EQ(d3d12::find_binding("MEAN_VARIANCE_NORMALIZATION1")->plan(descriptor).dispatches.size(),
                  row.dispatches);
    }
}

/// Many large normalisation groups. Each uses one thread group, whose threads keep 5 to 16 vectors each in registers.
TEST_F(NormalizationOnD3d12, LargeSetsThatThreadsKeep) {
    Random random(8);
    constexpr std::uint32_t sets = 128;
    for (const DataType type : types) {
        const std::uint32_t vector = type == DataType::float16 ? 8 : 4;
        for (const std::uint32_t vectors : {1025u, type == DataType::float16 ? 2048u : 2049u}) {
            const std::uint32_t size = vectors * vector;
            const Descriptor plain = normalization(type, {sets, size}, {1});
            EXPECT_EQ(d3d12::find_binding("MEAN_VARIANCE_NORMALIZATION1")->plan(plain).dispatches.size(), 1U);
            expect_like_reference(engine(), random, plain);
            expect_like_reference(engine(), random,
                                  with(plain, {{"FusedActivation", activation("ACTIVATION_SIGMOID")}}));
            const core::TensorDesc of_elements = tensor(type, {sets, size}, {0, 1});
            const core::TensorDesc of_sets = tensor(type, {sets, size}, {1, 0});
            expect_like_reference(engine(), random,
                                  with(plain, {{"ScaleTensor", of_elements}, {"BiasTensor", of_elements}}));
            expect_like_reference(engine(), random,
                                  with(plain, {{"ScaleTensor", of_sets}, {"BiasTensor", of_elements}}));
        }
        const Descriptor few = normalization(type, {3, 1025 * vector}, {1});
        EXPECT_GT(d3d12::find_binding("MEAN_VARIANCE_NORMALIZATION1")->plan(few).dispatches.size(), 1U);
    }
}

/// Normalisation groups of several separate runs: a thread's next vector is in the same run, in the next one, or in a
/// later one.
TEST_F(NormalizationOnD3d12, LinesOfAnyLength) {
    Random random(12);
    for (const DataType type : types) {
        for (const std::uint32_t vectors : {1u, 2u, 3u, 7u, 31u, 64u, 100u, 255u, 256u, 257u, 700u}) {
            const std::uint32_t size = vectors * (type == DataType::float16 ? 8 : 4);
            for (const std::uint32_t lines : {2u, 9u, 50u}) {
                const Descriptor plain = normalization(type, {lines, 3, size}, {0, 2});
                expect_like_reference(engine(), random, plain);
                expect_like_reference(engine(), random,
                                      with(plain, {{"ScaleTensor", tensor(type, {lines, 3, size})},
                                                   {"BiasTensor", tensor(type, {1, 3, 1})},
                                                   {"FusedActivation", activation("ACTIVATION_RELU")}}));
                expect_like_reference(engine(), random,
                                      with(plain, {{"ScaleTensor", tensor(type, {1, 1, size})},
                                                   {"BiasTensor", tensor(type, {lines, 3, size})}}));
            }
        }
    }
}

/// One normalisation group spread over many thread groups, whose results an additional dispatch combines.
TEST_F(NormalizationOnD3d12, SetsOfVeryManyVectors) {
    Random random(13);
    for (const DataType type : types) {
        const Descriptor descriptor = normalization(type, {1100, type == DataType::float16 ? 2000u : 1000u}, {0, 1});
        EXPECT_EQ(d3d12::find_binding("MEAN_VARIANCE_NORMALIZATION1")->plan(descriptor).dispatches.size(), 3U);
        expect_like_reference(engine(), random, descriptor, 3);
        expect_like_reference(engine(), random, with(descriptor, {{"FusedActivation", activation("ACTIVATION_RELU")}}),
                              3);
    }
}

/// For a vector of elements, the parameters are a vector, a single value, or values at arbitrary offsets.
TEST_F(NormalizationOnD3d12, ParametersInAnyLayout) {
    Random random(9);
    for (const DataType type : types) {
        constexpr std::uint32_t size = 64;
        const core::TensorDesc layouts[] = {tensor(type, {3, size}, {0, 1}),        tensor(type, {3, size}, {size, 1}),
                                            tensor(type, {3, size}, {size + 1, 1}), tensor(type, {3, size}, {1, 0}),
                                            tensor(type, {3, size}, {0, 2}),        tensor(type, {3, 1})};
        for (const core::TensorDesc& scale : layouts) {
            for (const core::TensorDesc& bias : layouts) {
                expect_like_reference(
                    engine(), random,
                    with(normalization(type, {3, size}, {1}), {{"ScaleTensor", scale}, {"BiasTensor", bias}}));
            }
        }
    }
}

TEST_F(NormalizationOnD3d12, LargeSets) {
    Random random(3);
    for (const DataType type : types) {
        expect_like_reference(engine(), random, normalization(type, {2, 3, 640, 640}, {2, 3}));
        expect_like_reference(engine(), random, normalization(type, {6, 16, 40, 40}, {0, 2, 3}));
        expect_like_reference(engine(), random, normalization(type, {1, 3, 513, 511}, {1, 2, 3}), 100);
    }
}

TEST_F(NormalizationOnD3d12, EveryActivation) {
    Random random(4);
    for (const DataType type : types) {
        for (const auto& fused : all_activations()) {
            for (const std::uint32_t size : {64u, 61u, 9000u}) {
                const Descriptor descriptor =
                    with(normalization(type, {2, 3, size}, {2}), {{"FusedActivation", fused},
                                                                  {"ScaleTensor", tensor(type, {1, 3, size})},
                                                                  {"BiasTensor", tensor(type, {1, 3, 1})}});
                auto inputs = random_inputs(random, descriptor, 0);
                // Arguments also reach the range in which functions saturate.
                inputs[1] =
                    drawn(*descriptor.tensor("ScaleTensor"), [&] { return std::exp(random.between_reals(-8, 4)); });
                tests::expect_like_reference(engine(), descriptor, inputs);
            }
        }
    }
}

/// If the input is 0, the activation's argument is the bias.
TEST_F(NormalizationOnD3d12, ActivationsOfSpecialNumbers) {
    const float infinity = std::numeric_limits<float>::infinity();
    const float tiny = std::numeric_limits<float>::min();
    const std::vector<float> numbers{0,       -0.0f, infinity, -infinity, std::numeric_limits<float>::quiet_NaN(),
                                     tiny,    -tiny, 1e30f,    -1e30f,    1e-30f,
                                     -1e-30f, 88,    -88,      104,       -104,
                                     17,      -17,   1000,     -1000,     0.25f,
                                     -0.25f,  0.5f,  -0.5f,    1};
    for (const auto& fused : all_activations()) {
        const auto count = static_cast<std::uint32_t>(numbers.size());
        const core::TensorDesc row = tensor(DataType::float32, {count, 1});
        const Descriptor descriptor =
            with(normalization(DataType::float32, {count, 1}, {1}), {{"BiasTensor", row}, {"FusedActivation", fused}});
        std::vector<core::Tensor> inputs(3);
        inputs[0] = drawn(row, [] { return 0.0; });
        inputs[2] = tensor_of<float>(row, numbers);
        tests::expect_like_reference(engine(), descriptor, inputs);
    }
}

TEST_F(NormalizationOnD3d12, FarFromZero) {
    Random random(5);
    for (const double offset : {10.0, 1e3, 1e4, 1e6}) {
        expect_like_reference(engine(), random, normalization(DataType::float32, {4, 1000}, {1}), offset);
        expect_like_reference(engine(), random, normalization(DataType::float32, {1, 100000}, {1}), offset);
    }
}

TEST_F(NormalizationOnD3d12, ConstantInputWithoutEpsilonIsNaN) {
    for (const DataType type : types) {
        for (const std::uint32_t size : {1u, 3u, 100u, 7777u, 100000u, 100003u}) {
            for (const double value : {0.1, -3.7, 1000.3, 0.0}) {
                const Descriptor descriptor = normalization(type, {2, size}, {1}, 0);
                std::vector<core::Tensor> inputs(3);
                inputs[0] = drawn(*descriptor.tensor("InputTensor"), [&] { return value; });
                tests::expect_like_reference(engine(), descriptor, inputs);
            }
        }
    }
}

/// NaN and infinities affect only their own normalisation group.
TEST_F(NormalizationOnD3d12, SpecialNumbers) {
    Random random(6);
    using Limits = std::numeric_limits<double>;
    for (const DataType type : types) {
        for (const double special : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
            for (const std::uint32_t normalize : {0u, 1u}) {
                for (const std::uint32_t size : {8u, 9u, 20000u, 20001u}) {
                    const Descriptor descriptor =
                        with(normalization(type, {3, size}, {1}), {{"NormalizeVariance", normalize}});
                    auto inputs = random_inputs(random, descriptor, 0);
                    const std::uint64_t bits = type == DataType::float32
                                                   ? std::bit_cast<std::uint32_t>(static_cast<float>(special))
                                                   : core::Float16(special).bits;
                    core::store_element(inputs[0].buffer.bytes(), type, size + size / 2, bits);
                    tests::expect_like_reference(engine(), descriptor, inputs);
                }
            }
        }
    }
}

TEST_F(NormalizationOnD3d12, IsTheSameEveryTime) {
    Random random(7);
    const Descriptor descriptor = normalization(DataType::float32, {3, 300001}, {1});
    const auto inputs = random_inputs(random, descriptor, 3);
    const auto first = run_on(engine(), descriptor, inputs);
    for (int turn = 0; turn < 5; ++turn) {
        EXPECT_EQ(elements_of(run_on(engine(), descriptor, inputs)[0]), elements_of(first[0]));
    }
}

}  // namespace
}  // namespace dmlconform::tests::mean_variance_normalization1_test
