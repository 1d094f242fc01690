// Checks, orders and adds up the results of shards.
#include "engine/report/merge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "engine/core/checked.h"
#include "engine/operators/catalogue.h"
#include "engine/operators/operator_name.h"
#include "engine/report/json_report.h"
#include "engine/report/output_file.h"

namespace dmlconform::report {
namespace {

using Json = nlohmann::ordered_json;

run::Timing timing_of(const Json& result) {
    run::Timing timing;
    if (const auto found = result.find("timing"); found != result.end()) {
        timing.total = std::chrono::nanoseconds((*found)["totalNanoseconds"].get<std::int64_t>());
        timing.execute = std::chrono::nanoseconds((*found)["executeNanoseconds"].get<std::int64_t>());
        if (const auto device = found->find("deviceNanoseconds"); device != found->end()) {
            timing.device = std::chrono::nanoseconds(device->get<std::int64_t>());
        }
    }
    return timing;
}

/// The engines without properties that may vary between machines of the same kind, such as the number of processors.
Json comparable_engines(const Json& document) {
    Json engines = document["engines"];
    for (Json& engine : engines) {
        if (engine.value("reference", false)) {
            engine.erase("adapter");
        }
    }
    return engines;
}

/// True if the document has valid data about its shard.
bool has_shard(const Json& document) {
    const auto shard = document.find("shard");
    if (shard == document.end() || !shard->is_object()) {
        return false;
    }
    for (const char* member : {"index", "count", "cases", "casesOfAll"}) {
        if (!shard->contains(member) || !(*shard)[member].is_number_unsigned()) {
            return false;
        }
    }
    const auto number = [&](const char* member) { return (*shard)[member].get<std::uint64_t>(); };
    return shard->contains("fingerprint") && number("index") >= 1 && number("index") <= number("count") &&
           number("count") <= 1'000'000 && number("cases") <= number("casesOfAll");
}

std::size_t index_of(const Json& document) {
    return document["shard"]["index"].get<std::size_t>();
}

std::uint64_t number_in(const Json& document, const char* member) {
    const auto found = document.find(member);
    return found != document.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

void count_precision(const Json& result, run::PrecisionCounts& counts) {
    for (const Json& output : result["outputs"]) {
        if (const auto precision = output.find("precision"); precision != output.end() && precision->is_object()) {
            run::OutputPrecision counted;
            const auto name = precision->find("computesAs");
            counted.computes_as = name != precision->end() && name->is_string() ? name->get<std::string>() : "";
            counts.add(counted);
        }
    }
}

/// Same as run::powerless_reason.
std::string powerless_reason(const Json& result) {
    for (const Json& output : result["outputs"]) {
        const auto found = output.find("powerless");
        if (found != output.end() && found->is_string()) {
            return fmt::format("{}: {}", output.value("name", ""), found->get<std::string>());
        }
    }
    return {};
}

/// Same as run::reason_text.
std::string engine_and_reason(const Json& result) {
    return fmt::format("{}: {}", result["engine"].get<std::string>(), result.value("reason", ""));
}

/// By SIGHUP, Ctrl-C or SIGTERM.
bool was_interrupted(const Json& document) {
    const std::uint64_t code = number_in(document, "exitCode");
    return code == 129 || code == 130 || code == 143;
}

}  // namespace

core::Result<void> Merge::take(const std::string& path, Json& result) {
    const auto order = result.find("order");
    if (order == result.end() || !order->is_number_unsigned()) {
        return core::fail(fmt::format("{}: this is not a result of a shard: its results have no \"order\"", path),
                          "`dmlconform run --shard I/N --json FILE` writes them");
    }
    const std::string& engine = result["engine"].get_ref<const std::string&>();
    const auto known = std::find(names_.begin(), names_.end(), engine);
    const run::Shown compared = result.contains("uncompared")      ? run::Shown::part
                                : powerless_reason(result).empty() ? run::Shown::all
                                                                   : run::Shown::powerless;
    StoredResult stored{order->get<std::uint64_t>(),
                        run::shown_by(*status_named(result["status"].get_ref<const std::string&>()),
                                      result.contains("expectation"), compared),
                        result["gated"].get<bool>(),
                        lines_.size(),
                        0,
                        static_cast<std::uint32_t>(known - names_.begin())};
    if (known == names_.end()) {
        names_.push_back(engine);
    }
    run::CaseResult counted;
    counted.status = *status_named(result["status"].get_ref<const std::string&>());
    counted.timing = timing_of(result);
    if (result["gated"].get<bool>()) {
        count_precision(result, precision_);
        tallies_[{std::string(operators::short_name_of(result["operator"].get<std::string>())), stored.engine}].add(
            counted);
    } else {
        ++off_gate_[static_cast<std::size_t>(counted.status)];
        if (run::is_failure(counted.status) && off_gate_failures_.size() < run::RunTotals::most_off_gate_failures) {
            off_gate_failures_.push_back(fmt::format("{} on {}", result["id"].get<std::string>(), engine));
        }
    }
    result.erase("order");
    const std::string line = result.dump(-1, ' ', false, Json::error_handler_t::replace);
    stored.length = static_cast<std::uint32_t>(line.size());
    stored_.push_back(stored);
    return lines_.append(line);
}

core::Result<void> Merge::compare_with_first(const Part& part) const {
    const Json& first = parts_.front().document;
    const Json& other = part.document;
    const auto differs = [&](const std::string& what) {
        return core::fail(fmt::format("{} and {} are not of the same run: {}", parts_.front().path, part.path, what));
    };
    if (first["shard"]["count"] != other["shard"]["count"]) {
        return differs(fmt::format("one is of {} shards, the other of {}", first["shard"]["count"].dump(),
                                   other["shard"]["count"].dump()));
    }
    for (const char* member : {"casesOfAll", "fingerprint", "dividedBy"}) {
        if (first["shard"].value(member, Json()) != other["shard"].value(member, Json())) {
            return differs("their cases are not the same, or not divided in the same way");
        }
    }
    if (comparable_engines(first) != comparable_engines(other)) {
        return differs("their engines, adapters or drivers are not the same");
    }
    if (first.value("versions", Json()) != other.value("versions", Json())) {
        return differs("they were written by different versions of the program, or of its libraries");
    }
    for (const Part& earlier : parts_) {
        if (index_of(earlier.document) == index_of(other)) {
            return core::fail(fmt::format("{} and {} are both shard {}/{}", earlier.path, part.path, index_of(other),
                                          first["shard"]["count"].dump()));
        }
    }
    return {};
}

core::Result<void> Merge::add(const std::string& path) {
    Part part{path, {}, 0};
    const std::size_t before = stored_.size();
    const auto header = read_result_file(
        path, [&](Json& result) { return take(path, result); }, &part.document);
    if (!header) {
        return tl::unexpected(header.error());
    }
    part.results = stored_.size() - before;
    if (!has_shard(part.document)) {
        return core::fail(fmt::format("{}: this is not a result of a shard", path),
                          "`dmlconform run --shard I/N --json FILE` writes them");
    }
    if (!parts_.empty()) {
        if (auto same = compare_with_first(part); !same) {
            return same;
        }
    }
    parts_.push_back(std::move(part));
    return {};
}

core::Result<std::vector<std::string>> Merge::find_gaps() {
    const auto count = parts_.front().document["shard"]["count"].get<std::size_t>();
    std::sort(parts_.begin(), parts_.end(),
              [](const Part& a, const Part& b) { return index_of(a.document) < index_of(b.document); });
    std::vector<std::string> gaps;
    std::size_t next = 1;
    const auto missing_until = [&](std::size_t index) {
        if (index == next + 1) {
            gaps.push_back(fmt::format("shard {}/{} is missing", next, count));
        } else if (index > next) {
            gaps.push_back(fmt::format("shards {} to {} of {} are missing", next, index - 1, count));
        }
        next = index + 1;
    };
    const std::size_t engine_count = engines().size();
    std::uint64_t together = 0;
    for (const Part& part : parts_) {
        missing_until(index_of(part.document));
        const auto cases = part.document["shard"]["cases"].get<std::size_t>();
        together = core::checked_add(together, cases).value_or(std::numeric_limits<std::uint64_t>::max());
        if (engine_count != 0 && (part.results % engine_count != 0 || part.results / engine_count != cases)) {
            gaps.push_back(fmt::format("shard {}/{} ended early: {} has {} of {} cases", index_of(part.document), count,
                                       part.path, part.results / engine_count, cases));
        } else if (was_interrupted(part.document)) {
            gaps.push_back(fmt::format("shard {}/{} was interrupted: {}", index_of(part.document), count, part.path));
        }
    }
    missing_until(count + 1);
    const auto of_all = parts_.front().document["shard"]["casesOfAll"].get<std::uint64_t>();
    if (together > of_all || (parts_.size() == count && together != of_all)) {
        return core::fail(
            fmt::format("the shards have {} cases together, and say that all of them have {}", together, of_all),
            "are these the files as `dmlconform run --shard` wrote them?");
    }

    // The order of engines within a case is theirs in the list.
    std::vector<std::size_t> rank(names_.size(), 0);
    const auto known = engines();
    for (std::size_t i = 0; i < names_.size(); ++i) {
        rank[i] = static_cast<std::size_t>(
            std::find_if(known.begin(), known.end(), [&](const EngineInfo& e) { return e.name == names_[i]; }) -
            known.begin());
    }
    const auto key = [&](const StoredResult& stored) { return std::pair(stored.order, rank[stored.engine]); };
    std::sort(stored_.begin(), stored_.end(),
              [&](const StoredResult& a, const StoredResult& b) { return key(a) < key(b); });
    const auto twice = std::adjacent_find(
        stored_.begin(), stored_.end(), [&](const StoredResult& a, const StoredResult& b) { return key(a) == key(b); });
    if (twice != stored_.end()) {
        const auto line = lines_.read(twice->offset, twice->length);
        return core::fail(fmt::format("several shards have run {}", line ? Json::parse(*line)["id"].get<std::string>()
                                                                         : std::string("the same case")),
                          "were they divided by different --durations, or shuffled differently?");
    }
    if (const auto counted = count_unverified(); !counted) {
        return tl::unexpected(counted.error());
    }
    return gaps;
}

/// Counts the gated cases that no engine verified and the unrequested skips on the gate, in the order of the cases.
core::Result<void> Merge::count_unverified() {
    for (auto first = stored_.begin(); first != stored_.end();) {
        const auto last = std::find_if(first, stored_.end(),
                                       [&](const StoredResult& stored) { return stored.order != first->order; });
        const auto best = std::max_element(
            first, last, [](const StoredResult& a, const StoredResult& b) { return a.shown < b.shown; });
        std::string id;
        std::vector<std::string> why;
        for (auto stored = first; stored != last; ++stored) {
            const bool is_unverified = first->gated && best->shown != run::Shown::all;
            // A result that verifies something is not such a skip.
            const bool may_be_skip = stored->gated && stored->shown == run::Shown::nothing;
            if (!is_unverified && !may_be_skip) {
                continue;
            }
            const auto line = lines_.read(stored->offset, stored->length);
            if (!line) {
                return tl::unexpected(line.error());
            }
            const Json result = Json::parse(*line);
            id = result["id"].get<std::string>();
            if (may_be_skip && result["status"] == run::to_string(run::Status::skip)) {
                skips_[engine_and_reason(result)].add(id);
            }
            if (!is_unverified) {
                continue;
            }
            if (best->shown != run::Shown::powerless) {
                why.push_back(engine_and_reason(result));
            } else if (stored->shown == run::Shown::powerless && why.empty()) {
                why.push_back(powerless_reason(result));
            }
        }
        if (first->gated) {
            unverified_.add(id, best->shown, fmt::format("{}", fmt::join(why, "; ")));
        }
        first = last;
    }
    // All shards had the same filters.
    const Json& first = parts_.front().document;
    const auto unverified = first.find("unverified");
    const auto filters =
        unverified == first.end() || !unverified->is_object() ? Json() : unverified->value("filters", Json());
    for (const Json& filter : filters) {
        if (filter.is_string()) {
            unverified_.filters.push_back(filter.get<std::string>());
        }
    }
    return {};
}

std::vector<EngineInfo> Merge::engines() const {
    std::vector<EngineInfo> list;
    for (const Json& engine : parts_.front().document["engines"]) {
        EngineInfo& info = list.emplace_back();
        info.name = engine["name"].get<std::string>();
        info.adapter = engine["adapter"].get<std::string>();
        info.driver = engine["driver"].get<std::string>();
        info.is_reference = engine.value("reference", false);
    }
    return list;
}

run::RunTotals Merge::totals() const {
    run::RunTotals totals(engines());
    totals.results = stored_.size();
    totals.off_gate = off_gate_;
    totals.off_gate_failures = off_gate_failures_;
    totals.skips = skips_;
    totals.unverified = unverified_;
    totals.precision = precision_;
    for (const auto& [key, tally] : tallies_) {
        const auto engine =
            std::find_if(totals.engines.begin(), totals.engines.end(),
                         [&name = names_[key.second]](const EngineInfo& info) { return info.name == name; });
        const auto index = static_cast<std::size_t>(engine - totals.engines.begin());
        totals.rows[{key.first, index}] = tally;
        totals.all[index].add(tally);
    }
    for (const Part& part : parts_) {
        totals.duration += std::chrono::nanoseconds(number_in(part.document, "durationNanoseconds"));
    }
    return totals;
}

RunContext Merge::context() const {
    RunContext context;
    const Json& first = parts_.front().document;
    if (const auto command = first.find("command"); command != first.end() && command->is_array()) {
        for (const Json& word : *command) {
            context.command.push_back(word.is_string() ? word.get<std::string>() : word.dump());
        }
    }
    context.started = first["started"].get<std::string>();
    for (const Part& part : parts_) {
        context.started = std::min(context.started, part.document["started"].get<std::string>());
    }
    return context;
}

core::Result<void> Merge::for_each(const std::function<core::Result<void>(const std::string& line)>& visit) {
    for (const StoredResult& stored : stored_) {
        const auto line = lines_.read(stored.offset, stored.length);
        if (!line) {
            return tl::unexpected(line.error());
        }
        if (auto visited = visit(*line); !visited) {
            return visited;
        }
    }
    return {};
}

core::Result<void> Merge::write_json(const std::string& path, int exit_code) {
    Json head = parts_.front().document;
    for (const char* member :
         {"shard", "results", "summary", "unspecified", "unverified", "precision", "durationNanoseconds", "exitCode"}) {
        head.erase(member);
    }
    head["started"] = context().started;
    OutputFile file;
    auto written = file.open(path);
    if (written) {
        written = file.write(json_opening(head));
    }
    bool first = true;
    if (written) {
        written = for_each([&](const std::string& line) {
            return file.write((std::exchange(first, false) ? "\n  " : ",\n  ") + line);
        });
    }
    if (written) {
        written = file.write(json_closing(totals(), exit_code));
    }
    return written ? file.commit() : written;
}

run::CaseResult result_of(const Json& json, std::span<const EngineInfo> engines) {
    auto subject = std::make_shared<cases::Case>();
    subject->id = json["id"].get<std::string>();
    subject->file = json["file"].get<std::string>();
    subject->line = json["line"].get<std::size_t>();
    run::CaseResult result;
    result.subject = std::move(subject);
    const auto engine = std::find_if(engines.begin(), engines.end(),
                                     [&](const EngineInfo& info) { return json["engine"] == info.name; });
    result.engine = static_cast<std::size_t>(engine - engines.begin());
    result.repetition = static_cast<std::size_t>(number_in(json, "repetition"));
    result.status = *status_named(json["status"].get_ref<const std::string&>());
    result.gated = json["gated"].get<bool>();
    result.reason = json.value("reason", "");
    result.difference = json.value("difference", "");
    result.hint = json.value("hint", "");
    result.timing = timing_of(json);
    return result;
}

}  // namespace dmlconform::report
