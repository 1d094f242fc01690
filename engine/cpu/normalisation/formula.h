// What operators of this family have in common: elements in sets, numbers that a set's elements share, a function of
// both for each element, and maybe results of the set as a whole.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/cpu/interval.h"
#include "engine/cpu/kernel.h"

namespace dmlconform::cpu::normalisation {

/// A set as a formula sees it. Numbers live until the next set.
struct Set {
    /// The set's elements of each tensor that has as many as the first output, in the order of Operands::elements.
    /// Those of an absent tensor are none.
    std::vector<std::span<const double>> elements;
    /// One element of each tensor whose elements the whole set shares, in the order of Operands::parameters.
    std::vector<double> parameters;
    /// Whether ranges will be asked for.
    bool wants_ranges = false;
};

/// What one operator computes of a set. Each thread has one of its own.
class Formula {
public:
    Formula() = default;
    Formula(const Formula&) = delete;
    Formula& operator=(const Formula&) = delete;
    virtual ~Formula() = default;

    /// The set that the other functions are about until the next call.
    virtual void take(const Set& set) = 0;
    /// The values of the first output's elements.
    virtual void compute(std::span<double> values) const = 0;
    /// What `take` and `compute` would store for a set of FLOAT32 elements that lie side by side in both tensors,
    /// without the doubles between. False: there is no such way.
    virtual bool compute_floats(std::span<const float> /*elements*/, std::span<float> /*values*/) { return false; }
    /// What implementations may compute instead of the k-th. The output's type does not count yet.
    [[nodiscard]] virtual Interval range(std::size_t k) const = 0;
    /// The set's element of a further output, 0 being the second, and what implementations may compute instead.
    [[nodiscard]] virtual double result(std::size_t /*output*/) const { return 0; }
    [[nodiscard]] virtual Interval result_range(std::size_t /*output*/) const { return {}; }
};

/// Which tensors are what to an operator. The outputs are those of the descriptor in their order: the first has an
/// element for each of the sets' elements, a further one an element for each set.
struct Operands {
    /// At most two; null where absent.
    std::vector<const core::Tensor*> elements;
    /// At most four.
    std::vector<const core::Tensor*> parameters;
    /// One for each dimension: whether elements of one set differ in that coordinate.
    std::vector<bool> reduced;
};

/// Computes all sets.
void compute_sets(const KernelArguments& arguments, const Operands& operands,
                  const std::function<std::unique_ptr<Formula>()>& make_formula);

/// The input of that name; null where it is absent.
[[nodiscard]] const core::Tensor* input_of(const KernelArguments& arguments, std::string_view name);

/// The tolerance that ranges make. `where_from` lives as long as the program.
[[nodiscard]] core::Tolerance range_tolerance(std::string_view where_from);

/// What it is on its way if it may be stored as an element of a tensor of that type, or may stay in FP32.
[[nodiscard]] Interval maybe_stored(core::DataType type, const Interval& x);

}  // namespace dmlconform::cpu::normalisation
