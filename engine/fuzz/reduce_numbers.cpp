// Simplifies numbers: moves attributes and elements towards 0 and 1.
#include <algorithm>

#include "engine/core/element.h"
#include "engine/fuzz/search.h"

namespace dmlconform::fuzz {
namespace {

/// Candidates below `value`, the smallest first.
template <class T>
std::vector<T> simpler(T value) {
    std::vector<T> candidates;
    for (const T candidate : {T{0}, T{1}, static_cast<T>(value / 2), static_cast<T>(value - 1)}) {
        const bool nearer = candidate >= 0 && candidate < value;
        if (nearer && std::find(candidates.begin(), candidates.end(), candidate) == candidates.end()) {
            candidates.push_back(candidate);
        }
    }
    if (value < 0) {
        candidates = {T{0}, T{1}};
        if (value + 1 != 0) {
            candidates.push_back(static_cast<T>(-1));
        }
    }
    return candidates;
}

template <>
std::vector<float> simpler(float value) {
    std::vector<float> candidates;
    for (const float candidate : {0.0F, 1.0F}) {
        if (value != candidate && !(value == 0.0F)) {
            candidates.push_back(candidate);
        }
        if (value == 1.0F) {
            break;
        }
    }
    return candidates;
}

/// Replaces one number in the descriptor by a simpler one. `pick` finds the number in a draft.
template <class Pick>
bool simplify_number(Search& search, Pick&& pick) {
    Draft current = search.best();
    const auto* number = pick(current);
    if (number == nullptr) {
        return false;
    }
    for (const auto candidate : simpler(*number)) {
        Draft draft = search.best();
        *pick(draft) = candidate;
        if (search.attempt_repaired(std::move(draft))) {
            return true;
        }
    }
    return false;
}

template <class T>
bool simplify_field(Search& search, std::size_t field) {
    bool changed =
        simplify_number(search, [field](Draft& draft) { return std::get_if<T>(&draft.descriptor.values[field]); });
    const auto* list = std::get_if<std::vector<T>>(&search.best().descriptor.values[field]);
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
        changed = simplify_number(search,
                                  [field, i](Draft& draft) -> T* {
                                      auto* items = std::get_if<std::vector<T>>(&draft.descriptor.values[field]);
                                      return items != nullptr && i < items->size() ? &(*items)[i] : nullptr;
                                  }) ||
                  changed;
        list = std::get_if<std::vector<T>>(&search.best().descriptor.values[field]);
    }
    return changed;
}

}  // namespace

bool simplify_attributes(Search& search) {
    bool changed = false;
    const auto& fields = search.best().descriptor.schema->fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const bool counts = search.best().descriptor.schema->is_count(fields[i]);
        if (fields[i].kind != operators::FieldKind::attribute || counts) {
            continue;
        }
        changed = simplify_field<std::uint32_t>(search, i) || changed;
        changed = simplify_field<std::int32_t>(search, i) || changed;
        changed = simplify_field<float>(search, i) || changed;
    }
    return changed;
}

namespace {

/// Sets a range of elements to one value. False if they have it already.
bool set_elements(Search& search, std::size_t input, std::size_t first, std::size_t last, double value) {
    Draft draft = search.best();
    const core::DataType type = input_desc(draft, input)->data_type;
    const auto bits = core::encode_element(type, value);
    bool differs = false;
    for (std::size_t i = first; bits && i < last; ++i) {
        differs = differs || core::load_element(draft.inputs[input], type, i) != *bits;
        core::store_element(draft.inputs[input], type, i, *bits);
    }
    return differs && search.attempt(std::move(draft));
}

double element(const Search& search, std::size_t input, std::size_t index) {
    const core::DataType type = search.best().descriptor.inputs()[input].desc->data_type;
    return core::decode_element(type, core::load_element(search.best().inputs[input], type, index));
}

/// Starts with long ranges.
bool zero_runs(Search& search, std::size_t input) {
    const std::size_t count = count_of(search.best(), input);
    bool changed = false;
    for (std::size_t run = count; run >= 1; run /= 2) {
        for (std::size_t first = 0; first < count && !search.over(); first += run) {
            changed = set_elements(search, input, first, std::min(first + run, count), 0) || changed;
        }
    }
    return changed;
}

/// Moves an integer towards 0 in steps, each half as large as the preceding one.
bool lower_magnitude(Search& search, std::size_t input, std::size_t index) {
    constexpr double most = 1e15;
    bool changed = false;
    const double start = element(search, input, index);
    const double sign = start < 0 ? -1 : 1;
    auto magnitude = static_cast<std::int64_t>(std::min(start * sign, most));
    if (static_cast<double>(magnitude) != start * sign) {
        // For a fraction, or a number beyond the exact integers.
        if (!set_elements(search, input, index, index + 1, sign * static_cast<double>(magnitude))) {
            return false;
        }
        changed = true;
    }
    for (std::int64_t step = magnitude / 2; step >= 1; step /= 2) {
        while (magnitude - step > 1 &&
               set_elements(search, input, index, index + 1, sign * static_cast<double>(magnitude - step))) {
            magnitude -= step;
            changed = true;
        }
    }
    return changed;
}

bool simplify_element(Search& search, std::size_t input, std::size_t index) {
    const double value = element(search, input, index);
    if (value == 0 || value == 1 || value != value) {
        return false;
    }
    return set_elements(search, input, index, index + 1, 1) || lower_magnitude(search, input, index);
}

}  // namespace

bool simplify_values(Search& search) {
    bool changed = false;
    for (std::size_t input = 0; search.has_data() && input < search.best().inputs.size(); ++input) {
        changed = zero_runs(search, input) || changed;
        for (std::size_t i = 0; i < count_of(search.best(), input) && !search.over(); ++i) {
            changed = simplify_element(search, input, i) || changed;
        }
    }
    return changed;
}

}  // namespace dmlconform::fuzz
