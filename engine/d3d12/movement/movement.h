// A copy whose addresses are known when it is planned, for shaders/movement/movement.hlsl.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/tensor_desc.h"
#include "engine/d3d12/movement/moved_units.h"
#include "engine/d3d12/planning/dispatch_plan.h"
#include "engine/operators/enumerations.h"
#include "shaders/movement/movement_parameters.hlsli"

namespace dmlconform::d3d12 {

/// A coordinate of the source that depends on several coordinates of the output, or may be out of bounds: see
/// movement_parameters.hlsli.
struct Coordinate {
    operators::PaddingMode bounds = operators::PaddingMode::constant;
    std::uint32_t size = 1;
    /// The stride along the coordinate.
    std::int64_t stride = 0;
    /// Only coordinates that are multiples of this have an element.
    std::uint64_t step = 1;
    std::int64_t start = 0;
};

/// Plans a copy. Strides, starts and sizes are in elements of the whole tensor's memory; the plan converts them to the
/// units that shaders/movement/movement.hlsl copies.
class Movement {
public:
    /// If `source` is null, elements that the pattern does not fill are zero.
    Movement(const core::TensorDesc* source, const core::TensorDesc& target);
    /// Fills this many words.
    explicit Movement(std::uint64_t words);

    [[nodiscard]] const core::Strides& source_strides() const { return source_strides_; }
    [[nodiscard]] const core::Strides& target_strides() const { return target_strides_; }

    /// The offset of the first element, in elements.
    void start_source_at(std::int64_t offset) { units_.starts[MovedUnits::source] += offset; }
    void start_target_at(std::int64_t offset) { units_.starts[MovedUnits::target] += offset; }

    /// Adds a dimension of the output, with its stride in the source. `number` is its stride in the numbering that the
    /// band uses.
    void along(std::uint64_t size, std::int64_t source_stride, std::int64_t target_stride, std::int64_t number = 0);
    /// Adds a coordinate and returns its index for along_coordinate.
    [[nodiscard]] std::size_t add_coordinate(const Coordinate& coordinate);
    /// Adds a dimension of the output that advances along a coordinate by steps.
    void along_coordinate(std::uint64_t size, std::size_t coordinate, std::int64_t step, std::int64_t target_stride);

    /// Sets the bits of elements that are out of a coordinate's bounds or in the band.
    void set_constant(std::uint64_t bits);
    /// Elements with the numbers begin to end - 1 become constants, or all others if `inverted`.
    void set_band(std::int64_t begin, std::int64_t end, bool inverted = false);

    [[nodiscard]] Dispatch dispatch(BufferRef source, BufferRef target) &&;

private:
    /// Source and target, numbers in the band, and coordinates.
    static constexpr std::size_t number_array = 2;
    static constexpr std::size_t first_coordinate = 3;
    static_assert(MovedUnits::arrays == first_coordinate + MOST_COORDINATES);

    [[nodiscard]] bool bounded() const;
    /// The row of the constant buffer with the coordinate that a dimension advances.
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

/// All variants that a Movement may use.
[[nodiscard]] std::vector<ShaderVariant> movement_variants();

}  // namespace dmlconform::d3d12
