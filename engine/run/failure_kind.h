// Classifies how a case failed.
#pragma once

#include <cstdint>

#include "engine/expectations/expectation.h"
#include "engine/run/result.h"

namespace dmlconform::run {

struct FailureKind {
    Status status = Status::fail;
    /// What was wrong, for the status `fail`.
    enum class What : std::uint8_t {
        differs,
        precision,
        unwritten,
        rejected,
        accepted,
        wrong_code,
        stray_write,
        other
    };
    What what = What::other;

    bool operator==(const FailureKind&) const = default;
};

[[nodiscard]] FailureKind kind_of(const cases::Case& subject, const CaseResult& result);

/// True if the failed case failed in that way.
[[nodiscard]] bool happened(expectations::Happening happening, const CaseResult& result);

}  // namespace dmlconform::run
