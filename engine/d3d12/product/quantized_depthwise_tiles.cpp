// Selects tiles for quantised depthwise convolutions.
#include "engine/d3d12/product/quantized_depthwise_tiles.h"

#include <algorithm>

#include "engine/core/tensor_desc.h"
#include "engine/d3d12/planning/dispatch_plan.h"
#include "shaders/product/quantized_depthwise_parameters.hlsli"

namespace dmlconform::d3d12 {
namespace {

using Axis = QuantizedConvolution::Axis;

/// Output columns that a thread computes, and filter elements that it processes at once.
constexpr std::uint64_t four = 4;
/// Limit for the dilation: the filter is expanded with zeros between its elements.
constexpr std::uint32_t most_dilation = 8;
/// Maximum width in groups of four columns, if there is a choice.
constexpr std::uint64_t widest = 32;
/// The shader uses signed numbers for positions in the input or to its left.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 31;

constexpr std::uint64_t thread_rows = DEPTHWISE_THREAD_ROWS;

std::uint64_t reach_of(const Axis& axis) {
    return std::uint64_t{axis.filter - 1} * axis.dilation + 1;
}

/// The size of equal parts, none of which is larger than `most`.
std::uint64_t part_of(std::uint64_t whole, std::uint64_t most) {
    return groups_of(whole, groups_of(whole, most));
}

std::uint64_t whole_turns(std::uint64_t rows) {
    return groups_of(rows, thread_rows) * thread_rows;
}

bool is_possible(const QuantizedConvolution& op) {
    return op.taps() <= DEPTHWISE_EXACT_TAPS && op.width.stride <= 2 &&
           (op.width.dilation <= most_dilation || op.width.filter == 1) && core::is_packed(op.output) &&
           core::effective_strides(op.input).back() == 1 && *core::minimum_total_bytes(op.input) < most_bytes;
}

/// Searches the tiles for one convolution.
class Tiling {
public:
    explicit Tiling(const QuantizedConvolution& op)
        : height_(op.height), width_(op.width), channels_(op.output_channels()) {
        tile_.row_taps = groups_of(reach_of(width_), four);
    }

    [[nodiscard]] std::optional<DepthwiseTile> best() {
        const std::uint64_t fours = groups_of(width_.output, four);
        // Rows that are not multiples of a word must be written together.
        const bool is_divisible = width_.output % four == 0;
        for (std::uint64_t most = is_divisible ? std::min(fours, widest) : fours; most > 0; most /= 2) {
            tile_.fours = part_of(fours, most);
            if (find_rows()) {
                find_channels(fours);
                return tile_;
            }
            if (!is_divisible) {
                break;
            }
        }
        return std::nullopt;
    }

private:
    [[nodiscard]] bool fits() {
        tile_.input_rows = (tile_.rows - 1) * height_.stride + reach_of(height_);
        tile_.input_segments = groups_of((tile_.fours * width_.stride + tile_.row_taps) * four, DEPTHWISE_SEGMENT);
        // Each thread reads a segment. There are more segments than threads that compute outputs.
        return tile_.channels * height_.filter * tile_.row_taps <= DEPTHWISE_TAP_FOURS &&
               tile_.channels <= DEPTHWISE_CHANNELS && tile_.segments() <= group_size;
    }

    /// Finds the fewest rows per tile that lead to the smallest possible number of tiles. Reading a segment takes about
    /// as long as processing a filter element without tiles.
    [[nodiscard]] bool find_rows() {
        const std::uint64_t most = std::min<std::uint64_t>(height_.output, group_size * thread_rows);
        tile_.rows = whole_turns(most);
        while (tile_.rows > 0 && !fits()) {
            tile_.rows -= thread_rows;
        }
        if (tile_.rows == 0) {
            return false;
        }
        tile_.rows = whole_turns(part_of(height_.output, tile_.rows));
        const std::uint64_t taps = std::uint64_t{height_.filter} * width_.filter;
        return fits() && tile_.segments() <= taps * tile_.rows * tile_.fours;
    }

    /// Several small channels share a tile.
    void find_channels(std::uint64_t fours) {
        if (tile_.rows < height_.output || tile_.fours < fours) {
            return;
        }
        while (tile_.channels < channels_ && fits()) {
            ++tile_.channels;
        }
        if (!fits()) {
            --tile_.channels;
        }
        tile_.channels = part_of(channels_, tile_.channels);
    }

    const Axis& height_;
    const Axis& width_;
    std::uint64_t channels_;
    DepthwiseTile tile_;
};

}  // namespace

QuantizedConvolution::QuantizedConvolution(const operators::Descriptor& descriptor)
    : input(*descriptor.tensor("InputTensor")),
      filter(*descriptor.tensor("FilterTensor")),
      output(*descriptor.tensor("OutputTensor")),
      groups(descriptor.uint("GroupCount")) {
    // Attributes have an entry for the height even if tensors do not.
    Axis* const axes[] = {&width, &height};
    for (std::size_t i = 0; i + 2 < input.sizes.size(); ++i) {
        const auto of = [i](const std::vector<std::uint32_t>& numbers) { return numbers[numbers.size() - 1 - i]; };
        *axes[i] = {.input = of(input.sizes),
                    .filter = of(filter.sizes),
                    .output = of(output.sizes),
                    .stride = of(descriptor.uints("Strides")),
                    .dilation = of(descriptor.uints("Dilations")),
                    .padding = of(descriptor.uints("StartPadding"))};
    }
}

std::uint64_t DepthwiseTile::turns() const {
    return rows / thread_rows;
}

std::optional<DepthwiseTile> depthwise_tile(const QuantizedConvolution& op) {
    if (!is_possible(op)) {
        return std::nullopt;
    }
    return Tiling(op).best();
}

}  // namespace dmlconform::d3d12
