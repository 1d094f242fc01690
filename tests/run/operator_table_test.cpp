// engine/run/operator_table: rows of operators that the engines have, and of others.
#include "engine/run/operator_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "engine/operators/catalogue.h"
#include "engine/run/engine_list.h"

namespace dmlconform::run {
namespace {

using ::testing::HasSubstr;

/// The row of an operator, "" without one.
std::string row(const std::string& table, const std::string& op) {
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("| " + op + " |")) {
            return line;
        }
    }
    return "";
}

TEST(OperatorTable, ARowForEachOperator) {
    const std::string table = operator_table({});
    std::size_t on_cpu = 0;
    for (const std::string& name : operators::operator_names()) {
        const auto& schema = *operators::find_operator(name);
        const std::string line = row(table, std::string(schema.short_name()));
        EXPECT_EQ(std::count(line.begin(), line.end(), '|'), 7) << name << ": " << line;
        EXPECT_TRUE(line.ends_with("| 0 |")) << line;
        const auto engines = engines_for(schema);
        const bool has_cpu = std::find(engines.begin(), engines.end(), "cpu") != engines.end();
        EXPECT_EQ(line.find("| cpu") != std::string::npos, has_cpu) << line;
        on_cpu += has_cpu ? 1 : 0;
    }
    EXPECT_THAT(table, HasSubstr("\nfor, " + std::to_string(on_cpu) + " and "));
    EXPECT_THAT(table, HasSubstr(" of 177.\n"));
}

TEST(OperatorTable, TypesToleranceAndCases) {
    const std::string table = operator_table({{"DML_OPERATOR_ELEMENT_WISE_ADD", 12}});
    EXPECT_THAT(row(table, "ELEMENT_WISE_ADD"),
                HasSubstr("| FLOAT 16 32, INT 8 16 32 64, UINT 8 16 32 64 | 1, at most 1 | 12 |"));
    EXPECT_THAT(row(table, "ELEMENT_WISE_ABS"), HasSubstr("| exact | 0 |"));
    EXPECT_THAT(row(table, "SLICE1"), HasSubstr("| exact | 0 |"));
    EXPECT_THAT(row(table, "MEAN_VARIANCE_NORMALIZATION1"), HasSubstr("| bounded for each element | 0 |"));
    EXPECT_THAT(row(table, "GRU"), HasSubstr("| 1.0 |  | FLOAT 16 32 |  | 0 |"));
}

}  // namespace
}  // namespace dmlconform::run
