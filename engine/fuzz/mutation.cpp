// Mutations of descriptors, one function for each kind.
#include "engine/fuzz/mutation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/fuzz/descriptor_builder.h"

namespace dmlconform::fuzz {
namespace {

using operators::Descriptor;
using operators::Field;

/// A number near the old one, or one that is likely to cause overflows.
std::uint32_t other_number(Random& random, std::uint32_t number) {
    const std::array<std::uint32_t, 6> candidates{number + 1, number - 1, 0, number * 2 + 1, 0x7fffffff, 0xffffffff};
    return random.one_of(candidates);
}

void mutate_size(Random& random, core::TensorDesc& desc) {
    if (desc.sizes.empty()) {
        return;
    }
    const bool was_tight = core::minimum_total_bytes(desc) == desc.total_bytes;
    std::uint32_t& size = desc.sizes[random.below(static_cast<std::uint32_t>(desc.sizes.size()))];
    size = random.chance(1, 4) ? 0 : random.chance(1, 2) ? size + 1 : size - 1;
    if (was_tight) {
        desc.total_bytes = core::minimum_total_bytes(desc).value_or(0);
    }
}

void mutate_type(Random& random, core::TensorDesc& desc) {
    // A type that is at least one byte wide.
    desc.data_type = static_cast<core::DataType>(random.pick(1, 11));
    desc.total_bytes = core::minimum_total_bytes(desc).value_or(0);
}

void mutate_rank(Random& random, core::TensorDesc& desc) {
    core::Dimensions sizes = desc.sizes;
    if (random.chance(1, 2) && sizes.size() > 1) {
        sizes.erase(sizes.begin());
    } else {
        sizes.insert(sizes.begin(), 1);
    }
    set_sizes(desc, std::move(sizes));
}

void mutate_layout(Random& random, core::TensorDesc& desc) {
    switch (random.below(3)) {
        case 0:
            desc.total_bytes -= std::min<std::uint64_t>(desc.total_bytes, 4);
            break;
        case 1:
            desc.strides = core::Dimensions(desc.sizes.size(), random.below(2));
            desc.total_bytes = core::minimum_total_bytes(desc).value_or(0);
            break;
        default:
            desc.base_offset_alignment = random.chance(1, 2) ? 3 : 1;
            break;
    }
}

std::string mutate_tensor(Random& random, const Field& field, core::TensorDesc& desc) {
    const std::string before = core::to_string(desc);
    switch (random.below(4)) {
        case 0:
            mutate_type(random, desc);
            break;
        case 1:
            mutate_rank(random, desc);
            break;
        case 2:
            mutate_layout(random, desc);
            break;
        default:
            mutate_size(random, desc);
            break;
    }
    return fmt::format("{} was {}", field.name, before);
}

/// Arrays that share a count keep equal lengths.
std::string mutate_lengths(Random& random, Descriptor& descriptor, const std::string& count) {
    const bool longer = random.chance(1, 2);
    for (std::size_t i = 0; i < descriptor.values.size(); ++i) {
        if (descriptor.schema->fields[i].count_field != count) {
            continue;
        }
        std::visit(
            [&](auto& value) {
                if constexpr (requires {
                                  value.back();
                                  value.resize(1);
                              }) {
                    if (longer) {
                        value.push_back(value.empty() ? 1 : value.back());
                    } else if (!value.empty()) {
                        value.pop_back();
                    }
                }
            },
            descriptor.values[i]);
    }
    set_counts(descriptor);
    return fmt::format("{} is one {}", count, longer ? "more" : "less");
}

std::string mutate_attribute(Random& random, Descriptor& descriptor, std::size_t index) {
    const Field& field = descriptor.schema->fields[index];
    operators::FieldValue& value = descriptor.values[index];
    if (!field.count_field.empty() && random.chance(1, 3)) {
        return mutate_lengths(random, descriptor, field.count_field);
    }
    const std::string before = operators::to_string(field, value);
    if (auto* number = std::get_if<std::uint32_t>(&value)) {
        *number = other_number(random, *number);
    } else if (auto* list = std::get_if<std::vector<std::uint32_t>>(&value); list != nullptr && !list->empty()) {
        std::uint32_t& item = (*list)[random.below(static_cast<std::uint32_t>(list->size()))];
        item = other_number(random, item);
    } else if (auto* signed_list = std::get_if<std::vector<std::int32_t>>(&value);
               signed_list != nullptr && !signed_list->empty()) {
        std::int32_t& item = (*signed_list)[random.below(static_cast<std::uint32_t>(signed_list->size()))];
        item = static_cast<std::int32_t>(other_number(random, static_cast<std::uint32_t>(item)));
    } else if (std::holds_alternative<operators::OperatorDesc>(value)) {
        value = std::make_shared<const Descriptor>(blank_descriptor(*operators::find_operator("ACTIVATION_HARDMAX")));
    }
    return fmt::format("{} was {}", field.name, before);
}

}  // namespace

std::string mutate(Random& random, Descriptor& descriptor) {
    for (;;) {
        const std::size_t index = random.below(static_cast<std::uint32_t>(descriptor.values.size()));
        const Field& field = descriptor.schema->fields[index];
        operators::FieldValue& value = descriptor.values[index];
        if (std::holds_alternative<operators::Null>(value) || descriptor.schema->is_count(field)) {
            continue;
        }
        if (field.is_tensor() && random.chance(1, 12)) {
            value = operators::Null{};
            set_counts(descriptor);
            return fmt::format("{} was there", field.name);
        }
        if (auto* desc = std::get_if<core::TensorDesc>(&value)) {
            return mutate_tensor(random, field, *desc);
        }
        if (auto* array = std::get_if<operators::TensorDescArray>(&value); array != nullptr && !array->items.empty()) {
            return mutate_tensor(random, field,
                                 array->items[random.below(static_cast<std::uint32_t>(array->items.size()))]);
        }
        return mutate_attribute(random, descriptor, index);
    }
}

}  // namespace dmlconform::fuzz
