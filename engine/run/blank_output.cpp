// Going through the bits of elements, as far as it takes.
#include "engine/run/blank_output.h"

#include <array>
#include <cstring>

#include "engine/core/data_type.h"
#include "engine/core/element.h"
#include "engine/core/guard.h"
#include "engine/core/strided.h"

namespace dmlconform::run {
namespace {

/// The bits but for the sign of a floating-point type.
std::uint64_t magnitude(core::DataType type, std::uint64_t bits) {
    return core::is_floating_point(type) ? bits & ~(std::uint64_t{1} << (core::bits_of(type) - 1)) : bits;
}

/// Whether no device and no rounding makes zero of it.
bool is_far_from_zero(core::DataType type, std::uint64_t bits) {
    switch (type) {
        case core::DataType::float16:
            return (bits & 0x7c00u) != 0;
        case core::DataType::float32:
            return (bits & 0x7f800000u) != 0;
        case core::DataType::float64:
            return (bits & 0x7ff0000000000000u) != 0;
        default:
            const std::uint64_t minus_one = UINT64_MAX >> (64 - core::bits_of(type));
            return bits > 1 && !(core::is_signed_integer(type) && bits == minus_one);
    }
}

/// Whether all elements are, by their bits and where they lie.
template <class Is>
bool all_elements(const core::Tensor& tensor, const Is& is) {
    const core::DataType type = tensor.desc.data_type;
    const std::size_t size = core::bytes_of(type);
    const core::StridedRuns<1> runs(tensor.desc.sizes, {core::signed_strides(tensor.desc)});
    const auto bytes = tensor.buffer.bytes();
    bool all = true;
    runs.for_each_run([&](const auto& offsets) {
        for (std::int64_t i = 0; all && i < runs.run_length(); ++i) {
            const auto at = static_cast<std::uint64_t>(offsets[0] + i * runs.run_strides()[0]);
            std::uint64_t bits = 0;
            if (size == 0) {
                bits = core::load_element(bytes, type, at);
            } else {
                std::memcpy(&bits, bytes.data() + static_cast<std::size_t>(at) * size, size);
            }
            all = is(bits, at);
        }
    });
    return all;
}

/// The bits of an element there that nobody has written.
std::uint64_t untouched_bits(core::DataType type, std::uint64_t at) {
    std::array<std::byte, sizeof(std::uint64_t)> memory{};
    memory.fill(core::untouched);
    // Of elements that share a byte it matters which half they are.
    return core::load_element(memory, type, core::bytes_of(type) == 0 ? at % 2 : 0);
}

}  // namespace

std::optional<std::string> blank_output(const core::Tensor& expected, const core::Tensor& actual,
                                        bool zeros_are_bounded) {
    const core::DataType type = actual.desc.data_type;
    const auto is_untouched = [type](std::uint64_t bits, std::uint64_t at) { return bits == untouched_bits(type, at); };
    if (all_elements(actual, is_untouched) && !all_elements(expected, is_untouched)) {
        return "the engine wrote nothing to it";
    }
    const auto is_zero = [type](std::uint64_t bits, std::uint64_t) { return magnitude(type, bits) == 0; };
    const auto is_nearly_zero = [type](std::uint64_t bits, std::uint64_t) { return !is_far_from_zero(type, bits); };
    if (!zeros_are_bounded && all_elements(actual, is_zero) && !all_elements(expected, is_nearly_zero)) {
        return "it is all zero, and should not be";
    }
    return std::nullopt;
}

}  // namespace dmlconform::run
