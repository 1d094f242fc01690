// Tests of engine/page/html_page: the result is a single valid document, whatever the results contain.
#include "engine/page/html_page.h"

#include <gtest/gtest.h>

namespace dmlconform::page::html_page_test {
namespace {

std::size_t occurrences(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

TEST(HtmlPage, DataCannotEndItsElement) {
    EXPECT_EQ(embeddable_json({{"a", "</script><!--"}}), R"({"a":"\u003c/script>\u003c!--"})");
    EXPECT_EQ(Json::parse(embeddable_json({{"a", "</script>"}}))["a"], "</script>");
    EXPECT_EQ(embeddable_json("\xff"), "\"\xef\xbf\xbd\"") << "what is no UTF-8 is replaced";
}

TEST(HtmlPage, TextsDoNotBecomeMarkup) {
    PageData plain;
    PageData hostile;
    hostile.title = "</script></title><img src=x onerror=alert(1)>/*SCRIPT*/";
    hostile.runs.push_back({hostile.title, Json::array(), hostile.title, hostile.title, Json::array()});
    const std::string page = html_page(hostile);
    EXPECT_EQ(occurrences(page, "</script>"), occurrences(html_page(plain), "</script>"));
    EXPECT_EQ(occurrences(page, "<img"), 0u);
    EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
    EXPECT_TRUE(page.ends_with("</html>\n"));
}

TEST(HtmlPage, EverythingIsInIt) {
    const std::string page = html_page(PageData{});
    for (const char* mark : {"/*STYLE*/", "/*LIBRARY*/", "/*SCRIPT*/", "/*DATA*/"}) {
        EXPECT_EQ(page.find(mark), std::string::npos) << mark;
    }
    for (const char* address : {"src=\"", "<link", "@import", "url(http"}) {
        EXPECT_EQ(page.find(address), std::string::npos) << address;
    }
    EXPECT_EQ(page.find("Chart.js v") != std::string::npos, has_chart_library());
}

}  // namespace
}  // namespace dmlconform::page::html_page_test
