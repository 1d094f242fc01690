// Sets extreme numbers. Attributes are changed one by one, so that one that cannot be changed does not prevent others.
#include "engine/fuzz/extremes.h"

#include <array>
#include <functional>
#include <limits>

#include "engine/core/element.h"
#include "engine/operators/rules.h"

namespace dmlconform::fuzz {
namespace {

using operators::Descriptor;

/// NaN, infinities, the limits of FLOAT16, FLOAT32 and the integers that positions are converted to, and small
/// integers.
double extreme(Random& random) {
    using Limits = std::numeric_limits<double>;
    static constexpr std::array<double, 20> numbers{Limits::quiet_NaN(),
                                                    Limits::quiet_NaN(),
                                                    Limits::infinity(),
                                                    -Limits::infinity(),
                                                    0x1.fffffep127,
                                                    -0x1.fffffep127,
                                                    0x1p31,
                                                    -0x1p31,
                                                    0x1p32,
                                                    -0x1.8p32,
                                                    0x1p63,
                                                    -0x1p63,
                                                    0x1p64,
                                                    65504,
                                                    -65504,
                                                    0x1p-126,
                                                    -0x1p-149,
                                                    0,
                                                    -0.0,
                                                    -1};
    return random.one_of(numbers);
}

/// Infinity if the number is out of the type's range.
std::uint64_t extreme_bits(Random& random, core::DataType type) {
    const auto bits = core::encode_element(type, extreme(random));
    return bits ? *bits : *core::encode_element(type, std::numeric_limits<double>::infinity());
}

/// Calls change(number) for each floating-point number of the value.
using Change = std::function<void(float& number)>;

void for_each_number(operators::FieldValue& value, const Change& change);

void for_each_number(operators::OperatorDesc& activation, const Change& change) {
    auto changed = std::make_shared<Descriptor>(*activation);
    for (operators::FieldValue& value : changed->values) {
        for_each_number(value, change);
    }
    activation = std::move(changed);
}

void for_each_number(operators::FieldValue& value, const Change& change) {
    if (auto* number = std::get_if<float>(&value)) {
        change(*number);
    } else if (auto* list = std::get_if<std::vector<float>>(&value)) {
        for (float& item : *list) {
            change(item);
        }
    } else if (auto* linear = std::get_if<operators::ScaleBias>(&value)) {
        change(linear->scale);
        change(linear->bias);
    } else if (auto* activation = std::get_if<operators::OperatorDesc>(&value)) {
        for_each_number(*activation, change);
    } else if (auto* activations = std::get_if<operators::OperatorDescArray>(&value)) {
        for (operators::OperatorDesc& item : activations->items) {
            for_each_number(item, change);
        }
    }
}

}  // namespace

void set_extreme_attributes(Random& random, Descriptor& descriptor, core::FeatureLevel level) {
    for (std::size_t i = 0; i < descriptor.values.size(); ++i) {
        const operators::Field& field = descriptor.schema->fields[i];
        const operators::FieldValue before = descriptor.values[i];
        if (auto* scalar = std::get_if<operators::ScalarUnion>(&descriptor.values[i])) {
            const core::DataType type = descriptor.scalar_type(field);
            if (core::is_floating_point(type) && random.chance(1, 2)) {
                scalar->bits = extreme_bits(random, type);
            }
        } else {
            for_each_number(descriptor.values[i], [&](float& number) {
                if (random.chance(1, 2)) {
                    number = static_cast<float>(extreme(random));
                }
            });
        }
        if (operators::validate(descriptor, level)) {
            descriptor.values[i] = before;
        }
    }
}

void set_extreme_elements(Random& random, core::DataType type, std::vector<std::byte>& elements) {
    if (!core::is_floating_point(type)) {
        return;
    }
    const std::uint64_t count = elements.size() / core::bytes_of(type);
    const std::uint32_t rarity = random.chance(1, 2) ? 2 : 16;
    for (std::uint64_t i = 0; i < count; ++i) {
        if (random.chance(1, rarity)) {
            core::store_element(elements, type, i, extreme_bits(random, type));
        }
    }
}

}  // namespace dmlconform::fuzz
