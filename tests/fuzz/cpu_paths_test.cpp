// Tests that all code paths of the CPU engine, with and without bounds and with registers of any width, give the same
// bits for random cases of every operator.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "engine/core/element.h"
#include "engine/core/strided.h"
#include "engine/cpu/cpu_engine.h"
#include "engine/cpu/reference.h"
#include "engine/fuzz/case_generator.h"
#include "engine/operators/rules.h"
#include "engine/operators/rules/reduction.h"
#include "tests/cpu/random_tensors.h"
#include "tests/cpu/with_registers.h"

namespace dmlconform::tests::cpu_paths_test {
namespace {

using core::Tensor;
using cpu::Registers;
using Settings = std::vector<Setting>;

/// The bits of all elements. All NaNs are mapped to one, because processors differ in NaN payloads.
std::vector<std::uint64_t> elements_of(const Tensor& tensor) {
    std::vector<std::uint64_t> elements;
    const core::DataType type = tensor.desc.data_type;
    const core::StridedRuns<1> runs(tensor.desc.sizes, {core::signed_strides(tensor.desc)});
    runs.for_each_element([&](const auto& at) {
        const std::uint64_t bits = core::load_element(tensor.buffer.bytes(), type, static_cast<std::uint64_t>(at[0]));
        const bool is_nan = core::is_floating_point(type) && std::isnan(core::decode_element(type, bits));
        elements.push_back(is_nan ? ~std::uint64_t{0} : bits);
    });
    return elements;
}

/// The elements of each output; empty for an absent one.
std::vector<std::vector<std::uint64_t>> elements_of(const std::vector<Tensor>& outputs) {
    std::vector<std::vector<std::uint64_t>> elements;
    for (const Tensor& output : outputs) {
        elements.push_back(output.desc.sizes.empty() ? std::vector<std::uint64_t>() : elements_of(output));
    }
    return elements;
}

std::vector<Tensor> outputs_with(Registers widest, const operators::Descriptor& descriptor,
                                 const std::vector<const Tensor*>& inputs) {
    const WithRegisters registers(widest);
    cpu::CpuEngine engine(core::highest_feature_level);
    auto executable = engine.compile(descriptor);
    EXPECT_TRUE(executable.has_value());
    EXPECT_TRUE((*executable)->bind(inputs));
    EXPECT_TRUE((*executable)->execute());
    std::vector<Tensor> outputs;
    for (const operators::TensorSlot& slot : descriptor.outputs()) {
        outputs.push_back(slot.desc == nullptr ? Tensor() : core::output_tensor(*slot.desc));
    }
    std::vector<Tensor*> pointers;
    for (Tensor& output : outputs) {
        pointers.push_back(output.desc.sizes.empty() ? nullptr : &output);
    }
    EXPECT_TRUE((*executable)->read(pointers));
    return outputs;
}

void expect_all_alike(const operators::Descriptor& descriptor, const std::vector<const Tensor*>& inputs,
                      const std::string& what) {
    const auto expected = elements_of(cpu::compute_reference(descriptor, inputs).outputs);
    for (const Registers widest : all_registers) {
        ASSERT_EQ(elements_of(outputs_with(widest, descriptor, inputs)), expected)
            << what << " with registers " << static_cast<int>(widest);
    }
}

void expect_all_alike(const cases::Case& subject) {
    const operators::Descriptor& descriptor = *subject.descriptor;
    const auto slots = descriptor.inputs();
    std::vector<Tensor> inputs(slots.size());
    std::vector<const Tensor*> pointers(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc != nullptr && subject.inputs[i]) {
            inputs[i] = Tensor(*slots[i].desc);
            ASSERT_TRUE(subject.inputs[i]->fill(inputs[i]));
            pointers[i] = &inputs[i];
        }
    }
    expect_all_alike(descriptor, pointers, subject.id);
}

/// Returns the number of compared cases.
std::size_t expect_all_alike(std::uint32_t extreme_percent) {
    constexpr std::uint64_t cases_of_each = 25;
    std::size_t compared = 0;
    for (const std::string& name : operators::operator_names()) {
        const operators::OperatorSchema& schema = *operators::find_operator(name);
        for (std::uint64_t n = 0; n < cases_of_each && cpu::has_reference(schema); ++n) {
            const auto subject =
                fuzz::generate(schema, {.seed = 16, .perturbed_percent = 0, .extreme_percent = extreme_percent}, n);
            if (subject && !subject->expect_error) {
                expect_all_alike(*subject);
                ++compared;
            }
        }
    }
    return compared;
}

TEST(CpuPaths, RegistersAndBoundsChangeNoResult) {
    EXPECT_GT(expect_all_alike(0), 3000u);
}

TEST(CpuPaths, RegistersAndBoundsChangeNoResultOfExtremes) {
    EXPECT_GT(expect_all_alike(100), 3000u);
}

/// Rows longer than those of random cases: they exceed the loop unrolling, and their ends do not fill a register.
TEST(CpuPaths, LongRows) {
    const auto single = [](const core::Dimensions& sizes) { return tensor(core::DataType::float32, sizes); };
    const auto bytes = [](const core::Dimensions& sizes) { return tensor(core::DataType::uint8, sizes); };
    const auto alike = [&](const core::Dimensions& sizes, Settings more) {
        more.emplace_back("InputTensor", single(sizes));
        more.emplace_back("OutputTensor", single(sizes));
        return more;
    };
    const auto reduced = [&](int function) {
        return Settings{{"Function", function},
                        {"InputTensor", single({3, 5003})},
                        {"OutputTensor", single({3, 1})},
                        {"Axes", {1}}};
    };
    const core::Dimensions wide{3, 5003};
    const std::vector<std::pair<std::string_view, Settings>> all{
        {"CUMULATIVE_SUMMATION", alike(wide, {{"Axis", 0}})},
        {"CUMULATIVE_SUMMATION", alike(wide, {{"Axis", 0}, {"AxisDirection", 1}, {"HasExclusiveSum", 1}})},
        {"CUMULATIVE_SUMMATION", alike(wide, {{"Axis", 1}})},
        {"CUMULATIVE_SUMMATION", alike(wide, {{"Axis", 1}, {"AxisDirection", 1}, {"HasExclusiveSum", 1}})},
        {"CUMULATIVE_PRODUCT", alike(wide, {{"Axis", 0}})},
        {"REDUCE", reduced(static_cast<int>(operators::ReduceFunction::sum))},
        {"REDUCE", reduced(static_cast<int>(operators::ReduceFunction::max))},
        {"REDUCE", reduced(static_cast<int>(operators::ReduceFunction::min))},
        {"REDUCE", reduced(static_cast<int>(operators::ReduceFunction::l2))},
        {"DYNAMIC_QUANTIZE_LINEAR",
         {{"InputTensor", single(wide)},
          {"OutputTensor", bytes(wide)},
          {"OutputScaleTensor", single({1, 1})},
          {"OutputZeroPointTensor", bytes({1, 1})}}},
        {"LP_NORMALIZATION", alike(wide, {{"Axis", 1}, {"Epsilon", 1e-3F}, {"P", 2}})},
        {"ACTIVATION_SOFTMAX1", alike(wide, {{"Axes", {1}}})},
        {"ACTIVATION_LOG_SOFTMAX1", alike(wide, {{"Axes", {1}}})},
        {"ACTIVATION_HARDMAX1", alike(wide, {{"Axes", {1}}})},
        {"MEAN_VARIANCE_NORMALIZATION", alike({1, 2, 3, 1111}, {{"NormalizeVariance", 1}, {"Epsilon", 1e-3F}})},
        {"GEMM",
         {{"ATensor", single({37, 301})},
          {"BTensor", single({301, 61})},
          {"OutputTensor", single({37, 61})},
          {"Alpha", 0.7F}}}};
    std::vector<operators::Descriptor> descriptors;
    for (const auto& [name, settings] : all) {
        descriptors.push_back(describe(name, settings));
    }
    descriptors.push_back(with(plain_convolution(single({1, 2, 75, 77}), single({2, 1, 3, 3}), single({1, 2, 75, 77})),
                               {{"StartPadding", {1, 1}}, {"EndPadding", {1, 1}}, {"GroupCount", 2}}));
    Random random(17);
    for (const operators::Descriptor& descriptor : descriptors) {
        const std::string name(descriptor.schema->short_name());
        const auto verdict = operators::validate(descriptor, core::highest_feature_level);
        ASSERT_FALSE(verdict) << name << ": " << verdict->message;
        std::vector<Tensor> inputs;
        for (const operators::TensorSlot& slot : descriptor.inputs()) {
            inputs.push_back(slot.desc == nullptr ? Tensor()
                                                  : random.filled<float>(*slot.desc, [&] { return random.normal(); }));
        }
        std::vector<const Tensor*> pointers;
        for (const Tensor& input : inputs) {
            pointers.push_back(input.desc.sizes.empty() ? nullptr : &input);
        }
        expect_all_alike(descriptor, pointers, name);
    }
}

/// Rows whose sums of powers are NaN or have only a few terms, in separate tensors and in one.
TEST(CpuPaths, SoftmaxOfSpecialNumbers) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr std::array specials{0.0F,    -0.0F,    1e-45F,    -1e-45F,
                                  -87.5F,  -120.0F,  -709.0F,   -3.4e38F,
                                  3.4e38F, infinity, -infinity, std::numeric_limits<float>::quiet_NaN()};
    constexpr std::uint32_t length = 75;
    const core::TensorDesc lines = tensor(core::DataType::float32, {2 * specials.size(), length});
    Random random(18);
    Tensor input = random.filled<float>(lines, [&] { return random.normal(); });
    const std::span<float> elements = input.as<float>();
    for (std::size_t line = 0; line < 2 * specials.size(); ++line) {
        const bool everywhere = line % 2 == 0;
        for (std::size_t k = everywhere ? 0 : random.pick(0u, length - 1); k < length; k += everywhere ? 1 : length) {
            elements[line * length + k] = specials[line / 2];
        }
    }
    for (const std::string_view name : {"ACTIVATION_SOFTMAX1", "ACTIVATION_LOG_SOFTMAX1"}) {
        operators::Descriptor descriptor =
            describe(name, {{"InputTensor", lines}, {"OutputTensor", lines}, {"Axes", {1}}});
        expect_all_alike(descriptor, {&input}, std::string(name));
        descriptor.in_place = {0};
        expect_all_alike(descriptor, {&input}, std::string(name) + " in place");
    }
}

}  // namespace
}  // namespace dmlconform::tests::cpu_paths_test
