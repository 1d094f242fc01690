// Parses strides, and broadcasts tensors by strides of 0.
#include "engine/fuzz/given_strides.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "engine/core/ascii_case.h"
#include "engine/core/parse_number.h"
#include "engine/fuzz/descriptor_builder.h"

namespace dmlconform::fuzz {
namespace {

using operators::Descriptor;
using operators::SameConstraint;

/// The letters of the dimensions, by their number: layouts are named for images.
std::string_view letters_of(std::size_t rank) {
    constexpr std::string_view letters[] = {"", "w", "hw", "chw", "nchw", "ncdhw"};
    return rank < std::size(letters) ? letters[rank] : "";
}

/// The strides of a packed tensor whose dimensions have this order in memory, the outermost first.
core::Dimensions packed_in_order(std::string_view layout, const core::Dimensions& sizes) {
    const std::string_view letters = letters_of(sizes.size());
    core::Dimensions strides(sizes.size());
    std::uint32_t stride = 1;
    for (std::size_t i = layout.size(); i-- > 0;) {
        const std::size_t d = letters.find(layout[i]);
        strides[d] = stride;
        stride *= sizes[d];
    }
    return strides;
}

std::optional<core::Dimensions> numbers(std::string_view text) {
    core::Dimensions strides;
    while (true) {
        const std::string_view part = text.substr(0, text.find(','));
        const auto stride = core::parse_number<std::uint32_t>(part);
        if (!stride) {
            return std::nullopt;
        }
        strides.push_back(*stride);
        if (part.size() == text.size()) {
            return strides;
        }
        text.remove_prefix(part.size() + 1);
    }
}

/// The tensor with this full name; null if it is absent.
core::TensorDesc* find_tensor(Descriptor& descriptor, std::string_view name) {
    for (const auto& slots : {descriptor.inputs(), descriptor.outputs()}) {
        for (const operators::TensorSlot& slot : slots) {
            if (slot.name == name) {
                for (const TensorField& tensor : tensors_of(descriptor)) {
                    if (tensor.desc == slot.desc) {
                        return tensor.desc;
                    }
                }
            }
        }
    }
    return nullptr;
}

/// The sizes to which NumPy broadcasts both; empty if they do not fit together.
std::optional<core::Dimensions> broadcast_sizes(core::Dimensions a, core::Dimensions b) {
    const std::size_t rank = std::max(a.size(), b.size());
    a.insert(a.begin(), rank - a.size(), 1);
    b.insert(b.begin(), rank - b.size(), 1);
    for (std::size_t d = 0; d < rank; ++d) {
        if (a[d] != b[d] && a[d] != 1 && b[d] != 1) {
            return std::nullopt;
        }
        a[d] = std::max(a[d], b[d]);
    }
    return a;
}

/// The strides of a packed tensor of `sizes`, with 0 along the dimensions in which it is repeated.
std::string repeating_strides(core::Dimensions sizes, const core::Dimensions& target) {
    sizes.insert(sizes.begin(), target.size() - sizes.size(), 1);
    core::Dimensions strides(sizes.size());
    std::uint32_t stride = 1;
    for (std::size_t d = sizes.size(); d-- > 0;) {
        strides[d] = sizes[d] == target[d] ? stride : 0;
        stride *= sizes[d];
    }
    return fmt::format("{}", fmt::join(strides, ","));
}

/// Broadcasts the given tensors of one constraint.
void broadcast_group(const operators::OperatorSchema& schema, const SameConstraint& same, GivenSizes& given,
                     GivenStrides& strides) {
    std::optional<core::Dimensions> target;
    for (const auto& [name, sizes] : given) {
        if (std::ranges::find(same.tensors, name) != same.tensors.end()) {
            target = target ? broadcast_sizes(*target, sizes) : sizes;
            if (!target) {
                return;
            }
        }
    }
    for (auto& [name, sizes] : given) {
        const operators::Field* field = schema.find_field(name);
        if (std::ranges::find(same.tensors, name) != same.tensors.end() && sizes != *target && field != nullptr &&
            field->kind == operators::FieldKind::input) {
            strides.emplace_back(name, repeating_strides(sizes, *target));
            sizes = *target;
        }
    }
}

}  // namespace

core::Result<core::Dimensions> strides_of(std::string_view text, const core::Dimensions& sizes) {
    if (auto strides = numbers(text)) {
        if (strides->size() != sizes.size()) {
            return core::fail(fmt::format("these are {} strides for {} dimensions", strides->size(), sizes.size()),
                              fmt::format("the sizes are {}", core::to_string(sizes)));
        }
        return *strides;
    }
    const std::string_view letters = letters_of(sizes.size());
    const std::string layout = core::lower_case(text);
    if (letters.empty() || !std::is_permutation(layout.begin(), layout.end(), letters.begin(), letters.end())) {
        return core::fail(fmt::format("\"{}\" are no strides for {} dimensions", text, sizes.size()),
                          letters.empty() ? "give one number for each dimension"
                                          : fmt::format("for example {}, or the letters {} in the order of the memory",
                                                        fmt::join(packed_in_order(letters, sizes), ","), letters));
    }
    return packed_in_order(layout, sizes);
}

core::Result<void> put_strides(Descriptor& descriptor, const GivenStrides& given) {
    for (const auto& [name, text] : given) {
        const auto full = full_name(descriptor, name, given.size());
        if (!full) {
            return tl::unexpected(full.error());
        }
        core::TensorDesc* desc = find_tensor(descriptor, *full);
        if (desc == nullptr) {
            return core::fail(fmt::format("--strides {}={}: the tensor is absent", *full, text),
                              fmt::format("--sizes {}=N,N,... makes it", *full));
        }
        auto strides = strides_of(text, desc->sizes);
        if (!strides) {
            return core::fail(fmt::format("--strides {}={}: {}", *full, text, strides.error().message),
                              strides.error().hint);
        }
        desc->strides = std::move(*strides);
        desc->total_bytes = core::minimum_total_bytes(*desc).value_or(0);
    }
    return {};
}

GivenStrides broadcast(const operators::OperatorSchema& schema, GivenSizes& given) {
    GivenStrides strides;
    for (const SameConstraint& same : schema.same) {
        if (same.property == SameConstraint::Property::sizes) {
            broadcast_group(schema, same, given, strides);
        }
    }
    return strides;
}

}  // namespace dmlconform::fuzz
