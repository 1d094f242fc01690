// Quoting.
#include "engine/report/command_line.h"

namespace dmlconform::report {

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
    if (!engine.command.empty()) {
        return "--engine " + shell_quoted("exec:" + engine.command);
    }
    std::string options = "--engine " + engine.name;
    if (here && engine.name != "cpu") {
        options += " --adapter " + shell_quoted(engine.adapter);
    }
    if (engine.feature_level != core::highest_feature_level) {
        options += " --feature-level " + core::to_string(engine.feature_level);
    }
    return options;
}

}  // namespace dmlconform::report
