// Tests of the kernels of QUANTIZED_LINEAR_CONVOLUTION: values derived by hand, the limits of the accumulator, and
// random convolutions against the definition in real numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>

#include "engine/cpu/cpu_engine.h"
#include "engine/cpu/product/requantise.h"
#include "engine/cpu/reference.h"
#include "tests/cpu/random_tensors.h"

namespace dmlconform::tests::quantized_linear_convolution_test {
namespace {

using core::DataType;
using core::Dimensions;
using core::TensorDesc;
using operators::Descriptor;
using operators::FieldKind;

const Dimensions one{1, 1, 1, 1};

struct Spatial {
    std::vector<std::uint32_t> strides{1, 1};
    std::vector<std::uint32_t> dilations{1, 1};
    std::vector<std::uint32_t> start{0, 0};
    std::vector<std::uint32_t> end{0, 0};
    std::uint32_t groups = 1;
};

Descriptor convolution(const TensorDesc& input, const TensorDesc& filter, const TensorDesc& output,
                       const Spatial& spatial) {
    const auto scale = tensor(DataType::float32, Dimensions(input.sizes.size(), 1));
    return describe("QUANTIZED_LINEAR_CONVOLUTION", {{"InputTensor", input},
                                                     {"InputScaleTensor", scale},
                                                     {"FilterTensor", filter},
                                                     {"FilterScaleTensor", scale},
                                                     {"OutputScaleTensor", scale},
                                                     {"OutputTensor", output},
                                                     {"Strides", spatial.strides},
                                                     {"Dilations", spatial.dilations},
                                                     {"StartPadding", spatial.start},
                                                     {"EndPadding", spatial.end},
                                                     {"GroupCount", spatial.groups}});
}

/// Tensors by field name. Required tensors that are not set are scales of 1.
class Inputs {
public:
    explicit Inputs(const Descriptor& descriptor) : descriptor_(descriptor) {
        for (const auto& slot : descriptor.inputs()) {
            tensors_.emplace_back();
            if (slot.desc != nullptr) {
                tensors_.back() = slot.desc->data_type == DataType::float32
                                      ? tensor_of(*slot.desc, std::vector<float>(count_of(slot.desc->sizes), 1.0f))
                                      : blank_tensor(*slot.desc);
            }
        }
    }

    template <class T>
    Inputs& set(std::string_view field, const std::vector<T>& values) {
        tensors_[index_of_field(field)] = tensor_of(*descriptor_.tensor(field), values);
        return *this;
    }

    Inputs& set(std::string_view field, core::Tensor tensor) {
        tensors_[index_of_field(field)] = std::move(tensor);
        return *this;
    }

    /// The tensor of a field, or null if it is absent.
    [[nodiscard]] const core::Tensor* find(std::string_view field) const {
        return descriptor_.tensor(field) == nullptr ? nullptr : &tensors_[index_of_field(field)];
    }

    [[nodiscard]] cpu::Reference computed() const {
        const auto rejection = operators::validate(descriptor_, core::highest_feature_level);
        EXPECT_FALSE(rejection) << rejection->message;
        std::vector<const core::Tensor*> inputs;
        for (const auto& slot : descriptor_.inputs()) {
            inputs.push_back(find(slot.name));
        }
        return cpu::compute_reference(descriptor_, inputs);
    }

private:
    [[nodiscard]] std::size_t index_of_field(std::string_view field) const {
        const auto slots = descriptor_.inputs();
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i].name == field) {
                return i;
            }
        }
        throw std::logic_error("no input " + std::string(field));
    }

    const Descriptor& descriptor_;
    std::vector<core::Tensor> tensors_;
};

using U8 = std::vector<std::uint8_t>;
using S8 = std::vector<std::int8_t>;
using S32 = std::vector<std::int32_t>;
using F32 = std::vector<float>;

TEST(QuantizedLinearConvolution, ByHand) {
    // The filter {1, 2; 3, 4} over {1 2 3; 4 5 6; 7 8 9}, as cross-correlation: 1 + 4 + 12 + 20 = 37, then 47, 67, 77.
    const auto descriptor = convolution(tensor(DataType::uint8, {1, 1, 3, 3}), tensor(DataType::int8, {1, 1, 2, 2}),
                                        tensor(DataType::uint8, {1, 1, 2, 2}), {});
    Inputs inputs(descriptor);
    inputs.set("InputTensor", U8{1, 2, 3, 4, 5, 6, 7, 8, 9}).set("FilterTensor", S8{1, 2, 3, 4});
    EXPECT_EQ(values_of<std::uint8_t>(inputs.computed().outputs[0]), (U8{37, 47, 67, 77}));
    // The scales are 0.5, 0.25 and 0.25, so the results are multiplied by 0.5 * 0.25 / 0.25. Ties are rounded to even.
    inputs.set("InputScaleTensor", F32{0.5f}).set("FilterScaleTensor", F32{0.25f}).set("OutputScaleTensor", F32{0.25f});
    const auto halved = inputs.computed();
    // before rounding: 18.5, 23.5, 33.5, 38.5
    EXPECT_EQ(values_of<std::uint8_t>(halved.outputs[0]), (U8{18, 24, 34, 38}));
    // The other neighbour of each tie is accepted.
    EXPECT_EQ(halved.slack.at(0).below, (std::vector<double>{0, 1, 1, 0}));
    EXPECT_EQ(halved.slack.at(0).above, (std::vector<double>{1, 0, 0, 1}));
}

TEST(QuantizedLinearConvolution, PaddingIsTheZeroPoint) {
    // With the zero point 10, the input is -1 0 1 2. The filter is three ones (5 - 4). Padded by one, the sums are -1,
    // 0, 3, 3.
    const auto zero = tensor(DataType::uint8, one);
    const auto descriptor =
        with(convolution(tensor(DataType::uint8, {1, 1, 1, 4}), tensor(DataType::uint8, {1, 1, 1, 3}),
                         tensor(DataType::int8, {1, 1, 1, 4}), {.start = {0, 1}, .end = {0, 1}}),
             {{"InputZeroPointTensor", zero},
              {"FilterZeroPointTensor", zero},
              {"OutputZeroPointTensor", tensor(DataType::int8, one)}});
    Inputs inputs(descriptor);
    inputs.set("InputTensor", U8{9, 10, 11, 12})
        .set("InputZeroPointTensor", U8{10})
        .set("FilterTensor", U8{5, 5, 5})
        .set("FilterZeroPointTensor", U8{4})
        .set("OutputZeroPointTensor", S8{-100});
    EXPECT_EQ(values_of<std::int8_t>(inputs.computed().outputs[0]), (S8{-101, -100, -97, -97}));
}

TEST(QuantizedLinearConvolution, EachChannelHasItsOwnParameters) {
    // Two groups with one channel each and two filters of one element. The input channels are 10 and 20.
    const auto descriptor =
        with(convolution(tensor(DataType::uint8, {1, 2, 1, 1}), tensor(DataType::int8, {4, 1, 1, 1}),
                         tensor(DataType::int8, {1, 4, 1, 1}), {.groups = 2}),
             {{"FilterScaleTensor", tensor(DataType::float32, {1, 4, 1, 1})},
              {"FilterZeroPointTensor", tensor(DataType::int8, {1, 4, 1, 1})},
              {"BiasTensor", tensor(DataType::int32, {1, 4, 1, 1})}});
    Inputs inputs(descriptor);
    inputs.set("InputTensor", U8{10, 20})
        .set("FilterTensor", S8{1, 2, 3, 4})
        .set("FilterZeroPointTensor", S8{0, 1, 5, 2})
        .set("FilterScaleTensor", F32{1, 2, 0.5f, 0.25f})
        .set("BiasTensor", S32{1, -1, 0, 100});
    // The results are (10 * 1 + 1), (10 * 1 - 1) * 2, (20 * -2) / 2 and (20 * 2 + 100) / 4.
    EXPECT_EQ(values_of<std::int8_t>(inputs.computed().outputs[0]), (S8{11, 18, -20, 35}));
}

/// One output element: the sum of `channels` products of `x` and `w`, with zero points, scaled down to fit.
std::uint8_t dot(std::uint32_t channels, std::uint8_t x, std::uint8_t x_zero, std::int8_t w, std::int8_t w_zero,
                 std::int32_t bias, float input_scale, std::uint8_t y_zero) {
    const auto descriptor =
        with(convolution(tensor(DataType::uint8, {1, channels, 1, 1}), tensor(DataType::int8, {1, channels, 1, 1}),
                         tensor(DataType::uint8, one), {}),
             {{"InputZeroPointTensor", tensor(DataType::uint8, one)},
              {"FilterZeroPointTensor", tensor(DataType::int8, one)},
              {"BiasTensor", tensor(DataType::int32, one)},
              {"OutputZeroPointTensor", tensor(DataType::uint8, one)}});
    Inputs inputs(descriptor);
    inputs.set("InputTensor", U8(channels, x))
        .set("InputZeroPointTensor", U8{x_zero})
        .set("FilterTensor", S8(channels, w))
        .set("FilterZeroPointTensor", S8{w_zero})
        .set("BiasTensor", S32{bias})
        .set("InputScaleTensor", F32{input_scale})
        .set("OutputZeroPointTensor", U8{y_zero});
    return values_of<std::uint8_t>(inputs.computed().outputs[0])[0];
}

/// 255 * 255 * 33025 is the largest sum of extremes that fits 31 bits. One more term or a bias overflows.
TEST(QuantizedLinearConvolution, TheAccumulatorIsExact) {
    constexpr float unit = 0x1p-24f;
    // 65025 * 33025 = 2147450625 = 127.998 * 2^24.
    EXPECT_EQ(dot(33025, 255, 0, 127, -128, 0, unit, 0), 128);
    EXPECT_EQ(dot(33025, 0, 255, 127, -128, 0, unit, 255), 255 - 128);
    EXPECT_EQ(dot(33025, 255, 0, -128, 127, 0, unit, 255), 255 - 128);
    // 65025 * 33026 = 2147515650 exceeds 2^31, where a 32-bit sum would be negative.
    EXPECT_EQ(dot(33026, 255, 0, 127, -128, 0, unit, 10), 138);
    EXPECT_EQ(dot(33026, 0, 255, 127, -128, 0, unit, 200), 72);
    // Twice as many terms: 256.01 * 2^24 / 2.
    EXPECT_EQ(dot(66052, 255, 0, 127, -128, 0, unit / 2, 0), 128);
    // The bias is added in 64 bits, too: (2^31 - 1 + 65025) / 2^24 = 128.004; -2^31 - 65025 likewise.
    EXPECT_EQ(dot(1, 255, 0, 127, -128, INT32_MAX, unit, 0), 128);
    EXPECT_EQ(dot(1, 0, 255, 127, -128, INT32_MIN, unit, 255), 127);
    EXPECT_EQ(dot(33025, 255, 0, 127, -128, INT32_MAX, unit, 0), 255);  // 255.998 saturates at 255, not 256
    EXPECT_EQ(dot(33025, 255, 0, 127, -128, INT32_MIN, unit, 7), 7);    // -0.002, before the zero point is added
}

/// Strides and paddings whose products exceed 32 bits. The input affects only the middle one of three outputs.
TEST(QuantizedLinearConvolution, ExtremeGeometry) {
    constexpr std::uint32_t most = 0xffffffff;
    const auto descriptor = convolution(tensor(DataType::uint8, {1, 1, 2, 2}), tensor(DataType::int8, {1, 1, 2, 2}),
                                        tensor(DataType::uint8, {1, 1, 3, 3}),
                                        {.strides = {most, most}, .start = {most, most}, .end = {most, most}});
    Inputs inputs(descriptor);
    inputs.set("InputTensor", U8{1, 2, 3, 4}).set("FilterTensor", S8{5, 6, 7, 8});
    EXPECT_EQ(values_of<std::uint8_t>(inputs.computed().outputs[0]), (U8{0, 0, 0, 0, 70, 0, 0, 0, 0}));

    // A dilation of 2^32 - 1. One of the two filter elements of the only window lies on the input, at offset 2^32 - 2
    // after the start of the padding.
    const auto dilated = convolution(tensor(DataType::uint8, {1, 1, 1, 2}), tensor(DataType::int8, {1, 1, 1, 2}),
                                     tensor(DataType::uint8, {1, 1, 1, 1}),
                                     {.dilations = {1, most}, .start = {0, most - 1}, .end = {0, 0}});
    Inputs few(dilated);
    few.set("InputTensor", U8{1, 2}).set("FilterTensor", S8{5, 6});
    EXPECT_EQ(values_of<std::uint8_t>(few.computed().outputs[0]), (U8{12}));
}

TEST(QuantizedLinearConvolution, ScalesWithoutMeaningDoNotBreak) {
    const auto descriptor =
        convolution(tensor(DataType::uint8, one), tensor(DataType::int8, one), tensor(DataType::uint8, one), {});
    for (const float scale : {0.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
        for (const char* field : {"InputScaleTensor", "OutputScaleTensor"}) {
            for (const std::uint8_t x : U8{0, 1}) {
                Inputs inputs(descriptor);
                inputs.set("InputTensor", U8{x}).set("FilterTensor", S8{-1}).set(field, F32{scale});
                EXPECT_EQ(inputs.computed().outputs.size(), 1u);
            }
        }
    }
}

/// A random convolution whose sizes and parameters are legal.
struct Problem {
    Descriptor descriptor;
    bool flat = false;

    static Problem make(Random& random);
};

TensorDesc parameter(Random& random, DataType type, std::size_t rank, std::uint32_t channels) {
    Dimensions sizes(rank, 1);
    if (channels > 1 && random.one_in(2)) {
        sizes[1] = channels;
    } else if (random.one_in(2)) {
        sizes.resize(random.pick<std::size_t>(1, rank));
    }
    return random.layout(type, sizes, FieldKind::input);
}

/// The sizes {N, C, H, W}, without H for three dimensions.
Dimensions shape(bool flat, std::uint32_t first, std::uint32_t second, std::uint32_t height, std::uint32_t width) {
    return flat ? Dimensions{first, second, width} : Dimensions{first, second, height, width};
}

Problem Problem::make(Random& random) {
    Problem problem;
    problem.flat = random.one_in(3);
    const bool flat = problem.flat;
    Spatial s;
    s.groups = random.pick(1u, 3u);
    const std::uint32_t batch = random.pick(1u, 2u);
    const std::uint32_t group_channels = random.pick(1u, 3u);
    const std::uint32_t filters = s.groups * random.pick(1u, 3u);
    std::vector<std::uint32_t> input(2, 1);
    std::vector<std::uint32_t> filter(2, 1);
    std::vector<std::uint32_t> output(2, 1);
    for (std::size_t i = flat ? 1 : 0; i < 2; ++i) {
        filter[i] = random.pick(1u, 3u);
        s.strides[i] = random.pick(1u, 3u);
        s.dilations[i] = random.pick(1u, 3u);
        s.start[i] = random.pick(0u, 4u);
        s.end[i] = random.pick(0u, 4u);
        const std::uint32_t reach = (filter[i] - 1) * s.dilations[i] + 1;
        const std::uint32_t padding = s.start[i] + s.end[i];
        input[i] = random.pick(reach > padding ? reach - padding : 1u, reach + 6);
        output[i] = (input[i] + padding - reach) / s.strides[i] + 1;
    }
    const auto type = [&] { return random.one_in(2) ? DataType::int8 : DataType::uint8; };
    const DataType x = type();
    const DataType w = type();
    const DataType y = type();
    const std::size_t rank = flat ? 3 : 4;
    problem.descriptor =
        with(convolution(
                 random.layout(x, shape(flat, batch, s.groups * group_channels, input[0], input[1]), FieldKind::input),
                 random.layout(w, shape(flat, filters, group_channels, filter[0], filter[1]), FieldKind::input),
                 random.layout(y, shape(flat, batch, filters, output[0], output[1]), FieldKind::output), s),
             {{"InputScaleTensor", parameter(random, DataType::float32, rank, 1)},
              {"FilterScaleTensor", parameter(random, DataType::float32, rank, filters)},
              {"OutputScaleTensor", parameter(random, DataType::float32, rank, 1)}});
    if (random.one_in(2)) {
        problem.descriptor = with(problem.descriptor, {{"InputZeroPointTensor", parameter(random, x, rank, 1)},
                                                       {"OutputZeroPointTensor", parameter(random, y, rank, 1)}});
    }
    if (random.one_in(2)) {
        problem.descriptor = with(problem.descriptor, {{"FilterZeroPointTensor", parameter(random, w, rank, filters)}});
    }
    if (random.one_in(2)) {
        Dimensions sizes(rank, 1);
        sizes[1] = filters;
        problem.descriptor =
            with(problem.descriptor, {{"BiasTensor", random.layout(DataType::int32, sizes, FieldKind::input)}});
    }
    return problem;
}

/// The elements of any 8-bit type as integers.
std::vector<std::int64_t> integers(const core::Tensor& tensor) {
    std::vector<std::int64_t> result;
    if (tensor.desc.data_type == DataType::int8) {
        const auto values = values_of<std::int8_t>(tensor);
        result.assign(values.begin(), values.end());
    } else if (tensor.desc.data_type == DataType::uint8) {
        const auto values = values_of<std::uint8_t>(tensor);
        result.assign(values.begin(), values.end());
    } else {
        const auto values = values_of<std::int32_t>(tensor);
        result.assign(values.begin(), values.end());
    }
    return result;
}

/// The value of a channel, from a single value for all channels or one per channel.
template <class T>
T at_channel(const std::vector<T>& values, std::size_t channel) {
    return values.size() == 1 ? values[0] : values[channel];
}

struct Expected {
    std::int64_t accumulator;
    double multiplier;
    std::int64_t zero_point;
};

/// The documented sum, one output element at a time, over coordinates in four dimensions.
std::vector<Expected> by_definition(const Problem& problem, const Inputs& inputs) {
    const Descriptor& d = problem.descriptor;
    const auto four = [&](std::string_view field) {
        Dimensions sizes = d.sizes(field);
        if (problem.flat) {
            sizes.insert(sizes.begin() + 2, 1);
        }
        return sizes;
    };
    const auto optional_integers = [&](std::string_view field) {
        const auto* tensor = inputs.find(field);
        return tensor == nullptr ? std::vector<std::int64_t>{0} : integers(*tensor);
    };
    const Dimensions input = four("InputTensor");
    const Dimensions filter = four("FilterTensor");
    const Dimensions output = four("OutputTensor");
    const auto x = integers(*inputs.find("InputTensor"));
    const auto w = integers(*inputs.find("FilterTensor"));
    const auto zx = optional_integers("InputZeroPointTensor");
    const auto zw = optional_integers("FilterZeroPointTensor");
    const auto zy = optional_integers("OutputZeroPointTensor");
    const auto bias = optional_integers("BiasTensor");
    const auto sx = values_of<float>(*inputs.find("InputScaleTensor"));
    const auto sw = values_of<float>(*inputs.find("FilterScaleTensor"));
    const auto sy = values_of<float>(*inputs.find("OutputScaleTensor"));
    const std::size_t filters_per_group = output[1] / d.uint("GroupCount");

    std::vector<Expected> result;
    for (std::size_t i = 0; i < count_of(output); ++i) {
        const auto at = coordinates_of(i, output);
        const std::size_t k = at[1];
        std::int64_t sum = at_channel(bias, k);
        for (std::size_t j = 0; j < count_of({1, filter[1], filter[2], filter[3]}); ++j) {
            const auto tap = coordinates_of(j, {1, filter[1], filter[2], filter[3]});
            std::vector<std::size_t> from{at[0], k / filters_per_group * filter[1] + tap[1], 0, 0};
            bool padding = false;
            for (std::size_t s = 0; s < 2; ++s) {
                const std::int64_t position = static_cast<std::int64_t>(at[2 + s]) * d.uints("Strides")[s] +
                                              static_cast<std::int64_t>(tap[2 + s]) * d.uints("Dilations")[s] -
                                              d.uints("StartPadding")[s];
                padding = padding || position < 0 || position >= input[2 + s];
                from[2 + s] = static_cast<std::size_t>(position);
            }
            if (!padding) {
                sum += (x[index_of(from, input)] - zx[0]) *
                       (w[index_of({k, tap[1], tap[2], tap[3]}, filter)] - at_channel(zw, k));
            }
        }
        result.push_back({sum, double{sx[0]} * double{at_channel(sw, k)} / double{sy[0]}, zy[0]});
    }
    return result;
}

core::Tensor random_input(Random& random, const TensorDesc& desc, bool exact_scales) {
    switch (desc.data_type) {
        case DataType::float32:
            // Powers of two make exact ties common.
            return random.filled<float>(desc, [&] {
                return exact_scales ? std::exp2(static_cast<float>(random.pick(-1, 0))) : random.uniform(0.05f, 0.5f);
            });
        case DataType::int32:
            return random.filled<std::int32_t>(desc, [&] { return random.pick(-5000, 5000); });
        default:
            return random.filled<std::uint8_t>(desc, [&] { return static_cast<std::uint8_t>(random.bits()); });
    }
}

TEST(QuantizedLinearConvolution, RandomConvolutions) {
    Random random(61);
    int unsaturated = 0;
    int ties = 0;
    for (int i = 0; i < 500; ++i) {
        const Problem problem = Problem::make(random);
        SCOPED_TRACE(::testing::PrintToString(to_lines(problem.descriptor)));
        Inputs inputs(problem.descriptor);
        const bool exact_scales = random.one_in(2);
        for (const auto& slot : problem.descriptor.inputs()) {
            if (slot.desc != nullptr) {
                inputs.set(slot.name, random_input(random, *slot.desc, exact_scales));
            }
        }
        // Scales sums of tens of thousands into the output's range.
        inputs.set("OutputScaleTensor", random.filled<float>(*problem.descriptor.tensor("OutputScaleTensor"), [&] {
            return exact_scales ? std::exp2(static_cast<float>(random.pick(3, 8))) : random.uniform(20, 200);
        }));
        const auto reference = inputs.computed();
        const auto actual = integers(reference.outputs[0]);
        const auto expected = by_definition(problem, inputs);
        ASSERT_EQ(actual.size(), expected.size());
        const bool is_signed = reference.outputs[0].desc.data_type == DataType::int8;
        const std::int64_t low = is_signed ? -128 : 0;
        const std::int64_t high = is_signed ? 127 : 255;
        for (std::size_t j = 0; j < expected.size(); ++j) {
            const auto& [accumulator, multiplier, zero_point] = expected[j];
            const double real = static_cast<double>(accumulator) * multiplier;
            const auto value = std::clamp(static_cast<std::int64_t>(std::nearbyint(real)) + zero_point, low, high);
            ASSERT_EQ(actual[j], value) << accumulator << " * " << multiplier << " + " << zero_point;
            unsaturated += value != low && value != high ? 1 : 0;
            ties += real - std::floor(real) == 0.5 ? 1 : 0;
            const auto slack = cpu::requantise(accumulator, multiplier, static_cast<std::int32_t>(zero_point),
                                               static_cast<std::int32_t>(low), static_cast<std::int32_t>(high));
            ASSERT_EQ(reference.slack[0].below[j], slack.below);
            ASSERT_EQ(reference.slack[0].above[j], slack.above);
        }
    }
    EXPECT_GT(unsaturated, 1000);
    EXPECT_GT(ties, 50);
}

/// Many rows on several threads. Each row is a shifted copy of one input, so the expected results follow from a small
/// convolution.
TEST(QuantizedLinearConvolution, LargeTensors) {
    Random random(62);
    const auto filter = tensor(DataType::int8, {4, 3, 3, 3});
    const auto weights = random.filled<std::int8_t>(filter, [&] { return random.pick<std::int8_t>(-3, 3); });
    constexpr std::uint32_t batch = 64;
    const auto output_of = [](std::uint32_t n) { return tensor(DataType::int8, {n, 4, 30, 30}); };
    const auto input_of = [](std::uint32_t n) { return tensor(DataType::uint8, {n, 3, 32, 32}); };
    const auto all = convolution(input_of(batch), filter, output_of(batch), {});
    const auto images = random.filled<std::uint8_t>(input_of(batch), [&] { return random.pick<std::uint8_t>(0, 7); });
    Inputs inputs(all);
    inputs.set("InputTensor", tensor_of(images.desc, values_of<std::uint8_t>(images)));
    inputs.set("FilterTensor", values_of<std::int8_t>(weights));
    const auto together = values_of<std::int8_t>(inputs.computed().outputs[0]);

    Problem single;
    single.descriptor = convolution(input_of(1), filter, output_of(1), {});
    for (const std::size_t n : {0u, 1u, 31u, 32u, 63u}) {
        const auto* first = std::as_const(images).as<std::uint8_t>().data() + n * 3 * 32 * 32;
        Inputs image(single.descriptor);
        image.set("InputTensor", U8(first, first + 3 * 32 * 32)).set("FilterTensor", values_of<std::int8_t>(weights));
        const auto expected = by_definition(single, image);
        for (std::size_t i = 0; i < expected.size(); ++i) {
            ASSERT_EQ(together[n * expected.size() + i], std::clamp<std::int64_t>(expected[i].accumulator, -128, 127))
                << "image " << n << ", element " << i;
        }
    }
}

}  // namespace
}  // namespace dmlconform::tests::quantized_linear_convolution_test
