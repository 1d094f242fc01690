// Tests of engine/run/operator_table: rows for operators that the engines support, and for others.
#include "engine/run/operator_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "engine/cases/case_file.h"
#include "engine/expectations/expectation_file.h"
#include "engine/operators/catalogue.h"
#include "engine/run/engine_list.h"

namespace dmlconform::run::operator_table_test {
namespace {

using ::testing::HasSubstr;

/// The row of an operator, or "" if there is none.
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
        EXPECT_EQ(std::count(line.begin(), line.end(), '|'), 8) << name << ": " << line;
        EXPECT_TRUE(line.ends_with("| 0 | not compared |")) << line;
        const auto engines = engines_for(schema);
        const bool has_cpu = std::find(engines.begin(), engines.end(), "cpu") != engines.end();
        EXPECT_EQ(line.find("| cpu") != std::string::npos, has_cpu) << line;
        on_cpu += has_cpu ? 1 : 0;
    }
    EXPECT_THAT(table, HasSubstr("computes " + std::to_string(on_cpu) + " of\nthe 177 operators."));
}

TEST(OperatorTable, TypesToleranceAndCases) {
    CasesByOperator cases;
    cases["DML_OPERATOR_ELEMENT_WISE_ADD"].all = 12;
    cases["DML_OPERATOR_ELEMENT_WISE_ADD"].compared = 10;
    const std::string table = operator_table(cases);
    EXPECT_THAT(row(table, "ELEMENT_WISE_ADD"),
                HasSubstr("| FLOAT 16 32, INT 8 16 32 64, UINT 8 16 32 64 | 1, at most 1 | 12 | all |"));
    EXPECT_THAT(row(table, "ELEMENT_WISE_ABS"), HasSubstr("| exact | 0 |"));
    EXPECT_THAT(row(table, "SLICE1"), HasSubstr("| exact | 0 |"));
    EXPECT_THAT(row(table, "MEAN_VARIANCE_NORMALIZATION1"), HasSubstr("| bounded for each element | 0 |"));
    EXPECT_THAT(row(table, "GRU"), HasSubstr("| FLOAT 16 32 | bounded for each element | 0 |"));
}

TEST(OperatorTable, WidthsOfFloat16) {
    const std::string table = operator_table({}, [](const operators::OperatorSchema& schema) {
        return schema.short_name() == "GRU" ? WidthsByType{{{0.5, 12.34}}, {{3, 4567}}} : WidthsByType{};
    });
    EXPECT_THAT(row(table, "GRU"), HasSubstr("| 0.5, at most 12 | 0 |"));
    EXPECT_THAT(table, ::testing::EndsWith("| --- | --- |\n| GRU | 3, at most 4600 |\n"));
}

TEST(OperatorTable, AgreementWithDirectMl) {
    const cases::Suite suite = cases::read_case_file("t.json", R"({ "cases": [{ "name": "add",
        "operator": "ELEMENT_WISE_ADD", "desc": {
            "ATensor": { "DataType": "${type}", "Sizes": ["${size}"] },
            "BTensor": { "DataType": "${type}", "Sizes": ["${size}"] },
            "OutputTensor": { "DataType": "${type}", "Sizes": ["${size}"] } },
        "inputs": { "ATensor": { "value": 1 }, "BTensor": { "value": 2 } },
        "sweep": { "type": ["INT32", "FLOAT32"], "size": [3, 4] } },
        { "name": "open", "operator": "ELEMENT_WISE_ADD", "tags": ["unspecified"], "desc": {
            "ATensor": { "DataType": "FLOAT32", "Sizes": [4] }, "BTensor": { "DataType": "FLOAT32", "Sizes": [4] },
            "OutputTensor": { "DataType": "FLOAT32", "Sizes": [4] } },
        "inputs": { "ATensor": { "value": 1 }, "BTensor": { "value": 2 } } }] })");
    ASSERT_TRUE(suite.problems.empty());
    ASSERT_EQ(suite.cases.size(), 5u);
    const auto file = expectations::read_expectations("e.json", R"({ "format": "dmlconform-expectations",
        "formatVersion": 1, "expectations": [
        { "operators": "ELEMENT_WISE_*", "when": { "OutputTensor": { "DataType": "FLOAT32", "elements": { "multipleOf": 4 } } },
          "engine": "*directml", "status": "error", "finding": "DXIL alone", "reason": "r" },
        { "cases": "t/add?type=FLOAT32*", "engine": "directml", "status": "fail", "reason": "wrong somewhere" },
        { "operators": "ELEMENT_WISE_ADD", "when": { "OutputTensor": { "DataType": "INT32" } }, "engine": "directml",
          "status": "fail", "happens": "differs", "sometimes": true, "reason": "perhaps" },
        { "cases": "t/*", "engine": "d3d12", "status": "fail", "reason": "another engine" }] })");
    ASSERT_TRUE(file.problems.empty());
    const auto table_of = [&](std::span<const expectations::Expectation> known) {
        CasesByOperator counted;
        for (const cases::Case& subject : suite.cases) {
            count_case(counted, subject, known);
        }
        return row(operator_table(counted), "ELEMENT_WISE_ADD");
    };
    EXPECT_THAT(table_of({}), HasSubstr("| 5 | not compared |"));
    EXPECT_THAT(table_of({file.expectations.data(), 1}), HasSubstr("| 5 | 3 of 4: DXIL alone |"));
    EXPECT_THAT(table_of(file.expectations), HasSubstr("| 5 | 0 to 2 of 4: DXIL alone, perhaps, wrong somewhere |"));
    EXPECT_THAT(table_of({file.expectations.data() + 3, 1}), HasSubstr("| 5 | all |"));
}

}  // namespace
}  // namespace dmlconform::run::operator_table_test
