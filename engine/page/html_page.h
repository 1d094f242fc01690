// The page that `report --html` writes.
#pragma once

#include <string>

#include "engine/page/page_data.h"

namespace dmlconform::page {

/// Whether this build has the plotting library that the page needs.
[[nodiscard]] bool has_chart_library();

/// One HTML document that needs no other file and no network. Whatever texts the data has, none of them becomes markup.
[[nodiscard]] std::string html_page(const PageData& data);

/// The same as JSON that cannot end the element it stands in: what the page's script reads.
[[nodiscard]] std::string embeddable_json(const Json& json);

}  // namespace dmlconform::page
