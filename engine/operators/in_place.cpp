// Conversion of in-place bindings from names (case files) to slots (engines), and their rules.
#include "engine/operators/in_place.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace dmlconform::operators {
namespace {

std::size_t slot_of(const std::vector<TensorSlot>& slots, const std::string& name) {
    const auto found = std::ranges::find(slots, name, &TensorSlot::name);
    return static_cast<std::size_t>(found - slots.begin());
}

std::optional<std::string> pair_problem(const Descriptor& descriptor, const std::string& output,
                                        const std::string& input) {
    const auto allowed = descriptor.schema->in_place.find(output);
    if (allowed == descriptor.schema->in_place.end()) {
        return fmt::format("{} has no output {} that may share an input's memory", descriptor.schema->short_name(),
                           output);
    }
    if (std::ranges::find(allowed->second, input) == allowed->second.end()) {
        return fmt::format("{} may share the memory of {}, and not that of {}", output,
                           fmt::join(allowed->second, " or "), input);
    }
    const core::TensorDesc* to = descriptor.tensor(output);
    const core::TensorDesc* from = descriptor.tensor(input);
    if (to == nullptr || from == nullptr) {
        return fmt::format("{} is absent", to == nullptr ? output : input);
    }
    if (to->data_type != from->data_type || to->sizes != from->sizes || to->total_bytes != from->total_bytes ||
        core::effective_strides(*to) != core::effective_strides(*from)) {
        return fmt::format("{} and {} must have the same data type, sizes, strides and total size to share memory",
                           output, input);
    }
    if (from->flags != core::TensorFlags::none || to->flags != core::TensorFlags::none) {
        return fmt::format("{} is kept by DirectML, so nothing shares its memory", input);
    }
    return std::nullopt;
}

}  // namespace

InPlaceNames in_place_names(const Descriptor& descriptor) {
    InPlaceNames names;
    if (descriptor.in_place.empty()) {
        return names;
    }
    const auto inputs = descriptor.inputs();
    const auto outputs = descriptor.outputs();
    for (std::size_t o = 0; o < descriptor.in_place.size(); ++o) {
        if (const auto& input = descriptor.in_place[o]) {
            names.emplace(outputs[o].name, inputs[*input].name);
        }
    }
    return names;
}

std::optional<std::string> in_place_problem(const Descriptor& descriptor, const InPlaceNames& names) {
    std::set<std::string> taken;
    for (const auto& [output, input] : names) {
        if (auto problem = pair_problem(descriptor, output, input)) {
            return problem;
        }
        if (!taken.insert(input).second) {
            return fmt::format("two outputs cannot share the memory of {}", input);
        }
    }
    return std::nullopt;
}

std::vector<std::optional<std::size_t>> in_place_slots(const Descriptor& descriptor, const InPlaceNames& names) {
    const auto inputs = descriptor.inputs();
    const auto outputs = descriptor.outputs();
    std::vector<std::optional<std::size_t>> slots(names.empty() ? 0 : outputs.size());
    for (const auto& [output, input] : names) {
        slots[slot_of(outputs, output)] = slot_of(inputs, input);
    }
    return slots;
}

}  // namespace dmlconform::operators
