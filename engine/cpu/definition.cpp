// Evaluates definitions: loads their inputs, and stores their outputs as tensors.
#include <stdexcept>
#include <string>

#include "engine/core/element.h"
#include "engine/core/strided.h"
#include "engine/cpu/definitions/call.h"
#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/movement/constant.h"

namespace dmlconform::cpu::definitions {
namespace {

using element_wise::Segment;

/// Real numbers of any kind, which are made of doubles.
template <class Real>
void load_number(const core::Tensor& from, const Segment& at, Real& to) {
    double number = 0;
    element_wise::load(from.buffer.bytes(), at, 1, &number);
    to = number;
}
void load_number(const core::Tensor& from, const Segment& at, Signed& to) {
    element_wise::load(from.buffer.bytes(), at, 1, &to);
}
void load_number(const core::Tensor& from, const Segment& at, Unsigned& to) {
    element_wise::load(from.buffer.bytes(), at, 1, &to);
}
void load_number(const core::Tensor& from, const Segment& at, Bits& to) {
    Unsigned bits;
    element_wise::load_bits(from.buffer.bytes(), at, 1, &bits);
    to.value = bits.value;
}

void store_number(core::Tensor& to, const Segment& at, Bits from, Store /*how*/) {
    const Unsigned bits(from.value);
    element_wise::store_bits(to.buffer.bytes(), at, 1, &bits);
}
void store_number(core::Tensor& to, const Segment& at, const Estimate& from, Store how) {
    element_wise::store(to.buffer.bytes(), at, 1, &from.value, how);
}
void store_number(core::Tensor& to, const Segment& at, const Rounded& from, Store how) {
    const double number{from.value};
    element_wise::store(to.buffer.bytes(), at, 1, &number, how);
}
void store_number(core::Tensor& to, const Segment& at, const Ranged& from, Store how) {
    element_wise::store(to.buffer.bytes(), at, 1, &from.range.value, how);
}
template <class Number>
void store_number(core::Tensor& to, const Segment& at, const Number& from, Store how) {
    element_wise::store(to.buffer.bytes(), at, 1, &from, how);
}

core::StridedRuns<1> elements_of(const core::TensorDesc& desc) {
    return {desc.sizes, {core::signed_strides(desc)}};
}

}  // namespace

Call::Call(const Descriptor& operator_descriptor, std::span<const core::Tensor* const> inputs)
    : descriptor(operator_descriptor), outputs(operator_descriptor.outputs().size()), inputs_(inputs) {}

std::size_t Call::slot_of(std::string_view name, bool is_input) const {
    const std::vector<operators::TensorSlot> slots = is_input ? descriptor.inputs() : descriptor.outputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].name == name) {
            return i;
        }
    }
    throw std::logic_error(descriptor.schema->name + " has no tensor " + std::string(name));
}

Bits Call::constant(std::string_view name, core::DataType type) const {
    return {movement::constant_of(descriptor, name, type)};
}

template <class Number>
Number Call::scalar(std::string_view name, core::DataType type) const {
    core::Tensor one(core::TensorDesc::packed(type, {1}));
    core::store_element(one.buffer.bytes(), type, 0, constant(name, type).value);
    Number number = 0;
    load_number(one, {type, 0, 0}, number);
    return number;
}
template Estimate Call::scalar(std::string_view, core::DataType) const;
template Rounded Call::scalar(std::string_view, core::DataType) const;
template Ranged Call::scalar(std::string_view, core::DataType) const;
template Signed Call::scalar(std::string_view, core::DataType) const;
template Unsigned Call::scalar(std::string_view, core::DataType) const;

template <class Number>
Array<Number> Call::loaded(std::size_t slot) const {
    const core::Tensor& tensor = *inputs_[slot];
    Array<Number> array{Index(tensor.desc.sizes)};
    std::size_t i = 0;
    elements_of(tensor.desc).for_each_element([&](const auto& at) {
        load_number(tensor, {tensor.desc.data_type, at[0], 0}, array.elements[i++]);
    });
    return array;
}
template Array<double> Call::loaded(std::size_t) const;
template Array<Estimate> Call::loaded(std::size_t) const;
template Array<Rounded> Call::loaded(std::size_t) const;
template Array<Ranged> Call::loaded(std::size_t) const;
template Array<Signed> Call::loaded(std::size_t) const;
template Array<Unsigned> Call::loaded(std::size_t) const;
template Array<Bits> Call::loaded(std::size_t) const;

const Definition* find_definition(std::string_view short_name) {
    static const core::Registry<Definitions> registry(definitions);
    return registry.find(short_name);
}

std::vector<Output> estimates(const Descriptor& descriptor, std::span<const core::Tensor* const> inputs) {
    Call call(descriptor, inputs);
    find_definition(descriptor.schema->short_name())->with_estimates(call);
    return std::move(call.outputs);
}

std::vector<Output> ranges(const Descriptor& descriptor, std::span<const core::Tensor* const> inputs) {
    Call call(descriptor, inputs);
    Ranged::may_branch = false;
    find_definition(descriptor.schema->short_name())->with_ranges(call);
    return Ranged::may_branch ? std::vector<Output>() : std::move(call.outputs);
}

namespace {

std::vector<core::Tensor> stored(const Call& call) {
    std::vector<core::Tensor> tensors;
    const auto slots = call.descriptor.outputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        core::Tensor& tensor =
            tensors.emplace_back(slots[i].desc == nullptr ? core::Tensor() : core::Tensor(*slots[i].desc));
        std::visit(
            [&]<class Numbers>(const Numbers& numbers) {
                if constexpr (!std::is_same_v<Numbers, std::monostate>) {
                    std::size_t k = 0;
                    elements_of(tensor.desc).for_each_element([&](const auto& at) {
                        store_number(tensor, {tensor.desc.data_type, at[0], 0}, numbers.elements[k++],
                                     call.outputs[i].store);
                    });
                }
            },
            call.outputs[i].numbers);
    }
    return tensors;
}

}  // namespace

std::vector<core::Tensor> fp32_values(const Descriptor& descriptor, std::span<const core::Tensor* const> inputs) {
    Call call(descriptor, inputs);
    find_definition(descriptor.schema->short_name())->in_fp32(call);
    return stored(call);
}

}  // namespace dmlconform::cpu::definitions
