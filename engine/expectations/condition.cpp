// Reads and combines conditions: fields, relations between tensors, and nested conditions.
#include "engine/expectations/condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/cases/descriptor_reader.h"
#include "engine/core/glob.h"
#include "engine/core/utf8.h"
#include "engine/expectations/dimension_condition.h"
#include "engine/expectations/element_condition.h"
#include "engine/expectations/field_condition.h"
#include "engine/expectations/other_rules.h"
#include "engine/expectations/reduction_condition.h"
#include "engine/expectations/tensor_condition.h"
#include "engine/operators/graph.h"
#include "engine/operators/rules.h"

namespace dmlconform::expectations {
namespace {

using cases::JsonValue;
using cases::ProblemSink;
using Operators = std::span<const operators::OperatorSchema* const>;

/// Holds if all of the conditions hold.
Condition all_of(std::vector<Condition> conditions) {
    std::stable_partition(conditions.begin(), conditions.end(),
                          [](const Condition& condition) { return !condition.reads_values; });
    const bool reads = !conditions.empty() && conditions.back().reads_values;
    return {[conditions = std::move(conditions)](CaseFacts& facts) {
                return std::all_of(conditions.begin(), conditions.end(),
                                   [&](const Condition& condition) { return condition.holds(facts); });
            },
            reads};
}

std::vector<TensorFact> tensors_of(const operators::Descriptor& descriptor) {
    std::vector<TensorFact> tensors;
    const auto inputs = descriptor.inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].desc != nullptr) {
            tensors.push_back({inputs[i].desc, i});
        }
    }
    for (const operators::TensorSlot& output : descriptor.outputs()) {
        if (output.desc != nullptr) {
            tensors.push_back({output.desc, {}});
        }
    }
    return tensors;
}

/// The sizes without the leading ones of 1, and without the last `count`.
core::Dimensions first_sizes(const core::Dimensions& sizes, double count) {
    const auto kept = static_cast<std::ptrdiff_t>(std::max(0.0, static_cast<double>(sizes.size()) - count));
    const auto end = sizes.begin() + kept;
    return {std::find_if(sizes.begin(), end, [](std::uint32_t size) { return size != 1; }), end};
}

class ConditionReader {
public:
    ConditionReader(Operators operators, ProblemSink& problems) : operators_(operators), problems_(problems) {}

    Condition read(const JsonValue& value) {
        if (value.object() == nullptr) {
            problems_.add(value.offset, fmt::format("a condition must be an object; this is {}", value.kind_name()));
            return {};
        }
        std::vector<Condition> conditions;
        for (const cases::JsonMember& member : *value.object()) {
            if (auto condition = read_member(member)) {
                conditions.push_back(std::move(*condition));
            }
        }
        return all_of(std::move(conditions));
    }

private:
    using Read = std::optional<Condition> (ConditionReader::*)(const JsonValue&);
    static const std::vector<std::pair<std::string, Read>>& words() {
        static const std::vector<std::pair<std::string, Read>> all{
            {"anyOf", &ConditionReader::read_any_of},
            {"not", &ConditionReader::read_not},
            {"anyTensor", &ConditionReader::read_any_tensor},
            {"everyTensor", &ConditionReader::read_every_tensor},
            {"differentSizes", &ConditionReader::read_different_sizes},
            {"differentTypes", &ConditionReader::read_different_types},
            {"differentNumbers", &ConditionReader::read_different_numbers},
            {"elementsAlong", &ConditionReader::read_elements_along},
            {"reduction", &ConditionReader::read_reduction},
            {"startsWith", &ConditionReader::read_starts_with},
            {"someDimension", &ConditionReader::read_some_dimension},
            {"breaks", &ConditionReader::read_breaks},
            {"meets", &ConditionReader::read_meets},
            {"operators", &ConditionReader::read_operators},
            {"someNode", &ConditionReader::read_some_node},
            {"someElement", &ConditionReader::read_some_element},
        };
        return all;
    }

    std::optional<Condition> read_member(const cases::JsonMember& member) {
        for (const auto& [word, read] : words()) {
            if (word == member.key) {
                return (this->*read)(member.value);
            }
        }
        const operators::Field* const field = find_field(member.key);
        if (field == nullptr) {
            unknown(member);
            return std::nullopt;
        }
        if (const std::string problem = problem_of_name(member.key, *field); !problem.empty()) {
            problems_.add(member.key_offset, problem);
            return std::nullopt;
        }
        return read_field_condition(member.value, member.key, *field, problems_);
    }

    /// The field of that name in one of the operators; null if none has it.
    [[nodiscard]] const operators::Field* find_field(const std::string& name) const {
        for (const operators::OperatorSchema* schema : operators_) {
            if (const auto* field = schema->find_field(std::string(operators::array_of(name)))) {
                return field;
            }
        }
        return nullptr;
    }

    void unknown(const cases::JsonMember& member) {
        std::vector<std::string> known;
        for (const auto& [word, read] : words()) {
            known.push_back(word);
        }
        for (const operators::OperatorSchema* schema : operators_) {
            for (const operators::Field& field : schema->fields) {
                known.push_back(field.name);
            }
        }
        problems_.add(member.key_offset,
                      fmt::format("no operator of this entry has a field \"{}\"", core::shortened(member.key)),
                      cases::suggestion(member.key, known));
    }

    std::optional<Condition> read_any_of(const JsonValue& value) {
        if (value.array() == nullptr || value.array()->empty()) {
            problems_.add(value.offset, "\"anyOf\" must be an array of conditions");
            return std::nullopt;
        }
        std::vector<Condition> list;
        for (const JsonValue& item : *value.array()) {
            list.push_back(read(item));
        }
        const bool reads = std::any_of(list.begin(), list.end(), [](const auto& one) { return one.reads_values; });
        return Condition{[list = std::move(list)](CaseFacts& facts) {
                             return std::any_of(list.begin(), list.end(),
                                                [&](const Condition& condition) { return condition.holds(facts); });
                         },
                         reads};
    }

    std::optional<Condition> read_not(const JsonValue& value) {
        Condition condition = read(value);
        return Condition{[holds = condition.holds](CaseFacts& facts) { return !holds(facts); }, condition.reads_values};
    }

    std::optional<Condition> read_any_tensor(const JsonValue& value) { return read_tensors(value, true); }
    std::optional<Condition> read_every_tensor(const JsonValue& value) { return read_tensors(value, false); }

    std::optional<Condition> read_tensors(const JsonValue& value, bool any) {
        const auto test = read_tensor_condition(value, "the tensors", problems_);
        if (test && test->absent) {
            problems_.add(value.offset, "this applies only to tensors that are present",
                          "name the one that has to be absent");
        }
        if (!test || test->absent) {
            return std::nullopt;
        }
        return Condition{[test = *test, any](CaseFacts& facts) {
                             const auto tensors = tensors_of(facts.descriptor());
                             const auto holds = [&](const TensorFact& tensor) { return test.holds(tensor, facts); };
                             return any ? std::any_of(tensors.begin(), tensors.end(), holds)
                                        : std::all_of(tensors.begin(), tensors.end(), holds);
                         },
                         test->values.has_value()};
    }

    /// Reads the names of two tensors.
    std::optional<std::array<std::string, 2>> read_two(const JsonValue& value) {
        const auto* names = value.array();
        if (names == nullptr || names->size() != 2) {
            problems_.add(value.offset, "two tensors have to be named here");
            return std::nullopt;
        }
        std::array<std::string, 2> two;
        for (std::size_t i = 0; i < 2; ++i) {
            const std::string* const name = (*names)[i].string();
            const operators::Field* const field = name == nullptr ? nullptr : find_field(*name);
            if (field == nullptr || !field->is_tensor()) {
                problems_.add((*names)[i].offset, "this is not the name of a tensor of the operators of this entry");
                return std::nullopt;
            }
            if (const std::string problem = problem_of_single(*name, *field); !problem.empty()) {
                problems_.add((*names)[i].offset, problem);
                return std::nullopt;
            }
            two[i] = *name;
        }
        return two;
    }

    std::optional<Condition> read_different(const JsonValue& value,
                                            bool (*differ)(const core::TensorDesc&, const core::TensorDesc&)) {
        const auto names = read_two(value);
        if (!names) {
            return std::nullopt;
        }
        return Condition{[names = *names, differ](CaseFacts& facts) {
                             const TensorFact a = find_tensor(facts.descriptor(), names[0]);
                             const TensorFact b = find_tensor(facts.descriptor(), names[1]);
                             return a.desc != nullptr && b.desc != nullptr && differ(*a.desc, *b.desc);
                         },
                         false};
    }
    std::optional<Condition> read_different_sizes(const JsonValue& value) {
        return read_different(value, [](const auto& a, const auto& b) { return a.sizes != b.sizes; });
    }
    std::optional<Condition> read_different_types(const JsonValue& value) {
        return read_different(value, [](const auto& a, const auto& b) { return a.data_type != b.data_type; });
    }

    /// Reads a condition on two attributes, or entries of arrays.
    std::optional<Condition> read_different_numbers(const JsonValue& value) {
        const auto* names = value.array();
        std::vector<std::string> two;
        for (std::size_t i = 0; names != nullptr && i < names->size(); ++i) {
            const std::string* const name = (*names)[i].string();
            const operators::Field* const field = name == nullptr ? nullptr : find_field(*name);
            if (field == nullptr || field->is_tensor()) {
                continue;
            }
            if (const std::string problem = problem_of_single(*name, *field); !problem.empty()) {
                problems_.add((*names)[i].offset, problem);
                return std::nullopt;
            }
            two.push_back(*name);
        }
        if (names == nullptr || two.size() != 2 || names->size() != 2) {
            problems_.add(value.offset, "two attributes of the operators of this entry have to be named here",
                          R"(for example ["Strides[0]", "Strides[1]"])");
            return std::nullopt;
        }
        return Condition{[two](CaseFacts& facts) {
                             const auto a = number_of(facts.descriptor(), two[0]);
                             const auto b = number_of(facts.descriptor(), two[1]);
                             return a && b && *a != *b;
                         },
                         false};
    }

    /// Reads a condition on the number of elements of the first input along the dimensions that an attribute lists.
    std::optional<Condition> read_elements_along(const JsonValue& value) {
        if (value.object() == nullptr || value.object()->size() != 1) {
            problems_.add(value.offset, "\"elementsAlong\" must name one attribute: { \"Axes\": { \"atLeast\": 2 } }");
            return std::nullopt;
        }
        const cases::JsonMember& member = value.object()->front();
        const operators::Field* const field = find_field(member.key);
        if (field == nullptr || field->type != operators::FieldType::uint_array || field->name != member.key) {
            problems_.add(member.key_offset,
                          fmt::format("\"{}\" is not an attribute that lists dimensions", core::shortened(member.key)));
            return std::nullopt;
        }
        auto test = read_number_condition(member.value, "a number of elements", nullptr, problems_);
        if (!test) {
            return std::nullopt;
        }
        return Condition{[test = std::move(*test), name = member.key](CaseFacts& facts) {
                             return holds_along(facts.descriptor(), name, test);
                         },
                         false};
    }

    /// Reads a condition on the first sizes of two tensors, leading sizes of 1 apart: those of one start with those of
    /// the other that lie before its last ones, whose number is an attribute. Another one limits how many there are.
    std::optional<Condition> read_starts_with(const JsonValue& value) {
        std::optional<std::array<std::string, 2>> tensors;
        std::array<std::string, 2> attributes;
        for (const cases::JsonMember& member : value.object() == nullptr ? JsonValue::Object() : *value.object()) {
            const bool is_limit = member.key == "atMost";
            const std::string* const name = member.value.string();
            const operators::Field* const field = name == nullptr ? nullptr : find_field(*name);
            const operators::Field* const tensor = find_field(member.key);
            if ((is_limit || member.key == "without") && field != nullptr && !field->is_tensor()) {
                attributes[is_limit ? 1 : 0] = *name;
            } else if (!tensors && tensor != nullptr && tensor->is_tensor() && field != nullptr && field->is_tensor()) {
                tensors = {member.key, *name};
            } else {
                problems_.add(member.key_offset, "\"startsWith\" takes two tensors, and attributes",
                              starts_with_example);
                return std::nullopt;
            }
        }
        if (!tensors || attributes[0].empty() || attributes[1].empty()) {
            problems_.add(value.offset, "\"startsWith\" needs two tensors, \"without\" and \"atMost\"",
                          starts_with_example);
            return std::nullopt;
        }
        return Condition{[tensors = *tensors, attributes](CaseFacts& facts) {
                             return starts_with(facts.descriptor(), tensors, attributes);
                         },
                         false};
    }

    static bool starts_with(const operators::Descriptor& descriptor, const std::array<std::string, 2>& tensors,
                            const std::array<std::string, 2>& attributes) {
        const core::TensorDesc* const whole = find_tensor(descriptor, tensors[0]).desc;
        const core::TensorDesc* const part = find_tensor(descriptor, tensors[1]).desc;
        const auto left_out = number_of(descriptor, attributes[0]);
        const auto most = number_of(descriptor, attributes[1]);
        if (whole == nullptr || part == nullptr || !left_out || !most) {
            return false;
        }
        const core::Dimensions sizes = first_sizes(whole->sizes, 0);
        const core::Dimensions first = first_sizes(part->sizes, *left_out);
        return !first.empty() && static_cast<double>(first.size()) <= *most && first.size() <= sizes.size() &&
               std::equal(first.begin(), first.end(), sizes.begin());
    }

    std::optional<Condition> read_some_dimension(const JsonValue& value) {
        return read_dimension_condition(
            value, [this](const std::string& name) { return find_field(name); }, problems_);
    }

    std::optional<Condition> read_reduction(const JsonValue& value) {
        return read_reduction_condition(
            value, [this](const std::string& name) { return find_field(name); }, problems_);
    }

    static bool holds_along(const operators::Descriptor& descriptor, const std::string& name,
                            const NumberCondition& test) {
        const auto inputs = descriptor.inputs();
        if (!descriptor.has_field(name) || inputs.empty() || inputs.front().desc == nullptr) {
            return false;
        }
        const auto* axes = std::get_if<std::vector<std::uint32_t>>(&descriptor.value(name));
        double count = 1;
        const core::Dimensions& sizes = inputs.front().desc->sizes;
        for (std::size_t i = 0; axes != nullptr && i < sizes.size(); ++i) {
            // An axis may be listed twice.
            count *= std::find(axes->begin(), axes->end(), i) == axes->end() ? 1 : sizes[i];
        }
        return axes != nullptr && test.holds(count);
    }

    std::optional<Condition> read_breaks(const JsonValue& value) {
        std::vector<std::string> rules;
        const JsonValue::Array one{value};
        for (const JsonValue& item : value.array() == nullptr ? one : *value.array()) {
            if (item.string() == nullptr || !is_rule(*item.string())) {
                problems_.add(item.offset, "this is not a rule by which a descriptor of these operators can be illegal",
                              "`dmlconform coverage` names them");
                return std::nullopt;
            }
            rules.push_back(*item.string());
        }
        return Condition{[rules](CaseFacts& facts) {
                             return std::find(rules.begin(), rules.end(), facts.broken_rule()) != rules.end();
                         },
                         false};
    }

    std::optional<Condition> read_meets(const JsonValue& value) {
        const std::string* const name = value.string();
        const auto has_rule = [&](const auto* schema) { return find_other_rule(*schema, *name) != nullptr; };
        if (name == nullptr || std::none_of(operators_.begin(), operators_.end(), has_rule)) {
            problems_.add(value.offset, "no operator of this entry has such a rule",
                          "docs/expectations.md names them, under \"Other rules\"");
            return std::nullopt;
        }
        return Condition{[name = *name](CaseFacts& facts) { return meets_other_rule(facts.descriptor(), name); },
                         false};
    }

    /// Reads a condition on the operator's name.
    std::optional<Condition> read_operators(const JsonValue& value) {
        std::vector<std::string> globs;
        const JsonValue::Array one{value};
        for (const JsonValue& item : value.array() == nullptr ? one : *value.array()) {
            const auto is_meant = [&](const auto* schema) {
                return core::glob_matches(*item.string(), schema->short_name());
            };
            if (item.string() == nullptr || std::none_of(operators_.begin(), operators_.end(), is_meant)) {
                problems_.add(item.offset, "this is not the name of an operator that the condition is about",
                              item.string() == nullptr ? "" : cases::operator_suggestion(*item.string()));
                return std::nullopt;
            }
            globs.push_back(*item.string());
        }
        return Condition{[globs](CaseFacts& facts) {
                             return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
                                 return core::glob_matches(glob, facts.descriptor().schema->short_name());
                             });
                         },
                         false};
    }

    /// Reads a condition that has to hold for some node of a graph.
    std::optional<Condition> read_some_node(const JsonValue& value) {
        const std::vector<const operators::OperatorSchema*> all = every_operator();
        const Condition node = ConditionReader(all, problems_).read(value);
        if (node.reads_values) {
            problems_.add(value.offset, "the values that a node reads are not known here");
            return std::nullopt;
        }
        return Condition{[holds = node.holds](CaseFacts& facts) {
                             const operators::Graph* graph = facts.descriptor().graph.get();
                             return graph != nullptr && std::any_of(graph->nodes.begin(), graph->nodes.end(),
                                                                    [&](const operators::GraphNode& each) {
                                                                        cases::Case alone;
                                                                        alone.descriptor = each.descriptor;
                                                                        CaseFacts of_node(alone);
                                                                        return holds(of_node);
                                                                    });
                         },
                         false};
    }

    /// Reads a condition that has to hold for some element that is expected.
    std::optional<Condition> read_some_element(const JsonValue& value) {
        const auto element = ElementCondition::read(value, operators_, problems_);
        if (element && element->reads_actual()) {
            problems_.add(value.offset, "what the engine has computed does not decide which cases are meant");
        }
        if (!element || element->reads_actual()) {
            return std::nullopt;
        }
        return Condition{[element = *element](CaseFacts& facts) { return element.holds_somewhere(facts); }, true};
    }

    static std::vector<const operators::OperatorSchema*> every_operator() {
        std::vector<const operators::OperatorSchema*> all;
        for (const std::string& name : operators::operator_names()) {
            all.push_back(operators::find_operator(name));
        }
        return all;
    }

    [[nodiscard]] bool is_rule(const std::string& name) const {
        return std::any_of(operators_.begin(), operators_.end(), [&](const operators::OperatorSchema* schema) {
            const auto names = operators::rule_names(*schema);
            return std::find(names.begin(), names.end(), name) != names.end();
        });
    }

    static constexpr const char* starts_with_example =
        R"(for example { "InputTensor": "IndicesTensor", "without": "IndexDimensions", "atMost": "Axis" })";

    Operators operators_;
    ProblemSink& problems_;
};

}  // namespace

std::optional<Condition> read_condition(const JsonValue& value, Operators operators, ProblemSink& problems) {
    const std::size_t before = problems.count();
    Condition condition = ConditionReader(operators, problems).read(value);
    return problems.count() == before ? std::optional(std::move(condition)) : std::nullopt;
}

}  // namespace dmlconform::expectations
