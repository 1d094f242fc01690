// Compares the reference's element-wise operators with the same functions in 113 bits: the value must be the exact one,
// rounded once, and the accepted interval must contain the exact one.
// The formulas use libquadmath and follow DirectML's documentation. None is taken from the reference.
#include <gtest/gtest.h>

#include "engine/core/element.h"
#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/element_wise/machine.h"
#include "engine/cpu/kernel.h"
#include "engine/cpu/reference.h"
#include "tests/cpu/random_tensors.h"

#if DMLCONFORM_HAS_QUADMATH

#include <fmt/format.h>
#include <quadmath.h>

#include <array>
#include <cmath>
#include <limits>
#include <set>

namespace dmlconform::tests::element_wise_precision_test {
namespace {

using core::DataType;
using cpu::Interval;
using cpu::element_wise::Context;
using cpu::element_wise::find_row;
using cpu::element_wise::Row;
using cpu::element_wise::stored_range;
using operators::Descriptor;
__extension__ using Quad = __float128;

constexpr std::size_t arguments_each = 100'000;
constexpr std::size_t batch = 1'000;
constexpr double infinity = std::numeric_limits<double>::infinity();

// ---- the operators -----------------------------------------------------------------------------------------------

/// A numeric attribute of an operator, drawn from a range. For an enumeration, one of its first `high` + 1 values.
struct Attribute {
    std::string_view name;
    double low = 0;
    double high = 0;
};

/// An output of an operator. x holds an element of each input in the struct's order, p the attributes as listed.
using Exact = Quad (*)(const Quad* x, const Quad* p);

struct Operator {
    std::string_view name;
    std::vector<Exact> exact;
    std::vector<Attribute> attributes = {};
    /// Data types, if not all are FLOAT32.
    std::vector<DataType> inputs = {};
    DataType output = DataType::float32;
    /// Inputs with a single element.
    std::set<std::size_t> single = {};
    /// The last attribute is an array of one number, which formulas read as an input.
    bool bias_array = false;

    friend void PrintTo(const Operator& op, std::ostream* out) { *out << op.name; }
};

/// A number wins over NaN, as in Direct3D.
Quad least(Quad a, Quad b) {
    return fminq(a, b);
}
Quad greatest(Quad a, Quad b) {
    return fmaxq(a, b);
}

Quad truth(bool value) {
    return value ? 1 : 0;
}

Quad floored_remainder(Quad a, Quad b) {
    if (isinfq(b)) {
        return nanq("");
    }
    const Quad rest = fmodq(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Quad logistic(Quad x) {
    return x < 0 ? expq(x) / (1 + expq(x)) : 1 / (1 + expq(-x));
}

Quad log_of_one_plus_exp(Quad x) {
    return x > 0 ? x + log1pq(expq(-x)) : log1pq(expq(x));
}

/// NaN counts as 0, as in DirectML.
Quad hard_sigmoid(Quad x, Quad alpha, Quad beta) {
    return least(greatest(alpha * x + beta, 0), 1);
}

/// Rounds ties to even.
Quad nearest(Quad x) {
    return rintq(x);
}

Quad saturated(Quad x, int low, int high) {
    return isnanq(x) ? Quad(low) : least(greatest(x, low), high);
}

Quad new_moment1(const Quad* x, const Quad* p) {
    return p[1] * x[1] + (1 - p[1]) * x[3];
}
Quad new_moment2(const Quad* x, const Quad* p) {
    return p[2] * x[2] + (1 - p[2]) * x[3] * x[3];
}
Quad new_parameter(const Quad* x, const Quad* p) {
    const Quad correction = x[4] > 0 ? sqrtq(1 - powq(p[2], x[4])) / (1 - powq(p[1], x[4])) : Quad(1);
    return x[0] - p[0] * correction * new_moment1(x, p) / (sqrtq(new_moment2(x, p)) + p[3]);
}

#define EXACT(expression)                                                                                 \
    {                                                                                                     \
        []([[maybe_unused]] const Quad* x, [[maybe_unused]] const Quad* p) -> Quad { return expression; } \
    }

const std::vector<Operator>& operators_with_formulas() {
    constexpr auto f32 = DataType::float32;
    constexpr auto u8 = DataType::uint8;
    constexpr auto i8 = DataType::int8;
    constexpr auto u32 = DataType::uint32;
    static const std::vector<Operator> all{
        {"ELEMENT_WISE_ADD", EXACT(x[0] + x[1])},
        {"ELEMENT_WISE_ADD1", EXACT(x[0] + x[1])},
        {"ELEMENT_WISE_SUBTRACT", EXACT(x[0] - x[1])},
        {"ELEMENT_WISE_MULTIPLY", EXACT(x[0] * x[1])},
        {"ELEMENT_WISE_DIVIDE", EXACT(x[0] / x[1])},
        {"ELEMENT_WISE_MODULUS_TRUNCATE", EXACT(isinfq(x[1]) ? nanq("") : fmodq(x[0], x[1]))},
        {"ELEMENT_WISE_MODULUS_FLOOR", EXACT(floored_remainder(x[0], x[1]))},
        {"ELEMENT_WISE_MEAN", EXACT(x[0] / 2 + x[1] / 2)},
        {"ELEMENT_WISE_DIFFERENCE_SQUARE", EXACT((x[0] - x[1]) * (x[0] - x[1]))},
        {"ELEMENT_WISE_POW", EXACT(powq(x[0], x[1]))},
        {"ELEMENT_WISE_CONSTANT_POW", EXACT(powq(x[0], p[0])), {{"Exponent", -4, 4}}},
        {"ELEMENT_WISE_NEGATE", EXACT(-x[0])},
        {"ELEMENT_WISE_ABS", EXACT(fabsq(x[0]))},
        {"ELEMENT_WISE_RECIP", EXACT(1 / x[0])},
        {"VALUE_SCALE_2D", EXACT(p[0] * x[0] + x[1]), {{"Scale", -3, 3}, {"Bias", -3, 3}}, {}, f32, {}, true},
        {"ADAM_OPTIMIZER",
         {new_parameter, new_moment1, new_moment2},
         {{"LearningRate", 0, 1}, {"Beta1", 0, 0.999}, {"Beta2", 0, 0.9999}, {"Epsilon", 1e-9, 1e-3}},
         {f32, f32, f32, f32, u32},
         f32,
         {4}},
        // Operators that copy or convert.
        {"ELEMENT_WISE_IDENTITY", EXACT(x[0])},
        {"CAST", EXACT(x[0])},
        // Comparisons.
        {"ELEMENT_WISE_LOGICAL_EQUALS", EXACT(truth(x[0] == x[1])), {}, {}, u8},
        {"ELEMENT_WISE_LOGICAL_GREATER_THAN", EXACT(truth(x[0] > x[1])), {}, {}, u8},
        {"ELEMENT_WISE_LOGICAL_LESS_THAN", EXACT(truth(x[0] < x[1])), {}, {}, u8},
        {"ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL", EXACT(truth(x[0] >= x[1])), {}, {}, u8},
        {"ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL", EXACT(truth(x[0] <= x[1])), {}, {}, u8},
        {"ELEMENT_WISE_IS_NAN", EXACT(truth(isnanq(x[0]) != 0)), {}, {}, u8},
        {"ELEMENT_WISE_IS_INFINITY",
         EXACT(truth(isinfq(x[0]) && (p[0] == 0 || (p[0] == 1) == (x[0] > 0)))),
         {{"InfinityMode", 0, 2}},
         {},
         u8},
        {"ELEMENT_WISE_MIN", EXACT(least(x[0], x[1]))},
        {"ELEMENT_WISE_MAX", EXACT(greatest(x[0], x[1]))},
        {"ELEMENT_WISE_CLIP", EXACT(greatest(p[0], least(x[0], p[1]))), {{"Min", -2, 1}, {"Max", -1, 2}}},
        {"ELEMENT_WISE_CLIP1", EXACT(greatest(p[0], least(x[0], p[1]))), {{"Min", -2, 1}, {"Max", -1, 2}}},
        {"ELEMENT_WISE_CLIP_GRAD",
         EXACT(p[0] < x[0] && x[0] < p[1] ? x[1] : Quad(0)),
         {{"Min", -2, 1}, {"Max", -1, 2}}},
        {"ELEMENT_WISE_CLIP_GRAD1",
         EXACT(p[0] < x[0] && x[0] < p[1] ? x[1] : Quad(0)),
         {{"Min", -2, 1}, {"Max", -1, 2}}},
        {"ELEMENT_WISE_THRESHOLD", EXACT(greatest(x[0], p[0])), {{"Min", -2, 2}}},
        {"ELEMENT_WISE_SIGN", EXACT(x[0] < 0 ? Quad(-1) : truth(x[0] > 0))},
        // Rounding and elementary functions.
        {"ELEMENT_WISE_CEIL", EXACT(ceilq(x[0]))},
        {"ELEMENT_WISE_FLOOR", EXACT(floorq(x[0]))},
        {"ELEMENT_WISE_ROUND",
         EXACT(p[0] == 0   ? nearest(x[0])
               : p[0] == 1 ? truncq(x[0])
                           : copysignq(floorq(fabsq(x[0]) + Quad(0.5)), x[0])),
         {{"RoundingMode", 0, 2}}},
        {"ELEMENT_WISE_SQRT", EXACT(sqrtq(x[0]))},
        {"ELEMENT_WISE_EXP", EXACT(expq(x[0]))},
        {"ELEMENT_WISE_LOG", EXACT(logq(x[0]))},
        {"ELEMENT_WISE_SIN", EXACT(sinq(x[0]))},
        {"ELEMENT_WISE_COS", EXACT(cosq(x[0]))},
        {"ELEMENT_WISE_TAN", EXACT(tanq(x[0]))},
        {"ELEMENT_WISE_ASIN", EXACT(asinq(x[0]))},
        {"ELEMENT_WISE_ACOS", EXACT(acosq(x[0]))},
        {"ELEMENT_WISE_ATAN", EXACT(atanq(x[0]))},
        {"ELEMENT_WISE_ATAN_YX", EXACT(atan2q(x[0], x[1]))},
        {"ELEMENT_WISE_SINH", EXACT(sinhq(x[0]))},
        {"ELEMENT_WISE_COSH", EXACT(coshq(x[0]))},
        {"ELEMENT_WISE_TANH", EXACT(tanhq(x[0]))},
        {"ELEMENT_WISE_ASINH", EXACT(asinhq(x[0]))},
        {"ELEMENT_WISE_ACOSH", EXACT(acoshq(x[0]))},
        {"ELEMENT_WISE_ATANH", EXACT(atanhq(x[0]))},
        {"ELEMENT_WISE_ERF", EXACT(erfq(x[0]))},
        {"ACTIVATION_IDENTITY", EXACT(x[0])},
        {"ACTIVATION_LINEAR", EXACT(p[0] * x[0] + p[1]), {{"Alpha", -3, 3}, {"Beta", -3, 3}}},
        {"ACTIVATION_RELU", EXACT(greatest(x[0], 0))},
        {"ACTIVATION_LEAKY_RELU", EXACT(x[0] >= 0 ? x[0] : p[0] * x[0]), {{"Alpha", -1, 1}}},
        {"ACTIVATION_PARAMETERIZED_RELU", EXACT(x[0] >= 0 ? x[0] : x[1] * x[0])},
        {"ACTIVATION_RELU_GRAD", EXACT(x[0] > 0 ? x[1] : Quad(0))},
        {"ACTIVATION_THRESHOLDED_RELU", EXACT(x[0] <= p[0] ? Quad(0) : x[0]), {{"Alpha", -1, 2}}},
        {"ACTIVATION_ELU", EXACT(x[0] >= 0 ? x[0] : p[0] * expm1q(x[0])), {{"Alpha", -1, 3}}},
        {"ACTIVATION_CELU", EXACT(greatest(0, x[0]) + least(0, p[0] * expm1q(x[0] / p[0]))), {{"Alpha", 0.1, 3}}},
        {"ACTIVATION_SCALED_ELU",
         EXACT(p[1] * (x[0] > 0 ? x[0] : p[0] * expm1q(x[0]))),
         {{"Alpha", -1, 3}, {"Gamma", -1, 3}}},
        {"ACTIVATION_HARD_SIGMOID", EXACT(hard_sigmoid(x[0], p[0], p[1])), {{"Alpha", -1, 1}, {"Beta", -1, 1}}},
        {"ACTIVATION_HARD_SWISH", EXACT(x[0] * hard_sigmoid(x[0], p[0], p[1])), {{"Alpha", -1, 1}, {"Beta", -1, 1}}},
        {"ACTIVATION_SIGMOID", EXACT(logistic(x[0]))},
        {"ACTIVATION_SWISH", EXACT(x[0] * logistic(p[0] * x[0])), {{"SigmoidInputScale", -2, 2}}},
        {"ACTIVATION_TANH", EXACT(tanhq(x[0]))},
        {"ACTIVATION_SCALED_TANH", EXACT(p[0] * tanhq(p[1] * x[0])), {{"Alpha", -2, 2}, {"Beta", -2, 2}}},
        {"ACTIVATION_SOFTPLUS", EXACT(log_of_one_plus_exp(p[0] * x[0]) / p[0]), {{"Steepness", 1, 5}}},
        {"ACTIVATION_PARAMETRIC_SOFTPLUS",
         EXACT(p[0] * log_of_one_plus_exp(p[1] * x[0])),
         {{"Alpha", -2, 2}, {"Beta", -2, 2}}},
        {"ACTIVATION_SOFTSIGN", EXACT(x[0] / (1 + fabsq(x[0])))},
        {"ACTIVATION_GELU", EXACT(x[0] * (erfcq(-x[0] / sqrtq(2)) / 2))},
        {"ACTIVATION_SHRINK",
         EXACT(x[0] > p[1]    ? x[0] - p[0]
               : x[0] < -p[1] ? x[0] + p[0]
                              : Quad(0)),
         {{"Bias", -2, 2}, {"Threshold", 0, 2}}},
        {"ELEMENT_WISE_QUANTIZE_LINEAR",
         EXACT(isnanq(x[0] / x[1]) ? Quad(0) : saturated(nearest(x[0] / x[1]) + x[2], 0, 255)),
         {},
         {f32, f32, u8},
         u8},
        {"ELEMENT_WISE_DEQUANTIZE_LINEAR", EXACT((x[0] - x[2]) * x[1]), {}, {i8, f32, i8}},
        {"ELEMENT_WISE_QUANTIZED_LINEAR_ADD",
         EXACT(saturated(nearest(((x[0] - x[2]) * x[1] + (x[3] - x[5]) * x[4]) / x[6]) + x[7], -128, 127)),
         {},
         {u8, f32, u8, i8, f32, i8, f32, i8},
         i8,
         {1, 2, 4, 5, 6, 7}},
        {"QUANTIZE",
         EXACT(saturated(nearest(x[0] / x[1]) + x[2], -128, 127)),
         {{"QuantizationType", 2, 2}},
         {f32, f32, i8},
         i8},
        {"DEQUANTIZE", EXACT((x[0] - x[2]) * x[1]), {{"QuantizationType", 2, 2}}, {u8, f32, u8}},
    };
    return all;
}

#undef EXACT

// ---- asking the reference ----------------------------------------------------------------------------------------

/// Draws arguments of all magnitudes, common ones, and special values.
class Arguments {
public:
    explicit Arguments(unsigned seed) : random_(seed) {}

    float number() {
        static const float special[] = {0.0f,
                                        -0.0f,
                                        1.0f,
                                        -1.0f,
                                        0.5f,
                                        -2.5f,
                                        std::nextafter(1.0f, 0.0f),
                                        std::nextafter(-1.0f, -2.0f),
                                        static_cast<float>(infinity),
                                        -static_cast<float>(infinity),
                                        std::numeric_limits<float>::quiet_NaN(),
                                        std::numeric_limits<float>::max(),
                                        std::numeric_limits<float>::lowest(),
                                        std::numeric_limits<float>::min(),
                                        -std::numeric_limits<float>::denorm_min(),
                                        0x1p-130f,
                                        0x1p23f,
                                        -8388607.5f,
                                        88.72284f,
                                        -103.97f,
                                        314.159f,
                                        3.14159274f};
        const int kind = random_.pick(0, 15);
        if (kind == 0) {
            return special[random_.pick(0, 21)];
        }
        if (kind <= 5) {
            return std::bit_cast<float>(static_cast<std::uint32_t>(random_.bits()));
        }
        return kind <= 10 ? random_.uniform(-4, 4) : random_.normal() * std::exp2(random_.uniform(-10, 10));
    }

    void fill(core::Tensor& tensor, const core::Tensor* before) {
        if (tensor.desc.data_type == DataType::float32) {
            const auto elements = tensor.as<float>();
            for (std::size_t k = 0; k < elements.size(); ++k) {
                // Chooses a value close to the preceding operand, so that sums cancel and quotients are near one.
                const bool near = before != nullptr && before->desc.data_type == DataType::float32 &&
                                  before->as<float>().size() == elements.size() && random_.one_in(12);
                elements[k] = near ? before->as<float>()[k] * random_.uniform(-1.01f, 1.01f) : number();
            }
        } else if (tensor.desc.data_type == DataType::uint32) {
            for (std::uint32_t& element : tensor.as<std::uint32_t>()) {
                element = random_.pick(0u, random_.one_in(2) ? 20u : 100'000u);
            }
        } else {
            for (std::uint8_t& element : tensor.as<std::uint8_t>()) {
                element = static_cast<std::uint8_t>(random_.bits());
            }
        }
    }

    float attribute(const Attribute& attribute) {
        return random_.one_in(4)
                   ? std::nearbyint(random_.uniform(static_cast<float>(attribute.low + 0.49),
                                                    static_cast<float>(attribute.high + 0.49)))
                   : random_.uniform(static_cast<float>(attribute.low), static_cast<float>(attribute.high));
    }
    std::uint32_t choice(const Attribute& attribute) {
        return random_.pick(static_cast<std::uint32_t>(attribute.low), static_cast<std::uint32_t>(attribute.high));
    }

private:
    Random random_;
};

/// A descriptor with random attributes, whose values are written to `attributes`.
Descriptor random_descriptor(const Operator& op, Arguments& arguments, std::vector<Quad>& attributes) {
    const operators::OperatorSchema& schema = *operators::find_operator(op.name);
    Descriptor descriptor = describe(schema, {});
    std::size_t input = 0;
    const auto input_desc = [&] {
        const std::size_t i = input++;
        const auto size = static_cast<std::uint32_t>(op.single.contains(i) ? 1 : batch);
        return tensor(i < op.inputs.size() ? op.inputs[i] : DataType::float32, {1, 1, 1, size});
    };
    for (std::size_t f = 0; f < schema.fields.size(); ++f) {
        const operators::Field& field = schema.fields[f];
        if (field.kind == operators::FieldKind::output) {
            descriptor.values[f] = tensor(op.output, {1, 1, 1, static_cast<std::uint32_t>(batch)});
        } else if (field.type == operators::FieldType::tensor_desc) {
            descriptor.values[f] = input_desc();
        } else if (field.type == operators::FieldType::tensor_desc_array) {
            descriptor.values[f] = operators::TensorDescArray{{input_desc(), input_desc()}};
        } else if (field.enumeration != nullptr && field.enumeration->name == "DML_TENSOR_DATA_TYPE") {
            descriptor.values[f] = static_cast<std::uint32_t>(DataType::float32);
        }
    }
    for (const Attribute& attribute : op.attributes) {
        const std::size_t f = detail::index_of(schema, attribute.name);
        if (schema.fields[f].enumeration != nullptr) {
            const std::uint32_t choice = arguments.choice(attribute);
            descriptor.values[f] = choice;
            attributes.push_back(choice);
            continue;
        }
        const float value = arguments.attribute(attribute);
        attributes.push_back(value);
        if (schema.fields[f].type == operators::FieldType::scalar_union) {
            descriptor.values[f] = operators::ScalarUnion{std::bit_cast<std::uint32_t>(value)};
        } else if (schema.fields[f].type == operators::FieldType::float_array) {
            descriptor = with(std::move(descriptor), {{attribute.name, operators::FieldValue(std::vector{value})}});
        } else {
            descriptor.values[f] = value;
        }
    }
    return descriptor;
}

// ---- judging -----------------------------------------------------------------------------------------------------

std::string text_of(Quad value) {
    std::array<char, 64> text{};
    quadmath_snprintf(text.data(), text.size(), "%.12Qg", value);
    return text.data();
}

/// The largest allowed error: half a unit in the last place of the type at this value, plus the errors of double
/// arithmetic.
Quad most_error(DataType type, Quad exact) {
    if (type != DataType::float32) {
        return 0;
    }
    int exponent = 0;
    (void)frexpq(exact, &exponent);
    return ldexpq(Quad(0.5) + ldexpq(1, -20), std::max(exponent, -125) - 24);
}

/// Describes an error in the reference's value; empty if it is correct.
std::string wrong_value(DataType type, double value, Quad exact) {
    if (isnanq(exact) || std::isnan(value)) {
        return (isnanq(exact) != 0) == std::isnan(value) ? "" : "NaN or not";
    }
    if (isinfq(exact) || std::isinf(value)) {
        // Values at least half a ULP beyond the largest number round to infinity.
        const Quad bound = ldexpq(1, 128) - ldexpq(1, 103);
        const bool beyond = fabsq(exact) >= bound - ldexpq(1, 83);
        return Quad(value) == exact || (beyond && std::isinf(value) && (value > 0) == (exact > 0)) ? ""
                                                                                                   : "infinite or not";
    }
    const Quad error = fabsq(value - exact);
    return error <= most_error(type, exact) ? "" : "off by " + text_of(error);
}

/// Describes the error if the interval does not contain the exact result; empty if it does.
std::string missing(const Interval& range, Quad exact) {
    if (isnanq(exact)) {
        return range.nan ? "" : "NaN is not in it";
    }
    // Interval ends are doubles, so values far beyond the range of FP32 may be zero or infinity there.
    const Quad held = fabsq(exact) < ldexpq(1, -149)   ? Quad(0)
                      : fabsq(exact) > ldexpq(1, 1000) ? copysignq(Quad(infinity), exact)
                                                       : exact;
    return Quad(range.low) <= held && held <= Quad(range.high) ? ""
                                                               : fmt::format("[{:a}, {:a}]", range.low, range.high);
}

/// The intervals of all elements, for each output.
std::vector<std::vector<Interval>> intervals_of(const Operator& op, const std::vector<std::vector<double>>& inputs,
                                                const std::vector<Quad>& attributes) {
    const Row* row = find_row(op.name);
    Context<Interval> context;
    for (std::size_t i = 0; i < attributes.size() && i < context.attributes.size(); ++i) {
        context.attributes.at(i) = static_cast<double>(attributes[i]);
    }
    context.present.fill(true);
    context.output_bits = core::bits_of(op.output);
    context.output_is_signed = core::is_signed_integer(op.output);
    context.lowest = context.output_is_signed ? -128 : 0;
    context.highest = context.output_is_signed ? 127 : 255;
    std::vector<std::vector<Interval>> in(inputs.size());
    std::vector<const Interval*> from;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        in[i].assign(inputs[i].begin(), inputs[i].end());
        from.push_back(in[i].data());
    }
    std::vector<std::vector<Interval>> out(op.exact.size(), std::vector<Interval>(batch));
    std::vector<Interval*> to;
    for (auto& results : out) {
        to.push_back(results.data());
    }
    row->interval(from, to, batch, context);
    for (auto& results : out) {
        for (Interval& result : results) {
            result = stored_range(op.output, result, row->store);
        }
    }
    return out;
}

/// A batch of arguments, the reference's results for them, and the exact ones.
class Batch {
public:
    Batch(const Operator& op, Arguments& arguments) : op_(op) {
        const Descriptor descriptor = random_descriptor(op, arguments, attributes_);
        std::vector<core::Tensor> tensors;
        std::vector<const core::Tensor*> pointers;
        for (const auto& slot : descriptor.inputs()) {
            core::Tensor tensor(*slot.desc);
            arguments.fill(tensor, tensors.empty() ? nullptr : &tensors.back());
            inputs_.push_back(values_of(tensor));
            tensors.push_back(std::move(tensor));
        }
        for (const core::Tensor& tensor : tensors) {
            pointers.push_back(&tensor);
        }
        if (op.bias_array) {
            inputs_.emplace_back(batch, static_cast<double>(attributes_.back()));
            attributes_.pop_back();
        }
        const cpu::Reference reference = cpu::compute_reference(descriptor, pointers);
        for (const core::Tensor& output : reference.outputs) {
            outputs_.push_back(values_of(output));
        }
        intervals_ = intervals_of(op, inputs_, attributes_);
    }

    [[nodiscard]] std::size_t outputs() const { return outputs_.size(); }

    /// Describes an error in element k of output o; empty if it is correct.
    [[nodiscard]] std::string complaint(std::size_t o, std::size_t k) const {
        std::array<Quad, 8> x{};
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            x.at(i) = inputs_[i][k];
        }
        const Quad exact = op_.exact[o](x.data(), attributes_.data());
        const double value = outputs_[o][k];
        const std::string wrong = wrong_value(op_.output, value, exact);
        const std::string lacking = missing(intervals_[o][k], exact);
        if (wrong.empty() && lacking.empty()) {
            return "";
        }
        std::string text = fmt::format("{} output {} of", op_.name, o);
        for (const auto& input : inputs_) {
            text += fmt::format(" {:a} ({})", input[k], input[k]);
        }
        for (const Quad attribute : attributes_) {
            text += fmt::format(", attribute {}", static_cast<double>(attribute));
        }
        text += fmt::format(": exactly {}, reference {} ({:a})", text_of(exact), value, value);
        return text + (wrong.empty() ? "" : "\n    value: " + wrong) +
               (lacking.empty() ? "" : "\n    interval: " + lacking);
    }

private:
    /// The elements as numbers. A single element is repeated for each argument.
    static std::vector<double> values_of(const core::Tensor& tensor) {
        const core::DataType type = tensor.desc.data_type;
        std::vector<double> values;
        for (std::size_t k = 0; k < count_of(tensor.desc.sizes); ++k) {
            values.push_back(core::decode_element(type, core::load_element(tensor.buffer.bytes(), type, k)));
        }
        values.resize(batch, values.front());
        return values;
    }

    const Operator& op_;
    std::vector<Quad> attributes_;
    std::vector<std::vector<double>> inputs_;
    std::vector<std::vector<double>> outputs_;
    std::vector<std::vector<Interval>> intervals_;
};

class Precision : public ::testing::TestWithParam<Operator> {};

TEST_P(Precision, ValueAndInterval) {
    const Operator& op = GetParam();
    ASSERT_NE(find_row(op.name), nullptr);
    Arguments arguments(static_cast<unsigned>(std::hash<std::string_view>()(op.name)));
    std::size_t complaints = 0;
    for (std::size_t done = 0; done < arguments_each; done += batch) {
        const Batch some(op, arguments);
        ASSERT_EQ(some.outputs(), op.exact.size());
        for (std::size_t o = 0; o < some.outputs(); ++o) {
            for (std::size_t k = 0; k < batch; ++k) {
                const std::string complaint = some.complaint(o, k);
                EXPECT_EQ(complaint, "");
                complaints += complaint.empty() ? 0 : 1;
                ASSERT_LT(complaints, 8u);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(ElementWise, Precision, ::testing::ValuesIn(operators_with_formulas()),
                         [](const auto& row) { return std::string(row.param.name); });

/// Every operator of the family with a range for FLOAT32 must have a formula above.
TEST(PrecisionTable, HasEveryOperatorWithARange) {
    std::set<std::string_view> known;
    for (const Operator& op : operators_with_formulas()) {
        EXPECT_TRUE(known.insert(op.name).second) << op.name;
    }
    const auto desc = tensor(DataType::float32, {4});
    std::size_t count = 0;
    for (const auto& file : cpu::kernels) {
        for (const cpu::Kernel& kernel : file.rows()) {
            if (find_row(kernel.name) == nullptr) {
                continue;  // of another family
            }
            Descriptor descriptor = describe(kernel.name, {});
            for (std::size_t f = 0; f < descriptor.values.size(); ++f) {
                if (descriptor.schema->fields[f].type == operators::FieldType::tensor_desc) {
                    descriptor.values[f] = desc;
                }
            }
            if (cpu::default_tolerance(descriptor, {"OutputTensor", &desc}).element_slack) {
                EXPECT_TRUE(known.contains(kernel.name)) << kernel.name << " has no formula in this test";
                ++count;
            }
        }
    }
    EXPECT_EQ(count, known.size());
}

}  // namespace
}  // namespace dmlconform::tests::element_wise_precision_test

#else

namespace dmlconform::tests::element_wise_precision_test {
namespace {

TEST(Precision, NeedsLibquadmath) {
    GTEST_SKIP() << "the compiler has no quadmath.h: element-wise operators are not held against 113 bits";
}

}  // namespace
}  // namespace dmlconform::tests::element_wise_precision_test

#endif
