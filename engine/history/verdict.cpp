// The newest change point decides.
#include "engine/history/verdict.h"

#include <array>
#include <cstddef>

namespace dmlconform::history {

const char* to_string(Verdict verdict) {
    constexpr std::array names{"as before", "slower", "maybe slower", "faster"};
    return names[static_cast<std::size_t>(verdict)];
}

Judgement judge(std::span<const double> medians, const ChangePointSettings& settings) {
    return judge(find_change_points(medians, settings), medians.size(), settings);
}

Judgement judge(std::span<const ChangePoint> changes, std::size_t results, const ChangePointSettings& settings) {
    if (changes.empty() || results - changes.back().index > settings.window) {
        return {};
    }
    const ChangePoint& change = changes.back();
    if (change.after <= change.before) {
        return {change.confirmed ? Verdict::faster : Verdict::as_before, change};
    }
    return {change.confirmed ? Verdict::slower : Verdict::maybe_slower, change};
}

}  // namespace dmlconform::history
