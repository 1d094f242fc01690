// Cuts work until everything fits, and combines the plans of the parts.
#include "engine/d3d12/planning/parts_plan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/d3d12/movement/movement.h"
#include "engine/d3d12/planning/part.h"

namespace dmlconform::d3d12 {
namespace {

/// Limit for the number of parts; more would take too long.
constexpr std::size_t most_parts = 4096;

core::TensorDesc packed(const core::TensorDesc& desc) {
    return core::TensorDesc::packed(desc.data_type, desc.sizes);
}

/// Describes a copy of elements, starting `skipped` elements after the beginning of the tensor.
operators::Descriptor copy_of(core::TensorDesc from, core::TensorDesc to, std::uint32_t skipped) {
    core::Dimensions offsets(from.sizes.size());
    if (skipped != 0) {
        // The skipped elements are indices of a dimension of their own.
        core::Dimensions strides{1};
        for (const std::uint64_t stride : core::effective_strides(from)) {
            strides.push_back(static_cast<std::uint32_t>(stride));
        }
        from.strides = strides;
        from.sizes.insert(from.sizes.begin(), skipped + 1);
        from.total_bytes = core::minimum_total_bytes(from).value();
        to.sizes.insert(to.sizes.begin(), 1);
        offsets.insert(offsets.begin(), skipped);
    }
    operators::Descriptor copy = blank_descriptor("SLICE1");
    field_of(copy, "DimensionCount") = static_cast<std::uint32_t>(offsets.size());
    field_of(copy, "InputWindowStrides") = std::vector<std::int32_t>(offsets.size(), 1);
    field_of(copy, "InputWindowOffsets") = std::move(offsets);
    field_of(copy, "InputWindowSizes") = to.sizes;
    field_of(copy, "InputTensor") = std::move(from);
    field_of(copy, "OutputTensor") = std::move(to);
    return copy;
}

bool is_large(const Addressable& most, const core::TensorDesc& desc) {
    return device_bytes(desc) > most.bytes;
}

/// The distance in bytes of a tensor's start from the preceding address where a shader's buffer may begin.
std::uint64_t bytes_beyond(const Addressable& most, std::uint64_t start) {
    return start / Part::byte_bits % most.alignment;
}

/// For each tensor of a part, whether it is copied to a temporary. Long tensors are not.
std::vector<bool> moved_tensors(const Addressable& most, const Part& part) {
    const auto descs = tensors_of(part.descriptor);
    std::vector<bool> moved(descs.size());
    for (std::size_t i = 0; i < descs.size(); ++i) {
        moved[i] = descs[i] != nullptr &&
                   ((!part.is_long && is_large(most, *descs[i])) || bytes_beyond(most, part.starts[i]) != 0);
    }
    return moved;
}

/// The descriptor that the binding plans: copied tensors are packed.
operators::Descriptor planned_descriptor(const Part& part, const std::vector<bool>& moved) {
    operators::Descriptor descriptor = part.descriptor;
    const auto descs = tensors_of(descriptor);
    for (std::size_t i = 0; i < descs.size(); ++i) {
        if (moved[i]) {
            *descs[i] = packed(*descs[i]);
        }
    }
    return descriptor;
}

/// Indices, sorted by a key.
using Order = std::vector<std::pair<std::uint64_t, std::size_t>>;

/// Cuts the work of one descriptor.
class Cutter {
public:
    /// `moves`: parts of large tensors may be copied to temporaries.
    Cutter(const Addressable& most, const Binding& binding, bool moves)
        : most_(most), binding_(binding), moves_(moves) {}

    /// Returns false if that is impossible.
    [[nodiscard]] bool cut(const Part& part) { return cut(part, all_dimensions); }

    [[nodiscard]] std::vector<Part> parts() && { return std::move(parts_); }

private:
    /// One bit for each dimension that may still be cut.
    using Dimensions = std::uint32_t;
    static constexpr Dimensions all_dimensions = 0xff;

    [[nodiscard]] bool fits(const Part& part) const {
        const auto moved = moved_tensors(most_, part);
        if (!may_move(part, moved)) {
            return false;
        }
        const operators::Descriptor planned = planned_descriptor(part, moved);
        if (binding_.unsupported != nullptr && binding_.unsupported(planned)) {
            return false;
        }
        const auto temporaries = binding_.plan(planned).temporaries;
        return std::ranges::all_of(temporaries, [this](std::uint64_t bytes) { return bytes <= most_.bytes; });
    }

    /// True if the temporaries of copied tensors are not too large.
    [[nodiscard]] bool may_move(const Part& part, const std::vector<bool>& moved) const {
        const auto descs = tensors_of(part.descriptor);
        for (std::size_t i = 0; i < descs.size(); ++i) {
            const bool may = !moved[i] || (moves_ && core::bits_of(descs[i]->data_type) >= Part::byte_bits &&
                                           packed(*descs[i]).total_bytes <= most_.bytes);
            if (!may || (part.is_long && moved[i] && is_large(most_, *descs[i]))) {
                return false;
            }
        }
        return true;
    }

    /// Empty if the dimension cannot be cut.
    [[nodiscard]] std::optional<Part> part_of(const Part& from, std::size_t dimension, std::uint32_t begin,
                                              std::uint32_t end) const {
        Cut cut(from, dimension, begin, end, most_.alignment);
        if (!binding_.cut(cut)) {
            return std::nullopt;
        }
        Part part = std::move(cut).part();
        const auto has_bytes = [](std::uint64_t start) { return start % Part::byte_bits == 0; };
        // If a part begins within a word, writing the preceding part may change that word, so it must not be read
        // afterwards.
        const bool anywhere = moves_ && part.descriptor.in_place.empty();
        const bool begins = anywhere ? std::ranges::all_of(part.starts, has_bytes) : is_aligned(part);
        return begins ? std::optional(std::move(part)) : std::nullopt;
    }

    [[nodiscard]] bool is_aligned(const Part& part) const {
        return std::ranges::all_of(
            part.starts, [this](std::uint64_t start) { return start % (most_.alignment * Part::byte_bits) == 0; });
    }

    /// Dimensions of the first output, starting with the one whose cut makes the parts of large tensors smallest.
    [[nodiscard]] Order dimensions_of(const Part& part, Dimensions allowed) const {
        const core::Dimensions& sizes = part.descriptor.outputs().front().desc->sizes;
        Order order;
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            if ((allowed >> d & 1) == 0) {
                continue;
            }
            std::uint64_t length = 0;
            for (const core::TensorDesc* desc : tensors_of(part.descriptor)) {
                if (desc != nullptr && is_large(most_, *desc) && desc->sizes.size() == sizes.size()) {
                    length = std::max(length, core::effective_strides(*desc)[d] * (desc->sizes[d] - 1) *
                                                  core::bits_of(desc->data_type));
                }
            }
            order.emplace_back(~length, d);
        }
        std::ranges::sort(order);
        return order;
    }

    [[nodiscard]] bool cut(const Part& part, Dimensions allowed) {
        if (fits(part)) {
            parts_.push_back(part);
            return parts_.size() <= most_parts;
        }
        if (binding_.cut == nullptr) {
            return false;
        }
        for (const auto& [length, d] : dimensions_of(part, allowed)) {
            if (part_of(part, d, 0, size_of(part, d))) {
                return cut_along(part, d, allowed & ~(Dimensions{1} << d));
            }
        }
        Part whole = part;
        whole.is_long = true;
        const auto moved = moved_tensors(most_, whole);
        if (binding_.plan_long == nullptr || !may_move(whole, moved) ||
            !binding_.plan_long(most_, planned_descriptor(whole, moved))) {
            return false;
        }
        parts_.push_back(std::move(whole));
        return true;
    }

    /// The size of the first output along a dimension.
    [[nodiscard]] static std::uint32_t size_of(const Part& part, std::size_t dimension) {
        return part.descriptor.outputs().front().desc->sizes[dimension];
    }

    /// Cuts into parts that fit, or else into the smallest possible ones, which are then cut along other dimensions.
    [[nodiscard]] bool cut_along(const Part& part, std::size_t dimension, Dimensions others) {
        const std::uint32_t size = size_of(part, dimension);
        for (std::uint32_t begin = 0; begin < size;) {
            const std::uint32_t end = end_of(part, dimension, begin, size);
            const auto next = end == begin ? std::nullopt : part_of(part, dimension, begin, end);
            if (!next || parts_.size() > most_parts || !cut(*next, others)) {
                return false;
            }
            begin = end;
        }
        return true;
    }

    /// The index at which a part ends, preferably one that lets the next part begin at an aligned address. `begin` if
    /// the part cannot end at any index.
    [[nodiscard]] std::uint32_t end_of(const Part& part, std::size_t dimension, std::uint32_t begin,
                                       std::uint32_t size) const {
        const auto may_end = [&](std::uint32_t end) {
            const auto next = end == size ? std::optional(part) : part_of(part, dimension, end, end + 1);
            return next && (end == size || is_aligned(*next));
        };
        // Alignment repeats with this period of elements.
        const auto period = static_cast<std::uint32_t>(most_.alignment * Part::byte_bits);
        const std::uint32_t fitting = fitting_end(part, dimension, begin, size);
        for (std::uint32_t end = fitting; end > begin && fitting - end < period; --end) {
            if (may_end(end)) {
                return end;
            }
        }
        if (moves_) {
            return std::max(fitting, begin + 1);
        }
        for (std::uint32_t end = fitting + 1; end - fitting <= period; ++end) {
            if (may_end(end)) {
                return end;
            }
        }
        return begin;
    }

    /// The last possible end of a part that fits; `begin` if there is none.
    [[nodiscard]] std::uint32_t fitting_end(const Part& part, std::size_t dimension, std::uint32_t begin,
                                            std::uint32_t size) const {
        std::uint64_t fitting = begin;
        std::uint64_t beyond = std::uint64_t{size} + 1;
        while (beyond - fitting > 1) {
            const std::uint64_t middle = fitting + (beyond - fitting) / 2;
            const auto tried = part_of(part, dimension, begin, static_cast<std::uint32_t>(middle));
            (tried && fits(*tried) ? fitting : beyond) = middle;
        }
        return static_cast<std::uint32_t>(fitting);
    }

    const Addressable& most_;
    const Binding& binding_;
    bool moves_;
    std::vector<Part> parts_;
};

std::optional<DispatchPlan> plan_in_parts(const Addressable& most, const Binding& binding,
                                          const operators::Descriptor& descriptor, bool moves) {
    Cutter cutter(most, binding, moves);
    if (!cutter.cut(whole_part(descriptor))) {
        return std::nullopt;
    }
    std::vector<BufferRef> tensors;
    for (std::size_t i = 0; i < descriptor.inputs().size(); ++i) {
        tensors.push_back(input(i));
    }
    for (std::size_t o = 0; o < descriptor.outputs().size(); ++o) {
        tensors.push_back(output(o));
    }
    // Writing the end of a part may change the rest of its last word, which must be written later.
    const std::vector<Part> parts = std::move(cutter).parts();
    Order order;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        order.emplace_back(parts[i].starts[descriptor.inputs().size()], i);
    }
    std::ranges::sort(order);
    PartsPlan plan(most);
    for (const auto& [start, i] : order) {
        if (!plan.add(binding, parts[i], tensors)) {
            return std::nullopt;
        }
    }
    return std::move(plan).plan();
}

}  // namespace

std::optional<DispatchPlan> plan_within(const Addressable& most, const Binding& binding,
                                        const operators::Descriptor& descriptor) {
    const auto tensor_fits = [&](const core::TensorDesc* desc) {
        return desc == nullptr || device_bytes(*desc) <= most.bytes;
    };
    if (std::ranges::all_of(tensors_of(descriptor), tensor_fits)) {
        DispatchPlan plan = binding.plan(descriptor);
        if (std::ranges::all_of(plan.temporaries, [&](std::uint64_t bytes) { return bytes <= most.bytes; })) {
            return plan;
        }
    }
    auto plan = plan_in_parts(most, binding, descriptor, false);
    return plan ? plan : plan_in_parts(most, binding, descriptor, true);
}

bool PartsPlan::add(const Binding& binding, const Part& part, const std::vector<BufferRef>& tensors) {
    const auto moved = moved_tensors(most_, part);
    const operators::Descriptor planned = planned_descriptor(part, moved);
    const auto descs = tensors_of(planned);
    const auto origin_descs = tensors_of(part.descriptor);
    const std::size_t inputs = planned.inputs().size();
    const std::size_t taken_before = taken_;
    std::vector<BufferRef> origins(descs.size());
    std::vector<BufferRef> here(descs.size());
    for (std::size_t i = 0; i < descs.size(); ++i) {
        if (descs[i] == nullptr) {
            continue;
        }
        origins[i] = tensors[i];
        origins[i].start += part.starts[i] / Part::byte_bits;
        origins[i].bytes = device_bytes(*origin_descs[i]);
        here[i] = moved[i] ? take_temporary(descs[i]->total_bytes) : origins[i];
        if (moved[i] && i < inputs && !copy(*origin_descs[i], origins[i], *descs[i], here[i])) {
            return false;
        }
    }
    auto plan = part.is_long ? binding.plan_long(most_, planned) : std::optional(binding.plan(planned));
    if (!plan) {
        return false;
    }
    append(std::move(*plan), here, inputs);
    for (std::size_t i = inputs; i < descs.size(); ++i) {
        if (moved[i] && !copy_back(*descs[i], here[i], *origin_descs[i], origins[i])) {
            return false;
        }
    }
    taken_ = taken_before;
    return true;
}

/// Copies elements to an address where a shader's buffer may begin.
bool PartsPlan::copy(const core::TensorDesc& from, BufferRef source, const core::TensorDesc& to,
                     const BufferRef& target) {
    const std::uint64_t beyond = source.start % most_.alignment;
    source.start -= beyond;
    if (beyond != 0 && from.sizes.size() == core::max_dimension_count) {
        return false;
    }
    const Binding& binding = *find_binding("SLICE1");
    Cutter cutter(most_, binding, false);
    const auto skipped = static_cast<std::uint32_t>(beyond / core::bytes_of(from.data_type));
    if (!cutter.cut(whole_part(copy_of(from, to, skipped)))) {
        return false;
    }
    const std::vector<Part> parts = std::move(cutter).parts();
    return std::ranges::all_of(parts, [&](const Part& part) { return add(binding, part, {source, target}); });
}

/// Copies elements from there to any address.
bool PartsPlan::copy_back(const core::TensorDesc& from, const BufferRef& source, const core::TensorDesc& to,
                          BufferRef target) {
    const std::uint64_t beyond = target.start % most_.alignment;
    if (beyond == 0) {
        return copy(from, source, to, target);
    }
    target.start -= beyond;
    target.bytes += beyond;
    Movement movement(&from, to);
    movement.start_target_at(static_cast<std::int64_t>(beyond / core::bytes_of(to.data_type)));
    for (std::size_t d = 0; d < to.sizes.size(); ++d) {
        movement.along(to.sizes[d], movement.source_strides()[d], movement.target_strides()[d]);
    }
    append({{}, {std::move(movement).dispatch(input(0), output(0))}}, {source, target}, 1);
    return target.bytes <= most_.bytes;
}

void PartsPlan::append(DispatchPlan plan, const std::vector<BufferRef>& tensors, std::size_t inputs) {
    const std::size_t taken_before = taken_;
    std::vector<BufferRef> temporaries(plan.temporaries.size());
    for (std::size_t t = 0; t < temporaries.size(); ++t) {
        const bool zeroed = std::ranges::find(plan.zeroed, t) != plan.zeroed.end();
        temporaries[t] = zeroed ? add_temporary(plan.temporaries[t]) : take_temporary(plan.temporaries[t]);
        if (zeroed) {
            plan_.zeroed.push_back(temporaries[t].index);
        }
    }
    for (Dispatch& dispatch : plan.dispatches) {
        for (BufferRef& ref : dispatch.buffers) {
            if (ref.kind != BufferRef::Kind::absent) {
                BufferRef now = ref.kind == BufferRef::Kind::temporary ? temporaries[ref.index]
                                : ref.kind == BufferRef::Kind::input   ? tensors[ref.index]
                                                                       : tensors[inputs + ref.index];
                now.start += ref.start;
                now.bytes = ref.bytes != 0 ? ref.bytes : now.bytes;
                ref = now;
            }
        }
        plan_.dispatches.push_back(std::move(dispatch));
    }
    taken_ = taken_before;
}

BufferRef PartsPlan::add_temporary(std::uint64_t bytes) {
    BufferRef ref = temporary(plan_.temporaries.size());
    ref.bytes = bytes;
    plan_.temporaries.push_back(bytes);
    return ref;
}

/// A temporary that preceding parts may have used.
BufferRef PartsPlan::take_temporary(std::uint64_t bytes) {
    if (taken_ == shared_.size()) {
        shared_.push_back(add_temporary(0).index);
    }
    BufferRef ref = temporary(shared_[taken_++]);
    ref.bytes = bytes;
    plan_.temporaries[ref.index] = std::max(plan_.temporaries[ref.index], bytes);
    return ref;
}

}  // namespace dmlconform::d3d12
