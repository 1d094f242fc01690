// Failures of one cause together: many cases fail because of one mistake.
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
    /// How many failures have the cause of this one, with it.
    std::size_t add(const run::CaseResult& result);

    /// A line for each cause, the most frequent first, with a headline; empty where no two failures share one.
    [[nodiscard]] core::ShownText summary(std::span<const EngineInfo> engines) const;

private:
    /// Engine, status, reason, and the rule or the data type that it is about.
    using Key = std::tuple<std::size_t, run::Status, std::string, std::string>;
    struct Cause {
        std::size_t count = 0;
        std::map<std::string, std::size_t> operators;
    };
    [[nodiscard]] static Key key_of(const run::CaseResult& result);

    std::map<Key, Cause> causes_;
};

}  // namespace dmlconform::report
