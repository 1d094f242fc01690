// The options by which engines are set up.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/command.h"

namespace dmlconform::app {
namespace {

/// DML_EXECUTION_FLAGS, by their suffixes.
const std::map<std::string, std::uint32_t>& execution_flags() {
    static const std::map<std::string, std::uint32_t> flags{
        {"ALLOW_HALF_PRECISION_COMPUTATION", 1}, {"DISABLE_META_COMMANDS", 2}, {"DESCRIPTORS_VOLATILE", 4}};
    return flags;
}

void add_directml_options(CLI::App& command, run::EngineOptions& options) {
    command
        .add_option("--directml", options.directml,
                    "The DirectML.dll to test. Default: the environment's DMLCONFORM_DIRECTML, or the one that Windows "
                    "finds")
        ->type_name("PATH");
    command
        .add_option_function<std::vector<std::string>>(
            "--execution-flag",
            [&options](const std::vector<std::string>& names) {
                for (const std::string& name : names) {
                    options.execution_flags |= execution_flags().at(name);
                }
            },
            "Compile operators of DirectML with this flag; repeat for more")
        ->type_name("FLAG")
        ->allow_extra_args(false)
        ->check(CLI::IsMember(&execution_flags()));
}

}  // namespace

void add_engine_options(CLI::App& command, run::EngineOptions& options) {
    command
        .add_option("--adapter", options.adapter, "Run on the adapter with this in its name (`dmlconform adapters`)")
        ->type_name("SUBSTRING");
    add_feature_level(command, options.feature_level);
    const auto engines = run::engine_names();
    if (std::find(engines.begin(), engines.end(), "directml") != engines.end()) {
        add_directml_options(command, options);
    }
}

std::vector<std::string> engine_arguments(const run::EngineOptions& options) {
    std::vector<std::string> arguments{"--feature-level=" + core::to_string(options.feature_level)};
    if (!options.adapter.empty()) {
        arguments.push_back("--adapter=" + options.adapter);
    }
    if (!options.directml.empty()) {
        arguments.push_back("--directml=" + options.directml);
    }
    for (const auto& [name, flag] : execution_flags()) {
        if ((options.execution_flags & flag) != 0) {
            arguments.push_back("--execution-flag=" + name);
        }
    }
    return arguments;
}

}  // namespace dmlconform::app
