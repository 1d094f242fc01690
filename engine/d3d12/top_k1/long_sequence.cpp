// Selects the winners of parts of a sequence, and then the winners among these.
#include "engine/d3d12/top_k1/long_sequence.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/d3d12/planning/parts_plan.h"
#include "engine/d3d12/top_k1/top_k_fields.h"

namespace dmlconform::d3d12 {
namespace {

using operators::Descriptor;

class LongSequence {
public:
    /// `most_bytes`: the size limit of a part.
    LongSequence(const Addressable& most, const Descriptor& descriptor, std::uint64_t most_bytes)
        : descriptor_(descriptor), op_(descriptor), plan_(most), alignment_(most.alignment) {
        // Parts of all tensors begin at addresses that shaders can use, because no element is smaller than a byte.
        const auto down = [&](std::uint64_t count) { return count / alignment_ * alignment_; };
        const std::uint64_t elements = most_bytes / core::bytes_of(op_.input.data_type);
        const std::uint64_t stride = std::max<std::uint64_t>(core::effective_strides(op_.input)[op_.axis], 1);
        length_ = elements == 0 ? 0 : down((elements - 1) / stride + 1);
        kept_ = groups_of(op_.k, alignment_) * alignment_;
        const std::uint64_t candidates = groups_of(size(), std::max(length_, alignment_)) * kept_;
        const bool is_alone = *core::element_count(op_.input.sizes) == size();
        is_possible_ = is_alone && length_ >= kept_ && candidates * sizeof(std::uint64_t) <= most.bytes;
    }

    [[nodiscard]] std::optional<DispatchPlan> plan() && {
        if (!is_possible_) {
            return std::nullopt;
        }
        const std::uint64_t last = (size() - 1) % length_ + 1;
        const auto candidates =
            static_cast<std::uint32_t>((groups_of(size(), length_) - 1) * kept_ + std::min(last, kept_));
        const core::TensorDesc values = along_axis(op_.values.data_type, candidates);
        const core::TensorDesc indices = along_axis(op_.indices.data_type, candidates);
        const core::TensorDesc positions = along_axis(core::DataType::uint32, op_.k);
        const BufferRef value_ref = plan_.add_temporary(values.total_bytes);
        const BufferRef index_ref = plan_.add_temporary(indices.total_bytes);
        const BufferRef position_ref = plan_.add_temporary(positions.total_bytes);
        for (std::uint64_t begin = 0; begin < size(); begin += length_) {
            const std::uint64_t end = std::min(begin + length_, size());
            add_part(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), value_ref, index_ref);
        }
        add(winners_of(values, op_.values, positions, op_.k), {value_ref, output(0), position_ref});
        Descriptor gathered = blank_descriptor("GATHER_ELEMENTS");
        field_of(gathered, "InputTensor") = indices;
        field_of(gathered, "IndicesTensor") = positions;
        field_of(gathered, "OutputTensor") = op_.indices;
        field_of(gathered, "Axis") = op_.axis;
        add(gathered, {index_ref, position_ref, output(1)});
        return is_possible_ ? std::optional(std::move(plan_).plan()) : std::nullopt;
    }

private:
    [[nodiscard]] std::uint64_t size() const { return op_.input.sizes[op_.axis]; }

    [[nodiscard]] core::TensorDesc along_axis(core::DataType type, std::uint32_t size) const {
        core::Dimensions sizes(op_.input.sizes.size(), 1);
        sizes[op_.axis] = size;
        return core::TensorDesc::packed(type, sizes);
    }

    [[nodiscard]] Descriptor winners_of(const core::TensorDesc& input, const core::TensorDesc& values,
                                        const core::TensorDesc& indices, std::uint32_t k) const {
        Descriptor winners = blank_descriptor("TOP_K1");
        field_of(winners, "InputTensor") = input;
        field_of(winners, "OutputValueTensor") = values;
        field_of(winners, "OutputIndexTensor") = indices;
        field_of(winners, "Axis") = op_.axis;
        field_of(winners, "K") = k;
        field_of(winners, "AxisDirection") = static_cast<std::uint32_t>(op_.direction);
        return winners;
    }

    void add(const Descriptor& descriptor, const std::vector<BufferRef>& tensors) {
        is_possible_ =
            is_possible_ && plan_.add(*find_binding(descriptor.schema->short_name()), whole_part(descriptor), tensors);
    }

    /// Adds the winners of a part, and their indices in the whole sequence.
    void add_part(std::uint32_t begin, std::uint32_t end, BufferRef value_ref, BufferRef index_ref) {
        Cut cut(whole_part(descriptor_), op_.axis, begin, end, alignment_);
        cut.take("InputTensor", op_.axis, begin, end);
        const Part part = std::move(cut).part();
        const auto kept = static_cast<std::uint32_t>(std::min<std::uint64_t>(kept_, end - begin));
        const core::TensorDesc values = along_axis(op_.values.data_type, kept);
        const core::TensorDesc indices = along_axis(op_.indices.data_type, kept);
        const std::uint64_t before = begin / length_ * kept_;
        BufferRef input_ref = input(0);
        input_ref.start = part.starts.front() / Part::byte_bits;
        value_ref.start += before * core::bytes_of(values.data_type);
        index_ref.start += before * core::bytes_of(indices.data_type);
        add(winners_of(*part.descriptor.tensor("InputTensor"), values, indices, kept),
            {input_ref, value_ref, index_ref});
        if (begin != 0) {
            add_to_all(indices, index_ref, begin);
        }
    }

    /// Adds a number to all indices, in place.
    void add_to_all(const core::TensorDesc& indices, const BufferRef& index_ref, std::uint32_t number) {
        core::TensorDesc one = along_axis(indices.data_type, 1);
        const BufferRef one_ref = plan_.add_temporary(one.total_bytes);
        Descriptor made = blank_descriptor("FILL_VALUE_CONSTANT");
        field_of(made, "OutputTensor") = one;
        field_of(made, "ValueDataType") = static_cast<std::uint32_t>(one.data_type);
        field_of(made, "Value") = operators::ScalarUnion{number};
        add(made, {one_ref});
        one.sizes = indices.sizes;
        one.strides = core::Dimensions(one.sizes.size());
        Descriptor sum = blank_descriptor("ELEMENT_WISE_ADD");
        field_of(sum, "ATensor") = indices;
        field_of(sum, "BTensor") = one;
        field_of(sum, "OutputTensor") = indices;
        add(sum, {index_ref, one_ref, index_ref});
    }

    const Descriptor& descriptor_;
    TopKFields op_;
    PartsPlan plan_;
    std::uint64_t alignment_;
    /// The length of a part, and the number of winners of each.
    std::uint64_t length_ = 0;
    std::uint64_t kept_ = 0;
    bool is_possible_ = false;
};

}  // namespace

std::optional<DispatchPlan> plan_long_sequence(const Addressable& most, const operators::Descriptor& descriptor) {
    // For large K, temporaries are large as well.
    constexpr std::uint64_t smallest_share = 16;
    for (std::uint64_t share = 1; share <= smallest_share; share *= 2) {
        auto plan = LongSequence(most, descriptor, most.bytes / share).plan();
        if (plan && std::ranges::all_of(plan->temporaries, [&](std::uint64_t bytes) { return bytes <= most.bytes; })) {
            return plan;
        }
    }
    return std::nullopt;
}

}  // namespace dmlconform::d3d12
