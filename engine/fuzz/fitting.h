// Rows of operators that one generator serves: for those whose families draw what the generic maker draws, and then
// make it fit.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "engine/fuzz/operator_fuzz.h"

namespace dmlconform::fuzz {

/// What makes a descriptor of the generic maker fit one operator's relations.
struct Fitting {
    std::string_view name;
    void (*fit)(Random& random, operators::Descriptor& descriptor);
};

/// Of the operator's row, which there is.
template <class Fittings>
[[nodiscard]] operators::Descriptor make_fitting(const Fittings& fittings, Random& random,
                                                 const operators::OperatorSchema& schema, core::FeatureLevel level) {
    operators::Descriptor descriptor = generic_fuzz.make(random, schema, level);
    std::ranges::find(fittings, schema.short_name(), &Fitting::name)->fit(random, descriptor);
    return descriptor;
}

/// A row for each name, with the repair of the generic row.
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
