// Formats JSON values for people.
#include "engine/cases/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace dmlconform::cases {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t line_width = 120;

/// Formats a string or a number. Bytes that are not UTF-8, as in paths, are replaced.
std::string scalar_text(const ordered_json& value) {
    return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string key_text(const std::string& key) {
    return scalar_text(key) + ": ";
}

/// Formats a value on one line. Stops once the text is longer than `room` columns.
std::string one_line(const ordered_json& value, std::size_t room) {
    if (!value.is_structured()) {
        return scalar_text(value);
    }
    if (value.empty()) {
        return value.is_array() ? "[]" : "{}";
    }
    std::string text = value.is_array() ? "[" : "{ ";
    for (auto item = value.begin(); item != value.end(); ++item) {
        text += item == value.begin() ? "" : ", ";
        text += value.is_object() ? key_text(item.key()) : "";
        text += one_line(*item, room);
        if (text.size() > room) {
            return text;
        }
    }
    return text + (value.is_array() ? "]" : " }");
}

void write(const ordered_json& value, std::size_t indent, std::size_t used, std::string& text);

/// Writes several scalars per line.
void write_scalars(const ordered_json& list, const std::string& margin, std::string& text) {
    std::size_t column = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string item = scalar_text(list[i]) + (i + 1 < list.size() ? "," : "");
        if (i == 0 || column + 1 + item.size() > line_width) {
            text += '\n';
            text += margin;
            text += item;
            column = margin.size() + item.size();
        } else {
            text += ' ';
            text += item;
            column += 1 + item.size();
        }
    }
}

void write_items(const ordered_json& value, std::size_t indent, std::string& text) {
    const std::string margin(indent + 2, ' ');
    for (auto item = value.begin(); item != value.end(); ++item) {
        const std::string key = value.is_object() ? key_text(item.key()) : "";
        text += item == value.begin() ? "\n" : ",\n";
        text += margin + key;
        write(*item, indent + 2, margin.size() + key.size() + 1, text);
    }
}

void write(const ordered_json& value, std::size_t indent, std::size_t used, std::string& text) {
    const std::size_t room = line_width > used ? line_width - used : 0;
    const std::string line = one_line(value, room);
    if (!value.is_structured() || value.empty() || line.size() <= room) {
        text += line;
        return;
    }
    text += value.is_array() ? "[" : "{";
    const bool scalars = value.is_array() && std::none_of(value.begin(), value.end(),
                                                          [](const auto& item) { return item.is_structured(); });
    if (scalars) {
        write_scalars(value, std::string(indent + 2, ' '), text);
    } else {
        write_items(value, indent, text);
    }
    text += "\n" + std::string(indent, ' ') + (value.is_array() ? "]" : "}");
}

}  // namespace

std::string json_text(const ordered_json& value) {
    std::string text;
    write(value, 0, 0, text);
    return text;
}

}  // namespace dmlconform::cases
