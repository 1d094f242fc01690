// `dmlconform list`: the ids of cases.

#include <memory>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/standard_streams.h"

namespace dmlconform::app {
namespace {

nlohmann::ordered_json case_json(const cases::Case& entry) {
    return {{"id", entry.id},
            {"operator", entry.descriptor->schema->name},
            {"description", entry.description},
            {"file", entry.file},
            {"line", entry.line},
            {"tags", entry.tags},
            {"minFeatureLevel", core::to_string(entry.min_feature_level)},
            {"expectError", entry.expect_error ? nlohmann::ordered_json(core::to_string(*entry.expect_error))
                                               : nlohmann::ordered_json(nullptr)}};
}

int list(const CaseOptions& options, bool json) {
    const auto selection = load_selection(options);
    if (!selection) {
        return exit_usage;
    }
    if (json) {
        auto document = nlohmann::ordered_json::array();
        selection->for_each([&](const cases::Case& entry) { document.push_back(case_json(entry)); });
        print_document(document.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
        return exit_ok;
    }
    selection->for_each([](const cases::Case& entry) { say("{}\n", entry.id); });
    return exit_ok;
}

}  // namespace

void add_list_command(Command app, int& exit_code) {
    struct Options {
        CaseOptions cases;
        bool json = false;
    };
    auto options = std::make_shared<Options>();
    const Command command = app.add_subcommand("list", "Print the ids of cases");
    options->cases.add_to(command);
    options->cases.without_expected = true;
    command.add_flag("--json", options->json, "Print JSON, with operator, file, line and tags");
    command.callback([options, &exit_code] { exit_code = list(options->cases, options->json); });
}

}  // namespace dmlconform::app
