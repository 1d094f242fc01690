// Told by what a result holds.
#include "engine/run/failure_kind.h"

#include <algorithm>

namespace dmlconform::run {

FailureKind kind_of(const cases::Case& subject, const CaseResult& result) {
    using What = FailureKind::What;
    FailureKind kind{result.status, What::other};
    if (result.status != Status::fail) {
        return kind;
    }
    const bool differs = std::any_of(result.outputs.begin(), result.outputs.end(),
                                     [](const OutputResult& output) { return !output.comparison.passed(); });
    if (result.rejection) {
        kind.what = subject.expect_error ? What::wrong_code : What::rejected;
    } else if (subject.expect_error) {
        kind.what = What::accepted;
    } else if (!result.stray_writes.empty()) {
        kind.what = What::stray_write;
    } else if (differs) {
        kind.what = What::differs;
    }
    return kind;
}

bool happened(expectations::Happening happening, const CaseResult& result) {
    using expectations::Happening;
    using What = FailureKind::What;
    const What what = kind_of(*result.subject, result).what;
    switch (happening) {
        case Happening::rejected:
            return what == What::rejected;
        case Happening::accepted:
            // What is accepted may turn out not to work.
            return what == What::accepted || (result.status == Status::error && result.subject->expect_error);
        case Happening::differs:
            return what == What::differs;
        default:
            return true;
    }
}

}  // namespace dmlconform::run
