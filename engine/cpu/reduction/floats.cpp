// Copies elements that are not contiguous or narrower than FP32.
#include "engine/cpu/reduction/floats.h"

#include <algorithm>
#include <array>

#include "engine/cpu/element_wise/load_store.h"

namespace dmlconform::cpu::reduction {
namespace {

void copy(const core::Tensor& tensor, std::int64_t first, std::int64_t stride, std::span<float> room) {
    constexpr std::size_t longest = 512;
    std::array<double, longest> numbers;
    for (std::size_t k = 0; k < room.size(); k += longest) {
        const std::span<float> here = room.subspan(k, std::min(longest, room.size() - k));
        element_wise::load(tensor.buffer.bytes(),
                           {tensor.desc.data_type, first + static_cast<std::int64_t>(k) * stride, stride}, here.size(),
                           numbers.data());
        std::transform(numbers.data(), numbers.data() + here.size(), here.data(),
                       [](double number) { return static_cast<float>(number); });
    }
}

}  // namespace

const float* floats_of(const core::Tensor& tensor, std::int64_t first, std::int64_t stride, std::span<float> room) {
    if (lie_as_floats(tensor, stride)) {
        return floats_at(tensor, first);
    }
    copy(tensor, first, stride, room);
    return room.data();
}

}  // namespace dmlconform::cpu::reduction
