// `dmlconform schema`: the JSON Schemas of the files that the program reads and writes.

#include <map>
#include <memory>
#include <string>

#include "app/command.h"
#include "app/standard_streams.h"
#include "engine/cases/case_schema.h"
#include "engine/expectations/expectation_file.h"
#include "engine/report/result_schema.h"

namespace dmlconform::app {

void add_schema_command(Command app, int& exit_code) {
    auto kind = std::make_shared<std::string>();
    static const std::map<std::string, std::string (*)()> schemas{{"case-file", cases::case_file_schema},
                                                                  {"expectations", expectations::expectations_schema},
                                                                  {"result", report::result_schema}};
    const Command command =
        app.add_subcommand("schema", "Print the JSON Schema of case files, of expectations or of results");
    command.add_option("kind", *kind, "What the schema is for").required().type_name("KIND").one_of(keys_of(schemas));
    command.callback([kind, &exit_code] {
        print_document(schemas.at(*kind)());
        exit_code = exit_ok;
    });
}

}  // namespace dmlconform::app
