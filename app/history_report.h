// The output of `history show`.
#pragma once

#include <string>

#include "engine/history/change_points.h"
#include "engine/history/store.h"
#include "engine/report/console_style.h"

namespace dmlconform::app {

struct HistoryView {
    /// A glob; empty: everything.
    std::string filter;
    history::ChangePointSettings settings;
    /// Lists single entries instead of trends.
    bool entries = false;
};

/// What the newest results say of speed.
struct HistoryVerdict {
    /// Those that the newest results have.
    std::size_t benchmarks = 0;
    std::size_t slower = 0;
    std::size_t maybe_slower = 0;
    /// How many have too few results to tell.
    std::size_t too_few = 0;
    /// How many the newest results do not have.
    std::size_t gone = 0;
    /// The line with these numbers.
    std::string summary{};
    core::ShownText text{};

    /// False if nothing could be judged.
    [[nodiscard]] bool tells() const { return benchmarks > too_few; }
};

/// A line for each benchmark that is slower, or may be, and one that counts them.
[[nodiscard]] core::Result<HistoryVerdict> history_verdict(history::Store& store, const HistoryView& view,
                                                           const report::ConsoleStyle& style);

/// Lines for a person.
[[nodiscard]] core::Result<core::ShownText> history_report(history::Store& store, const HistoryView& view,
                                                           const report::ConsoleStyle& style);

}  // namespace dmlconform::app
