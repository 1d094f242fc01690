// Parses the rules, and keeps those of all operators.
#include "engine/operators/element_rules.h"

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <utility>

#include "engine/core/embedded_text.h"

namespace dmlconform::operators {

// Written by the build from engine/operators/catalogue/*.json.
extern const std::span<const core::EmbeddedText> catalogue_texts;

namespace {

using RulesJson = nlohmann::json;

constexpr std::array<std::pair<std::string_view, Decides::Kind>, 3> decision_kinds{
    {{"steps", Decides::Kind::steps}, {"picks", Decides::Kind::picks}, {"jumps", Decides::Kind::jumps}}};

/// JSON keys of ranges of indices. The value names the attribute, if there is one.
constexpr std::array<std::pair<const char*, IndexRange::Kind>, 4> index_ranges{{
    {"axis", IndexRange::Kind::axis},
    {"dimension", IndexRange::Kind::dimension},
    {"lastOf", IndexRange::Kind::last_of},
    {"plane", IndexRange::Kind::plane},
}};

Decides::Kind decision_kind(const RulesJson& word) {
    const auto text = word.get<std::string>();
    for (const auto& [name, kind] : decision_kinds) {
        if (name == text) {
            return kind;
        }
    }
    throw std::runtime_error("unknown word '" + text + "'");
}

Decides decides_from(const RulesJson& entry) {
    Decides decides;
    if (const auto values = entry.find("values"); values != entry.end()) {
        decides.values = decision_kind(*values);
    }
    if (const auto integers = entry.find("integers"); integers != entry.end()) {
        decides.integers = decision_kind(*integers);
    }
    decides.by = entry.value("by", "");
    return decides;
}

IndexRange index_range_from(const RulesJson& entry) {
    for (const auto& [name, kind] : index_ranges) {
        const auto value = entry.find(name);
        if (value == entry.end()) {
            continue;
        }
        IndexRange range;
        range.kind = kind;
        range.of = entry.at("of").get<std::string>();
        range.counts = entry.value("counts", false);
        if (kind == IndexRange::Kind::dimension) {
            range.dimension = value->get<std::uint32_t>();
        } else if (kind != IndexRange::Kind::plane) {
            range.field = value->get<std::string>();
        }
        return range;
    }
    throw std::runtime_error("unknown range of indices " + entry.dump());
}

/// Throws unless the struct has the field, and `suits` accepts it.
void require(const OperatorSchema& schema, const std::string& name, const std::function<bool(const Field&)>& suits) {
    const Field* field = schema.find_field(name);
    if (field == nullptr || !suits(*field)) {
        throw std::runtime_error("'" + name + "' is not such a field of " + schema.name);
    }
}

void check_fields(const ElementRules& rules, const OperatorSchema& schema) {
    const auto is_tensor = [](const Field& field) { return field.is_tensor(); };
    const auto is_input = [](const Field& field) { return field.is_tensor() && field.kind == FieldKind::input; };
    const auto is_number = [](const Field& field) {
        return field.type == FieldType::uint && field.enumeration == nullptr;
    };
    if (!rules.decides.by.empty()) {
        require(schema, rules.decides.by, is_input);
    }
    for (const std::string& input : rules.passes_on) {
        require(schema, input, is_input);
    }
    for (const auto& [input, range] : rules.indices) {
        require(schema, input, is_input);
        require(schema, range.of, is_tensor);
        if (!range.field.empty()) {
            require(schema, range.field, is_number);
        }
    }
}

}  // namespace

core::Result<ElementRules> parse_element_rules(std::string_view text, const OperatorSchema& schema) {
    try {
        const RulesJson entry = RulesJson::parse(text);
        ElementRules rules;
        if (const auto decides = entry.find("decides"); decides != entry.end()) {
            rules.decides = decides_from(*decides);
        }
        if (const auto inputs = entry.find("passesOn"); inputs != entry.end()) {
            rules.passes_on = inputs->get<std::vector<std::string>>();
        }
        if (const auto indices = entry.find("indices"); indices != entry.end()) {
            for (const auto& [input, range] : indices->items()) {
                rules.indices.emplace(input, index_range_from(range));
            }
        }
        check_fields(rules, schema);
        return rules;
    } catch (const std::exception& exception) {
        return core::fail(exception.what());
    }
}

const ElementRules& element_rules(const OperatorSchema& schema) {
    static const std::map<std::string, ElementRules, std::less<>> all = [] {
        std::map<std::string, ElementRules, std::less<>> read;
        for (const core::EmbeddedText& text : catalogue_texts) {
            const auto name = RulesJson::parse(text.text).at("operator").get<std::string>();
            auto rules = parse_element_rules(text.text, *find_operator(name));
            if (!rules) {
                throw std::logic_error(name + ": " + rules.error().message);
            }
            read.emplace(name, std::move(*rules));
        }
        return read;
    }();
    static const ElementRules none;
    const auto found = all.find(schema.name);
    return found == all.end() ? none : found->second;
}

}  // namespace dmlconform::operators
