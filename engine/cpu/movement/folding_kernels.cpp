// FOLD and UNFOLD: the blocks that a window sees as it slides over a tensor. Equals definitions/movement.cpp.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/core/floating_format.h"
#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/expected_error.h"
#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/movement/indices.h"
#include "engine/cpu/movement/move.h"

namespace dmlconform::cpu::folding_kernels {
namespace {

using element_wise::Store;
using movement::Coordinates;
using movement::nowhere;

/// Block layout of a tensor with batches, channels and spatial dimensions.
class Windows {
public:
    Windows(const operators::Descriptor& descriptor, const core::TensorDesc& image)
        : sizes_(descriptor.uints("WindowSizes")),
          steps_(descriptor.uints("Strides")),
          dilations_(descriptor.uints("Dilations")),
          padding_(descriptor.uints("StartPadding")) {
        for (std::size_t d = 0; d < sizes_.size(); ++d) {
            const std::int64_t padded =
                std::int64_t{image.sizes[d + 2]} + padding_[d] + descriptor.uints("EndPadding")[d];
            const std::int64_t length = std::int64_t{dilations_[d]} * (sizes_[d] - std::int64_t{1}) + 1;
            blocks_.push_back((padded - length) / steps_[d] + 1);
            elements_ *= sizes_[d];
        }
    }

    [[nodiscard]] std::size_t dimensions() const { return sizes_.size(); }
    /// The number of elements of a window.
    [[nodiscard]] std::int64_t elements() const { return elements_; }
    [[nodiscard]] std::int64_t size(std::size_t d) const { return sizes_[d]; }
    [[nodiscard]] std::int64_t blocks(std::size_t d) const { return blocks_[d]; }

    /// The coordinate along dimension d of an element of the window in a block.
    [[nodiscard]] std::int64_t coordinate(std::size_t d, std::int64_t block, std::int64_t element) const {
        return block * steps_[d] + element * dilations_[d] - padding_[d];
    }

    /// Calls visit(block, element) for each block that covers the coordinate, with the index of the element of the
    /// window. Loops over blocks or over elements of the window, whichever are fewer.
    template <class Visit>
    void for_each_block_at(std::size_t d, std::int64_t coordinate, const Visit& visit) const {
        const std::int64_t at = coordinate + padding_[d];
        const auto try_all = [&](std::int64_t count, std::int64_t step, std::int64_t other_count,
                                 std::int64_t other_step, const auto& found) {
            for (std::int64_t i = 0; i < count && i * step <= at; ++i) {
                const std::int64_t rest = at - i * step;
                if (rest % other_step == 0 && rest / other_step < other_count) {
                    found(i, rest / other_step);
                }
            }
        };
        if (blocks_[d] < size(d)) {
            try_all(blocks_[d], steps_[d], size(d), dilations_[d],
                    [&](std::int64_t block, std::int64_t element) { visit(block, element); });
        } else {
            try_all(size(d), dilations_[d], blocks_[d], steps_[d],
                    [&](std::int64_t element, std::int64_t block) { visit(block, element); });
        }
    }

private:
    const std::vector<std::uint32_t>& sizes_;
    const std::vector<std::uint32_t>& steps_;
    const std::vector<std::uint32_t>& dilations_;
    const std::vector<std::uint32_t>& padding_;
    std::vector<std::int64_t> blocks_;
    std::int64_t elements_ = 1;
};

void unfold(const KernelArguments& arguments) {
    const core::Tensor& input = *arguments.inputs[0];
    const Windows windows(arguments.descriptor, input.desc);
    const core::Strides strides = core::signed_strides(input.desc);
    movement::move_each(input, *arguments.outputs[0], 0, [&](Coordinates output) {
        std::int64_t in_window = output[1] % windows.elements();
        std::int64_t block = output[2];
        std::int64_t from = output[0] * strides[0] + output[1] / windows.elements() * strides[1];
        for (std::size_t d = windows.dimensions(); d-- > 0;) {
            const std::int64_t at = windows.coordinate(d, block % windows.blocks(d), in_window % windows.size(d));
            if (!movement::is_within(at, input.desc.sizes[d + 2])) {
                return nowhere;
            }
            from += at * strides[d + 2];
            block /= windows.blocks(d);
            in_window /= windows.size(d);
        }
        return from;
    });
}

// ---- FOLD --------------------------------------------------------------------------------------------------------

/// Sums the elements of all blocks that cover the same element of the output.
class Folding {
public:
    explicit Folding(const KernelArguments& arguments)
        : input_(*arguments.inputs[0]),
          output_(*arguments.outputs[0]),
          slack_(movement::wanted_slack(arguments)),
          windows_(arguments.descriptor, output_.desc),
          strides_(core::signed_strides(input_.desc)) {}

    void compute() const {
        const core::DataType type = output_.desc.data_type;
        if (core::is_floating_point(type)) {
            each([&](Coordinates output, std::int64_t address, std::int64_t number) {
                add_reals(output, address, number);
            });
        } else if (core::is_signed_integer(type)) {
            each(
                [&](Coordinates output, std::int64_t address, std::int64_t) { add_integers<Signed>(output, address); });
        } else {
            each([&](Coordinates output, std::int64_t address, std::int64_t) {
                add_integers<Unsigned>(output, address);
            });
        }
    }

private:
    template <class Add>
    void each(const Add& add) const {
        const movement::Rows rows(output_.desc);
        const std::int64_t terms = std::min<std::int64_t>(windows_.elements(), 1024);
        parallel_for(rows.count(), 16 * terms * rows.length(),
                     [&](std::int64_t first, std::int64_t last) { rows.for_each(first, last, add); });
    }

    /// Calls visit(address) for the input elements that belong to an output element. For dimensions before d, block and
    /// position are already chosen.
    template <class Visit>
    void for_each_term(Coordinates output, const Visit& visit, std::size_t d = 0, std::int64_t block = 0,
                       std::int64_t in_window = 0) const {
        if (d == windows_.dimensions()) {
            visit(output[0] * strides_[0] + (output[1] * windows_.elements() + in_window) * strides_[1] +
                  block * strides_[2]);
            return;
        }
        windows_.for_each_block_at(d, output[d + 2], [&](std::int64_t next_block, std::int64_t next_element) {
            for_each_term(output, visit, d + 1, block * windows_.blocks(d) + next_block,
                          in_window * windows_.size(d) + next_element);
        });
    }

    template <class Number>
    [[nodiscard]] Number element(std::int64_t address) const {
        Number number = 0;
        element_wise::load(input_.buffer.bytes(), {input_.desc.data_type, address, 0}, 1, &number);
        return number;
    }

    /// Measured on DirectML 1.15.4: integers are summed in 32 bits or more, which wrap, and clamped to the type.
    template <class Number>
    void add_integers(Coordinates output, std::int64_t address) const {
        Number sum = 0;
        for_each_term(output, [&](std::int64_t from) { sum = sum + element<Number>(from); });
        element_wise::store(output_.buffer.bytes(), {output_.desc.data_type, address, 0}, 1, &sum, Store::clamping);
    }

    void add_reals(Coordinates output, std::int64_t address, std::int64_t number) const {
        double sum = 0;
        double magnitude = 0;
        double squares = 0;
        int count = 0;
        for_each_term(output, [&](std::int64_t from) {
            const auto term = element<double>(from);
            sum += term;
            magnitude += std::fabs(term);
            squares += term * term;
            ++count;
        });
        movement::store_computed(output_, address, number, sum, slack_, [&] {
            const core::DataType type = output_.desc.data_type;
            return range(type, sum, magnitude, count).with_expected(sum, variance(type, sum, squares, count));
        });
    }

    /// A single term is copied.
    static double variance(core::DataType type, double sum, double squares, int count) {
        const double unit = (type == core::DataType::float64 ? core::float64 : core::float32).half_rounding;
        return count < 2 ? 0 : sum_variance(count, squares, sum, unit);
    }

    /// Bounds for any order of the terms: each addition rounds a partial sum, which is at most the sum of all
    /// magnitudes.
    static Interval range(core::DataType type, double sum, double magnitude, int count) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        // FLOAT16 is summed in FP32.
        const core::FloatingFormat& format = type == core::DataType::float64 ? core::float64 : core::float32;
        if (count > 1 && std::isfinite(sum) && magnitude > format.largest) {
            return {-infinity, infinity, true};
        }
        const double error = std::isfinite(sum) ? format.one_rounding * magnitude * std::max(0, count - 1) : 0;
        const Interval sums(sum - error, sum + error, std::isnan(sum));
        // Converts to FP32, where subnormal numbers may be flushed to zero.
        return type == core::DataType::float64 ? sums : sums + Interval(0);
    }

    const core::Tensor& input_;
    core::Tensor& output_;
    core::ElementSlack* slack_;
    Windows windows_;
    core::Strides strides_;
};

void fold(const KernelArguments& arguments) {
    Folding(arguments).compute();
}

core::Tolerance fold_tolerance(const operators::Descriptor& /*descriptor*/, const operators::TensorSlot& output) {
    return movement::computed_tolerance(core::is_floating_point(output.desc->data_type),
                                        "one rounding of the sum of all magnitudes for each addition, in any order");
}

}  // namespace

Kernels kernels() {
    return {{.name = "UNFOLD", .compute = unfold, .tolerance = exact_tolerance},
            {.name = "FOLD", .compute = fold, .tolerance = fold_tolerance}};
}

}  // namespace dmlconform::cpu::folding_kernels
