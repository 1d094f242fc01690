// Initialiser with the same value for every element.

#include <algorithm>
#include <array>
#include <cstring>

#include "engine/cases/element_reader.h"
#include "engine/cases/sources/sources.h"
#include "engine/cases/tensor_desc_reader.h"

namespace dmlconform::cases {
namespace {

class ConstantSource final : public ElementSource {
public:
    ConstantSource(std::uint64_t bits, bool spells_negative_zero)
        : bits_(bits), spells_negative_zero_(spells_negative_zero) {}

    [[nodiscard]] core::Result<void> write(core::DataType type, std::span<std::byte> elements) const override {
        const std::size_t width = core::bytes_of(type);
        if (width == 0) {
            std::ranges::fill(elements, static_cast<std::byte>(bits_ * 0x11));  // two elements per byte
            return {};
        }
        for (std::size_t i = 0; i < elements.size(); i += width) {
            std::memcpy(&elements[i], &bits_, width);
        }
        return {};
    }

    [[nodiscard]] bool spells_negative_zero() const override { return spells_negative_zero_; }

private:
    std::uint64_t bits_;
    bool spells_negative_zero_;
};

}  // namespace

SourcePointer read_constant(const JsonValue& object, const core::TensorDesc& desc, ProblemSink& problems) {
    static const std::array<std::string, 1> keys{"value"};
    if (!check_keys(object, keys, "a constant", problems)) {
        return nullptr;
    }
    const JsonValue& value = *object.find("value");
    const auto bits = read_element(value, desc.data_type);
    if (!bits) {
        problems.add(value.offset, bits.error().message, bits.error().hint);
        return nullptr;
    }
    return std::make_shared<ConstantSource>(*bits, spells_negative_zero(value, desc.data_type, *bits));
}

}  // namespace dmlconform::cases
