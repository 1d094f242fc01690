// The options --against and --record.
#include "app/against_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "engine/report/output_file.h"
#include "engine/run/worker_engines.h"

namespace dmlconform::app {

void AgainstOption::add_to(Command command) {
    command
        .add_option("--against", engine,
                    "If a case has no expected values, compare engines with what this engine computes instead of the "
                    "reference. It is run too, whatever --engine says")
        .type_name("NAME");
    command
        .add_option(
            "--record", record,
            "Write a case file that expects what the engine of --against computes, or the only one of --engine. "
            "Large tensors go into a folder beside it")
        .path("FILE");
}

core::Result<void> AgainstOption::check(const EngineChoice& choice) const {
    if (record.empty()) {
        return {};
    }
    if (engine.empty() && choice.engines.size() != 1) {
        return core::fail("--record needs to know which engine to record", "--against NAME names it");
    }
    if (!record.ends_with(".json")) {
        return core::fail(fmt::format("--record {}: a case file's name ends in .json", record));
    }
    std::error_code ignored;
    if (std::filesystem::is_symlink(record, ignored)) {
        return core::fail(fmt::format("--record {}: this is a symbolic link", record),
                          "name the file itself: the data files are beside it");
    }
    return report::check_writable(record);
}

std::optional<std::size_t> AgainstOption::index_in(const Engines& engines) const {
    if (!any()) {
        return std::nullopt;
    }
    if (engine.empty()) {
        return 0;  // the only one
    }
    const auto found = std::find_if(engines.begin(), engines.end(), [&](const auto& candidate) {
        const EngineInfo& info = candidate->info();
        return engine.starts_with(run::exec_prefix) ? std::string(run::exec_prefix) + info.command == engine
                                                    : info.name == engine;
    });
    return static_cast<std::size_t>(found - engines.begin());
}

std::vector<std::string> AgainstOption::words() const {
    return engine.empty() ? std::vector<std::string>() : std::vector<std::string>{"--against=" + engine};
}

}  // namespace dmlconform::app
