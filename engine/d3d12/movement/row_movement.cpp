// Plans dispatches of movement_rows.hlsl.
#include "engine/d3d12/movement/row_movement.h"
#include "engine/d3d12/planning/words.h"
#include "shaders/movement/movement_rows_parameters.hlsli"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace dmlconform::d3d12 {
namespace {

constexpr std::uint64_t vector_bytes = 16;

std::uint64_t units_of_vector(const MovedUnits& units) {
    return vector_bytes / units.bytes;
}

bool has_rows(const MovedUnits& units) {
    const auto& row = units.dimensions.front();
    return units.bytes <= word_bytes && units.packed() && row.size >= units_of_vector(units) &&
           (units.bytes == word_bytes || row.strides[MovedUnits::source] == 1);
}

/// The factor that replaces a division by `size`, for numbers up to `most` times `size`. 0: a division is necessary.
///
/// With u = 2^-24, the factor is 1 / size times 1 - 3u at most, and 1 - 5u at least. The number is rounded to FP32, and
/// so is the product; each changes it by a factor of 1 - u to 1 + u. So the product p is at most the exact quotient,
/// and at least the quotient times 1 - 7u, a difference of less than 1 for quotients up to 2^20. Adding 2^23 - 0.5
/// rounds to the nearest integer, which (without the 2^23) is between p - 1 and p. So the result is the quotient
/// rounded down, or one less, which the shader recognises by the remainder. The remainder of one more size must fit 32
/// bits, because the result for 0 may be -1.
float inverse_of(std::uint64_t size, std::uint64_t most) {
    constexpr std::uint64_t largest_quotient = std::uint64_t{1} << 20;
    constexpr std::uint64_t largest_size = std::uint64_t{1} << 31;
    constexpr double below = 1 - 4 * 0x1p-24;
    return most <= largest_quotient && size < largest_size ? static_cast<float>(below / static_cast<double>(size)) : 0;
}

void put_dimensions(MovementRowsParameters& parameters, const StridedDimensions<MovedUnits::arrays>& dimensions) {
    std::uint64_t quotients = count_of(dimensions);
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
        const auto& [size, strides] = dimensions[d];
        quotients /= size;
        parameters.dimensions[d].words = {static_cast<std::uint32_t>(size), modulo_2_32(strides[MovedUnits::source]),
                                          std::bit_cast<std::uint32_t>(inverse_of(size, quotients))};
    }
    const auto stride = [&](std::size_t d) { return dimensions[d].strides[MovedUnits::source]; };
    const auto columns = static_cast<std::int64_t>(dimensions[0].size);
    parameters.row_jump = modulo_2_32(stride(1) - columns * stride(0));
}

}  // namespace

std::optional<Dispatch> row_movement(const MovedUnits& units, BufferRef source, BufferRef target) {
    if (!has_rows(units)) {
        return std::nullopt;
    }
    auto dimensions = units.dimensions;
    if (dimensions.size() == 1) {
        dimensions.emplace_back();
    }
    const std::uint64_t count = count_of(dimensions);
    const std::uint64_t per_vector = units_of_vector(units);
    MovementRowsParameters parameters{};
    parameters.unit_count = static_cast<std::uint32_t>(count);
    parameters.source_start = modulo_2_32(units.starts[MovedUnits::source]);
    parameters.target_start = modulo_2_32(units.starts[MovedUnits::target] / static_cast<std::int64_t>(per_vector));
    parameters.last_dimension = static_cast<std::uint32_t>(dimensions.size() - 1);
    put_dimensions(parameters, dimensions);
    Dispatch dispatch;
    dispatch.shader = {"movement_rows", {{"WIDTH", static_cast<std::uint32_t>(units.bytes * bits_per_byte)}}};
    dispatch.buffers = {source, target};
    dispatch.parameters = parameters_from(parameters);
    dispatch.has_units = true;
    dispatch.groups = groups_of(count, group_size * per_vector);
    return dispatch;
}

std::vector<ShaderVariant> row_movement_variants() {
    return all_variants("movement_rows", {{"WIDTH", {8, 16, 32}}});
}

}  // namespace dmlconform::d3d12
