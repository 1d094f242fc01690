// Stores the products of several runs: the reference's sums, and what those of the runs differ from them by.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

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
          is_packed_fp32_(is_readable(output)),
          output_(output),
          addresses_(addresses_of(output.desc)) {}

    /// `sums` are the reference's, `differences` those of this run.
    void operator()(std::int64_t first, const double* sums, const float* differences, std::size_t count) const {
        ScaledSum scaled{.factor = finish_.factor, .weight = finish_.weight};
        if (has_plain_rows_) {
            if (!finish_.addends.empty()) {
                scaled.addend = finish_.addend_of(shape_, first);
            }
            if (is_packed_fp32_) {
                store_plain(scaled, sums, differences,
                            output_.as<float>().subspan(static_cast<std::size_t>(first), count));
                return;
            }
        }
        std::vector<double> values(count);
        for (std::size_t i = 0; i < count; ++i) {
            scaled.addend = finish_.addend_of(shape_, first + static_cast<std::int64_t>(i));
            values[i] = finish_.activation(scaled.value(sums[i] + double{differences[i]}));
        }
        store_values(output_, addresses_, first, values);
    }

private:
    static void store_plain(const ScaledSum& scaled, const double* sums, const float* differences,
                            std::span<float> to) {
        const double factor = scaled.factor;
        const double added = scaled.addend ? scaled.weight * *scaled.addend : 0;
        float* const numbers = to.data();
        const std::size_t count = to.size();
        in_wide_registers([&] {
            for (std::size_t i = 0; i < count; ++i) {
                numbers[i] = static_cast<float>(factor * (sums[i] + double{differences[i]}) + added);
            }
        });
    }

    const Shape& shape_;
    const Finish& finish_;
    bool has_plain_rows_;
    bool is_packed_fp32_;
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
    return multiply_deviations(factors, reference, numbers, arguments.pause, [&](const RunSums& differences) {
        const Shape& shape = factors.shape();
        const std::int64_t first =
            (differences.batch * shape.rows + differences.row) * shape.columns + differences.column;
        for (std::size_t run = 0; run < runs.size(); ++run) {
            runs[run](first, &sums[static_cast<std::size_t>(first)],
                      differences.values + static_cast<std::int64_t>(run) * differences.stride,
                      static_cast<std::size_t>(differences.count));
        }
        arguments.stored(first, differences.count);
    });
}

}  // namespace dmlconform::cpu::product
