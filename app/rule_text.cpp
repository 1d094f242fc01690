// Shows rules with their sentences and formulas.
#include "app/rule_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "app/standard_streams.h"
#include "app/terminal.h"
#include "engine/operators/rules.h"

namespace dmlconform::app {
namespace {

using operators::ExplainedRule;
using operators::OperatorSchema;

constexpr std::string_view notation =
    "In formulas, Tensor[d] is the tensor's size in dimension d, and Tensor[-1] the last one.";

/// The text in lines of at most `width` characters, 0 for any number. Each line begins with `indent` blanks.
std::vector<std::string> lines_of(std::string_view text, std::size_t indent, std::size_t width) {
    std::string wrapped = width == 0 ? std::string(text) : wrap(text, width - std::min(width, indent));
    std::vector<std::string> lines;
    while (!wrapped.empty()) {
        const std::size_t end = std::min(wrapped.find('\n'), wrapped.size());
        lines.push_back(std::string(indent, ' ') + wrapped.substr(0, end));
        wrapped.erase(0, end + 1);
    }
    return lines;
}

/// A formula; what does not fit into a line continues with more blanks in front.
std::vector<std::string> formula_lines(std::string_view formula, std::size_t indent, std::size_t width) {
    constexpr std::size_t more = 4;
    std::vector<std::string> lines = lines_of(formula, indent, width <= more ? width : width - more);
    for (std::size_t i = 1; i < lines.size(); ++i) {
        lines[i].insert(0, more, ' ');
    }
    return lines;
}

void print_explained(const ExplainedRule& rule) {
    say("  {}\n", rule.name);
    for (const std::string& line : lines_of(rule.sentence, 4, output_width())) {
        say("{}\n", line);
    }
    for (const std::string& formula : rule.formulas) {
        for (const std::string& line : formula_lines(formula, 6, output_width())) {
            say("{}\n", line);
        }
    }
}

/// True if a formula has the size of a tensor in one dimension.
bool has_sizes(const ExplainedRule& rule) {
    return std::ranges::any_of(rule.formulas, [](const std::string& formula) {
        return formula.find("Tensor[") != std::string::npos || formula.find("Tensors[") != std::string::npos;
    });
}

/// True if the text has the word, and not only as a part of a longer one.
bool has_word(std::string_view text, std::string_view word) {
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !is_letter(text[at - 1])) && (end == text.size() || !is_letter(text[end]))) {
            return true;
        }
    }
    return false;
}

/// The rules of the operator that are not the same for all operators.
operators::ExplainedRules particular_rules(const OperatorSchema& schema) {
    operators::ExplainedRules rules = operators::explained_rules(schema);
    std::erase_if(rules, [](const ExplainedRule& rule) { return is_rule_of_all(rule.name); });
    return rules;
}

constexpr std::size_t markdown_width = 116;

std::string list_item(std::string_view text) {
    std::string item;
    for (const std::string& line : lines_of(text, 2, markdown_width)) {
        item += (item.empty() ? "- " + line.substr(2) : line) + "\n";
    }
    return item;
}

/// A list of the rules in Markdown, with the operator's own first and without its prefix.
std::string markdown_of(const OperatorSchema& schema) {
    const std::string prefix = std::string(schema.short_name()) + ".";
    operators::ExplainedRules rules = particular_rules(schema);
    std::stable_partition(rules.begin(), rules.end(),
                          [&](const ExplainedRule& rule) { return rule.name.starts_with(prefix); });
    std::string text;
    for (const ExplainedRule& rule : rules) {
        const bool own = rule.name.starts_with(prefix);
        text += list_item(fmt::format("`{}`: {}", own ? rule.name.substr(prefix.size()) : rule.name, rule.sentence));
        if (!rule.formulas.empty()) {
            text += "\n";
            for (const std::string& formula : rule.formulas) {
                for (const std::string& line : formula_lines(formula, 6, markdown_width)) {
                    text += line + "\n";
                }
            }
            text += "\n";
        }
    }
    return text;
}

}  // namespace

bool is_rule_of_all(std::string_view name) {
    return std::ranges::any_of(operators::rules_of_all_operators(),
                               [&](const ExplainedRule& rule) { return rule.name == name; });
}

void print_rules(const OperatorSchema& schema) {
    say("\nRules (a rejection names its rule):\n");
    bool sizes = false;
    for (const ExplainedRule& rule : particular_rules(schema)) {
        print_explained(rule);
        sizes = sizes || has_sizes(rule);
    }
    if (sizes) {
        say("  {}\n", notation);
    }
    say("Rules of all operators (`dmlconform describe RULE` explains one):\n");
    std::string names;
    for (const ExplainedRule& rule : operators::rules_of_all_operators()) {
        names += (names.empty() ? "" : ", ") + rule.name;
    }
    for (const std::string& line : lines_of(names, 2, output_width())) {
        say("{}\n", line);
    }
}

bool print_rule(const OperatorSchema& schema, std::string_view name) {
    const std::string own = fmt::format("{}.{}", schema.short_name(), name);
    for (const ExplainedRule& rule : operators::explained_rules(schema)) {
        if (rule.name == own || rule.name == name) {
            print_explained(rule);
            if (has_sizes(rule)) {
                say("  {}\n", notation);
            }
            return true;
        }
    }
    return false;
}

void print_rules_about(const OperatorSchema& schema, std::string_view field) {
    bool first = true;
    for (const ExplainedRule& rule : particular_rules(schema)) {
        const auto names_it = [&](const std::string& formula) { return has_word(formula, field); };
        if (names_it(rule.sentence) || std::ranges::any_of(rule.formulas, names_it)) {
            if (first) {
                say("Rules that name it:\n");
            }
            first = false;
            print_explained(rule);
        }
    }
}

std::string rules_document() {
    std::string text =
        "# Rules of all operators\n\n"
        "<!-- Written by `dmlconform describe --rules`, which this file must equal. Do not edit. -->\n\n"
        "A descriptor is legal if everything below is true of it. `dmlconform describe OPERATOR` shows the rules of "
        "one\n"
        "operator, and `dmlconform describe CONVOLUTION.outputSizes` a single rule. A rejection names the rule that "
        "is\n"
        "broken.\n\n"
        "In formulas, `Tensor[d]` is the tensor's size in dimension `d`, and `Tensor[-1]` the last one. `floor` "
        "rounds\n"
        "down. Arrays of attributes begin at 0, with the first spatial dimension if the formula says `[d + 2]`.\n\n"
        "## Every operator\n\n";
    for (const ExplainedRule& rule : operators::rules_of_all_operators()) {
        text += list_item(fmt::format("`{}`: {}", rule.name, rule.sentence));
    }
    std::vector<std::pair<std::string, std::vector<std::string_view>>> groups;
    for (const std::string& name : operators::operator_names()) {
        const OperatorSchema& schema = *operators::find_operator(name);
        const std::string rules = markdown_of(schema);
        const auto known = std::ranges::find(groups, rules, &decltype(groups)::value_type::first);
        if (known == groups.end()) {
            groups.push_back({rules, {schema.short_name()}});
        } else {
            known->second.push_back(schema.short_name());
        }
    }
    for (const auto& [rules, names] : groups) {
        text += fmt::format("\n## {}\n\n", names.front());
        if (names.size() > 1) {
            std::string others = "The same for";
            for (std::size_t i = 1; i < names.size(); ++i) {
                others += fmt::format("{} `{}`", i == 1 ? "" : i + 1 == names.size() ? " and" : ",", names[i]);
            }
            for (const std::string& line : lines_of(others + ".", 0, markdown_width)) {
                text += line + "\n";
            }
            text += "\n";
        }
        text += rules.empty() ? std::string("No more rules.\n") : rules;
        while (text.ends_with("\n\n")) {
            text.pop_back();
        }
    }
    return text;
}

}  // namespace dmlconform::app
