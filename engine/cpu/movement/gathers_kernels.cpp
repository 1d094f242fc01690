// Operators that read elements at indices from other tensors. Equals definitions/movement.cpp.
#include "engine/core/element.h"
#include "engine/cpu/movement/indices.h"
#include "engine/cpu/movement/move.h"

namespace dmlconform::cpu::gathers_kernels {
namespace {

using movement::Axis;
using movement::Coordinates;
using movement::Indices;
using movement::Move;

/// Dimensions that are combined, because their addresses come from a table.
struct Lookup {
    core::Dimensions sizes;
    core::Strides to_strides;

    [[nodiscard]] std::int64_t count() const {
        std::int64_t count = 1;
        for (const std::uint32_t size : sizes) {
            count *= size;
        }
        return count;
    }

    /// Converts a row-major index to coordinates.
    void set_coordinates(std::int64_t number, std::vector<std::int64_t>& coordinates) const {
        coordinates.resize(sizes.size());
        for (std::size_t d = sizes.size(); d-- > 0;) {
            coordinates[d] = number % sizes[d];
            number /= sizes[d];
        }
    }

    /// A dimension with the addresses that read(coordinates) returns.
    template <class Read>
    [[nodiscard]] Axis axis(const Read& read) const {
        Axis axis{.size = count()};
        std::vector<std::int64_t> coordinates;
        for (std::int64_t i = 0; i < axis.size; ++i) {
            set_coordinates(i, coordinates);
            axis.offsets.push_back(read(Coordinates(coordinates)));
            axis.to_offsets.push_back(movement::address_of(coordinates, to_strides));
        }
        return axis;
    }
};

/// The strides of the output's last `count` dimensions. Missing leading dimensions have size 1.
core::Strides last_strides(const core::TensorDesc& desc, std::size_t count) {
    core::Strides strides = core::signed_strides(desc);
    if (strides.size() < count) {
        strides.insert(strides.begin(), count - strides.size(), 0);
    }
    strides.erase(strides.begin(), strides.end() - static_cast<std::ptrdiff_t>(count));
    return strides;
}

Move gather(const KernelArguments& arguments) {
    const Indices indices(*arguments.inputs[1]);
    const std::size_t along = arguments.descriptor.uint("Axis");
    const std::size_t index_dimensions = arguments.descriptor.uint("IndexDimensions");
    Move move = movement::first_to_first(arguments);
    const core::Dimensions& input = move.from->desc.sizes;
    const core::Dimensions& index_sizes = arguments.inputs[1]->desc.sizes;
    const core::Strides strides = core::signed_strides(move.from->desc);
    const core::Strides to_strides = last_strides(move.to->desc, input.size() - 1 + index_dimensions);
    const auto first = static_cast<std::ptrdiff_t>(along);
    const auto last = first + static_cast<std::ptrdiff_t>(index_dimensions);
    const core::Strides index_strides(indices.strides().end() - (last - first), indices.strides().end());
    const Lookup lookup{{index_sizes.end() - (last - first), index_sizes.end()},
                        {to_strides.begin() + first, to_strides.begin() + last}};
    move.axes.clear();
    for (std::size_t d = 0; d < input.size(); ++d) {
        if (d == along) {
            move.axes.push_back(lookup.axis([&](Coordinates coordinates) {
                const std::int64_t index = indices.at(movement::address_of(coordinates, index_strides));
                return movement::nearest_within(index, input[d]) * strides[d];
            }));
        } else {
            const std::size_t at = d < along ? d : d - 1 + index_dimensions;
            move.axes.push_back({.size = input[d], .to_stride = to_strides[at], .from_stride = strides[d]});
        }
    }
    return move;
}

/// Iterates over the output, the indices, and the input at coordinate 0 of the axis.
void gather_elements(const KernelArguments& arguments) {
    const core::Tensor& input = *arguments.inputs[0];
    core::Tensor& output = *arguments.outputs[0];
    const Indices indices(*arguments.inputs[1]);
    const std::size_t axis = arguments.descriptor.uint("Axis");
    const std::int64_t size = input.desc.sizes[axis];
    const std::int64_t along = core::signed_strides(input.desc)[axis];
    const core::StridedRuns<3> runs(output.desc.sizes, {core::signed_strides(output.desc), indices.strides(),
                                                        movement::without(core::signed_strides(input.desc), axis)});
    const auto& steps = runs.run_strides();
    movement::with_width(output.desc.data_type, [&]<class Element>() {
        const Element* const read = input.as<Element>().data();
        Element* const written = output.as<Element>().data();
        parallel_for(runs.run_count(), 8 * runs.run_length(), [&](std::int64_t first, std::int64_t last) {
            runs.for_each_run(first, last, [&](const auto& at) {
                movement::for_each_index(indices, at[1], steps[1], runs.run_length(),
                                         [&](std::int64_t i, std::int64_t index) {
                                             const std::int64_t from = movement::nearest_within(index, size) * along;
                                             written[at[0] + i * steps[0]] = read[at[2] + i * steps[2] + from];
                                         });
            });
        });
    });
}

/// Batches and index tuples select slices of the input's last dimensions.
Move gather_nd(const KernelArguments& arguments) {
    const operators::Descriptor& descriptor = arguments.descriptor;
    const Indices indices(*arguments.inputs[1]);
    const bool has_batches = descriptor.has_field("BatchDimensionCount");
    const std::size_t batches = has_batches ? descriptor.uint("BatchDimensionCount") : 0;
    Move move = movement::first_to_first(arguments);
    const core::Dimensions& index_sizes = arguments.inputs[1]->desc.sizes;
    const std::size_t tuple = index_sizes.back();
    const core::Dimensions input(move.from->desc.sizes.end() - descriptor.uint("InputDimensionCount"),
                                 move.from->desc.sizes.end());
    const core::Strides strides = last_strides(move.from->desc, input.size());
    const std::size_t index_dimensions = descriptor.uint("IndicesDimensionCount") - std::size_t{1};
    const core::Strides index_strides = last_strides(arguments.inputs[1]->desc, index_dimensions + 1);
    const std::size_t rest = input.size() - batches - tuple;
    const core::Strides to_strides = last_strides(move.to->desc, index_dimensions + rest);
    const auto picking = static_cast<std::ptrdiff_t>(index_dimensions);
    const Lookup lookup{{index_sizes.end() - 1 - picking, index_sizes.end() - 1},
                        {to_strides.begin(), to_strides.begin() + picking}};
    move.axes.assign(1, lookup.axis([&](Coordinates coordinates) {
        std::int64_t from = movement::address_of(coordinates.first(batches), strides);
        const std::int64_t at = movement::address_of(coordinates, index_strides);
        for (std::size_t i = 0; i < tuple; ++i) {
            const std::int64_t index = indices.at(at + static_cast<std::int64_t>(i) * index_strides.back());
            from += movement::nearest_within(index, input[batches + i]) * strides[batches + i];
        }
        return from;
    }));
    for (std::size_t d = input.size() - rest; d < input.size(); ++d) {
        move.axes.push_back({.size = input[d],
                             .to_stride = to_strides[index_dimensions + d - (input.size() - rest)],
                             .from_stride = strides[d]});
    }
    return move;
}

/// Values are {off, on}. An index out of range sets nothing.
void one_hot(const KernelArguments& arguments) {
    const core::Tensor& index_tensor = *arguments.inputs[0];
    const Indices indices(index_tensor);
    const core::Tensor& values = *arguments.inputs[1];
    core::Tensor& output = *arguments.outputs[0];
    const std::size_t axis = arguments.descriptor.uint("Axis");
    const std::int64_t size = output.desc.sizes[axis];
    const core::DataType type = values.desc.data_type;
    const auto value_number = [&](std::int64_t number) {
        const core::StridedRuns<1> addresses(values.desc.sizes, {core::signed_strides(values.desc)});
        return core::load_element(values.buffer.bytes(), type,
                                  static_cast<std::uint64_t>(addresses.offsets_of(number)[0]));
    };
    const std::uint64_t on = value_number(1);
    movement::carry_out({.to = &output, .axes = movement::axes_of(output.desc), .constant = value_number(0)});
    const core::Strides strides = core::signed_strides(output.desc);
    const movement::Rows rows(index_tensor.desc);
    rows.for_each(0, rows.count(), [&](Coordinates coordinates, std::int64_t address, std::int64_t /*number*/) {
        const std::int64_t at = movement::from_start(indices.at(address), size);
        if (movement::is_within(at, size)) {
            const std::int64_t to = movement::address_of(coordinates, strides) + at * strides[axis];
            core::store_element(output.buffer.bytes(), type, static_cast<std::uint64_t>(to), on);
        }
    });
}

/// Copies elements at constant distances.
template <class Element>
void copy(const Element* from, std::int64_t from_step, Element* to, std::int64_t to_step, std::int64_t count) {
    if (from_step == 1 && to_step == 1) {
        std::copy_n(from, count, to);
        return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
        to[i * to_step] = from[i * from_step];
    }
}

/// Iterates over the output, the lengths, the input at coordinate 0 of the axis, and the axis coordinate.
void reverse_subsequences(const KernelArguments& arguments) {
    const core::Tensor& input = *arguments.inputs[0];
    core::Tensor& output = *arguments.outputs[0];
    const Indices lengths(*arguments.inputs[1]);
    const std::size_t axis = arguments.descriptor.uint("Axis");
    const std::int64_t size = input.desc.sizes[axis];
    const std::int64_t along = core::signed_strides(input.desc)[axis];
    core::Strides coordinate(input.desc.sizes.size());
    coordinate[axis] = 1;
    const core::StridedRuns<4> runs(input.desc.sizes,
                                    {core::signed_strides(output.desc), movement::without(lengths.strides(), axis),
                                     movement::without(core::signed_strides(input.desc), axis), coordinate});
    const auto& steps = runs.run_strides();
    const auto from = [&](std::int64_t length, std::int64_t at) {
        length = std::min(length, size);
        return (at < length ? length - 1 - at : at) * along;
    };
    movement::with_width(output.desc.data_type, [&]<class Element>() {
        const Element* const read = input.as<Element>().data();
        Element* const written = output.as<Element>().data();
        parallel_for(runs.run_count(), 4 * runs.run_length(), [&](std::int64_t first, std::int64_t last) {
            runs.for_each_run(first, last, [&](const auto& at) {
                if (steps[1] == 0 && steps[3] == 0) {
                    const std::int64_t start = at[2] + from(lengths.at(at[1]), at[3]);
                    copy(read + start, steps[2], written + at[0], steps[0], runs.run_length());
                    return;
                }
                movement::for_each_index(
                    lengths, at[1], steps[1], runs.run_length(), [&](std::int64_t i, std::int64_t length) {
                        written[at[0] + i * steps[0]] = read[at[2] + i * steps[2] + from(length, at[3] + i * steps[3])];
                    });
            });
        });
    });
}

}  // namespace

Kernels kernels() {
    return {movement::moving("GATHER", gather),
            {.name = "GATHER_ELEMENTS", .compute = gather_elements, .tolerance = exact_tolerance},
            movement::moving("GATHER_ND", gather_nd),
            movement::moving("GATHER_ND1", gather_nd),
            {.name = "ONE_HOT", .compute = one_hot, .tolerance = exact_tolerance},
            {.name = "REVERSE_SUBSEQUENCES", .compute = reverse_subsequences, .tolerance = exact_tolerance}};
}

}  // namespace dmlconform::cpu::gathers_kernels
