// Computes references in FLOAT32 for tensors of FLOAT16, and lists elements as numbers.
#include "engine/run/output_elements.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <variant>

#include "engine/cases/filled_inputs.h"
#include "engine/compare/beyond.h"
#include "engine/core/element.h"
#include "engine/core/float16.h"
#include "engine/core/floating_format.h"
#include "engine/cpu/variants.h"
#include "engine/operators/rules.h"
#include "engine/run/blank_output.h"
#include "engine/run/case_values.h"
#include "engine/run/reference_source.h"

namespace dmlconform::run {
namespace {

using Lists = std::vector<std::vector<double>>;

void widen_desc(core::TensorDesc& desc) {
    if (desc.data_type == core::DataType::float16) {
        desc = core::TensorDesc::packed(core::DataType::float32, desc.sizes);
    }
}

/// The descriptor with packed tensors of FLOAT32 in place of those of FLOAT16.
operators::Descriptor widened(const operators::Descriptor& descriptor) {
    operators::Descriptor wide = descriptor;
    for (operators::FieldValue& value : wide.values) {
        if (auto* const desc = std::get_if<core::TensorDesc>(&value)) {
            widen_desc(*desc);
        } else if (auto* const list = std::get_if<operators::TensorDescArray>(&value)) {
            for (core::TensorDesc& item : list->items) {
                widen_desc(item);
            }
        }
    }
    return wide;
}

/// The tensor as a packed one of FLOAT32.
core::Tensor widened(const core::Tensor& tensor) {
    const std::vector<double> elements = elements_of(tensor);
    core::Tensor wide(core::TensorDesc::packed(core::DataType::float32, tensor.desc.sizes));
    for (std::size_t i = 0; i < elements.size(); ++i) {
        wide.as<float>()[i] = static_cast<float>(elements[i]);
    }
    return wide;
}

/// The reference's results, with empty lists for absent outputs.
std::optional<Lists> results_of(const operators::Descriptor& descriptor,
                                const std::vector<const core::Tensor*>& inputs) {
    if (operators::validate(descriptor, core::highest_feature_level) || !cpu::has_reference(descriptor)) {
        return std::nullopt;
    }
    Lists results;
    try {
        for (const core::Tensor& output : reference_for(descriptor, inputs, {}).outputs) {
            results.push_back(output.desc.sizes.empty() ? std::vector<double>() : elements_of(output));
        }
    } catch (const ReferenceLost&) {
        return std::nullopt;
    }
    return results;
}

std::optional<Lists> unrounded_results(const cases::Case& subject) {
    if (subject.descriptor->graph != nullptr) {
        return std::nullopt;
    }
    auto inputs = cases::filled_inputs(subject);
    if (!inputs) {
        return std::nullopt;
    }
    const operators::Descriptor wide = widened(*subject.descriptor);
    if (operators::validate(wide, core::highest_feature_level)) {
        return results_of(*subject.descriptor, inputs->pointers);
    }
    for (core::Tensor& input : inputs->tensors) {
        if (input.desc.data_type == core::DataType::float16) {
            input = widened(input);
        }
    }
    return results_of(wide, inputs->pointers);
}

/// Bounds that are so many times as far away. In FLOAT16, a number further away may be rounded to the next one.
Accepted times(Accepted accepted, const core::Tensor& expected, double factor) {
    if (factor == 1 || accepted.slack() == nullptr) {
        return accepted;
    }
    accepted.wider = *accepted.slack();
    const std::vector<double> elements = elements_of(expected);
    const bool is_half = expected.desc.data_type == core::DataType::float16;
    for (auto* const bounds : {&accepted.wider->below, &accepted.wider->above}) {
        for (std::size_t i = 0; i < bounds->size(); ++i) {
            const double step = std::max(std::fabs(elements[i]) * core::float16.one_rounding, core::float16.smallest);
            (*bounds)[i] = (*bounds)[i] * factor + (is_half && std::isfinite(step) ? step : 0);
        }
    }
    return accepted;
}

}  // namespace

std::vector<double> elements_of(const core::Tensor& tensor) {
    const core::Tensor packed = core::packed_copy(tensor);
    const core::DataType type = packed.desc.data_type;
    std::vector<double> elements(*core::element_count(packed.desc.sizes));
    for (std::size_t i = 0; i < elements.size(); ++i) {
        elements[i] = core::decode_element(type, core::load_element(packed.buffer.bytes(), type, i));
    }
    return elements;
}

expectations::OutputElements elements_by_reference(const cases::Case& subject) {
    // Shared by the copies of the function, so that the reference computes all outputs once.
    const auto kept = std::make_shared<std::optional<std::optional<Lists>>>();
    return {.expected = [kept, &subject](std::size_t output) -> std::optional<std::vector<double>> {
        if (!*kept) {
            *kept = unrounded_results(subject);
        }
        const std::optional<Lists>& lists = **kept;
        return lists ? std::optional((*lists)[output]) : std::nullopt;
    }};
}

std::optional<std::vector<bool>> accepted_with(const cases::Case& subject, std::size_t output,
                                               const expectations::OtherCase& other, const core::Tensor& actual,
                                               core::Precision precision) {
    const auto changed = expectations::changed(subject, other.changes);
    if (!changed || !cpu::has_reference(*changed->descriptor)) {
        return std::nullopt;
    }
    if (!other.variant.empty() && cpu::find_variant(*changed->descriptor->schema, other.variant) == nullptr) {
        return std::nullopt;
    }
    CaseValues values(*changed, false);
    values.use_variant(other.variant);
    std::vector<bool> mask(*core::element_count(actual.desc.sizes), true);
    try {
        const Accepted accepted =
            times(values.accepted(output, precision), values.expected(output), other.times_tolerance);
        const core::Tensor& expected = values.expected(output);
        for (const std::uint64_t at :
             compare::elements_beyond(expected, actual, accepted.tolerance, accepted.slack())) {
            mask[at] = false;
        }
        for (const std::uint64_t at : unwritten_at(actual, expected)) {
            mask[at] = false;
        }
        if (is_untouched(actual) && !is_untouched(expected)) {
            mask.assign(mask.size(), false);
        }
    } catch (const ReferenceLost&) {
        return std::nullopt;
    }
    return mask;
}

std::vector<double> unrounded(const core::Tensor& expected, const std::optional<std::vector<double>>& unrounded) {
    std::vector<double> elements = elements_of(expected);
    if (expected.desc.data_type != core::DataType::float16 || !unrounded || unrounded->size() != elements.size()) {
        return elements;
    }
    for (std::size_t i = 0; i < elements.size(); ++i) {
        const double rounded = core::float16_bits_to_double(core::float16_bits_from_double((*unrounded)[i]));
        elements[i] = rounded == elements[i] ? (*unrounded)[i] : elements[i];
    }
    return elements;
}

}  // namespace dmlconform::run
