// Reading results for what failed.
#include "app/rerun_option.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/report/result_file.h"
#include "engine/run/engine_list.h"

namespace dmlconform::app {
namespace {

void add_once(std::vector<std::string>& list, const std::string& text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) {
        list.push_back(text);
    }
}

}  // namespace

core::Result<FailedBefore> read_failed(const std::string& path) {
    FailedBefore failed;
    std::set<std::string> ids;
    const auto names = run::engine_names();
    const auto header = report::read_result_file(path, [&](nlohmann::ordered_json& result) -> core::Result<void> {
        const auto status = report::status_named(result["status"].get_ref<const std::string&>());
        if (!run::is_failure(*status) || !result["gated"].get<bool>()) {
            return {};
        }
        ids.insert(result["id"].get<std::string>());
        add_once(failed.files, result["file"].get<std::string>());
        const auto engine = result["engine"].get<std::string>();
        const bool known = std::find(names.begin(), names.end(), engine) != names.end();
        add_once(known ? failed.engines : failed.commands, engine);
        return {};
    });
    if (!header) {
        return tl::unexpected(header.error());
    }
    failed.ids = std::make_shared<const std::set<std::string>>(std::move(ids));
    return failed;
}

}  // namespace dmlconform::app
