// The last steps of a floating-point product: factor, addend, activation, and storing.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "engine/cpu/element_wise/fused_activation.h"
#include "engine/cpu/kernel.h"
#include "engine/cpu/product/sum_range.h"

namespace dmlconform::cpu::product {

/// True if a tensor holds FP32 numbers without gaps.
[[nodiscard]] bool is_readable(const core::Tensor& tensor);
[[nodiscard]] Numbers read_in_place(const core::Tensor& tensor);
/// The numbers of a FLOAT32 or FLOAT16 tensor, which are read in place if possible.
[[nodiscard]] Numbers numbers_in_place(const core::Tensor& tensor);

/// Computes factor * sum + weight * addend, and applies an activation.
struct Finish {
    double factor = 1;
    double weight = 1;
    /// Empty, one for each element, or each for the same number of consecutive elements.
    std::vector<double> addends = {};
    element_wise::FusedActivation activation = element_wise::FusedActivation(nullptr);
    /// The output's type. Implementations may store the argument of the activation in it.
    core::DataType type = core::DataType::float32;
    /// The error of the factors, and the type that sums may be stored in: see SumRanges.
    double error = 0;
    core::DataType sum_type = core::DataType::float32;
    Accumulation accumulation = Accumulation::fp32;

    /// The addend of an element of the product; empty if there is none.
    [[nodiscard]] std::optional<double> addend_of(const Shape& shape, std::int64_t number) const;
    /// True if the elements of a row have the same addend and are nothing but scaled sums.
    [[nodiscard]] bool has_plain_rows(const Shape& shape) const;
};

/// Consecutive elements of the output in row-major order: results of the formula and, if wanted, the ranges of what
/// implementations may compute before storing.
struct Finished {
    std::int64_t first = 0;
    std::span<const double> values;
    /// The range of element i; null if ranges are not wanted.
    const std::function<Interval(std::size_t i)>& range;
    /// Null unless the elements are sums of this row, whose ranges can be computed eight at a time.
    const RowOfSums* row = nullptr;
};
/// Stores values in a tensor with these addresses.
void store_values(core::Tensor& output, const core::StridedRuns<1>& addresses, std::int64_t first,
                  std::span<const double> values);

using Take = std::function<void(const Finished& finished)>;

/// Computes all elements of a product whose rows and columns are the first output's elements in row-major order. `take`
/// is called from several threads.
/// Stores the sums, before anything is applied to them, in row-major order if `for_runs` is not null.
void finish_each(const Factors& factors, const Finish& finish, bool with_ranges, const Take& take,
                 std::vector<double>* for_runs = nullptr);

/// The same, stored in the first output, with its slack if that is wanted.
void store_product(const KernelArguments& arguments, const Factors& factors, const Finish& finish);

/// True if computing several runs at once is worth while: a product with few rows is faster without.
[[nodiscard]] bool may_compute_runs(const Shape& shape);

/// Stores the product in the first output of each run. The right factors are the reference's; `right_input` is the
/// input that they are. `finishes` has one for each run. Returns false if this is not possible: see
/// Kernel::compute_runs.
[[nodiscard]] bool store_runs(const RunArguments& arguments, const Factors& factors, std::size_t right_input,
                              std::span<const Finish> finishes);

/// The addresses of a tensor's elements, by row-major index.
[[nodiscard]] core::StridedRuns<1> addresses_of(const core::TensorDesc& desc);

}  // namespace dmlconform::cpu::product
