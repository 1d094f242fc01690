// A correct FP32 implementation of some operators that sums in random order, for tests of tolerances. It computes in
// other ways than the reference, as other engines do.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/cpu/reference.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::tests {

/// Supports packed tensors, FLOAT32 except where operators quantise, and calls the reference for operators that only
/// copy, compare or select elements.
class HonestArithmetic {
public:
    explicit HonestArithmetic(std::uint64_t seed) : random_(seed) {}

    /// The multiplication of the next node.
    std::function<float(float, float)> multiply = [](float a, float b) { return a * b; };

    std::vector<core::Tensor> run(const operators::Descriptor& descriptor,
                                  std::span<const core::Tensor* const> inputs) {
        std::vector<core::Tensor> outputs;
        for (const operators::TensorSlot& slot : descriptor.outputs()) {
            outputs.emplace_back(*slot.desc);
        }
        return real_operator(descriptor.schema->short_name(), inputs, outputs[0]) ||
                       quantised_operator(descriptor.schema->short_name(), inputs, outputs)
                   ? std::move(outputs)
                   : cpu::compute_outputs(descriptor, inputs);
    }

private:
    using Floats = std::vector<float>;
    using Inputs = std::span<const core::Tensor* const>;

    bool real_operator(std::string_view op, Inputs inputs, core::Tensor& output) {
        if (op == "GEMM") {
            multiply_matrices(*inputs[0], *inputs[1], output);
            return true;
        }
        if (op == "CONVOLUTION") {
            convolve(*inputs[0], *inputs[1], output);
            return true;
        }
        if (output.desc.data_type != core::DataType::float32 || inputs[0]->desc.data_type != core::DataType::float32) {
            return false;
        }
        const auto y = output.as<float>();
        const auto a = inputs[0]->as<float>();
        if (op == "ELEMENT_WISE_ADD") {
            element_wise(y, a, inputs[1]->as<float>(), [](float p, float q) { return p + q; });
        } else if (op == "ELEMENT_WISE_MULTIPLY") {
            element_wise(y, a, inputs[1]->as<float>(), [](float p, float q) { return p * q; });
        } else if (op == "ACTIVATION_TANH") {
            std::ranges::transform(a, y.begin(), [](float x) { return std::tanh(x); });
        } else if (op == "ACTIVATION_SIGMOID") {
            std::ranges::transform(a, y.begin(), [](float x) { return 1 / (1 + std::exp(-x)); });
        } else if (op == "REDUCE") {
            reduce(*inputs[0], y);
        } else {
            return false;
        }
        return true;
    }

    template <class Function>
    static void element_wise(std::span<float> y, std::span<const float> a, std::span<const float> b, Function f) {
        for (std::size_t i = 0; i < y.size(); ++i) {
            y[i] = f(a[i], b[i]);
        }
    }

    float sum(Floats& terms) {
        std::ranges::shuffle(terms, random_);
        return std::accumulate(terms.begin(), terms.end(), 0.0F);
    }

    void multiply_matrices(const core::Tensor& a, const core::Tensor& b, core::Tensor& output) {
        const std::size_t k = a.desc.sizes[3];
        const std::size_t n = b.desc.sizes[3];
        const auto y = output.as<float>();
        Floats terms(k);
        for (std::size_t i = 0; i < y.size(); ++i) {
            for (std::size_t j = 0; j < k; ++j) {
                terms[j] = multiply(a.as<float>()[i / n * k + j], b.as<float>()[j * n + i % n]);
            }
            y[i] = sum(terms);
        }
    }

    /// Filters of 1 by 3, padded by one on each side.
    void convolve(const core::Tensor& x, const core::Tensor& w, core::Tensor& output) {
        const std::size_t channels = x.desc.sizes[1];
        const std::size_t width = x.desc.sizes[3];
        const auto y = output.as<float>();
        for (std::size_t i = 0; i < y.size(); ++i) {
            Floats terms;
            for (std::size_t c = 0; c < channels; ++c) {
                for (std::size_t t = 0; t < 3; ++t) {
                    const std::size_t at = i % width + t;
                    if (at >= 1 && at <= width) {
                        terms.push_back(multiply(x.as<float>()[c * width + at - 1],
                                                 w.as<float>()[(i / width * channels + c) * 3 + t]));
                    }
                }
            }
            y[i] = sum(terms);
        }
    }

    void reduce(const core::Tensor& x, std::span<float> y) {
        const std::size_t length = x.desc.sizes[3];
        for (std::size_t i = 0; i < y.size(); ++i) {
            const auto row = x.as<float>().subspan(i * length, length);
            Floats terms(row.begin(), row.end());
            y[i] = sum(terms);
        }
    }

    /// Multiplies three factors in one of the orders in which implementations do so.
    float product(float a, float b, float c) {
        switch (random_() % 3) {
            case 0:
                return a * b * c;
            case 1:
                return a * (b * c);
            default:
                return a * c * b;
        }
    }

    /// Rounds to an integer, adds the zero point and clamps. Halves are rounded to even.
    static void store(core::Tensor& output, std::size_t i, float quotient, float zero_point) {
        const float x = std::nearbyint(quotient) + zero_point;
        if (output.desc.data_type == core::DataType::int8) {
            output.as<std::int8_t>()[i] = static_cast<std::int8_t>(std::clamp(x, -128.0F, 127.0F));
        } else {
            output.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(std::clamp(x, 0.0F, 255.0F));
        }
    }

    /// An element of an 8-bit tensor, or the only one if it has no more.
    static float integer(const core::Tensor& tensor, std::size_t i) {
        const std::size_t at = *core::element_count(tensor.desc.sizes) == 1 ? 0 : i;
        return tensor.desc.data_type == core::DataType::int8 ? static_cast<float>(tensor.as<std::int8_t>()[at])
                                                             : static_cast<float>(tensor.as<std::uint8_t>()[at]);
    }

    static float number(const core::Tensor& tensor, std::size_t i) {
        return tensor.as<float>()[*core::element_count(tensor.desc.sizes) == 1 ? 0 : i];
    }

    /// Row times column of two matrices of integers, which FP32 holds exactly.
    static float dot(Inputs in, std::size_t i, std::size_t a_zero, std::size_t b, std::size_t b_zero) {
        const std::size_t k = in[0]->desc.sizes[3];
        const std::size_t n = in[b]->desc.sizes[3];
        float sum = 0;
        for (std::size_t j = 0; j < k; ++j) {
            sum += (integer(*in[0], i / n * k + j) - integer(*in[a_zero], 0)) *
                   (integer(*in[b], j * n + i % n) - integer(*in[b_zero], 0));
        }
        return sum;
    }

    bool quantised_operator(std::string_view op, Inputs in, std::vector<core::Tensor>& outputs) {
        core::Tensor& y = outputs[0];
        const auto count = static_cast<std::size_t>(*core::element_count(y.desc.sizes));
        if (op == "DYNAMIC_QUANTIZE_LINEAR") {
            quantise_by_range(in[0]->as<float>(), outputs);
            return true;
        }
        for (std::size_t i = 0; i < count; ++i) {
            if (op == "ELEMENT_WISE_QUANTIZE_LINEAR") {
                store(y, i, in[0]->as<float>()[i] / number(*in[1], i), integer(*in[2], i));
            } else if (op == "ELEMENT_WISE_DEQUANTIZE_LINEAR") {
                y.as<float>()[i] = (integer(*in[0], i) - integer(*in[2], i)) * number(*in[1], i);
            } else if (op == "ELEMENT_WISE_QUANTIZED_LINEAR_ADD") {
                const float a = (integer(*in[0], i) - integer(*in[2], 0)) * number(*in[1], 0);
                const float b = (integer(*in[3], i) - integer(*in[5], 0)) * number(*in[4], 0);
                store(y, i, (a + b) / number(*in[6], 0), integer(*in[7], 0));
            } else if (op == "QUANTIZED_LINEAR_MATRIX_MULTIPLY") {
                const float scaled = product(dot(in, i, 2, 3, 5), number(*in[1], 0), number(*in[4], 0));
                store(y, i, scaled / number(*in[6], 0), integer(*in[7], 0));
            } else if (op == "MATRIX_MULTIPLY_INTEGER_TO_FLOAT") {
                y.as<float>()[i] = product(dot(in, i, 2, 3, 5), number(*in[1], 0), number(*in[4], 0));
            } else {
                return false;
            }
        }
        return true;
    }

    static void quantise_by_range(std::span<const float> x, std::vector<core::Tensor>& outputs) {
        const auto [least, greatest] = std::ranges::minmax(x);
        const float low = std::min(least, 0.0F);
        const float scale = (std::max(greatest, 0.0F) - low) / 255;
        const float lowest = outputs[2].desc.data_type == core::DataType::int8 ? -128.0F : 0.0F;
        outputs[1].as<float>()[0] = scale;
        store(outputs[2], 0, lowest - low / scale, 0);
        for (std::size_t i = 0; i < x.size(); ++i) {
            store(outputs[0], i, x[i] / scale, integer(outputs[2], 0));
        }
    }

    std::mt19937_64 random_;
};

}  // namespace dmlconform::tests
