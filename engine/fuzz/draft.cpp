// Cuts tensors and repairs drafts.
#include "engine/fuzz/draft.h"

#include <algorithm>

#include "engine/core/element.h"
#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/operator_fuzz.h"

namespace dmlconform::fuzz {
namespace {

/// Copies elements from one shape to another. Coordinates beyond the old shape are clamped.
std::vector<std::byte> reshaped(const std::vector<std::byte>& from, const core::Dimensions& old_sizes,
                                const core::Dimensions& sizes, core::DataType type, std::size_t shifted_dimension,
                                std::uint32_t shift) {
    const auto old_strides = core::packed_strides(old_sizes);
    const std::uint64_t count = *core::element_count(sizes);
    std::vector<std::byte> to(static_cast<std::size_t>(core::bytes_of(type, count)));
    core::Dimensions at(sizes.size());
    for (std::uint64_t i = 0; i < count; ++i) {
        std::uint64_t source = 0;
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            const std::uint32_t coordinate = at[d] + (d == shifted_dimension ? shift : 0);
            source += old_strides[d] * std::min(coordinate, old_sizes[d] - 1);
        }
        core::store_element(to, type, i, core::load_element(from, type, source));
        for (std::size_t d = sizes.size(); d-- > 0;) {
            if (++at[d] < sizes[d]) {
                break;
            }
            at[d] = 0;
        }
    }
    return to;
}

std::vector<core::TensorDesc*> input_descs(Draft& draft) {
    std::vector<core::TensorDesc*> descs;
    for (std::size_t i = 0; i < draft.descriptor.values.size(); ++i) {
        const operators::Field& field = draft.descriptor.schema->fields[i];
        if (field.kind != operators::FieldKind::input) {
            continue;
        }
        if (auto* array = std::get_if<operators::TensorDescArray>(&draft.descriptor.values[i])) {
            for (core::TensorDesc& item : array->items) {
                descs.push_back(&item);
            }
        } else {
            descs.push_back(std::get_if<core::TensorDesc>(&draft.descriptor.values[i]));
        }
    }
    return descs;
}

}  // namespace

core::Result<Draft> draft_of(const cases::Case& subject) {
    Draft draft{*subject.descriptor, {}};
    const auto slots = subject.descriptor->inputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        auto& elements = draft.inputs.emplace_back();
        if (slots[i].desc == nullptr || i >= subject.inputs.size() || !subject.inputs[i]) {
            continue;
        }
        core::Tensor tensor(*slots[i].desc);
        if (const auto filled = subject.inputs[i]->fill(tensor); !filled) {
            return tl::unexpected(filled.error());
        }
        const core::Tensor packed = core::packed_copy(tensor);
        const std::uint64_t size = core::bytes_of(packed.desc.data_type, *core::element_count(packed.desc.sizes));
        const auto bytes = packed.buffer.bytes().first(static_cast<std::size_t>(size));
        elements.assign(bytes.begin(), bytes.end());
    }
    return draft;
}

core::TensorDesc* input_desc(Draft& draft, std::size_t input) {
    const auto descs = input_descs(draft);
    return input < descs.size() ? descs[input] : nullptr;
}

std::size_t count_of(const Draft& draft, std::size_t input) {
    const auto slots = draft.descriptor.inputs();
    const core::TensorDesc* desc = slots[input].desc;
    return desc == nullptr || draft.inputs[input].empty() ? 0
                                                          : static_cast<std::size_t>(*core::element_count(desc->sizes));
}

void keep(Draft& draft, std::size_t input, std::size_t dimension, Range range) {
    core::TensorDesc& desc = *input_desc(draft, input);
    const core::Dimensions old_sizes = desc.sizes;
    core::Dimensions sizes = old_sizes;
    sizes[dimension] = range.last - range.first;
    if (!draft.inputs[input].empty()) {
        draft.inputs[input] = reshaped(draft.inputs[input], old_sizes, sizes, desc.data_type, dimension, range.first);
    }
    set_sizes(desc, sizes);
}

void repair(Draft& draft) {
    std::vector<core::Dimensions> before;
    for (const core::TensorDesc* desc : input_descs(draft)) {
        before.push_back(desc == nullptr ? core::Dimensions() : desc->sizes);
    }
    find_fuzz(*draft.descriptor.schema).repair(draft.descriptor);
    const auto descs = input_descs(draft);
    for (std::size_t i = 0; i < descs.size(); ++i) {
        if (descs[i] != nullptr && descs[i]->sizes != before[i] && !draft.inputs[i].empty()) {
            draft.inputs[i] =
                reshaped(draft.inputs[i], before[i], descs[i]->sizes, descs[i]->data_type, ~std::size_t{0}, 0);
        }
    }
}

}  // namespace dmlconform::fuzz
