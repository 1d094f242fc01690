// Entries of operators that use the generic generator, followed by a function that adapts the descriptor to the
// operator's rules.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "engine/fuzz/operator_fuzz.h"

namespace dmlconform::fuzz {

/// Adapts a generic descriptor to one operator's rules.
struct Fitting {
    std::string_view name;
    void (*fit)(Random& random, operators::Descriptor& descriptor);
};

/// The function of the operator's entry, which must exist.
template <class Fittings>
[[nodiscard]] operators::Descriptor make_fitting(const Fittings& fittings, Random& random,
                                                 const operators::OperatorSchema& schema, core::FeatureLevel level) {
    operators::Descriptor descriptor = generic_fuzz.make(random, schema, level);
    std::ranges::find(fittings, schema.short_name(), &Fitting::name)->fit(random, descriptor);
    return descriptor;
}

/// An entry for each name, with the repair function of the generic entry.
template <class Names>
[[nodiscard]] std::vector<OperatorFuzz> fuzz_of_each(const Names& names, decltype(OperatorFuzz::make) make,
                                                     decltype(OperatorFuzz::element_kind) element_kind) {
    std::vector<OperatorFuzz> rows;
    for (const auto& entry : names) {
        if constexpr (requires { entry.name; }) {
            rows.push_back({entry.name, make, element_kind, generic_fuzz.repair});
        } else {
            rows.push_back({entry, make, element_kind, generic_fuzz.repair});
        }
    }
    return rows;
}

}  // namespace dmlconform::fuzz
