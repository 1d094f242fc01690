// Expansion of sweeps by substitution in the JSON tree.
#include "engine/cases/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "engine/core/checked.h"

namespace dmlconform::cases {
namespace {

struct Variable {
    std::string name;
    const JsonValue::Array* values = nullptr;
    std::size_t offset = 0;
    std::size_t chosen = 0;
};

/// The text between "${" and "}" when that is all of the string.
std::optional<std::string_view> placeholder(const JsonValue& value) {
    const std::string* text = value.string();
    if (text == nullptr || !text->starts_with("${") || !text->ends_with("}")) {
        return std::nullopt;
    }
    return std::string_view(*text).substr(2, text->size() - 3);
}

class Substitution {
public:
    Substitution(std::vector<Variable>& variables, ProblemSink& problems)
        : variables_(variables), problems_(problems) {}

    JsonValue apply(const JsonValue& value) {
        if (const auto reference = placeholder(value)) {
            return look_up(value, *reference);
        }
        if (const auto* items = value.array()) {
            // Most arrays are lists of numbers; they are shared, not copied.
            if (std::none_of(items->begin(), items->end(),
                             [](const JsonValue& item) { return may_hold_placeholder(item); })) {
                return value;
            }
            JsonValue::Array result;
            std::transform(items->begin(), items->end(), std::back_inserter(result),
                           [&](const JsonValue& item) { return apply(item); });
            return {value.offset, std::make_shared<const JsonValue::Array>(std::move(result))};
        }
        if (const auto* members = value.object()) {
            JsonValue::Object result;
            for (const JsonMember& member : *members) {
                result.push_back({member.key, member.key_offset, apply(member.value)});
            }
            return {value.offset, std::make_shared<const JsonValue::Object>(std::move(result))};
        }
        return value;
    }

    [[nodiscard]] const std::set<std::string>& used() const { return used_; }

private:
    static bool may_hold_placeholder(const JsonValue& value) {
        return value.string() != nullptr || value.array() != nullptr || value.object() != nullptr;
    }

    JsonValue look_up(const JsonValue& at, std::string_view reference) {
        const std::size_t dot = reference.find('.');
        const std::string_view name = reference.substr(0, dot);
        const auto variable =
            std::find_if(variables_.begin(), variables_.end(), [&](const Variable& v) { return v.name == name; });
        if (variable == variables_.end()) {
            std::vector<std::string> names;
            for (const Variable& known : variables_) {
                names.push_back(known.name);
            }
            const std::string hint = suggestion(name, names);
            problems_.add(at.offset, fmt::format("the sweep has no \"{}\"", name),
                          hint.empty() ? fmt::format("it has {}", fmt::join(names, ", ")) : hint);
            return {};
        }
        used_.insert(variable->name);
        const JsonValue& value = (*variable->values)[variable->chosen];
        if (dot == std::string_view::npos) {
            return value;
        }
        const JsonValue* member = value.find(reference.substr(dot + 1));
        if (member == nullptr) {
            problems_.add(value.offset, fmt::format("a value of \"{}\" has no member \"{}\", which the case uses", name,
                                                    reference.substr(dot + 1)));
            return {};
        }
        return *member;
    }

    std::vector<Variable>& variables_;
    ProblemSink& problems_;
    std::set<std::string> used_;
};

/// The value as it stands in the id; one that is no scalar by its index.
std::string id_text(const Variable& variable) {
    const JsonValue& value = (*variable.values)[variable.chosen];
    if (const std::string* text = value.string()) {
        return *text;
    }
    if (const bool* boolean = value.boolean()) {
        return *boolean ? "true" : "false";
    }
    if (const auto* number = std::get_if<std::int64_t>(&value.content)) {
        return fmt::format("{}", *number);
    }
    if (const auto* number = std::get_if<std::uint64_t>(&value.content)) {
        return fmt::format("{}", *number);
    }
    if (const auto* number = std::get_if<double>(&value.content)) {
        return fmt::format("{}", *number);
    }
    return fmt::format("{}", variable.chosen);
}

std::string id_suffix(const std::vector<Variable>& variables) {
    std::vector<std::string> parts;
    parts.reserve(variables.size());
    for (const Variable& variable : variables) {
        parts.push_back(fmt::format("{}={}", variable.name, id_text(variable)));
    }
    return fmt::format("[{}]", fmt::join(parts, ","));
}

std::vector<Variable> read_variables(const JsonValue& sweep, std::size_t most, ProblemSink& problems) {
    std::vector<Variable> variables;
    if (sweep.object() == nullptr || sweep.object()->empty()) {
        problems.add(sweep.offset, "\"sweep\" must be an object with at least one variable",
                     R"(for example { "T": ["FLOAT32", "FLOAT16"] })");
        return variables;
    }
    std::uint64_t product = 1;
    for (const JsonMember& member : *sweep.object()) {
        const auto* values = member.value.array();
        if (values == nullptr || values->empty()) {
            problems.add(member.value.offset, fmt::format("\"{}\" must be an array of at least one value", member.key));
            return {};
        }
        if (member.key.empty() || member.key.find_first_of(".{}[]=,") != std::string::npos) {
            problems.add(member.key_offset, fmt::format("\"{}\" is no name for a variable", member.key));
            return {};
        }
        product = core::checked_multiply(product, values->size()).value_or(std::numeric_limits<std::uint64_t>::max());
        variables.push_back({member.key, values, member.key_offset, 0});
    }
    if (product > most) {
        problems.add(sweep.offset,
                     fmt::format("the sweep has {} expansions, and the file has room for {} more cases", product, most),
                     "split the sweep over several files");
        variables.clear();
    }
    return variables;
}

JsonValue without_sweep(const JsonValue& entry) {
    JsonValue::Object members;
    for (const JsonMember& member : *entry.object()) {
        if (member.key != "sweep") {
            members.push_back(member);
        }
    }
    return {entry.offset, std::make_shared<const JsonValue::Object>(std::move(members))};
}

/// Goes to the next combination; false after the last.
bool advance(std::vector<Variable>& variables) {
    for (std::size_t i = variables.size(); i-- > 0;) {
        if (++variables[i].chosen < variables[i].values->size()) {
            return true;
        }
        variables[i].chosen = 0;
    }
    return false;
}

}  // namespace

void for_each_expansion(const JsonValue& entry, std::size_t most, ProblemSink& problems,
                        const ExpansionVisitor& visit) {
    const JsonValue* sweep = entry.find("sweep");
    if (sweep == nullptr) {
        if (most == 0) {
            return problems.add(entry.offset, "the file has too many cases", "split it");
        }
        return visit(entry, "");
    }
    std::vector<Variable> variables = read_variables(*sweep, most, problems);
    if (variables.empty()) {
        return;
    }
    const JsonValue pattern = without_sweep(entry);
    Substitution substitution(variables, problems);
    do {
        const std::size_t before = problems.count();
        const JsonValue expansion = substitution.apply(pattern);
        if (problems.count() != before) {
            return;  // the same mistake would turn up in every expansion
        }
        for (const Variable& variable : variables) {
            if (substitution.used().count(variable.name) == 0) {
                return problems.add(variable.offset, fmt::format("the case does not use \"{}\"", variable.name),
                                    fmt::format("write \"${{{}}}\" where its values belong", variable.name));
            }
        }
        visit(expansion, id_suffix(variables));
    } while (advance(variables));
}

}  // namespace dmlconform::cases
