// Creation and checking of guards.
#include "engine/core/guard.h"

#include <algorithm>
#include <limits>
#include <new>

namespace dmlconform::core {

std::uint64_t guard_offset(const TensorDesc& desc) {
    if (desc.total_bytes > std::numeric_limits<std::uint64_t>::max() - guard_bytes - 3) {
        throw std::bad_alloc();
    }
    return (desc.total_bytes + 3) / 4 * 4;
}

Tensor output_tensor(const TensorDesc& desc) {
    Tensor tensor;
    tensor.desc = desc;
    tensor.buffer = Buffer(guard_offset(desc) + guard_bytes);
    std::ranges::fill(tensor.buffer.bytes(), untouched);
    return tensor;
}

std::span<const std::byte> guard_of(const Tensor& output) {
    return output.buffer.bytes().subspan(static_cast<std::size_t>(guard_offset(output.desc)));
}

std::optional<StrayWrite> find_stray_write(std::span<const std::byte> guard) {
    const auto written = [](std::byte byte) { return byte != untouched; };
    const auto first = std::ranges::find_if(guard, written);
    if (first == guard.end()) {
        return std::nullopt;
    }
    return StrayWrite{static_cast<std::uint64_t>(first - guard.begin()),
                      static_cast<std::uint64_t>(std::count_if(first, guard.end(), written))};
}

std::optional<StrayWrite> find_stray_write(const Tensor& output) {
    return find_stray_write(guard_of(output));
}

}  // namespace dmlconform::core
