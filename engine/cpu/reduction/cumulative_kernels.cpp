// CUMULATIVE_SUMMATION and CUMULATIVE_PRODUCT: running totals. Equals definitions/reduction.cpp.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/reduction/floats.h"
#include "engine/cpu/reduction/reduction.h"
#include "engine/cpu/reduction/totals.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::cpu::cumulative_kernels {
namespace {

using reduction::Sets;

/// The direction in which a sequence is traversed. With DECREASING, the first element is the last one of the axis.
struct Walk {
    std::int64_t length = 1;
    std::int64_t first = 0;
    std::int64_t step = 1;
    /// The total excludes the element itself.
    bool exclusive = false;
};

Walk walk_of(const operators::Descriptor& descriptor, std::string_view exclusive) {
    const auto length = std::int64_t{descriptor.sizes("InputTensor")[descriptor.uint("Axis")]};
    const auto direction = enumerator<operators::AxisDirection>(descriptor, "AxisDirection");
    const bool backwards = direction == operators::AxisDirection::decreasing;
    return {.length = length,
            .first = backwards ? length - 1 : 0,
            .step = backwards ? -1 : 1,
            .exclusive = descriptor.uint(exclusive) != 0};
}

/// Arrays of the iteration: the input, the output, and row-major indices.
enum Array : std::size_t { from, to, number };

class Cumulation {
public:
    Cumulation(const KernelArguments& arguments, std::string_view exclusive)
        : input_(*arguments.inputs[0]),
          output_(*arguments.outputs[0]),
          slack_(movement::wanted_slack(arguments)),
          walk_(walk_of(arguments.descriptor, exclusive)),
          sets_(input_.desc.sizes,
                reduction::reduced_dimensions({{arguments.descriptor.uint("Axis")}}, input_.desc.sizes.size()),
                {core::signed_strides(input_.desc), core::signed_strides(output_.desc),
                 reduction::numbering_strides(input_.desc.sizes)}) {}

    /// True if bounds are not wanted.
    [[nodiscard]] bool is_plain() const { return slack_ == nullptr; }

    template <class Total, class Range>
    void reals_with_bounds() const {
        each_sequence([&](const auto& start) {
            Total total;
            Range range;
            const auto add = [&](double element) {
                total.add(element);
                range.add(element);
            };
            each_element(start, [&](const auto& offsets) {
                const double element = load<double>(offsets[from]);
                if (!walk_.exclusive) {
                    add(element);
                }
                movement::store_computed(output_, offsets[to], offsets[number], total.result(), slack_,
                                         [&] { return range.result(); });
                if (walk_.exclusive) {
                    add(element);
                }
            });
        });
    }

    /// Computes without bounds. Sequences with adjacent elements are processed together, so that memory is read in
    /// order. Others are processed one by one in segments.
    template <class Number, class Total>
    void totals() const {
        const auto& kept = sets_.kept();
        const std::int64_t between_sequences = kept.run_strides()[from];
        const bool side_by_side =
            between_sequences != 0 && between_sequences < std::abs(sets_.inside().run_strides()[from]);
        const std::int64_t together = side_by_side ? most_together : 1;
        const std::int64_t groups_per_run = (kept.run_length() + together - 1) / together;
        parallel_for(kept.run_count() * groups_per_run, 16 * walk_.length * together,
                     [&](std::int64_t first, std::int64_t last) {
                         for (std::int64_t group = first; group < last; ++group) {
                             const std::int64_t i = group % groups_per_run * together;
                             const auto start = kept.offsets_of(group / groups_per_run * kept.run_length() + i);
                             if (side_by_side) {
                                 walk_together<Number, Total>(start, std::min(together, kept.run_length() - i));
                             } else {
                                 walk_alone<Number, Total>(start);
                             }
                         }
                     });
    }

private:
    static constexpr std::int64_t most_together = 2048;
    /// The number of elements that are loaded at once.
    static constexpr std::int64_t longest = 512;

    template <class Number>
    [[nodiscard]] Number load(std::int64_t address) const {
        Number element = 0;
        element_wise::load(input_.buffer.bytes(), {input_.desc.data_type, address, 0}, 1, &element);
        return element;
    }

    /// The output for an element.
    template <class Number, class Total>
    [[nodiscard]] Number after(Total& total, Number element) const {
        const Number before = total.result();
        total.add(element);
        return walk_.exclusive ? before : total.result();
    }

    /// Processes `count` adjacent sequences element by element, the first of which starts at this offset.
    template <class Number, class Total>
    void walk_together(const Sets<3>::Offsets& start, std::int64_t count) const {
        const auto& between = sets_.kept().run_strides();
        const auto& strides = sets_.inside().run_strides();
        alignas(register_bytes) std::array<Total, most_together> totals;
        alignas(register_bytes) std::array<Number, longest> numbers;
        const bool as_they_lie =
            reduction::lie_as_floats(input_, between[from]) && reduction::lie_as_floats(output_, between[to]);
        for (std::int64_t i = 0; i < walk_.length; ++i) {
            const std::int64_t steps = walk_.first + i * walk_.step;
            if constexpr (std::is_same_v<Total, reduction::Sum<double>>) {
                if (as_they_lie) {
                    add_row(totals.data(), reduction::floats_at(input_, start[from] + steps * strides[from]),
                            reduction::floats_at(output_, start[to] + steps * strides[to]),
                            static_cast<std::size_t>(count));
                    continue;
                }
            }
            for (std::int64_t k = 0; k < count; k += longest) {
                const auto size = static_cast<std::size_t>(std::min(longest, count - k));
                element_wise::load(
                    input_.buffer.bytes(),
                    {input_.desc.data_type, start[from] + steps * strides[from] + k * between[from], between[from]},
                    size, numbers.data());
                add_each(totals.data() + k, numbers.data(), size);
                element_wise::store(
                    output_.buffer.bytes(),
                    {output_.desc.data_type, start[to] + steps * strides[to] + k * between[to], between[to]}, size,
                    numbers.data(), element_wise::Store::wrapping);
            }
        }
    }

    /// Adds `count` numbers to their totals, and replaces them by the outputs.
    template <class Number, class Total>
    void add_each(Total* totals, Number* numbers, std::size_t size) const {
        in_wide_registers([&] {
            for (std::size_t k = 0; k < size; ++k) {
                numbers[k] = after<Number>(totals[k], numbers[k]);
            }
        });
    }

    /// The same, reading from and writing to tensors directly.
    void add_row(reduction::Sum<double>* totals, const float* elements, float* results, std::size_t size) const {
        in_wide_registers([&] {
            for (std::size_t k = 0; k < size; ++k) {
                results[k] = static_cast<float>(after(totals[k], double{elements[k]}));
            }
        });
    }

    template <class Number, class Total>
    void walk_alone(const Sets<3>::Offsets& start) const {
        const auto& strides = sets_.inside().run_strides();
        Total total;
        alignas(register_bytes) std::array<Number, longest> numbers;
        for (std::int64_t i = 0; i < walk_.length; i += longest) {
            const std::int64_t steps = walk_.first + i * walk_.step;
            const auto size = static_cast<std::size_t>(std::min(longest, walk_.length - i));
            element_wise::load(input_.buffer.bytes(),
                               {input_.desc.data_type, start[from] + steps * strides[from], walk_.step * strides[from]},
                               size, numbers.data());
            for (std::size_t k = 0; k < size; ++k) {
                numbers[k] = after<Number>(total, numbers[k]);
            }
            element_wise::store(output_.buffer.bytes(),
                                {output_.desc.data_type, start[to] + steps * strides[to], walk_.step * strides[to]},
                                size, numbers.data(), element_wise::Store::wrapping);
        }
    }

    template <class Visit>
    void each_sequence(const Visit& visit) const {
        parallel_for(sets_.count(), 16 * walk_.length, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t set = first; set < last; ++set) {
                visit(sets_.kept().offsets_of(set));
            }
        });
    }

    /// Visits the elements in the order of the traversal.
    template <class Visit>
    void each_element(Sets<3>::Offsets offsets, const Visit& visit) const {
        const auto& strides = sets_.inside().run_strides();
        const auto advance = [&](std::int64_t steps) {
            for (std::size_t array = 0; array < offsets.size(); ++array) {
                offsets[array] += steps * strides[array];
            }
        };
        advance(walk_.first);
        for (std::int64_t i = 0; i < walk_.length; ++i) {
            visit(offsets);
            advance(walk_.step);
        }
    }

    const core::Tensor& input_;
    core::Tensor& output_;
    core::ElementSlack* slack_;
    Walk walk_;
    Sets<3> sets_;
};

template <template <class> class Total, class Range>
Kernel cumulative(std::string_view name, std::string_view exclusive) {
    return {.name = name,
            .compute =
                [exclusive](const KernelArguments& arguments) {
                    const Cumulation cumulation(arguments, exclusive);
                    const core::DataType type = arguments.outputs[0]->desc.data_type;
                    if (core::is_signed_integer(type)) {
                        cumulation.totals<Signed, Total<Signed>>();
                    } else if (!core::is_floating_point(type)) {
                        cumulation.totals<Unsigned, Total<Unsigned>>();
                    } else if (cumulation.is_plain()) {
                        cumulation.totals<double, Total<double>>();
                    } else {
                        cumulation.reals_with_bounds<Total<double>, Range>();
                    }
                },
            .tolerance =
                [](const operators::Descriptor&, const operators::TensorSlot& output) {
                    return movement::computed_tolerance(core::is_floating_point(output.desc->data_type),
                                                        "one rounding for each element so far, in any order");
                }};
}

}  // namespace

Kernels kernels() {
    return {cumulative<reduction::Sum, reduction::SumRange>("CUMULATIVE_SUMMATION", "HasExclusiveSum"),
            cumulative<reduction::Product, reduction::ProductRange>("CUMULATIVE_PRODUCT", "HasExclusiveProduct")};
}

}  // namespace dmlconform::cpu::cumulative_kernels
