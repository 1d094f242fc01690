// Draws elements: first a distribution for the tensor, then each element.
#include "engine/fuzz/values.h"

#include <array>
#include <functional>
#include <limits>

#include "engine/core/element.h"
#include "engine/core/floating_format.h"

namespace dmlconform::fuzz {
namespace {

using core::DataType;
using Make = std::function<std::uint64_t(Random&)>;

std::uint64_t encoded(DataType type, double value) {
    return core::encode_element(type, value).value_or(0);
}

/// By multiplication, because the library's functions differ between machines.
double power_of_two(std::int32_t exponent) {
    double power = 1;
    for (; exponent > 0; --exponent) {
        power *= 2;
    }
    for (; exponent < 0; ++exponent) {
        power /= 2;
    }
    return power;
}

std::uint64_t random_bits(Random& random, DataType type) {
    return random.bits() >> (64 - core::bits_of(type));
}

bool is_nan(DataType type, std::uint64_t bits) {
    const double value = core::decode_element(type, bits);
    return value != value;
}

bool is_subnormal(DataType type, std::uint64_t bits) {
    const double value = core::decode_element(type, bits);
    const double magnitude = value < 0 ? -value : value;
    return type == DataType::float32 && magnitude != 0 && magnitude < core::float32.smallest_normal;
}

/// The limits of a type's range, zeros and their neighbours, and infinities.
std::uint64_t special(Random& random, DataType type) {
    if (!core::is_floating_point(type)) {
        const std::uint64_t highest = std::uint64_t{1} << (core::bits_of(type) - 1);
        const std::array<std::uint64_t, 6> integers{0, 1, highest - 1, highest, highest + 1, ~std::uint64_t{0}};
        return random.one_of(integers) & (~std::uint64_t{0} >> (64 - core::bits_of(type)));
    }
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double largest = core::format_of(type).largest;
    const std::array<double, 10> numbers{0, -0.0, 1, -1, largest, -largest, infinity, -infinity, 0.5, 2};
    return encoded(type, random.one_of(numbers));
}

/// Integers from 0 or from -3, which every type can represent.
std::uint64_t few(Random& random, DataType type) {
    const bool is_signed = core::is_floating_point(type) || core::is_signed_integer(type);
    return encoded(type, static_cast<double>(random.below(8)) - (is_signed ? 3 : 0));
}

Make ordered(Random& random, DataType type) {
    switch (random.below(3)) {
        case 0:
            return [type](Random& r) { return few(r, type); };
        case 1:
            return [type](Random& r) { return special(r, type); };
        default:
            return [type](Random& r) {
                std::uint64_t bits = random_bits(r, type);
                while (core::is_floating_point(type) && (is_nan(type, bits) || is_subnormal(type, bits))) {
                    bits = random_bits(r, type);
                }
                return bits;
            };
    }
}

Make any_bits(Random& random, DataType type) {
    if (random.chance(1, 2)) {
        return [type](Random& r) { return random_bits(r, type); };
    }
    return ordered(random, type);
}

/// Numbers of one magnitude, with an offset that is not much larger.
Make numbers(Random& random, DataType type) {
    if (!core::is_floating_point(type)) {
        return [type](Random& r) { return random_bits(r, type); };
    }
    if (random.chance(1, 4)) {
        return [type](Random& r) { return few(r, type); };
    }
    const double magnitude = power_of_two(static_cast<std::int32_t>(random.below(11)) - 5);
    const double offset = random.chance(1, 2) ? 0 : magnitude * (random.unit() * 4 - 2);
    return [type, magnitude, offset](Random& r) {
        // Rounded to 20 bits, so that printed numbers are short.
        const double fraction = static_cast<double>(static_cast<std::int64_t>(r.unit() * 0x1p20)) * 0x1p-19 - 1;
        return encoded(type, offset + magnitude * fraction);
    };
}

/// An integer whose number of bits is random, and so is its sign.
std::uint64_t integer(Random& random, DataType type, ElementKind kind) {
    const bool is_signed = core::is_signed_integer(type);
    const std::uint32_t width = core::bits_of(type) - (is_signed ? 1 : 0);
    const std::uint32_t bits = random.below(width + 1);
    std::uint64_t magnitude = bits == 0 ? 0 : random.bits() >> (64 - bits);
    if (kind == ElementKind::nonzero && magnitude <= 1) {
        magnitude += 2;
    }
    const bool is_negative = is_signed && random.chance(1, 2);
    const std::uint64_t value = !is_negative                   ? magnitude
                                : kind == ElementKind::integer ? ~magnitude
                                                               : std::uint64_t{0} - magnitude;
    return value & (~std::uint64_t{0} >> (64 - core::bits_of(type)));
}

Make maker(Random& random, DataType type, ElementKind kind) {
    switch (kind) {
        case ElementKind::bits:
            return any_bits(random, type);
        case ElementKind::ordered:
            return ordered(random, type);
        case ElementKind::scale:
        case ElementKind::divisor:
            return [type, lowest = kind == ElementKind::scale ? -6 : 3](Random& r) {
                const double power = power_of_two(lowest + static_cast<std::int32_t>(r.below(9)));
                return encoded(type, r.chance(1, 2) ? power : power * (1 + static_cast<double>(r.below(256)) / 256));
            };
        case ElementKind::small:
            return [type](Random& r) { return encoded(type, static_cast<double>(r.below(65536)) - 32768); };
        case ElementKind::index:
            return [type](Random& r) { return encoded(type, r.chance(1, 2) ? 0 : r.below(3)); };
        case ElementKind::integer:
        case ElementKind::negatable:
        case ElementKind::nonzero:
            return [type, kind](Random& r) { return integer(r, type, kind); };
        case ElementKind::shift:
            return [type](Random& r) { return encoded(type, r.below(core::bits_of(type))); };
        case ElementKind::common:
            return [type](Random& r) { return encoded(type, r.below(128)); };
        case ElementKind::number:
        default:
            return numbers(random, type);
    }
}

}  // namespace

std::vector<std::byte> random_elements(Random& random, const core::TensorDesc& desc, ElementKind kind) {
    const std::uint64_t count = core::element_count(desc.sizes).value_or(0);
    std::vector<std::byte> elements(static_cast<std::size_t>(core::bytes_of(desc.data_type, count)));
    const Make make = maker(random, desc.data_type, kind);
    for (std::uint64_t i = 0; i < count; ++i) {
        core::store_element(elements, desc.data_type, i, make(random));
    }
    return elements;
}

}  // namespace dmlconform::fuzz
