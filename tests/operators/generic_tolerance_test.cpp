// engine/operators/generic_tolerance: what holds for operators without rules, by type and by what they do.
#include "engine/operators/generic_tolerance.h"

#include <gtest/gtest.h>

#include "engine/operators/rules.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::generic_tolerance_test {
namespace {

using core::DataType;

std::string tolerance_of(std::string_view op, DataType type) {
    const core::TensorDesc desc = tensor(type, {1});
    return core::to_string(operators::generic_tolerance(describe(op, {}), {"OutputTensor", &desc}));
}

TEST(GenericTolerance, OfOperatorsWithoutRules) {
    struct Row {
        std::string_view op;
        DataType type;
        std::string_view tolerance;
    };
    const Row rows[] = {
        // Integers are exact, whatever is computed.
        {"ELEMENT_WISE_ADD", DataType::int32, "exact"},
        {"ELEMENT_WISE_QUANTIZE_LINEAR", DataType::uint8, "exact"},
        {"MAX_POOLING", DataType::int8, "exact"},
        // What only moves arrives bit by bit.
        {"JOIN", DataType::float32, "exact"},
        {"GATHER", DataType::float16, "exact"},
        // What selects is not rounded, but a zero may be any.
        {"MAX_POOLING", DataType::float32, "0 ulp"},
        {"ACTIVATION_RELU", DataType::float64, "0 ulp"},
        {"ELEMENT_WISE_EXP", DataType::float32, "16 ulp"},
        {"GEMM", DataType::float64, "16 ulp"},
        {"ELEMENT_WISE_EXP", DataType::float16, "4 ulp"},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(tolerance_of(row.op, row.type), row.tolerance) << row.op << ' ' << core::name(row.type);
    }
}

}  // namespace
}  // namespace dmlconform::tests::generic_tolerance_test
