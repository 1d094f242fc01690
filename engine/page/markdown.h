// The short form of a report, for pull requests and job summaries.
#pragma once

#include <string>

#include "engine/page/page_data.h"

namespace dmlconform::page {

/// GitHub Markdown: verdict, totals by engine, the first failures, and benchmarks that changed. Limited to some
/// kilobytes, however large the results are. Texts of the results cannot become markup.
[[nodiscard]] std::string markdown(const PageData& data);

}  // namespace dmlconform::page
