// In which way a case failed.
#pragma once

#include <cstdint>

#include "engine/expectations/expectation.h"
#include "engine/run/result.h"

namespace dmlconform::run {

struct FailureKind {
    Status status = Status::fail;
    /// Of a `fail`: what was wrong.
    enum class What : std::uint8_t { differs, rejected, accepted, wrong_code, stray_write, other };
    What what = What::other;

    bool operator==(const FailureKind&) const = default;
};

[[nodiscard]] FailureKind kind_of(const cases::Case& subject, const CaseResult& result);

/// Whether that is what happened to a case that failed.
[[nodiscard]] bool happened(expectations::Happening happening, const CaseResult& result);

}  // namespace dmlconform::run
