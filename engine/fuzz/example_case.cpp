// Selects the simplest of many random cases.
#include "engine/fuzz/example_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <variant>

#include "engine/cases/recorded_case.h"
#include "engine/core/ascii_case.h"
#include "engine/core/element.h"
#include "engine/cpu/cpu_engine.h"
#include "engine/cpu/reference.h"
#include "engine/fuzz/case_generator.h"
#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/operator_fuzz.h"
#include "engine/operators/rules.h"
#include "engine/run/case_run.h"

namespace dmlconform::fuzz {
namespace {

/// Sufficient for the rarest rank of the most restrictive operator.
constexpr std::uint64_t most_numbers = 3000;

bool is_wished(const operators::Descriptor& descriptor, const ExampleWish& wish) {
    const core::TensorDesc* first = first_tensor(descriptor);
    return first == nullptr
               ? !wish.rank && !wish.type
               : (!wish.rank || first->sizes.size() == *wish.rank) && (!wish.type || first->data_type == *wish.type);
}

/// The simplest value of an attribute: the first enumerator, steps of 1, no padding. Empty if the attribute has it
/// already, or if none of its values is simpler than others.
std::optional<operators::FieldValue> plainer(const operators::Field& field, const operators::FieldValue& value) {
    const bool steps = field.name.ends_with("Strides") || field.name.ends_with("Dilations");
    const bool padding = field.name.ends_with("Padding");
    return std::visit(
        [&](const auto& given) -> std::optional<operators::FieldValue> {
            using Value = std::decay_t<decltype(given)>;
            if constexpr (std::is_same_v<Value, std::uint32_t>) {
                // BOOL has no prefix; its usual value is often TRUE.
                const bool option = field.enumeration != nullptr && !field.enumeration->prefix().empty();
                return option && given != 0 ? std::optional<operators::FieldValue>(std::uint32_t{0}) : std::nullopt;
            } else if constexpr (std::is_same_v<Value, std::vector<std::uint32_t>> ||
                                 std::is_same_v<Value, std::vector<std::int32_t>>) {
                const Value plain(given.size(), steps ? 1 : 0);
                return (steps || padding) && given != plain ? std::optional<operators::FieldValue>(plain)
                                                            : std::nullopt;
            } else {
                return std::nullopt;
            }
        },
        value);
}

double cost_of_attributes(const operators::Descriptor& descriptor) {
    double cost = 0;
    for (std::size_t i = 0; i < descriptor.values.size(); ++i) {
        cost += plainer(descriptor.schema->fields[i], descriptor.values[i]) ? 3 : 0;
    }
    return cost;
}

/// Rates how unusual a descriptor is for a first example; the lowest cost is best. Shared memory costs more: see
/// cost_of_sharing.
double cost_of(const operators::Descriptor& descriptor, const ExampleWish& wish) {
    double cost = cost_of_attributes(descriptor);
    for (const auto& slots : {descriptor.inputs(), descriptor.outputs()}) {
        for (const operators::TensorSlot& slot : slots) {
            if (slot.desc == nullptr) {
                continue;
            }
            const auto elements = static_cast<double>(core::element_count(slot.desc->sizes).value_or(1));
            cost += core::is_packed(*slot.desc) ? 0 : 100;
            cost += slot.desc->flags == core::TensorFlags::none ? 0 : 10;
            // Prefers about eight elements in more than one dimension.
            cost += std::fabs(std::log2(elements) - 3);
            cost += !wish.type && slot.desc->data_type != core::DataType::float32 ? 4 : 0;
        }
    }
    for (const operators::FieldValue& value : descriptor.values) {
        cost += std::holds_alternative<operators::OperatorDesc>(value) ? 30 : 0;
    }
    const core::TensorDesc* first = first_tensor(descriptor);
    if (first != nullptr && first->sizes.size() > 1) {
        const auto ones = std::count(first->sizes.begin(), first->sizes.end(), 1u);
        cost += std::fabs(static_cast<double>(first->sizes.size()) - static_cast<double>(ones) - 2);
    }
    return cost;
}

double cost_of_sharing(const operators::Descriptor& descriptor) {
    return descriptor.in_place.empty() ? 0 : 20;
}

/// 1, 2, 3, … if any numbers will do.
std::optional<cases::Initialiser> counted_elements(const core::TensorDesc& desc) {
    const std::uint64_t count = core::element_count(desc.sizes).value_or(0);
    if (core::bytes_of(desc.data_type) == 0 || count == 0 || count > 100) {
        return std::nullopt;
    }
    std::vector<std::byte> bytes(static_cast<std::size_t>(core::bytes_of(desc.data_type, count)));
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto bits = core::encode_element(desc.data_type, core::Integer{false, i + 1});
        if (!bits) {
            return std::nullopt;
        }
        core::store_element(bytes, desc.data_type, i, *bits);
    }
    return cases::given_elements(std::move(bytes));
}

std::vector<core::Dimensions> sizes_of_inputs(const operators::Descriptor& descriptor) {
    std::vector<core::Dimensions> sizes;
    for (const operators::TensorSlot& slot : descriptor.inputs()) {
        sizes.push_back(slot.desc == nullptr ? core::Dimensions{} : slot.desc->sizes);
    }
    return sizes;
}

/// Simplifies attributes one by one, if only the sizes of outputs change as a consequence.
void plain_attributes(cases::Case& subject, core::FeatureLevel level) {
    const std::vector<core::Dimensions> sizes = sizes_of_inputs(*subject.descriptor);
    for (std::size_t i = 0; i < subject.descriptor->values.size(); ++i) {
        operators::Descriptor changed = *subject.descriptor;
        auto plain = plainer(changed.schema->fields[i], changed.values[i]);
        if (!plain) {
            continue;
        }
        changed.values[i] = std::move(*plain);
        find_fuzz(*changed.schema).repair(changed);
        set_counts(changed);
        if (sizes_of_inputs(changed) == sizes && !operators::validate(changed, level)) {
            subject.descriptor = operators::sealed(std::move(changed));
        }
    }
}

/// Removes strides, gaps and alignments.
void lay_out_plainly(cases::Case& subject) {
    operators::Descriptor plain = *subject.descriptor;
    for (const TensorField& tensor : tensors_of(plain)) {
        if (core::is_packed(*tensor.desc)) {
            set_sizes(*tensor.desc, tensor.desc->sizes);
            tensor.desc->base_offset_alignment = 0;
        }
    }
    if (!operators::validate(plain, core::highest_feature_level)) {
        subject.descriptor = operators::sealed(std::move(plain));
    }
}

void make_plain(cases::Case& subject) {
    lay_out_plainly(subject);
    const operators::Descriptor& descriptor = *subject.descriptor;
    const OperatorFuzz& known = find_fuzz(*descriptor.schema);
    const auto slots = descriptor.inputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc == nullptr) {
            continue;
        }
        const ElementKind kind = known.element_kind(descriptor, slots[i].name);
        const bool any = kind == ElementKind::bits || kind == ElementKind::ordered || kind == ElementKind::number;
        if (auto plain = any ? counted_elements(*slots[i].desc) : std::nullopt) {
            subject.inputs[i] = std::move(*plain);
        }
    }
}

}  // namespace

const core::TensorDesc* first_tensor(const operators::Descriptor& descriptor) {
    for (const auto& slots : {descriptor.inputs(), descriptor.outputs()}) {
        for (const operators::TensorSlot& slot : slots) {
            if (slot.desc != nullptr) {
                return slot.desc;
            }
        }
    }
    return nullptr;
}

std::optional<cases::Case> example_case(const operators::OperatorSchema& schema, const ExampleWish& wish) {
    // Inputs take most of the time, so only descriptors that may be the best get some.
    const GeneratorSettings bare{.level = wish.level, .perturbed_percent = 0, .with_inputs = false};
    const GeneratorSettings whole{.level = wish.level, .perturbed_percent = 0};
    std::optional<cases::Case> best;
    double least = 0;
    for (std::uint64_t number = 0; number < most_numbers; ++number) {
        auto candidate = generate(schema, bare, number);
        if (!candidate || !is_wished(*candidate->descriptor, wish)) {
            continue;
        }
        double cost = cost_of(*candidate->descriptor, wish);
        if (best && cost >= least) {
            continue;
        }
        // What shares memory is drawn after the inputs.
        candidate = generate(schema, whole, number);
        cost += cost_of_sharing(*candidate->descriptor);
        if (!best || cost < least) {
            best = std::move(candidate);
            least = cost;
        }
    }
    if (!best) {
        return std::nullopt;
    }
    best->id = fmt::format("new/{}/example", core::lower_case(schema.short_name()));
    plain_attributes(*best, wish.level);
    make_plain(*best);
    if (cpu::has_reference(schema)) {
        cpu::CpuEngine reference(core::highest_feature_level);
        if (const auto answer = run::answer_of(*best, reference); answer.computed != nullptr) {
            best = cases::recorded_case(*best, *answer.computed);
        }
    }
    return best;
}

}  // namespace dmlconform::fuzz
