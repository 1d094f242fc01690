// Reading, with only what is shown kept.
#include "engine/page/page_data.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "engine/core/data_type.h"
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

/// What shows an engine, and what starts it again.
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
    const auto header = report::read_result_file(
        path,
        [&](Json& result) {
            std::string data_type = data_type_of(result["descriptor"]);
            add_result(result, data_type, totals);
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

void PageData::compare() {
    if (!base.empty() && !benches.empty()) {
        comparison = bench::compare_runs(contents_of(base), contents_of(benches), settings);
    }
}

}  // namespace dmlconform::page
