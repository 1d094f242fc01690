// What becomes of the sums of a floating-point product: a factor, an addend, an activation, and its place in the
// output.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "engine/cpu/element_wise/machine.h"
#include "engine/cpu/kernel.h"
#include "engine/cpu/product/sum_range.h"

namespace dmlconform::cpu::product {

/// factor * sum + weight * addend, and an activation of that.
struct Finish {
    double factor = 1;
    double weight = 1;
    /// None, one for each element, or one for the same number of elements each.
    std::vector<double> addends = {};
    element_wise::FusedActivation activation = element_wise::FusedActivation(nullptr);
    /// Of the output. Implementations may store what the activation is applied to as a tensor of that type.
    core::DataType type = core::DataType::float32;
    /// How far factors may be off, and what sums may be stored as: see SumRanges.
    double error = 0;
    core::DataType sum_type = core::DataType::float32;
    Accumulation accumulation = Accumulation::fp32;
};

/// Some elements of the output, one after the other in row-major order: what comes of the formula, and if ranges are
/// wanted, what implementations may have for them before they are stored.
struct Finished {
    std::int64_t first = 0;
    std::span<const double> values;
    std::span<const Interval> ranges;
};
using Take = std::function<void(const Finished& finished)>;

/// Computes all elements of a product whose rows and columns are the first output's elements in row-major order, and
/// hands them out. Several threads call `take`.
void finish_each(const Factors& factors, const Finish& finish, bool with_ranges, const Take& take);

/// The same, stored as the first output, with its slack where that is wanted.
void store_product(const KernelArguments& arguments, const Factors& factors, const Finish& finish);

/// Where elements of a tensor lie, by their numbers in row-major order.
[[nodiscard]] core::StridedRuns<1> addresses_of(const core::TensorDesc& desc);

}  // namespace dmlconform::cpu::product
