// Tests that FLOAT16 has no wider ranges than it needs: where an operator stores nothing in between, an implementation
// computes in FP32 and rounds once. So a FLOAT16 range ends where the range of the same numbers as FLOAT32 tensors
// does, after rounding each end towards zero or to nearest, as Direct3D allows. The number just outside is rejected.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/core/element.h"
#include "engine/core/strided.h"
#include "engine/cpu/reference.h"
#include "engine/fuzz/case_generator.h"
#include "engine/operators/rules.h"

namespace dmlconform::tests::float16_ranges_test {
namespace {

using core::DataType;
using core::Tensor;
using operators::Descriptor;

constexpr std::uint64_t cases_of_each = 120;

/// Rounds to the nearest number. Ties go away from zero.
double nearest_half(double x) {
    return static_cast<double>(core::Float16(x * (1 + 0x1p-40)));
}

/// The nearest FLOAT16 number to x, or the next one towards zero if that is further away from zero than x.
double truncated_half(double x) {
    const core::Float16 nearest(x);
    return std::fabs(static_cast<double>(nearest)) <= std::fabs(x)
               ? static_cast<double>(nearest)
               : static_cast<double>(core::Float16::from_bits(static_cast<std::uint16_t>(nearest.bits - 1)));
}

/// The same descriptor with FLOAT32 for FLOAT16.
Descriptor as_float32(Descriptor descriptor) {
    const auto change = [](core::TensorDesc& desc) {
        if (desc.data_type == DataType::float16) {
            desc.data_type = DataType::float32;
            desc.total_bytes *= 2;
        }
    };
    for (operators::FieldValue& value : descriptor.values) {
        if (auto* const desc = std::get_if<core::TensorDesc>(&value)) {
            change(*desc);
        } else if (auto* const all = std::get_if<operators::TensorDescArray>(&value)) {
            for (core::TensorDesc& item : all->items) {
                change(item);
            }
        }
    }
    return descriptor;
}

Tensor as_float32(const Tensor& tensor, const core::TensorDesc& desc) {
    Tensor result(desc);
    const core::StridedRuns<1> positions(desc.sizes, {core::signed_strides(desc)});
    positions.for_each_element([&](const auto& at) {
        const auto offset = static_cast<std::uint64_t>(at[0]);
        const double value = core::decode_element(DataType::float16,
                                                  core::load_element(tensor.buffer.bytes(), DataType::float16, offset));
        core::store_element(result.buffer.bytes(), DataType::float32, offset,
                            std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    });
    return result;
}

/// A case's reference, and whether it could be computed.
struct Computed {
    cpu::Reference half;
    cpu::Reference single;
    bool is_valid = false;

    Computed() = default;
    explicit Computed(const cases::Case& subject) {
        const Descriptor& descriptor = *subject.descriptor;
        const Descriptor twin = as_float32(descriptor);
        const auto slots = descriptor.inputs();
        const auto twin_slots = twin.inputs();
        if (operators::validate(twin, core::highest_feature_level) || !descriptor.in_place.empty()) {
            return;
        }
        std::vector<Tensor> inputs(slots.size());
        std::vector<Tensor> twin_inputs(slots.size());
        std::vector<const Tensor*> pointers(slots.size());
        std::vector<const Tensor*> twin_pointers(slots.size());
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i].desc == nullptr || !subject.inputs[i]) {
                continue;
            }
            inputs[i] = Tensor(*slots[i].desc);
            if (!subject.inputs[i]->fill(inputs[i])) {
                return;
            }
            pointers[i] = twin_pointers[i] = &inputs[i];
            if (slots[i].desc->data_type == DataType::float16) {
                twin_inputs[i] = as_float32(inputs[i], *twin_slots[i].desc);
                twin_pointers[i] = &twin_inputs[i];
            }
        }
        half = cpu::compute_reference(descriptor, pointers);
        single = cpu::compute_reference(twin, twin_pointers);
        is_valid = true;
    }
};

std::vector<double> values_in_order(const Tensor& tensor) {
    std::vector<double> values;
    const core::StridedRuns<1> positions(tensor.desc.sizes, {core::signed_strides(tensor.desc)});
    positions.for_each_element([&](const auto& at) {
        values.push_back(core::decode_element(
            tensor.desc.data_type,
            core::load_element(tensor.buffer.bytes(), tensor.desc.data_type, static_cast<std::uint64_t>(at[0]))));
    });
    return values;
}

double end_of(const std::vector<double>& slack, std::size_t i) {
    return slack.empty() ? 0 : slack[i];
}

/// How many elements were compared, and a description of the first one whose range is too wide.
struct Outcome {
    std::size_t compared = 0;
    std::size_t too_wide = 0;
    std::string first;
};

void compare(const Computed& computed, std::size_t output, const std::string& id, Outcome& outcome) {
    const std::vector<double> half = values_in_order(computed.half.outputs[output]);
    const std::vector<double> single = values_in_order(computed.single.outputs[output]);
    const core::ElementSlack& half_slack = computed.half.slack[output];
    const core::ElementSlack& single_slack = computed.single.slack[output];
    for (std::size_t i = 0; i < half.size(); ++i) {
        // The reference's own FLOAT32 result has been rounded once more.
        const double low = single[i] - end_of(single_slack.below, i) - std::fabs(single[i]) * 0x1p-24;
        const double high = single[i] + end_of(single_slack.above, i) + std::fabs(single[i]) * 0x1p-24;
        if (!std::isfinite(half[i]) || !std::isfinite(low) || !std::isfinite(high)) {
            continue;
        }
        const double lowest = std::min(low > 0 ? truncated_half(low) : nearest_half(low), half[i]);
        const double highest = std::max(high < 0 ? truncated_half(high) : nearest_half(high), half[i]);
        const double below = half[i] - end_of(half_slack.below, i);
        const double above = half[i] + end_of(half_slack.above, i);
        ++outcome.compared;
        if ((below < lowest || above > highest) && ++outcome.too_wide == 1) {
            outcome.first =
                fmt::format("{} element {}: {} to {}, and not {} to {}", id, i, below, above, lowest, highest);
        }
    }
}

/// Whether FLOAT16 numbers may be stored in between: the tolerance says so, or a fused activation may have a stored
/// argument, or they are moments that are outputs, too.
bool stores_in_between(const Descriptor& descriptor, const core::Tolerance& tolerance) {
    const bool is_fused =
        descriptor.has_field("FusedActivation") && descriptor.activation("FusedActivation") != nullptr;
    return is_fused || descriptor.schema->short_name() == "ADAM_OPTIMIZER" ||
           tolerance.slack_formula.find("FLOAT16") != std::string_view::npos;
}

Outcome outcome_of(const operators::OperatorSchema& schema) {
    Outcome outcome;
    for (std::uint64_t n = 0; n < cases_of_each && cpu::has_reference(schema); ++n) {
        const auto subject = fuzz::generate(schema, {.seed = 28, .perturbed_percent = 0}, n);
        if (!subject || subject->expect_error) {
            continue;
        }
        const auto outputs = subject->descriptor->outputs();
        std::vector<std::size_t> chosen;
        for (std::size_t o = 0; o < outputs.size(); ++o) {
            if (outputs[o].desc == nullptr || outputs[o].desc->data_type != DataType::float16) {
                continue;
            }
            const core::Tolerance tolerance = cpu::default_tolerance(*subject->descriptor, outputs[o]);
            if (tolerance.element_slack && !stores_in_between(*subject->descriptor, tolerance)) {
                chosen.push_back(o);
            }
        }
        const Computed computed = chosen.empty() ? Computed() : Computed(*subject);
        for (const std::size_t o : chosen) {
            if (computed.is_valid) {
                compare(computed, o, subject->id, outcome);
            }
        }
    }
    return outcome;
}

TEST(Float16Ranges, AreThoseOfFloat32RoundedOnce) {
    std::size_t operators_compared = 0;
    for (const std::string& name : operators::operator_names()) {
        const Outcome outcome = outcome_of(*operators::find_operator(name));
        EXPECT_EQ(outcome.too_wide, 0u) << outcome.first << " (one of " << outcome.compared << ')';
        operators_compared += outcome.compared > 50 ? 1 : 0;
    }
    EXPECT_GE(operators_compared, 60u);
}

}  // namespace
}  // namespace dmlconform::tests::float16_ranges_test
