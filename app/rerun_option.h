// The option --rerun-failed: repeats the failed cases of an earlier run, on the same engines and under the same
// conditions.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/core/error.h"

namespace dmlconform::app {

/// The failures on the gate in a result.
struct FailedBefore {
    std::shared_ptr<const std::set<std::string>> ids;
    /// The files of these cases, in the order of the result.
    std::vector<std::string> files;
    /// This program's engines on which they failed.
    std::vector<std::string> engines;
    /// Engines that were started by commands. Commands are not taken from a file, because it is untrusted.
    std::vector<std::string> commands;
    /// The command line of that run.
    std::vector<std::string> words;
    int exit_code = 0;
    /// Other reasons against that run, one sentence each; repeating the failed cases does not remove them.
    std::vector<std::string> doubts;
};

/// Reads a result. Fails also if the result failed although no case did.
[[nodiscard]] core::Result<FailedBefore> read_failed(const std::string& path);

/// Options of that run that affect how cases are judged and that are not among `words`, those of the current command.
/// Fails if one of them would start a command.
[[nodiscard]] core::Result<std::vector<std::string>> carried_words(const std::string& path, const FailedBefore& failed,
                                                                   const std::vector<std::string>& words);

}  // namespace dmlconform::app
