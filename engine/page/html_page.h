// The page that `report --html` writes.
#pragma once

#include <string>

#include "engine/page/page_data.h"

namespace dmlconform::page {

/// True if this build includes the plotting library that the page needs.
[[nodiscard]] bool has_chart_library();

/// An HTML document that needs no other file and no network. Texts of the data cannot become markup.
[[nodiscard]] std::string html_page(const PageData& data);

/// JSON that cannot end the script element that contains it.
[[nodiscard]] std::string embeddable_json(const Json& json);

}  // namespace dmlconform::page
