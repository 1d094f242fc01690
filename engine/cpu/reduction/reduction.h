// Reduces each slice of a tensor to a number: the common core of REDUCE and similar operators.
//
// A slice is reduced to a total (totals.h), to which terms are added, and which can be merged with other totals. If
// corresponding elements of adjacent slices are contiguous but the elements of a slice are not, many slices are
// processed together, so that memory is read in order. This choice, and so the order of terms, depends only on the
// tensors.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/cpu/parallel.h"
#include "engine/cpu/reduction/sets.h"
#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu::reduction {

/// An input, each slice of which is reduced to one element of an output.
class Reduction {
public:
    Reduction(const core::Tensor& input, core::Tensor& output, const std::vector<bool>& reduced)
        : input_(input),
          output_(output),
          sets_(input.desc.sizes, reduced, {core::signed_strides(input.desc), repeating_strides(output.desc)}) {}

    [[nodiscard]] const core::Tensor& input() const { return input_; }
    [[nodiscard]] core::Tensor& output() const { return output_; }
    [[nodiscard]] const Sets<2>& sets() const { return sets_; }

    /// Calls visit(set, to, total) for each slice, with its index, the address of its output element, and the total of
    /// map(element) over its elements, converted to Number: float only for FLOAT32 and FLOAT16. The order of terms is
    /// the same for all number types. Slices are distributed over threads.
    template <class Number, class Total, class Map, class Visit>
    void for_each_total(const Map& map, const Visit& visit) const {
        const auto& kept = sets_.kept();
        const std::int64_t together = sets_walked_together();
        const std::int64_t groups_per_run = (kept.run_length() + together - 1) / together;
        parallel_for(kept.run_count() * groups_per_run, 4 * together * sets_.size(),
                     [&](std::int64_t first, std::int64_t last) {
                         alignas(register_bytes) std::array<Total, most_together> totals;
                         for (std::int64_t group = first; group < last; ++group) {
                             const std::int64_t i = group % groups_per_run * together;
                             const std::int64_t set = group / groups_per_run * kept.run_length() + i;
                             const auto count = static_cast<std::size_t>(std::min(together, kept.run_length() - i));
                             const auto start = kept.offsets_of(set);
                             const std::span<Total> here(totals.data(), count);
                             if (together == 1) {
                                 here[0] = total_of<Number, Total>(start[0], map);
                             } else {
                                 add_side_by_side<Number>(start[0], map, here);
                             }
                             for (std::size_t k = 0; k < count; ++k) {
                                 const auto step = static_cast<std::int64_t>(k);
                                 visit(set + step, start[1] + step * kept.run_strides()[1], here[k]);
                             }
                         }
                     });
    }

    /// Calls visit(element) for the elements of a slice in order, as doubles.
    template <class Visit>
    void for_each_element(std::int64_t set, const Visit& visit) const {
        for_each_segment<0, double>(sets_, input_, sets_.kept().offsets_of(set)[0],
                                    [&](std::span<const double> elements) {
                                        for (const double element : elements) {
                                            visit(element);
                                        }
                                    });
    }

private:
    static constexpr std::int64_t most_together = 64;

    [[nodiscard]] std::int64_t sets_walked_together() const {
        const std::int64_t between_sets = sets_.kept().run_strides()[0];
        const std::int64_t between_elements = sets_.inside().run_strides()[0];
        return between_sets != 0 && between_sets < between_elements ? most_together : 1;
    }

    /// Uses several totals in rotation, so that additions are independent.
    template <class Number, class Total, class Map>
    [[nodiscard]] Total total_of(std::int64_t start, const Map& map) const {
        std::array<Total, Total::lanes> totals;
        for_each_segment<0, Number>(sets_, input_, start, [&](std::span<const Number> elements) {
            in_wide_lanes<Total::lanes>(elements, totals,
                                        [&](Total& total, const Number& element) { total.add(map(element)); });
        });
        if constexpr (Total::lanes > 1) {
            // If there are fewer elements than totals, the first total takes all.
            const std::size_t used = sets_.size() < static_cast<std::int64_t>(totals.size()) ? 1 : totals.size();
            for (std::size_t lane = 1; lane < used; ++lane) {
                totals[0].join(totals[lane]);
            }
        }
        return totals[0];
    }

    /// For adjacent slices.
    template <class Number, class Total, class Map>
    void add_side_by_side(std::int64_t start, const Map& map, std::span<Total> totals) const {
        std::ranges::fill(totals, Total());
        alignas(register_bytes) std::array<Number, most_together> copies;
        const std::span<Number> room(copies.data(), totals.size());
        const std::int64_t stride = sets_.kept().run_strides()[0];
        sets_.inside().for_each_element([&](const auto& offsets) {
            const Number* const elements = numbers_at(input_, start + offsets[0], stride, room);
            const auto add = [&] {
                for (std::size_t k = 0; k < totals.size(); ++k) {
                    totals[k].add(map(elements[k]));
                }
            };
            // Larger totals consist of several numbers and would not be vectorised.
            if constexpr (sizeof(Total) <= sizeof(double)) {
                in_wide_registers(add);
            } else {
                add();
            }
        });
    }

    const core::Tensor& input_;
    core::Tensor& output_;
    Sets<2> sets_;
};

}  // namespace dmlconform::cpu::reduction
