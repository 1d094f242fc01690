// Applies addend, factor and activation to sums, and stores them.
#include "engine/cpu/product/finish.h"

#include <algorithm>
#include <cmath>

#include "engine/cpu/accepted_eights.h"
#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/normalisation/formula.h"
#include "engine/cpu/product/sum_eights.h"
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
            take({first, values, nullptr});
            return;
        }
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto offset = static_cast<std::int64_t>(i);
            find_addend(offset);
            const double sum = std::isnan(sums.values[i]) ? sum_of_terms(factors, sums, offset) : sums.values[i];
            values[i] = finish.activation(scaled.value(sum));
        }
        if (!ranges) {
            take({first, values, nullptr});
            return;
        }
        const bool one_addend = addends != elements && !finish.activation.is_present();
        const auto row = one_addend ? ranges->row_of(sums, scaled) : std::nullopt;
        take({first, values,
              [&](std::size_t i) {
                  const auto offset = static_cast<std::int64_t>(i);
                  find_addend(offset);
                  return activated(finish, ranges->range(sums, offset, scaled));
              },
              row ? &*row : nullptr});
    });
}

namespace {

/// Stores finished elements in the output.
void store_values(core::Tensor& output, const core::StridedRuns<1>& addresses, const Finished& finished) {
    const auto count = static_cast<std::int64_t>(finished.values.size());
    const std::int64_t run = addresses.run_length();
    for (std::int64_t done = 0; done < count;) {
        const std::int64_t number = finished.first + done;
        const std::int64_t length = std::min(count - done, run - number % run);
        element_wise::store(output.buffer.bytes(),
                            {output.desc.data_type, addresses.offsets_of(number)[0], addresses.run_strides()[0]},
                            static_cast<std::size_t>(length), &finished.values[static_cast<std::size_t>(done)],
                            element_wise::Store::wrapping);
        done += length;
    }
}

/// Stores the slack of finished elements.
void store_slack(core::DataType type, const Finished& finished, core::ElementSlack& slack) {
    const auto first = static_cast<std::size_t>(finished.first);
    const auto how = element_wise::Store::wrapping;
    const auto one = [&](std::size_t i) {
        note_accepted(slack, first + i, type, element_wise::stored_value(type, finished.values[i], how),
                      element_wise::stored_range(type, finished.range(i), how));
    };
#if DMLCONFORM_HAS_WIDE_REGISTERS
    const RowOfSums* const row = finished.row;
    if (row != nullptr && type == core::DataType::float32 && (!row->addend || is_ordinary(row->range_of_addend))) {
        note_accepted_eights(
            slack, first, finished.values, [row] { return SumEights(*row); }, one);
        return;
    }
#endif
    for (std::size_t i = 0; i < finished.values.size(); ++i) {
        one(i);
    }
}

}  // namespace

void store_product(const KernelArguments& arguments, const Factors& factors, const Finish& finish) {
    core::Tensor& output = *arguments.outputs[0];
    core::ElementSlack* const slack = movement::wanted_slack(arguments);
    const auto addresses = addresses_of(output.desc);
    finish_each(factors, finish, slack != nullptr, [&](const Finished& finished) {
        store_values(output, addresses, finished);
        if (slack != nullptr) {
            store_slack(output.desc.data_type, finished, *slack);
        }
    });
}

}  // namespace dmlconform::cpu::product
