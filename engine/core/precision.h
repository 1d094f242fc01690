// The precision in which an engine promises to compute.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dmlconform::core {

/// `fp32`: every operation in FP32. `tf32`, `bf16`: operands of products may be rounded to 11 or 8 significant bits
/// first. `fp16`: every operation may be rounded to 11 significant bits, and so may partial sums.
enum class Precision : std::uint8_t { fp32, tf32, bf16, fp16 };

inline constexpr std::array<std::string_view, 4> precision_names{"fp32", "tf32", "bf16", "fp16"};

[[nodiscard]] constexpr std::string_view to_string(Precision precision) {
    return precision_names[static_cast<std::size_t>(precision)];
}

/// Significant bits of the format that values are rounded to, including the leading one.
[[nodiscard]] constexpr int significant_bits(Precision precision) {
    constexpr std::array<int, precision_names.size()> bits{24, 11, 8, 11};
    return bits[static_cast<std::size_t>(precision)];
}

[[nodiscard]] constexpr std::optional<Precision> parse_precision(std::string_view text) {
    for (std::size_t i = 0; i < precision_names.size(); ++i) {
        if (precision_names[i] == text) {
            return static_cast<Precision>(i);
        }
    }
    return std::nullopt;
}

}  // namespace dmlconform::core
