// Operators computed in place: an output that shares its memory with an input.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "engine/operators/descriptor.h"

namespace dmlconform::operators {

/// Names of inputs, by the output that shares their memory.
using InPlaceNames = std::map<std::string, std::string>;

[[nodiscard]] InPlaceNames in_place_names(const Descriptor& descriptor);

/// Nothing if the outputs named may share their inputs' memory, otherwise why not: DirectML's documentation has to
/// allow it for the two tensors, which have to be laid out alike.
[[nodiscard]] std::optional<std::string> in_place_problem(const Descriptor& descriptor, const InPlaceNames& names);

/// What Descriptor::in_place is for names without a problem.
[[nodiscard]] std::vector<std::optional<std::size_t>> in_place_slots(const Descriptor& descriptor,
                                                                     const InPlaceNames& names);

}  // namespace dmlconform::operators
