// Converts JSON numbers and strings to the bits of elements.
#include "engine/cases/element_reader.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/core/utf8.h"

namespace dmlconform::cases {
namespace {

core::Result<std::uint64_t> read_bits(const std::string& text, core::DataType type) {
    std::uint64_t bits = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + 2, end, bits, 16);
    if (error == std::errc::invalid_argument || stop != end) {
        return core::fail(fmt::format("\"{}\" is not a hexadecimal number", core::shortened(text)));
    }
    const std::uint32_t width = core::bits_of(type);
    if (error != std::errc() || (width < 64 && bits >> width != 0)) {
        return core::fail(
            fmt::format("\"{}\" has more than the {} bits of {}", core::shortened(text), width, core::name(type)));
    }
    return bits;
}

}  // namespace

core::Result<std::uint64_t> read_element(const JsonValue& value, core::DataType type) {
    if (const std::string* text = value.string()) {
        if (text->starts_with("0x")) {
            return read_bits(*text, type);
        }
        constexpr double infinity = std::numeric_limits<double>::infinity();
        constexpr std::array<std::pair<std::string_view, double>, 4> words{
            {{"nan", std::numeric_limits<double>::quiet_NaN()},
             {"inf", infinity},
             {"+inf", infinity},
             {"-inf", -infinity}}};
        for (const auto& [word, number] : words) {
            if (word == *text && core::is_floating_point(type)) {
                return core::encode_element(type, number);
            }
        }
        return core::fail(fmt::format("\"{}\" is not a value of {}", core::shortened(*text), core::name(type)),
                          core::is_floating_point(type)
                              ? R"(write a number, "nan", "inf", "-inf", or "0x…" for the bits)"
                              : R"(write a number, or "0x…" for the bits)");
    }
    if (std::holds_alternative<RoundedNumber>(value.content) && !core::is_floating_point(type)) {
        return core::fail(fmt::format("this number is not an integer, as {} is", core::name(type)));
    }
    if (const auto number = value.floating()) {
        // From 2^53 on, a double stands for several integers, so the written one is unknown. Integers beyond 64 bits
        // are doubles, too.
        if (!core::is_floating_point(type) && std::fabs(*number) >= 0x1p53) {
            return core::fail(fmt::format("{} is out of the range of {} ({}), or written inexactly", *number,
                                          core::name(type), core::range_of(type)),
                              "write integers from 2^53 on without point and exponent");
        }
        return core::encode_element(type, *number);
    }
    if (const auto integer = integer_of(value)) {
        return core::encode_element(type, *integer);
    }
    return core::fail(fmt::format("expected a value of {}, found {}", core::name(type), value.kind_name()));
}

bool spells_negative_zero(const JsonValue& value, core::DataType type, std::uint64_t bits) {
    return core::is_floating_point(type) && bits == std::uint64_t{1} << (core::bits_of(type) - 1) &&
           number_of(value).value_or(0) == 0;
}

std::optional<core::Integer> integer_of(const JsonValue& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value.content)) {
        const auto bits = static_cast<std::uint64_t>(*number);
        return core::Integer{*number < 0, *number < 0 ? std::uint64_t{0} - bits : bits};
    }
    if (const auto* number = std::get_if<std::uint64_t>(&value.content)) {
        return core::Integer{false, *number};
    }
    const auto* number = std::get_if<double>(&value.content);
    if (number != nullptr && std::nearbyint(*number) == *number && std::fabs(*number) < 0x1p53) {
        return core::Integer{*number < 0, static_cast<std::uint64_t>(std::fabs(*number))};
    }
    return std::nullopt;
}

std::optional<double> number_of(const JsonValue& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value.content)) {
        return static_cast<double>(*number);
    }
    if (const auto* number = std::get_if<std::uint64_t>(&value.content)) {
        return static_cast<double>(*number);
    }
    return value.floating();
}

std::string number_text(const JsonValue& value) {
    if (std::holds_alternative<RoundedNumber>(value.content)) {
        return "a number with a fraction";
    }
    const auto integer = integer_of(value);
    return integer ? fmt::format("{}{}", integer->negative ? "-" : "", integer->magnitude)
                   : fmt::format("{}", number_of(value).value_or(0));
}

}  // namespace dmlconform::cases
