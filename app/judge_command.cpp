// `dmlconform judge`: judges outputs that were computed elsewhere, as `run` judges an engine's.
#include <algorithm>
#include <memory>

#include "app/run_command.h"

namespace dmlconform::app {
namespace {

struct JudgeOptions {
    std::vector<std::string> folders;
    RunOptions run;
};

int judge(JudgeOptions& options, const Invocation& invocation) {
    std::vector<std::string>& engines = options.run.engines.engines;
    for (const std::string& folder : options.folders) {
        const std::string engine = std::string(outputs_prefix) + folder;
        // The same outputs twice would be two engines of one name.
        if (std::ranges::find(engines, engine) == engines.end()) {
            engines.push_back(engine);
        }
    }
    return run_selected(options.run, invocation);
}

}  // namespace

void add_judge_command(Command app, const Invocation& invocation, int& exit_code) {
    auto options = std::make_shared<JudgeOptions>();
    RunOptions& run = options->run;
    run.with_nodes = false;
    const Command command =
        app.add_subcommand("judge", "Compare outputs that were computed elsewhere with what they should be");
    run.cases.add_to(command);
    command
        .add_option("--outputs", options->folders,
                    "The folder with the outputs: a folder for each case in it, called as `export raw` calls it, with "
                    "the files OutputTensor.npy and so on, or output_0.pb and so on. Repeat it for more")
        .required()
        .path("DIR")
        .allow_extra_args(false);
    add_feature_level(command, run.engines.options.feature_level);
    run.engines.add_precision_to(command);
    run.against.add_to(command);
    run.expectations.add_to(command);
    run.outputs.add_to(command);
    run.shards.add_to(command);
    add_limit_options(command, run);
    add_verdict_options(command, run);
    command.callback([options, &invocation, &exit_code] { exit_code = judge(*options, invocation); });
}

}  // namespace dmlconform::app
