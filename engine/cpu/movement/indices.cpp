// Reading of indices.
#include "engine/cpu/movement/indices.h"

#include <type_traits>

namespace dmlconform::cpu::movement {

namespace {

template <class T>
void load_as(const core::Tensor& tensor, std::int64_t first, std::int64_t stride, std::span<std::int64_t> to) {
    const T* const from = tensor.as<T>().data() + first;
    for (std::size_t i = 0; i < to.size(); ++i) {
        const T index = from[static_cast<std::int64_t>(i) * stride];
        if constexpr (std::is_same_v<T, std::uint64_t>) {
            constexpr auto furthest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
            to[i] = static_cast<std::int64_t>(std::min(index, furthest));
        } else {
            to[i] = index;
        }
    }
}

}  // namespace

void Indices::load(std::int64_t first, std::int64_t stride, std::span<std::int64_t> to) const {
    switch (tensor_.desc.data_type) {
        case core::DataType::int32:
            return load_as<std::int32_t>(tensor_, first, stride, to);
        case core::DataType::int64:
            return load_as<std::int64_t>(tensor_, first, stride, to);
        case core::DataType::uint32:
            return load_as<std::uint32_t>(tensor_, first, stride, to);
        case core::DataType::uint64:
        default:
            return load_as<std::uint64_t>(tensor_, first, stride, to);
    }
}

std::int64_t Indices::at(std::int64_t address) const {
    std::int64_t index = 0;
    load(address, 0, {&index, 1});
    return index;
}

}  // namespace dmlconform::cpu::movement
