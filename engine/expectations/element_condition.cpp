// Evaluates conditions for elements with the same coordinates.
#include "engine/expectations/element_condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string_view>

#include "engine/cases/element_reader.h"
#include "engine/core/element.h"
#include "engine/core/utf8.h"
#include "engine/cpu/variants.h"
#include "engine/expectations/field_condition.h"
#include "engine/expectations/tensor_condition.h"

namespace dmlconform::expectations {
namespace {

constexpr std::string_view scaled_word = "scaled ";

// What operands are called that are no inputs.
constexpr std::string_view expected_word = "expected";
constexpr std::string_view actual_word = "actual";
constexpr std::string_view index_word = "index";

// What chooses outputs, and the input whose elements are meant.
constexpr std::string_view output_word = "output";
constexpr std::string_view from_word = "from";
constexpr std::string_view within_word = "within";
// A change of the case, and how far from what is then accepted.
constexpr std::string_view accepted_word = "acceptedWith";
constexpr std::string_view variant_word = "computedAs";
constexpr std::string_view times_word = "timesTolerance";

bool is_result(std::string_view name) {
    return name == expected_word || name == actual_word;
}

bool is_word(std::string_view name) {
    return is_result(name) || name == index_word;
}

bool has_tensor(std::span<const operators::OperatorSchema* const> operators, std::string_view name,
                operators::FieldKind kind) {
    return std::ranges::any_of(operators, [&](const operators::OperatorSchema* schema) {
        const auto* field = schema->find_field(std::string(operators::array_of(name)));
        return field != nullptr && field->is_tensor() && field->kind == kind &&
               problem_of_single(std::string(name), *field).empty();
    });
}

/// The number as an integer of 32 bits, or of 64, if the type is an integer.
double converted(double value, core::DataType type) {
    if (core::is_floating_point(type)) {
        return value;
    }
    const bool is_signed = core::is_signed_integer(type);
    const auto bits = static_cast<int>(std::max(core::bits_of(type), 32U));
    const double end = std::ldexp(1.0, is_signed ? bits - 1 : bits);
    return std::isnan(value) ? 0 : std::clamp(std::trunc(value), is_signed ? -end : 0, end - 1);
}

/// Applies the operator to each two elements.
template <class Operator>
std::optional<std::vector<double>> combined(std::optional<std::vector<double>> first,
                                            const std::optional<std::vector<double>>& second, const Operator& apply) {
    if (!first || !second) {
        return std::nullopt;
    }
    std::ranges::transform(*first, *second, first->begin(), apply);
    return first;
}

}  // namespace

bool has_element_wise(std::span<const operators::OperatorSchema* const> operators) {
    return std::ranges::any_of(operators, &operators::OperatorSchema::element_wise);
}

/// Reads the keys and tests of a condition.
class ElementCondition::Reader {
public:
    Reader(std::span<const operators::OperatorSchema* const> operators, cases::ProblemSink& problems)
        : operators_(operators), problems_(problems) {}

    void read(const cases::JsonMember& member, ElementCondition& into) {
        if (member.key == output_word) {
            return read_names(member.value, operators::FieldKind::output, into.outputs_);
        }
        if (member.key == within_word) {
            return read_within(member.value, into);
        }
        if (member.key == from_word) {
            return read_source(member.value, into.source_);
        }
        if (member.key == accepted_word) {
            if (auto changes = read_field_changes(member.value, operators_, problems_)) {
                into.other_.changes = std::move(*changes);
            }
            return;
        }
        if (member.key == variant_word) {
            return read_variant(member.value, into.other_.variant);
        }
        if (member.key == times_word) {
            return read_times(member.value, into.other_.times_tolerance);
        }
        key_offset_ = member.key_offset;
        Operand operand;
        const std::string_view key = member.key;
        const std::size_t sign = key.find_first_of("+-/");
        operand.first = read_term(key.substr(0, sign));
        if (sign != std::string_view::npos) {
            operand.sign = key[sign];
            operand.second = read_term(key.substr(sign + 1));
        }
        if (auto test = read_number_condition(member.value, member.key, nullptr, problems_)) {
            operand.test = std::move(*test);
            into.operands_.push_back(std::move(operand));
        }
    }

private:
    Term read_term(std::string_view text) {
        const std::size_t power = text.find('^');
        Term term{read_factor(text.substr(0, power)), {}};
        if (power != std::string_view::npos) {
            term.exponent = read_factor(text.substr(power + 1));
        }
        return term;
    }

    Factor read_factor(std::string_view text) {
        Factor factor;
        factor.scaled = text.starts_with(scaled_word);
        factor.name = text.substr(factor.scaled ? scaled_word.size() : 0);
        if (factor.scaled && is_word(factor.name)) {
            problems_.add(key_offset_, fmt::format("ScaleBias is for inputs, and not for \"{}\"", factor.name));
        } else if (!is_word(factor.name) && !has_tensor(operators_, factor.name, operators::FieldKind::input)) {
            problems_.add(key_offset_,
                          fmt::format("no operator of this entry has an input \"{}\"", core::shortened(factor.name)),
                          "\"expected\" and \"actual\" are the elements of outputs");
        }
        return factor;
    }

    void read_names(const cases::JsonValue& value, operators::FieldKind kind, std::vector<std::string>& names) {
        const cases::JsonValue::Array one{value};
        for (const cases::JsonValue& item : value.array() == nullptr ? one : *value.array()) {
            const std::string* const name = item.string();
            if (name == nullptr || !has_tensor(operators_, *name, kind)) {
                problems_.add(item.offset, fmt::format("this is not the name of an {} of the operators of this entry",
                                                       kind == operators::FieldKind::input ? "input" : "output"));
                return;
            }
            names.push_back(*name);
        }
        if (names.empty()) {
            problems_.add(value.offset, "at least one tensor has to be named here");
        }
    }

    /// An input, a sum of two, or a list with one of these and perhaps numbers.
    void read_within(const cases::JsonValue& value, ElementCondition& into) {
        const cases::JsonValue::Array one{value};
        for (const cases::JsonValue& item : value.array() == nullptr ? one : *value.array()) {
            if (const auto number = value.array() == nullptr ? std::nullopt : cases::number_of(item)) {
                into.within_numbers_.push_back(*number);
            } else if (item.string() != nullptr && are_inputs(*item.string())) {
                into.within_.push_back(*item.string());
            } else {
                problems_.add(item.offset,
                              "this is not the name of an input of the operators of this entry, or of two with a +");
                return;
            }
        }
        if (into.within_.empty()) {
            problems_.add(value.offset, "at least one tensor has to be named here");
        }
    }

    /// True for the name of an input, and for two with a plus sign.
    [[nodiscard]] bool are_inputs(std::string_view text) const {
        const std::size_t plus = text.find('+');
        const auto is_input = [&](std::string_view name) {
            return has_tensor(operators_, name, operators::FieldKind::input);
        };
        return is_input(text.substr(0, plus)) && (plus == std::string_view::npos || is_input(text.substr(plus + 1)));
    }

    void read_times(const cases::JsonValue& value, double& times) {
        const auto number = cases::number_of(value);
        if (!number || !(*number >= 1) || std::isinf(*number)) {
            problems_.add(value.offset, "\"timesTolerance\" must be a finite number of at least 1");
            return;
        }
        times = *number;
    }

    void read_variant(const cases::JsonValue& value, std::string& variant) {
        const std::string* const name = value.string();
        const auto has_it = [&](const auto* schema) { return cpu::find_variant(*schema, *name) != nullptr; };
        if (name == nullptr || std::ranges::none_of(operators_, has_it)) {
            problems_.add(value.offset, "this is not the name of a variant of the operators of this entry");
            return;
        }
        variant = *name;
    }

    void read_source(const cases::JsonValue& value, std::string& source) {
        const std::string* const name = value.string();
        if (name == nullptr || !has_tensor(operators_, *name, operators::FieldKind::input)) {
            problems_.add(value.offset, "this is not the name of an input of the operators of this entry");
            return;
        }
        source = *name;
    }

    std::span<const operators::OperatorSchema* const> operators_;
    cases::ProblemSink& problems_;
    std::size_t key_offset_ = 0;
};

std::optional<ElementCondition> ElementCondition::read(const cases::JsonValue& value,
                                                       std::span<const operators::OperatorSchema* const> operators,
                                                       cases::ProblemSink& problems) {
    if (value.object() == nullptr || value.object()->empty()) {
        problems.add(value.offset, "\"elements\" must be an object with a test for each input that decides",
                     "for example { \"InputTensor\": { \"below\": 0 } } or { \"expected\": { \"nan\": true } }");
        return std::nullopt;
    }
    const std::size_t before = problems.count();
    ElementCondition read;
    Reader reader(operators, problems);
    for (const cases::JsonMember& member : *value.object()) {
        reader.read(member, read);
    }
    if (problems.count() == before && read.other_.times_tolerance != 1 && !read.other_.is_other()) {
        problems.add(value.offset, "\"timesTolerance\" of elements needs \"acceptedWith\" or \"computedAs\"",
                     "beside \"elements\", it says how far any element may be off");
    }
    if (problems.count() == before && read.reads_inputs() && !has_element_wise(operators)) {
        problems.add(
            value.offset,
            "\"elements\" of inputs are for operators that compute each element from those at its position",
            "\"expected\" and \"actual\" are for every operator, and \"timesTolerance\" says how far any element "
            "may be off");
    }
    return problems.count() == before ? std::optional(std::move(read)) : std::nullopt;
}

std::vector<const ElementCondition::Factor*> ElementCondition::Operand::factors() const {
    std::vector<const Factor*> all{&first.base, &first.exponent, &second.base, &second.exponent};
    std::erase_if(all, [](const Factor* factor) { return factor->name.empty(); });
    return all;
}

bool ElementCondition::reads_inputs() const {
    return std::ranges::any_of(operands_, [](const Operand& operand) {
        return std::ranges::any_of(operand.factors(), [](const auto* factor) { return !is_word(factor->name); });
    });
}

bool ElementCondition::reads_actual() const {
    const auto names_actual = [](const Operand& operand) {
        return std::ranges::any_of(operand.factors(), [](const auto* factor) { return factor->name == actual_word; });
    };
    return !source_.empty() || !within_.empty() || other_.is_other() || std::ranges::any_of(operands_, names_actual);
}

bool ElementCondition::is_unknown(const Operand& operand, const Wanted& wanted) {
    return std::ranges::any_of(operand.factors(), [&](const Factor* factor) {
        return (factor->name == expected_word && !wanted.facts.expected(wanted.output)) ||
               (factor->name == actual_word && !wanted.facts.actual(wanted.output));
    });
}

std::vector<double> ElementCondition::elements_of(const core::Tensor& tensor) {
    const core::DataType type = tensor.desc.data_type;
    std::vector<double> values(*core::element_count(tensor.desc.sizes));
    for (std::uint64_t i = 0; i < values.size(); ++i) {
        values[i] = core::decode_element(type, core::load_element(tensor.buffer.bytes(), type, i));
    }
    return values;
}

void ElementCondition::keep_those_of_source(const Wanted& wanted, std::vector<bool>& mask) const {
    const TensorFact fact = find_tensor(wanted.facts.descriptor(), source_);
    const core::Tensor* const content = fact.input ? wanted.facts.input(*fact.input) : nullptr;
    const auto& actual = wanted.facts.actual(wanted.output);
    if (!actual || content == nullptr) {
        return;
    }
    std::set<double> known;
    bool knows_nan = false;
    for (const double value : elements_of(*content)) {
        if (std::isnan(value)) {
            knows_nan = true;
        } else {
            known.insert(value);
        }
    }
    for (std::uint64_t i = 0; i < wanted.elements; ++i) {
        const double value = actual->at(i);
        mask[i] = mask[i] && (std::isnan(value) ? knows_nan : known.count(value) != 0);
    }
}

ElementCondition::Range ElementCondition::range_of(CaseFacts& facts, const std::string& name) {
    Range range;
    const TensorFact fact = find_tensor(facts.descriptor(), name);
    const core::Tensor* const content = fact.input ? facts.input(*fact.input) : nullptr;
    for (const double value : content == nullptr ? std::vector<double>() : elements_of(*content)) {
        range.low = std::fmin(range.low, value);
        range.high = std::fmax(range.high, value);
    }
    return range;
}

void ElementCondition::keep_those_within(const Wanted& wanted, std::vector<bool>& mask) const {
    // The roundings of a mean do not count.
    constexpr double slack = 0x1p-9;
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const std::string& names : within_) {
        const std::size_t plus = names.find('+');
        Range range = range_of(wanted.facts, names.substr(0, plus));
        if (plus != std::string::npos) {
            const Range other = range_of(wanted.facts, names.substr(plus + 1));
            range = {range.low + other.low, range.high + other.high};
        }
        if (range.low <= range.high) {
            low = std::min(low, range.low);
            high = std::max(high, range.high);
        }
    }
    for (const double value : within_numbers_) {
        low = std::fmin(low, value);
        high = std::fmax(high, value);
    }
    const auto& actual = wanted.facts.actual(wanted.output);
    const double room = slack * std::max(std::fabs(low), std::fabs(high));
    for (std::uint64_t i = 0; actual && i < wanted.elements; ++i) {
        mask[i] = mask[i] && actual->at(i) >= low - room && actual->at(i) <= high + room;
    }
}

bool ElementCondition::keep_those_accepted(const Wanted& wanted, std::vector<bool>& mask) const {
    if (!wanted.facts.actual(wanted.output)) {
        return true;
    }
    const auto accepted = wanted.facts.accepted_with(wanted.output, other_);
    for (std::uint64_t i = 0; accepted && i < wanted.elements; ++i) {
        mask[i] = mask[i] && (*accepted)[i];
    }
    return accepted.has_value();
}

ElementCondition::Values ElementCondition::values_of(const Factor& factor, const Wanted& wanted) {
    auto& [facts, output, elements] = wanted;
    if (is_result(factor.name)) {
        const auto& values = factor.name == expected_word ? facts.expected(output) : facts.actual(output);
        return values && values->size() == elements ? values : std::nullopt;
    }
    std::vector<double> values(elements);
    if (factor.name == index_word) {
        std::iota(values.begin(), values.end(), 0.0);
        return values;
    }
    const TensorFact fact = find_tensor(facts.descriptor(), factor.name);
    const core::Tensor* const content = fact.input ? facts.input(*fact.input) : nullptr;
    if (content == nullptr) {
        return std::nullopt;
    }
    const std::uint64_t count = *core::element_count(content->desc.sizes);
    if (count != elements && count != 1) {
        return std::nullopt;
    }
    values = elements_of(*content);
    values.resize(elements, values.empty() ? 0 : values.front());
    if (factor.scaled && facts.descriptor().has_field("ScaleBias")) {
        if (const auto* scale = std::get_if<operators::ScaleBias>(&facts.descriptor().value("ScaleBias"))) {
            for (double& value : values) {
                value = value * static_cast<double>(scale->scale) + static_cast<double>(scale->bias);
                value = converted(value, content->desc.data_type);
            }
        }
    }
    return values;
}

ElementCondition::Values ElementCondition::values_of(const Term& term, const Wanted& wanted) {
    auto values = values_of(term.base, wanted);
    if (term.exponent.name.empty()) {
        return values;
    }
    return combined(std::move(values), values_of(term.exponent, wanted),
                    [](double a, double b) { return std::pow(a, b); });
}

ElementCondition::Values ElementCondition::values_of(const Operand& operand, const Wanted& wanted) {
    auto values = values_of(operand.first, wanted);
    if (operand.sign == ' ') {
        return values;
    }
    return combined(std::move(values), values_of(operand.second, wanted), [&](double a, double b) {
        return operand.sign == '+' ? a + b : operand.sign == '-' ? a - b : a / b;
    });
}

std::vector<bool> ElementCondition::mask(CaseFacts& facts, std::size_t output, std::uint64_t elements) const {
    if (reads_inputs() && !facts.descriptor().schema->element_wise) {
        return {};  // an entry without operators
    }
    if (!outputs_.empty() && std::ranges::find(outputs_, facts.descriptor().outputs()[output].name) == outputs_.end()) {
        return {};
    }
    std::vector<bool> mask(elements, true);
    const Wanted wanted{facts, output, elements};
    for (const Operand& operand : operands_) {
        if (is_unknown(operand, wanted)) {
            continue;
        }
        const auto values = values_of(operand, wanted);
        if (!values) {
            return {};
        }
        for (std::uint64_t i = 0; i < elements; ++i) {
            mask[i] = mask[i] && operand.test.holds((*values)[i]);
        }
    }
    if (!source_.empty()) {
        keep_those_of_source(wanted, mask);
    }
    if (!within_.empty()) {
        keep_those_within(wanted, mask);
    }
    if (other_.is_other() && !keep_those_accepted(wanted, mask)) {
        return {};
    }
    return mask;
}

bool ElementCondition::holds_somewhere(CaseFacts& facts) const {
    constexpr std::uint64_t most_elements = std::uint64_t{1} << 24;
    const auto outputs = facts.descriptor().outputs();
    for (std::size_t output = 0; output < outputs.size(); ++output) {
        const core::TensorDesc* const desc = outputs[output].desc;
        const auto count = desc == nullptr ? std::nullopt : core::element_count(desc->sizes);
        if (!count) {
            continue;
        }
        const auto selected = *count > most_elements ? std::vector<bool>{true} : mask(facts, output, *count);
        if (std::ranges::find(selected, true) != selected.end()) {
            return true;
        }
    }
    return false;
}

}  // namespace dmlconform::expectations
