// In-place execution: an output that shares its memory with an input.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "engine/operators/descriptor.h"

namespace dmlconform::operators {

/// Maps each output to the input whose memory it shares, by name.
using InPlaceNames = std::map<std::string, std::string>;

[[nodiscard]] InPlaceNames in_place_names(const Descriptor& descriptor);

/// Says why the named outputs may not share their inputs' memory; empty if they may. DirectML's documentation must
/// allow it for both tensors, and their layouts must be equal.
[[nodiscard]] std::optional<std::string> in_place_problem(const Descriptor& descriptor, const InPlaceNames& names);

/// Descriptor::in_place for names that in_place_problem accepts.
[[nodiscard]] std::vector<std::optional<std::size_t>> in_place_slots(const Descriptor& descriptor,
                                                                     const InPlaceNames& names);

}  // namespace dmlconform::operators
