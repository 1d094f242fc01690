// Bitwise operators and conversions between types. What comments say about DirectML 1.15.4 is undocumented and was
// measured on it. Equals definitions/element_wise.cpp.
#include "engine/cpu/element_wise/machine.h"

namespace dmlconform::cpu::bits_kernels {
namespace {

using namespace element_wise;

/// Shift counts. Measured on DirectML 1.15.4: for types of up to 32 bits they are taken modulo 32. For 64-bit types,
/// counts from 64 on are taken modulo 32, plus 32.
template <class T>
unsigned shift_count(T count, unsigned bits) {
    return static_cast<unsigned>(bits < 64 || count.bits() >= 64 ? count.bits() % 32 + (bits < 64 ? 0 : 32)
                                                                 : count.bits());
}

}  // namespace

Kernels kernels() {
    std::vector<Row> rows{
        binary<Integer>("ELEMENT_WISE_BIT_AND", [](auto a, auto b) { return a & b; }),
        binary<Integer>("ELEMENT_WISE_BIT_OR", [](auto a, auto b) { return a | b; }),
        binary<Integer>("ELEMENT_WISE_BIT_XOR", [](auto a, auto b) { return a ^ b; }),
        unary<Integer>("ELEMENT_WISE_BIT_NOT", [](auto x) { return ~x; }),
        unary<Integer>("ELEMENT_WISE_BIT_COUNT", [](auto x) { return decltype(x)(std::popcount(x.bits())); }),
        binary<Integer>(
            "ELEMENT_WISE_BIT_SHIFT_LEFT",
            [](auto a, auto b, auto& p) { return decltype(a)::of(a.bits() << shift_count(b, p.input_bits)); }),
        binary<Integer>(
            "ELEMENT_WISE_BIT_SHIFT_RIGHT",
            [](auto a, auto b, auto& p) { return decltype(a)::of(a.bits() >> shift_count(b, p.input_bits)); }),
    };
    for (Row& row : rows) {
        row.operands = Operands::as_bits;
    }
    rows.push_back(unary<AnyNumber>("ELEMENT_WISE_IDENTITY", [](auto x) { return x; }));
    rows.push_back(unary<AnyNumber>("CAST", [](auto x) { return x; }).stored(Store::converting));
    return kernels_of(std::move(rows));
}

}  // namespace dmlconform::cpu::bits_kernels
