// Operators that write elements at indices from other tensors. If several elements have the same target, the last one
// in row-major order wins; comparisons accept any of them. Equals definitions/movement.cpp.
#include <algorithm>
#include <optional>

#include "engine/cpu/movement/indices.h"
#include "engine/cpu/movement/move.h"
#include "engine/cpu/reduction/sets.h"

namespace dmlconform::cpu::scatters_kernels {
namespace {

using movement::Coordinates;
using movement::Indices;

/// Keeps only the elements that share an address with another one.
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

/// Writes each update at target(coordinates), the row-major index of an element of the output. If it is empty, the
/// update is dropped.
template <class Target>
void put(const core::Tensor& updates, const KernelArguments& arguments, const Target& target) {
    core::Tensor& output = *arguments.outputs[0];
    const core::StridedRuns<1> addresses(output.desc.sizes, {core::signed_strides(output.desc)});
    const movement::Rows rows(updates.desc);
    core::ElementSlack* const slack = arguments.slack.empty() ? nullptr : arguments.slack.data();
    movement::with_width(output.desc.data_type, [&]<class Element>() {
        const Element* const read = updates.as<Element>().data();
        Element* const written = output.as<Element>().data();
        rows.for_each(0, rows.count(), [&](Coordinates coordinates, std::int64_t address, std::int64_t /*number*/) {
            const std::optional<std::int64_t> number = target(coordinates);
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

/// Elements of the output: their addresses, and their row-major indices, by which alternatives are recorded.
class Target {
public:
    explicit Target(const KernelArguments& arguments)
        : sizes_(arguments.outputs[0]->desc.sizes),
          strides_(core::signed_strides(arguments.outputs[0]->desc)),
          numbers_(reduction::numbering_strides(sizes_)),
          slack_(arguments.slack.empty() ? nullptr : arguments.slack.data()) {}

    [[nodiscard]] std::int64_t size(std::size_t dimension) const { return sizes_[dimension]; }
    [[nodiscard]] const core::Strides& strides() const { return strides_; }
    [[nodiscard]] const core::Strides& numbers() const { return numbers_; }

    void note(std::int64_t number, std::uint64_t bits) const {
        if (slack_ != nullptr) {
            slack_->alternatives.emplace_back(static_cast<std::uint64_t>(number), bits);
        }
    }
    void all_are_noted() const {
        if (slack_ != nullptr) {
            keep_rivals(slack_->alternatives);
        }
    }

private:
    const core::Dimensions& sizes_;
    core::Strides strides_;
    core::Strides numbers_;
    core::ElementSlack* slack_;
};

/// Iterates over the updates, the indices, and the output and its indices at coordinate 0 of the axis.
void scatter(const KernelArguments& arguments) {
    movement::carry_out(movement::all_of_first(arguments));
    const Indices indices(*arguments.inputs[1]);
    const core::Tensor& updates = *arguments.inputs[2];
    core::Tensor& output = *arguments.outputs[0];
    const std::size_t axis = arguments.descriptor.uint("Axis");
    const Target target(arguments);
    const std::int64_t size = target.size(axis);
    const std::int64_t along = target.strides()[axis];
    const std::int64_t numbers_along = target.numbers()[axis];
    const core::StridedRuns<4> runs(
        updates.desc.sizes, {core::signed_strides(updates.desc), indices.strides(),
                             movement::without(target.strides(), axis), movement::without(target.numbers(), axis)});
    const auto& steps = runs.run_strides();
    movement::with_width(output.desc.data_type, [&]<class Element>() {
        const Element* const read = updates.as<Element>().data();
        Element* const written = output.as<Element>().data();
        runs.for_each_run([&](const auto& at) {
            movement::for_each_index(indices, at[1], steps[1], runs.run_length(),
                                     [&](std::int64_t i, std::int64_t index) {
                                         const std::int64_t to = movement::from_start(index, size);
                                         if (movement::is_within(to, size)) {
                                             const Element element = read[at[0] + i * steps[0]];
                                             written[at[2] + i * steps[2] + to * along] = element;
                                             target.note(at[3] + i * steps[3] + to * numbers_along, element);
                                         }
                                     });
        });
    });
    target.all_are_noted();
}

core::Strides part_of(const core::Strides& strides, std::size_t first, std::size_t count) {
    const auto begin = strides.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

/// The index tuples of SCATTER_ND, and the updates that belong to each.
class Tuples {
public:
    Tuples(const KernelArguments& arguments, const Target& target)
        : indices_(*arguments.inputs[1]),
          updates_(*arguments.inputs[2]),
          output_(*arguments.outputs[0]),
          target_(target),
          length_(arguments.inputs[1]->desc.sizes.back()),
          first_(output_.desc.sizes.size() - arguments.descriptor.uint("InputDimensionCount")),
          // The last dimensions of the updates are the input's dimensions after those of the tuple; the preceding ones
          // are those of the tuples.
          rest_(output_.desc.sizes.size() - first_ - length_),
          tuples_(arguments.descriptor.uint("IndicesDimensionCount") - std::size_t{1}) {}

    template <class Element>
    void put() const {
        const core::Dimensions& sizes = updates_.desc.sizes;
        const core::Strides strides = core::signed_strides(updates_.desc);
        const std::size_t tail = sizes.size() - rest_;
        const core::Dimensions tail_sizes(sizes.end() - static_cast<std::ptrdiff_t>(rest_), sizes.end());
        const core::StridedRuns<3> inside(tail_sizes,
                                          {part_of(strides, tail, rest_), part_of(target_.strides(), tail, rest_),
                                           part_of(target_.numbers(), tail, rest_)});
        const std::size_t head = tail - tuples_;
        const core::Dimensions head_sizes(sizes.begin() + static_cast<std::ptrdiff_t>(head),
                                          sizes.begin() + static_cast<std::ptrdiff_t>(tail));
        const core::Strides& index_strides = indices_.strides();
        const core::StridedRuns<2> all(
            head_sizes,
            {part_of(strides, head, tuples_), part_of(index_strides, index_strides.size() - 1 - tuples_, tuples_)});
        all.for_each_element([&](const auto& at) {
            if (const auto destination = destination_of(at[1])) {
                put_one<Element>(inside, at[0], *destination);
            }
        });
    }

private:
    /// An offset in the output.
    struct Destination {
        std::int64_t address = 0;
        std::int64_t number = 0;
    };

    /// Empty if an index is out of range.
    [[nodiscard]] std::optional<Destination> destination_of(std::int64_t tuple) const {
        Destination destination;
        for (std::size_t i = 0; i < length_; ++i) {
            const std::int64_t index = indices_.at(tuple + static_cast<std::int64_t>(i) * indices_.strides().back());
            const std::int64_t to = movement::from_start(index, target_.size(first_ + i));
            if (!movement::is_within(to, target_.size(first_ + i))) {
                return std::nullopt;
            }
            destination.address += to * target_.strides()[first_ + i];
            destination.number += to * target_.numbers()[first_ + i];
        }
        return destination;
    }

    template <class Element>
    void put_one(const core::StridedRuns<3>& inside, std::int64_t update, const Destination& destination) const {
        const Element* const read = updates_.as<Element>().data() + update;
        Element* const written = output_.as<Element>().data() + destination.address;
        const auto& steps = inside.run_strides();
        const auto put_run = [&](const core::StridedRuns<3>::PerArray& at) {
            for (std::int64_t i = 0; i < inside.run_length(); ++i) {
                const Element element = read[at[0] + i * steps[0]];
                written[at[1] + i * steps[1]] = element;
                target_.note(destination.number + at[2] + i * steps[2], element);
            }
        };
        // This is called for every tuple, so a single run is copied without iterating.
        if (inside.run_count() == 1) {
            put_run({});
        } else {
            inside.for_each_run(put_run);
        }
    }

    Indices indices_;
    const core::Tensor& updates_;
    core::Tensor& output_;
    const Target& target_;
    std::size_t length_;
    std::size_t first_;
    std::size_t rest_;
    std::size_t tuples_;
};

void scatter_nd(const KernelArguments& arguments) {
    movement::carry_out(movement::all_of_first(arguments));
    const Target target(arguments);
    const Tuples tuples(arguments, target);
    movement::with_width(arguments.outputs[0]->desc.data_type, [&]<class Element>() { tuples.put<Element>(); });
    target.all_are_noted();
}

/// Indices count all elements of the output.
void max_unpooling(const KernelArguments& arguments) {
    core::Tensor& output = *arguments.outputs[0];
    movement::carry_out({.to = &output, .axes = movement::axes_of(output.desc)});
    const Indices indices(*arguments.inputs[1]);
    const auto count = static_cast<std::int64_t>(*core::element_count(output.desc.sizes));
    put(*arguments.inputs[0], arguments, [&](Coordinates coordinates) {
        const std::int64_t index = indices.at(movement::address_of(coordinates, indices.strides()));
        return movement::is_within(index, count) ? std::optional(index) : std::nullopt;
    });
}

core::Tolerance tolerance(const operators::Descriptor& /*descriptor*/, const operators::TensorSlot& /*output*/) {
    return {.exact = true, .ulp = {}, .abs = {}, .rel = {}, .alternatives = true};
}

}  // namespace

Kernels kernels() {
    return {{.name = "SCATTER", .compute = scatter, .tolerance = tolerance},
            {.name = "SCATTER_ND", .compute = scatter_nd, .tolerance = tolerance},
            {.name = "MAX_UNPOOLING", .compute = max_unpooling, .tolerance = tolerance}};
}

}  // namespace dmlconform::cpu::scatters_kernels
