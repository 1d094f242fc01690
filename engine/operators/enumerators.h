// Reads fields of descriptors as DirectML's enumerations.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "engine/operators/descriptor.h"
#include "engine/operators/enumerations.h"

namespace dmlconform::operators {

/// enumerator<AxisDirection>(descriptor, "AxisDirection"). Throws if the operator has no such field, or if the field is
/// absent or has another enumeration; all are bugs of the caller.
template <class Enumeration>
[[nodiscard]] Enumeration enumerator(const Descriptor& descriptor, std::string_view field) {
    const std::uint32_t number = descriptor.uint(field);
    const operators::Enumeration* own = descriptor.schema->find_field(field)->enumeration;
    if (own == nullptr || own->name != name_of_enumeration(Enumeration{})) {
        throw std::logic_error(std::string(field) + " of " + descriptor.schema->name + " has another enumeration");
    }
    return static_cast<Enumeration>(number);
}

}  // namespace dmlconform::operators
