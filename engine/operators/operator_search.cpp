// Compares names without case and punctuation, and reads the table of names in other interfaces.
#include "engine/operators/operator_search.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "engine/core/embedded_text.h"

namespace dmlconform::operators {

// Written by the build from engine/operators/other_names.json.
extern const std::span<const core::EmbeddedText> other_name_texts;

namespace {

/// Letters and digits in lower case: "reducesum" for "Reduce_Sum".
std::string plain(std::string_view name) {
    std::string result;
    for (const char c : name) {
        if (c >= 'A' && c <= 'Z') {
            result += static_cast<char>(c - 'A' + 'a');
        } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            result += c;
        }
    }
    return result;
}

std::vector<const OperatorSchema*> named_elsewhere(const std::string& name) {
    static const auto table = nlohmann::json::parse(other_name_texts.front().text);
    std::vector<const OperatorSchema*> found;
    if (const auto entry = table.find(name); entry != table.end()) {
        for (const auto& op : *entry) {
            found.push_back(find_operator(op.get<std::string>()));
        }
    }
    return found;
}

/// The name without "ACTIVATION_" or "ELEMENT_WISE_".
std::string_view without_group(std::string_view name) {
    for (const std::string_view group : {"ACTIVATION_", "ELEMENT_WISE_"}) {
        if (name.starts_with(group)) {
            return name.substr(group.size());
        }
    }
    return name;
}

}  // namespace

std::string_view without_modules(std::string_view name) {
    for (const std::string_view module :
         {"com.microsoft.", "torch.", "ops.", "aten.", "aten::", "nn.", "functional.", "F.", "special."}) {
        if (name.starts_with(module)) {
            name.remove_prefix(module.size());
        }
    }
    return name;
}

std::vector<const OperatorSchema*> search_operators(std::string_view words) {
    const std::string name = plain(without_modules(words));
    if (name.empty()) {
        return {};
    }
    std::vector<const OperatorSchema*> exact = named_elsewhere(name);
    std::vector<const OperatorSchema*> parts;
    for (const std::string& full : operator_names()) {
        const OperatorSchema* schema = find_operator(full);
        const bool known = std::ranges::find(exact, schema) != exact.end();
        if (known) {
            continue;
        }
        if (plain(without_group(schema->short_name())) == name) {
            exact.push_back(schema);
        } else if (plain(schema->name).find(name) != std::string::npos) {
            parts.push_back(schema);
        }
    }
    exact.insert(exact.end(), parts.begin(), parts.end());
    return exact;
}

}  // namespace dmlconform::operators
