// Simplifies shapes: separate memory for outputs, absent fields, packed layouts, smaller sizes, fewer dimensions.
#include <algorithm>

#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/kept_strides.h"
#include "engine/fuzz/search.h"

namespace dmlconform::fuzz {
namespace {

void pack(core::TensorDesc& desc) {
    const core::Dimensions sizes = desc.sizes;
    set_sizes(desc, sizes);
    desc.base_offset_alignment = 0;
}

bool is_plain(const core::TensorDesc& desc) {
    return !desc.strides && desc.base_offset_alignment == 0 &&
           core::minimum_total_bytes(desc).value_or(0) == desc.total_bytes;
}

}  // namespace

bool separate_memory(Search& search) {
    Draft draft = search.best();
    const bool shared = !draft.descriptor.in_place.empty();
    draft.descriptor.in_place.clear();
    return shared && search.attempt(std::move(draft));
}

bool simplify_layouts(Search& search) {
    Draft all = search.best();
    bool any = false;
    for (const TensorField& tensor : tensors_of(all.descriptor)) {
        any = any || !is_plain(*tensor.desc);
        pack(*tensor.desc);
    }
    if (!any || search.attempt(std::move(all))) {
        return any;
    }
    bool changed = false;
    Draft counted = search.best();
    for (std::size_t i = 0; i < tensors_of(counted.descriptor).size(); ++i) {
        Draft draft = search.best();
        core::TensorDesc& desc = *tensors_of(draft.descriptor)[i].desc;
        if (is_plain(desc)) {
            continue;
        }
        Draft in_order = draft;
        keep_strides(*tensors_of(in_order.descriptor)[i].desc, desc, Strides::in_order);
        pack(desc);
        changed = search.attempt(std::move(draft)) || search.attempt(std::move(in_order)) || changed;
    }
    return changed;
}

bool drop_optional_fields(Search& search) {
    bool changed = false;
    const auto& fields = search.best().descriptor.schema->fields;
    std::size_t input = 0;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const operators::FieldValue& value = search.best().descriptor.values[i];
        const bool is_input = fields[i].kind == operators::FieldKind::input;
        // Arrays of tensors are never optional.
        const std::size_t slot = input;
        input += is_input ? operators::array_length(value).value_or(1) : 0;
        if (!fields[i].optional || std::holds_alternative<operators::Null>(value) ||
            fields[i].type == operators::FieldType::tensor_desc_array) {
            continue;
        }
        Draft draft = search.best();
        draft.descriptor.values[i] = operators::Null{};
        if (is_input) {
            draft.inputs[slot].clear();
        }
        set_counts(draft.descriptor);
        changed = search.attempt(std::move(draft)) || changed;
    }
    return changed;
}

namespace {

/// Adjusts attributes that refer to positions in a tensor when preceding elements are removed.
void shift_offsets(Draft& draft, std::size_t dimension, std::uint32_t by) {
    for (std::size_t i = 0; i < draft.descriptor.values.size(); ++i) {
        auto* list = std::get_if<std::vector<std::uint32_t>>(&draft.descriptor.values[i]);
        const bool offsets = draft.descriptor.schema->fields[i].name.ends_with("Offsets");
        if (list != nullptr && offsets && dimension < list->size()) {
            (*list)[dimension] -= std::min((*list)[dimension], by);
        }
    }
}

/// Cuts one input; if `linked`, all inputs of the same size along the dimension.
bool cut(Search& search, std::size_t input, std::size_t dimension, Range range, bool linked) {
    Draft draft = search.best();
    const std::uint32_t size = input_desc(draft, input)->sizes[dimension];
    for (std::size_t i = 0; i < draft.inputs.size(); ++i) {
        const core::TensorDesc* desc = input_desc(draft, i);
        const bool same = desc != nullptr && dimension < desc->sizes.size() && desc->sizes[dimension] == size;
        if (i == input || (linked && same)) {
            keep(draft, i, dimension, range);
        }
    }
    shift_offsets(draft, dimension, range.first);
    return search.attempt_repaired(std::move(draft));
}

bool cut_dimension(Search& search, std::size_t input, std::size_t dimension, bool linked) {
    bool changed = false;
    const auto size = [&] { return search.best().descriptor.inputs()[input].desc->sizes[dimension]; };
    // Small sizes are tried directly, because intermediate sizes may be illegal.
    constexpr std::uint32_t small = 6;
    for (std::uint32_t target = 1; target < std::min(size(), small); ++target) {
        changed = cut(search, input, dimension, {0, target}, linked) || changed;
    }
    for (std::uint32_t step = size() / 2; step >= 1; step /= 2) {
        // Cuts from both ends as long as it succeeds.
        while (size() > step && (cut(search, input, dimension, {0, size() - step}, linked) ||
                                 cut(search, input, dimension, {step, size()}, linked))) {
            changed = true;
        }
    }
    return changed;
}

}  // namespace

bool shrink_sizes(Search& search) {
    bool changed = false;
    for (std::size_t input = 0; input < search.best().inputs.size(); ++input) {
        const core::TensorDesc* desc = search.best().descriptor.inputs()[input].desc;
        for (std::size_t d = 0; desc != nullptr && d < desc->sizes.size(); ++d) {
            changed = cut_dimension(search, input, d, true) || changed;
            changed = cut_dimension(search, input, d, false) || changed;
            desc = search.best().descriptor.inputs()[input].desc;
        }
    }
    return changed;
}

namespace {

/// Changes a size of one tensor: packed, with total size as short as before, or with unchanged strides and total size.
bool resize(Search& search, std::size_t tensor, std::size_t dimension, std::uint32_t size) {
    Draft packed = search.best();
    core::TensorDesc& desc = *tensors_of(packed.descriptor)[tensor].desc;
    const core::TensorDesc before = desc;
    core::Dimensions sizes = before.sizes;
    sizes[dimension] = size;
    set_sizes(desc, sizes);
    Draft as_it_is = search.best();
    tensors_of(as_it_is.descriptor)[tensor].desc->sizes = sizes;
    const std::uint64_t needed = core::minimum_total_bytes(before).value_or(0);
    if (needed > before.total_bytes) {
        Draft shorter = packed;
        std::uint64_t& total = tensors_of(shorter.descriptor)[tensor].desc->total_bytes;
        total -= std::min(total - 1, needed - before.total_bytes);
        if (search.attempt(std::move(shorter))) {
            return true;
        }
    }
    return search.attempt(std::move(packed)) || search.attempt(std::move(as_it_is));
}

}  // namespace

bool shrink_single_tensors(Search& search) {
    bool changed = false;
    Draft all = search.best();
    const std::size_t count = search.has_data() ? 0 : tensors_of(all.descriptor).size();
    for (std::size_t tensor = 0; tensor < count; ++tensor) {
        const std::size_t rank = tensors_of(all.descriptor)[tensor].desc->sizes.size();
        for (std::size_t d = 0; d < rank; ++d) {
            const auto size = [&] {
                Draft best = search.best();
                return tensors_of(best.descriptor)[tensor].desc->sizes[d];
            };
            for (std::uint32_t step = size() > 1 ? size() - 1 : 0; step >= 1; step /= 2) {
                while (size() > step && resize(search, tensor, d, size() - step)) {
                    changed = true;
                }
            }
        }
    }
    return changed;
}

namespace {

/// Removes a dimension from all tensors, and from attributes with an entry for each dimension.
bool drop_dimension(Search& search, std::size_t dimension) {
    Draft draft = search.best();
    std::size_t rank = 0;
    for (const TensorField& tensor : tensors_of(draft.descriptor)) {
        core::TensorDesc& desc = *tensor.desc;
        rank = rank == 0 ? desc.sizes.size() : rank;
        if (desc.sizes.size() != rank || dimension >= rank || rank == 1 || desc.sizes[dimension] != 1) {
            return false;
        }
        core::Dimensions sizes = desc.sizes;
        sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(dimension));
        set_sizes(desc, std::move(sizes));
    }
    for (std::size_t i = 0; i < draft.descriptor.values.size(); ++i) {
        const std::string& name = draft.descriptor.schema->fields[i].name;
        operators::FieldValue& value = draft.descriptor.values[i];
        const auto lower = [&](std::uint32_t& axis) { axis -= axis > dimension ? 1 : 0; };
        if (auto* axis = std::get_if<std::uint32_t>(&value); axis != nullptr && name == "Axis") {
            lower(*axis);
        } else if (auto* list = std::get_if<std::vector<std::uint32_t>>(&value)) {
            if (name == "Axes") {
                std::erase(*list, static_cast<std::uint32_t>(dimension));
                std::for_each(list->begin(), list->end(), lower);
            } else if (list->size() == rank) {
                list->erase(list->begin() + static_cast<std::ptrdiff_t>(dimension));
            }
        } else if (auto* steps = std::get_if<std::vector<std::int32_t>>(&value);
                   steps != nullptr && steps->size() == rank) {
            steps->erase(steps->begin() + static_cast<std::ptrdiff_t>(dimension));
        }
    }
    set_counts(draft.descriptor);
    return search.attempt_repaired(std::move(draft), dimension);
}

}  // namespace

bool drop_dimensions(Search& search) {
    bool changed = false;
    for (std::size_t d = core::max_dimension_count; d-- > 0;) {
        changed = drop_dimension(search, d) || changed;
    }
    return changed;
}

}  // namespace dmlconform::fuzz
