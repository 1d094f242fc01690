// Windows over all dimensions of a tensor: along batches, and often along channels, they have one place and slide by
// one, so that every dimension is treated alike.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/cpu/movement/move.h"
#include "engine/cpu/window/axis.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cpu::window {

using movement::Coordinates;

/// Addresses are in elements, by the strides that are given.
class Windows {
public:
    /// The windows of a pooling of `picture`, which stop once for each element of `stops`.
    [[nodiscard]] static Windows of_pooling(const operators::Descriptor& descriptor, const core::TensorDesc& picture,
                                            const core::TensorDesc& stops);

    /// The regions of local response normalisation, which stop at each element. Mirrored, the windows at an element are
    /// the elements whose regions it is in.
    [[nodiscard]] static Windows of_regions(const operators::Descriptor& descriptor, const core::TensorDesc& tensor,
                                            bool mirrored = false);

    [[nodiscard]] std::size_t rank() const { return axes_.size(); }
    [[nodiscard]] const Axis& axis(std::size_t d) const { return axes_[d]; }

    /// Of the window that stops there, padding aside or included; as numbers that divide.
    [[nodiscard]] double places_inside(Coordinates stop) const;
    [[nodiscard]] double places_with_padding(Coordinates stop) const;
    /// Roughly how many places windows have at elements, at most.
    [[nodiscard]] std::int64_t most_inside() const;

    /// Calls visit(address, number) for the start of each row of the picture that the window sees, in row-major order;
    /// rows are along the last dimension, `number` is that of the row's first element among all elements.
    template <class Visit>
    void for_each_row(Coordinates stop, const core::Strides& strides, const Visit& visit, std::size_t d = 0,
                      std::int64_t address = 0, std::int64_t number = 0) const {
        const Axis& axis = axes_[d];
        if (d + 1 == rank()) {
            visit(address, number * axis.elements);
            return;
        }
        const Range inside = axis.places_inside(stop[d]);
        for (std::int64_t place = inside.first; place < inside.last; ++place) {
            const std::int64_t element = axis.element(stop[d], place);
            for_each_row(stop, strides, visit, d + 1, address + element * strides[d], number * axis.elements + element);
        }
    }

    /// Calls visit(stop) for each stop at which the window has a place at the element. The coordinates of the stop last
    /// as long as the call.
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
        axes_[d].for_each_stop_at(element[d], [&](std::int64_t at, std::int64_t /*place*/) {
            stop[d] = at;
            visit_stops(element, visit, stop, d + 1);
        });
    }

    std::vector<Axis> axes_;
};

}  // namespace dmlconform::cpu::window
