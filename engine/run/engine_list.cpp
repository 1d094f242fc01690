// Creates engines by name.
#include "engine/run/engine_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdlib>

#include "engine/cpu/cpu_engine.h"
#include "engine/cpu/kernel.h"
#if DMLCONFORM_HAS_D3D12
#include "engine/d3d12/d3d12_engine.h"
#include "engine/d3d12/device/adapters.h"
#include "engine/d3d12/planning/binding.h"
#endif
#if DMLCONFORM_HAS_DIRECTML
#include "engine/directml/directml_engine.h"
#elif DMLCONFORM_DIRECTML_IN_WINE
#include "engine/directml/wine/command.h"
#include "engine/run/worker_engines.h"
#endif

namespace dmlconform::run {
namespace {

#if DMLCONFORM_HAS_DIRECTML
const std::array<std::string, 3> names{"cpu", "d3d12", "directml"};

core::Result<std::unique_ptr<Engine>> create_directml(const EngineOptions& options) {
    directml::Options own;
    const char* environment = std::getenv("DMLCONFORM_DIRECTML");
    own.library = options.directml.empty() && environment != nullptr ? environment : options.directml;
    own.adapter = options.adapter;
    own.feature_level = options.feature_level;
    own.execution_flags = options.execution_flags;
    return directml::create_engine(own);
}
#elif DMLCONFORM_DIRECTML_IN_WINE
const std::array<std::string, 3> names{"cpu", "d3d12", "directml"};

core::Result<std::unique_ptr<Engine>> create_directml(const EngineOptions& options) {
    auto command = directml::wine::worker_command(engine_arguments(options));
    if (!command) {
        return tl::unexpected(command.error());
    }
    return create_worker_engine(std::move(*command), options.worker);
}
#else
const std::array<std::string, 2> names{"cpu", "d3d12"};
#endif

#if DMLCONFORM_HAS_DIRECTML || DMLCONFORM_DIRECTML_IN_WINE
/// An engine is usable only if it passed its self-test.
void list_directml(std::vector<AdapterLine>& lines) {
    const auto engine = create_directml({});
    if (engine) {
        lines.push_back({"directml", (*engine)->info().adapter, (*engine)->info().driver, true, ""});
    } else {
        lines.push_back({"directml", "", "", false, engine.error().message});
    }
}
#endif

#if DMLCONFORM_HAS_D3D12
core::Result<std::unique_ptr<Engine>> create_d3d12(const EngineOptions& options) {
    return d3d12::create_engine(options.adapter, options.feature_level);
}

void list_d3d12(std::vector<AdapterLine>& lines) {
    const auto adapters = d3d12::enumerate_adapters();
    if (!adapters) {
        lines.push_back({"d3d12", "", "", false, adapters.error().message});
        return;
    }
    const std::size_t chosen = d3d12::choose_adapter(*adapters, "").value();
    for (std::size_t i = 0; i < adapters->size(); ++i) {
        lines.push_back({"d3d12", (*adapters)[i].name, (*adapters)[i].driver, i == chosen, ""});
    }
}
#else
constexpr const char* not_built = "this build has no Direct3D 12: vkd3d was not found when it was configured";

core::Result<std::unique_ptr<Engine>> create_d3d12(const EngineOptions& /*options*/) {
    return core::fail(not_built);
}

void list_d3d12(std::vector<AdapterLine>& lines) {
    lines.push_back({"d3d12", "", "", false, not_built});
}
#endif

}  // namespace

const std::map<std::string, std::uint32_t>& execution_flags() {
    static const std::map<std::string, std::uint32_t> flags{
        {"ALLOW_HALF_PRECISION_COMPUTATION", 1}, {"DISABLE_META_COMMANDS", 2}, {"DESCRIPTORS_VOLATILE", 4}};
    return flags;
}

std::vector<std::string> engine_arguments(const EngineOptions& options) {
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

std::span<const std::string> engine_names() {
    return names;
}

bool runs_in_own_process([[maybe_unused]] std::string_view name) {
#if DMLCONFORM_DIRECTML_IN_WINE
    return name == "directml";
#else
    return false;
#endif
}

core::Result<std::unique_ptr<Engine>> create_engine(const std::string& name, const EngineOptions& options) {
    if (name == reference_engine) {
        return std::make_unique<cpu::CpuEngine>(options.feature_level);
    }
    if (name == "d3d12") {
        return create_d3d12(options);
    }
#if DMLCONFORM_HAS_DIRECTML || DMLCONFORM_DIRECTML_IN_WINE
    if (name == "directml") {
        return create_directml(options);
    }
#endif
    return core::fail(fmt::format("there is no engine \"{}\"", name),
                      fmt::format("engines: {}", fmt::join(names, ", ")));
}

std::vector<std::string> engines_for(const operators::OperatorSchema& schema) {
    std::vector<std::string> result;
    if (cpu::find_kernel(schema.short_name()) != nullptr) {
        result.emplace_back("cpu");
    }
#if DMLCONFORM_HAS_D3D12
    if (d3d12::find_binding(schema.short_name()) != nullptr) {
        result.emplace_back("d3d12");
    }
#endif
    return result;
}

std::vector<AdapterLine> list_adapters() {
    std::vector<AdapterLine> lines;
    lines.push_back({"cpu", cpu::CpuEngine(core::highest_feature_level).info().adapter, "", true, ""});
    list_d3d12(lines);
#if DMLCONFORM_HAS_DIRECTML || DMLCONFORM_DIRECTML_IN_WINE
    list_directml(lines);
#endif
    return lines;
}

}  // namespace dmlconform::run
