// Windows over all dimensions of a tensor. Along batches, and often along channels, a window has size 1 and stride 1,
// so that all dimensions are treated alike.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/cpu/movement/move.h"
#include "engine/cpu/window/axis.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cpu::window {

using movement::Coordinates;

/// Addresses are in elements, by the given strides.
class Windows {
public:
    /// The windows of a pooling of `image`, with one position for each element of `stops`.
    [[nodiscard]] static Windows of_pooling(const operators::Descriptor& descriptor, const core::TensorDesc& image,
                                            const core::TensorDesc& stops);

    /// The regions of local response normalisation, one for each element. If mirrored, the window of an element has the
    /// elements whose regions contain it.
    [[nodiscard]] static Windows of_regions(const operators::Descriptor& descriptor, const core::TensorDesc& tensor,
                                            bool mirrored = false);

    [[nodiscard]] std::size_t rank() const { return axes_.size(); }
    [[nodiscard]] const Axis& axis(std::size_t d) const { return axes_[d]; }

    /// The number of elements in the window at that position, without or with padding, as a divisor.
    [[nodiscard]] double elements_inside(Coordinates stop) const;
    [[nodiscard]] double elements_with_padding(Coordinates stop) const;
    /// The approximate maximum number of input elements in a window.
    [[nodiscard]] std::int64_t most_inside() const;

    /// Calls visit(address, number) for the start of each row of the input that the window covers, in row-major order.
    /// Rows are along the last dimension; `number` is the row-major index of the row's first element.
    template <class Visit>
    void for_each_row(Coordinates stop, const core::Strides& strides, const Visit& visit, std::size_t d = 0,
                      std::int64_t address = 0, std::int64_t number = 0) const {
        const Axis& axis = axes_[d];
        if (d + 1 == rank()) {
            visit(address, number * axis.elements);
            return;
        }
        const Range inside = axis.elements_inside(stop[d]);
        for (std::int64_t tap = inside.first; tap < inside.last; ++tap) {
            const std::int64_t element = axis.element(stop[d], tap);
            for_each_row(stop, strides, visit, d + 1, address + element * strides[d], number * axis.elements + element);
        }
    }

    /// Calls visit(stop) for each position at which the window covers the element. The coordinates are valid during the
    /// call.
    template <class Visit>
    void for_each_stop_at(Coordinates element, const Visit& visit) const {
        std::vector<std::int64_t> stop(rank());
        visit_stops(element, visit, stop, 0);
    }

private:
    template <class Visit>
    void visit_stops(Coordinates element, const Visit& visit, std::vector<std::int64_t>& stop, std::size_t d) const {
        if (d == rank()) {
            visit(Coordinates(stop));
            return;
        }
        axes_[d].for_each_stop_at(element[d], [&](std::int64_t at, std::int64_t /*tap*/) {
            stop[d] = at;
            visit_stops(element, visit, stop, d + 1);
        });
    }

    std::vector<Axis> axes_;
};

}  // namespace dmlconform::cpu::window
