// Going through the bits of elements, as far as it takes.
#include "engine/run/blank_output.h"

#include <cstring>

#include "engine/core/data_type.h"
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

/// Whether all elements are, by their bits.
template <class Is>
bool all_elements(const core::Tensor& tensor, const Is& is) {
    const std::size_t size = core::bytes_of(tensor.desc.data_type);
    const core::StridedRuns<1> runs(tensor.desc.sizes, {core::signed_strides(tensor.desc)});
    const std::byte* const data = tensor.buffer.bytes().data();
    bool all = true;
    runs.for_each_run([&](const auto& offsets) {
        for (std::int64_t i = 0; all && i < runs.run_length(); ++i) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, data + static_cast<std::size_t>(offsets[0] + i * runs.run_strides()[0]) * size, size);
            all = is(bits);
        }
    });
    return all;
}

}  // namespace

std::optional<std::string> blank_output(const core::Tensor& expected, const core::Tensor& actual,
                                        bool zeros_are_bounded) {
    if (core::bytes_of(actual.desc.data_type) == 0) {
        return blank_output(core::widened_copy(expected), core::widened_copy(actual), zeros_are_bounded);
    }
    const std::size_t size = core::bytes_of(actual.desc.data_type);
    std::uint64_t pattern = 0;
    std::memset(&pattern, std::to_integer<int>(core::untouched), size);
    const auto is_untouched = [&](std::uint64_t bits) { return bits == pattern; };
    if (all_elements(actual, is_untouched) && !all_elements(expected, is_untouched)) {
        return "the engine wrote nothing to it";
    }
    const core::DataType type = actual.desc.data_type;
    if (!zeros_are_bounded && all_elements(actual, [&](std::uint64_t bits) { return magnitude(type, bits) == 0; }) &&
        !all_elements(expected, [&](std::uint64_t bits) { return !is_far_from_zero(type, bits); })) {
        return "it is all zero, and should not be";
    }
    return std::nullopt;
}

}  // namespace dmlconform::run
