// Builds one small document for each list element from the events of nlohmann's parser.
#include "engine/cases/json_list.h"

#include <fmt/format.h>

#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/core/utf8.h"

namespace dmlconform::cases {
namespace {

using Json = nlohmann::ordered_json;

/// Maximum depth: the document, its list, and the nesting of an element.
constexpr std::size_t deepest = 64;
constexpr std::size_t most_bytes = std::size_t{64} << 20;

/// Receives nlohmann's events and collects the current element.
class ListBuilder {
public:
    ListBuilder(const std::string& path, std::string_view list, const JsonListVisitor& visit)
        : path_(path), list_(list), visit_(visit) {}

    bool null() { return add(nullptr); }
    bool boolean(bool value) { return add(value); }
    bool number_integer(std::int64_t value) { return add(value); }
    bool number_unsigned(std::uint64_t value) { return add(value); }
    bool number_float(double value, const std::string& /*text*/) { return add(value); }
    bool string(std::string& value) {
        const std::size_t size = value.size();
        return add(std::move(value), size);
    }
    bool binary(Json::binary_t& /*value*/) { return false; }

    bool key(std::string& key) {
        Container& container = open_.back();
        if (!container.keys.insert(key).second) {
            return fail(fmt::format("the key \"{}\" occurs twice in one object", core::shortened(key)));
        }
        if (!take_memory(2 * key.size())) {
            return false;
        }
        key_ = std::move(key);
        return true;
    }

    bool start_object(std::size_t /*elements*/) { return open(Json::object()); }
    bool start_array(std::size_t /*elements*/) { return open(Json::array()); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }

    bool parse_error(std::size_t /*position*/, const std::string& /*token*/, const Json::exception& exception) {
        if (!error_) {
            const std::string_view what = exception.what();
            const std::size_t bracket = what.find("] ");
            const std::string_view text = what.substr(bracket == std::string_view::npos ? 0 : bracket + 2);
            error_ = core::Error{fmt::format("{}: this is not JSON, or not all of it: {}", path_,
                                             core::shortened(text, 2 * core::most_quoted)),
                                 ""};
        }
        return false;
    }

    [[nodiscard]] const std::optional<core::Error>& error() const { return error_; }
    [[nodiscard]] Json& rest() { return rest_; }

private:
    struct Container {
        Json* value;
        std::unordered_set<std::string> keys;
    };

    bool fail(const std::string& message) {
        const std::string pointer = in_list() ? fmt::format("/{}/{}: ", list_, index_) : "";
        error_ = core::Error{fmt::format("{}: {}{}", path_, pointer, message), ""};
        return false;
    }

    /// True if the next event is an element of the list or inside one.
    [[nodiscard]] bool in_list() const { return list_depth_ != 0; }
    [[nodiscard]] bool is_element() const { return in_list() && open_.size() == list_depth_; }

    bool take_memory(std::size_t text) {
        std::size_t& taken = in_list() ? element_bytes_ : rest_bytes_;
        taken += sizeof(Json) + text;
        if (taken <= most_bytes) {
            return true;
        }
        return fail(in_list() ? fmt::format("it takes more than {} bytes", most_bytes)
                              : fmt::format("what is beside \"{}\" takes more than {} bytes", list_, most_bytes));
    }

    /// Stores a value in the innermost open container. Returns its new address.
    Json* attach(Json value) {
        if (is_element()) {
            element_ = std::move(value);
            return &element_;
        }
        if (open_.empty()) {
            rest_ = std::move(value);
            return &rest_;
        }
        Json& container = *open_.back().value;
        if (container.is_array()) {
            return &container.get_ref<Json::array_t&>().emplace_back(std::move(value));
        }
        // operator[] would search all keys, and this key is known to be new.
        return &container.get_ref<Json::object_t&>().emplace_back(std::move(key_), std::move(value)).second;
    }

    bool add(Json value, std::size_t text = 0) {
        if (!take_memory(text)) {
            return false;
        }
        attach(std::move(value));
        return !is_element() || show();
    }

    bool open(Json empty) {
        if (open_.size() == deepest) {
            return fail(fmt::format("more than {} levels of nesting", deepest));
        }
        if (!take_memory(sizeof(Container))) {
            return false;
        }
        const bool is_list = open_.size() == 1 && rest_.is_object() && empty.is_array() && key_ == list_;
        open_.push_back({attach(std::move(empty)), {}});
        if (is_list) {
            list_depth_ = open_.size();
        }
        return true;
    }

    bool close() {
        if (is_element()) {
            list_depth_ = 0;  // this is the end of the list itself
        }
        open_.pop_back();
        return !is_element() || show();
    }

    bool show() {
        Json element = std::exchange(element_, Json());
        element_bytes_ = 0;
        if (auto visited = visit_(element, index_); !visited) {
            error_ = visited.error();
            return false;
        }
        ++index_;
        return true;
    }

    const std::string& path_;
    std::string_view list_;
    const JsonListVisitor& visit_;
    std::vector<Container> open_;
    std::string key_;
    Json rest_;
    Json element_;
    std::size_t rest_bytes_ = 0;
    std::size_t element_bytes_ = 0;
    std::size_t index_ = 0;
    /// The number of open containers within the list, counting the list; 0 outside the list.
    std::size_t list_depth_ = 0;
    std::optional<core::Error> error_;
};

}  // namespace

core::Result<Json> read_json_list(const std::string& path, std::istream& stream, std::string_view list,
                                  const JsonListVisitor& visit) {
    ListBuilder builder(path, list, visit);
    if (!Json::sax_parse(stream, &builder)) {
        return tl::unexpected(builder.error().value_or(core::Error{fmt::format("{}: this is not JSON", path), ""}));
    }
    return std::move(builder.rest());
}

}  // namespace dmlconform::cases
