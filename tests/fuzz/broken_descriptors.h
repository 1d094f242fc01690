// Random legal descriptors of an operator, and copies of them with one thing changed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/fuzz/case_generator.h"
#include "engine/operators/rules.h"

namespace dmlconform::tests {

[[nodiscard]] inline std::vector<operators::Descriptor> legal_descriptors(const operators::OperatorSchema& schema,
                                                                          std::uint64_t count) {
    std::vector<operators::Descriptor> result;
    for (std::uint64_t n = 0; n < count; ++n) {
        if (const auto subject = fuzz::generate(schema, {.seed = 28, .perturbed_percent = 0}, n)) {
            result.push_back(*subject->descriptor);
            result.back().in_place = {};
        }
    }
    return result;
}

[[nodiscard]] inline operators::FieldValue& value_of(operators::Descriptor& descriptor, std::string_view field) {
    const auto& fields = descriptor.schema->fields;
    const auto found =
        std::find_if(fields.begin(), fields.end(), [&](const operators::Field& f) { return f.name == field; });
    return descriptor.values.at(static_cast<std::size_t>(found - fields.begin()));
}

/// The tensor of that name, or the last one of the array of that name; null if it is absent.
[[nodiscard]] inline core::TensorDesc* last_tensor(operators::Descriptor& descriptor, std::string_view field) {
    operators::FieldValue& value = value_of(descriptor, field);
    if (auto* array = std::get_if<operators::TensorDescArray>(&value)) {
        return array->items.empty() ? nullptr : &array->items.back();
    }
    return std::get_if<core::TensorDesc>(&value);
}

/// Makes the tensor packed, with these sizes and this type. Sizes of no tensor get a total size of 0.
inline void repack(core::TensorDesc& desc, core::Dimensions sizes, core::DataType type) {
    core::TensorDesc packed;
    packed.data_type = type;
    packed.sizes = std::move(sizes);
    packed.flags = desc.flags;
    packed.total_bytes = core::minimum_total_bytes(packed).value_or(0);
    desc = std::move(packed);
}

/// The name of the rule that rejects the descriptor; empty if none does.
[[nodiscard]] inline std::string rule_of(const operators::Descriptor& descriptor) {
    const auto verdict = operators::validate(descriptor, core::highest_feature_level);
    return verdict ? verdict->rule : "";
}

}  // namespace dmlconform::tests
