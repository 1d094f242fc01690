// Layouts of an unfolded dimension.
#include "engine/cpu/product/unfolded.h"

namespace dmlconform::cpu::product {

UnfoldedAxis::UnfoldedAxis(const Axis& axis, bool inner)
    : positions(axis.positions), taps(axis.taps), elements(axis.elements) {
    const std::int64_t reach = (axis.positions - 1) * axis.stride + (axis.taps - 1) * axis.dilation + 1;
    if ((inner && axis.stride != 1) || axis.taps * axis.positions < reach) {
        size = axis.taps * axis.positions;
        tap_step = axis.positions;
        for (std::int64_t tap = 0; tap < axis.taps; ++tap) {
            const Meetings meetings = meetings_of(axis, tap);
            if (meetings.count > 0) {
                runs.push_back(
                    {tap * axis.positions + meetings.first, meetings.element, meetings.element_step, meetings.count});
            }
        }
        return;
    }
    size = reach;
    position_step = axis.stride;
    tap_step = axis.dilation;
    if (axis.padding < reach) {
        runs.push_back({axis.padding, 0, 1, std::min(axis.elements, reach - axis.padding)});
    }
}

std::int64_t UnfoldedAxis::element_at(std::int64_t position) const {
    for (const Run& run : runs) {
        if (position >= run.position && position < run.position + run.count) {
            return run.element + (position - run.position) * run.element_step;
        }
    }
    return Factors::nowhere;
}

UnfoldedAxes::UnfoldedAxes(const Convolution& convolution)
    : height(convolution.axes.size() == 1 ? Axis() : convolution.axes[convolution.axes.size() - 2], false),
      width(convolution.axes.back(), true) {}

}  // namespace dmlconform::cpu::product
