// Parts of an operator's work, for tensors that are larger than what shaders address: the same operator on parts of
// its tensors. A binding says what a part along a dimension is, and parts_plan.h cuts until everything fits.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/operators/descriptor.h"

namespace dmlconform::d3d12 {

struct Part {
    operators::Descriptor descriptor;
    /// Where its tensors begin in the whole ones, in bits: inputs(), then outputs().
    std::vector<std::uint64_t> starts;
    /// It is too large, and Binding::plan_long has to plan it.
    bool is_long = false;

    static constexpr std::uint64_t byte_bits = 8;
};

/// Bytes that a tensor needs on the device: up to the end of its last addressed element, or less than that only where
/// its total size ends within the last word.
[[nodiscard]] std::uint64_t device_bytes(const core::TensorDesc& desc);

/// A descriptor without any fields, and one of its fields.
[[nodiscard]] operators::Descriptor blank_descriptor(std::string_view op);
[[nodiscard]] operators::FieldValue& field_of(operators::Descriptor& descriptor, std::string_view field);

/// The whole work of a descriptor.
[[nodiscard]] Part whole_part(const operators::Descriptor& descriptor);

/// The tensors of a descriptor in the order of Part::starts. Null where one is absent.
[[nodiscard]] std::vector<core::TensorDesc*> tensors_of(operators::Descriptor& descriptor);
[[nodiscard]] std::vector<const core::TensorDesc*> tensors_of(const operators::Descriptor& descriptor);

/// Makes the part of a part that has elements `begin` to `end` - 1 of the first output along a dimension. Bindings take
/// parts of the tensors and change attributes.
class Cut {
public:
    /// Tensors begin at multiples of `alignment` bytes.
    Cut(const Part& from, std::size_t dimension, std::uint32_t begin, std::uint32_t end, std::uint64_t alignment)
        : dimension_(dimension), begin_(begin), end_(end), alignment_(alignment), part_(from) {}

    [[nodiscard]] std::size_t dimension() const { return dimension_; }
    [[nodiscard]] std::uint32_t begin() const { return begin_; }
    [[nodiscard]] std::uint32_t end() const { return end_; }
    [[nodiscard]] const operators::Descriptor& descriptor() const { return part_.descriptor; }

    /// Leaves elements `from` to `to` - 1 of a tensor along a dimension. Of an absent one, nothing.
    void take(std::string_view field, std::size_t dimension, std::uint32_t from, std::uint32_t to);
    /// The same elements of all tensors: those of one element along the dimension stay whole. False if there is one
    /// that has neither that nor as many as the first output.
    [[nodiscard]] bool take_from_all();
    /// The last place up to `from` along a dimension where a part of the tensor may begin.
    [[nodiscard]] std::uint32_t aligned_down(std::string_view field, std::size_t dimension, std::uint32_t from) const;
    /// A field whose value is of this type.
    template <class T>
    [[nodiscard]] T& field(std::string_view name) {
        return std::get<T>(field_of(part_.descriptor, name));
    }

    [[nodiscard]] Part part() && { return std::move(part_); }

private:
    void take(core::TensorDesc& desc, std::uint64_t& start, std::size_t dimension, std::uint32_t from,
              std::uint32_t to) const;

    std::size_t dimension_;
    std::uint32_t begin_;
    std::uint32_t end_;
    std::uint64_t alignment_;
    Part part_;
};

}  // namespace dmlconform::d3d12
