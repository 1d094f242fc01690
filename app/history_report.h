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
    std::size_t benchmarks = 0;
    std::size_t slower = 0;
    std::size_t maybe_slower = 0;
    core::ShownText text;
};

/// A line for each benchmark that is slower, or may be, and one that counts them.
[[nodiscard]] core::Result<HistoryVerdict> history_verdict(history::Store& store, const HistoryView& view,
                                                           const report::ConsoleStyle& style);

/// Lines for a person.
[[nodiscard]] core::Result<core::ShownText> history_report(history::Store& store, const HistoryView& view,
                                                           const report::ConsoleStyle& style);

}  // namespace dmlconform::app
