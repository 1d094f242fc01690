// Applies addend, factor and activation to sums, and stores them.
#include "engine/cpu/product/finish.h"

#include <algorithm>
#include <cmath>

#include "engine/cpu/accepted_eights.h"
#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/normalisation/formula.h"
#include "engine/cpu/product/sum_eights.h"
#include "engine/cpu/tensor_numbers.h"
#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu::product {

bool is_readable(const core::Tensor& tensor) {
    return is_packed_float32(tensor.desc);
}

Numbers read_in_place(const core::Tensor& tensor) {
    return {
        .values = {}, .floats = tensor.as<float>().first(*core::element_count(tensor.desc.sizes)), .are_fp32 = true};
}

Numbers numbers_in_place(const core::Tensor& tensor) {
    return is_readable(tensor) ? read_in_place(tensor) : Numbers{.values = numbers_of(tensor), .are_fp32 = true};
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

bool has_nan(std::span<const double> numbers) {
    bool result = false;
    in_wide_registers([&] {
        std::uint64_t any = 0;
        for (const double number : numbers) {
            any |= static_cast<std::uint64_t>(std::isnan(number));
        }
        result = any != 0;
    });
    return result;
}

}  // namespace

std::optional<double> Finish::addend_of(const Shape& shape, std::int64_t number) const {
    if (addends.empty()) {
        return std::nullopt;
    }
    // Each addend applies to the same number of consecutive elements. The list restarts with each batch.
    const auto count = static_cast<std::int64_t>(addends.size());
    const bool is_whole = count == shape.batches * shape.rows * shape.columns;
    return addends[static_cast<std::size_t>(is_whole ? number : number / shape.columns % count)];
}

bool Finish::has_plain_rows(const Shape& shape) const {
    return !activation.is_present() &&
           static_cast<std::int64_t>(addends.size()) != shape.batches * shape.rows * shape.columns;
}

void finish_each(const Factors& factors, const Finish& finish, bool with_ranges, const Take& take,
                 std::vector<double>* for_runs) {
    const Shape& shape = factors.shape();
    // Computed once, because it needs all numbers of both factors.
    std::optional<SumRanges> ranges;
    if (with_ranges) {
        ranges.emplace(factors, finish.error, finish.sum_type, finish.accumulation);
    }
    const bool plain_rows = finish.has_plain_rows(shape);
    if (for_runs != nullptr) {
        for_runs->resize(static_cast<std::size_t>(shape.batches * shape.rows * shape.columns));
    }
    multiply(factors, with_ranges, [&](const Sums& sums) {
        const std::int64_t first = sums.number(shape);
        if (for_runs != nullptr) {
            std::copy_n(sums.values, sums.count, for_runs->begin() + first);
        }
        ScaledSum scaled{.factor = finish.factor, .weight = finish.weight};
        const auto find_addend = [&](std::int64_t offset) { scaled.addend = finish.addend_of(shape, first + offset); };
        const std::span computed(sums.values, static_cast<std::size_t>(sums.count));
        const bool is_plain = !ranges && plain_rows && !has_nan(computed);
        if (is_plain && finish.addends.empty() && finish.factor == 1) {
            take({first, computed, nullptr});
            return;
        }
        std::vector<double> values(computed.size());
        if (is_plain) {
            find_addend(0);
            scaled.values(sums.values, values);
            take({first, values, nullptr});
            return;
        }
        const auto sum_at = [&](std::size_t i) {
            const auto offset = static_cast<std::int64_t>(i);
            return std::isnan(sums.values[i]) ? sum_of_terms(factors, sums, offset) : sums.values[i];
        };
        if (plain_rows) {
            find_addend(0);
        }
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (!plain_rows) {
                find_addend(static_cast<std::int64_t>(i));
            }
            values[i] = finish.activation(scaled.value(sum_at(i)));
        }
        if (!ranges) {
            take({first, values, nullptr});
            return;
        }
        const auto row = plain_rows ? ranges->row_of(sums, scaled) : std::nullopt;
        take({first, values,
              [&](std::size_t i) {
                  const auto offset = static_cast<std::int64_t>(i);
                  find_addend(offset);
                  return activated(finish, ranges->range(sums, offset, scaled));
              },
              row ? &*row : nullptr});
    });
}

void store_values(core::Tensor& output, const core::StridedRuns<1>& addresses, std::int64_t first,
                  std::span<const double> values) {
    const auto count = static_cast<std::int64_t>(values.size());
    const std::int64_t run = addresses.run_length();
    for (std::int64_t done = 0; done < count;) {
        const std::int64_t number = first + done;
        const std::int64_t length = std::min(count - done, run - number % run);
        element_wise::store(
            output.buffer.bytes(), {output.desc.data_type, addresses.offsets_of(number)[0], addresses.run_strides()[0]},
            static_cast<std::size_t>(length), &values[static_cast<std::size_t>(done)], element_wise::Store::wrapping);
        done += length;
    }
}

namespace {

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
    const auto store = [&](const Finished& finished) {
        store_values(output, addresses, finished.first, finished.values);
        if (slack != nullptr) {
            store_slack(output.desc.data_type, finished, *slack);
        }
    };
    finish_each(factors, finish, slack != nullptr, store, arguments.for_runs);
}

}  // namespace dmlconform::cpu::product
