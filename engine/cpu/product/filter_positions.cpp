// Computes which input elements each filter element sees.
#include "engine/cpu/product/filter_positions.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/cpu/product/sliding.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::cpu::product {
namespace {

// Divisions take long, and most filters have a step of 1.

std::int64_t rounded_up_quotient(std::int64_t a, std::int64_t b) {
    return a <= 0 ? 0 : b == 1 ? a : (a + b - 1) / b;
}

std::int64_t product_of(const std::vector<Axis>& axes, std::int64_t Axis::*number) {
    std::int64_t product = 1;
    for (const Axis& axis : axes) {
        product *= axis.*number;
    }
    return product;
}

}  // namespace

std::int64_t Meetings::element_at(std::int64_t position) const {
    const std::int64_t from = position - first;
    if (step == 1) {
        return from < 0 || from >= count ? Factors::nowhere : element + from * element_step;
    }
    if (from < 0 || from % step != 0 || from / step >= count) {
        return Factors::nowhere;
    }
    return element + from / step * element_step;
}

Meetings meetings_of(const Axis& axis, std::int64_t tap) {
    const std::int64_t positions = axis.positions - axis.output_padding;
    const std::int64_t offset = tap * axis.dilation - axis.padding;
    Meetings meetings;
    if (axis.backward) {
        meetings.step = axis.stride;
        meetings.element = rounded_up_quotient(-offset, axis.stride);
        meetings.first = meetings.element * axis.stride + offset;
        meetings.count =
            std::min(axis.elements - meetings.element, rounded_up_quotient(positions - meetings.first, axis.stride));
    } else {
        meetings.element_step = axis.stride;
        meetings.first = rounded_up_quotient(-offset, axis.stride);
        meetings.element = meetings.first * axis.stride + offset;
        meetings.count =
            std::min(positions - meetings.first, rounded_up_quotient(axis.elements - meetings.element, axis.stride));
    }
    meetings.count = std::max<std::int64_t>(meetings.count, 0);
    return meetings;
}

/// Tensors of three dimensions may have two entries for their single spatial dimension; they have height 1.
Convolution Convolution::of(const operators::Descriptor& descriptor) {
    const core::Dimensions& input = descriptor.sizes("InputTensor");
    const core::Dimensions& filter = descriptor.sizes("FilterTensor");
    const core::Dimensions& output = descriptor.sizes("OutputTensor");
    const auto has = [&](const char* field) { return descriptor.has_field(field); };
    using Direction = operators::ConvolutionDirection;
    const std::int64_t groups = descriptor.uint("GroupCount");
    Convolution convolution{.batches = input[0],
                            .groups = groups,
                            .channels = input[1] / groups,
                            .output_channels = output[1] / groups,
                            .axes = {}};
    const std::size_t spatial = input.size() - 2;
    for (std::size_t d = 0; d < spatial; ++d) {
        const std::size_t entry = d + descriptor.uint("DimensionCount") - spatial;
        convolution.axes.push_back(
            {.elements = input[d + 2],
             .taps = filter[d + 2],
             .positions = output[d + 2],
             .output_padding = has("OutputPadding") ? descriptor.uints("OutputPadding")[entry] : 0,
             .stride = descriptor.uints("Strides")[entry],
             .dilation = descriptor.uints("Dilations")[entry],
             .padding = descriptor.uints("StartPadding")[entry],
             .backward = has("Direction") && enumerator<Direction>(descriptor, "Direction") == Direction::backward});
    }
    return convolution;
}

Shape Convolution::shape() const {
    return {.batches = batches * groups,
            .rows = output_channels,
            .depth = channels * product_of(axes, &Axis::taps),
            .columns = product_of(axes, &Axis::positions)};
}

ConvolutionFactors::ConvolutionFactors(const Convolution& convolution, Numbers filters, Numbers image)
    : Factors(convolution.shape(), std::move(filters), std::move(image)),
      convolution_(convolution),
      channel_size_(product_of(convolution.axes, &Axis::elements)) {
    // For each output position along the dimensions so far, the number of filter elements that see an input element.
    terms_ = {convolution.channels};
    for (const Axis& axis : convolution_.axes) {
        std::vector<Meetings>& meetings = meetings_.emplace_back();
        std::vector<std::int64_t> counts(static_cast<std::size_t>(axis.positions), 0);
        for (std::int64_t tap = 0; tap < axis.taps; ++tap) {
            const Meetings& one = meetings.emplace_back(meetings_of(axis, tap));
            for (std::int64_t i = 0; i < one.count; ++i) {
                ++counts[static_cast<std::size_t>(one.first + i * one.step)];
            }
        }
        std::vector<std::int64_t> terms;
        for (const std::int64_t before : terms_) {
            std::ranges::transform(counts, std::back_inserter(terms), [&](auto count) { return before * count; });
        }
        terms_ = std::move(terms);
    }
}

ConvolutionFactors::Tap ConvolutionFactors::tap_of(std::int64_t batch, std::int64_t k) const {
    Tap tap;
    for (std::size_t d = meetings_.size(); d-- > 0;) {
        const std::int64_t taps = convolution_.axes[d].taps;
        tap.meetings[d] = &meetings_[d][static_cast<std::size_t>(k % taps)];
        k /= taps;
    }
    // The remainder of k is the channel. Batches of the product are ordered by channel group.
    tap.start = (batch * convolution_.channels + k) * channel_size_;
    return tap;
}

std::int64_t ConvolutionFactors::row_of(const Tap& tap, std::int64_t row) const {
    std::int64_t result = 0;
    std::int64_t size = 1;
    for (std::size_t d = meetings_.size() - 1; d-- > 0;) {
        const Axis& axis = convolution_.axes[d];
        const std::int64_t above = d == 0 ? 0 : row / axis.positions;
        const std::int64_t element = tap.meetings[d]->element_at(row - above * axis.positions);
        if (element == nowhere) {
            return nowhere;
        }
        result += element * size;
        size *= axis.elements;
        row = above;
    }
    return result;
}

std::int64_t ConvolutionFactors::right_index(std::int64_t batch, std::int64_t k, std::int64_t column) const {
    const Tap tap = tap_of(batch, k);
    const Axis& inner = convolution_.axes.back();
    const std::int64_t row = row_of(tap, column / inner.positions);
    const std::int64_t element = tap.meetings[meetings_.size() - 1]->element_at(column % inner.positions);
    return row == nowhere || element == nowhere ? nowhere : tap.start + row * inner.elements + element;
}

template <class Visit>
void ConvolutionFactors::for_each_meeting(std::int64_t batch, std::int64_t k, std::int64_t column, std::int64_t count,
                                          const Visit& visit) const {
    const Tap tap = tap_of(batch, k);
    const Axis& inner = convolution_.axes.back();
    const Meetings& meetings = *tap.meetings[meetings_.size() - 1];
    std::int64_t row = column / inner.positions;
    std::int64_t first = column % inner.positions;
    for (std::int64_t done = 0; done < count; ++row, first = 0) {
        const std::int64_t last = std::min(inner.positions, first + count - done);
        if (const std::int64_t above = row_of(tap, row); above != nowhere) {
            const std::int64_t begin = rounded_up_quotient(first - meetings.first, meetings.step);
            const std::int64_t end =
                std::min(meetings.count, rounded_up_quotient(last - meetings.first, meetings.step));
            if (begin < end) {
                visit(tap.start + above * inner.elements + meetings.element + begin * meetings.element_step,
                      done - first + meetings.first + begin * meetings.step, end - begin, meetings);
            }
        }
        done += last - first;
    }
}

/// Rows that follow each other without padding become one segment.
void ConvolutionFactors::find_right(std::int64_t batch, std::int64_t k, std::int64_t column, std::int64_t count,
                                    std::vector<RightSegment>& segments) const {
    for_each_meeting(
        batch, k, column, count,
        [&](std::int64_t element, std::int64_t position, std::int64_t positions, const Meetings& meetings) {
            if (!segments.empty() && meetings.step == 1 && meetings.element_step == 1) {
                RightSegment& last = segments.back();
                if (last.position + last.count == position && last.element + last.count == element) {
                    last.count += positions;
                    return;
                }
            }
            segments.push_back(RightSegment{position, meetings.step, element, meetings.element_step, positions});
        });
}

void ConvolutionFactors::add_right(const Elements& from, std::int64_t batch, std::int64_t k, std::int64_t column,
                                   std::int64_t count, double factor, double* sums) const {
    for_each_meeting(
        batch, k, column, count,
        [&](std::int64_t element, std::int64_t position, std::int64_t positions, const Meetings& meetings) {
            from.add_products(element, meetings.element_step, positions, factor, sums + position, meetings.step);
        });
}

/// Filters with stride 1 along the last dimension slide over rows.
void ConvolutionFactors::add_row(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t count,
                                 double* sums) const {
    const Axis& inner = convolution_.axes.back();
    if (inner.backward || inner.stride != 1 || inner.output_padding != 0) {
        Factors::add_row(batch, row, column, count, sums);
        return;
    }
    right().elements().visit([&](const auto* image) { slide_over(image, batch, row, column, count, sums); });
}

template <class T>
void ConvolutionFactors::slide_over(const T* image, std::int64_t batch, std::int64_t row, std::int64_t column,
                                    std::int64_t count, double* sums) const {
    const Axis& inner = convolution_.axes.back();
    const Sliding sliding{inner.elements, inner.taps, inner.dilation, inner.padding};
    std::vector<Tap> taps;
    for (std::int64_t k = 0; k < shape().depth; k += inner.taps) {
        taps.push_back(tap_of(batch, k));
    }
    std::vector<double> factors(static_cast<std::size_t>(shape().depth));
    left().elements().copy(static_cast<std::int64_t>(left_index(batch, row, 0)), shape().depth, factors.data());
    std::vector<SlidingRow<T>> rows;
    for (std::int64_t done = 0; done < count;) {
        const std::int64_t first = (column + done) % inner.positions;
        const std::int64_t last = std::min(inner.positions, first + count - done);
        rows.clear();
        for (std::size_t t = 0; t < taps.size(); ++t) {
            const std::int64_t above = row_of(taps[t], (column + done) / inner.positions);
            if (above != nowhere) {
                rows.push_back({image + taps[t].start + above * inner.elements,
                                factors.data() + static_cast<std::int64_t>(t) * inner.taps});
            }
        }
        slide(sliding, std::span<const SlidingRow<T>>(rows), first, last, sums + done);
        done += last - first;
    }
}

}  // namespace dmlconform::cpu::product
