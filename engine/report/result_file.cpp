// The parser hands over each element of "results" as soon as it is complete, and drops it then.
#include "engine/report/result_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

namespace dmlconform::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* format_name = "dmlconform-result";
constexpr int format_version = 1;

/// A million results with all their failures are less.
constexpr std::uintmax_t most_bytes = std::uintmax_t{16} << 30;

/// Ends the parsing from within.
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

constexpr std::array result_members{Member{"id", Kind::text},         Member{"operator", Kind::text},
                                    Member{"file", Kind::text},       Member{"line", Kind::count},
                                    Member{"engine", Kind::text},     Member{"status", Kind::text},
                                    Member{"gated", Kind::truth},     Member{"reason", Kind::text, true},
                                    Member{"descriptor", Kind::list}, Member{"outputs", Kind::list}};

constexpr std::array timing_members{Member{"totalNanoseconds", Kind::count}, Member{"executeNanoseconds", Kind::count},
                                    Member{"deviceNanoseconds", Kind::count, true}};

constexpr std::array output_members{Member{"name", Kind::text}, Member{"tolerance", Kind::text},
                                    Member{"elements", Kind::count}, Member{"beyondTolerance", Kind::count}};

constexpr std::array engine_members{Member{"name", Kind::text}, Member{"adapter", Kind::text},
                                    Member{"driver", Kind::text}};

class Reader {
public:
    Reader(const std::string& path, const ResultVisitor& visit) : path_(path), visit_(visit) {}

    Json read(std::istream& stream) {
        return Json::parse(stream, [this](int depth, Json::parse_event_t event, Json& parsed) {
            if (depth == 1 && event == Json::parse_event_t::key) {
                in_results_ = parsed == "results";
            }
            if (!in_results_ || depth != 2) {
                return true;
            }
            const bool complete = event == Json::parse_event_t::object_end || event == Json::parse_event_t::array_end ||
                                  event == Json::parse_event_t::value;
            if (!complete) {
                return true;
            }
            take(parsed);
            return false;
        });
    }

    ResultHeader header_of(const Json& document) {
        const auto has = [&](const char* name, const auto& value) {
            return document.is_object() && document.contains(name) && document[name] == value;
        };
        if (!has("format", format_name)) {
            throw Stop{
                {fmt::format("{}: this is no result of dmlconform: \"format\" is not \"{}\"", path_, format_name),
                 "`dmlconform run --json FILE` writes them"}};
        }
        if (!has("formatVersion", format_version)) {
            throw Stop{{fmt::format("{}: /formatVersion: only version {} is known here", path_, format_version),
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
                                    *engines_seen_.begin()),
                        ""}};
        }
        return header;
    }

private:
    [[noreturn]] void wrong(const std::string& place, const std::string& what) const {
        throw Stop{{fmt::format("{}: {}: {}", path_, place, what), ""}};
    }

    template <std::size_t N>
    void check(const Json& object, const std::array<Member, N>& members, const std::string& place) const {
        if (!object.is_object()) {
            wrong(place, "this is no object");
        }
        for (const Member& member : members) {
            const auto found = object.find(member.name);
            if (found == object.end() ? !member.optional : !is_of(*found, member.kind)) {
                wrong(fmt::format("{}/{}", place, member.name),
                      fmt::format("it must be {}{}", name_of(member.kind),
                                  found == object.end() ? ", and is missing" : ""));
            }
        }
    }

    void take(Json& result) {
        const std::string place = fmt::format("/results/{}", count_++);
        check(result, result_members, place);
        if (!status_named(result["status"].get_ref<const std::string&>())) {
            wrong(place + "/status", fmt::format("there is no status {}", result["status"].dump()));
        }
        if (const auto timing = result.find("timing"); timing != result.end()) {
            check(*timing, timing_members, place + "/timing");
        }
        const Json& outputs = result["outputs"];
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            check(outputs[i], output_members, fmt::format("{}/outputs/{}", place, i));
        }
        engines_seen_.insert(result["engine"].get<std::string>());
        if (auto visited = visit_(result); !visited) {
            throw Stop{visited.error()};
        }
    }

    const std::string& path_;
    const ResultVisitor& visit_;
    bool in_results_ = false;
    std::size_t count_ = 0;
    std::set<std::string> engines_seen_;
};

std::optional<core::Error> unreadable(const std::string& path, const std::ifstream& stream) {
    std::error_code error;
    if (!stream || std::filesystem::is_directory(path, error)) {
        return core::Error{fmt::format("{}: cannot be read", path), "is it spelled right?"};
    }
    const auto size = std::filesystem::file_size(path, error);
    if (!error && size > most_bytes) {
        return core::Error{fmt::format("{}: larger than the {} bytes that results may have", path, most_bytes), ""};
    }
    return std::nullopt;
}

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
    std::ifstream stream(path, std::ios::binary);
    if (auto problem = unreadable(path, stream)) {
        return tl::unexpected(*std::move(problem));
    }
    try {
        Reader reader(path, visit);
        Json document = reader.read(stream);
        ResultHeader header = reader.header_of(document);
        if (everything != nullptr) {
            *everything = std::move(document);
        }
        return header;
    } catch (const Stop& stop) {
        return tl::unexpected(stop.error);
    } catch (const Json::exception& exception) {
        return core::fail(fmt::format("{}: this is no JSON, or not all of it: {}", path, exception.what()));
    }
}

bool is_result_file(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    // The writer begins with it; a tool that sorts members puts a few before.
    std::vector<char> start(65536);
    stream.read(start.data(), static_cast<std::streamsize>(start.size()));
    const std::string_view text(start.data(), static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
    return text.find(fmt::format("\"{}\"", format_name)) != std::string_view::npos;
}

}  // namespace dmlconform::report
