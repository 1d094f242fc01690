// Elements that operators of this family compute, in contrast to those that they move: sums, sequences, interpolations.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/core/tensor.h"
#include "engine/core/tolerance.h"
#include "engine/cpu/accepted_element.h"
#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/kernel.h"

namespace dmlconform::cpu::movement {

/// The first output's bounds, to be filled in; null if nobody asked for them.
[[nodiscard]] core::ElementSlack* wanted_slack(const KernelArguments& arguments);

/// Exact where nothing is computed. Otherwise `formula` says where each element's bounds come from; it outlives the
/// result.
[[nodiscard]] core::Tolerance computed_tolerance(bool is_computed, std::string_view formula);

/// Stores the value as element `number` in row-major order, which lies at that address. Where bounds are wanted,
/// range() is the interval of what implementations may store instead.
template <class Range>
void store_computed(core::Tensor& output, std::int64_t address, std::int64_t number, double value,
                    core::ElementSlack* slack, const Range& range) {
    const core::DataType type = output.desc.data_type;
    const element_wise::Stretch place{type, address, 0};
    element_wise::store(output.buffer.bytes(), place, 1, &value, element_wise::Store::wrapping);
    if (slack != nullptr) {
        double stored = 0;
        element_wise::load(output.buffer.bytes(), place, 1, &stored);
        note_accepted(*slack, static_cast<std::size_t>(number), type, stored,
                      element_wise::stored_range(type, range(), element_wise::Store::wrapping));
    }
}

}  // namespace dmlconform::cpu::movement
