// Validation of whole descriptors: first the catalogue's rules, then the operator's own.
#include "engine/operators/rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>

#include "engine/operators/constraint_rules.h"
#include "engine/operators/graph_rules.h"
#include "engine/operators/rules_registry.h"
#include "engine/operators/tensor_rules.h"

namespace dmlconform::operators {

struct Verdicts {
    std::mutex mutex;
    std::map<core::FeatureLevel, Verdict> of_levels;
};

namespace {

constexpr std::string_view output_sizes_rule = "outputSizes";

/// Null if the operator has no rules in code.
const OperatorRules* find_rules(const OperatorSchema& schema) {
    static const core::Registry<RulesRows> registry(rules);
    return registry.find(schema.short_name());
}

Verdict check_number(const Field& field, const FieldValue& value, core::FeatureLevel level) {
    const auto& bound = field.minimum_before;
    const auto* number = std::get_if<float>(&value);
    if (bound && number != nullptr && level < bound->level && !(double{*number} >= bound->minimum)) {
        return rejected_by("field.minimum", fmt::format("{} is {}; before feature level {} it must be at least {}",
                                                        field.name, *number, to_string(bound->level), bound->minimum));
    }
    return {};
}

Verdict check_field(const Descriptor& descriptor, std::size_t index, core::FeatureLevel level) {
    const Field& field = descriptor.schema->fields[index];
    const FieldValue& value = descriptor.values[index];
    if (std::holds_alternative<Null>(value) && !field.optional) {
        return rejected_by("field.required", fmt::format("{} is null, but it is not optional", field.name));
    }
    if (std::holds_alternative<Null>(value) && field.required_before && level < *field.required_before) {
        return rejected_by("field.required", fmt::format("{} is null, but it is optional only from feature level {} on",
                                                         field.name, to_string(*field.required_before)));
    }
    if (const auto* tensor = std::get_if<core::TensorDesc>(&value)) {
        return validate_tensor(*descriptor.schema, field, *tensor, level);
    }
    if (const auto* tensors = std::get_if<TensorDescArray>(&value)) {
        for (const core::TensorDesc& tensor : tensors->items) {
            if (auto rejection = validate_tensor(*descriptor.schema, field, tensor, level)) {
                return rejection;
            }
        }
    }
    if (auto rejection = check_number(field, value, level)) {
        return rejection;
    }
    const auto* number = std::get_if<std::uint32_t>(&value);
    // Any BOOL other than 0 means TRUE.
    if (number != nullptr && field.enumeration != nullptr && field.enumeration->name != "BOOL" &&
        !field.enumeration->name_of(*number)) {
        return rejected_by("field.enumeration", fmt::format("{} is {}, which {} does not have", field.name, *number,
                                                            field.enumeration->name));
    }
    return {};
}

/// Checks whether the operator may be fused at all.
Verdict check_fusable(const OperatorSchema& host, const OperatorSchema& activation, core::FeatureLevel level) {
    const auto fusable = host.fusable.find(activation.name);
    if (fusable == host.fusable.end()) {
        return rejected_by("activation.fusable",
                           fmt::format("{} cannot be fused into {}", activation.short_name(), host.short_name()));
    }
    if (fusable->second > level) {
        return rejected_by(
            "activation.featureLevel",
            fmt::format("{} can be fused into {} from feature level {} on; this is {}", activation.short_name(),
                        host.short_name(), to_string(fusable->second), to_string(level)));
    }
    return {};
}

Verdict check_activation(const Descriptor& descriptor, const Descriptor& activation, core::FeatureLevel level) {
    if (auto rejection = check_fusable(*descriptor.schema, *activation.schema, level)) {
        return rejection;
    }
    for (const Field& field : activation.schema->fields) {
        if (field.is_tensor() && !std::holds_alternative<Null>(activation.value(field.name))) {
            return rejected_by(
                "activation.tensors",
                fmt::format("{} of a fused activation must be null: it acts on the operator's output", field.name));
        }
        if (!field.is_tensor() && !field.optional && std::holds_alternative<Null>(activation.value(field.name))) {
            return rejected_by("field.required", fmt::format("{} of {} is null, but it is not optional", field.name,
                                                             activation.schema->short_name()));
        }
        if (auto rejection = check_number(field, activation.value(field.name), level)) {
            return rejection;
        }
    }
    return {};
}

std::vector<OperatorDesc> activations_of(const FieldValue& value) {
    if (const auto* one = std::get_if<OperatorDesc>(&value)) {
        return {*one};
    }
    const auto* several = std::get_if<OperatorDescArray>(&value);
    return several == nullptr ? std::vector<OperatorDesc>() : several->items;
}

Verdict check_output_sizes(const Descriptor& descriptor, const OperatorRules& own) {
    if (own.output_sizes == nullptr) {
        return {};
    }
    const TensorSlot output = descriptor.outputs().front();
    const std::vector<std::uint64_t> wanted = own.output_sizes(descriptor);
    if (std::equal(wanted.begin(), wanted.end(), output.desc->sizes.begin(), output.desc->sizes.end())) {
        return {};
    }
    return rejected_by(fmt::format("{}.{}", own.name, output_sizes_rule),
                       fmt::format("{} has sizes {}; they must be [{}]", output.name,
                                   core::to_string(output.desc->sizes), fmt::join(wanted, ",")));
}

ExplainedRules rules_of_activations() {
    return {{"activation.fusable", "The operator can be fused with the activation."},
            {"activation.featureLevel", "The activation can be fused at the device's feature level."},
            {"activation.tensors", "The tensors of a fused activation are null: it acts on the operator's output."}};
}

/// Empty if no number of the operator or of its activations has a minimum.
std::string sentence_of_minimum(const OperatorSchema& schema, bool fuses) {
    std::string text;
    for (const Field& field : schema.fields) {
        if (field.minimum_before) {
            text += fmt::format("Before feature level {}, {} is at least {}. ", to_string(field.minimum_before->level),
                                field.name, field.minimum_before->minimum);
        }
    }
    text += fuses ? "Numbers of a fused activation are at least what its own fields require. " : "";
    return text.empty() ? text : text.substr(0, text.size() - 1);
}

Verdict work_out(const Descriptor& descriptor, core::FeatureLevel level) {
    if (descriptor.graph != nullptr) {
        return validate_graph(*descriptor.graph, level);
    }
    const OperatorSchema& schema = *descriptor.schema;
    if (schema.introduced > level) {
        return rejected_by("operator.featureLevel",
                           fmt::format("{} exists from feature level {} on; this is {}", schema.short_name(),
                                       to_string(schema.introduced), to_string(level)));
    }
    for (std::size_t i = 0; i < descriptor.values.size(); ++i) {
        if (auto rejection = check_field(descriptor, i, level)) {
            return rejection;
        }
    }
    if (auto rejection = validate_constraints(descriptor)) {
        return rejection;
    }
    for (const FieldValue& value : descriptor.values) {
        for (const OperatorDesc& activation : activations_of(value)) {
            if (auto rejection = check_activation(descriptor, *activation, level)) {
                return rejection;
            }
        }
    }
    if (const OperatorRules* own = find_rules(schema)) {
        if (auto rejection = own->validate == nullptr ? Verdict{} : own->validate(descriptor, level)) {
            return rejection;
        }
        return check_output_sizes(descriptor, *own);
    }
    return {};
}

std::atomic<std::uint64_t> worked_out = 0;

/// The verdict of one level. `legal_from` is not set.
Verdict validate_at(const Descriptor& descriptor, core::FeatureLevel level) {
    Verdicts* const known = descriptor.verdicts.get();
    if (known == nullptr) {
        ++worked_out;
        return work_out(descriptor, level);
    }
    // Other threads that ask for the same verdict wait for it.
    const std::scoped_lock lock(known->mutex);
    const auto found = known->of_levels.find(level);
    if (found != known->of_levels.end()) {
        return found->second;
    }
    ++worked_out;
    return known->of_levels.emplace(level, work_out(descriptor, level)).first->second;
}

}  // namespace

Verdict rejected_by(std::string_view rule, std::string message) {
    return Rejection{.rule = std::string(rule), .message = std::move(message), .legal_from = {}};
}

Rejection broken_rule(const Descriptor& descriptor, std::string_view rule, std::string message) {
    return {.rule = fmt::format("{}.{}", descriptor.schema->short_name(), rule),
            .message = std::move(message),
            .legal_from = {}};
}

std::shared_ptr<const Descriptor> sealed(Descriptor descriptor) {
    auto result = std::make_shared<Descriptor>(std::move(descriptor));
    result->verdicts.keep_in(std::make_shared<Verdicts>());
    return result;
}

std::uint64_t verdicts_worked_out() {
    return worked_out;
}

Verdict validate(const Descriptor& descriptor, core::FeatureLevel level) {
    Verdict verdict = validate_at(descriptor, level);
    if (verdict) {
        for (const core::FeatureLevel higher : core::feature_levels()) {
            if (higher > level && !validate_at(descriptor, higher)) {
                verdict->legal_from = higher;
                break;
            }
        }
    }
    return verdict;
}

std::optional<core::Dimensions> output_sizes(const Descriptor& descriptor, core::FeatureLevel level) {
    const OperatorRules* own = descriptor.graph == nullptr ? find_rules(*descriptor.schema) : nullptr;
    if (own == nullptr || own->output_sizes == nullptr) {
        return std::nullopt;
    }
    const Verdict verdict = validate_at(descriptor, level);
    if (verdict && !verdict->rule.ends_with(output_sizes_rule)) {
        return std::nullopt;
    }
    core::Dimensions sizes;
    for (const std::uint64_t size : own->output_sizes(descriptor)) {
        if (size == 0 || size > std::numeric_limits<std::uint32_t>::max()) {
            return std::nullopt;
        }
        sizes.push_back(static_cast<std::uint32_t>(size));
    }
    return sizes;
}

std::vector<TensorSizes> required_sizes(const Descriptor& descriptor, core::FeatureLevel level) {
    const OperatorRules* own = descriptor.graph == nullptr ? find_rules(*descriptor.schema) : nullptr;
    if (own == nullptr || own->sizes == nullptr) {
        const auto first = output_sizes(descriptor, level);
        if (!first) {
            return {};
        }
        const auto& fields = descriptor.schema->fields;
        const auto output = std::ranges::find(fields, FieldKind::output, &Field::kind);
        return {{output->name, {first->begin(), first->end()}}};
    }
    for (std::size_t i = 0; i < descriptor.values.size(); ++i) {
        if (check_field(descriptor, i, level)) {
            return {};
        }
    }
    return validate_ranges(descriptor) ? std::vector<TensorSizes>() : own->sizes(descriptor);
}

std::string_view family_of(const OperatorSchema& schema) {
    static const std::map<std::string, std::string_view, std::less<>> families = [] {
        std::map<std::string, std::string_view, std::less<>> all;
        for (const core::RegistryFile<RulesRows>& file : rules) {
            for (const OperatorRules& row : file.rows()) {
                all.emplace(row.name, file.file);
            }
        }
        return all;
    }();
    const auto found = families.find(schema.short_name());
    return found == families.end() ? std::string_view() : found->second;
}

std::string catalogue_opinion(const Descriptor& descriptor, core::FeatureLevel level) {
    const std::string at =
        level == core::highest_feature_level ? "" : fmt::format(" at feature level {}", to_string(level));
    const Verdict verdict = validate(descriptor, level);
    if (!verdict) {
        return fmt::format("it is legal by the catalogue{}", at);
    }
    return fmt::format("by the catalogue it is illegal{}: {}{}", at, verdict->rule,
                       verdict->legal_from ? fmt::format(", legal from {} on", to_string(*verdict->legal_from)) : "");
}

std::optional<core::FeatureLevel> minimum_feature_level(const Descriptor& descriptor) {
    for (const core::FeatureLevel level : core::feature_levels()) {
        // Rejections would take longer to word than all rules to check.
        const bool is_too_early = descriptor.graph == nullptr && level < descriptor.schema->introduced;
        if (!is_too_early && !validate_at(descriptor, level)) {
            return level;
        }
    }
    return std::nullopt;
}

double element_bytes(const core::TensorDesc& desc) {
    return element_bytes(desc, {desc.sizes.begin(), desc.sizes.end()});
}

double element_bytes(const core::TensorDesc& desc, const std::vector<double>& counts) {
    const auto strides = core::effective_strides(desc);
    double bytes = core::bits_of(desc.data_type) / 8.0;
    for (std::size_t d = 0; d < desc.sizes.size(); ++d) {
        bytes *= strides[d] == 0 ? std::min(counts[d], 1.0) : counts[d];
    }
    return bytes;
}

double element_bytes(const Descriptor& descriptor) {
    double bytes = 0;
    for (const auto& slots : {descriptor.inputs(), descriptor.outputs()}) {
        for (const TensorSlot& slot : slots) {
            bytes += slot.desc == nullptr ? 0 : element_bytes(*slot.desc);
        }
    }
    return bytes;
}

const ExplainedRules& rules_of_all_operators() {
    static const ExplainedRules general{
        {"operator.featureLevel", "The operator exists at the device's feature level."},
        {"field.required", "Each field that is not optional at the feature level is set."},
        {"tensor.featureLevel", "Each tensor that is set exists at the device's feature level."},
        {"tensor.dataType", "Each tensor has a data type that the feature level allows for it."},
        {"tensor.dimensionCount", "Each tensor has a number of dimensions that the feature level allows for it."},
        {"tensor.sizes", "Each size of a tensor is at least 1."},
        {"tensor.elementCount", "Each tensor has at most 4294967295 elements."},
        {"tensor.totalSize",
         "TotalTensorSizeInBytes of each tensor is at least the bytes that its sizes and strides need, rounded up to "
         "a multiple of 4."},
        {"tensor.outputStrides", "No two elements of an output have the same address."},
        {"tensor.alignment",
         "GuaranteedBaseOffsetAlignment of each tensor is 0, or a power of two of at least the bytes of an "
         "element."}};
    return general;
}

ExplainedRules explained_rules(const OperatorSchema& schema) {
    ExplainedRules explained = rules_of_all_operators();
    const auto is_enumeration = [](const Field& field) {
        return field.enumeration != nullptr && field.enumeration->name != "BOOL";
    };
    if (std::ranges::any_of(schema.fields, is_enumeration)) {
        explained.push_back({"field.enumeration", "Each enumerator is one that its enumeration has."});
    }
    const auto add = [&](ExplainedRules more) { std::ranges::move(more, std::back_inserter(explained)); };
    add(explained_constraints(schema));
    const bool fuses = std::ranges::any_of(schema.fields, [](const Field& field) {
        return field.type == FieldType::operator_desc || field.type == FieldType::operator_desc_array;
    });
    if (fuses) {
        add(rules_of_activations());
    }
    const std::string minimum = sentence_of_minimum(schema, fuses);
    if (!minimum.empty()) {
        explained.push_back({"field.minimum", minimum});
    }
    if (const OperatorRules* own = find_rules(schema)) {
        ExplainedRules own_rules = own->rules;
        if (own->output_sizes != nullptr) {
            own_rules.push_back({std::string(output_sizes_rule),
                                 "The sizes of the output follow from the other fields.", own->output_formulas});
        }
        for (ExplainedRule& rule : own_rules) {
            rule.name = fmt::format("{}.{}", schema.short_name(), rule.name);
        }
        add(std::move(own_rules));
    }
    std::ranges::stable_sort(explained, {}, &ExplainedRule::name);
    return explained;
}

std::vector<std::string> rule_names(const OperatorSchema& schema) {
    std::vector<std::string> names;
    for (ExplainedRule& rule : explained_rules(schema)) {
        names.push_back(std::move(rule.name));
    }
    return names;
}

double bytes_read(const Descriptor& descriptor, const TensorSlot& input) {
    const OperatorRules* own = find_rules(*descriptor.schema);
    return own != nullptr && own->bytes_read != nullptr ? own->bytes_read(descriptor, input)
                                                        : element_bytes(*input.desc);
}

double no_operations(const Descriptor& /*descriptor*/) {
    return 0;
}

Cost minimum_cost(const Descriptor& descriptor) {
    if (descriptor.graph != nullptr) {
        return minimum_graph_cost(*descriptor.graph);
    }
    Cost cost;
    for (const TensorSlot& input : descriptor.inputs()) {
        cost.bytes += input.desc == nullptr ? 0 : bytes_read(descriptor, input);
    }
    const OperatorRules* own = find_rules(*descriptor.schema);
    const bool has_operations = own != nullptr && own->operations != nullptr;
    if (has_operations) {
        cost.operations = own->operations(descriptor);
    }
    bool is_first = true;
    for (const TensorSlot& output : descriptor.outputs()) {
        if (output.desc != nullptr) {
            cost.bytes += element_bytes(*output.desc);
            if (is_first && !has_operations) {
                cost.operations = static_cast<double>(*core::element_count(output.desc->sizes));
            }
            is_first = false;
        }
    }
    return cost;
}

}  // namespace dmlconform::operators
