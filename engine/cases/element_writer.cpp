// Converts the bits of elements to JSON numbers and strings.
#include "engine/cases/element_writer.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/core/element.h"

namespace dmlconform::cases {
namespace {

using nlohmann::ordered_json;

ordered_json floating_json(core::DataType type, std::uint64_t bits) {
    const double value = core::decode_element(type, bits);
    if (std::isinf(value)) {
        return value < 0 ? "-inf" : "inf";
    }
    if (std::isnan(value)) {
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        return core::encode_element(type, nan) == bits ? ordered_json("nan") : ordered_json();
    }
    if (value == 0 && !std::signbit(value)) {
        return 0;
    }
    // The shortest digits that distinguish the number from its neighbours. Parsing may round twice, which is checked
    // below.
    ordered_json number = ordered_json::parse(core::format_element(type, bits), nullptr, false);
    // "-0" would be parsed as an integer, which has no negative zero.
    if (number.is_number() && value != 0 && core::encode_element(type, number.get<double>()) == bits) {
        return number;
    }
    return core::encode_element(type, value) == bits ? ordered_json(value) : ordered_json();
}

}  // namespace

ordered_json element_json(core::DataType type, std::uint64_t bits) {
    if (!core::is_floating_point(type)) {
        if (core::is_signed_integer(type)) {
            const std::uint32_t unused = 64 - core::bits_of(type);
            return static_cast<std::int64_t>(bits << unused) >> unused;
        }
        return bits;
    }
    ordered_json json = floating_json(type, bits);
    return json.is_null() ? ordered_json(core::format_bits(type, bits)) : json;
}

}  // namespace dmlconform::cases
