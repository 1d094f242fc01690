// The common core of normalisations: elements in groups, parameters that a group shares, a function of both for each
// element, and optionally results of the whole group.
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

/// A group as a formula sees it. The numbers are valid until the next group.
struct Set {
    /// For each of Operands::elements, the group's elements; empty if the tensor is absent.
    std::vector<std::span<const double>> elements;
    /// For each of Operands::parameters, the element that the group shares.
    std::vector<double> parameters;
    /// True if ranges are wanted.
    bool wants_ranges = false;
};

/// What an operator computes of a group. Each thread has its own instance.
class Formula {
public:
    Formula() = default;
    Formula(const Formula&) = delete;
    Formula& operator=(const Formula&) = delete;
    virtual ~Formula() = default;

    /// Sets the group that the other functions refer to.
    virtual void take(const Set& set) = 0;
    /// Computes the values of the first output's elements.
    virtual void compute(std::span<double> values) const = 0;
    /// Computes the same as `take` and `compute` directly for a group of contiguous FLOAT32 elements. Returns false if
    /// this is not supported.
    virtual bool compute_floats(std::span<const float> /*elements*/, std::span<float> /*values*/) { return false; }
    /// What implementations may compute for element k, before conversion to the output's type.
    [[nodiscard]] virtual Interval range(std::size_t k) const = 0;
    /// Stores the slack of consecutive FP32 elements from element k, for which `values` were computed. one(i) does so
    /// for one of them, by `range`.
    virtual void note_floats(core::ElementSlack& /*slack*/, std::size_t /*first*/, std::size_t /*k*/,
                             std::span<const double> values, const std::function<void(std::size_t)>& one) const {
        for (std::size_t i = 0; i < values.size(); ++i) {
            one(i);
        }
    }
    /// The group's element of a further output (0 is the second one), and what implementations may compute instead.
    [[nodiscard]] virtual double result(std::size_t /*output*/) const { return 0; }
    [[nodiscard]] virtual Interval result_range(std::size_t /*output*/) const { return {}; }
};

/// The roles of an operator's tensors. Outputs are those of the descriptor: the first one has the sizes of the
/// elements, further ones have one element for each group.
struct Operands {
    /// At most two; null if absent.
    std::vector<const core::Tensor*> elements;
    /// At most four; null if absent.
    std::vector<const core::Tensor*> parameters;
    /// For each dimension, whether the elements of a group extend along it.
    std::vector<bool> reduced;
};

/// Computes all groups.
void compute_sets(const KernelArguments& arguments, const Operands& operands,
                  const std::function<std::unique_ptr<Formula>()>& make_formula);

/// The input of that name; null if it is absent.
[[nodiscard]] const core::Tensor* input_of(const KernelArguments& arguments, std::string_view name);

/// A tolerance by ranges. The text `where_from` must live as long as the program.
[[nodiscard]] core::Tolerance range_tolerance(std::string_view where_from);

/// An intermediate result that implementations may store as an element of that type, or keep in FP32.
[[nodiscard]] Interval maybe_stored(core::DataType type, const Interval& x);

}  // namespace dmlconform::cpu::normalisation
