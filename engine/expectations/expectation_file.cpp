// Reads expectation files. docs/expectations.md describes the keys.
#include "engine/expectations/expectation_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "engine/cases/descriptor_reader.h"
#include "engine/cases/json_document.h"
#include "engine/cases/tensor_desc_reader.h"
#include "engine/core/glob.h"
#include "engine/core/text_file.h"
#include "engine/core/utf8.h"

namespace dmlconform::expectations {
namespace {

/// By which entries mean every graph.

using cases::JsonValue;
using cases::ProblemSink;

constexpr std::uint64_t most_retries = 100;

/// Reads one entry.
class EntryReader {
public:
    EntryReader(const JsonValue& entry, ProblemSink& problems) : entry_(entry), problems_(problems) {}

    void read_into(std::vector<Expectation>& list) {
        const std::size_t before = problems_.count();
        static const std::array<std::string, 17> keys{
            "cases",   "operators", "when",           "elements", "engine", "adapter", "driver",  "libraries", "status",
            "happens", "sometimes", "timesTolerance", "finding",  "reason", "issue",   "expires", "retries"};
        if (entry_.object() == nullptr) {
            return problems_.add(entry_.offset,
                                 fmt::format("an expectation must be an object; this is {}", entry_.kind_name()));
        }
        cases::check_keys(entry_, keys, "an expectation", problems_);
        read_status();
        read_globs("cases", "a case's id", result_.cases);
        read_operators();
        read_conditions();
        read_happening();
        read_text("finding", result_.finding, false);
        read_text("engine", result_.engine, false);
        read_text("adapter", result_.adapter, false);
        read_text("reason", result_.reason, true);
        read_text("issue", result_.issue, false);
        read_versions();
        read_expiry();
        read_retries();
        if (problems_.count() == before) {
            result_.file = problems_.file();
            result_.line = problems_.position(entry_.offset).line;
            list.push_back(std::move(result_));
        }
    }

private:
    /// The member, which must be a non-empty string.
    const std::string* text_of(const JsonValue& value, std::string_view what) {
        const std::string* text = value.string();
        if (text == nullptr) {
            problems_.add(value.offset, fmt::format("{} must be a string; this is {}", what, value.kind_name()));
        } else if (text->find_first_not_of(" \t\r\n") == std::string::npos) {
            problems_.add(value.offset, fmt::format("{} is empty", what));
            text = nullptr;
        }
        return text;
    }

    void read_text(const std::string& key, std::string& into, bool required) {
        const JsonValue* value = entry_.find(key);
        if (value == nullptr) {
            if (required) {
                problems_.add(entry_.offset, fmt::format("an expectation needs \"{}\"", key));
            }
        } else if (const std::string* text = text_of(*value, fmt::format("\"{}\"", key))) {
            into = *text;
        }
    }

    /// Reads a string or a list of strings.
    void read_globs(const std::string& key, std::string_view what, std::vector<std::string>& into) {
        const JsonValue* value = entry_.find(key);
        if (value == nullptr && key == "cases" && entry_.find("operators") != nullptr) {
            return;
        }
        if (value == nullptr || (value->array() != nullptr && value->array()->empty())) {
            return problems_.add(
                value == nullptr ? entry_.offset : value->offset,
                fmt::format("an expectation needs \"{}\": {}, a glob for several, or a list of these", key, what),
                key == "cases" ? "or \"operators\", with \"when\" to say which descriptors" : "");
        }
        const JsonValue::Array one{*value};
        for (const JsonValue& item : value->array() == nullptr ? one : *value->array()) {
            if (const std::string* text = text_of(item, what)) {
                into.push_back(*text);
            }
        }
    }

    void read_operators() {
        const JsonValue* value = entry_.find("operators");
        if (value != nullptr) {
            read_globs("operators", "an operator's name", result_.operators);
        }
        for (const std::string& name : operators::operator_names()) {
            const operators::OperatorSchema* schema = operators::find_operator(name);
            const auto is_meant = [&](const auto& glob) { return core::glob_matches(glob, schema->short_name()); };
            if (result_.operators.empty() || std::ranges::any_of(result_.operators, is_meant)) {
                meant_.push_back(schema);
            }
        }
        for (const std::string& glob : result_.operators) {
            const auto is_meant = [&](const auto* one) { return core::glob_matches(glob, one->short_name()); };
            if (!core::glob_matches(glob, graph_name) && std::ranges::none_of(meant_, is_meant)) {
                problems_.add(value->offset, fmt::format("no operator is called \"{}\"", core::shortened(glob)),
                              cases::operator_suggestion(glob));
            }
        }
    }

    /// True if a condition has nothing but "someNode".
    static bool chooses_nodes(const JsonValue& when) {
        return when.object() != nullptr &&
               std::ranges::all_of(*when.object(), [](const auto& member) { return member.key == "someNode"; });
    }

    void read_conditions() {
        const JsonValue* when = entry_.find("when");
        const auto means_graphs = [](const std::string& glob) { return core::glob_matches(glob, graph_name); };
        const bool only_graphs = meant_.empty() && std::ranges::all_of(result_.operators, means_graphs);
        if (when != nullptr && only_graphs && !chooses_nodes(*when)) {
            problems_.add(when->offset, "a graph has no fields of its own for a condition",
                          "\"someNode\" is about its nodes, and \"cases\" chooses graphs by their ids");
        } else if (when != nullptr && (only_graphs || !meant_.empty())) {
            result_.when = read_condition(*when, meant_, problems_);
        }
        const JsonValue* elements = entry_.find("elements");
        if (elements != nullptr && !meant_.empty()) {
            result_.elements = ElementCondition::read(*elements, meant_, problems_);
            result_.happens = Happening::differs;
            result_.sometimes = true;
            for (const std::string& glob : result_.operators) {
                check_element_wise(*elements, glob);
            }
        }
        if (elements != nullptr && result_.expected != Expected::fail) {
            problems_.add(elements->offset, "only a \"fail\" has \"elements\" that differ");
        }
    }

    /// Each name must match an element-wise operator.
    void check_element_wise(const JsonValue& elements, const std::string& glob) {
        std::vector<const operators::OperatorSchema*> named;
        std::ranges::copy_if(meant_, std::back_inserter(named),
                             [&](const auto* one) { return core::glob_matches(glob, one->short_name()); });
        if (result_.elements && result_.elements->reads_inputs() && !named.empty() && !has_element_wise(named)) {
            problems_.add(elements.offset,
                          fmt::format("{} does not compute each element from those at its position, so that "
                                      "\"elements\" means nothing there",
                                      core::shortened(glob)));
        }
    }

    void read_happening() {
        std::string text;
        read_text("happens", text, false);
        if (!text.empty()) {
            const auto happening = parse_happening(text);
            if (!happening) {
                problems_.add(entry_.find("happens")->offset,
                              fmt::format("there is no \"happens\" \"{}\"", core::shortened(text)),
                              "it may be rejected, accepted, differs, precision, unwritten");
            } else if (result_.elements && happening != Happening::differs) {
                problems_.add(entry_.find("happens")->offset, "\"elements\" are about what \"differs\"");
            } else if (result_.expected != Expected::fail &&
                       !(result_.expected == Expected::error && happening == Happening::accepted)) {
                problems_.add(entry_.find("happens")->offset, "only a \"fail\" has \"happens\"",
                              "an \"error\" has \"accepted\" too");
            }
            result_.happens = happening.value_or(Happening::anything);
        }
        if (const JsonValue* sometimes = entry_.find("sometimes")) {
            if (sometimes->boolean() == nullptr) {
                problems_.add(sometimes->offset,
                              fmt::format("\"sometimes\" must be true or false; this is {}", sometimes->kind_name()));
            } else {
                result_.sometimes = *sometimes->boolean();
                if (result_.elements && !result_.sometimes) {
                    problems_.add(sometimes->offset, "with \"elements\", \"sometimes\" is always true");
                }
            }
        }
        if (const JsonValue* times = entry_.find("timesTolerance")) {
            read_times_tolerance(*times);
        }
    }

    void read_times_tolerance(const JsonValue& value) {
        const auto times = cases::read_unsigned(value, "\"timesTolerance\"", UINT32_MAX, problems_);
        const bool has_width = result_.happens == Happening::differs || result_.happens == Happening::precision;
        if (times && (*times == 0 || !has_width)) {
            problems_.add(value.offset, *times == 0
                                            ? "nothing differs by 0 times its tolerance"
                                            : "only what \"differs\", or its \"precision\", has \"timesTolerance\"");
        } else if (times) {
            result_.times_tolerance = static_cast<double>(*times);
        }
    }

    void read_status() {
        std::string text;
        read_text("status", text, true);
        if (text.empty()) {
            return;
        }
        if (const auto expected = parse_expected(text)) {
            result_.expected = *expected;
            return;
        }
        std::vector<std::string> known;
        for (std::size_t i = 0; i < expected_count; ++i) {
            known.emplace_back(to_string(static_cast<Expected>(i)));
        }
        const std::string meant = cases::suggestion(text, known);
        problems_.add(entry_.find("status")->offset, fmt::format("there is no status \"{}\"", core::shortened(text)),
                      meant.empty() ? fmt::format("it may be {}", fmt::join(known, ", ")) : meant);
    }

    std::optional<VersionRange> read_range(const JsonValue& value, const std::string& what) {
        const std::string* text = text_of(value, what);
        if (text == nullptr) {
            return std::nullopt;
        }
        auto range = VersionRange::parse(*text);
        if (!range) {
            problems_.add(value.offset, fmt::format("{}: {}", what, range.error().message), range.error().hint);
            return std::nullopt;
        }
        return std::move(*range);
    }

    void read_versions() {
        if (const JsonValue* value = entry_.find("driver")) {
            result_.driver = read_range(*value, "\"driver\"");
        }
        const JsonValue* libraries = entry_.find("libraries");
        if (libraries == nullptr) {
            return;
        }
        if (libraries->object() == nullptr) {
            return problems_.add(libraries->offset,
                                 fmt::format("\"libraries\" must be an object, such as {{ \"DirectML\": \"<1.16\" }}; "
                                             "this is {}",
                                             libraries->kind_name()));
        }
        for (const cases::JsonMember& member : *libraries->object()) {
            if (auto range =
                    read_range(member.value, fmt::format("the version of \"{}\"", core::shortened(member.key)))) {
                result_.libraries.emplace(member.key, std::move(*range));
            }
        }
    }

    void read_expiry() {
        std::string text;
        read_text("expires", text, false);
        if (!text.empty()) {
            result_.expires = parse_date(text);
            if (!result_.expires) {
                problems_.add(entry_.find("expires")->offset, fmt::format("\"{}\" is not a day", core::shortened(text)),
                              "the last day on which the expectation counts, as 2026-12-31");
            }
        }
    }

    void read_retries() {
        const JsonValue* value = entry_.find("retries");
        if (value == nullptr) {
            return;
        }
        if (result_.expected != Expected::flake) {
            return problems_.add(value->offset, "only a flake has \"retries\"");
        }
        const auto retries = cases::read_unsigned(*value, "\"retries\"", most_retries, problems_);
        if (retries && *retries == 0) {
            problems_.add(value->offset, "a flake that is never tried again fails",
                          "leave \"retries\" out, or write 1");
        }
        result_.retries = static_cast<unsigned>(retries.value_or(1));
    }

    const JsonValue& entry_;
    ProblemSink& problems_;
    Expectation result_;
    /// The operators that the entry applies to.
    std::vector<const operators::OperatorSchema*> meant_;
};

/// True if the file declares the expected format.
bool check_format(const JsonValue& document, ProblemSink& problems) {
    const JsonValue* format = document.find("format");
    if (format == nullptr || format->string() == nullptr || *format->string() != format_name) {
        problems.add(format == nullptr ? document.offset : format->offset,
                     fmt::format("a file of expectations needs \"format\": \"{}\"", format_name),
                     document.find("cases") == nullptr ? "" : "is this a case file?");
        return false;
    }
    const JsonValue* version = document.find("formatVersion");
    if (version == nullptr) {
        problems.add(document.offset,
                     fmt::format("a file of expectations needs \"formatVersion\": {}", format_version));
        return false;
    }
    const auto number = cases::read_unsigned(*version, "\"formatVersion\"", UINT32_MAX, problems);
    if (number && *number != format_version) {
        problems.add(version->offset, fmt::format("this program reads version {} of the format; this is version {}",
                                                  format_version, *number));
    }
    return number == format_version;
}

void read_document(const JsonValue& document, ProblemSink& problems, std::vector<Expectation>& list) {
    static const std::array<std::string, 5> keys{"$schema", "format", "formatVersion", "description", "expectations"};
    if (document.object() == nullptr) {
        return problems.add(document.offset,
                            fmt::format("a file of expectations must be an object; this is {}", document.kind_name()));
    }
    if (!check_format(document, problems)) {
        return;
    }
    cases::check_keys(document, keys, "a file of expectations", problems);
    for (const std::string& key : {keys[0], keys[3]}) {
        if (const JsonValue* value = document.find(key); value != nullptr && value->string() == nullptr) {
            problems.add(value->offset, fmt::format("\"{}\" must be a string; this is {}", key, value->kind_name()));
        }
    }
    const JsonValue* entries = document.find("expectations");
    if (entries == nullptr || entries->array() == nullptr) {
        return problems.add(entries == nullptr ? document.offset : entries->offset,
                            "a file of expectations needs \"expectations\": an array, which may be empty");
    }
    for (const JsonValue& entry : *entries->array()) {
        EntryReader(entry, problems).read_into(list);
    }
}

}  // namespace

ExpectationFile read_expectations(const std::string& file, std::string_view text) {
    ExpectationFile read;
    ProblemSink problems(file, text);
    const auto document = cases::parse_json(text);
    if (!document) {
        problems.add(document.error().offset, document.error().error.message, document.error().error.hint);
        read.problems = problems.take({});
        return read;
    }
    read_document(*document, problems, read.expectations);
    read.problems = problems.take(*document);
    return read;
}

ExpectationFile load_expectations(const std::string& path) {
    const auto text = core::read_text_file(path, largest_file);
    if (!text) {
        return {{}, {{path, 0, 0, "", text.error().message, text.error().hint}}};
    }
    return read_expectations(path, *text);
}

}  // namespace dmlconform::expectations
