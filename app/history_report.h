// What `history show` prints.
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
    /// The entries one by one rather than trends.
    bool entries = false;
};

/// Lines for a person.
[[nodiscard]] core::Result<core::ShownText> history_report(history::Store& store, const HistoryView& view,
                                                           const report::ConsoleStyle& style);

}  // namespace dmlconform::app
