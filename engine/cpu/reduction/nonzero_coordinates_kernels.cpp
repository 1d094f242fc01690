// NONZERO_COORDINATES: coordinates and number of the elements that are not zero. The number decides how many
// coordinates are meaningful. Equals definitions/reduction.cpp.
#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/kernel.h"
#include "engine/cpu/movement/move.h"

namespace dmlconform::cpu::nonzero_coordinates_kernels {
namespace {

/// True for +0 and -0. NaN and subnormal numbers are not zero.
bool is_zero(core::DataType type, std::uint64_t bits) {
    const unsigned sign = core::is_floating_point(type) ? 1 : 0;
    return (bits << sign & (~std::uint64_t{0} >> (64 - core::bits_of(type)))) == 0;
}

void compute(const KernelArguments& arguments) {
    const core::Tensor& input = *arguments.inputs[0];
    core::Tensor& count_tensor = *arguments.outputs[0];
    core::Tensor& coordinates = *arguments.outputs[1];
    const core::DataType type = input.desc.data_type;
    const core::StridedRuns<1> written_runs(coordinates.desc.sizes, {core::signed_strides(coordinates.desc)});
    const std::size_t kept = coordinates.desc.sizes.back();
    const movement::Rows rows(input.desc);
    std::uint64_t written = 0;
    const auto put = [&](std::int64_t coordinate) {
        const auto at = static_cast<std::size_t>(written_runs.offsets_of(static_cast<std::int64_t>(written++))[0]);
        coordinates.as<std::uint32_t>()[at] = static_cast<std::uint32_t>(coordinate);
    };
    rows.for_each(0, rows.count(), [&](movement::Coordinates at, std::int64_t address, std::int64_t /*number*/) {
        Unsigned element;
        element_wise::load_bits(input.buffer.bytes(), {type, address, 0}, 1, &element);
        if (!is_zero(type, element.value)) {
            std::ranges::for_each(at.last(kept), put);
        }
    });
    count_tensor.as<std::uint32_t>()[0] = static_cast<std::uint32_t>(written / kept);
    if (!arguments.slack.empty()) {
        arguments.slack[1].meaningful = written;
    }
    // The remaining coordinates are meaningless, but always the same.
    const std::uint64_t all = *core::element_count(coordinates.desc.sizes);
    while (written < all) {
        put(0);
    }
}

core::Tolerance tolerance(const operators::Descriptor& /*descriptor*/, const operators::TensorSlot& output) {
    core::Tolerance tolerance;
    tolerance.exact = true;
    tolerance.meaningful_part = output.name == "OutputCoordinatesTensor";
    return tolerance;
}

}  // namespace

Kernels kernels() {
    return {{.name = "NONZERO_COORDINATES", .compute = compute, .tolerance = tolerance}};
}

}  // namespace dmlconform::cpu::nonzero_coordinates_kernels
