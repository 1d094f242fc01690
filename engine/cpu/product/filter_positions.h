// A convolution as a matrix product (im2col): filters on the left; on the right, each column has the input elements
// that the filter sees at one output position.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/cpu/product/factors.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cpu::product {

/// A filter along one spatial dimension.
struct Axis {
    /// Sizes of the input, of the filter, and of the output.
    std::int64_t elements = 1;
    std::int64_t taps = 1;
    std::int64_t positions = 1;
    /// Output elements at the end that no filter position covers.
    std::int64_t output_padding = 0;
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    std::int64_t padding = 0;
    /// Forward, output position p sees element p * stride + tap * dilation - padding. Backward, element e is added to
    /// output position e * stride + tap * dilation - padding.
    bool backward = false;
};

/// The output positions at which a filter element sees input elements: `count` of them, `step` apart. The input
/// elements are `element_step` apart.
struct Meetings {
    std::int64_t first = 0;
    std::int64_t step = 1;
    std::int64_t count = 0;
    std::int64_t element = 0;
    std::int64_t element_step = 1;

    /// The input element that the output position sees, or Factors::nowhere.
    [[nodiscard]] std::int64_t element_at(std::int64_t position) const;
};

/// `tap` is the index along the filter. The result is empty if the filter element only sees padding.
[[nodiscard]] Meetings meetings_of(const Axis& axis, std::int64_t tap);

/// The shape of a convolution. Input elements are packed, with batches outermost.
struct Convolution {
    std::int64_t batches = 1;
    std::int64_t groups = 1;
    /// Channels of the input and of the output in one group.
    std::int64_t channels = 1;
    std::int64_t output_channels = 1;
    std::vector<Axis> axes;

    /// Reads the shape from the descriptor of a convolution.
    [[nodiscard]] static Convolution of(const operators::Descriptor& descriptor);

    [[nodiscard]] Shape shape() const;
};

/// A convolution as the factors of a product. Batches of the product are the groups of all batches.
class ConvolutionFactors final : public Factors {
public:
    /// `filters` are {groups, output channels, channels, taps}.
    ConvolutionFactors(const Convolution& convolution, Numbers filters, Numbers image);

    [[nodiscard]] std::int64_t right_index(std::int64_t batch, std::int64_t k, std::int64_t column) const override;
    [[nodiscard]] Repetition repetition() const override {
        return {shape().depth / convolution_.channels, channel_size_, convolution_.channels * channel_size_};
    }
    void find_right(std::int64_t batch, std::int64_t k, std::int64_t column, std::int64_t count,
                    std::vector<RightSegment>& segments) const override;
    void add_right(const Elements& from, std::int64_t batch, std::int64_t k, std::int64_t column, std::int64_t count,
                   double factor, double* sums) const override;
    void add_row(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t count,
                 double* sums) const override;
    [[nodiscard]] std::int64_t terms(std::int64_t column) const override {
        return terms_[static_cast<std::size_t>(column)];
    }

private:
    /// For one k: the start of the channel's elements, and what the filter element sees along each dimension.
    struct Tap {
        std::int64_t start = 0;
        std::array<const Meetings*, core::max_dimension_count> meetings = {};
    };
    /// Splits `count` output positions, from a column on, into segments that see input elements. Calls visit(element,
    /// position, positions, meetings) for each: the index of the first element, the index of the first position, and
    /// the number of positions.
    template <class Visit>
    void for_each_meeting(std::int64_t batch, std::int64_t k, std::int64_t column, std::int64_t count,
                          const Visit& visit) const;
    [[nodiscard]] Tap tap_of(std::int64_t batch, std::int64_t k) const;
    template <class T>
    void slide_over(const T* image, std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t count,
                    double* sums) const;
    /// The row of the input that the filter row sees from this output row, or `nowhere`.
    [[nodiscard]] std::int64_t row_of(const Tap& tap, std::int64_t row) const;

    Convolution convolution_;
    /// Indexed by dimension and filter element.
    std::vector<std::vector<Meetings>> meetings_;
    /// For each column, the number of terms in its sums.
    std::vector<std::int64_t> terms_;
    /// The number of elements in a channel of the input.
    std::int64_t channel_size_ = 1;
};

}  // namespace dmlconform::cpu::product
