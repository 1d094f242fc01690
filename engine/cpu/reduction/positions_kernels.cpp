// ARGMIN and ARGMAX. With DECREASING, the last of equal elements counts. Equals definitions/reduction.cpp.
#include "engine/cpu/reduction/positions.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::cpu::positions_kernels {
namespace {

Kernel positions(std::string_view name, bool greatest) {
    return {.name = name,
            .compute =
                [greatest](const KernelArguments& arguments) {
                    const auto direction = enumerator<operators::AxisDirection>(arguments.descriptor, "AxisDirection");
                    reduction::find_positions(
                        arguments, {.greatest = greatest, .last = direction == operators::AxisDirection::decreasing});
                },
            .tolerance = [](const operators::Descriptor& descriptor,
                            const operators::TensorSlot&) { return reduction::tolerance_of_positions(descriptor); }};
}

}  // namespace

Kernels kernels() {
    return {positions("ARGMIN", false), positions("ARGMAX", true)};
}

}  // namespace dmlconform::cpu::positions_kernels
