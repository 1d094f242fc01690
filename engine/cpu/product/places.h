// A convolution as a product: filters on the left, and on the right for each place of the output the elements of the
// picture that the filter meets there.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cpu/product/factors.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cpu::product {

/// A filter along one spatial dimension.
struct Axis {
    /// Elements of the picture, of the filter, and of the output.
    std::int64_t elements = 1;
    std::int64_t taps = 1;
    std::int64_t places = 1;
    /// Of the output's, those at the end that no filter stands at.
    std::int64_t output_padding = 0;
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    std::int64_t padding = 0;
    /// Forward, place p meets element p * stride + tap * dilation - padding. Backward it is the other way round:
    /// element e is added to place e * stride + tap * dilation - padding.
    bool backward = false;
};

/// The places at which one tap meets elements: `count` of them, `step` apart. The elements are `element_step` apart.
struct Meetings {
    std::int64_t first = 0;
    std::int64_t step = 1;
    std::int64_t count = 0;
    std::int64_t element = 0;
    std::int64_t element_step = 1;

    /// The element that the place meets, or Factors::nowhere.
    [[nodiscard]] std::int64_t element_at(std::int64_t place) const;
};

/// `tap` counts along the filter, from 0. No places where the tap meets padding only.
[[nodiscard]] Meetings meetings_of(const Axis& axis, std::int64_t tap);

/// What a convolution is made of, besides its numbers. The picture's elements are packed, batches first.
struct Convolution {
    std::int64_t batches = 1;
    std::int64_t groups = 1;
    /// Of one group: channels of the picture and of the output.
    std::int64_t channels = 1;
    std::int64_t output_channels = 1;
    std::vector<Axis> axes;

    /// As the descriptor of an operator that convolves has it.
    [[nodiscard]] static Convolution of(const operators::Descriptor& descriptor);

    [[nodiscard]] Shape shape() const;
};

/// Batches of the product are the groups of all batches.
class ConvolutionFactors final : public Factors {
public:
    /// `filters` are {groups, output channels, channels, taps}.
    ConvolutionFactors(const Convolution& convolution, Numbers filters, Numbers picture);

    [[nodiscard]] std::int64_t right_index(std::int64_t batch, std::int64_t k, std::int64_t column) const override;
    void load_right(const std::vector<double>& from, std::int64_t batch, std::int64_t k, std::int64_t column,
                    std::int64_t count, double* to) const override;
    void add_right(const std::vector<double>& from, std::int64_t batch, std::int64_t k, std::int64_t column,
                   std::int64_t count, double factor, double* sums) const override;
    void add_row(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t count,
                 double* sums) const override;
    [[nodiscard]] std::int64_t terms(std::int64_t column) const override;

private:
    /// For one k: where the channel's elements start, and what its tap meets along each dimension.
    struct Tap {
        std::int64_t start = 0;
        std::vector<const Meetings*> meetings;
    };
    /// Of so many places of the output, from one column on: calls visit(element, place, places, meetings) for each
    /// stretch that meets elements, with where the first of the elements is, which of the places is the first, and how
    /// many there are.
    template <class Visit>
    void for_each_meeting(std::int64_t batch, std::int64_t k, std::int64_t column, std::int64_t count,
                          const Visit& visit) const;
    [[nodiscard]] Tap tap_of(std::int64_t batch, std::int64_t k) const;
    /// The row of the picture that places on this row of the output meet, or nowhere.
    [[nodiscard]] std::int64_t row_of(const Tap& tap, std::int64_t row) const;

    Convolution convolution_;
    /// By dimension and tap.
    std::vector<std::vector<Meetings>> meetings_;
    /// By dimension and place: how many taps meet an element there.
    std::vector<std::vector<std::int64_t>> counts_;
    /// Elements of a channel of the picture.
    std::int64_t channel_size_ = 1;
};

}  // namespace dmlconform::cpu::product
