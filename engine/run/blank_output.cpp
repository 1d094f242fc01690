// Going through the bits of elements, as far as it takes.
#include "engine/run/blank_output.h"

#include <cstring>

#include "engine/core/data_type.h"
#include "engine/core/guard.h"
#include "engine/core/strided.h"

namespace dmlconform::run {
namespace {

/// Which bits tell that an element is not zero, and which that it is neither zero nor subnormal.
struct Masks {
    std::uint64_t value = UINT64_MAX;
    std::uint64_t normal = UINT64_MAX;
};

Masks masks_of(core::DataType type) {
    switch (type) {
        case core::DataType::float16:
            return {0x7fff, 0x7c00};
        case core::DataType::float32:
            return {0x7fffffff, 0x7f800000};
        case core::DataType::float64:
            return {0x7fffffffffffffff, 0x7ff0000000000000};
        default:
            return {};
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

std::optional<std::string> blank_output(const core::Tensor& expected, const core::Tensor& actual) {
    const std::size_t size = core::bytes_of(actual.desc.data_type);
    std::uint64_t pattern = 0;
    std::memset(&pattern, std::to_integer<int>(core::untouched), size);
    const auto is_untouched = [&](std::uint64_t bits) { return bits == pattern; };
    if (all_elements(actual, is_untouched) && !all_elements(expected, is_untouched)) {
        return "the engine wrote nothing to it";
    }
    const Masks masks = masks_of(actual.desc.data_type);
    if (all_elements(actual, [&](std::uint64_t bits) { return (bits & masks.value) == 0; }) &&
        !all_elements(expected, [&](std::uint64_t bits) { return (bits & masks.normal) == 0; })) {
        return "it is all zero, and should not be";
    }
    return std::nullopt;
}

}  // namespace dmlconform::run
