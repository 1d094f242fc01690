// Conversions between elements' bits, numbers and text.
#include "engine/core/element.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace dmlconform::core {
namespace {

std::uint64_t mask_of(DataType type) {
    return bits_of(type) == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits_of(type)) - 1;
}

std::uint64_t largest(DataType type) {
    return is_signed_integer(type) ? mask_of(type) >> 1 : mask_of(type);
}

std::int64_t sign_extended(DataType type, std::uint64_t bits) {
    const std::uint32_t unused = 64 - bits_of(type);
    return static_cast<std::int64_t>(bits << unused) >> unused;
}

template <class T>
std::uint64_t bits_from(T value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
}

template <class T>
T value_from(std::uint64_t bits) {
    T value{};
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}

/// True for the 4-bit types: two elements share a byte, the first in its low half.
bool shares_bytes(DataType type) {
    return bits_of(type) == 4;
}

unsigned half_of(std::uint64_t index) {
    return index % 2 == 0 ? 0 : 4;
}

}  // namespace

std::uint64_t load_element(std::span<const std::byte> storage, DataType type, std::uint64_t index) {
    if (shares_bytes(type)) {
        return (std::to_integer<std::uint64_t>(storage[static_cast<std::size_t>(index / 2)]) >> half_of(index)) & 0xf;
    }
    const std::size_t size = bytes_of(type);
    std::uint64_t bits = 0;
    std::memcpy(&bits, storage.subspan(static_cast<std::size_t>(index) * size, size).data(), size);
    return bits;
}

void store_element(std::span<std::byte> storage, DataType type, std::uint64_t index, std::uint64_t bits) {
    if (shares_bytes(type)) {
        std::byte& both = storage[static_cast<std::size_t>(index / 2)];
        const auto half = static_cast<std::byte>((bits & 0xf) << half_of(index));
        both = (both & ~(std::byte{0xf} << half_of(index))) | half;
        return;
    }
    const std::size_t size = bytes_of(type);
    std::memcpy(storage.subspan(static_cast<std::size_t>(index) * size, size).data(), &bits, size);
}

Result<std::uint64_t> encode_element(DataType type, double value) {
    if (!is_floating_point(type)) {
        if (std::nearbyint(value) != value || std::fabs(value) >= 0x1p64) {
            return fail(fmt::format("{} is not an integer that {} holds ({})", value, name(type), range_of(type)));
        }
        return encode_element(type, Integer{value < 0, static_cast<std::uint64_t>(std::fabs(value))});
    }
    std::uint64_t bits = 0;
    if (type == DataType::float64) {
        bits = bits_from(value);
    } else if (type == DataType::float16) {
        bits = float16_bits_from_double(value);
    } else if (std::fabs(value) <= double{std::numeric_limits<float>::max()} || !std::isfinite(value)) {
        bits = bits_from(static_cast<float>(value));
    } else {
        // FLT_MAX plus half an ULP rounds to 2^128, which is out of range.
        bits = bits_from(std::copysign(std::fabs(value) < 0x1.ffffffp127 ? std::numeric_limits<float>::max()
                                                                         : std::numeric_limits<float>::infinity(),
                                       static_cast<float>(value < 0 ? -1 : 1)));
    }
    if (std::isfinite(value) && !std::isfinite(decode_element(type, bits))) {
        return fail(fmt::format("{} is out of the range of {}", value, name(type)), "write \"inf\" for infinity");
    }
    return bits;
}

Result<std::uint64_t> encode_element(DataType type, Integer value) {
    if (is_floating_point(type)) {
        const auto magnitude = static_cast<double>(value.magnitude);
        return encode_element(type, value.negative ? -magnitude : magnitude);
    }
    const std::uint64_t most_negative = is_signed_integer(type) ? largest(type) + 1 : 0;
    if (value.magnitude > (value.negative ? most_negative : largest(type))) {
        return fail(fmt::format("{}{} is out of the range of {} ({})", value.negative ? "-" : "", value.magnitude,
                                name(type), range_of(type)));
    }
    return (value.negative ? std::uint64_t{0} - value.magnitude : value.magnitude) & mask_of(type);
}

double decode_element(DataType type, std::uint64_t bits) {
    switch (type) {
        case DataType::float32:
            return double{value_from<float>(bits)};
        case DataType::float16:
            return float16_bits_to_double(static_cast<std::uint16_t>(bits));
        case DataType::float64:
            return value_from<double>(bits);
        default:
            return is_signed_integer(type) ? static_cast<double>(sign_extended(type, bits)) : static_cast<double>(bits);
    }
}

std::string format_element(DataType type, std::uint64_t bits) {
    switch (type) {
        case DataType::float32:
            return fmt::format("{}", value_from<float>(bits));
        case DataType::float16:
            // Five significant digits distinguish all binary16 numbers.
            return fmt::format("{:.5g}", float16_bits_to_double(static_cast<std::uint16_t>(bits)));
        case DataType::float64:
            return fmt::format("{}", value_from<double>(bits));
        default:
            return is_signed_integer(type) ? fmt::format("{}", sign_extended(type, bits)) : fmt::format("{}", bits);
    }
}

std::string format_bits(DataType type, std::uint64_t bits) {
    return fmt::format("0x{:0{}x}", bits, bits_of(type) / 4);
}

std::string range_of(DataType type) {
    if (is_floating_point(type)) {
        return std::string(name(type));
    }
    return is_signed_integer(type) ? fmt::format("-{} to {}", largest(type) + 1, largest(type))
                                   : fmt::format("0 to {}", largest(type));
}

}  // namespace dmlconform::core
