// Converts attributes to elements.
#include "engine/cpu/movement/constant.h"

#include <array>
#include <bit>

#include "engine/core/element.h"
#include "engine/cpu/element_wise/load_store.h"

namespace dmlconform::cpu::movement {

std::uint64_t constant_of(const operators::Descriptor& descriptor, std::string_view field, core::DataType type) {
    const operators::FieldValue& value = descriptor.value(field);
    if (const auto* scalar = std::get_if<operators::ScalarUnion>(&value)) {
        return scalar->bits & (~std::uint64_t{0} >> (64 - core::bits_of(type)));
    }
    const float number = std::get<float>(value);
    if (type == core::DataType::float32) {
        return std::bit_cast<std::uint32_t>(number);
    }
    std::array<std::byte, 8> memory{};
    const double exact{number};
    element_wise::store(memory, {type, 0, 0}, 1, &exact, element_wise::Store::converting);
    return core::load_element(memory, type, 0);
}

}  // namespace dmlconform::cpu::movement
