// Reads result files. Each element of "results" is checked and passed on immediately.
#include "engine/report/result_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/cases/json_list.h"
#include "engine/core/text_file.h"
#include "engine/core/utf8.h"
#include "engine/report/json_report.h"

namespace dmlconform::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* format_name = "dmlconform-result";

/// Limit; a million results with all their failures take less.
constexpr std::uintmax_t most_bytes = std::uintmax_t{16} << 30;

/// Limit; nobody compares more engines.
constexpr std::size_t most_engines = 1000;

/// Thrown to stop the parser.
struct Stop {
    core::Error error;
};

enum class Kind : std::uint8_t { text, truth, count, list };

bool is_of(const Json& value, Kind kind) {
    switch (kind) {
        case Kind::text:
            return value.is_string();
        case Kind::truth:
            return value.is_boolean();
        case Kind::count:
            return value.is_number_unsigned();
        case Kind::list:
        default:
            return value.is_array();
    }
}

const char* name_of(Kind kind) {
    constexpr std::array names{"a text", "true or false", "a whole number that is not negative", "a list"};
    return names[static_cast<std::size_t>(kind)];
}

struct Member {
    const char* name = "";
    Kind kind = Kind::text;
    bool optional = false;
};

constexpr std::array result_members{Member{"id", Kind::text},
                                    Member{"operator", Kind::text},
                                    Member{"file", Kind::text},
                                    Member{"line", Kind::count},
                                    Member{"engine", Kind::text},
                                    Member{"status", Kind::text},
                                    Member{"gated", Kind::truth},
                                    Member{"reason", Kind::text, true},
                                    Member{"descriptor", Kind::list},
                                    Member{"outputs", Kind::list},
                                    Member{"difference", Kind::text, true},
                                    Member{"hint", Kind::text, true},
                                    Member{"actualStatus", Kind::text, true},
                                    Member{"tags", Kind::list, true},
                                    Member{"uncompared", Kind::list, true},
                                    Member{"strayWrites", Kind::list, true},
                                    Member{"repetition", Kind::count, true},
                                    Member{"attempts", Kind::count, true},
                                    Member{"order", Kind::count, true}};

constexpr std::array timing_members{Member{"totalNanoseconds", Kind::count}, Member{"executeNanoseconds", Kind::count},
                                    Member{"deviceNanoseconds", Kind::count, true}};

constexpr std::array output_members{Member{"name", Kind::text}, Member{"tolerance", Kind::text},
                                    Member{"elements", Kind::count}, Member{"beyondTolerance", Kind::count}};

constexpr std::array engine_members{Member{"name", Kind::text}, Member{"adapter", Kind::text},
                                    Member{"driver", Kind::text}, Member{"reference", Kind::truth, true}};

class Reader {
public:
    Reader(const std::string& path, const ResultVisitor& visit) : path_(path), visit_(visit) {}

    core::Result<Json> read(std::istream& stream) {
        return cases::read_json_list(path_, stream, "results",
                                     [this](Json& result, std::size_t index) { return take(result, index); });
    }

    ResultHeader header_of(const Json& document) {
        const auto has = [&](const char* name, const auto& value) {
            return document.is_object() && document.contains(name) && document[name] == value;
        };
        if (!has("format", format_name)) {
            throw Stop{
                {fmt::format("{}: this is not a result of dmlconform: \"format\" is not \"{}\"", path_, format_name),
                 "`dmlconform run --json FILE` writes them"}};
        }
        if (!has("formatVersion", result_format_version)) {
            throw Stop{{fmt::format("{}: /formatVersion: only version {} is known here", path_, result_format_version),
                        "was it written by a newer dmlconform?"}};
        }
        ResultHeader header;
        check(document,
              std::array{Member{"started", Kind::text}, Member{"engines", Kind::list}, Member{"results", Kind::list},
                         Member{"machine", Kind::text, true}},
              "");
        header.started = document["started"].get<std::string>();
        header.machine = document.value("machine", "");
        for (std::size_t i = 0; i < document["engines"].size(); ++i) {
            const Json& engine = document["engines"][i];
            check(engine, engine_members, fmt::format("/engines/{}", i));
            header.engines.push_back({engine["name"].get<std::string>(), engine["adapter"].get<std::string>(),
                                      engine["driver"].get<std::string>()});
            engines_seen_.erase(header.engines.back().name);
        }
        if (!engines_seen_.empty()) {
            throw Stop{{fmt::format("{}: there are results of an engine \"{}\", which is not among /engines", path_,
                                    core::shortened(*engines_seen_.begin())),
                        ""}};
        }
        return header;
    }

private:
    [[noreturn]] void wrong(const std::string& pointer, const std::string& what) const {
        throw Stop{{fmt::format("{}: {}: {}", path_, pointer, what), ""}};
    }

    template <std::size_t N>
    void check(const Json& object, const std::array<Member, N>& members, const std::string& pointer) const {
        if (!object.is_object()) {
            wrong(pointer, "this is not an object");
        }
        for (const Member& member : members) {
            const auto found = object.find(member.name);
            if (found == object.end() ? !member.optional : !is_of(*found, member.kind)) {
                wrong(fmt::format("{}/{}", pointer, member.name),
                      fmt::format("it must be {}{}", name_of(member.kind),
                                  found == object.end() ? ", and is missing" : ""));
            }
        }
    }

    core::Result<void> take(Json& result, std::size_t index) {
        const std::string pointer = fmt::format("/results/{}", index);
        check(result, result_members, pointer);
        if (!status_named(result["status"].get_ref<const std::string&>())) {
            wrong(pointer + "/status", fmt::format("there is no status \"{}\"",
                                                   core::shortened(result["status"].get_ref<const std::string&>())));
        }
        if (const auto timing = result.find("timing"); timing != result.end()) {
            check(*timing, timing_members, pointer + "/timing");
        }
        const Json& outputs = result["outputs"];
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            check(outputs[i], output_members, fmt::format("{}/outputs/{}", pointer, i));
        }
        if (engines_seen_.insert(result["engine"].get<std::string>()).second && engines_seen_.size() > most_engines) {
            wrong(pointer + "/engine", fmt::format("there are results of more than {} engines", most_engines));
        }
        return visit_(result);
    }

    const std::string& path_;
    const ResultVisitor& visit_;
    std::set<std::string> engines_seen_;
};

}  // namespace

std::optional<run::Status> status_named(std::string_view name) {
    for (std::size_t status = 0; status < run::status_count; ++status) {
        if (name == run::to_string(static_cast<run::Status>(status))) {
            return static_cast<run::Status>(status);
        }
    }
    return std::nullopt;
}

core::Result<ResultHeader> read_result_file(const std::string& path, const ResultVisitor& visit, Json* everything) {
    auto stream = core::open_regular_file(path, most_bytes);
    if (!stream) {
        return core::fail(fmt::format("{}: {}", path, stream.error().message), "is it spelled right?");
    }
    try {
        Reader reader(path, visit);
        auto document = reader.read(*stream);
        if (!document) {
            return tl::unexpected(std::move(document.error()));
        }
        ResultHeader header = reader.header_of(*document);
        if (everything != nullptr) {
            *everything = std::move(*document);
        }
        return header;
    } catch (const Stop& stop) {
        return tl::unexpected(stop.error);
    }
}

bool is_result_file(const std::string& path) {
    auto stream = core::open_regular_file(path, most_bytes);
    if (!stream) {
        return false;
    }
    // The writer puts it first; tools that sort members put a few others before.
    std::vector<char> start(65536);
    stream->read(start.data(), static_cast<std::streamsize>(start.size()));
    const std::string_view text(start.data(), static_cast<std::size_t>(std::max<std::streamsize>(stream->gcount(), 0)));
    return text.find(fmt::format("\"{}\"", format_name)) != std::string_view::npos;
}

}  // namespace dmlconform::report
