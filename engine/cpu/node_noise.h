// Random rounding errors of one node's output, by which the runs of Monte Carlo arithmetic differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/core/tensor.h"
#include "engine/core/tolerance.h"
#include "engine/cpu/drawn_noise.h"

namespace dmlconform::cpu {

/// The range of one element, given its value and row-major index.
[[nodiscard]] NoiseRange noise_range(core::DataType type, double value, std::size_t index,
                                     const core::Tolerance& tolerance, const core::ElementSlack& slack);

struct RowOfRun;

/// The noise of a node's output. The tolerance and the slack must be those of the reference for that node, and must
/// outlive this object.
///
/// An element moves by a normal distribution with the standard deviation of the simplest FP32 implementation
/// (ElementSlack::sigma), clipped to its range. If that is unknown, it moves by a uniform distribution over the whole
/// range, which is wider. If several values are correct, each run uses one of them.
class NodeNoise {
public:
    NodeNoise(const core::Tolerance& tolerance, const core::ElementSlack& slack, std::uint64_t seed)
        : tolerance_(tolerance), slack_(slack), seed_(seed) {}

    /// True if no element moves in any run.
    [[nodiscard]] bool is_silent() const;

    /// Adds noise to every element. The noise depends only on the run and the element.
    void add_to(core::Tensor& output, std::size_t run) const;
    /// The same for all runs from 0 on. Their tensors have the same layout.
    void add_to_all(std::span<core::Tensor* const> runs) const;

    /// True if the noise of such an output may be added in parts.
    [[nodiscard]] bool has_rows(const core::TensorDesc& desc) const;
    /// The same for `count` elements of each run from 0 on, if the output has rows. Those of run r begin at
    /// elements[r * count], and the first one has the index `first`.
    void add_to_part(std::int64_t first, std::int64_t count, std::size_t runs, float* elements) const;
    /// Loads what that needs into the caches.
    void prefetch_part(std::int64_t first, std::int64_t count) const;

private:
    [[nodiscard]] RowOfRun row_of(float* elements, std::size_t run) const;
    /// For `count` elements of all runs. Rows start with the element that has the index `first`.
    void add_to_rows(std::span<const RowOfRun> rows, std::size_t first, std::size_t count) const;
    [[nodiscard]] std::uint64_t key_of(std::size_t run) const;
    void add_to_whole_rows(std::span<const RowOfRun> rows, std::int64_t count) const;
    /// `key`: the run's.
    template <class T>
    void add_to_element(T& element, std::size_t index, std::size_t run, std::uint64_t key) const;

    const core::Tolerance& tolerance_;
    const core::ElementSlack& slack_;
    std::uint64_t seed_;
};

}  // namespace dmlconform::cpu
