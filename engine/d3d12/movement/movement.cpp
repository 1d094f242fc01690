// Plans dispatches of movement.hlsl.
#include "engine/d3d12/movement/movement.h"

#include <cstddef>
#include <utility>

#include "engine/core/tensor.h"
#include "engine/d3d12/movement/row_movement.h"
#include "engine/d3d12/movement/transposition.h"
#include "engine/d3d12/planning/words.h"

namespace dmlconform::d3d12 {
namespace {

constexpr std::uint64_t bytes_per_thread = 16;
constexpr std::uint64_t widest_packed = 4;

}  // namespace

Movement::Movement(const core::TensorDesc* source, const core::TensorDesc& target)
    : units_(target.data_type), target_strides_(core::signed_strides(target)), has_source_(source != nullptr) {
    if (has_source_) {
        source_strides_ = core::signed_strides(*source);
    }
}

Movement::Movement(std::uint64_t words) : units_(core::DataType::uint32), has_source_(false) {
    along(words, 0, 1);
}

void Movement::along(std::uint64_t size, std::int64_t source_stride, std::int64_t target_stride, std::int64_t number) {
    MovedUnits::Strides strides{};
    // Without a source any strides are valid. These do not prevent wide units.
    strides[MovedUnits::source] = has_source_ ? source_stride : target_stride;
    strides[MovedUnits::target] = target_stride;
    strides[number_array] = number;
    units_.add(size, strides);
}

std::size_t Movement::add_coordinate(const Coordinate& coordinate) {
    coordinates_.push_back(coordinate);
    return coordinates_.size() - 1;
}

void Movement::along_coordinate(std::uint64_t size, std::size_t coordinate, std::int64_t step,
                                std::int64_t target_stride) {
    MovedUnits::Strides strides{};
    strides[MovedUnits::target] = target_stride;
    strides[first_coordinate + coordinate] = step;
    units_.add(size, strides);
}

void Movement::set_constant(std::uint64_t bits) {
    const std::uint64_t width = units_.bytes * bits_per_byte;
    for (std::uint64_t done = width; done < 64; done *= 2) {
        bits &= (std::uint64_t{1} << done) - 1;
        bits |= bits << done;
    }
    const auto low = static_cast<std::uint32_t>(bits);
    const auto high = static_cast<std::uint32_t>(bits >> 32);
    parameters_.pattern.words = {low, high, low, high};
}

void Movement::set_band(std::int64_t begin, std::int64_t end, bool inverted) {
    parameters_.band_begin = modulo_2_32(begin);
    parameters_.band_size = modulo_2_32(end - begin);
    parameters_.band_inverted = inverted ? 1 : 0;
}

bool Movement::bounded() const {
    // With a source, a band that is inverted is not empty.
    return !has_source_ || !coordinates_.empty() || parameters_.band_size != 0;
}

Dispatch Movement::dispatch(BufferRef source, BufferRef target) && {
    for (const Coordinate& coordinate : coordinates_) {
        units_.source_steps.push_back(coordinate.stride);
    }
    units_.arrange();
    units_.widen();
    for (std::size_t c = 0; c < coordinates_.size(); ++c) {
        coordinates_[c].stride = units_.source_steps[c];
    }
    if (!bounded()) {
        if (auto tiles = transposition(units_, source, target)) {
            return *std::move(tiles);
        }
        if (auto rows = row_movement(units_, source, target)) {
            return *std::move(rows);
        }
    }
    const bool packed = units_.bytes <= widest_packed && units_.packed();
    const std::uint64_t count = count_of(units_.dimensions);
    parameters_.unit_count = static_cast<std::uint32_t>(count);
    parameters_.has_source = has_source_ ? 1 : 0;
    Dispatch dispatch;
    dispatch.shader = {"movement",
                       {{"WIDTH", static_cast<std::uint32_t>(units_.bytes * bits_per_byte)},
                        {"PACKED", packed ? 1u : 0u},
                        {"BOUNDED", bounded() ? 1u : 0u}}};
    // An absent source is never read.
    dispatch.buffers = {has_source_ ? source : target, target};
    dispatch.parameters = words();
    dispatch.has_units = true;
    dispatch.groups = groups_of(count, group_size * (packed ? bytes_per_thread / units_.bytes : 1));
    return dispatch;
}

MovementParameters::uint4 Movement::coordinate_row(const SharedDimension<MovedUnits::arrays>& dimension) const {
    for (std::size_t c = 0; c < coordinates_.size(); ++c) {
        if (const std::int64_t step = dimension.strides[first_coordinate + c]; step != 0) {
            return {{static_cast<std::uint32_t>(c), modulo_2_32(step), 0, 0}};
        }
    }
    return {{static_cast<std::uint32_t>(coordinates_.size()), 0, 0, 0}};
}

bool Movement::each_coordinate_has_its_dimension() const {
    std::vector<int> uses(coordinates_.size() + 1);
    for (const auto& dimension : units_.dimensions) {
        ++uses[coordinate_row(dimension).words[0]];
    }
    uses.pop_back();
    return std::ranges::all_of(uses, [](int count) { return count == 1; });
}

std::vector<std::uint32_t> Movement::words() const {
    MovementParameters parameters = parameters_;
    parameters.dimension_count = static_cast<std::uint32_t>(units_.dimensions.size());
    parameters.source_start = modulo_2_32(units_.starts[MovedUnits::source]);
    parameters.target_start = modulo_2_32(units_.starts[MovedUnits::target]);
    parameters.coordinate_count = static_cast<std::uint32_t>(coordinates_.size());
    for (std::size_t c = 0; c < coordinates_.size(); ++c) {
        const Coordinate& coordinate = coordinates_[c];
        parameters.coordinates[2 * c].words = {static_cast<std::uint32_t>(coordinate.bounds), coordinate.size,
                                               modulo_2_32(coordinate.stride),
                                               static_cast<std::uint32_t>(coordinate.step)};
        parameters.coordinates[2 * c + 1].words = {modulo_2_32(coordinate.start), 0, 0, 0};
    }
    parameters.coordinates[2 * coordinates_.size()].words = {
        static_cast<std::uint32_t>(operators::PaddingMode::constant), 1, 0, 1};
    parameters.own_coordinates = each_coordinate_has_its_dimension() ? 1 : 0;
    const std::size_t rows = bounded() ? 2 : 1;
    for (std::size_t d = 0; d < units_.dimensions.size(); ++d) {
        const auto& [size, strides] = units_.dimensions[d];
        parameters.dimensions[rows * d].words = {
            static_cast<std::uint32_t>(size), modulo_2_32(strides[MovedUnits::source]),
            modulo_2_32(strides[MovedUnits::target]), modulo_2_32(strides[number_array])};
        if (rows == 2) {
            parameters.dimensions[rows * d + 1] = coordinate_row(units_.dimensions[d]);
        }
    }
    std::vector<std::uint32_t> result = parameters_from(parameters);
    constexpr std::size_t words_per_row = 4;
    result.resize(offsetof(MovementParameters, dimensions) / sizeof(std::uint32_t) +
                  words_per_row * rows * units_.dimensions.size());
    return result;
}

std::vector<ShaderVariant> movement_variants() {
    return joined({all_variants("movement", {{"WIDTH", {8, 16, 32}}, {"PACKED", {0, 1}}, {"BOUNDED", {0, 1}}}),
                   all_variants("movement", {{"WIDTH", {64, 128}}, {"PACKED", {0}}, {"BOUNDED", {0, 1}}}),
                   row_movement_variants(), transposition_variants()});
}

}  // namespace dmlconform::d3d12
