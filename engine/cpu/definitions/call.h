// What a definition gets, and the table of definitions.
//
// A definition computes the elements of the outputs one by one, as the documentation of the operator says, without any
// thought of speed. Tests compare it with the kernel of the operator: see tests/definitions.
#pragma once

#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/core/registry.h"
#include "engine/core/tensor.h"
#include "engine/cpu/definitions/arrays.h"
#include "engine/cpu/definitions/estimate.h"
#include "engine/cpu/definitions/ranged.h"
#include "engine/cpu/definitions/rounded.h"
#include "engine/cpu/element_wise/row.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::cpu::definitions {

using element_wise::Store;
using operators::Descriptor;
using operators::enumerator;

/// The elements of an output, and how numbers are converted to its type.
struct Output {
    std::variant<std::monostate, Array<Bits>, Array<Signed>, Array<Unsigned>, Array<double>, Array<Estimate>,
                 Array<Rounded>, Array<Ranged>>
        numbers;
    Store store = Store::wrapping;
    /// The number of elements that mean something, from the first one on; the other ones are not compared.
    std::uint64_t meaningful = ~std::uint64_t{0};
};

/// The fields of an operator and the elements of its tensors, by name.
class Call {
public:
    Call(const Descriptor& operator_descriptor, std::span<const core::Tensor* const> inputs);

    const Descriptor& descriptor;
    /// One for each of Descriptor::outputs().
    std::vector<Output> outputs;

    [[nodiscard]] bool has_field(std::string_view name) const { return descriptor.has_field(name); }
    /// True if the tensor, input or output, is present.
    [[nodiscard]] bool has(std::string_view name) const { return descriptor.find_tensor(name) != nullptr; }
    [[nodiscard]] core::DataType type(std::string_view name) const { return tensor(name)->data_type; }
    [[nodiscard]] Index sizes(std::string_view name) const { return Index(tensor(name)->sizes); }

    /// An input's elements. An absent tensor has one element, 0.
    template <class Number>
    [[nodiscard]] Array<Number> input(std::string_view name) const {
        return has(name) ? loaded<Number>(slot_of(name, true)) : Array<Number>(Index{1});
    }
    /// The same, with another number for an absent tensor.
    template <class Number>
    [[nodiscard]] Array<Number> input(std::string_view name, const Number& otherwise) const {
        Array<Number> array = input<Number>(name);
        if (!has(name)) {
            array.elements[0] = otherwise;
        }
        return array;
    }
    /// An output's elements, which are 0 at first.
    template <class Number>
    Array<Number>& output(std::string_view name, Store store = Store::wrapping) {
        const std::size_t slot = slot_of(name, false);
        outputs[slot].store = store;
        return outputs[slot].numbers.emplace<Array<Number>>(
            Array<Number>(Index(descriptor.outputs()[slot].desc->sizes)));
    }
    /// The number of inputs, and the elements of one of them, for arrays of tensors.
    [[nodiscard]] std::size_t input_count() const { return inputs_.size(); }
    template <class Number>
    [[nodiscard]] Array<Number> input_number(std::size_t slot) const {
        return has_input(slot) ? loaded<Number>(slot) : Array<Number>(Index{1});
    }
    [[nodiscard]] bool has_input(std::size_t slot) const { return slot < inputs_.size() && inputs_[slot] != nullptr; }
    [[nodiscard]] core::DataType input_type(std::size_t slot) const { return inputs_[slot]->desc.data_type; }
    [[nodiscard]] core::DataType output_type(std::size_t slot) const {
        return descriptor.outputs()[slot].desc->data_type;
    }
    /// The bits of a numeric attribute in a tensor's type.
    [[nodiscard]] Bits constant(std::string_view name, core::DataType type) const;

    [[nodiscard]] std::int64_t uint(std::string_view name) const { return descriptor.uint(name); }
    [[nodiscard]] bool flag(std::string_view name) const { return descriptor.uint(name) != 0; }
    [[nodiscard]] double number(std::string_view name) const { return double{descriptor.number(name)}; }
    [[nodiscard]] Index uints(std::string_view name) const { return Index(descriptor.uints(name)); }
    [[nodiscard]] Index ints(std::string_view name) const {
        return Index(descriptor.get<std::vector<std::int32_t>>(name));
    }

    /// A scalar union as a number of that type.
    template <class Number>
    [[nodiscard]] Number scalar(std::string_view name, core::DataType type) const;

    /// The position of a tensor among the inputs or outputs.
    [[nodiscard]] std::size_t slot_of(std::string_view name, bool is_input) const;

private:
    [[nodiscard]] const core::TensorDesc* tensor(std::string_view name) const { return descriptor.tensor(name); }
    template <class Number>
    [[nodiscard]] Array<Number> loaded(std::size_t slot) const;

    std::span<const core::Tensor* const> inputs_;
};

/// Calls use.template operator()<Number>() with the number type that holds elements of a tensor exactly: Real for
/// floating-point types, otherwise Signed or Unsigned.
template <class Real, class Use>
void with_number(core::DataType type, const Use& use) {
    if (core::is_floating_point(type)) {
        use.template operator()<Real>();
    } else if (core::is_signed_integer(type)) {
        use.template operator()<Signed>();
    } else {
        use.template operator()<Unsigned>();
    }
}

/// The definition of an operator, for each type of real numbers.
struct Definition {
    /// The operator's short name: "SLICE1".
    std::string_view name;
    void (*with_estimates)(Call& call);
    void (*in_fp32)(Call& call);
    void (*with_ranges)(Call& call);
};
using Definitions = std::vector<Definition>;

/// A lambda that is a template on the type of real numbers: []<class Real>(Call& call) { … }.
template <class F>
Definition define(std::string_view name, F /*definition*/) {
    return {name, [](Call& call) { F{}.template operator()<Estimate>(call); },
            [](Call& call) { F{}.template operator()<Rounded>(call); },
            [](Call& call) { F{}.template operator()<Ranged>(call); }};
}

/// Null if the operator has no definition yet.
[[nodiscard]] const Definition* find_definition(std::string_view short_name);

// The outputs by definition. The descriptor must be valid. Integers and copied elements are exact.

/// In doubles, with the largest error of an evaluation in doubles.
[[nodiscard]] std::vector<Output> estimates(const Descriptor& descriptor, std::span<const core::Tensor* const> inputs);
/// Where every operation is rounded to FP32, converted to the tensors' types.
[[nodiscard]] std::vector<core::Tensor> fp32_values(const Descriptor& descriptor,
                                                    std::span<const core::Tensor* const> inputs);
/// The range of results that FP32 implementations may have if they keep to the formula's operations and their order.
/// Empty if rounding may change the answer of a comparison.
[[nodiscard]] std::vector<Output> ranges(const Descriptor& descriptor, std::span<const core::Tensor* const> inputs);

/// The files with definitions. The build writes this list.
extern const std::span<const core::RegistryFile<Definitions>> definitions;

}  // namespace dmlconform::cpu::definitions
