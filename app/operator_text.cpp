// Describes an operator for people.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "app/operator_text.h"
#include "app/rule_text.h"
#include "app/standard_streams.h"
#include "engine/compare/precision.h"
#include "engine/core/ascii_case.h"
#include "engine/cpu/reference.h"
#include "engine/fuzz/case_generator.h"
#include "engine/fuzz/example_case.h"
#include "engine/operators/rules.h"
#include "engine/run/engine_list.h"

namespace dmlconform::app {
namespace {

using operators::Field;
using operators::OperatorSchema;

std::string type_text(const OperatorSchema& schema, const Field& field) {
    if (field.enumeration != nullptr) {
        return field.enumeration->name;
    }
    static constexpr const char* names[] = {"tensor",        "tensors",         "activation", "activations", "UINT",
                                            "INT",           "FLOAT",           "UINT[]",     "INT[]",       "FLOAT[]",
                                            "{Scale, Bias}", "{Width, Height}", "scalar"};
    std::string text = names[static_cast<std::size_t>(field.type)];
    if (!field.count_field.empty()) {
        text += fmt::format(" of {}", field.count_field);
    }
    if (!field.data_type_field.empty()) {
        text += fmt::format(" of type {}", field.data_type_field);
    }
    return schema.is_count(field) ? text + ", may be left out" : text;
}

void print_field(const OperatorSchema& schema, const Field& field) {
    static constexpr const char* kinds[] = {"input", "output", "attribute"};
    say("  {:<28} {:<10} {}{}\n", field.name, kinds[static_cast<std::size_t>(field.kind)], type_text(schema, field),
        field.optional ? ", optional" : "");
    if (field.required_before) {
        say("  {:<28} {:<10} optional from feature level {} on\n", "", "", core::to_string(*field.required_before));
    }
    if (field.enumeration != nullptr && field.enumeration->name != "BOOL") {
        std::vector<std::string> names;
        for (const auto& enumerator : field.enumeration->enumerators) {
            names.push_back(
                fmt::format("{} = {}", enumerator.name.substr(field.enumeration->prefix().size()), enumerator.value));
        }
        say("  {:<28} {}\n", "", core::show_list(names, ", "));
    }
}

void print_fields(const OperatorSchema& schema) {
    for (const Field& field : schema.fields) {
        print_field(schema, field);
    }
}

void print_support(const OperatorSchema& schema, const Field& field) {
    const auto rows = schema.tensor_support.find(field.name);
    if (rows == schema.tensor_support.end()) {
        return;
    }
    for (const operators::TensorSupport& row : rows->second) {
        std::vector<std::string_view> types;
        for (const core::DataType type : row.data_types) {
            types.push_back(core::name(type));
        }
        say("  {:<28} {}  {}-{} dimensions  {}\n", field.name, core::to_string(row.level), row.min_dimensions,
            row.max_dimensions, core::show_list(types, " "));
    }
}

void print_support(const OperatorSchema& schema) {
    say("\nTensors by feature level (a row holds until the next for the same tensor):\n");
    for (const Field& field : schema.fields) {
        print_support(schema, field);
    }
}

void print_in_place(const OperatorSchema& schema) {
    if (schema.in_place.empty()) {
        return;
    }
    say("\nMay be computed in place:\n");
    for (const auto& [output, inputs] : schema.in_place) {
        say("  {} in the memory of {}\n", output, core::show_list(inputs, " or "));
    }
}

void print_fusable(const OperatorSchema& schema) {
    if (schema.fusable.empty()) {
        return;
    }
    say("\nActivations that can be fused, with the feature level from which on:\n");
    for (const auto& [activation, level] : schema.fusable) {
        say("  {:<44} {}\n", activation, core::to_string(level));
    }
}

/// Prints known deviations of engines from the documentation.
void print_known(const OperatorSchema& schema, const std::vector<expectations::Expectation>& known) {
    bool first = true;
    for (const expectations::Expectation& entry : known) {
        if (entry.is_about(schema.short_name()) && entry.expected != expectations::Expected::skip &&
            entry.expected != expectations::Expected::flake) {
            if (first) {
                say("\nKnown differences, for some descriptors:\n");
            }
            say("  {}: {} ({})\n", entry.title(), entry.what_is_done(), entry.location());
            first = false;
        }
    }
}

/// Prints sizes of an example, because they may depend on attributes in any way.
void print_output_sizes(const cases::Case& example) {
    const operators::Descriptor& descriptor = *example.descriptor;
    if (!operators::output_sizes(descriptor, core::highest_feature_level)) {
        return;
    }
    say("\nThe sizes of the first output follow from the other fields, for example:\n");
    for (const std::string& line : to_lines(descriptor)) {
        say("  {}\n", line);
    }
}

void print_tolerances(const OperatorSchema& schema) {
    const auto tolerances = default_tolerances(schema);
    if (tolerances.empty()) {
        return;
    }
    say("\nTolerance if a case states none:\n");
    for (const auto& [tolerance, types] : tolerances) {
        say("  {:<28} {}\n", core::show_list(types, " "), tolerance);
    }
}

/// Collects types of outputs for which the reference computes a range and the expected error of elements.
void add_types_with_sigma(const operators::Descriptor& descriptor, std::set<core::DataType>& types) {
    for (const operators::TensorSlot& slot : descriptor.outputs()) {
        if (slot.desc == nullptr || !cpu::default_tolerance(descriptor, slot).element_slack) {
            continue;
        }
        const core::DataType type = slot.desc->data_type;
        if (type == core::DataType::float32 || type == core::DataType::float16) {
            types.insert(type);
        }
    }
}

/// Some operators have it only for some of their functions and modes, so random cases are asked.
std::set<core::DataType> types_with_sigma(const OperatorSchema& schema) {
    constexpr std::uint64_t most_tried = 64;
    const fuzz::GeneratorSettings settings{.perturbed_percent = 0, .with_inputs = false};
    std::set<core::DataType> types;
    for (std::uint64_t number = 0; number < most_tried && types.size() < 2; ++number) {
        const auto example = fuzz::generate(schema, settings, number);
        if (example && !example->expect_error) {
            add_types_with_sigma(*example->descriptor, types);
        }
    }
    return types;
}

void print_precision(const OperatorSchema& schema) {
    if (!cpu::has_reference(schema)) {
        return;
    }
    std::vector<std::string_view> types;
    for (const core::DataType type : types_with_sigma(schema)) {
        types.push_back(core::name(type));
    }
    if (!types.empty()) {
        say("\nPrecision, besides the tolerance of each element (docs/precision.md):\n"
            "  {:<28} Q, the root mean square of error/sigma, is at most {}. Sigma is the standard deviation of the\n"
            "  {:<28} plainest FP32 computation: one rounding to nearest for each operation, in order.\n",
            core::show_list(types, " "), compare::highest_honest_q, "");
    }
}

/// The types that the operator's first tensor may have at the highest feature level.
std::vector<core::DataType> types_of_first_tensor(const OperatorSchema& schema) {
    const auto first = std::ranges::find_if(schema.fields, &operators::Field::is_tensor);
    const auto* support =
        first == schema.fields.end() ? nullptr : schema.support_at(first->name, core::highest_feature_level);
    return support == nullptr ? std::vector<core::DataType>() : support->data_types;
}

/// The default tolerances of the first output for one type of the first tensor.
class TolerancesOfType {
public:
    /// False if the output has another type than the first tensor, so that there may be several tolerances.
    bool add(const operators::Descriptor& descriptor) {
        const auto outputs = descriptor.outputs();
        const auto output = std::ranges::find_if(outputs, [](const auto& slot) { return slot.desc != nullptr; });
        if (output == outputs.end()) {
            return true;
        }
        const std::string text = core::to_string(cpu::default_tolerance(descriptor, *output));
        const bool has_scale_bias = std::ranges::any_of(descriptor.values, [](const operators::FieldValue& value) {
            return std::holds_alternative<operators::ScaleBias>(value);
        });
        const bool has_same_type = output->desc->data_type == fuzz::first_tensor(descriptor)->data_type;
        std::string& kept = has_scale_bias  ? with_scale_bias_
                            : has_same_type ? usual_
                                            : to_type_[output->desc->data_type];
        kept = kept.empty() ? text : kept;
        return has_same_type;
    }

    /// The usual one, and where it differs: "exact; to FLOAT16: …; with ScaleBias: …".
    [[nodiscard]] std::string text() const {
        std::string usual = !usual_.empty() ? usual_ : to_type_.empty() ? with_scale_bias_ : to_type_.begin()->second;
        std::string others;
        for (const auto& [type, text] : to_type_) {
            others += text == usual ? "" : fmt::format("; to {}: {}", core::name(type), text);
        }
        if (!with_scale_bias_.empty() && with_scale_bias_ != usual) {
            others += "; with ScaleBias: " + with_scale_bias_;
        }
        return usual + others;
    }

private:
    std::string usual_;
    std::map<core::DataType, std::string> to_type_;
    std::string with_scale_bias_;
};

bool has_all(const std::map<core::DataType, TolerancesOfType>& found, const std::vector<core::DataType>& wanted) {
    return !wanted.empty() && std::ranges::all_of(wanted, [&](core::DataType type) { return found.contains(type); });
}

}  // namespace

std::vector<std::string> own_rules(const OperatorSchema& schema) {
    std::vector<std::string> own;
    for (const std::string& rule : operators::rule_names(schema)) {
        if (rule.starts_with(std::string(schema.short_name()) + ".")) {
            own.push_back(rule);
        }
    }
    return own;
}

std::map<std::string, std::vector<std::string>> default_tolerances(const OperatorSchema& schema) {
    // Tolerances may depend on anything in a descriptor, so random descriptors are tried.
    constexpr std::uint64_t enough_for_every_type = 400;
    const fuzz::GeneratorSettings settings{.perturbed_percent = 0, .with_inputs = false};
    const std::vector<core::DataType> wanted = types_of_first_tensor(schema);
    std::map<core::DataType, TolerancesOfType> by_type;
    bool is_one_each = std::ranges::none_of(
        schema.fields, [](const Field& field) { return field.type == operators::FieldType::scale_bias; });
    for (std::uint64_t number = 0; number < enough_for_every_type && !(is_one_each && has_all(by_type, wanted));
         ++number) {
        const auto example = fuzz::generate(schema, settings, number);
        const core::TensorDesc* first = example ? fuzz::first_tensor(*example->descriptor) : nullptr;
        if (first != nullptr) {
            is_one_each = by_type[first->data_type].add(*example->descriptor) && is_one_each;
        }
    }
    std::map<std::string, std::vector<std::string>> tolerances;
    for (const auto& [type, own] : by_type) {
        tolerances[own.text()].emplace_back(core::name(type));
    }
    return tolerances;
}

std::string documentation_link(const OperatorSchema& schema) {
    return fmt::format("https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_{}_operator_desc",
                       core::lower_case(schema.short_name()));
}

bool print_part(const OperatorSchema& schema, std::string_view part) {
    if (const Field* field = schema.find_field(part)) {
        print_field(schema, *field);
        print_support(schema, *field);
        print_rules_about(schema, field->name);
        return true;
    }
    return print_rule(schema, part);
}

void print_operator(const OperatorSchema& schema, const std::vector<expectations::Expectation>& known) {
    const auto engines = run::engines_for(schema);
    say("{} ({}), from feature level {} on\n", schema.name, schema.number, core::to_string(schema.introduced));
    say("{}\n{}\n\n",
        engines.empty() ? "neither cpu nor d3d12 computes it: cases need expected values, or `run --against ENGINE`"
                        : fmt::format("computed by {}", fmt::join(engines, " and ")),
        documentation_link(schema));
    print_fields(schema);
    print_support(schema);
    print_rules(schema);
    if (const auto example = fuzz::example_case(schema)) {
        print_output_sizes(*example);
    }
    print_tolerances(schema);
    print_precision(schema);
    print_in_place(schema);
    print_fusable(schema);
    print_known(schema, known);
    say("\n`dmlconform new {}` prints a case to start from.\n", schema.short_name());
}

}  // namespace dmlconform::app
