// Tests of engine/report/text_table: columns, and how they adapt to a narrow terminal.
#include "engine/report/text_table.h"

#include <gtest/gtest.h>

#include <sstream>

namespace dmlconform::tests::text_table_test {
namespace {

using report::TextTable;
using run::Status;

const report::ConsoleStyle plain(false);

TextTable some_table() {
    TextTable table({"operator", "engine"});
    table.add_count_column("pass", Status::pass);
    table.add_count_column("crash", Status::crash);
    table.add_count_column("fail", Status::fail);
    table.add_value_column("time");
    table.add_value_column("median");
    table.add_row({"ADD", "cpu"}, {12345, 0, 1}, {"3.00 µs", "-"});
    table.add_row({"QUANTIZED_LINEAR_CONVOLUTION", "exec:ä"}, {2, 0, 0}, {"4 ns", "1 ns"});
    return table;
}

TEST(TextTable, ColumnsAreAsWideAsWhatIsInThemAndNoneIsAllZero) {
    EXPECT_EQ(some_table().text(0, plain).text(),
              "operator                      engine   pass  fail     time  median\n"
              "ADD                           cpu     12345     1  3.00 µs       -\n"
              "QUANTIZED_LINEAR_CONVOLUTION  exec:ä      2     0     4 ns    1 ns\n");
}

TEST(TextTable, WhereThereIsLittleRoomTimesGoFirstAndThenTheEndsOfNames) {
    EXPECT_EQ(some_table().text(60, plain).text(),
              "operator                      engine   pass  fail     time\n"
              "ADD                           cpu     12345     1  3.00 µs\n"
              "QUANTIZED_LINEAR_CONVOLUTION  exec:ä      2     0     4 ns\n");
    EXPECT_EQ(some_table().text(45, plain).text(),
              "operator                  engine   pass  fail\n"
              "ADD                       cpu     12345     1\n"
              "QUANTIZED_LINEAR_CONVOL…  exec:ä      2     0\n");
    for (std::size_t width = 36; width < 80; ++width) {
        std::istringstream lines(some_table().text(width, plain).text());
        for (std::string line; std::getline(lines, line);) {
            EXPECT_LE(report::characters_in(line), width) << line;
        }
    }
}

TEST(TextTable, NamesCannotSayAnythingToATerminal) {
    TextTable table({"operator"});
    table.add_row({"a\x1b[2Jb"}, {});
    EXPECT_EQ(table.text(0, plain).text(), "operator \na\\x1b[2Jb\n");
}

}  // namespace
}  // namespace dmlconform::tests::text_table_test
