// Adds up the durations of cases.
#include "engine/report/recorded_times.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/report/result_file.h"

namespace dmlconform::report {

core::Result<run::CaseDurations> recorded_times(const std::string& path) {
    run::CaseDurations durations;
    const auto header = read_result_file(path, [&](nlohmann::ordered_json& result) -> core::Result<void> {
        double& seconds = durations[run::id_hash(result["id"].get_ref<const std::string&>())];
        if (const auto timing = result.find("timing"); timing != result.end()) {
            seconds += static_cast<double>((*timing)["totalNanoseconds"].get<std::uint64_t>()) * 1e-9;
        }
        return {};
    });
    if (!header) {
        return tl::unexpected(header.error());
    }
    if (durations.empty()) {
        return core::fail(fmt::format("{}: there are no results in it", path));
    }
    return durations;
}

}  // namespace dmlconform::report
