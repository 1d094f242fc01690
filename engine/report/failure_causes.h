// Groups failures by cause, because a single bug makes many cases fail.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <tuple>

#include "engine/core/shown_text.h"
#include "engine/engine.h"
#include "engine/run/result.h"

namespace dmlconform::report {

class FailureCauses {
public:
    /// Adds a failure. Returns the number of failures with its cause.
    std::size_t add(const run::CaseResult& result);

    /// A headline, and one line for each cause, the most frequent first. Empty if no two failures have a common cause.
    [[nodiscard]] core::ShownText summary(std::span<const EngineInfo> engines) const;

private:
    /// Engine, status, reason, and the rule or data type concerned.
    using Key = std::tuple<std::size_t, run::Status, std::string, std::string>;
    struct Cause {
        std::size_t count = 0;
        std::map<std::string, std::size_t> operators;
    };
    [[nodiscard]] static Key key_of(const run::CaseResult& result);

    std::map<Key, Cause> causes_;
};

}  // namespace dmlconform::report
