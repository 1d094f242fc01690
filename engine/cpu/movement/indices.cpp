// Reading of indices.
#include "engine/cpu/movement/indices.h"

namespace dmlconform::cpu::movement {

std::int64_t Indices::at(std::int64_t address) const {
    const auto place = static_cast<std::size_t>(address);
    switch (tensor_.desc.data_type) {
        case core::DataType::int32:
            return tensor_.as<std::int32_t>()[place];
        case core::DataType::int64:
            return tensor_.as<std::int64_t>()[place];
        case core::DataType::uint32:
            return tensor_.as<std::uint32_t>()[place];
        case core::DataType::uint64:
        default: {
            constexpr auto furthest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
            return static_cast<std::int64_t>(std::min(tensor_.as<std::uint64_t>()[place], furthest));
        }
    }
}

}  // namespace dmlconform::cpu::movement
