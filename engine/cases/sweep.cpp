// Expands sweeps by substitution in the JSON tree.
#include "engine/cases/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include "engine/core/checked.h"
#include "engine/core/utf8.h"

namespace dmlconform::cases {
namespace {

/// Limit. The id of every expansion contains all variables.
constexpr std::size_t most_variables = 100;
constexpr std::size_t longest_value = 500;

/// The text between "${" and "}" if that is the whole string.
std::optional<std::string_view> placeholder(const JsonValue& value) {
    const std::string* text = value.string();
    if (text == nullptr || !text->starts_with("${") || !text->ends_with("}")) {
        return std::nullopt;
    }
    return std::string_view(*text).substr(2, text->size() - 3);
}

/// The value as it appears in the id. Values other than scalars appear as their index.
std::string id_text(const JsonValue& value, std::size_t index) {
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
    if (const auto number = value.floating()) {
        return fmt::format("{}", *number);
    }
    return fmt::format("{}", index);
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

}  // namespace

class Sweep::Substitution {
public:
    Substitution(const std::vector<Variable>& variables, std::vector<const JsonValue*> chosen, ProblemSink& problems)
        : variables_(variables), chosen_(std::move(chosen)), used_(variables.size()), problems_(problems) {}

    JsonValue apply(const JsonValue& value) {
        if (const auto reference = placeholder(value)) {
            return look_up(value, *reference);
        }
        // Most arrays are lists of numbers without placeholders. They are shared instead of copied.
        const JsonValue::Array* items = value.array();
        if (items != nullptr && std::ranges::all_of(*items, &JsonValue::is_plain)) {
            return value;
        }
        return with_changed_values(value, [&](const JsonValue& part) { return apply(part); });
    }

    /// For each variable, whether a placeholder uses it.
    [[nodiscard]] const std::vector<bool>& used() const { return used_; }

private:
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
            problems_.add(at.offset, fmt::format("the sweep has no \"{}\"", core::shortened(name)),
                          hint.empty() ? fmt::format("it has {}", fmt::join(names, ", ")) : hint);
            return {};
        }
        const auto index = static_cast<std::size_t>(variable - variables_.begin());
        used_[index] = true;
        const JsonValue& value = *chosen_[index];
        if (dot == std::string_view::npos) {
            return value;
        }
        const JsonValue* member = value.find(reference.substr(dot + 1));
        if (member == nullptr) {
            problems_.add(value.offset, fmt::format("a value of \"{}\" has no member \"{}\", which the case uses",
                                                    core::shortened(name), core::shortened(reference.substr(dot + 1))));
            return {};
        }
        return *member;
    }

    const std::vector<Variable>& variables_;
    std::vector<const JsonValue*> chosen_;
    std::vector<bool> used_;
    ProblemSink& problems_;
};

bool Sweep::read_variables(const JsonValue& sweep, std::size_t most, ProblemSink& problems) {
    if (sweep.object() == nullptr || sweep.object()->empty()) {
        problems.add(sweep.offset, "\"sweep\" must be an object with at least one variable",
                     R"(for example { "T": ["FLOAT32", "FLOAT16"] })");
        return false;
    }
    if (sweep.object()->size() > most_variables) {
        problems.add(sweep.offset, fmt::format("the sweep has {} variables; there may be {}", sweep.object()->size(),
                                               most_variables));
        return false;
    }
    std::uint64_t product = 1;
    for (const JsonMember& member : *sweep.object()) {
        const auto* values = member.value.array();
        if (values == nullptr || values->empty()) {
            problems.add(member.value.offset,
                         fmt::format("\"{}\" must be an array of at least one value", core::shortened(member.key)));
            return false;
        }
        if (member.key.empty() || member.key.find_first_of(".{}[]=,") != std::string::npos) {
            problems.add(member.key_offset,
                         fmt::format("\"{}\" is not a name for a variable", core::shortened(member.key)));
            return false;
        }
        product = core::checked_multiply(product, values->size()).value_or(std::numeric_limits<std::uint64_t>::max());
        variables_.push_back(
            {member.key, std::get<std::shared_ptr<const JsonValue::Array>>(member.value.content), member.key_offset});
    }
    if (product > most) {
        problems.add(sweep.offset,
                     fmt::format("the sweep has {} expansions, and the file has room for {} more cases", product, most),
                     "split the sweep over several files");
        return false;
    }
    expansions_ = static_cast<std::size_t>(product);
    return true;
}

bool Sweep::check_use(ProblemSink& problems) const {
    const std::size_t before = problems.count();
    Substitution substitution(variables_, chosen(0), problems);
    substitution.apply(pattern_);
    for (std::size_t i = 0; i < variables_.size() && problems.count() == before; ++i) {
        const Variable& variable = variables_[i];
        if (!substitution.used()[i]) {
            problems.add(variable.offset, fmt::format("the case does not use \"{}\"", core::shortened(variable.name)),
                         fmt::format("write \"${{{}}}\" where its values belong", core::shortened(variable.name)));
        }
        std::set<std::string> texts;
        for (std::size_t value = 0; value < variable.values->size(); ++value) {
            const std::string text = id_text((*variable.values)[value], value);
            if (text.size() > longest_value) {
                problems.add((*variable.values)[value].offset,
                             fmt::format("a value of \"{}\" has {} bytes; in an id there may be {}",
                                         core::shortened(variable.name), text.size(), longest_value));
            } else if (!texts.insert(text).second) {
                problems.add((*variable.values)[value].offset,
                             fmt::format("another value of \"{}\" is {} too, so that ids would be the same",
                                         core::shortened(variable.name), core::shortened(text)));
            }
        }
    }
    return problems.count() == before;
}

std::optional<Sweep> Sweep::read(const JsonValue& entry, std::size_t most, ProblemSink& problems) {
    Sweep sweep;
    sweep.pattern_ = without_sweep(entry);
    if (!sweep.read_variables(*entry.find("sweep"), most, problems) || !sweep.check_use(problems)) {
        return std::nullopt;
    }
    return sweep;
}

Sweep Sweep::unshared() const {
    Sweep copy(*this);
    copy.pattern_ = cases::unshared(pattern_);
    for (Variable& variable : copy.variables_) {
        JsonValue::Array values;
        std::ranges::transform(*variable.values, std::back_inserter(values), cases::unshared);
        variable.values = std::make_shared<const JsonValue::Array>(std::move(values));
    }
    return copy;
}

std::vector<const JsonValue*> Sweep::chosen(std::size_t index) const {
    std::vector<const JsonValue*> values(variables_.size());
    for (std::size_t i = variables_.size(); i-- > 0;) {
        const JsonValue::Array& all = *variables_[i].values;
        values[i] = &all[index % all.size()];
        index /= all.size();
    }
    return values;
}

std::optional<JsonValue> Sweep::expansion(std::size_t index, ProblemSink& problems) const {
    const std::size_t before = problems.count();
    JsonValue result = Substitution(variables_, chosen(index), problems).apply(pattern_);
    return problems.count() == before ? std::optional(std::move(result)) : std::nullopt;
}

std::string Sweep::suffix(std::size_t index) const {
    const auto values = chosen(index);
    std::string text = "[";
    for (std::size_t i = 0; i < variables_.size(); ++i) {
        const auto value_index = static_cast<std::size_t>(values[i] - variables_[i].values->data());
        text += i == 0 ? "" : ",";
        text += variables_[i].name;
        text += '=';
        text += id_text(*values[i], value_index);
    }
    return text + ']';
}

}  // namespace dmlconform::cases
