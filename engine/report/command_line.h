// Words of commands that are shown to be run again.
#pragma once

#include <span>
#include <string>

#include "engine/engine.h"

namespace dmlconform::report {

/// The word as a POSIX shell has to be given it; with characters that do not show as themselves, as bash and its kin
/// have to.
[[nodiscard]] std::string shell_quoted(const std::string& text);

/// The options that choose all these engines as they were chosen by one command.
[[nodiscard]] std::string engines_options(std::span<const EngineInfo> engines);

/// The options that choose the engine as it was chosen. With `here`, the adapter too: elsewhere there is another one.
[[nodiscard]] std::string engine_options(const EngineInfo& engine, bool here = true);

}  // namespace dmlconform::report
