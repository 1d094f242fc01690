// Tests of engine/d3d12/parts_plan, which splits tensors that are too large for shaders into parts. The limit is set so
// low here that small tensors are split.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "engine/d3d12/device/device.h"
#include "engine/d3d12/device/tensor_memory.h"
#include "engine/d3d12/planning/parts_plan.h"
#include "engine/fuzz/case_generator.h"
#include "engine/run/case_run.h"
#include "engine/run/physical_memory.h"
#include "tests/d3d12/against_reference.h"
#include "tests/d3d12/top_k1.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::parts_test {
namespace {

using core::DataType;
using d3d12::BufferRef;
using d3d12::DispatchPlan;
using operators::Descriptor;
using testing::HasSubstr;

class InParts : public OtherDeviceTest {
protected:
    void SetUp() override {
        OtherDeviceTest::SetUp();
        if (device_ == nullptr) {
            return;
        }
        engine_ = std::make_unique<d3d12::D3d12Engine>(device_, adapter(), core::highest_feature_level);
    }

    void limit_to(std::uint64_t bytes) { device_->addressable.bytes = bytes; }

    [[nodiscard]] std::optional<DispatchPlan> plan_of(const Descriptor& descriptor) const {
        return d3d12::plan_within(device_->addressable, *d3d12::find_binding(descriptor.schema->short_name()),
                                  descriptor);
    }

    [[nodiscard]] static bool is_cut(const DispatchPlan& plan) {
        return std::ranges::any_of(plan.dispatches, &d3d12::Dispatch::has_parts);
    }

    /// Uses inputs whose elements all differ, as far as the type has enough values.
    void expect_cut_and_right(const Descriptor& descriptor) {
        SCOPED_TRACE(text_of(descriptor));
        const auto plan = plan_of(descriptor);
        ASSERT_TRUE(plan.has_value());
        EXPECT_TRUE(is_cut(*plan));
        Random random(7);
        std::vector<core::Tensor> inputs;
        for (const operators::TensorSlot& slot : descriptor.inputs()) {
            if (slot.desc == nullptr) {
                inputs.emplace_back();
            } else if (core::is_floating_point(slot.desc->data_type)) {
                inputs.push_back(drawn(*slot.desc, [&] { return random.between_reals(0.25, 4); }));
            } else {
                inputs.push_back(random_bits(random, *slot.desc));
            }
        }
        expect_like_reference(*engine_, descriptor, inputs);
    }

    std::unique_ptr<d3d12::D3d12Engine> engine_;
};

std::uint64_t largest_tensor(const Descriptor& descriptor) {
    std::uint64_t largest = 0;
    for (const core::TensorDesc* desc : d3d12::tensors_of(descriptor)) {
        largest = std::max(largest, desc == nullptr ? 0 : d3d12::device_bytes(*desc));
    }
    return largest;
}

/// Parts stay within their tensors, are aligned as shaders require, and do not exceed the addressable size.
void expect_well_formed(const DispatchPlan& plan, const Descriptor& descriptor, const d3d12::Addressable& most) {
    const auto tensors = d3d12::tensors_of(descriptor);
    const std::size_t inputs = descriptor.inputs().size();
    for (const d3d12::Dispatch& dispatch : plan.dispatches) {
        const auto* binding = d3d12::find_binding(descriptor.schema->short_name());
        EXPECT_TRUE(is_variant_of(*binding, dispatch.shader) ||
                    is_variant_of(*d3d12::find_binding("SLICE1"), dispatch.shader))
            << dispatch.shader.key();
        for (const BufferRef& ref : dispatch.buffers) {
            if (ref.kind == BufferRef::Kind::absent) {
                continue;
            }
            const bool is_temporary = ref.kind == BufferRef::Kind::temporary;
            const std::size_t slot = ref.index + (ref.kind == BufferRef::Kind::output ? inputs : 0);
            const std::uint64_t whole =
                is_temporary ? plan.temporaries[ref.index] : d3d12::device_bytes(*tensors[slot]);
            // The last 32-bit word of a part may extend beyond the tensor's last element.
            EXPECT_LT(ref.start + ref.bytes, whole + sizeof(std::uint32_t));
            EXPECT_EQ(ref.start % most.alignment, 0u);
            EXPECT_LE(ref.bytes == 0 ? whole : ref.bytes, most.bytes);
        }
    }
}

struct Tally {
    std::size_t cut = 0;
    std::size_t refused = 0;
};

/// Cases of every operator whose binding splits tensors. The limit is half to a fifth of the largest tensor. Many
/// tensors are too small because parts begin at multiples of 16 bytes.
TEST_F(InParts, RandomCasesOfAllOperatorsThatAreCut) {
    std::map<std::string, Tally> tallies;
    for (const auto& [name, binding] : d3d12::all_bindings().rows()) {
        if (binding.cut == nullptr) {
            continue;
        }
        const bool is_important = name == "SLICE1" || name == "TOP_K1" || name == "MEAN_VARIANCE_NORMALIZATION1" ||
                                  name == "QUANTIZED_LINEAR_CONVOLUTION";
        for (std::uint64_t n = 0; n < (is_important ? 400u : 40u) && !HasFailure(); ++n) {
            const auto subject =
                fuzz::generate(*operators::find_operator(name),
                               {.seed = 11, .level = core::highest_feature_level, .perturbed_percent = 0}, n);
            if (!subject || engine().unsupported(*subject->descriptor)) {
                continue;
            }
            const Descriptor& descriptor = *subject->descriptor;
            SCOPED_TRACE(text_of(descriptor));
            limit_to(std::max<std::uint64_t>(largest_tensor(descriptor) / (2 + n % 4), 64));
            const auto plan = plan_of(descriptor);
            EXPECT_EQ(plan.has_value(), !engine_->unsupported(descriptor));
            if (!plan) {
                ++tallies[name].refused;
                continue;
            }
            if (is_cut(*plan)) {
                ++tallies[name].cut;
                expect_well_formed(*plan, descriptor, device_->addressable);
            }
            const run::CaseResult result = run::run_case(*subject, *engine_);
            EXPECT_EQ(result.status, run::Status::pass)
                << subject->id << ", " << device_->addressable.bytes << " bytes: " << result.reason;
        }
    }
    for (const std::string name :
         {"SLICE1", "TOP_K1", "MEAN_VARIANCE_NORMALIZATION1", "QUANTIZED_LINEAR_CONVOLUTION", "CAST", "REDUCE"}) {
        EXPECT_GE(tallies[name].cut, 12u) << name << ", refused: " << tallies[name].refused;
    }
}

/// Splits the outer dimension of the larger tensor, input or output, with complete windows before and after.
TEST_F(InParts, SlicesInAllDirections) {
    limit_to(4096);
    for (const DataType type : {DataType::float32, DataType::int8, DataType::uint64}) {
        const auto slice = [&](const core::TensorDesc& input, const core::TensorDesc& output,
                               const std::vector<std::uint32_t>& offsets, const std::vector<std::uint32_t>& window,
                               const std::vector<std::int32_t>& steps) {
            Descriptor descriptor = describe("SLICE1", {{"InputTensor", input}, {"OutputTensor", output}});
            return with(descriptor,
                        {{"InputWindowOffsets", offsets}, {"InputWindowSizes", window}, {"InputWindowStrides", steps}});
        };
        expect_cut_and_right(slice(tensor(type, {97, 131}), tensor(type, {95, 129}), {1, 1}, {95, 129}, {1, 1}));
        expect_cut_and_right(slice(tensor(type, {97, 131}), tensor(type, {48, 33}), {1, 1}, {95, 129}, {-2, -4}));
        // A transposition: parts are contiguous in only one of the tensors unless they are copied.
        expect_cut_and_right(
            slice(tensor(type, {96, 128}, {1, 96}), tensor(type, {96, 128}), {0, 0}, {96, 128}, {1, 1}));
        // One row, one column and one element of a large input.
        expect_cut_and_right(slice(tensor(type, {97, 131}), tensor(type, {1, 131}), {96, 0}, {1, 131}, {1, 1}));
        expect_cut_and_right(slice(tensor(type, {97, 131}), tensor(type, {97, 1}), {0, 130}, {97, 1}, {1, 1}));
        expect_cut_and_right(slice(tensor(type, {97, 131}), tensor(type, {1, 1}), {50, 77}, {1, 1}, {1, 1}));
    }
}

Descriptor normalization(DataType type, const core::Dimensions& sizes, const core::Dimensions& parameters,
                         const std::vector<std::uint32_t>& axes) {
    return describe("MEAN_VARIANCE_NORMALIZATION1", {{"InputTensor", tensor(type, sizes)},
                                                     {"ScaleTensor", tensor(type, parameters)},
                                                     {"BiasTensor", tensor(type, parameters)},
                                                     {"OutputTensor", tensor(type, sizes)},
                                                     {"AxisCount", axes.size()},
                                                     {"Axes", axes},
                                                     {"NormalizeVariance", 1},
                                                     {"Epsilon", 1e-5}});
}

TEST_F(InParts, SetsSideBySideAndAcrossTheTensor) {
    limit_to(8192);
    for (const DataType type : {DataType::float32, DataType::float16}) {
        expect_cut_and_right(normalization(type, {8, 16, 12, 12}, {1, 16, 1, 1}, {2, 3}));
        expect_cut_and_right(normalization(type, {64, 3, 8, 8}, {64, 3, 8, 8}, {1, 2, 3}));
        expect_cut_and_right(normalization(type, {1, 1, 300, 52}, {1, 1, 1, 52}, {3}));
        // Each normalisation group has elements throughout the tensor.
        expect_cut_and_right(normalization(type, {8, 16, 12, 12}, {1, 16, 1, 1}, {0, 2, 3}));
        expect_cut_and_right(normalization(type, {40, 500}, {1, 1}, {0}));
    }
}

TEST_F(InParts, SequencesSideBySideAndAcrossTheTensor) {
    limit_to(16384);
    for (const DataType type : {DataType::float32, DataType::int8, DataType::uint64}) {
        expect_cut_and_right(top_k1(type, {7, 20, 400}, 2, 9));
        expect_cut_and_right(top_k1(type, {60, 1000}, 1, 1000));
        expect_cut_and_right(top_k1(type, {7, 20, 400}, 1, 3));
        expect_cut_and_right(top_k1(type, {60, 1000}, 0, 60));
    }
}

/// A single sequence is split: ties across parts, small and large K, distant elements.
TEST_F(InParts, LongSequences) {
    limit_to(8192);
    for (const DataType type : {DataType::float32, DataType::int8, DataType::uint64, DataType::float16}) {
        expect_cut_and_right(top_k1(type, {1, 1, 1, 9001}, 3, 10));
        expect_cut_and_right(top_k1(type, {9001}, 0, 1));
        expect_cut_and_right(top_k1(type, {3, 8192}, 1, 40));
        Descriptor strided = top_k1(type, {1, 3000, 1}, 1, 33);
        expect_cut_and_right(with(strided, {{"InputTensor", tensor(type, {1, 3000, 1}, {9000, 3, 1})},
                                            {"OutputIndexTensor", tensor(DataType::uint64, {1, 33, 1}, {1, 2, 1})}}));
    }
    EXPECT_TRUE(engine_->unsupported(top_k1(DataType::float32, {9001}, 0, 9001)));
}

/// The parts of a sequence are themselves so long that only some of their chunks are searched.
TEST_F(InParts, ChunksOfVeryLongSequences) {
    limit_to(std::uint64_t{9} << 19);
    const Descriptor descriptor = top_k1(DataType::int8, {9'000'000}, 0, 64);
    const auto plan = plan_of(descriptor);
    ASSERT_TRUE(plan.has_value());
    EXPECT_EQ(plan->dispatches.front().shader.shader, "top_k1_chunks");
    expect_cut_and_right(descriptor);
}

struct Convolved {
    core::Dimensions input;
    core::Dimensions filter;
    core::Dimensions output;
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    std::int64_t padding = 0;
    std::uint32_t groups = 1;
};

Descriptor convolution(const Convolved& shape) {
    const core::Dimensions channels{1, shape.filter[0], 1, 1};
    return describe("QUANTIZED_LINEAR_CONVOLUTION", {{"InputTensor", tensor(DataType::uint8, shape.input)},
                                                     {"InputScaleTensor", tensor(DataType::float32, {1})},
                                                     {"InputZeroPointTensor", tensor(DataType::uint8, {1})},
                                                     {"FilterTensor", tensor(DataType::int8, shape.filter)},
                                                     {"FilterScaleTensor", tensor(DataType::float32, channels)},
                                                     {"FilterZeroPointTensor", tensor(DataType::int8, channels)},
                                                     {"BiasTensor", tensor(DataType::int32, channels)},
                                                     {"OutputScaleTensor", tensor(DataType::float32, {1})},
                                                     {"OutputTensor", tensor(DataType::uint8, shape.output)},
                                                     {"DimensionCount", 2},
                                                     {"Strides", {shape.stride, shape.stride}},
                                                     {"Dilations", {shape.dilation, shape.dilation}},
                                                     {"StartPadding", {shape.padding, shape.padding}},
                                                     {"EndPadding", {shape.padding, shape.padding}},
                                                     {"GroupCount", shape.groups}});
}

TEST_F(InParts, ImagesAndPartsOfImages) {
    limit_to(6000);
    // Split by batches.
    expect_cut_and_right(convolution({{40, 3, 16, 20}, {8, 3, 3, 3}, {40, 8, 16, 20}, 1, 1, 1}));
    // Rows of one channel; some windows read rows of two parts.
    expect_cut_and_right(convolution({{1, 1, 120, 128}, {1, 1, 3, 3}, {1, 1, 120, 128}, 1, 1, 1}));
    expect_cut_and_right(convolution({{1, 1, 121, 160}, {1, 1, 5, 5}, {1, 1, 60, 79}, 2, 1, 1}));
    // Rows of many channels lie far apart, so they are copied.
    expect_cut_and_right(convolution({{1, 12, 64, 48}, {10, 12, 3, 3}, {1, 10, 64, 48}, 1, 2, 2}));
    expect_cut_and_right(convolution({{2, 16, 48, 64}, {16, 1, 3, 3}, {2, 16, 24, 32}, 2, 1, 1, 16}));
}

/// In place, between equal layouts, and with a broadcast input.
TEST_F(InParts, ElementWise) {
    limit_to(4096);
    const auto add = [](const core::TensorDesc& a, const core::TensorDesc& b, const core::TensorDesc& sum) {
        return describe("ELEMENT_WISE_ADD", {{"ATensor", a}, {"BTensor", b}, {"OutputTensor", sum}});
    };
    const core::Dimensions sizes{3, 50, 100};
    for (const DataType type : {DataType::float32, DataType::float16, DataType::int64}) {
        Descriptor packed = add(tensor(type, sizes), tensor(type, sizes, {0, 0, 1}), tensor(type, sizes));
        expect_cut_and_right(packed);
        packed.in_place = {0};
        expect_cut_and_right(packed);
        expect_cut_and_right(add(tensor(type, sizes, {1, 3, 150}), tensor(type, sizes), tensor(type, sizes)));
    }
}

/// 1 GiB of numbers that encode their position. Every 64th row is taken, starting with the last.
TEST_F(InParts, TensorsOf1GiB) {
    constexpr std::uint64_t enough = std::uint64_t{8} << 30;
    if (run::physical_memory() < enough) {
        GTEST_SKIP() << "there is little memory";
    }
    constexpr std::uint32_t side = 1u << 14;
    constexpr std::uint32_t step = 64;
    const Descriptor slice = describe("SLICE1", {{"InputTensor", tensor(DataType::uint32, {side, side})},
                                                 {"OutputTensor", tensor(DataType::uint32, {side / step, side})},
                                                 {"InputWindowOffsets", {0, 0}},
                                                 {"InputWindowSizes", {side, side}},
                                                 {"InputWindowStrides", {-64, 1}}});
    if (const auto reason = engine().unsupported(slice)) {
        FAIL() << *reason;
    }
    std::vector<core::Tensor> inputs;
    inputs.emplace_back(*slice.tensor("InputTensor"));
    auto* numbers = reinterpret_cast<std::uint32_t*>(inputs.front().buffer.bytes().data());
    std::iota(numbers, numbers + std::size_t{side} * side, 0u);
    const std::vector<core::Tensor> outputs = run_on(engine(), slice, inputs);
    const auto* taken = reinterpret_cast<const std::uint32_t*>(outputs.front().buffer.bytes().data());
    std::size_t wrong = 0;
    for (std::uint32_t row = 0; row < side / step; ++row) {
        for (std::uint32_t column = 0; column < side; ++column) {
            wrong += taken[row * side + column] == (side - 1 - row * step) * side + column ? 0 : 1;
        }
    }
    EXPECT_EQ(wrong, 0u);
}

/// Operators that cannot be split report the same error as before, and so do tensors that are too large even for
/// splitting.
TEST_F(InParts, WhatCannotBeCutIsUnsupported) {
    limit_to(4096);
    const auto all = normalization(DataType::float32, {1, 1, 64, 64}, {1, 1, 1, 1}, {2, 3});
    EXPECT_THAT(engine_->unsupported(all).value_or(""), HasSubstr("needs a buffer of 16384 bytes"));
    const auto sum = describe("REDUCE", {{"Function", 9},
                                         {"InputTensor", tensor(DataType::float32, {64, 64})},
                                         {"OutputTensor", tensor(DataType::float32, {1, 1})},
                                         {"AxisCount", 2},
                                         {"Axes", {0, 1}}});
    EXPECT_THAT(engine_->unsupported(sum).value_or(""), HasSubstr("cannot be cut"));
    limit_to(16384);
    EXPECT_FALSE(engine_->unsupported(all));
    EXPECT_FALSE(engine_->unsupported(sum));
}

}  // namespace
}  // namespace dmlconform::tests::parts_test
