// `dmlconform worker`: serves an engine to another process over standard input and output.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/crash.h"
#include "app/standard_streams.h"
#include "app/worker_streams.h"
#include "engine/run/engine_list.h"
#include "engine/run/reference_source.h"
#include "engine/worker/server.h"

namespace dmlconform::app {
namespace {

struct WorkerOptions {
    std::string engine;
    run::EngineOptions options;
};

int work(const WorkerOptions& options) {
    const auto known = run::engine_names();
    if (std::find(known.begin(), known.end(), options.engine) == known.end()) {
        warn("dmlconform: there is no engine \"{}\"\n    hint: engines are {}\n", options.engine,
             core::show_list(known, ", "));
        return exit_usage;
    }
    // Must come before engine code, which may print.
    WorkerStreams streams;
    end_with_client();
    end_at_once_on_crash();
    const auto engine = run::create_engine(options.engine, options.options);
    const auto served = worker::serve(
        engine, [&](std::span<std::byte> to) { return streams.read(to); },
        [&](std::span<const std::byte> bytes) { return streams.write(bytes); },
        options.engine == run::reference_engine ? worker::ReferenceAnswer(run::answer_reference)
                                                : worker::ReferenceAnswer());
    if (!served) {
        warn("dmlconform worker: {}\n", served.error().message);
        return exit_usage;
    }
    return engine ? exit_ok : exit_not_run;
}

}  // namespace

void add_worker_command(Command app, int& exit_code) {
    auto options = std::make_shared<WorkerOptions>();
    const Command command = app.add_subcommand(
        "worker", "Serve an engine to another process (docs/worker-protocol.md). This is for programs, not for people");
    command
        .add_option("--engine", options->engine,
                    fmt::format("The engine to serve: {}", core::show_list(run::engine_names(), ", ")))
        .required()
        .type_name("NAME");
    add_engine_options(command, options->options);
    command.callback([options, &exit_code] { exit_code = work(*options); });
}

}  // namespace dmlconform::app
