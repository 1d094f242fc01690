// Applies addend, factor and activation to sums, and stores them.
#include "engine/cpu/product/finish.h"

#include <algorithm>
#include <cmath>

#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/normalisation/formula.h"
#include "engine/cpu/tensor_numbers.h"

namespace dmlconform::cpu::product {

bool is_readable(const core::Tensor& tensor) {
    return tensor.desc.data_type == core::DataType::float32 && core::is_packed(tensor.desc);
}

Numbers read_in_place(const core::Tensor& tensor) {
    return {
        .values = {}, .floats = tensor.as<float>().first(*core::element_count(tensor.desc.sizes)), .are_fp32 = true};
}

Numbers numbers_in_place(const core::Tensor& tensor, bool in_place) {
    return in_place && is_readable(tensor)
               ? read_in_place(tensor)
               : Numbers{.values = numbers_of(tensor),
                         .are_fp32 = core::is_floating_point(tensor.desc.data_type) &&
                                     core::bytes_of(tensor.desc.data_type) <= sizeof(float)};
}

bool may_read_in_place(const KernelArguments& arguments, const Shape& shape) {
    return movement::wanted_slack(arguments) == nullptr && shape.rows > 1;
}

core::StridedRuns<1> addresses_of(const core::TensorDesc& desc) {
    return {desc.sizes, {core::signed_strides(desc)}};
}

namespace {

/// Applies the activation to a sum, or to the sum rounded to FLOAT16.
Interval activated(const Finish& finish, const Interval& range) {
    if (!finish.activation.is_present()) {
        return range;
    }
    return finish.activation(normalisation::maybe_stored(finish.type, range));
}

}  // namespace

void finish_each(const Factors& factors, const Finish& finish, bool with_ranges, const Take& take) {
    const Shape& shape = factors.shape();
    // Computed once, because it needs all numbers of both factors.
    std::optional<SumRanges> ranges;
    if (with_ranges) {
        ranges.emplace(factors, finish.error, finish.sum_type, finish.accumulation);
    }
    const std::int64_t elements = shape.batches * shape.rows * shape.columns;
    const auto addends = static_cast<std::int64_t>(finish.addends.size());
    const std::int64_t all_addends = std::max<std::int64_t>(addends, 1);
    multiply(factors, with_ranges, [&](const Sums& sums) {
        const std::int64_t first = sums.number(shape);
        ScaledSum scaled{.factor = finish.factor, .weight = finish.weight};
        const auto find_addend = [&](std::int64_t offset) {
            if (addends != 0) {
                // Each addend applies to the same number of consecutive elements. The list restarts with each batch.
                scaled.addend = finish.addends[static_cast<std::size_t>(
                    addends == elements ? first + offset : (first + offset) / shape.columns % all_addends)];
            }
        };
        std::vector<double> values(static_cast<std::size_t>(sums.count));
        const bool plain = !ranges && addends != elements && !finish.activation.is_present();
        if (plain && std::none_of(sums.values, sums.values + sums.count, [](double sum) { return std::isnan(sum); })) {
            // The sums belong to one row, which has one addend.
            find_addend(0);
            scaled.values(sums.values, values);
            take({first, values, {}});
            return;
        }
        std::vector<Interval> accepted(with_ranges ? values.size() : 0);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto offset = static_cast<std::int64_t>(i);
            find_addend(offset);
            const double sum = std::isnan(sums.values[i]) ? sum_of_terms(factors, sums, offset) : sums.values[i];
            values[i] = finish.activation(scaled.value(sum));
            if (ranges) {
                accepted[i] = activated(finish, ranges->range(sums, offset, scaled));
            }
        }
        take({first, values, accepted});
    });
}

void store_product(const KernelArguments& arguments, const Factors& factors, const Finish& finish) {
    core::Tensor& output = *arguments.outputs[0];
    core::ElementSlack* const slack = movement::wanted_slack(arguments);
    const auto addresses = addresses_of(output.desc);
    const std::int64_t run = addresses.run_length();
    finish_each(factors, finish, slack != nullptr, [&](const Finished& finished) {
        const auto count = static_cast<std::int64_t>(finished.values.size());
        for (std::int64_t done = 0; slack == nullptr && done < count;) {
            const std::int64_t number = finished.first + done;
            const std::int64_t length = std::min(count - done, run - number % run);
            element_wise::store(output.buffer.bytes(),
                                {output.desc.data_type, addresses.offsets_of(number)[0], addresses.run_strides()[0]},
                                static_cast<std::size_t>(length), &finished.values[static_cast<std::size_t>(done)],
                                element_wise::Store::wrapping);
            done += length;
        }
        for (std::size_t i = 0; slack != nullptr && i < finished.values.size(); ++i) {
            const std::int64_t number = finished.first + static_cast<std::int64_t>(i);
            movement::store_computed(output, addresses.offsets_of(number)[0], number, finished.values[i], slack,
                                     [&] { return finished.ranges[i]; });
        }
    });
}

}  // namespace dmlconform::cpu::product
