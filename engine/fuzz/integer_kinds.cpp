// The operators that leave results of some integers open.
#include "engine/fuzz/integer_kinds.h"

#include <algorithm>
#include <array>
#include <variant>

#include "engine/fuzz/fitting.h"

namespace dmlconform::fuzz {
namespace {

using operators::Descriptor;

struct SpecifiedIntegers {
    std::string_view name;
    /// Empty for all inputs.
    std::string_view input;
    ElementKind kind;
};

/// What remains is in the cases tagged `unspecified` of these operators, with what DirectML makes of it.
constexpr std::array specified_integers{
    SpecifiedIntegers{"ACTIVATION_SHRINK", "", ElementKind::index},
    SpecifiedIntegers{"ADAM_OPTIMIZER", "", ElementKind::index},
    SpecifiedIntegers{"ELEMENT_WISE_ABS", "", ElementKind::negatable},
    SpecifiedIntegers{"ELEMENT_WISE_BIT_SHIFT_LEFT", "BTensor", ElementKind::shift},
    SpecifiedIntegers{"ELEMENT_WISE_BIT_SHIFT_RIGHT", "BTensor", ElementKind::shift},
    SpecifiedIntegers{"ELEMENT_WISE_DIVIDE", "BTensor", ElementKind::nonzero},
    SpecifiedIntegers{"ELEMENT_WISE_MEAN", "", ElementKind::index},
    SpecifiedIntegers{"ELEMENT_WISE_MODULUS_FLOOR", "BTensor", ElementKind::nonzero},
    SpecifiedIntegers{"ELEMENT_WISE_MODULUS_TRUNCATE", "BTensor", ElementKind::nonzero},
    SpecifiedIntegers{"ELEMENT_WISE_NEGATE", "", ElementKind::negatable},
    SpecifiedIntegers{"ELEMENT_WISE_POW", "", ElementKind::index},
};

/// True if a type has all numbers of a type of integers, rounded if necessary.
bool has_all_of(core::DataType type, core::DataType integers) {
    if (core::is_floating_point(type)) {
        return true;
    }
    const std::size_t sign_bit = core::is_signed_integer(type) && !core::is_signed_integer(integers) ? 1 : 0;
    return (core::is_signed_integer(type) || !core::is_signed_integer(integers)) &&
           core::bits_of(type) >= core::bits_of(integers) + sign_bit;
}

bool has_scale_bias(const Descriptor& descriptor) {
    return std::ranges::any_of(descriptor.values, [](const operators::FieldValue& value) {
        return std::holds_alternative<operators::ScaleBias>(value);
    });
}

}  // namespace

ElementKind integer_kind(const Descriptor& descriptor, std::string_view input, core::DataType type) {
    // The result of an index out of range is unspecified, and ScaleBias makes fractions, which each engine cuts off in
    // its own way.
    if (kind_by_catalogue(descriptor, input) == ElementKind::index || has_scale_bias(descriptor)) {
        return ElementKind::index;
    }
    const std::string_view name = descriptor.schema->short_name();
    if (name == "CAST" && !has_all_of(descriptor.outputs().front().desc->data_type, type)) {
        return ElementKind::common;
    }
    const auto* const row = std::ranges::find_if(specified_integers, [&](const SpecifiedIntegers& candidate) {
        return candidate.name == name && (candidate.input.empty() || candidate.input == input);
    });
    return row == specified_integers.end() ? ElementKind::integer : row->kind;
}

}  // namespace dmlconform::fuzz
