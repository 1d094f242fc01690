// `dmlconform schema`: the JSON Schemas of the files that the program reads and writes.
#include <fmt/format.h>

#include <memory>

#include "app/command.h"
#include "engine/cases/case_schema.h"
#include "engine/report/result_schema.h"

namespace dmlconform::app {

void add_schema_command(CLI::App& app, int& exit_code) {
    auto kind = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("schema", "Print the JSON Schema of case files or of results");
    command->add_option("kind", *kind, "case-file or result")
        ->required()
        ->type_name("KIND")
        ->check(CLI::IsMember({"case-file", "result"}));
    command->callback([kind, &exit_code] {
        fmt::print("{}", *kind == "result" ? report::result_schema() : cases::case_file_schema());
        exit_code = exit_ok;
    });
}

}  // namespace dmlconform::app
