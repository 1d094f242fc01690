// Access to fields by name, and updates of counts and sizes.
#include "engine/fuzz/descriptor_builder.h"

#include <stdexcept>

namespace dmlconform::fuzz {

operators::Descriptor blank_descriptor(const operators::OperatorSchema& schema) {
    operators::Descriptor descriptor;
    descriptor.schema = &schema;
    descriptor.values.resize(schema.fields.size());
    return descriptor;
}

operators::FieldValue& field_of(operators::Descriptor& descriptor, std::string_view field) {
    const operators::Field* found = descriptor.schema->find_field(field);
    if (found == nullptr) {
        throw std::logic_error(std::string(descriptor.schema->short_name()) + " has no " + std::string(field));
    }
    return descriptor.values[static_cast<std::size_t>(found - descriptor.schema->fields.data())];
}

void set_counts(operators::Descriptor& descriptor) {
    const auto& fields = descriptor.schema->fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (descriptor.schema->is_count(fields[i])) {
            descriptor.values[i] = std::uint32_t{0};
        }
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const auto length =
            fields[i].count_field.empty() ? std::nullopt : operators::array_length(descriptor.values[i]);
        if (length) {
            field_of(descriptor, fields[i].count_field) = static_cast<std::uint32_t>(*length);
        }
    }
}

std::vector<TensorField> tensors_of(operators::Descriptor& descriptor) {
    std::vector<TensorField> tensors;
    for (std::size_t i = 0; i < descriptor.values.size(); ++i) {
        const operators::Field* field = &descriptor.schema->fields[i];
        if (auto* desc = std::get_if<core::TensorDesc>(&descriptor.values[i])) {
            tensors.push_back({field, desc});
        } else if (auto* array = std::get_if<operators::TensorDescArray>(&descriptor.values[i])) {
            for (core::TensorDesc& item : array->items) {
                tensors.push_back({field, &item});
            }
        }
    }
    return tensors;
}

void set_sizes(core::TensorDesc& desc, core::Dimensions sizes) {
    desc.sizes = std::move(sizes);
    desc.strides.reset();
    desc.total_bytes = core::minimum_total_bytes(desc).value_or(0);
}

}  // namespace dmlconform::fuzz
