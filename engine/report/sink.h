// The interface of reports, which receive the results of a run.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "engine/run/shard.h"
#include "engine/run/totals.h"

namespace dmlconform::report {

/// Information about a run that its results do not contain.
struct RunContext {
    /// The words of the command line.
    std::vector<std::string> command;
    /// Names and versions of the program and of linked libraries.
    std::vector<std::pair<std::string, std::string>> versions;
    /// UTC, ISO 8601.
    std::string started;
    /// The processor's name.
    std::string machine;
    /// Empty for a run of all cases.
    std::optional<run::ShardInfo> shard{};
    /// Why the results are incomplete; usually empty.
    std::vector<std::string> notes{};
};

/// Receives the results of a run one by one, ordered by case and engine. They may exceed the memory, so only sums may
/// be kept.
///
/// After a failure only the destructor is called, which removes incomplete files.
class Sink {
public:
    Sink() = default;
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;
    virtual ~Sink() = default;

    virtual core::Result<void> begin(const RunContext& context, std::span<const EngineInfo> engines) = 0;
    virtual core::Result<void> add(const run::CaseResult& result) = 0;
    /// `exit_code`: the exit code that the program will return.
    virtual core::Result<void> finish(const run::RunTotals& totals, int exit_code) = 0;
};

}  // namespace dmlconform::report
