// Quoting.
#include "engine/report/command_line.h"

#include <set>

namespace dmlconform::report {
namespace {

/// One command has one adapter and one feature level, and gives them to all engines of this program.
std::string options_of(std::span<const EngineInfo> engines, bool here) {
    std::string names;
    std::set<std::string> adapters;
    std::string level;
    for (const EngineInfo& engine : engines) {
        names += names.empty() ? "--engine " : " --engine ";
        if (!engine.command.empty()) {
            names += shell_quoted("exec:" + engine.command);
            continue;
        }
        names += engine.name;
        if (here && engine.name != "cpu" && !engine.adapter.empty()) {
            adapters.insert(engine.adapter);
        }
        if (engine.feature_level != core::highest_feature_level) {
            level = " --feature-level " + core::to_string(engine.feature_level);
        }
    }
    // Engines that are on different adapters chose those themselves.
    return names + (adapters.size() == 1 ? " --adapter " + shell_quoted(*adapters.begin()) : "") + level;
}

}  // namespace

std::string shell_quoted(const std::string& text) {
    const bool plain =
        text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/=,+:") ==
        std::string::npos;
    if (plain && !text.empty()) {
        return text;
    }
    std::string quoted = "'";
    for (const char c : text) {
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return quoted + "'";
}

std::string engine_options(const EngineInfo& engine, bool here) {
    return options_of({&engine, 1}, here);
}

std::string engines_options(std::span<const EngineInfo> engines) {
    return options_of(engines, true);
}

}  // namespace dmlconform::report
