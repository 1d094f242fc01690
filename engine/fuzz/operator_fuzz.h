// What the fuzzer knows about operators beyond the catalogue: one file for each family in operators/.
#pragma once

#include <string_view>

#include "engine/fuzz/random.h"
#include "engine/fuzz/values.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::fuzz {

/// The functions for the operators of a family: see operators::family_of.
struct OperatorFuzz {
    /// Draws a descriptor that is legal at that level. The operator must exist at the level.
    operators::Descriptor (*make)(Random& random, const operators::OperatorSchema& schema, core::FeatureLevel level);
    /// The kind of an input's elements.
    ElementKind (*element_kind)(const operators::Descriptor& descriptor, std::string_view input);
    /// After a change of inputs or attributes, makes everything that depends on them legal again: windows, counts along
    /// an axis, the sizes of outputs. The result may still be illegal.
    void (*repair)(operators::Descriptor& descriptor);
};

extern const OperatorFuzz attention_fuzz;
extern const OperatorFuzz movement_fuzz;
extern const OperatorFuzz normalisation_fuzz;
extern const OperatorFuzz product_fuzz;
extern const OperatorFuzz recurrent_fuzz;
extern const OperatorFuzz reduction_fuzz;
extern const OperatorFuzz regions_fuzz;
extern const OperatorFuzz resampling_fuzz;
extern const OperatorFuzz top_k_fuzz;
extern const OperatorFuzz window_fuzz;

/// For operators without a family here: descriptors that meet the catalogue's constraints.
extern const OperatorFuzz generic_fuzz;

/// The entry of the operator's family, or the generic one.
[[nodiscard]] const OperatorFuzz& find_fuzz(const operators::OperatorSchema& schema);

}  // namespace dmlconform::fuzz
