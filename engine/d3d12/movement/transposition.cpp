// Plans dispatches of transposition.hlsl.
#include "engine/d3d12/movement/transposition.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/core/tensor.h"
#include "engine/d3d12/planning/words.h"
#include "shaders/movement/transposition_parameters.hlsli"

namespace dmlconform::d3d12 {
namespace {

constexpr std::uint64_t widest = 8;
/// If the source's units are closer than this, adjacent threads read its cache lines completely anyway.
constexpr std::uint64_t far_bytes = 32;

using Dimension = SharedDimension<MovedUnits::arrays>;

/// Plans one copy.
class Planner {
public:
    explicit Planner(const MovedUnits& units) : units_(units) {
        const auto adjacent_in_source = [](const Dimension& dimension) {
            return dimension.strides[MovedUnits::source] == 1;
        };
        const auto found = std::find_if(units_.dimensions.begin(), units_.dimensions.end(), adjacent_in_source);
        column_ = static_cast<std::size_t>(found - units_.dimensions.begin());
    }

    [[nodiscard]] bool is_possible() const {
        return units_.bytes <= widest && column_ != 0 && column_ < units_.dimensions.size() &&
               row().strides[MovedUnits::target] == 1 && is_far() && is_large() && has_whole_words();
    }

    [[nodiscard]] Dispatch dispatch(BufferRef source, BufferRef target) const {
        Dispatch dispatch;
        dispatch.shader = {"transposition", {{"WIDTH", static_cast<std::uint32_t>(units_.bytes * bits_per_byte)}}};
        dispatch.buffers = {source, target};
        const TranspositionParameters parameters = put_parameters();
        dispatch.parameters = parameters_from(parameters);
        dispatch.groups = parameters.tile_count;
        return dispatch;
    }

private:
    [[nodiscard]] const Dimension& row() const { return units_.dimensions.front(); }
    [[nodiscard]] const Dimension& column() const { return units_.dimensions[column_]; }
    [[nodiscard]] std::uint64_t units_per_word() const { return std::max(word_bytes / units_.bytes, std::uint64_t{1}); }
    [[nodiscard]] std::uint64_t tile() const { return TILE_WORDS * units_per_word(); }

    [[nodiscard]] bool is_far() const {
        const std::int64_t stride = row().strides[MovedUnits::source];
        const auto distance = static_cast<std::uint64_t>(stride < 0 ? -stride : stride);
        return distance * units_.bytes >= far_bytes;
    }

    /// True for at least half of a tile.
    [[nodiscard]] bool is_large() const { return row().size >= tile() / 2 && column().size >= tile() / 2; }

    [[nodiscard]] bool has_whole_words() const {
        const auto is_whole = [this](std::int64_t number) {
            return number % static_cast<std::int64_t>(units_per_word()) == 0;
        };
        bool whole = is_whole(static_cast<std::int64_t>(row().size));
        for (const std::size_t a : {MovedUnits::source, MovedUnits::target}) {
            const Dimension& adjacent = a == MovedUnits::source ? column() : row();
            whole = whole && is_whole(units_.starts[a]);
            for (const Dimension& dimension : units_.dimensions) {
                whole = whole && (&dimension == &adjacent || is_whole(dimension.strides[a]));
            }
        }
        return whole;
    }

    [[nodiscard]] TranspositionParameters put_parameters() const {
        const auto modulo_2_32 = [](std::int64_t number) { return static_cast<std::uint32_t>(number); };
        TranspositionParameters parameters;
        parameters.row_size = static_cast<std::uint32_t>(row().size);
        parameters.column_size = static_cast<std::uint32_t>(column().size);
        parameters.source_stride = modulo_2_32(row().strides[MovedUnits::source]);
        parameters.target_stride = modulo_2_32(column().strides[MovedUnits::target]);
        parameters.source_start = modulo_2_32(units_.starts[MovedUnits::source]);
        parameters.target_start = modulo_2_32(units_.starts[MovedUnits::target]);
        parameters.tiles_per_row = static_cast<std::uint32_t>(groups_of(row().size, tile()));
        parameters.tiles_per_column = static_cast<std::uint32_t>(groups_of(column().size, tile()));
        StridedDimensions<MovedUnits::arrays> others;
        for (std::size_t d = 1; d < units_.dimensions.size(); ++d) {
            if (d != column_) {
                others.push_back(units_.dimensions[d]);
            }
        }
        others = merged(others);
        constexpr std::size_t strides_per_row = 3;
        put_rows(strided_rows(others, strides_per_row), std::data(parameters.dimensions));
        parameters.dimension_count = static_cast<std::uint32_t>(others.size());
        parameters.tile_count =
            static_cast<std::uint32_t>(count_of(others)) * parameters.tiles_per_row * parameters.tiles_per_column;
        return parameters;
    }

    const MovedUnits& units_;
    std::size_t column_ = 0;
};

}  // namespace

std::optional<Dispatch> transposition(const MovedUnits& units, BufferRef source, BufferRef target) {
    const Planner planner(units);
    return planner.is_possible() ? std::optional(planner.dispatch(source, target)) : std::nullopt;
}

std::optional<Dispatch> transposition(const core::TensorDesc& from, const core::TensorDesc& to, BufferRef source,
                                      BufferRef target) {
    const core::Strides from_strides = core::signed_strides(from);
    const core::Strides to_strides = core::signed_strides(to);
    MovedUnits units(to.data_type);
    for (std::size_t d = 0; d < to.sizes.size(); ++d) {
        MovedUnits::Strides strides{};
        strides[MovedUnits::source] = from_strides[d];
        strides[MovedUnits::target] = to_strides[d];
        units.add(to.sizes[d], strides);
    }
    units.arrange();
    units.widen();
    return transposition(units, source, target);
}

std::vector<ShaderVariant> transposition_variants() {
    return all_variants("transposition", {{"WIDTH", {8, 16, 32, 64}}});
}

}  // namespace dmlconform::d3d12
