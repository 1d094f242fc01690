// SLICE1: copies a strided window of elements without interpreting their bits. Equals definitions/movement.cpp.
#include <cstddef>
#include <cstring>

#include "engine/cpu/kernel.h"
#include "engine/cpu/movement/window_start.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu::slice1_kernels {
namespace {

/// For few bytes, a copy in wide registers is faster than std::memcpy.
constexpr std::int64_t least_in_registers = 64;
constexpr std::int64_t most_in_registers = 4096;

void copy_bytes(std::byte* to, const std::byte* from, std::int64_t count) {
    if (count < least_in_registers || count > most_in_registers) {
        std::memcpy(to, from, static_cast<std::size_t>(count));
        return;
    }
    in_wide_segments<least_in_registers>(
        count, [=](std::int64_t first) { std::memcpy(to + first, from + first, least_in_registers); });
}

/// Element has the width of an element, whatever its type.
template <class Element>
void copy_window(const operators::Descriptor& descriptor, const core::Tensor& input, core::Tensor& output) {
    const auto& begins = descriptor.uints("InputWindowOffsets");
    const auto& sizes = descriptor.uints("InputWindowSizes");
    const auto& steps = descriptor.get<std::vector<std::int32_t>>("InputWindowStrides");
    core::Strides from_strides = core::signed_strides(input.desc);
    const core::Strides to_strides = core::signed_strides(output.desc);
    const Element* from = input.as<Element>().data();
    Element* const to = output.as<Element>().data();
    for (std::size_t d = 0; d < from_strides.size(); ++d) {
        const std::int64_t first = movement::window_start(begins[d], sizes[d], steps[d]);
        from += from_strides[d] * first;
        from_strides[d] *= steps[d];
    }
    const core::StridedRuns<2> runs(output.desc.sizes, {from_strides, to_strides});
    const std::int64_t length = runs.run_length();
    const std::int64_t from_step = runs.run_strides()[0];
    const std::int64_t to_step = runs.run_strides()[1];
    parallel_for(runs.run_count(), length, [&](std::int64_t first, std::int64_t last) {
        runs.for_each_run(first, last, [&](const auto& offsets) {
            const Element* source = from + offsets[0];
            Element* target = to + offsets[1];
            if (from_step == 1 && to_step == 1) {
                copy_bytes(reinterpret_cast<std::byte*>(target), reinterpret_cast<const std::byte*>(source),
                           length * std::int64_t{sizeof(Element)});
                return;
            }
            for (std::int64_t i = 0; i < length; ++i) {
                target[i * to_step] = source[i * from_step];
            }
        });
    });
}

void compute(const KernelArguments& arguments) {
    const operators::Descriptor& descriptor = arguments.descriptor;
    const core::Tensor& input = *arguments.inputs[0];
    core::Tensor& output = *arguments.outputs[0];
    switch (core::bytes_of(input.desc.data_type)) {
        case 1:
            return copy_window<std::uint8_t>(descriptor, input, output);
        case 2:
            return copy_window<std::uint16_t>(descriptor, input, output);
        case 4:
            return copy_window<std::uint32_t>(descriptor, input, output);
        default:
            return copy_window<std::uint64_t>(descriptor, input, output);
    }
}

}  // namespace

Kernels kernels() {
    return {{.name = "SLICE1", .compute = compute, .tolerance = exact_tolerance}};
}

}  // namespace dmlconform::cpu::slice1_kernels
