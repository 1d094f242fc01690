// Functions of each element, and of two or three that are broadcast.
#include <array>

#include "engine/interop/export/operator_writer.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::interop::exporting {
namespace {

using operators::Descriptor;

template <const char* node>
Value same_function(ModelWriter& w, const Descriptor& /*desc*/, const Value& x) {
    return w.each(node, {x});
}

/// Two factors, addends, …, of which BOOL is made where the node makes it.
template <const char* node>
void write_binary(OperatorWriter& to) {
    to.out("OutputTensor", to.w.each(node, {to.in("ATensor"), to.in("BTensor")}));
}

template <const char* node>
void write_comparison(OperatorWriter& to) {
    to.out("OutputTensor", to.w.test(node, {to.in("ATensor"), to.in("BTensor")}));
}

/// UINT8 and UINT32 are true where they are not 0.
template <const char* node>
void write_logical(OperatorWriter& to) {
    to.out("OutputTensor",
           to.w.test(node, {to.w.cast(to.in("ATensor"), onnx_bool), to.w.cast(to.in("BTensor"), onnx_bool)}));
}

void write_not(OperatorWriter& to) {
    to.out("OutputTensor", to.w.test("Not", {to.w.cast(to.in("InputTensor"), onnx_bool)}));
}

Value identity(ModelWriter& w, const Descriptor& /*desc*/, const Value& x) {
    return w.node("Identity", {x}, x.type, x.sizes);
}

void write_cast(OperatorWriter& to) {
    const Value x = to.in("InputTensor");
    to.out("OutputTensor", x.type == to.type("OutputTensor") ? identity(to.w, to.desc, x) : x);
}

void write_if(OperatorWriter& to) {
    const Value condition = to.w.cast(to.in("ConditionTensor"), onnx_bool);
    to.out("OutputTensor", to.w.where(condition, to.in("ATensor"), to.in("BTensor")));
}

/// The least number wins over the greatest where they cross.
Value clip(ModelWriter& w, const Value& x, const Value& least, const Value& greatest, bool cross) {
    return cross ? w.each("Max", {w.each("Min", {x, greatest}), least})
                 : w.node("Clip", {x, least, greatest}, x.type, x.sizes);
}

Value clip_by_numbers(ModelWriter& w, const Descriptor& desc, const Value& x) {
    const double least = desc.number("Min");
    const double greatest = desc.number("Max");
    return clip(w, x, attribute_scalar(w, x.type, least), attribute_scalar(w, x.type, greatest), !(least <= greatest));
}

void write_clip1(OperatorWriter& to) {
    const Value x = scaled(to.w, to.desc, to.in("InputTensor"));
    // Whether Min is less than Max depends on the type.
    to.out("OutputTensor", clip(to.w, x, union_scalar(to, "Min", x.type), union_scalar(to, "Max", x.type), true));
}

void write_clip_gradient(OperatorWriter& to, const Value& least, const Value& greatest) {
    const Value x = to.in("InputTensor");
    const Value is_inside = to.w.test("And", {to.w.test("Greater", {x, least}), to.w.test("Less", {x, greatest})});
    const Value gradient = to.in("InputGradientTensor");
    to.out("OutputGradientTensor", to.w.where(is_inside, gradient, to.w.like(gradient, 0)));
}

void write_clip_grad(OperatorWriter& to) {
    const int type = to.type("InputTensor");
    write_clip_gradient(to, attribute_scalar(to.w, type, to.number("Min")),
                        attribute_scalar(to.w, type, to.number("Max")));
}

void write_clip_grad1(OperatorWriter& to) {
    const int type = to.type("InputTensor");
    write_clip_gradient(to, union_scalar(to, "Min", type), union_scalar(to, "Max", type));
}

Value threshold(ModelWriter& w, const Descriptor& desc, const Value& x) {
    return w.each("Max", {x, attribute_scalar(w, x.type, desc.number("Min"))});
}

/// Also of INT8 and such, whose powers are clamped to their range.
void write_pow(OperatorWriter& to) {
    const Value x = scaled(to.w, to.desc, to.in("InputTensor"));
    const Value exponent = to.in("ExponentTensor");
    if (is_real(x.type) || takes_type("Pow", to.w.opset(), 0, x.type)) {
        to.out("OutputTensor", to.w.each("Pow", {x, exponent}));
        return;
    }
    if (x.type == onnx_uint32) {
        to.fail("powers of UINT32 wrap in 32 bits");
        return;
    }
    const Value power = to.w.each("Pow", {to.w.cast(x, onnx_int64), exponent});
    const auto end = [&](double sign) { return to.w.cast(attribute_scalar(to.w, x.type, sign * 0x1p40), onnx_int64); };
    to.out("OutputTensor", to.w.node("Clip", {power, end(-1), end(1)}, onnx_int64, power.sizes));
}

Value constant_pow(ModelWriter& w, const Descriptor& desc, const Value& x) {
    return w.each("Pow", {x, w.like(x, double{desc.number("Exponent")})});
}

void write_mean(OperatorWriter& to) {
    const Value a = to.in("ATensor");
    const Value b = to.in("BTensor");
    to.out("OutputTensor", is_real(a.type) ? to.w.each("Mean", {a, b}) : to.w.div(to.w.add(a, b), to.w.like(a, 2)));
}

void write_difference_square(OperatorWriter& to) {
    const Value difference = to.w.sub(to.precise("ATensor"), to.precise("BTensor"));
    to.out("OutputTensor", to.w.mul(difference, difference));
}

void write_add1(OperatorWriter& to) {
    to.out("OutputTensor", activated(to, to.w.add(to.in("ATensor"), to.in("BTensor"))));
}

void write_modulus_truncate(OperatorWriter& to) {
    const Value a = to.in("ATensor");
    to.out("OutputTensor", to.w.each("Mod", {a, to.in("BTensor")}, {attribute("fmod", std::int64_t{1})}));
}

/// ONNX's remainder of real numbers has the sign of the dividend.
void write_modulus_floor(OperatorWriter& to) {
    ModelWriter& w = to.w;
    const Value a = to.precise("ATensor");
    const Value b = to.precise("BTensor");
    if (!is_real(a.type)) {
        to.out("OutputTensor", w.each("Mod", {a, b}));
        return;
    }
    const Value rest = w.each("Mod", {a, b}, {attribute("fmod", std::int64_t{1})});
    const Value zero = w.like(rest, 0);
    const Value has_other_sign = w.test("Xor", {w.test("Less", {rest, zero}), w.test("Less", {b, zero})});
    const Value is_between = w.test("Not", {w.test("Equal", {rest, zero})});
    to.out("OutputTensor", w.where(w.test("And", {is_between, has_other_sign}), w.add(rest, b), rest));
}

Value rounded(ModelWriter& w, const Descriptor& desc, const Value& x) {
    using operators::RoundingMode;
    const auto mode = enumerator<RoundingMode>(desc, "RoundingMode");
    if (mode == RoundingMode::halves_to_nearest_even) {
        return w.each("Round", {x});
    }
    // Towards zero, or to nearest with halves away from zero.
    const Value magnitude = w.each("Abs", {x});
    const Value whole =
        w.each("Floor", {mode == RoundingMode::toward_zero ? magnitude : w.add(magnitude, w.like(x, 0.5))});
    return w.mul(w.each("Sign", {x}), whole);
}

Value is_infinity(ModelWriter& w, const Descriptor& desc, const Value& x) {
    using Mode = operators::IsInfinityMode;
    const auto mode = enumerator<Mode>(desc, "InfinityMode");
    const Value taken = takes_type("IsInf", w.opset(), 0, x.type) ? x : w.cast(x, onnx_float32);
    return w.test("IsInf", {taken},
                  {attribute("detect_negative", std::int64_t{mode != Mode::positive}),
                   attribute("detect_positive", std::int64_t{mode != Mode::negative})});
}

Value is_nan(ModelWriter& w, const Descriptor& /*desc*/, const Value& x) {
    return w.test("IsNaN", {x});
}

/// The angle of a point: that of the quotient, turned by half a circle where x is negative.
void write_atan_yx(OperatorWriter& to) {
    ModelWriter& w = to.w;
    constexpr double pi = 3.14159265358979323846;
    Value y = to.precise("ATensor");
    Value x = to.precise("BTensor");
    // The direction of two infinities is that of their signs.
    const Value are_infinite = w.test("And", {w.test("IsInf", {y}), w.test("IsInf", {x})});
    y = w.where(are_infinite, w.each("Sign", {y}), y);
    x = w.where(are_infinite, w.each("Sign", {x}), x);
    const Value zero = w.like(y, 0);
    const Value is_left = w.test("Less", {x, zero});
    const Value half_turn = w.where(w.test("Less", {y, zero}), w.like(y, -pi), w.like(y, pi));
    // Not a turn of 0, which would make 0 of -0.
    const Value angle = w.each("Atan", {w.div(y, x)});
    const Value turned = w.where(is_left, w.add(angle, half_turn), angle);
    const Value quarter = w.mul(w.each("Sign", {y}), w.like(y, pi / 2));
    to.out("OutputTensor", w.where(w.test("Equal", {x, zero}), quarter, turned));
}

/// Scale * x + the bias of the channel.
void write_value_scale(OperatorWriter& to) {
    ModelWriter& w = to.w;
    const Value x = to.precise("InputTensor");
    std::vector<Value> each;
    for (const float bias : to.desc.get<std::vector<float>>("Bias")) {
        each.push_back(w.reshape(w.like(x, double{bias}), {1, 1, 1, 1}));
    }
    to.out("OutputTensor", w.add(w.mul(x, w.like(x, double{to.number("Scale")})), w.concat(each, 1)));
}

#define DMLCONFORM_NODE(name) constexpr char node_##name[] = #name
DMLCONFORM_NODE(Abs);
DMLCONFORM_NODE(Acos);
DMLCONFORM_NODE(Acosh);
DMLCONFORM_NODE(Add);
DMLCONFORM_NODE(And);
DMLCONFORM_NODE(Asin);
DMLCONFORM_NODE(Asinh);
DMLCONFORM_NODE(Atan);
DMLCONFORM_NODE(Atanh);
DMLCONFORM_NODE(Ceil);
DMLCONFORM_NODE(Cos);
DMLCONFORM_NODE(Cosh);
DMLCONFORM_NODE(Div);
DMLCONFORM_NODE(Equal);
DMLCONFORM_NODE(Erf);
DMLCONFORM_NODE(Exp);
DMLCONFORM_NODE(Floor);
DMLCONFORM_NODE(Greater);
DMLCONFORM_NODE(GreaterOrEqual);
DMLCONFORM_NODE(Less);
DMLCONFORM_NODE(LessOrEqual);
DMLCONFORM_NODE(Log);
DMLCONFORM_NODE(Max);
DMLCONFORM_NODE(Min);
DMLCONFORM_NODE(Mul);
DMLCONFORM_NODE(Neg);
DMLCONFORM_NODE(Or);
DMLCONFORM_NODE(Reciprocal);
DMLCONFORM_NODE(Sign);
DMLCONFORM_NODE(Sin);
DMLCONFORM_NODE(Sinh);
DMLCONFORM_NODE(Sqrt);
DMLCONFORM_NODE(Sub);
DMLCONFORM_NODE(Tan);
DMLCONFORM_NODE(Tanh);
DMLCONFORM_NODE(Xor);
#undef DMLCONFORM_NODE

constexpr std::array<OperatorExport, 59> element_wise_rows{{
    {"ELEMENT_WISE_IDENTITY", nullptr, identity},
    {"ELEMENT_WISE_ABS", nullptr, same_function<node_Abs>},
    {"ELEMENT_WISE_ACOS", nullptr, same_function<node_Acos>},
    {"ELEMENT_WISE_ADD", write_binary<node_Add>},
    {"ELEMENT_WISE_ASIN", nullptr, same_function<node_Asin>},
    {"ELEMENT_WISE_ATAN", nullptr, same_function<node_Atan>},
    {"ELEMENT_WISE_CEIL", nullptr, same_function<node_Ceil>},
    {"ELEMENT_WISE_CLIP", nullptr, clip_by_numbers},
    {"ELEMENT_WISE_COS", nullptr, same_function<node_Cos>},
    {"ELEMENT_WISE_DIVIDE", write_binary<node_Div>},
    {"ELEMENT_WISE_EXP", nullptr, same_function<node_Exp>},
    {"ELEMENT_WISE_FLOOR", nullptr, same_function<node_Floor>},
    {"ELEMENT_WISE_LOG", nullptr, same_function<node_Log>},
    {"ELEMENT_WISE_LOGICAL_AND", write_logical<node_And>},
    {"ELEMENT_WISE_LOGICAL_EQUALS", write_comparison<node_Equal>},
    {"ELEMENT_WISE_LOGICAL_GREATER_THAN", write_comparison<node_Greater>},
    {"ELEMENT_WISE_LOGICAL_LESS_THAN", write_comparison<node_Less>},
    {"ELEMENT_WISE_LOGICAL_NOT", write_not},
    {"ELEMENT_WISE_LOGICAL_OR", write_logical<node_Or>},
    {"ELEMENT_WISE_LOGICAL_XOR", write_logical<node_Xor>},
    {"ELEMENT_WISE_MAX", write_binary<node_Max>},
    {"ELEMENT_WISE_MEAN", write_mean},
    {"ELEMENT_WISE_MIN", write_binary<node_Min>},
    {"ELEMENT_WISE_MULTIPLY", write_binary<node_Mul>},
    {"ELEMENT_WISE_POW", write_pow},
    {"ELEMENT_WISE_CONSTANT_POW", nullptr, constant_pow},
    {"ELEMENT_WISE_RECIP", nullptr, same_function<node_Reciprocal>},
    {"ELEMENT_WISE_SIN", nullptr, same_function<node_Sin>},
    {"ELEMENT_WISE_SQRT", nullptr, same_function<node_Sqrt>},
    {"ELEMENT_WISE_SUBTRACT", write_binary<node_Sub>},
    {"ELEMENT_WISE_TAN", nullptr, same_function<node_Tan>},
    {"ELEMENT_WISE_THRESHOLD", nullptr, threshold},
    {"ELEMENT_WISE_SIGN", nullptr, same_function<node_Sign>},
    {"ELEMENT_WISE_IS_NAN", nullptr, is_nan},
    {"ELEMENT_WISE_ERF", nullptr, same_function<node_Erf>},
    {"ELEMENT_WISE_SINH", nullptr, same_function<node_Sinh>},
    {"ELEMENT_WISE_COSH", nullptr, same_function<node_Cosh>},
    {"ELEMENT_WISE_TANH", nullptr, same_function<node_Tanh>},
    {"ELEMENT_WISE_ASINH", nullptr, same_function<node_Asinh>},
    {"ELEMENT_WISE_ACOSH", nullptr, same_function<node_Acosh>},
    {"ELEMENT_WISE_ATANH", nullptr, same_function<node_Atanh>},
    {"ELEMENT_WISE_IF", write_if},
    {"ELEMENT_WISE_ADD1", write_add1},
    {"ELEMENT_WISE_ROUND", nullptr, rounded, nullptr, true},
    {"ELEMENT_WISE_IS_INFINITY", nullptr, is_infinity},
    {"ELEMENT_WISE_MODULUS_TRUNCATE", write_modulus_truncate},
    {"ELEMENT_WISE_MODULUS_FLOOR", write_modulus_floor},
    {"ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL", write_comparison<node_GreaterOrEqual>},
    {"ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL", write_comparison<node_LessOrEqual>},
    {"ELEMENT_WISE_ATAN_YX", write_atan_yx},
    {"ELEMENT_WISE_CLIP_GRAD", write_clip_grad},
    {"ELEMENT_WISE_DIFFERENCE_SQUARE", write_difference_square},
    {"ELEMENT_WISE_CLIP1", write_clip1},
    {"ELEMENT_WISE_CLIP_GRAD1", write_clip_grad1},
    {"ELEMENT_WISE_NEGATE", nullptr, same_function<node_Neg>},
    {"CAST", write_cast},
    {"VALUE_SCALE_2D", write_value_scale},
    {"ACTIVATION_IDENTITY", nullptr, identity},
    {"ACTIVATION_TANH", nullptr, same_function<node_Tanh>},
}};

}  // namespace

std::span<const OperatorExport> element_wise_exports() {
    return element_wise_rows;
}

}  // namespace dmlconform::interop::exporting
