// Classifies failures by the contents of their results.
#include "engine/run/failure_kind.h"

#include <algorithm>

namespace dmlconform::run {

FailureKind kind_of(const cases::Case& subject, const CaseResult& result) {
    using What = FailureKind::What;
    FailureKind kind{result.status, What::other};
    if (result.status != Status::fail) {
        return kind;
    }
    const bool differs = result.segments == SegmentFault::value ||
                         std::any_of(result.outputs.begin(), result.outputs.end(),
                                     [](const OutputResult& output) { return !output.comparison.passed(); });
    if (result.rejection) {
        kind.what = subject.expect_error ? What::wrong_code : What::rejected;
    } else if (subject.expect_error) {
        kind.what = What::accepted;
    } else if (!result.stray_writes.empty()) {
        kind.what = What::stray_write;
    } else if (result.unwritten) {
        kind.what = What::unwritten;
    } else if (differs) {
        kind.what = What::differs;
    } else if (result.segments == SegmentFault::precision ||
               std::any_of(result.outputs.begin(), result.outputs.end(), [](const OutputResult& output) {
                   return output.precision && !output.precision->promised.empty();
               })) {
        kind.what = What::precision;
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
            // A case of an accepted descriptor can still fail during execution.
            return what == What::accepted || (result.status == Status::error && result.subject->expect_error);
        case Happening::differs:
            return what == What::differs;
        case Happening::precision:
            return what == What::precision;
        case Happening::unwritten:
            return what == What::unwritten;
        default:
            return true;
    }
}

}  // namespace dmlconform::run
