// Draws random sizes, strides and total sizes.
#include "engine/fuzz/layout.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace dmlconform::fuzz {
namespace {

std::uint32_t random_size(Random& random) {
    if (random.chance(1, 4)) {
        return 1;
    }
    return random.chance(3, 4) ? random.pick(2, 5) : random.pick(6, 20);
}

/// The order of dimensions in memory, innermost first.
std::vector<std::size_t> random_order(Random& random, std::size_t rank) {
    std::vector<std::size_t> order(rank);
    std::iota(order.rbegin(), order.rend(), std::size_t{0});
    if (random.chance(1, 2)) {
        for (std::size_t i = rank; i > 1; --i) {
            std::swap(order[i - 1], order[random.below(static_cast<std::uint32_t>(i))]);
        }
    }
    return order;
}

core::Dimensions random_strides(Random& random, const core::Dimensions& sizes, bool may_repeat) {
    core::Dimensions strides(sizes.size());
    const bool repeats = may_repeat && random.chance(1, 3);
    std::uint32_t next = 1;
    for (const std::size_t d : random_order(random, sizes.size())) {
        if (repeats && random.chance(1, 3)) {
            strides[d] = 0;
            continue;
        }
        strides[d] = next + (random.chance(1, 4) ? random.pick(1, 3) : 0);
        next = strides[d] * sizes[d];
    }
    return strides;
}

}  // namespace

core::Dimensions random_sizes(Random& random, std::size_t rank) {
    core::Dimensions sizes(rank);
    for (std::uint32_t& size : sizes) {
        size = random_size(random);
    }
    if (random.chance(1, 8)) {
        // One of 31, 32, 33, … 1025.
        const std::uint32_t power = 1U << random.pick(5, 10);
        sizes[random.below(static_cast<std::uint32_t>(rank))] = power + random.below(3) - 1;
    }
    while (core::element_count(sizes).value_or(most_elements + 1) > most_elements) {
        auto largest = std::max_element(sizes.begin(), sizes.end());
        // Reduces the other sizes; the one near a power of two stays.
        for (auto size = sizes.begin(); size != sizes.end(); ++size) {
            if (*size > 1 && (*size < *largest || *largest == 1)) {
                largest = size;
            }
        }
        *largest = 1 + (*largest - 1) / 2;
    }
    return sizes;
}

core::TensorDesc random_layout(Random& random, core::DataType type, core::Dimensions sizes, operators::FieldKind kind) {
    core::TensorDesc desc = core::TensorDesc::packed(type, std::move(sizes));
    if (random.chance(1, 3)) {
        desc.strides = random_strides(random, desc.sizes, kind == operators::FieldKind::input);
        desc.total_bytes = core::minimum_total_bytes(desc).value_or(0);
    }
    if (random.chance(1, 8)) {
        desc.total_bytes += std::uint64_t{4} * random.pick(1, 16);
    }
    if (random.chance(1, 8)) {
        desc.base_offset_alignment = random.chance(1, 2) ? 16 : 256;
    }
    return desc;
}

core::DataType random_type(Random& random, const operators::OperatorSchema& schema, std::string_view field,
                           core::FeatureLevel level) {
    std::vector<core::DataType> types;
    for (const core::DataType type : schema.support_at(field, level)->data_types) {
        if (core::bits_of(type) != 0) {
            types.push_back(type);
        }
    }
    return types.empty() ? core::DataType::unknown : random.one_of(types);
}

std::uint32_t random_rank(Random& random, const operators::OperatorSchema& schema, std::string_view field,
                          core::FeatureLevel level) {
    const operators::TensorSupport* support = schema.support_at(field, level);
    return random.pick(support->min_dimensions, std::min<std::uint32_t>(support->max_dimensions, 8));
}

}  // namespace dmlconform::fuzz
