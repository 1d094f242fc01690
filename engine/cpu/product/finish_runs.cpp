// Stores the products of several runs: the reference's sums, and what those of the runs differ from them by.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/cpu/prefetch.h"
#include "engine/cpu/product/finish.h"
#include "engine/cpu/product/run_sums.h"
#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu::product {
namespace {

bool are_all_finite(std::span<const double> numbers) {
    return std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); });
}

/// Finishes a part of a row in one run.
class RunFinish {
public:
    RunFinish(const Factors& factors, const Finish& finish, core::Tensor& output)
        : shape_(factors.shape()),
          finish_(finish),
          has_plain_rows_(finish.has_plain_rows(shape_)),
          output_(output),
          addresses_(addresses_of(output.desc)) {}

    /// `sums` are the reference's, `elements` what those of this run differ by. Sets these to the FP32 results.
    void finish(std::int64_t first, const double* sums, std::span<float> elements) const {
        if (has_plain_rows_) {
            ScaledSum scaled{.factor = finish_.factor, .weight = finish_.weight};
            if (!finish_.addends.empty()) {
                scaled.addend = finish_.addend_of(shape_, first);
            }
            finish_plain(scaled, sums, elements);
            return;
        }
        for (std::size_t i = 0; i < elements.size(); ++i) {
            elements[i] = static_cast<float>(result(first, sums, elements, i));
        }
    }

    /// The same for an output of any type and layout, in which the results are stored.
    void store_finished(std::int64_t first, const double* sums, std::span<const float> differences) const {
        std::vector<double> values(differences.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = result(first, sums, differences, i);
        }
        store_values(output_, addresses_, first, values);
    }

    /// Stores results in an output that is a packed FP32 tensor.
    void store(std::int64_t first, std::span<const float> elements) const {
        // GCC 12 copies one by one with std::ranges::copy.
        std::memcpy(output_.as<float>().data() + first, elements.data(), elements.size_bytes());
    }
    void prefetch_output(std::int64_t first, std::int64_t count) const {
        prefetch_all(output_.as<float>().data() + first, count);
    }

private:
    [[nodiscard]] double result(std::int64_t first, const double* sums, std::span<const float> differences,
                                std::size_t i) const {
        const ScaledSum scaled{.factor = finish_.factor,
                               .weight = finish_.weight,
                               .addend = finish_.addend_of(shape_, first + static_cast<std::int64_t>(i))};
        return finish_.activation(scaled.value(sums[i] + double{differences[i]}));
    }

    static void finish_plain(const ScaledSum& scaled, const double* sums, std::span<float> elements) {
        const double factor = scaled.factor;
        const double added = scaled.addend ? scaled.weight * *scaled.addend : 0;
        float* const numbers = elements.data();
        const std::size_t count = elements.size();
        in_wide_registers([&] {
            for (std::size_t i = 0; i < count; ++i) {
                numbers[i] = static_cast<float>(factor * (sums[i] + double{numbers[i]}) + added);
            }
        });
    }

    const Shape& shape_;
    const Finish& finish_;
    bool has_plain_rows_;
    core::Tensor& output_;
    core::StridedRuns<1> addresses_;
};

}  // namespace

bool may_compute_runs(const Shape& shape) {
    return shape.rows >= run_tile_rows / 2 && shape.depth > 0;
}

bool store_runs(const RunArguments& arguments, const Factors& factors, std::size_t right_input,
                std::span<const Finish> finishes) {
    const std::span<const double> sums = arguments.of_reference;
    if (arguments.inputs_of_runs.size() > run_lanes || !are_all_finite(sums)) {
        return false;
    }
    const RunNumbers reference(*arguments.inputs[right_input]);
    std::vector<RunNumbers> numbers;
    std::vector<RunFinish> runs;
    for (std::size_t run = 0; run < finishes.size(); ++run) {
        numbers.emplace_back(*arguments.inputs_of_runs[run][right_input]);
        runs.emplace_back(factors, finishes[run], *arguments.outputs_of_runs[run][0]);
    }
    const bool are_packed_fp32 = is_readable(*arguments.outputs_of_runs.front()[0]);
    return multiply_deviations(factors, reference, numbers, arguments.pause, [&](const RunSums& differences) {
        const Shape& shape = factors.shape();
        const std::int64_t first =
            (differences.batch * shape.rows + differences.row) * shape.columns + differences.column;
        // Rows lie too far apart for processors to foresee.
        const std::int64_t next = differences.row + 1 < shape.rows ? first + shape.columns : first;
        const double* const of_reference = &sums[static_cast<std::size_t>(first)];
        const auto count = static_cast<std::size_t>(differences.count);
        const auto elements_of = [&](std::size_t run) { return std::span(differences.values + run * count, count); };
        for (std::size_t run = 0; run < runs.size(); ++run) {
            if (are_packed_fp32) {
                runs[run].finish(first, of_reference, elements_of(run));
            } else {
                runs[run].store_finished(first, of_reference, elements_of(run));
            }
        }
        if (!are_packed_fp32) {
            return;
        }
        prefetch_all(sums.data() + next, differences.count);
        for (const RunFinish& run : runs) {
            run.prefetch_output(next, differences.count);
        }
        arguments.change(first, differences.count, differences.values, next);
        for (std::size_t run = 0; run < runs.size(); ++run) {
            runs[run].store(first, elements_of(run));
        }
    });
}

}  // namespace dmlconform::cpu::product
