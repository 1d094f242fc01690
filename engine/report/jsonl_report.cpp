// Writes and flushes one line for each result.
#include "engine/report/jsonl_report.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "engine/report/json_report.h"

namespace dmlconform::report {

core::Result<void> JsonlReport::failed() const {
    return core::fail(fmt::format("{} cannot be written: {}", file_in_messages(path_), std::strerror(errno)));
}

core::Result<void> JsonlReport::begin(const RunContext& /*context*/, std::span<const EngineInfo> engines) {
    for (const EngineInfo& engine : engines) {
        engines_.push_back(engine.name);
    }
    std::error_code ignored;
    const auto status = std::filesystem::status(path_, ignored);
    const bool special =
        path_ == standard_output_path || (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status));
    errno = 0;
    file_ = special ? open_in_place(path_) : make_or_empty_file(path_);
    return file_ ? core::Result<void>() : failed();
}

core::Result<void> JsonlReport::add(const run::CaseResult& result) {
    const std::string line = result_json(result, engines_[result.engine]) + "\n";
    errno = 0;
    const bool written =
        std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size() && std::fflush(file_.get()) == 0;
    return written ? core::Result<void>() : failed();
}

core::Result<void> JsonlReport::finish(const run::RunTotals& /*totals*/, int /*exit_code*/) {
    errno = 0;
    return std::fclose(file_.release()) == 0 ? core::Result<void>() : failed();
}

}  // namespace dmlconform::report
