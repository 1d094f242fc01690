// Finds blank and unwritten outputs by the bits of their elements.
#include "engine/run/blank_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>

#include "engine/core/data_type.h"
#include "engine/core/element.h"
#include "engine/core/guard.h"
#include "engine/core/strided.h"

namespace dmlconform::run {
namespace {

/// The bits without the sign of a floating-point type.
std::uint64_t magnitude(core::DataType type, std::uint64_t bits) {
    return core::is_floating_point(type) ? bits & ~(std::uint64_t{1} << (core::bits_of(type) - 1)) : bits;
}

/// True unless flushing subnormals to zero, or rounding to integers, can turn the number into 0.
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

/// The bits of the element at an offset.
std::uint64_t bits_at(std::span<const std::byte> bytes, core::DataType type, std::size_t size, std::uint64_t at) {
    if (size == 0) {
        return core::load_element(bytes, type, at);
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + static_cast<std::size_t>(at) * size, size);
    return bits;
}

/// True if `is` holds for the bits and the offset of all elements. Stops at the first element in row-major order for
/// which it does not.
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
            all = is(bits_at(bytes, type, size, at), at);
        }
    });
    return all;
}

/// The bits of an element at that offset in untouched memory.
std::uint64_t untouched_bits(core::DataType type, std::uint64_t at) {
    std::array<std::byte, sizeof(std::uint64_t)> memory{};
    memory.fill(core::untouched);
    // For 4-bit elements, the half of the byte matters.
    return core::load_element(memory, type, core::bytes_of(type) == 0 ? at % 2 : 0);
}

std::uint64_t count_of(const core::Tensor& tensor) {
    return core::element_count(tensor.desc.sizes).value_or(0);
}

/// Calls visit(first, count) for the unwritten elements among the first `elements`: they still have the pattern of
/// untouched memory, `reference` has other bits there, and they form runs of at least 32 bits. A shorter run may be a
/// computed value by chance, unless it is the whole output.
template <class Visit>
void for_each_unwritten(const core::Tensor& actual, const core::Tensor* reference, std::uint64_t elements,
                        const Visit& visit) {
    const core::DataType type = actual.desc.data_type;
    const std::size_t size = core::bytes_of(type);
    const std::uint64_t shortest =
        std::min<std::uint64_t>(elements, (32 + core::bits_of(type) - 1) / core::bits_of(type));
    const core::Tensor& other = reference == nullptr ? actual : *reference;
    const core::StridedRuns<2> runs(actual.desc.sizes,
                                    {core::signed_strides(actual.desc), core::signed_strides(other.desc)});
    std::uint64_t run = 0;
    std::uint64_t index = 0;
    const auto take = [&](std::uint64_t at, std::uint64_t other_at) {
        const std::uint64_t bits = bits_at(actual.buffer.bytes(), type, size, at);
        const bool expected = reference != nullptr && bits_at(other.buffer.bytes(), type, size, other_at) == bits;
        run = bits == untouched_bits(type, at) && !expected ? run + 1 : 0;
        ++index;
        if (run == shortest) {
            visit(index - shortest, shortest);
        } else if (run > shortest) {
            visit(index - 1, std::uint64_t{1});
        }
    };
    runs.for_each_run([&](const auto& offsets) {
        for (std::int64_t i = 0; index < elements && i < runs.run_length(); ++i) {
            take(static_cast<std::uint64_t>(offsets[0] + i * runs.run_strides()[0]),
                 static_cast<std::uint64_t>(offsets[1] + i * runs.run_strides()[1]));
        }
    });
}

std::uint64_t unwritten_elements(const core::Tensor& actual, const core::Tensor* reference, std::uint64_t elements) {
    std::uint64_t unwritten = 0;
    for_each_unwritten(actual, reference, elements,
                       [&](std::uint64_t /*first*/, std::uint64_t count) { unwritten += count; });
    return unwritten;
}

bool is_all_nan(const core::Tensor& tensor) {
    const core::DataType type = tensor.desc.data_type;
    const auto is_nan = [type](std::uint64_t bits, std::uint64_t) {
        return std::isnan(core::decode_element(type, bits));
    };
    return core::is_floating_point(type) && all_elements(tensor, is_nan);
}

}  // namespace

bool is_untouched(const core::Tensor& tensor) {
    const core::DataType type = tensor.desc.data_type;
    return all_elements(tensor,
                        [type](std::uint64_t bits, std::uint64_t at) { return bits == untouched_bits(type, at); });
}

bool looks_unwritten(const core::Tensor& actual) {
    const auto is_zero = [&](std::uint64_t bits, std::uint64_t) { return magnitude(actual.desc.data_type, bits) == 0; };
    return unwritten_elements(actual, nullptr, count_of(actual)) != 0 || all_elements(actual, is_zero) ||
           is_all_nan(actual);
}

std::vector<std::uint64_t> unwritten_at(const core::Tensor& actual, const core::Tensor& expected,
                                        std::uint64_t meaningful) {
    std::vector<std::uint64_t> indices;
    const std::uint64_t elements = std::min(count_of(actual), meaningful);
    if (elements == 0) {
        return indices;
    }
    for_each_unwritten(actual, &expected, elements, [&](std::uint64_t first, std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
            indices.push_back(first + i);
        }
    });
    return indices;
}

std::optional<std::string> unwritten_part(const core::Tensor& actual, const core::Tensor* expected,
                                          std::uint64_t meaningful) {
    const std::uint64_t elements = std::min(count_of(actual), meaningful);
    const std::uint64_t unwritten = elements == 0 ? 0 : unwritten_elements(actual, expected, elements);
    if (unwritten == 0) {
        return std::nullopt;
    }
    return unwritten == elements ? "the engine wrote nothing to it"
                                 : fmt::format("the engine left {} of its {} elements unwritten", unwritten, elements);
}

std::optional<std::string> unusable_answer(const core::Tensor& actual, const core::Tensor* reference, bool is_accepted,
                                           std::uint64_t meaningful) {
    if (auto unwritten = unwritten_part(actual, reference, meaningful)) {
        return unwritten;
    }
    if (reference == nullptr || meaningful == 0) {
        return std::nullopt;
    }
    if (!is_accepted && is_all_nan(actual) && !is_all_nan(*reference)) {
        return "it is all NaN, and should not be";
    }
    return blank_output(*reference, actual, is_accepted);
}

std::optional<std::string> blank_output(const core::Tensor& expected, const core::Tensor& actual,
                                        bool zeros_are_bounded) {
    const core::DataType type = actual.desc.data_type;
    if (is_untouched(actual) && !is_untouched(expected)) {
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
