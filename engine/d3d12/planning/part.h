// Parts of an operator's work, for tensors that are larger than shaders can address: the same operator on parts of its
// tensors. A binding defines what a part along a dimension is; parts_plan.h cuts until everything fits.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/operators/descriptor.h"

namespace dmlconform::d3d12 {

struct Part {
    operators::Descriptor descriptor;
    /// The offsets of its tensors in the whole ones, in bits: inputs(), then outputs().
    std::vector<std::uint64_t> starts;
    /// True if it is too large and must be planned by Binding::plan_long.
    bool is_long = false;

    static constexpr std::uint64_t byte_bits = 8;
};

/// The bytes that a tensor needs on the device, up to the end of its last addressed element. Less only if the total
/// size ends within the last word.
[[nodiscard]] std::uint64_t device_bytes(const core::TensorDesc& desc);

/// A descriptor without values, and access to one of its fields.
[[nodiscard]] operators::Descriptor blank_descriptor(std::string_view op);
[[nodiscard]] operators::FieldValue& field_of(operators::Descriptor& descriptor, std::string_view field);

/// The whole work of a descriptor.
[[nodiscard]] Part whole_part(const operators::Descriptor& descriptor);

/// The tensors of a descriptor in the order of Part::starts. Null if absent.
[[nodiscard]] std::vector<core::TensorDesc*> tensors_of(operators::Descriptor& descriptor);
[[nodiscard]] std::vector<const core::TensorDesc*> tensors_of(const operators::Descriptor& descriptor);

/// Cuts a part out of a part: the elements `begin` to `end` - 1 of the first output along a dimension. Bindings cut the
/// tensors and change attributes.
class Cut {
public:
    /// Tensors must begin at multiples of `alignment` bytes.
    Cut(const Part& from, std::size_t dimension, std::uint32_t begin, std::uint32_t end, std::uint64_t alignment)
        : dimension_(dimension), begin_(begin), end_(end), alignment_(alignment), part_(from) {}

    [[nodiscard]] std::size_t dimension() const { return dimension_; }
    [[nodiscard]] std::uint32_t begin() const { return begin_; }
    [[nodiscard]] std::uint32_t end() const { return end_; }
    [[nodiscard]] const operators::Descriptor& descriptor() const { return part_.descriptor; }

    /// Keeps the elements `from` to `to` - 1 of a tensor along a dimension. Does nothing if the tensor is absent.
    void take(std::string_view field, std::size_t dimension, std::uint32_t from, std::uint32_t to);
    /// Cuts all tensors alike; tensors of size 1 along the dimension stay whole. Returns false if a tensor has neither
    /// size 1 nor the first output's size.
    [[nodiscard]] bool take_from_all();
    /// The last index up to `from` along a dimension at which a part of the tensor may begin.
    [[nodiscard]] std::uint32_t aligned_down(std::string_view field, std::size_t dimension, std::uint32_t from) const;
    /// A field with a value of this type.
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

[[nodiscard]] inline bool cut_anywhere(Cut& cut) {
    return cut.take_from_all();
}

/// Cuts along all dimensions except that of the field Axis.
[[nodiscard]] inline bool cut_off_axis(Cut& cut) {
    return cut.dimension() != cut.descriptor().uint("Axis") && cut.take_from_all();
}

}  // namespace dmlconform::d3d12
