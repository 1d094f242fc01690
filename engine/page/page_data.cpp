// Reads result files, and keeps only what is shown.
#include "engine/page/page_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "engine/core/counted.h"
#include "engine/core/data_type.h"
#include "engine/core/hash.h"
#include "engine/report/result_file.h"

namespace dmlconform::page {
namespace {

std::vector<bench::BenchmarkFile> contents_of(const std::vector<BenchFile>& files) {
    std::vector<bench::BenchmarkFile> contents;
    std::transform(files.begin(), files.end(), std::back_inserter(contents),
                   [](const BenchFile& file) { return file.content; });
    return contents;
}

bool is_data_type(std::string_view word) {
    for (std::uint32_t i = 1; i < core::data_type_count; ++i) {
        if (word == core::name(static_cast<core::DataType>(i))) {
            return true;
        }
    }
    return false;
}

/// Describes engines, and how to start them again.
Json engines_json(const Json& document) {
    Json engines = Json::array();
    for (const Json& engine : document["engines"]) {
        Json& kept = engines.emplace_back(Json::object());
        for (const char* member : {"name", "adapter", "driver", "featureLevel", "command"}) {
            if (const auto found = engine.find(member); found != engine.end() && found->is_string()) {
                kept[member] = *found;
            }
        }
        if (const auto reference = engine.find("reference"); reference != engine.end() && *reference == true) {
            kept["reference"] = true;
        }
    }
    return engines;
}

/// Hashes of the ids, by the engine's name.
using CasesByEngine = std::map<std::string, std::set<std::uint64_t>>;

/// Hashes of every case with the engine, adapter, driver and command. The reference is left out where another engine
/// is judged: it may stand beside several.
std::vector<std::uint64_t> judged_cases(const CasesByEngine& cases, const Json& engines) {
    const auto is_reference = [](const Json& engine) {
        const auto found = engine.find("reference");
        return found != engine.end() && *found == true;
    };
    const bool only_reference = std::all_of(engines.begin(), engines.end(), is_reference);
    std::vector<std::uint64_t> hashes;
    for (const Json& engine : engines) {
        const auto own = cases.find(engine["name"].get<std::string>());
        if (own == cases.end() || (is_reference(engine) && !only_reference)) {
            continue;
        }
        std::uint64_t where = core::fnv1a_start;
        for (const char* member : {"name", "adapter", "driver", "command"}) {
            const auto found = engine.find(member);
            where = core::fnv1a("\n", core::fnv1a(found == engine.end() ? "" : found->dump(), where));
        }
        for (const std::uint64_t hash : own->second) {
            hashes.push_back(core::mixed(hash) ^ where);
        }
    }
    return hashes;
}

}  // namespace

std::string data_type_of(const Json& lines) {
    for (const Json& line : lines) {
        if (!line.is_string()) {
            continue;
        }
        // "InputTensor: FLOAT32 [1,1,4,4]"
        const std::string_view text = line.get_ref<const std::string&>();
        const std::size_t colon = text.find(": ");
        if (colon == std::string_view::npos) {
            continue;
        }
        const std::string_view rest = text.substr(colon + 2);
        if (const std::string_view word = rest.substr(0, rest.find(' ')); is_data_type(word)) {
            return std::string(word);
        }
    }
    return "-";
}

core::Result<void> PageData::add_run(const std::string& path) {
    const std::size_t index = runs.size();
    Json document;
    CasesByEngine cases;
    const auto header = report::read_result_file(
        path,
        [&](Json& result) {
            cases[result["engine"].get<std::string>()].insert(core::fnv1a(result["id"].get<std::string>()));
            std::string data_type = data_type_of(result["descriptor"]);
            add_result(result, data_type, totals);
            graphs.add(result, index, data_type);
            if (run::is_failure(*report::status_named(result["status"].get<std::string>()))) {
                ++failure_count;
                if (failures.size() < most_failures) {
                    failures.push_back({index, std::move(data_type), std::move(result)});
                }
            }
            return core::Result<void>();
        },
        &document);
    if (!header) {
        return tl::unexpected(header.error());
    }
    for (const std::uint64_t hash : judged_cases(cases, document["engines"])) {
        const auto [other, is_new] = seen.try_emplace(hash, index);
        if (!is_new && other->second != index) {
            return core::fail(
                fmt::format("{} has cases that {} has, too, on the same engine", path, runs[other->second].path),
                "`dmlconform diff BASE NEW` shows what changed from one result to the next. One page is for parts of a "
                "run, or for different engines, adapters or drivers");
        }
    }
    runs.push_back({path, engines_json(document), header->started, header->machine, document.value("command", Json())});
    return {};
}

core::Result<void> PageData::add_bench(const std::string& path, bool as_base) {
    auto file = bench::read_benchmark_file(path);
    if (!file) {
        return tl::unexpected(file.error());
    }
    (as_base ? base : benches).push_back({path, std::move(*file)});
    return {};
}

std::string SlowerBenchmarks::text() const {
    if (of == 0) {
        return missing == 0 ? "" : fmt::format("no benchmark is compared; {} only in the base", missing);
    }
    std::string text = fmt::format("{} of {} benchmarks slower", names.size(), of);
    if (!tells) {
        text = fmt::format("it cannot be told of any of {} whether it is slower", core::counted(of, "benchmark"));
    } else if (undecided != 0) {
        text += fmt::format("; of {} it cannot be told", undecided);
    }
    return missing == 0 ? text : fmt::format("{}; {} only in the base", text, missing);
}

SlowerBenchmarks PageData::slower() const {
    SlowerBenchmarks slower;
    std::set<std::string> judged;
    std::set<std::string> undecided;
    for (const bench::ComparedBenchmark& compared : comparison.benchmarks) {
        (bench::is_undecided(compared) ? undecided : judged).insert(compared.name);
        if (compared.change == bench::Change::slower) {
            slower.names.insert(compared.name);
        }
    }
    // What the comparison tells need not be told by the history, too.
    const std::set<std::string> compared = judged;
    for (const Json& series : trends.is_array() ? trends : Json::array()) {
        const std::string verdict = series.value("verdict", "gone");
        const std::string name = series["name"].get<std::string>();
        if (verdict == "maybe slower" || (verdict == "too few" && !compared.contains(name))) {
            undecided.insert(name);
        }
        if (verdict != "gone" && verdict != "too few") {
            judged.insert(name);
        }
        if (verdict == "slower") {
            slower.names.insert(name);
        }
    }
    std::erase_if(undecided, [&](const std::string& name) { return slower.names.contains(name); });
    slower.undecided = undecided.size();
    slower.tells = !judged.empty();
    judged.insert(undecided.begin(), undecided.end());
    slower.of = judged.size();
    slower.missing = comparison.missing.size();
    return slower;
}

void PageData::compare() {
    if (!base.empty() && !benches.empty()) {
        comparison = bench::compare_runs(contents_of(base), contents_of(benches), settings);
    }
}

}  // namespace dmlconform::page
