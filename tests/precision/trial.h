// A trial: a descriptor of an operator that sums, random inputs, and the results of an implementation in some number
// format with any order of terms.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "engine/operators/descriptor.h"
#include "tests/precision/sums.h"

namespace dmlconform::precision {

enum class Data : std::uint8_t {
    normal,      // of zero mean and variance 1
    uniform,     // between 0 and 1
    integers,    // -8 to 8
    magnitudes,  // normal times powers of two, from 2^-8 to 2^8
    tiny,        // many are subnormal, and even more products are
    small,       // about 2^-64: products are subnormal
};

struct Shape {
    /// The first output has at least this many elements, if each can have `terms` terms.
    std::size_t elements = 1024;
    std::size_t terms = 16;
    bool half = false;
    Data data = Data::normal;
};

class Draw {
public:
    explicit Draw(std::uint32_t seed) : generator_(seed) {}

    [[nodiscard]] std::vector<float> numbers(std::size_t count, const Shape& shape) {
        std::vector<float> result(count);
        for (float& x : result) {
            x = shape.half ? rounded_to_fp16(number(shape)) : number(shape);
        }
        return result;
    }
    /// Both ends are included.
    [[nodiscard]] std::size_t pick(std::size_t low, std::size_t high) {
        return std::uniform_int_distribution<std::size_t>(low, high)(generator_);
    }

private:
    [[nodiscard]] float number(const Shape& shape) {
        switch (shape.data) {
            case Data::normal:
                return normal_(generator_);
            case Data::uniform:
                return std::uniform_real_distribution<float>(0, 1)(generator_);
            case Data::integers:
                return static_cast<float>(pick(0, 16)) - 8;
            case Data::magnitudes:
                return std::ldexp(normal_(generator_), static_cast<int>(pick(0, 16)) - 8);
            case Data::tiny:
                return std::ldexp(normal_(generator_), shape.half ? -15 : -127);
            case Data::small:
                return std::ldexp(normal_(generator_), shape.half ? -8 : -64);
        }
        return 0;
    }

    std::mt19937 generator_;
    std::normal_distribution<float> normal_;
};

struct Trial {
    operators::Descriptor descriptor;
    /// In the order of Descriptor::inputs(), each in row-major order; empty if absent.
    std::vector<std::vector<float>> inputs;
    /// Loop bounds, whose meaning depends on the operator.
    std::size_t rows = 1;
    std::size_t columns = 1;
    std::size_t terms = 1;
    bool half = false;
};

/// In the order of Descriptor::outputs().
using Outputs = std::vector<std::vector<float>>;

enum class Format : std::uint8_t {
    fp32,
    flushed_fp32,
    tf32,
    truncated_tf32,
    bf16,
    fp16,
    fp16_accumulation,
    toward_zero,
    terms_toward_zero
};

[[nodiscard]] std::string_view name_of(Format format);

/// How an implementation computes: a number format and an order of terms.
struct Way {
    Format format = Format::fp32;
    Order order = {};
    /// The only layer of a chain whose factors have the format, or Machine::every_layer.
    int layer = -1;
};

/// An operator that sums.
struct Subject {
    std::string_view name;
    Trial (*make)(Draw& draw, const Shape& shape) = nullptr;
    Outputs (*compute)(const Trial& trial, const Way& way) = nullptr;
    /// The number of sums in a chain, each of which uses the results of the preceding one.
    int layers = 1;
    /// Larger numbers would take too long, because the number of operations grows with their square.
    std::size_t most_terms = 65536;
    /// Returns false if correct FP32 may have errors of the same size. Null means always true.
    bool (*can_be_told)(const Way& way, std::size_t terms, bool half) = nullptr;
};

[[nodiscard]] const std::vector<Subject>& subjects();

}  // namespace dmlconform::precision
