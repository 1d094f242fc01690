// Where results go: each report is one.
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

/// What a run's results do not know of it.
struct RunContext {
    /// The command line, word by word.
    std::vector<std::string> command;
    /// Names and versions of the program and of what is linked into it.
    std::vector<std::pair<std::string, std::string>> versions;
    /// UTC, ISO 8601.
    std::string started;
    /// The processor's name.
    std::string machine;
    /// Nothing for a run of all cases.
    std::optional<run::ShardInfo> shard{};
    /// Why this is not all that it should be; usually nothing.
    std::vector<std::string> notes{};
};

/// Takes the results of a run one by one, in the order of the cases and for each case of the engines. There may be more
/// of them than memory holds: only what is summed up may be kept.
///
/// After a failure nothing is called any more but the destructor, which leaves no half-written file.
class Sink {
public:
    Sink() = default;
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;
    virtual ~Sink() = default;

    virtual core::Result<void> begin(const RunContext& context, std::span<const EngineInfo> engines) = 0;
    virtual core::Result<void> add(const run::CaseResult& result) = 0;
    /// `exit_code`: what the program is going to end with.
    virtual core::Result<void> finish(const run::RunTotals& totals, int exit_code) = 0;
};

}  // namespace dmlconform::report
