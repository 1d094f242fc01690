// A copy whose every place is known when it is planned: what shaders/movement.hlsl does.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/core/tensor_desc.h"
#include "engine/d3d12/constant_buffer.h"
#include "engine/d3d12/dispatch_plan.h"
#include "engine/d3d12/moved_units.h"

namespace dmlconform::d3d12 {

/// The constant buffer.
struct MovementParameters : ConstantBuffer {
#include "shaders/movement_parameters.hlsli"
};

/// A coordinate of the source that depends on several of the output's, or may lie outside: see
/// movement_parameters.hlsli.
struct Coordinate {
    std::uint32_t bounds = BOUNDS_CONSTANT;
    std::uint32_t size = 1;
    /// From one element to the next.
    std::int64_t stride = 0;
    /// Only coordinates that this divides have an element.
    std::uint64_t step = 1;
    std::int64_t start = 0;
};

/// Strides, starts and sizes are in elements, counted in the memory of the whole tensor; the plan that it makes counts
/// in the units that shaders/movement.hlsl copies.
class Movement {
public:
    /// No source: what the pattern does not fill has zeros.
    Movement(const core::TensorDesc* source, const core::TensorDesc& target);
    /// Of so many words, which are filled.
    explicit Movement(std::uint64_t words);

    [[nodiscard]] const core::Strides& source_strides() const { return source_strides_; }
    [[nodiscard]] const core::Strides& target_strides() const { return target_strides_; }

    /// Of the first element, in elements.
    void start_source_at(std::int64_t place) { units_.starts[MovedUnits::source] += place; }
    void start_target_at(std::int64_t place) { units_.starts[MovedUnits::target] += place; }

    /// A dimension of the output, and how the source's element moves along it. In the band's numbers it counts
    /// `number`.
    void along(std::uint64_t size, std::int64_t source_stride, std::int64_t target_stride, std::int64_t number = 0);
    /// The number of a coordinate, to move along.
    [[nodiscard]] std::size_t add_coordinate(const Coordinate& coordinate);
    /// A dimension of the output that moves along a coordinate in steps.
    void along_coordinate(std::uint64_t size, std::size_t coordinate, std::int64_t step, std::int64_t target_stride);

    /// What elements have that are outside of a coordinate's bounds or in the band: its bits.
    void set_constant(std::uint64_t bits);
    /// Elements of the numbers from begin to end - 1 are constants, or with `inverted` all others.
    void set_band(std::int64_t begin, std::int64_t end, bool inverted = false);

    [[nodiscard]] Dispatch dispatch(BufferRef source, BufferRef target) &&;

private:
    /// Source and target, numbers in the band, and coordinates.
    static constexpr std::size_t number_array = 2;
    static constexpr std::size_t first_coordinate = 3;
    static_assert(MovedUnits::arrays == first_coordinate + MOST_COORDINATES);

    [[nodiscard]] bool bounded() const;
    /// The row of the constant buffer that says along which coordinate a dimension moves.
    [[nodiscard]] MovementParameters::uint4 coordinate_row(const SharedDimension<MovedUnits::arrays>& dimension) const;
    [[nodiscard]] bool each_coordinate_has_its_dimension() const;
    [[nodiscard]] std::vector<std::uint32_t> words() const;

    MovedUnits units_;
    core::Strides source_strides_;
    core::Strides target_strides_;
    bool has_source_;
    std::vector<Coordinate> coordinates_;
    MovementParameters parameters_{};
};

/// All that a Movement may name.
[[nodiscard]] std::vector<ShaderVariant> movement_variants();

}  // namespace dmlconform::d3d12
