// Imports ONNX node tests as cases and runs these with the reference. If they pass, the conversion agrees with ONNX.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cpu/cpu_engine.h"
#include "engine/run/case_run.h"
#include "tests/interop/onnx_node_tests.h"

namespace dmlconform::tests {

inline void expect_pass(const cases::Case& subject, const std::string& what) {
    cpu::CpuEngine engine(core::highest_feature_level);
    const run::CaseResult result = run::run_case(subject, engine);
    EXPECT_EQ(result.status, run::Status::pass) << what << ": " << result.reason;
}

/// Imports the node, expects that the case passes, and returns the case.
inline cases::Case passing(const NodeTest& test) {
    cases::Case subject = imported(test);
    expect_pass(subject, test.type);
    return subject;
}

/// A node, and the DirectML operator of its case.
struct PassingRow {
    std::string directml;
    NodeTest test;
};

inline void expect_rows_pass(const std::vector<PassingRow>& rows) {
    for (const PassingRow& row : rows) {
        EXPECT_EQ(passing(row.test).descriptor->schema->short_name(), row.directml) << row.test.type;
    }
}

/// A node that cannot be imported, and part of the reason.
struct LeftOutRow {
    const char* reason;
    NodeTest test;
};

inline void expect_rows_left_out(const std::vector<LeftOutRow>& rows) {
    for (const LeftOutRow& row : rows) {
        EXPECT_THAT(reason(row.test), testing::HasSubstr(row.reason)) << row.test.type;
    }
}

}  // namespace dmlconform::tests
