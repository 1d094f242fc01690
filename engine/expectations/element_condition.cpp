// Evaluates conditions for elements with the same coordinates.
#include "engine/expectations/element_condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "engine/core/element.h"
#include "engine/core/utf8.h"
#include "engine/expectations/field_condition.h"
#include "engine/expectations/tensor_condition.h"
#include "engine/operators/element_rules.h"

namespace dmlconform::expectations {
namespace {

constexpr std::string_view scaled_word = "scaled ";

// What operands are called that are no inputs.
constexpr std::string_view expected_word = "expected";
constexpr std::string_view actual_word = "actual";

bool is_result(std::string_view name) {
    return name == expected_word || name == actual_word;
}

bool is_input(std::span<const operators::OperatorSchema* const> operators, std::string_view name) {
    return std::any_of(operators.begin(), operators.end(), [&](const operators::OperatorSchema* schema) {
        const auto* field = schema->find_field(std::string(operators::array_of(name)));
        return field != nullptr && field->is_tensor() && field->kind == operators::FieldKind::input &&
               problem_of_single(std::string(name), *field).empty();
    });
}

}  // namespace

bool has_element_wise(std::span<const operators::OperatorSchema* const> operators) {
    return std::ranges::any_of(operators,
                               [](const auto* schema) { return operators::element_rules(*schema).element_wise; });
}

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
    for (const cases::JsonMember& member : *value.object()) {
        Operand operand;
        std::string_view key = member.key;
        if (key.starts_with(scaled_word)) {
            operand.scaled = true;
            key.remove_prefix(scaled_word.size());
        }
        const std::size_t sign = key.find_first_of("+/^");
        const bool has_second = sign != std::string_view::npos;
        operand.tensor = key.substr(0, sign);
        operand.second = has_second ? key.substr(sign + 1) : "";
        operand.sign = has_second ? key[sign] : ' ';
        if (operand.scaled && is_result(operand.tensor)) {
            problems.add(member.key_offset, fmt::format("ScaleBias is for inputs, and not for \"{}\"", operand.tensor));
        }
        for (const std::string& name : {operand.tensor, operand.second}) {
            if ((!name.empty() || has_second) && !is_result(name) && !is_input(operators, name)) {
                problems.add(member.key_offset,
                             fmt::format("no operator of this entry has an input \"{}\"", core::shortened(name)),
                             "\"expected\" and \"actual\" are the elements of outputs");
            }
        }
        if (auto test = read_number_condition(member.value, member.key, nullptr, problems)) {
            operand.test = std::move(*test);
            read.operands_.push_back(std::move(operand));
        }
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

bool ElementCondition::reads_inputs() const {
    return std::ranges::any_of(operands_, [](const Operand& operand) {
        return !is_result(operand.tensor) || (!operand.second.empty() && !is_result(operand.second));
    });
}

bool ElementCondition::is_unknown(const Operand& operand, const Wanted& wanted) {
    return std::ranges::any_of(std::array{operand.tensor, operand.second}, [&](const std::string& name) {
        return (name == expected_word && !wanted.facts.expected(wanted.output)) ||
               (name == actual_word && !wanted.facts.actual(wanted.output));
    });
}

std::optional<std::vector<double>> ElementCondition::values_of(const std::string& tensor, const Wanted& wanted) {
    auto& [facts, output, elements] = wanted;
    if (is_result(tensor)) {
        const auto& values = tensor == expected_word ? facts.expected(output) : facts.actual(output);
        return values && values->size() == elements ? values : std::nullopt;
    }
    const TensorFact fact = find_tensor(facts.descriptor(), tensor);
    const core::Tensor* const content = fact.input ? facts.input(*fact.input) : nullptr;
    if (content == nullptr) {
        return std::nullopt;
    }
    const std::uint64_t count = *core::element_count(content->desc.sizes);
    if (count != elements && count != 1) {
        return std::nullopt;
    }
    std::vector<double> values(elements);
    for (std::uint64_t i = 0; i < elements; ++i) {
        const core::DataType type = content->desc.data_type;
        values[i] = core::decode_element(type, core::load_element(content->buffer.bytes(), type, count == 1 ? 0 : i));
    }
    return values;
}

std::optional<std::vector<double>> ElementCondition::values_of(const Operand& operand, const Wanted& wanted) {
    const CaseFacts& facts = wanted.facts;
    auto values = values_of(operand.tensor, wanted);
    if (values && operand.scaled && facts.descriptor().schema->find_field("ScaleBias") != nullptr) {
        if (const auto* scale = std::get_if<operators::ScaleBias>(&facts.descriptor().value("ScaleBias"))) {
            for (double& value : *values) {
                value = value * static_cast<double>(scale->scale) + static_cast<double>(scale->bias);
            }
        }
    }
    if (!values || operand.second.empty()) {
        return values;
    }
    const auto second = values_of(operand.second, wanted);
    if (!second) {
        return std::nullopt;
    }
    std::transform(values->begin(), values->end(), second->begin(), values->begin(), [&](double a, double b) {
        return operand.sign == '+' ? a + b : operand.sign == '^' ? std::pow(a, b) : a / b;
    });
    return values;
}

std::vector<bool> ElementCondition::mask(CaseFacts& facts, std::size_t output, std::uint64_t elements) const {
    if (reads_inputs() && !operators::element_rules(*facts.descriptor().schema).element_wise) {
        return {};  // an entry without operators
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
    return mask;
}

}  // namespace dmlconform::expectations
