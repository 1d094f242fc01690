// Starts workers.
#include "engine/run/worker_engines.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/run/engine_list.h"
#include "engine/worker/command_words.h"

namespace dmlconform::run {
namespace {

std::string unique_name(const std::string& name, std::span<const std::unique_ptr<Engine>> others) {
    std::string unique = name;
    const auto has_it = [&](const std::unique_ptr<Engine>& engine) { return engine->info().name == unique; };
    for (int number = 2; std::any_of(others.begin(), others.end(), has_it); ++number) {
        unique = fmt::format("{}#{}", name, number);
    }
    return unique;
}

}  // namespace

core::Result<std::vector<std::string>> exec_words(const std::string& name) {
    return worker::split_command(std::string_view(name).substr(exec_prefix.size()));
}

core::Result<std::unique_ptr<Engine>> create_exec_engine(const std::string& name,
                                                         const worker::WorkerSettings& settings,
                                                         std::span<const std::unique_ptr<Engine>> others) {
    auto words = exec_words(name);
    if (!words) {
        return tl::unexpected(std::move(words.error()));
    }
    auto engine = worker::WorkerEngine::start({std::move(*words), {}, ""}, settings);
    if (!engine) {
        return tl::unexpected(std::move(engine.error()));
    }
    const std::string own_name = std::string(exec_prefix) + (*engine)->info().name;
    (*engine)->set_origin(unique_name(own_name, others), name.substr(exec_prefix.size()));
    return std::move(*engine);
}

core::Result<std::unique_ptr<Engine>> create_worker_engine(worker::WorkerCommand command,
                                                           const worker::WorkerSettings& settings) {
    auto engine = worker::WorkerEngine::start(std::move(command), settings);
    if (!engine) {
        return tl::unexpected(std::move(engine.error()));
    }
    (*engine)->set_reference((*engine)->info().name == reference_engine);
    return std::move(*engine);
}

}  // namespace dmlconform::run
