// Copies elements that are not contiguous or narrower than FP32.
#include "engine/cpu/reduction/floats.h"

#include <type_traits>

#include "engine/core/data_type.h"
#include "engine/core/float16.h"

namespace dmlconform::cpu::reduction {

const float* floats_of(const core::Tensor& tensor, std::int64_t first, std::int64_t stride, std::span<float> room) {
    if (lie_as_floats(tensor, stride)) {
        return floats_at(tensor, first);
    }
    core::with_type(tensor.desc.data_type, [&]<class T>() {
        if constexpr (std::is_same_v<T, float> || std::is_same_v<T, core::Float16>) {
            const T* const elements = reinterpret_cast<const T*>(tensor.buffer.bytes().data()) + first;
            for (std::size_t k = 0; k < room.size(); ++k) {
                room[k] = static_cast<float>(elements[static_cast<std::int64_t>(k) * stride]);
            }
        }
    });
    return room.data();
}

}  // namespace dmlconform::cpu::reduction
