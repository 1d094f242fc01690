// Rules that concern a single tensor. What comments say about DirectML 1.15.4 was measured on it.
#include "engine/operators/tensor_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "engine/core/strided.h"
#include "engine/core/tensor.h"

namespace dmlconform::operators {
namespace {

Verdict check_support(const OperatorSchema& schema, const Field& field, const core::TensorDesc& desc,
                      core::FeatureLevel level) {
    const TensorSupport* support = schema.support_at(field.name, level);
    if (support == nullptr) {
        return rejected_by("tensor.featureLevel",
                           fmt::format("{} is not available at feature level {}", field.name, to_string(level)));
    }
    const auto& types = support->data_types;
    if (std::find(types.begin(), types.end(), desc.data_type) == types.end()) {
        std::vector<std::string_view> names;
        for (const core::DataType type : types) {
            names.push_back(core::name(type));
        }
        return rejected_by("tensor.dataType",
                           fmt::format("{} has data type {}; feature level {} allows {}", field.name,
                                       core::name(desc.data_type), to_string(level), fmt::join(names, ", ")));
    }
    const std::size_t rank = desc.sizes.size();
    if (rank < support->min_dimensions || rank > support->max_dimensions) {
        return rejected_by("tensor.dimensionCount",
                           fmt::format("{} has {} dimensions; feature level {} allows {} to {}", field.name, rank,
                                       to_string(level), support->min_dimensions, support->max_dimensions));
    }
    return {};
}

Verdict check_sizes(const Field& field, const core::TensorDesc& desc) {
    if (std::find(desc.sizes.begin(), desc.sizes.end(), 0u) != desc.sizes.end()) {
        return rejected_by("tensor.sizes", fmt::format("{} has sizes {}; each must be at least 1", field.name,
                                                       core::to_string(desc.sizes)));
    }
    const auto count = core::element_count(desc.sizes);
    if (!count || *count > 0xffffffffu) {
        return rejected_by("tensor.elementCount", fmt::format("{} has sizes {}, more than 4294967295 elements",
                                                              field.name, core::to_string(desc.sizes)));
    }
    return {};
}

/// True if two elements of the tensor share an address. The sizes must be legal.
bool overlaps(const core::TensorDesc& desc) {
    // With dimensions sorted by stride, elements cannot overlap if each stride exceeds the extent of all smaller ones.
    std::vector<std::size_t> order(desc.sizes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return (*desc.strides)[a] < (*desc.strides)[b]; });
    std::uint64_t reach = 1;
    bool nested = true;
    for (const std::size_t d : order) {
        if (desc.sizes[d] == 1) {
            continue;
        }
        const std::uint64_t stride = (*desc.strides)[d];
        nested = nested && stride >= reach;
        reach += stride * (desc.sizes[d] - 1);
    }
    if (nested) {
        return false;
    }
    // Interleaved dimensions can be disjoint, too, such as sizes [2,3] with strides [3,2]. Mark the addresses, unless
    // their number is so large that a hostile file could exhaust the memory.
    constexpr std::uint64_t most_addresses = std::uint64_t{1} << 26;
    if (reach < *core::element_count(desc.sizes) || reach > most_addresses) {
        return true;
    }
    std::vector<bool> used(static_cast<std::size_t>(reach));
    bool shared = false;
    const core::StridedRuns<1> runs(desc.sizes, {core::signed_strides(desc)});
    runs.for_each_element([&](const auto& offset) {
        const auto address = static_cast<std::size_t>(offset[0]);
        shared = shared || used[address];
        used[address] = true;
    });
    return shared;
}

Verdict check_layout(const Field& field, const core::TensorDesc& desc) {
    const auto needed = core::minimum_total_bytes(desc);
    // The documentation requires at least DMLCalcBufferTensorSize, which rounds up to 4. Measured on DirectML 1.15.4:
    // larger sizes need not be multiples of 4.
    if (!needed || desc.total_bytes < *needed) {
        return rejected_by(
            "tensor.totalSize",
            fmt::format("{} has TotalTensorSizeInBytes {}; its sizes and strides need {}", field.name, desc.total_bytes,
                        needed ? fmt::format("{}", *needed) : "more than 64 bits can hold"));
    }
    // Checked after the total size, which bounds the extent and so keeps the arithmetic within 64 bits.
    if (desc.strides && field.kind == FieldKind::output && overlaps(desc)) {
        return rejected_by("tensor.outputStrides",
                           fmt::format("{} has sizes {} and strides {}: its elements overlap", field.name,
                                       core::to_string(desc.sizes), core::to_string(*desc.strides)));
    }
    const std::uint32_t alignment = desc.base_offset_alignment;
    // Measured on DirectML 1.15.4: 3, and 4 for a tensor of 8-byte elements, are rejected.
    if (alignment != 0 && (!std::has_single_bit(alignment) || alignment < core::bytes_of(desc.data_type))) {
        return rejected_by(
            "tensor.alignment",
            fmt::format("{} has GuaranteedBaseOffsetAlignment {}; it must be 0 or a power of two of at least "
                        "the element's {} bytes",
                        field.name, alignment, core::bytes_of(desc.data_type)));
    }
    return {};
}

}  // namespace

Verdict validate_tensor(const OperatorSchema& schema, const Field& field, const core::TensorDesc& desc,
                        core::FeatureLevel level) {
    if (auto rejection = check_support(schema, field, desc, level)) {
        return rejection;
    }
    if (auto rejection = check_sizes(field, desc)) {
        return rejection;
    }
    return check_layout(field, desc);
}

}  // namespace dmlconform::operators
