// Converts bytes to 16-bit and 32-bit numbers.
#include "engine/cpu/product/bytes.h"

#include <cstring>

#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu::product {
namespace {

/// to[i] = number(elements + i * step).
template <class Number, class To>
void load_numbers(const std::uint8_t* elements, std::int64_t step, std::int64_t count, const Number& number, To* to) {
    constexpr std::int64_t lanes = 16;
    if (step != 1 || count < lanes) {
        for (std::int64_t i = 0; i < count; ++i) {
            to[i] = number(elements + i * step);
        }
        return;
    }
    in_wide_segments<lanes>(count, [=](std::int64_t first) {
        // A local array, because the compiler must assume that `to` may alias the source.
        To numbers[lanes];
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
            numbers[lane] = number(elements + first + lane);
        }
        std::memcpy(to + first, numbers, sizeof numbers);
    });
}

}  // namespace

Bytes::Bytes(const core::Tensor& tensor)
    : packed_(core::is_packed(tensor.desc) ? core::Tensor() : core::packed_copy(tensor)),
      elements_((core::is_packed(tensor.desc) ? tensor : packed_).as<std::uint8_t>().data()),
      turned_(tensor.desc.data_type == core::DataType::int8 ? 0x80 : 0),
      offset_(turned_) {}

void Bytes::load(const ByteSegment& from, int zero_point, std::int32_t* to) const {
    const auto number = [turned = turned_, offset = offset_ + zero_point](const std::uint8_t* element) {
        return static_cast<std::int32_t>(*element ^ turned) - offset;
    };
    load_numbers(elements_ + from.first, from.step, from.count, number, to);
}

void Bytes::load_pairs(const ByteSegment& from, std::int64_t to_high, int zero_point, Pair* to) const {
    const int offset = offset_ + zero_point;
    if (to_high == 0) {
        const auto alone = [turned = turned_, offset](const std::uint8_t* element) {
            return pair_of((*element ^ turned) - offset, 0);
        };
        load_numbers(elements_ + from.first, from.step, from.count, alone, to);
        return;
    }
    const auto both = [turned = turned_, offset, to_high](const std::uint8_t* element) {
        return pair_of((*element ^ turned) - offset, (element[to_high] ^ turned) - offset);
    };
    load_numbers(elements_ + from.first, from.step, from.count, both, to);
}

}  // namespace dmlconform::cpu::product
