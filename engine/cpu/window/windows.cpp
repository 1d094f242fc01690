// Reads windows from descriptors.
#include "engine/cpu/window/windows.h"

namespace dmlconform::cpu::window {

Windows Windows::of_pooling(const operators::Descriptor& descriptor, const core::TensorDesc& image,
                            const core::TensorDesc& stops) {
    const bool dilated = descriptor.has_field("Dilations");
    Windows windows;
    for (std::size_t d = 0; d < image.sizes.size(); ++d) {
        Axis axis{.stops = stops.sizes[d], .elements = image.sizes[d]};
        if (d >= 2) {
            axis.taps = descriptor.uints("WindowSize")[d - 2];
            axis.dilation = dilated ? descriptor.uints("Dilations")[d - 2] : 1;
            axis.stride = descriptor.uints("Strides")[d - 2];
            axis.padding = descriptor.uints("StartPadding")[d - 2];
            axis.end_padding = descriptor.uints("EndPadding")[d - 2];
        }
        windows.axes_.push_back(axis);
    }
    return windows;
}

Windows Windows::of_regions(const operators::Descriptor& descriptor, const core::TensorDesc& tensor, bool mirrored) {
    const std::int64_t taps = descriptor.uint("LocalSize");
    const bool across = descriptor.uint("CrossChannel") != 0;
    // Measured on DirectML 1.15.4: if the number of elements is even, there is one more after the centre than before.
    const std::int64_t in_front = (taps - 1) / 2;
    Windows windows;
    for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
        Axis axis{.stops = tensor.sizes[d], .elements = tensor.sizes[d]};
        if (across ? d == 1 : d >= 2) {
            axis.taps = taps;
            axis.padding = mirrored ? taps - 1 - in_front : in_front;
        }
        windows.axes_.push_back(axis);
    }
    return windows;
}

double Windows::elements_inside(Coordinates stop) const {
    double product = 1;
    for (std::size_t d = 0; d < rank(); ++d) {
        product *= static_cast<double>(axes_[d].elements_inside(stop[d]).count());
    }
    return product;
}

double Windows::elements_with_padding(Coordinates stop) const {
    double product = 1;
    for (std::size_t d = 0; d < rank(); ++d) {
        product *= static_cast<double>(axes_[d].elements_with_padding(stop[d]));
    }
    return product;
}

std::int64_t Windows::most_inside() const {
    constexpr std::int64_t enough = 1'000'000;
    std::int64_t product = 1;
    for (const Axis& axis : axes_) {
        product = std::min(product * std::min({axis.taps, axis.elements, enough}), enough);
    }
    return product;
}

}  // namespace dmlconform::cpu::window
