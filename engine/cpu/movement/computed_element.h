// Elements that operators of this family compute instead of copying: sums, sequences, interpolations.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/core/tensor.h"
#include "engine/core/tolerance.h"
#include "engine/cpu/accepted_element.h"
#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/kernel.h"

namespace dmlconform::cpu::movement {

/// The first output's bounds, to be filled; null if they are not wanted.
[[nodiscard]] core::ElementSlack* wanted_slack(const KernelArguments& arguments);

/// The tolerance: exact if nothing is computed. Otherwise `formula` explains each element's bounds; the text must
/// outlive the result.
[[nodiscard]] core::Tolerance computed_tolerance(bool is_computed, std::string_view formula);

/// Stores the value as the element with row-major index `number`, at that address. If bounds are wanted, range() is the
/// interval of what implementations may store instead.
template <class Range>
void store_computed(core::Tensor& output, std::int64_t address, std::int64_t number, double value,
                    core::ElementSlack* slack, const Range& range) {
    const core::DataType type = output.desc.data_type;
    const element_wise::Segment segment{type, address, 0};
    element_wise::store(output.buffer.bytes(), segment, 1, &value, element_wise::Store::wrapping);
    if (slack != nullptr) {
        double stored = 0;
        element_wise::load(output.buffer.bytes(), segment, 1, &stored);
        note_accepted(*slack, static_cast<std::size_t>(number), type, stored,
                      element_wise::stored_range(type, range(), element_wise::Store::wrapping));
    }
}

}  // namespace dmlconform::cpu::movement
