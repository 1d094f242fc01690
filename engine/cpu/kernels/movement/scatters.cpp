// Operators that put elements at places that other tensors name. What comes later in row-major order is put over what
// came before; the comparison accepts either.
#include <algorithm>
#include <optional>

#include "engine/cpu/movement/indices.h"
#include "engine/cpu/movement/move.h"

namespace dmlconform::cpu {
namespace {

using movement::Coordinates;
using movement::Indices;

/// Of elements that were put at one place, all; of those that have their place for themselves, none.
void keep_rivals(std::vector<std::pair<std::uint64_t, std::uint64_t>>& elements) {
    std::sort(elements.begin(), elements.end());
    auto kept = elements.begin();
    for (auto first = elements.begin(); first != elements.end();) {
        const auto last = std::find_if(first, elements.end(), [&](const auto& e) { return e.first != first->first; });
        if (last - first > 1) {
            kept = std::copy(first, last, kept);
        }
        first = last;
    }
    elements.erase(kept, elements.end());
}

/// Puts each element of the updates at target(place), which is the row-major number of an element of the output.
/// Nothing: the update is dropped.
template <class Target>
void put(const core::Tensor& updates, const KernelArguments& arguments, const Target& target) {
    core::Tensor& output = *arguments.outputs[0];
    const core::StridedRuns<1> addresses(output.desc.sizes, {core::signed_strides(output.desc)});
    const movement::Rows rows(updates.desc);
    core::ElementSlack* const slack = arguments.slack.empty() ? nullptr : arguments.slack.data();
    movement::with_width(output.desc.data_type, [&]<class Element>() {
        const Element* const read = updates.as<Element>().data();
        Element* const written = output.as<Element>().data();
        rows.for_each(0, rows.count(), [&](Coordinates place, std::int64_t address, std::int64_t /*number*/) {
            const std::optional<std::int64_t> number = target(place);
            if (!number) {
                return;
            }
            written[addresses.offsets_of(*number)[0]] = read[address];
            if (slack != nullptr) {
                slack->alternatives.emplace_back(static_cast<std::uint64_t>(*number), read[address]);
            }
        });
    });
    if (slack != nullptr) {
        keep_rivals(slack->alternatives);
    }
}

/// The row-major number of a place, of which some coordinates may lie outside.
class Place {
public:
    explicit Place(const core::Dimensions& sizes) : sizes_(sizes) {}

    void set(std::size_t dimension, std::int64_t coordinate) {
        within_ = within_ && movement::is_within(coordinate, sizes_[dimension]);
        number_ += coordinate * packed_[dimension];
    }
    [[nodiscard]] std::optional<std::int64_t> number() const { return within_ ? std::optional(number_) : std::nullopt; }

private:
    const core::Dimensions& sizes_;
    core::Strides packed_ = packed(sizes_);
    std::int64_t number_ = 0;
    bool within_ = true;

    static core::Strides packed(const core::Dimensions& sizes) {
        const auto strides = core::packed_strides(sizes);
        return {strides.begin(), strides.end()};
    }
};

void scatter(const KernelArguments& arguments) {
    movement::carry_out(movement::all_of_first(arguments));
    const Indices indices(*arguments.inputs[1]);
    const core::Dimensions& sizes = arguments.outputs[0]->desc.sizes;
    const std::size_t axis = arguments.descriptor.uint("Axis");
    put(*arguments.inputs[2], arguments, [&](Coordinates place) {
        Place to(sizes);
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            const bool named = d == axis;
            to.set(d, named ? movement::from_start(indices.at(movement::address_of(place, indices.strides())), sizes[d])
                            : place[d]);
        }
        return to.number();
    });
}

void scatter_nd(const KernelArguments& arguments) {
    movement::carry_out(movement::all_of_first(arguments));
    const Indices indices(*arguments.inputs[1]);
    const core::Dimensions& sizes = arguments.outputs[0]->desc.sizes;
    const std::size_t rank = sizes.size();
    const std::size_t tuple = arguments.inputs[1]->desc.sizes.back();
    const std::size_t first = rank - arguments.descriptor.uint("InputDimensionCount");
    // Of the updates' dimensions, the last are the input's that follow those of the tuple; before them are the tuples'.
    const std::size_t rest = rank - first - tuple;
    const std::size_t tuples = arguments.descriptor.uint("IndicesDimensionCount") - std::size_t{1};
    const core::Strides strides(indices.strides().end() - static_cast<std::ptrdiff_t>(tuples + 1),
                                indices.strides().end());
    put(*arguments.inputs[2], arguments, [&](Coordinates place) {
        const std::int64_t at = movement::address_of(place.subspan(rank - rest - tuples, tuples), strides);
        Place to(sizes);
        for (std::size_t i = 0; i < tuple; ++i) {
            const std::int64_t index = indices.at(at + static_cast<std::int64_t>(i) * strides.back());
            to.set(first + i, movement::from_start(index, sizes[first + i]));
        }
        for (std::size_t d = rank - rest; d < rank; ++d) {
            to.set(d, place[d]);
        }
        return to.number();
    });
}

/// Indices count all elements of the output.
void max_unpooling(const KernelArguments& arguments) {
    core::Tensor& output = *arguments.outputs[0];
    movement::carry_out({.to = &output, .axes = movement::axes_of(output.desc)});
    const Indices indices(*arguments.inputs[1]);
    const auto count = static_cast<std::int64_t>(*core::element_count(output.desc.sizes));
    put(*arguments.inputs[0], arguments, [&](Coordinates place) {
        const std::int64_t index = indices.at(movement::address_of(place, indices.strides()));
        return movement::is_within(index, count) ? std::optional(index) : std::nullopt;
    });
}

core::Tolerance tolerance(const operators::Descriptor& /*descriptor*/, const operators::TensorSlot& /*output*/) {
    return {.exact = true, .ulp = {}, .abs = {}, .rel = {}, .alternatives = true};
}

}  // namespace

Kernels movement_scatters_kernels() {
    return {{.name = "SCATTER", .compute = scatter, .tolerance = tolerance},
            {.name = "SCATTER_ND", .compute = scatter_nd, .tolerance = tolerance},
            {.name = "MAX_UNPOOLING", .compute = max_unpooling, .tolerance = tolerance}};
}

}  // namespace dmlconform::cpu
