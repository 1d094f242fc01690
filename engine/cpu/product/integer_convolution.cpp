// Convolves bytes. Convolutions with many products per filter element use tiles (integer_blocks.cpp); those with few
// slide the filter over the input.
#include "engine/cpu/product/integer_convolution.h"

#include "engine/cpu/parallel.h"
#include "engine/cpu/product/integer_blocks.h"
#include "engine/cpu/product/unfolded.h"
#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu::product {
namespace {

/// With fewer products for each filter element, tiles would not be filled.
constexpr std::int64_t few_products = 4;
/// The number of sums of a row that are computed together.
constexpr std::int64_t integer_lanes = 32;

/// One thread, which applies the filters of a group to the input of a batch.
class SlidingFilters {
public:
    SlidingFilters(const IntegerConvolution& given, const UnfoldedAxes& axes)
        : given_(given), axes_(axes), shape_(given.convolution.shape()) {
        for (std::int64_t k = 0; k < shape_.depth; ++k) {
            offsets_.push_back(k / axes_.taps() * axes_.size() + axes_.of_tap(k % axes_.taps()));
        }
        const std::int64_t rounded_up = axes_.width.positions + integer_lanes;
        // The last lanes of a row may read beyond its end.
        image_.resize(static_cast<std::size_t>(given.convolution.channels * axes_.size() + integer_lanes));
        factors_.resize(static_cast<std::size_t>(shape_.depth));
        sums_.resize(static_cast<std::size_t>(rounded_up));
        numbers_.resize(static_cast<std::size_t>(axes_.width.positions));
    }

    void convolve(std::int64_t batch, const std::function<void(const Sums&)>& take) {
        for (std::int64_t channel = 0; channel < given_.convolution.channels; ++channel) {
            const std::int64_t first = (batch * given_.convolution.channels + channel) * axes_.elements();
            axes_.lay_out(image_.data() + channel * axes_.size(),
                          [&](std::int64_t element, std::int64_t step, std::int64_t count, std::int32_t* to) {
                              given_.image.load({first + element, step, count}, given_.image_zero_point, to);
                          });
        }
        for (std::int64_t row = 0; row < shape_.rows; ++row) {
            const std::int64_t filter = batch % given_.convolution.groups * shape_.rows + row;
            given_.filters.load({filter * shape_.depth, 1, shape_.depth},
                                given_.filter_zero_points[static_cast<std::size_t>(filter)], factors_.data());
            for (std::int64_t y = 0; y < axes_.height.positions; ++y) {
                slide(axes_.of_row(y));
                std::copy_n(sums_.begin(), axes_.width.positions, numbers_.begin());
                take({batch, row, y * axes_.width.positions, axes_.width.positions, numbers_.data(), nullptr});
            }
        }
    }

private:
    /// Computes all sums of a row of output positions.
    void slide(std::int64_t start) {
        in_wide_registers([from = image_.data() + start, factors = factors_.data(), offsets = offsets_.data(),
                           depth = shape_.depth, positions = axes_.width.positions, sums = sums_.data()] {
            for (std::int64_t position = 0; position < positions; position += integer_lanes) {
                // A constant number of sums, which the compiler keeps in registers.
                std::int32_t sum[integer_lanes] = {};
                for (std::int64_t k = 0; k < depth; ++k) {
                    const std::int32_t factor = factors[k];
                    // Without this condition GCC interchanges the loops and does not vectorise them.
                    if (factor == 0) {
                        continue;
                    }
                    const std::int32_t* const elements = from + offsets[k] + position;
                    for (std::int64_t lane = 0; lane < integer_lanes; ++lane) {
                        sum[lane] += factor * elements[lane];
                    }
                }
                for (std::int64_t lane = 0; lane < integer_lanes; ++lane) {
                    sums[position + lane] = sum[lane];
                }
            }
        });
    }

    const IntegerConvolution& given_;
    const UnfoldedAxes& axes_;
    Shape shape_;
    /// Offsets, relative to the output position, of the elements of all channels that the filter elements see.
    std::vector<std::int64_t> offsets_;
    std::vector<std::int32_t> image_;
    std::vector<std::int32_t> factors_;
    std::vector<std::int32_t> sums_;
    std::vector<double> numbers_;
};

}  // namespace

void convolve(const IntegerConvolution& given, const std::function<void(const Sums&)>& take) {
    const UnfoldedAxes axes(given.convolution);
    const Shape shape = given.convolution.shape();
    const bool slides =
        given.convolution.channels * shape.rows <= few_products && shape.depth <= 2 * most_pairs_in_a_sum;
    if (!slides) {
        multiply_in_blocks(given, axes, take);
        return;
    }
    parallel_for(shape.batches, shape.columns * shape.depth * shape.rows / 4,
                 [&](std::int64_t first, std::int64_t last) {
                     SlidingFilters filters(given, axes);
                     for (std::int64_t batch = first; batch < last; ++batch) {
                         filters.convolve(batch, take);
                     }
                 });
}

}  // namespace dmlconform::cpu::product
