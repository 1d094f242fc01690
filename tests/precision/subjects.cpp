// The operators of the test engine, following DirectML's documentation: packed tensors, no padding, the formula only.
#include <algorithm>

#include "engine/operators/rules/reduction.h"
#include "tests/descriptor_builder.h"
#include "tests/precision/trial.h"

namespace dmlconform::precision {
namespace {

using operators::ReduceFunction;
using std::size_t;
using tests::describe;
using tests::plain_convolution;
using tests::tensor;

core::TensorDesc tensor_of(const Shape& shape, std::initializer_list<size_t> sizes) {
    core::Dimensions dimensions;
    for (const size_t size : sizes) {
        dimensions.push_back(static_cast<std::uint32_t>(size));
    }
    return tensor(shape.half ? core::DataType::float16 : core::DataType::float32, dimensions);
}

size_t side_of(size_t elements) {
    return static_cast<size_t>(std::ceil(std::sqrt(static_cast<double>(elements))));
}

/// The number of rows of length `row` that have at least `elements` elements together.
size_t rows_of(size_t elements, size_t row) {
    return std::max<size_t>(1, (elements + row - 1) / row);
}

std::vector<float> magnitudes(std::vector<float> numbers) {
    for (float& x : numbers) {
        x = std::fabs(x);
    }
    return numbers;
}

// ---- products ----------------------------------------------------------------------------------------------------

struct Gemm {
    static Trial make(Draw& draw, const Shape& shape) {
        const size_t n = side_of(shape.elements);
        const size_t k = shape.terms;
        return {.descriptor = describe("GEMM", {{"ATensor", tensor_of(shape, {1, 1, n, k})},
                                                {"BTensor", tensor_of(shape, {1, 1, k, n})},
                                                {"OutputTensor", tensor_of(shape, {1, 1, n, n})},
                                                {"Alpha", 1}}),
                .inputs = {draw.numbers(n * k, shape), draw.numbers(k * n, shape), {}},
                .rows = n,
                .columns = n,
                .terms = k};
    }
    template <class Format>
    static Outputs compute(const Trial& trial, const Machine<Format>& machine) {
        std::vector<float> output;
        for (size_t i = 0; i < trial.rows; ++i) {
            for (size_t j = 0; j < trial.columns; ++j) {
                const float* const a = &trial.inputs[0][i * trial.terms];
                const float* const b = &trial.inputs[1][j];
                output.push_back(machine.sum(trial.terms, [&](size_t k) { return Term{a[k], b[k * trial.columns]}; }));
            }
        }
        return {output};
    }
};

/// A 3 by 3 convolution whose outputs are 4 by 4.
struct Convolution {
    static constexpr size_t filter = 3;
    static constexpr size_t side = 4;
    static constexpr size_t image = side + filter - 1;

    static Trial make(Draw& draw, const Shape& shape) {
        const size_t channels = std::max<size_t>(1, shape.terms / (filter * filter));
        const size_t filters = rows_of(shape.elements, side * side);
        return {.descriptor = plain_convolution(tensor_of(shape, {1, channels, image, image}),
                                                tensor_of(shape, {filters, channels, filter, filter}),
                                                tensor_of(shape, {1, filters, side, side})),
                .inputs = {draw.numbers(channels * image * image, shape),
                           draw.numbers(filters * channels * filter * filter, shape),
                           {}},
                .rows = filters,
                .columns = side * side,
                .terms = channels * filter * filter};
    }
    template <class Format>
    static Outputs compute(const Trial& trial, const Machine<Format>& machine) {
        std::vector<float> output;
        for (size_t i = 0; i < trial.rows; ++i) {
            for (size_t j = 0; j < trial.columns; ++j) {
                const float* const weights = &trial.inputs[1][i * trial.terms];
                const float* const window = &trial.inputs[0][j / side * image + j % side];
                output.push_back(machine.sum(trial.terms, [&](size_t k) {
                    const size_t channel = k / (filter * filter);
                    const size_t row = k / filter % filter;
                    return Term{window[(channel * image + row) * image + k % filter], weights[k]};
                }));
            }
        }
        return {output};
    }
};

// ---- rows of terms -----------------------------------------------------------------------------------------------

/// Reduces each row to one number.
template <ReduceFunction function>
struct Reduce {
    static Trial make(Draw& draw, const Shape& shape) {
        const size_t rows = shape.elements;
        std::vector<float> numbers = draw.numbers(rows * shape.terms, shape);
        return {.descriptor = describe("REDUCE", {{"Function", static_cast<std::uint32_t>(function)},
                                                  {"InputTensor", tensor_of(shape, {1, 1, rows, shape.terms})},
                                                  {"OutputTensor", tensor_of(shape, {1, 1, rows, 1})},
                                                  {"Axes", {3}}}),
                .inputs = {function == ReduceFunction::log_sum ? magnitudes(std::move(numbers)) : std::move(numbers)},
                .rows = rows,
                .terms = shape.terms};
    }
    template <class Format>
    static Outputs compute(const Trial& trial, const Machine<Format>& machine) {
        std::vector<float> output;
        for (size_t i = 0; i < trial.rows; ++i) {
            output.push_back(of_row({&trial.inputs[0][i * trial.terms], trial.terms}, machine));
        }
        return {output};
    }

private:
    template <class Format>
    static float of_row(std::span<const float> x, const Machine<Format>& machine) {
        using enum ReduceFunction;
        if constexpr (function == l1) {
            return machine.sum(x.size(), [&](size_t k) { return Term{std::fabs(x[k])}; });
        } else if constexpr (function == l2 || function == sum_square) {
            const float squares = machine.sum(x.size(), [&](size_t k) { return Term{x[k], x[k]}; });
            return function == l2 ? machine.root(squares) : squares;
        } else if constexpr (function == log_sum_exp) {
            const float greatest = *std::ranges::max_element(x);
            const float total = machine.sum(
                x.size(), [&](size_t k) { return Term{machine.exponential(machine.add(x[k], -greatest))}; });
            return machine.add(greatest, machine.logarithm(total));
        } else {
            const float total = machine.sum(x.size(), [&](size_t k) { return Term{x[k]}; });
            return function == average   ? machine.divide(total, static_cast<float>(x.size()))
                   : function == log_sum ? machine.logarithm(total)
                                         : total;
        }
    }
};

struct CumulativeSummation {
    static Trial make(Draw& draw, const Shape& shape) {
        const size_t rows = rows_of(shape.elements, shape.terms);
        const auto desc = tensor_of(shape, {1, 1, rows, shape.terms});
        return {.descriptor =
                    describe("CUMULATIVE_SUMMATION", {{"InputTensor", desc}, {"OutputTensor", desc}, {"Axis", 3}}),
                .inputs = {draw.numbers(rows * shape.terms, shape)},
                .rows = rows,
                .terms = shape.terms};
    }
    template <class Format>
    static Outputs compute(const Trial& trial, const Machine<Format>& machine) {
        std::vector<float> output;
        for (size_t i = 0; i < trial.rows; ++i) {
            const float* const row = &trial.inputs[0][i * trial.terms];
            // Computes each sum from the first term, although prefix sums in any order would be correct as well.
            for (size_t end = 1; end <= trial.terms; ++end) {
                output.push_back(machine.sum(end, [&](size_t k) { return Term{row[k]}; }));
            }
        }
        return {output};
    }
};

/// An operator that maps each row to a row.
template <class Row>
struct Rows {
    static Trial make(Draw& draw, const Shape& shape) {
        const size_t rows = rows_of(shape.elements, shape.terms);
        return {.descriptor = Row::descriptor(tensor_of(shape, {1, 1, rows, shape.terms})),
                .inputs = Row::inputs(draw.numbers(rows * shape.terms, shape)),
                .rows = rows,
                .terms = shape.terms};
    }
    template <class Format>
    static Outputs compute(const Trial& trial, const Machine<Format>& machine) {
        std::vector<float> output = trial.inputs[0];
        for (size_t i = 0; i < trial.rows; ++i) {
            Row::compute(std::span(output).subspan(i * trial.terms, trial.terms), machine);
        }
        return {output};
    }
};

template <int p>
struct LpNormalization {
    static operators::Descriptor descriptor(const core::TensorDesc& desc) {
        return describe("LP_NORMALIZATION",
                        {{"InputTensor", desc}, {"OutputTensor", desc}, {"Axis", 3}, {"Epsilon", 1e-6}, {"P", p}});
    }
    static std::vector<std::vector<float>> inputs(std::vector<float> x) { return {std::move(x)}; }

    template <class Format>
    static void compute(std::span<float> x, const Machine<Format>& machine) {
        const float sum = machine.sum(x.size(), [&](size_t k) {
            return p == 1 ? Term{std::fabs(x[k])} : Term{x[k], x[k]};
        });
        const float square = p == 1 ? machine.multiply(sum, sum) : sum;
        const float norm = machine.root(machine.add(square, 1e-6f));
        for (float& number : x) {
            number = machine.divide(number, norm);
        }
    }
};

template <bool logarithmic>
struct Softmax {
    static operators::Descriptor descriptor(const core::TensorDesc& desc) {
        return describe(logarithmic ? "ACTIVATION_LOG_SOFTMAX1" : "ACTIVATION_SOFTMAX1",
                        {{"InputTensor", desc}, {"OutputTensor", desc}, {"Axes", {3}}});
    }
    static std::vector<std::vector<float>> inputs(std::vector<float> x) { return {std::move(x)}; }

    template <class Format>
    static void compute(std::span<float> x, const Machine<Format>& machine) {
        const float greatest = *std::ranges::max_element(x);
        for (float& number : x) {
            number = machine.add(number, -greatest);
        }
        const float total = machine.sum(x.size(), [&](size_t k) { return Term{machine.exponential(x[k])}; });
        for (float& number : x) {
            number = logarithmic ? machine.add(number, -machine.logarithm(total))
                                 : machine.divide(machine.exponential(number), total);
        }
    }
};

struct MeanVariance {
    static operators::Descriptor descriptor(const core::TensorDesc& desc) {
        return describe("MEAN_VARIANCE_NORMALIZATION1", {{"InputTensor", desc},
                                                         {"OutputTensor", desc},
                                                         {"Axes", {3}},
                                                         {"NormalizeVariance", 1},
                                                         {"Epsilon", 1e-5}});
    }
    static std::vector<std::vector<float>> inputs(std::vector<float> x) { return {std::move(x), {}, {}}; }

    template <class Format>
    static void compute(std::span<float> x, const Machine<Format>& machine) {
        const auto n = static_cast<float>(x.size());
        const float mean = machine.divide(machine.sum(x.size(), [&](size_t k) { return Term{x[k]}; }), n);
        for (float& number : x) {
            number = machine.add(number, -mean);
        }
        const float variance = machine.divide(machine.sum(x.size(), [&](size_t k) { return Term{x[k], x[k]}; }), n);
        const float reciprocal = machine.divide(1, machine.root(machine.add(variance, 1e-5f)));
        for (float& number : x) {
            number = machine.multiply(number, reciprocal);
        }
    }
};

// ---- windows -----------------------------------------------------------------------------------------------------

/// Adjacent windows, one for each output element.
struct AveragePooling {
    static Trial make(Draw& draw, const Shape& shape) {
        const auto width = static_cast<std::int64_t>(shape.terms);
        return {.descriptor =
                    describe("AVERAGE_POOLING", {{"InputTensor", tensor_of(shape, {1, shape.elements, 1, shape.terms})},
                                                 {"OutputTensor", tensor_of(shape, {1, shape.elements, 1, 1})},
                                                 {"Strides", {1, width}},
                                                 {"WindowSize", {1, width}},
                                                 {"StartPadding", {0, 0}},
                                                 {"EndPadding", {0, 0}}}),
                .inputs = {draw.numbers(shape.elements * shape.terms, shape)},
                .rows = shape.elements,
                .terms = shape.terms};
    }
    template <class Format>
    static Outputs compute(const Trial& trial, const Machine<Format>& machine) {
        return Reduce<ReduceFunction::average>::compute(trial, machine);
    }
};

struct LpPooling {
    static Trial make(Draw& draw, const Shape& shape) {
        const auto width = static_cast<std::int64_t>(shape.terms);
        return {.descriptor =
                    describe("LP_POOLING", {{"InputTensor", tensor_of(shape, {1, shape.elements, 1, shape.terms})},
                                            {"OutputTensor", tensor_of(shape, {1, shape.elements, 1, 1})},
                                            {"Strides", {1, width}},
                                            {"WindowSize", {1, width}},
                                            {"StartPadding", {0, 0}},
                                            {"EndPadding", {0, 0}},
                                            {"P", 2}}),
                .inputs = {draw.numbers(shape.elements * shape.terms, shape)},
                .rows = shape.elements,
                .terms = shape.terms};
    }
    template <class Format>
    static Outputs compute(const Trial& trial, const Machine<Format>& machine) {
        return Reduce<ReduceFunction::l2>::compute(trial, machine);
    }
};

/// Each element is a sum over the windows that contain it. All windows have the same size.
struct AveragePoolingGrad {
    static Trial make(Draw& draw, const Shape& shape) {
        const auto width = static_cast<std::int64_t>(shape.terms);
        const size_t windows = shape.terms;
        const size_t length = windows + shape.terms - 1;
        const size_t rows = rows_of(shape.elements, length);
        return {.descriptor =
                    describe("AVERAGE_POOLING_GRAD", {{"InputGradientTensor", tensor_of(shape, {1, rows, 1, windows})},
                                                      {"OutputGradientTensor", tensor_of(shape, {1, rows, 1, length})},
                                                      {"Strides", {1, 1}},
                                                      {"WindowSize", {1, width}},
                                                      {"StartPadding", {0, 0}},
                                                      {"EndPadding", {0, 0}}}),
                .inputs = {draw.numbers(rows * windows, shape)},
                .rows = rows,
                .columns = length,
                .terms = shape.terms};
    }
    template <class Format>
    static Outputs compute(const Trial& trial, const Machine<Format>& machine) {
        const auto width = static_cast<float>(trial.terms);
        std::vector<float> output;
        for (size_t i = 0; i < trial.rows; ++i) {
            const float* const row = &trial.inputs[0][i * trial.terms];
            for (size_t j = 0; j < trial.columns; ++j) {
                const size_t first = j + 1 < trial.terms ? 0 : j + 1 - trial.terms;
                const size_t last = std::min(j + 1, trial.terms);
                output.push_back(
                    machine.sum(last - first, [&](size_t k) { return Term{machine.divide(row[first + k], width)}; }));
            }
        }
        return {output};
    }
};

/// Local response normalisation across channels.
struct LocalResponse {
    static constexpr float alpha = 1;
    static constexpr float beta = 0.75f;
    static constexpr float bias = 1;

    static Trial make(Draw& draw, const Shape& shape) {
        const size_t local = shape.terms | 1;
        const size_t channels = 2 * local;
        const size_t width = rows_of(shape.elements, channels);
        const auto desc = tensor_of(shape, {1, channels, 1, width});
        return {.descriptor = describe("LOCAL_RESPONSE_NORMALIZATION", {{"InputTensor", desc},
                                                                        {"OutputTensor", desc},
                                                                        {"CrossChannel", 1},
                                                                        {"LocalSize", local},
                                                                        {"Alpha", alpha},
                                                                        {"Beta", beta},
                                                                        {"Bias", bias}}),
                .inputs = {draw.numbers(channels * width, shape)},
                .rows = channels,
                .columns = width,
                .terms = local};
    }
    template <class Format>
    static Outputs compute(const Trial& trial, const Machine<Format>& machine) {
        const std::vector<float>& x = trial.inputs[0];
        const size_t half = trial.terms / 2;
        std::vector<float> output(x.size());
        for (size_t channel = 0; channel < trial.rows; ++channel) {
            for (size_t j = 0; j < trial.columns; ++j) {
                const size_t first = channel < half ? 0 : channel - half;
                const size_t last = std::min(channel + half + 1, trial.rows);
                const float squares = machine.sum(last - first, [&](size_t k) {
                    const float number = x[(first + k) * trial.columns + j];
                    return Term{number, number};
                });
                const float share = machine.multiply(alpha / static_cast<float>(trial.terms), squares);
                const float power = std::pow(machine.add(bias, share), beta);
                const size_t i = channel * trial.columns + j;
                output[i] = machine.divide(x[i], power);
            }
        }
        return {output};
    }
};

/// Each element has one gradient of its own, and one from each element whose region contains it.
struct LocalResponseGrad {
    static Trial make(Draw& draw, const Shape& shape) {
        Trial trial = LocalResponse::make(draw, shape);
        const core::TensorDesc desc = *trial.descriptor.tensor("InputTensor");
        trial.descriptor = describe("LOCAL_RESPONSE_NORMALIZATION_GRAD", {{"InputTensor", desc},
                                                                          {"InputGradientTensor", desc},
                                                                          {"OutputGradientTensor", desc},
                                                                          {"CrossChannel", 1},
                                                                          {"LocalSize", trial.terms},
                                                                          {"Alpha", LocalResponse::alpha},
                                                                          {"Beta", LocalResponse::beta},
                                                                          {"Bias", LocalResponse::bias}});
        trial.inputs.push_back(draw.numbers(trial.inputs[0].size(), shape));
        return trial;
    }
    template <class Format>
    static Outputs compute(const Trial& trial, const Machine<Format>& machine) {
        const std::vector<float>& x = trial.inputs[0];
        const std::vector<float>& dy = trial.inputs[1];
        const float share = LocalResponse::alpha / static_cast<float>(trial.terms);
        std::vector<float> own(x.size());
        std::vector<float> terms(x.size());
        over_regions(trial, [&](size_t i, size_t count, const auto& at) {
            const float squares = machine.sum(count, [&](size_t k) { return Term{x[at(k)], x[at(k)]}; });
            const float base = machine.add(LocalResponse::bias, machine.multiply(share, squares));
            own[i] = machine.divide(dy[i], std::pow(base, LocalResponse::beta));
            terms[i] = machine.divide(machine.multiply(own[i], x[i]), base);
        });
        std::vector<float> output(x.size());
        over_regions(trial, [&](size_t i, size_t count, const auto& at) {
            const float sum = machine.sum(count, [&](size_t k) { return Term{terms[at(k)]}; });
            const float factor = machine.multiply(2 * share * LocalResponse::beta, x[i]);
            output[i] = machine.add(own[i], -machine.multiply(factor, sum));
        });
        return {output};
    }

private:
    /// Calls visit(element, size of its region, function from k to the offset of the region's k-th element).
    template <class Visit>
    static void over_regions(const Trial& trial, const Visit& visit) {
        const size_t half = trial.terms / 2;
        for (size_t i = 0; i < trial.rows * trial.columns; ++i) {
            const size_t channel = i / trial.columns;
            const size_t first = channel < half ? 0 : channel - half;
            const size_t last = std::min(channel + half + 1, trial.rows);
            visit(i, last - first, [&](size_t k) { return (first + k) * trial.columns + i % trial.columns; });
        }
    }
};

/// Interpolates between two elements, along one dimension.
struct Resample {
    static constexpr float scale = 2.5f;

    static Trial make(Draw& draw, const Shape& shape) {
        const size_t from = 64;
        const size_t to = 160;
        const size_t rows = rows_of(shape.elements, to);
        Trial trial{.descriptor = describe("RESAMPLE2", {{"InputTensor", tensor_of(shape, {1, 1, rows, from})},
                                                         {"OutputTensor", tensor_of(shape, {1, 1, rows, to})},
                                                         {"InterpolationMode", 1}}),
                    .inputs = {draw.numbers(rows * from, shape)},
                    .rows = rows,
                    .columns = to,
                    .terms = from};
        trial.descriptor = tests::with(std::move(trial.descriptor),
                                       {{"Scales", std::vector<float>{1, 1, 1, scale}},
                                        {"InputPixelOffsets", std::vector<float>{0.5f, 0.5f, 0.5f, 0.5f}},
                                        {"OutputPixelOffsets", std::vector<float>{-0.5f, -0.5f, -0.5f, -0.5f}}});
        return trial;
    }
    template <class Format>
    static Outputs compute(const Trial& trial, const Machine<Format>& machine) {
        std::vector<float> output;
        for (size_t i = 0; i < trial.rows * trial.columns; ++i) {
            const float* const row = &trial.inputs[0][i / trial.columns * trial.terms];
            const float position = (static_cast<float>(i % trial.columns) + 0.5f) / scale - 0.5f;
            const float inside = std::clamp(position, 0.0f, static_cast<float>(trial.terms - 1));
            const auto first = std::min(static_cast<size_t>(inside), trial.terms - 2);
            const float way = inside - static_cast<float>(first);
            output.push_back(machine.sum(2, [&](size_t k) { return Term{row[first + k], k == 0 ? 1 - way : way}; }));
        }
        return {output};
    }
};

// ---- batches -----------------------------------------------------------------------------------------------------

/// Channels of a batch, with scale and bias. The outputs are the normalised batch, means and variances.
struct BatchNormalizationTraining {
    static Trial make(Draw& draw, const Shape& shape) {
        const size_t channels = rows_of(shape.elements, shape.terms);
        const auto batch = tensor_of(shape, {shape.terms, channels, 1, 1});
        const auto one_each = tensor_of(shape, {1, channels, 1, 1});
        return {.descriptor = describe("BATCH_NORMALIZATION_TRAINING", {{"InputTensor", batch},
                                                                        {"ScaleTensor", one_each},
                                                                        {"BiasTensor", one_each},
                                                                        {"OutputTensor", batch},
                                                                        {"OutputMeanTensor", one_each},
                                                                        {"OutputVarianceTensor", one_each},
                                                                        {"Epsilon", 1e-5}}),
                .inputs = {draw.numbers(shape.terms * channels, shape),
                           draw.numbers(channels, shape),
                           draw.numbers(channels, shape),
                           {}},
                .columns = channels,
                .terms = shape.terms};
    }
    template <class Format>
    static Outputs compute(const Trial& trial, const Machine<Format>& machine) {
        const auto n = static_cast<float>(trial.terms);
        Outputs outputs{trial.inputs[0], {}, {}};
        for (size_t channel = 0; channel < trial.columns; ++channel) {
            const auto at = [&](size_t k) -> float& { return outputs[0][k * trial.columns + channel]; };
            const float mean = machine.divide(machine.sum(trial.terms, [&](size_t k) { return Term{at(k)}; }), n);
            for (size_t k = 0; k < trial.terms; ++k) {
                at(k) = machine.add(at(k), -mean);
            }
            const float squares = machine.sum(trial.terms, [&](size_t k) { return Term{at(k), at(k)}; });
            const float variance = machine.divide(squares, n);
            const float reciprocal = machine.divide(1, machine.root(machine.add(variance, 1e-5f)));
            const float gain = machine.multiply(trial.inputs[1][channel], reciprocal);
            for (size_t k = 0; k < trial.terms; ++k) {
                at(k) = machine.add(machine.multiply(at(k), gain), trial.inputs[2][channel]);
            }
            outputs[1].push_back(mean);
            outputs[2].push_back(variance);
        }
        return outputs;
    }
};

/// Gradients of the batch, of scales and of biases. Mean and variance are given.
struct BatchNormalizationTrainingGrad {
    static Trial make(Draw& draw, const Shape& shape) {
        const size_t channels = rows_of(shape.elements, shape.terms);
        const auto batch = tensor_of(shape, {shape.terms, channels, 1, 1});
        const auto one_each = tensor_of(shape, {1, channels, 1, 1});
        Trial trial{
            .descriptor = describe("BATCH_NORMALIZATION_TRAINING_GRAD", {{"InputTensor", batch},
                                                                         {"InputGradientTensor", batch},
                                                                         {"MeanTensor", one_each},
                                                                         {"VarianceTensor", one_each},
                                                                         {"ScaleTensor", one_each},
                                                                         {"OutputGradientTensor", batch},
                                                                         {"OutputScaleGradientTensor", one_each},
                                                                         {"OutputBiasGradientTensor", one_each},
                                                                         {"Epsilon", 1e-5}}),
            .inputs = {draw.numbers(shape.terms * channels, shape),
                       draw.numbers(shape.terms * channels, shape),
                       draw.numbers(channels, shape),
                       {},
                       draw.numbers(channels, shape)},
            .columns = channels,
            .terms = shape.terms};
        for (size_t channel = 0; channel < channels; ++channel) {
            const float variance = 0.5f + static_cast<float>(draw.pick(0, 64)) / 64;
            trial.inputs[3].push_back(variance);
        }
        return trial;
    }
    template <class Format>
    static Outputs compute(const Trial& trial, const Machine<Format>& machine) {
        const auto n = static_cast<float>(trial.terms);
        Outputs outputs{trial.inputs[1], {}, {}};
        for (size_t channel = 0; channel < trial.columns; ++channel) {
            const auto at = [&](size_t k) { return k * trial.columns + channel; };
            const auto centred = [&](size_t k) {
                return machine.add(trial.inputs[0][at(k)], -trial.inputs[2][channel]);
            };
            std::vector<float>& dy = outputs[0];
            const float sum = machine.sum(trial.terms, [&](size_t k) { return Term{dy[at(k)]}; });
            const float product = machine.sum(trial.terms, [&](size_t k) { return Term{dy[at(k)], centred(k)}; });
            const float variance = machine.add(trial.inputs[3][channel], 1e-5f);
            const float reciprocal = machine.divide(1, machine.root(variance));
            const float mean = machine.divide(sum, n);
            const float slope = machine.divide(machine.divide(product, n), variance);
            const float gain = machine.multiply(trial.inputs[4][channel], reciprocal);
            for (size_t k = 0; k < trial.terms; ++k) {
                const float through_variance = machine.multiply(centred(k), slope);
                dy[at(k)] = machine.multiply(gain, machine.add(machine.add(dy[at(k)], -mean), -through_variance));
            }
            outputs[1].push_back(machine.multiply(product, reciprocal));
            outputs[2].push_back(sum);
        }
        return outputs;
    }
};

// ---- chains ------------------------------------------------------------------------------------------------------

/// Three steps of tanh(W x + R h). Layer 0 is W x, layer 1 is R h.
struct Rnn {
    static constexpr size_t steps = 3;

    static Trial make(Draw& draw, const Shape& shape) {
        const size_t hidden = std::min<size_t>(shape.terms, 64);
        const size_t batches = rows_of(shape.elements, steps * hidden);
        Trial trial{
            .descriptor = describe("RNN", {{"InputTensor", tensor_of(shape, {1, steps, batches, shape.terms})},
                                           {"WeightTensor", tensor_of(shape, {1, 1, hidden, shape.terms})},
                                           {"RecurrenceTensor", tensor_of(shape, {1, 1, hidden, hidden})},
                                           {"OutputSequenceTensor", tensor_of(shape, {steps, 1, batches, hidden})}}),
            .inputs = {draw.numbers(steps * batches * shape.terms, shape),
                       draw.numbers(hidden * shape.terms, shape),
                       draw.numbers(hidden * hidden, shape),
                       {},
                       {},
                       {}},
            .rows = batches,
            .columns = hidden,
            .terms = shape.terms};
        operators::OperatorDescArray activations;
        activations.items.push_back(tests::activation("ACTIVATION_TANH"));
        trial.descriptor = tests::with(std::move(trial.descriptor), {{"ActivationDescs", activations}});
        // Scales weights so that not all states are 1 or -1.
        for (const size_t i : {size_t{1}, size_t{2}}) {
            const float fan_in = static_cast<float>(i == 1 ? shape.terms : hidden);
            for (float& x : trial.inputs[i]) {
                x = shape.half ? rounded_to_fp16(x / std::sqrt(fan_in)) : x / std::sqrt(fan_in);
            }
        }
        return trial;
    }
    template <class Format>
    static Outputs compute(const Trial& trial, const Machine<Format>& machine) {
        const Machine<Format> by_weight = machine.in_layer(0);
        const Machine<Format> by_recurrence = machine.in_layer(1);
        const size_t states = trial.rows * trial.columns;
        std::vector<float> output;
        for (size_t step = 0; step < steps; ++step) {
            for (size_t i = 0; i < states; ++i) {
                const size_t batch = i / trial.columns;
                const float* const x = &trial.inputs[0][(step * trial.rows + batch) * trial.terms];
                const float* const w = &trial.inputs[1][i % trial.columns * trial.terms];
                float sum = by_weight.sum(trial.terms, [&](size_t k) { return Term{x[k], w[k]}; });
                if (step > 0) {
                    const float* const h = &output[(step - 1) * states + batch * trial.columns];
                    const float* const r = &trial.inputs[2][i % trial.columns * trial.columns];
                    sum = machine.add(sum, by_recurrence.sum(trial.columns, [&](size_t k) {
                        return Term{h[k], r[k]};
                    }));
                }
                output.push_back(std::tanh(sum));
            }
        }
        return {output};
    }
};

/// One head: layer 0 is queries by keys, layer 1 is weights by values.
struct Attention {
    static Trial make(Draw& draw, const Shape& shape) {
        const size_t width = std::clamp<size_t>(shape.terms, 16, 64);
        const size_t queries = rows_of(shape.elements, width);
        const auto keys = tensor_of(shape, {1, shape.terms, width});
        return {.descriptor = describe("MULTIHEAD_ATTENTION", {{"QueryTensor", tensor_of(shape, {1, queries, width})},
                                                               {"KeyTensor", keys},
                                                               {"ValueTensor", keys},
                                                               {"OutputTensor", tensor_of(shape, {1, queries, width})},
                                                               {"Scale", scale_of(width)},
                                                               {"MaskFilterValue", -10000},
                                                               {"HeadCount", 1}}),
                .inputs = {draw.numbers(queries * width, shape),
                           draw.numbers(shape.terms * width, shape),
                           draw.numbers(shape.terms * width, shape),
                           {},
                           {},
                           {},
                           {},
                           {},
                           {},
                           {},
                           {}},
                .rows = queries,
                .columns = width,
                .terms = shape.terms};
    }
    template <class Format>
    static Outputs compute(const Trial& trial, const Machine<Format>& machine) {
        const Machine<Format> scores_of = machine.in_layer(0);
        const Machine<Format> values_of = machine.in_layer(1);
        std::vector<float> output;
        std::vector<float> shares(trial.terms);
        for (size_t i = 0; i < trial.rows; ++i) {
            const float* const query = &trial.inputs[0][i * trial.columns];
            for (size_t k = 0; k < trial.terms; ++k) {
                const float* const key = &trial.inputs[1][k * trial.columns];
                const float score = scores_of.sum(trial.columns, [&](size_t c) { return Term{query[c], key[c]}; });
                shares[k] = machine.multiply(score, scale_of(trial.columns));
            }
            softmax(shares, machine.in_layer(2));
            for (size_t c = 0; c < trial.columns; ++c) {
                const float* const value = &trial.inputs[2][c];
                output.push_back(values_of.sum(trial.terms, [&](size_t k) {
                    return Term{shares[k], value[k * trial.columns]};
                }));
            }
        }
        return {output};
    }

private:
    static float scale_of(size_t width) { return 1 / std::sqrt(static_cast<float>(width)); }

    template <class Format>
    static void softmax(std::span<float> x, const Machine<Format>& machine) {
        Softmax<false>::compute(x, machine);
    }
};

// ---- the table ---------------------------------------------------------------------------------------------------

template <class Operator>
Outputs compute(const Trial& trial, const Way& way) {
    switch (way.format) {
        case Format::fp32:
            return Operator::compute(trial, Machine<Fp32>(way.order, way.layer));
        case Format::flushed_fp32:
            return Operator::compute(trial, Machine<FlushedFp32>(way.order, way.layer));
        case Format::tf32:
            return Operator::compute(trial, Machine<Tf32>(way.order, way.layer));
        case Format::truncated_tf32:
            return Operator::compute(trial, Machine<TruncatedTf32>(way.order, way.layer));
        case Format::bf16:
            return Operator::compute(trial, Machine<Bf16>(way.order, way.layer));
        case Format::fp16:
            return Operator::compute(trial, Machine<Fp16>(way.order, way.layer));
        case Format::fp16_accumulation:
            return Operator::compute(trial, Machine<Fp16Accumulation>(way.order, way.layer));
        case Format::toward_zero:
            return Operator::compute(trial, Machine<TowardZero>(way.order, way.layer));
        case Format::terms_toward_zero:
            return Operator::compute(trial, Machine<TermsTowardZero>(way.order, way.layer));
    }
    return {};
}

template <class Operator>
Trial make(Draw& draw, const Shape& shape) {
    Trial trial = Operator::make(draw, shape);
    trial.half = shape.half;
    return trial;
}

/// A few additions rounded towards zero, or of FLOAT16 numbers in FP16, are hardly less accurate than FP32. This
/// affects short sums, and running sums of a few terms each.
bool in_long_sums(const Way& way, size_t terms, bool half) {
    const bool needs_many = way.format == Format::toward_zero || (half && way.format == Format::fp16_accumulation);
    return !needs_many || terms / way.order.width >= 256;
}

/// A FLOAT16 output has no more bits than its coarse terms.
bool in_fp32(const Way& way, size_t terms, bool half) {
    return !half && in_long_sums(way, terms, half);
}

/// The error of a sequential sum of n positive terms is about n^1.5 u, while that of rounding each term to nearest is
/// √n of its unit.
bool in_positive_sums(const Way& way, size_t terms, bool half) {
    const bool is_11_bits = way.format == Format::tf32 || way.format == Format::fp16;
    const size_t most = is_11_bits ? 256 : way.format == Format::bf16 ? 4096 : terms;
    return terms <= most && in_fp32(way, terms, half);
}

/// The first of the cumulative sums are short, whatever the length of the whole. So are those at the ends of a
/// gradient.
bool in_cumulative_sums(const Way& way, size_t terms, bool half) {
    return !half && (way.format != Format::toward_zero || terms / way.order.width >= 4096);
}

/// The products that are summed have zero mean, but their weights are positive.
bool in_products(const Way& way, size_t /*terms*/, bool half) {
    return !half && way.format != Format::toward_zero;
}

/// All elements of a group share a sum of positive numbers. With more terms, rounding errors of single terms matter
/// less.
bool in_short_sums(const Way& way, size_t terms, bool half) {
    return !half && way.format != Format::toward_zero && terms <= 16;
}

using Told = bool (*)(const Way&, size_t, bool);

template <class Operator>
Subject subject(std::string_view name, Told can_be_told = in_long_sums, int layers = 1, size_t most_terms = 65536) {
    return {name, make<Operator>, compute<Operator>, layers, most_terms, can_be_told};
}

}  // namespace

std::string_view name_of(Format format) {
    switch (format) {
        case Format::fp32:
            return "FP32";
        case Format::flushed_fp32:
            return "FP32, subnormals flushed";
        case Format::tf32:
            return "TF32 products";
        case Format::truncated_tf32:
            return "TF32 products, truncated";
        case Format::bf16:
            return "BF16 products";
        case Format::fp16:
            return "FP16 products";
        case Format::fp16_accumulation:
            return "FP16 accumulation";
        case Format::toward_zero:
            return "sums towards zero";
        case Format::terms_toward_zero:
            return "sums and terms towards zero";
    }
    return "";
}

const std::vector<Subject>& subjects() {
    using enum ReduceFunction;
    static const std::vector<Subject> all{
        subject<Gemm>("GEMM"),
        subject<Convolution>("CONVOLUTION"),
        subject<Rnn>("RNN", in_fp32, 2),
        subject<Attention>("MULTIHEAD_ATTENTION", in_products, 2),
        subject<Reduce<sum>>("REDUCE SUM"),
        subject<Reduce<average>>("REDUCE AVERAGE"),
        subject<Reduce<l1>>("REDUCE L1", in_positive_sums),
        subject<Reduce<l2>>("REDUCE L2", in_positive_sums),
        subject<Reduce<sum_square>>("REDUCE SUM_SQUARE", in_positive_sums),
        subject<Reduce<log_sum>>("REDUCE LOG_SUM", in_positive_sums),
        subject<Reduce<log_sum_exp>>("REDUCE LOG_SUM_EXP", in_positive_sums),
        subject<CumulativeSummation>("CUMULATIVE_SUMMATION", in_cumulative_sums, 1, 4096),
        subject<Rows<LpNormalization<1>>>("LP_NORMALIZATION, P 1", in_short_sums),
        subject<Rows<LpNormalization<2>>>("LP_NORMALIZATION, P 2", in_short_sums),
        subject<Rows<Softmax<false>>>("ACTIVATION_SOFTMAX1", in_short_sums),
        subject<Rows<Softmax<true>>>("ACTIVATION_LOG_SOFTMAX1", in_short_sums),
        subject<Rows<MeanVariance>>("MEAN_VARIANCE_NORMALIZATION1", in_short_sums),
        subject<BatchNormalizationTraining>("BATCH_NORMALIZATION_TRAINING", in_short_sums),
        subject<LocalResponse>("LOCAL_RESPONSE_NORMALIZATION", in_short_sums, 1, 4096),
        subject<BatchNormalizationTrainingGrad>("BATCH_NORMALIZATION_TRAINING_GRAD", in_short_sums),
        subject<LocalResponseGrad>("LOCAL_RESPONSE_NORMALIZATION_GRAD", in_short_sums, 1, 4096),
        subject<Resample>("RESAMPLE2", in_short_sums, 1, 16),
        subject<AveragePooling>("AVERAGE_POOLING"),
        subject<AveragePoolingGrad>("AVERAGE_POOLING_GRAD", in_cumulative_sums, 1, 4096),
        subject<LpPooling>("LP_POOLING", in_positive_sums),
    };
    return all;
}

}  // namespace dmlconform::precision
