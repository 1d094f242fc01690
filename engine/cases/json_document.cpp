// Builds a document with offsets from the events of nlohmann's parser.
#include "engine/cases/json_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

#include "engine/core/utf8.h"

namespace dmlconform::cases {
namespace {

constexpr std::size_t deepest_document = 64;

/// The start of the next token at or after `offset`, after white space, comments and separators.
std::size_t token_start(std::string_view text, std::size_t offset) {
    while (offset < text.size()) {
        const std::string_view rest = text.substr(offset);
        if (rest.starts_with("//")) {
            offset = std::min(text.find('\n', offset), text.size());
        } else if (rest.starts_with("/*")) {
            const std::size_t end = text.find("*/", offset + 2);
            offset = end == std::string_view::npos ? text.size() : end + 2;
        } else if (std::string_view(" \t\r\n,:\xEF\xBB\xBF").find(rest.front()) != std::string_view::npos) {
            ++offset;
        } else {
            break;
        }
    }
    return offset;
}

/// The end of the token that starts at `start`.
std::size_t token_end(std::string_view text, std::size_t start) {
    if (start >= text.size()) {
        return text.size();
    }
    if (text[start] == '"') {
        std::size_t end = start + 1;
        while (end < text.size() && text[end] != '"') {
            end += text[end] == '\\' ? 2 : 1;
        }
        return std::min(end + 1, text.size());
    }
    if (std::string_view("[]{}").find(text[start]) != std::string_view::npos) {
        return start + 1;
    }
    const std::size_t end = text.find_first_of(" \t\r\n,:[]{}/\"", start);
    return std::min(end, text.size());
}

/// True if a JSON number is an integer in any notation: 2, 2.0, 20e-1, but not 2.00000000000000000001.
bool is_integer(std::string_view text) {
    const std::size_t end_of_mantissa = std::min(text.find_first_of("eE"), text.size());
    const std::string_view mantissa = text.substr(0, end_of_mantissa);
    const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
    const std::size_t last = mantissa.find_last_of("123456789");
    if (last == std::string_view::npos) {
        return true;  // the number is 0
    }
    // The power of ten of the last digit.
    auto power = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(last) - (last < point ? 1 : 0);
    std::string_view exponent = text.substr(std::min(end_of_mantissa + 1, text.size()));
    if (exponent.starts_with('+')) {
        exponent.remove_prefix(1);
    }
    std::int64_t shift = 0;
    const auto [stop, error] = std::from_chars(exponent.data(), exponent.data() + exponent.size(), shift);
    if (error == std::errc::result_out_of_range) {
        return !exponent.starts_with('-');
    }
    constexpr std::int64_t far = std::int64_t{1} << 62;
    power += std::clamp(shift, -far, far);
    return power >= 0;
}

/// Receives nlohmann's events. They have no offsets, but correspond to tokens, so the text is scanned in parallel.
class DocumentBuilder {
public:
    explicit DocumentBuilder(std::string_view text) : text_(text) {}

    bool null() { return add({}); }
    bool boolean(bool value) { return add(value); }
    /// Called for numbers with a minus sign. -0 must stay a negative zero, which is a valid element.
    bool number_integer(std::int64_t value) { return value == 0 ? add(-0.0) : add(value); }
    bool number_unsigned(std::uint64_t value) { return add(value); }
    bool number_float(double value, const std::string& text) {
        const bool rounded = std::nearbyint(value) == value && !is_integer(text);
        return rounded ? add(RoundedNumber{value}) : add(value);
    }
    bool string(std::string& value) { return add(std::make_shared<const std::string>(std::move(value))); }
    bool binary(nlohmann::json::binary_t& /*value*/) { return false; }

    bool key(std::string& key) {
        const std::size_t offset = next_token();
        Container& container = open_.back();
        if (!container.keys.insert(key).second) {
            return fail(offset, fmt::format("the key \"{}\" occurs twice in one object", core::shortened(key)),
                        "remove one of the two; which one would count is not defined");
        }
        container.members.push_back({std::move(key), offset, {}});
        return true;
    }

    bool start_object(std::size_t /*elements*/) { return open(false); }
    bool start_array(std::size_t /*elements*/) { return open(true); }

    bool end_object() {
        next_token();
        Container container = std::move(open_.back());
        open_.pop_back();
        return attach({container.offset, std::make_shared<const JsonValue::Object>(std::move(container.members))});
    }

    bool end_array() {
        next_token();
        Container container = std::move(open_.back());
        open_.pop_back();
        container.items.shrink_to_fit();
        return attach({container.offset, std::make_shared<const JsonValue::Array>(std::move(container.items))});
    }

    bool parse_error(std::size_t position, const std::string& /*token*/, const nlohmann::json::exception& exception) {
        if (!error_) {
            // The message begins with "[json.exception.parse_error.101] parse error at line 1, column 2: ". The
            // position is reported separately.
            std::string message = exception.what();
            message.erase(0, message.find("] ") + 2);
            const std::size_t colon = message.find(": ");
            if (message.find("column") < colon && colon != std::string::npos) {
                message.erase(0, colon + 2);
            }
            message = core::shortened(message, 2 * core::most_quoted);
            constexpr int number_overflow = 406;
            const std::size_t offset = exception.id == number_overflow ? next_token()
                                       : position == 0                 ? 0
                                                                       : position - 1;
            error_ = JsonError{offset, {"not valid JSON: " + message, ""}};
        }
        return false;
    }

    [[nodiscard]] std::optional<JsonError>& error() { return error_; }
    [[nodiscard]] JsonValue& root() { return root_; }

private:
    struct Container {
        bool is_array = false;
        std::size_t offset = 0;
        JsonValue::Array items;
        JsonValue::Object members;
        std::unordered_set<std::string> keys;
    };

    bool fail(std::size_t offset, std::string message, std::string hint) {
        error_ = JsonError{offset, {std::move(message), std::move(hint)}};
        return false;
    }

    std::size_t next_token() {
        const std::size_t start = token_start(text_, cursor_);
        cursor_ = token_end(text_, start);
        return start;
    }

    bool add(JsonValue::Content content) { return attach({next_token(), std::move(content)}); }

    bool open(bool is_array) {
        const std::size_t offset = next_token();
        if (open_.size() == deepest_document) {
            return fail(offset, fmt::format("more than {} levels of nesting", deepest_document), "");
        }
        open_.push_back({is_array, offset, {}, {}, {}});
        return true;
    }

    bool attach(JsonValue value) {
        if (open_.empty()) {
            root_ = std::move(value);
        } else if (open_.back().is_array) {
            open_.back().items.push_back(std::move(value));
        } else {
            open_.back().members.back().value = std::move(value);
        }
        return true;
    }

    std::string_view text_;
    std::size_t cursor_ = 0;
    std::vector<Container> open_;
    JsonValue root_;
    std::optional<JsonError> error_;
};

std::string escaped(std::string_view key) {
    std::string result;
    for (const char c : key) {
        if (c == '~') {
            result += "~0";
        } else if (c == '/') {
            result += "~1";
        } else {
            result += c;
        }
    }
    return result;
}

/// Appends the path from `value` to `offset`; false if `value` does not contain the offset.
bool find_path(const JsonValue& value, std::size_t offset, std::string& path) {
    if (value.offset == offset) {
        return true;
    }
    const std::size_t length = path.size();
    if (const auto* items = value.array()) {
        // Only the last item that starts at or before the offset can contain it.
        const auto after = std::upper_bound(items->begin(), items->end(), offset,
                                            [](std::size_t o, const JsonValue& item) { return o < item.offset; });
        if (after != items->begin()) {
            path += fmt::format("/{}", std::distance(items->begin(), after) - 1);
            if (find_path(*std::prev(after), offset, path)) {
                return true;
            }
        }
    } else if (const auto* members = value.object()) {
        const auto after =
            std::upper_bound(members->begin(), members->end(), offset,
                             [](std::size_t o, const JsonMember& member) { return o < member.key_offset; });
        if (after != members->begin()) {
            const JsonMember& member = *std::prev(after);
            path += '/';
            path += escaped(member.key);
            if (member.key_offset == offset || find_path(member.value, offset, path)) {
                return true;
            }
        }
    }
    path.resize(length);
    return false;
}

}  // namespace

bool JsonValue::is_number() const {
    return std::holds_alternative<std::int64_t>(content) || std::holds_alternative<std::uint64_t>(content) ||
           floating().has_value();
}

std::optional<double> JsonValue::floating() const {
    if (const auto* rounded = std::get_if<RoundedNumber>(&content)) {
        return rounded->value;
    }
    const auto* number = std::get_if<double>(&content);
    return number == nullptr ? std::nullopt : std::optional(*number);
}

const std::string* JsonValue::string() const {
    const auto* text = std::get_if<std::shared_ptr<const std::string>>(&content);
    return text == nullptr ? nullptr : text->get();
}

const JsonValue::Array* JsonValue::array() const {
    const auto* items = std::get_if<std::shared_ptr<const Array>>(&content);
    return items == nullptr ? nullptr : items->get();
}

const JsonValue::Object* JsonValue::object() const {
    const auto* members = std::get_if<std::shared_ptr<const Object>>(&content);
    return members == nullptr ? nullptr : members->get();
}

const JsonValue* JsonValue::find(std::string_view key) const {
    if (const auto* members = object()) {
        for (const JsonMember& member : *members) {
            if (member.key == key) {
                return &member.value;
            }
        }
    }
    return nullptr;
}

std::string_view JsonValue::kind_name() const {
    if (is_null()) {
        return "null";
    }
    if (boolean() != nullptr) {
        return "a boolean";
    }
    if (string() != nullptr) {
        return "a string";
    }
    if (array() != nullptr) {
        return "an array";
    }
    return object() != nullptr ? "an object" : "a number";
}

Position position_of(std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, std::min(offset, text.size()));
    const auto lines = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t last = before.rfind('\n');
    return {lines + 1, last == std::string_view::npos ? before.size() + 1 : before.size() - last};
}

tl::expected<JsonValue, JsonError> parse_json(std::string_view text) {
    // nlohmann's parser treats a NUL as the end of the text.
    if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
        return tl::unexpected(JsonError{nul, {"not valid JSON: a NUL byte", "is the file UTF-16? It must be UTF-8"}});
    }
    // nlohmann's parser does not check the encoding of comments.
    if (const auto wrong = core::find_invalid_utf8(text)) {
        return tl::unexpected(
            JsonError{*wrong, {"not valid JSON: a byte that is not UTF-8", "save the file as UTF-8"}});
    }
    DocumentBuilder builder(text);
    constexpr bool whole_text = true;
    constexpr bool comments = true;
    const bool parsed = nlohmann::json::sax_parse(text.begin(), text.end(), &builder,
                                                  nlohmann::json::input_format_t::json, whole_text, comments);
    if (!parsed) {
        return tl::unexpected(builder.error().value_or(JsonError{0, {"not valid JSON", ""}}));
    }
    return std::move(builder.root());
}

JsonIndex index_of(const JsonValue& object) {
    JsonIndex index;
    for (const JsonMember& member : *object.object()) {
        index.emplace(member.key, &member.value);
    }
    return index;
}

std::string pointer_to(const JsonValue& document, std::size_t offset) {
    std::string path;
    find_path(document, offset, path);
    return path;
}

JsonValue unshared(const JsonValue& value) {
    /// Reading the elements of a longer list takes longer than waiting for its count.
    constexpr std::size_t longest_copied = 64;
    if (const std::string* text = value.string()) {
        return {value.offset, std::make_shared<const std::string>(*text)};
    }
    const JsonValue::Array* items = value.array();
    if (items != nullptr && items->size() > longest_copied && std::ranges::all_of(*items, &JsonValue::is_plain)) {
        return value;
    }
    return with_changed_values(value, unshared);
}

JsonValue merged(const JsonValue& base, const JsonValue& overlay) {
    if (base.object() == nullptr || overlay.object() == nullptr) {
        return overlay;
    }
    JsonValue::Object members = *base.object();
    std::unordered_map<std::string_view, std::size_t> indices;
    for (std::size_t i = 0; i < base.object()->size(); ++i) {
        indices.emplace((*base.object())[i].key, i);
    }
    for (const JsonMember& member : *overlay.object()) {
        const auto same = indices.find(member.key);
        if (same == indices.end()) {
            members.push_back(member);
        } else {
            JsonMember& before = members[same->second];
            before = {member.key, member.key_offset, merged(before.value, member.value)};
        }
    }
    return {overlay.offset, std::make_shared<const JsonValue::Object>(std::move(members))};
}

}  // namespace dmlconform::cases
