// Command lines that are shown to be copied.
#pragma once

#include <span>
#include <string>

#include "engine/engine.h"

namespace dmlconform::report {

/// Quotes a word for a POSIX shell, or for bash and similar shells if it has unprintable characters.
[[nodiscard]] std::string shell_quoted(const std::string& text);

/// Quotes a word for a shell of this system.
[[nodiscard]] std::string word_quoted(const std::string& text);

/// The options by which one command selects all these engines.
[[nodiscard]] std::string engines_options(std::span<const EngineInfo> engines);

/// The options that select this engine. With `here` they include the adapter, which differs on other machines.
[[nodiscard]] std::string engine_options(const EngineInfo& engine, bool here = true);

}  // namespace dmlconform::report
