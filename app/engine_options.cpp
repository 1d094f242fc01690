// The options that set up engines.

#include <algorithm>

#include "app/command.h"

namespace dmlconform::app {
namespace {

void add_directml_options(Command command, run::EngineOptions& options) {
    command
        .add_option(
            "--directml", options.directml,
            "The DirectML.dll to test. Default: the one that the environment's DMLCONFORM_DIRECTML names, or the "
            "one that Windows finds")
        .type_name("PATH");
    command
        .add_texts_option(
            "--execution-flag",
            [&options](const std::vector<std::string>& names) {
                for (const std::string& name : names) {
                    options.execution_flags |= run::execution_flags().at(name);
                }
            },
            "Compile DirectML's operators with this flag. Repeat it for more")
        .type_name("FLAG")
        .allow_extra_args(false)
        .one_of(keys_of(run::execution_flags()));
}

}  // namespace

void add_engine_options(Command command, run::EngineOptions& options) {
    command
        .add_option("--adapter", options.adapter,
                    "Run on the adapter that has this in its name. `dmlconform adapters` lists them")
        .type_name("SUBSTRING");
    add_feature_level(command, options.feature_level);
    const auto engines = run::engine_names();
    if (std::find(engines.begin(), engines.end(), "directml") != engines.end()) {
        add_directml_options(command, options);
    }
}

}  // namespace dmlconform::app
