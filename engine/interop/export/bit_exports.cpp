// Operators on the bits of integers.
#include <array>

#include "engine/interop/export/operator_writer.h"

namespace dmlconform::interop::exporting {
namespace {

constexpr int unsigned_types[] = {onnx_uint8, onnx_uint16, onnx_uint32, onnx_uint64};
constexpr std::uint32_t unsigned_bits[] = {8, 16, 32, 64};

/// Bits of the type; 0 and a reason if it is no integer.
std::uint32_t width_of(OperatorWriter& to, const Value& x) {
    if (is_real(x.type)) {
        to.fail("ONNX does not compute with the bits of real numbers");
        return 0;
    }
    return core::bits_of(to.tensor("OutputTensor").data_type);
}

/// The same bits as an unsigned integer of 32 or 64 bits.
Value as_unsigned(ModelWriter& w, const Value& x, std::uint32_t bits) {
    Value result = x;
    for (std::size_t i = 0; i < std::size(unsigned_bits); ++i) {
        result = unsigned_bits[i] == bits ? w.wrapped(x, unsigned_types[i]) : result;
    }
    return w.cast(result, bits == 64 ? onnx_uint64 : onnx_uint32);
}

/// 0 up to the number of bits less one, of the type.
Value bit_positions(ModelWriter& w, std::uint32_t bits, int type) {
    return w.cast(w.integers({bits}, counted(bits)), type);
}

Value shifted(ModelWriter& w, const Value& x, const Value& by, const char* direction) {
    return w.each("BitShift", {x, by}, {attribute("direction", direction)});
}

/// A last dimension with the bits of each element.
Value bits_of_each(ModelWriter& w, const Value& x, std::uint32_t bits) {
    const Value column = w.reshape(x, {static_cast<std::uint32_t>(x.count()), 1});
    return w.each("Mod", {shifted(w, column, bit_positions(w, bits, x.type), "RIGHT"), w.like(x, 2)});
}

/// ONNX has sums of UINT32 and of UINT64.
Value sum_of_bits(ModelWriter& w, const Value& bits, const core::Dimensions& sizes) {
    return w.reshape(w.reduce("ReduceSum", bits, {1}), sizes);
}

enum class Combination : std::uint8_t { both, either, one };

/// What becomes of two bits, of which each is 0 or 1.
Value combined(ModelWriter& w, Combination how, const Value& a, const Value& b) {
    switch (how) {
        case Combination::both:
            return w.mul(a, b);
        case Combination::either:
            return w.each("Max", {a, b});
        case Combination::one:
        default:
            return w.each("Mod", {w.add(a, b), w.like(a, 2)});
    }
}

/// A node from opset 18 on, and bit by bit before.
template <Combination how>
void write_combination(OperatorWriter& to) {
    ModelWriter& w = to.w;
    const Value a = to.in("ATensor");
    const Value b = to.in("BTensor");
    const std::uint32_t bits = width_of(to, a);
    if (bits == 0) {
        return;
    }
    if (w.opset() >= 18) {
        constexpr const char* nodes[] = {"BitwiseAnd", "BitwiseOr", "BitwiseXor"};
        to.out("OutputTensor", w.each(nodes[static_cast<std::size_t>(how)], {a, b}));
        return;
    }
    const Value made = combined(w, how, bits_of_each(w, as_unsigned(w, a, bits), bits),
                                bits_of_each(w, as_unsigned(w, b, bits), bits));
    const Value values = shifted(w, made, bit_positions(w, bits, made.type), "LEFT");
    to.out("OutputTensor", w.wrapped(sum_of_bits(w, values, a.sizes), a.type));
}

/// All ones less the number.
void write_bit_not(OperatorWriter& to) {
    const Value x = to.in("InputTensor");
    const std::uint32_t bits = width_of(to, x);
    if (bits == 0) {
        return;
    }
    const core::DataType type = to.tensor("OutputTensor").data_type;
    const Value ones = to.w.bits(type, ~std::uint64_t{0} >> (64 - bits));
    to.out("OutputTensor", to.w.opset() >= 18 ? to.w.each("BitwiseNot", {x}) : to.w.sub(ones, x));
}

void write_bit_count(OperatorWriter& to) {
    const Value x = to.in("InputTensor");
    const std::uint32_t bits = is_real(x.type) ? width_of(to, x) : core::bits_of(to.tensor("InputTensor").data_type);
    if (bits == 0) {
        return;
    }
    to.out("OutputTensor", sum_of_bits(to.w, bits_of_each(to.w, as_unsigned(to.w, x, bits), bits), x.sizes));
}

void write_shift(OperatorWriter& to, const char* direction) {
    to.out("OutputTensor", shifted(to.w, to.in("ATensor"), to.in("BTensor"), direction));
}
void write_shift_left(OperatorWriter& to) {
    write_shift(to, "LEFT");
}
void write_shift_right(OperatorWriter& to) {
    write_shift(to, "RIGHT");
}

constexpr std::array<OperatorExport, 7> bit_rows{{
    {"ELEMENT_WISE_BIT_SHIFT_LEFT", write_shift_left},
    {"ELEMENT_WISE_BIT_SHIFT_RIGHT", write_shift_right},
    {"ELEMENT_WISE_BIT_AND", write_combination<Combination::both>},
    {"ELEMENT_WISE_BIT_OR", write_combination<Combination::either>},
    {"ELEMENT_WISE_BIT_XOR", write_combination<Combination::one>},
    {"ELEMENT_WISE_BIT_NOT", write_bit_not},
    {"ELEMENT_WISE_BIT_COUNT", write_bit_count},
}};

}  // namespace

std::span<const OperatorExport> bit_exports() {
    return bit_rows;
}

}  // namespace dmlconform::interop::exporting
