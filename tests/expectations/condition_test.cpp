// Tests conditions on descriptors and inputs: each kind with a matching and a non-matching case, and the messages for
// invalid conditions with their positions.
#include "engine/expectations/condition.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/expectations/element_condition.h"
#include "engine/expectations/expectation_file.h"
#include "tests/expectations/case_of_members.h"

namespace dmlconform::expectations::condition_test {
namespace {

const char* const powers = R"("operator": "ELEMENT_WISE_POW",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [2, 3], "Strides": [4, 1] },
              "ExponentTensor": { "DataType": "INT8", "Sizes": [2, 3], "Strides": [0, 1] },
              "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2, 3] },
              "ScaleBias": { "Scale": 2, "Bias": -1 } },
    "inputs": { "InputTensor": [[1, -2, "inf"], ["0x80000000", 5, 6.5]], "ExponentTensor": [[1, 2, 3], [1, 2, 3]] })";

const char* const transposing_graph = R"("graph": { "nodes": [
      { "name": "a", "operator": "ACTIVATION_RELU",
        "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [2, 1, 3], "Strides": [1, 9, 2] },
                  "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2, 1, 3], "Strides": [3, 9, 1] } },
        "inputs": { "InputTensor": "x" }, "outputs": { "OutputTensor": "y" } }], "outputs": ["y"] },
    "inputs": { "x": { "value": 1 } })";

const char* const normalised = R"("operator": "MEAN_VARIANCE_NORMALIZATION1",
    "desc": { "InputTensor": { "DataType": "FLOAT16", "Sizes": [1, 2, 3, 5], "GuaranteedBaseOffsetAlignment": 8 },
              "OutputTensor": { "DataType": "FLOAT16", "Sizes": [1, 2, 3, 5] }, "Axes": [1, 3],
              "NormalizeVariance": true, "Epsilon": 0.25, "FusedActivation": { "Type": "ACTIVATION_RELU" } },
    "inputs": { "InputTensor": { "value": 1 } })";

const char* const resampled = R"("operator": "RESAMPLE1",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [2, 3] },
              "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2, 3] }, "InterpolationMode": "LINEAR",
              "Scales": [0.5, 2], "InputPixelOffsets": [0.25, 0], "OutputPixelOffsets": [0, 1e10] },
    "inputs": { "InputTensor": { "value": 1 } })";

const char* const clipped = R"("operator": "ELEMENT_WISE_CLIP1",
    "desc": { "InputTensor": { "DataType": "INT8", "Sizes": [3] }, "OutputTensor": { "DataType": "INT8", "Sizes": [3] },
              "MinMaxDataType": "FLOAT32", "Min": -1.5, "Max": 4 }, "expectError": "E_INVALIDARG")";

const char* const sliced = R"("operator": "SLICE1",
    "desc": { "InputTensor": { "DataType": "INT8", "Sizes": [3, 5] }, "OutputTensor": { "DataType": "INT8", "Sizes": [3, 2] },
              "InputWindowOffsets": [0, 1], "InputWindowSizes": [3, 4], "InputWindowStrides": [1, -2] },
    "inputs": { "InputTensor": { "value": 1 } })";

/// Two windows of two elements, beside a dimension without windows.
const char* const unfolded = R"("operator": "UNFOLD",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 3, 1] },
              "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1, 2, 2] }, "WindowSizes": [2], "Strides": [1],
              "Dilations": [1], "StartPadding": [0], "EndPadding": [0] }, "expectError": "E_INVALIDARG")";

const char* const pooled = R"("operator": "MAX_POOLING1",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 1, 3] },
              "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 1, 3] },
              "OutputIndicesTensor": { "DataType": "UINT32", "Sizes": [1, 1, 1, 3] }, "Strides": [1, 1],
              "WindowSize": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0] },
    "inputs": { "InputTensor": { "value": 1 } })";

const char* const equal_strides = R"("operator": "ELEMENT_WISE_ABS",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [2, 1], "Strides": [1, 1] },
              "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2, 1] } }, "inputs": { "InputTensor": [1, 2] })";

const char* const rounded = R"("operator": "ELEMENT_WISE_ROUND",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [1] },
              "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1] }, "RoundingMode": "HALVES_TO_NEAREST_EVEN" },
    "inputs": { "InputTensor": ["nan"] })";

const char* const recurrent = R"("operator": "GRU",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 1, 1] },
              "WeightTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 3, 1] },
              "RecurrenceTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 3, 1] },
              "OutputSingleTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 1, 1] },
              "ActivationDescs": [{ "Type": "ACTIVATION_SIGMOID" }, { "Type": "ACTIVATION_ELU", "Alpha": 1 }],
              "Direction": "FORWARD", "LinearBeforeReset": false },
    "inputs": { "InputTensor": [1], "WeightTensor": [1, 1, 1], "RecurrenceTensor": [1, 1, 1] })";

/// By strides, 2 and 5 are reduced, and 3 is kept between them; 4 is kept behind them. The gap keeps 2 apart.
const char* const reduced = R"("operator": "REDUCE",
    "desc": { "InputTensor": { "DataType": "INT64", "Sizes": [3, 2, 1, 5, 4], "Strides": [20, 100, 0, 4, 1] },
              "OutputTensor": { "DataType": "INT64", "Sizes": [3, 1, 1, 1, 4] }, "Function": "MULTIPLY",
              "Axes": [1, 3, 2] },
    "inputs": { "InputTensor": { "value": 1 } })";

/// Kept dimensions that lie one behind the other in the input, and not in the output.
const char* const reduced_permuted = R"("operator": "REDUCE",
    "desc": { "InputTensor": { "DataType": "INT64", "Sizes": [5, 4, 3], "Strides": [1, 5, 20] },
              "OutputTensor": { "DataType": "INT64", "Sizes": [5, 4, 1] }, "Function": "MULTIPLY", "Axes": [2] },
    "inputs": { "InputTensor": { "value": 1 } })";

/// Nothing to reduce, and 2^64 elements.
const char* const reduced_nothing = R"("operator": "REDUCE",
    "desc": { "InputTensor": { "DataType": "INT64", "Sizes": [0, 4] },
              "OutputTensor": { "DataType": "INT64", "Sizes": [1, 4] }, "Function": "MULTIPLY", "Axes": [0] },
    "expectError": "E_INVALIDARG")";
const char* const reduced_too_many = R"("operator": "REDUCE",
    "desc": { "InputTensor": { "DataType": "INT64", "Sizes": [65536, 65536, 65536, 65536] },
              "OutputTensor": { "DataType": "INT64", "Sizes": [1, 1, 1, 1] }, "Function": "MULTIPLY",
              "Axes": [0, 1, 2, 3] },
    "expectError": "E_INVALIDARG")";

/// 24 elements in a row, and two results.
const char* const reduced_rows = R"("operator": "REDUCE",
    "desc": { "InputTensor": { "DataType": "INT64", "Sizes": [2, 4, 6] },
              "OutputTensor": { "DataType": "INT64", "Sizes": [2, 1, 1] }, "Function": "MULTIPLY", "Axes": [2, 1] },
    "inputs": { "InputTensor": { "value": 1 } })";

std::optional<Condition> read(const std::string& text, const cases::Case& subject, std::string& wrong) {
    const auto document = cases::parse_json(text);
    cases::ProblemSink problems("c.json", text);
    const operators::OperatorSchema* const schema = subject.descriptor->schema;
    auto condition = read_condition(*document, {&schema, 1}, problems);
    for (const cases::Problem& problem : problems.take(*document)) {
        wrong += (wrong.empty() ? "" : "\n") + to_string(problem);
    }
    return condition;
}

TEST(Condition, HoldsForWhatItIsAbout) {
    struct Row {
        const char* subject;
        const char* condition;
        bool holds;
    };
    const Row rows[] = {
        {powers, "{}", true},
        // Conditions on tensors.
        {powers, R"({ "InputTensor": {} })", true},
        {powers, R"({ "InputTensor": null })", false},
        {powers, R"({ "InputTensor": { "DataType": "FLOAT32" } })", true},
        {powers, R"({ "InputTensor": { "DataType": ["INT8", "FLOAT32"] } })", true},
        {powers, R"({ "InputTensor": { "DataType": "INT8" } })", false},
        {powers, R"({ "InputTensor": { "DimensionCount": 2, "elements": 6 } })", true},
        {powers, R"({ "InputTensor": { "DimensionCount": 3 } })", false},
        {pooled, R"({ "InputTensor": { "significantDimensions": 1, "DimensionCount": 4 } })", true},
        {pooled, R"({ "InputTensor": { "significantDimensions": { "above": 1 } } })", false},
        {rounded, R"({ "InputTensor": { "significantDimensions": 0 } })", true},
        {rounded, R"({ "InputTensor": { "significantDimensions": 1 } })", false},
        {powers, R"({ "InputTensor": { "elements": { "multipleOf": 4 } } })", false},
        {powers, R"({ "InputTensor": { "elements": { "multipleOf": 3 } } })", true},
        {powers, R"({ "InputTensor": { "Sizes": { "1": 3, "0": { "below": 3 } } } })", true},
        {powers, R"({ "InputTensor": { "Sizes": { "1": [1, 2] } } })", false},
        {powers, R"({ "InputTensor": { "Sizes": { "2": { "atLeast": 0 } } } })", false},
        {powers, R"({ "InputTensor": { "Strides": "strided" } })", true},
        {powers, R"({ "InputTensor": { "Strides": "packed" } })", false},
        {powers, R"({ "InputTensor": { "Strides": "repeating" } })", false},
        {powers, R"({ "ExponentTensor": { "Strides": "repeating" } })", true},
        {powers, R"({ "ExponentTensor": { "Strides": "transposed" } })", false},
        {powers, R"({ "ExponentTensor": { "Strides": "unequal" } })", true},
        {powers, R"({ "InputTensor": { "Strides": "unequal" } })", true},
        {powers, R"({ "OutputTensor": { "Strides": "unequal" } })", false},
        {equal_strides, R"({ "InputTensor": { "Strides": "unequal" } })", false},
        {powers, R"({ "ExponentTensor": { "addresses/elements": { "below": 1 } } })", true},
        {powers, R"({ "InputTensor": { "addresses/elements": { "above": 1 } } })", true},
        {powers, R"({ "OutputTensor": { "addresses/elements": 1 } })", true},
        {powers, R"({ "operators": "ELEMENT_WISE_POW" })", true},
        {powers, R"({ "not": { "operators": ["ELEMENT_WISE_P*"] } })", false},
        {powers, R"({ "someNode": {} })", false},
        {transposing_graph, R"({ "someNode": { "InputTensor": { "Strides": "transposed" } } })", true},
        {transposing_graph, R"({ "someNode": { "OutputTensor": { "Strides": "transposed" } } })", false},
        {transposing_graph, R"({ "someNode": { "operators": "ACTIVATION_*", "InputTensor": {} } })", true},
        {transposing_graph, R"({ "someNode": { "operators": "ELEMENT_*", "InputTensor": {} } })", false},
        {powers, R"({ "ExponentTensor": { "Strides": "given" } })", true},
        {powers, R"({ "OutputTensor": { "Strides": "given" } })", false},
        {powers, R"({ "OutputTensor": { "Strides": "absent" } })", true},
        {powers, R"({ "OutputTensor": { "Strides": "packed" } })", true},
        {normalised, R"({ "InputTensor": { "GuaranteedBaseOffsetAlignment": { "above": 0, "below": 16 } } })", true},
        {normalised, R"({ "OutputTensor": { "GuaranteedBaseOffsetAlignment": { "above": 0, "below": 16 } } })", false},
        {normalised, R"({ "ScaleTensor": null })", true},
        {normalised, R"({ "ScaleTensor": {} })", false},
        {powers, R"({ "anyTensor": { "DataType": "INT8" } })", true},
        {powers, R"({ "anyTensor": { "DataType": "INT16" } })", false},
        {powers, R"({ "everyTensor": { "DataType": ["INT8", "FLOAT32"] } })", true},
        {powers, R"({ "everyTensor": { "DataType": "FLOAT32" } })", false},
        // Relations between tensors.
        {powers, R"({ "differentTypes": ["InputTensor", "ExponentTensor"] })", true},
        {powers, R"({ "differentTypes": ["InputTensor", "OutputTensor"] })", false},
        {powers, R"({ "differentSizes": ["InputTensor", "OutputTensor"] })", false},
        {normalised, R"({ "differentSizes": ["InputTensor", "ScaleTensor"] })", false},
        {normalised, R"({ "differentNumbers": ["Axes[0]", "Axes[1]"] })", true},
        {normalised, R"({ "differentNumbers": ["Axes[1]", "Axes[1]"] })", false},
        {normalised, R"({ "differentNumbers": ["Axes[1]", "Axes[2]"] })", false},
        {normalised, R"({ "elementsAlong": { "Axes": 10 } })", true},
        {normalised, R"({ "elementsAlong": { "Axes": { "above": 10 } } })", false},
        {reduced, R"({ "reduction": { "along": "Axes" } })", true},
        {reduced, R"({ "reduction": { "along": "Axes", "dimensions": 4 } })", true},
        {reduced, R"({ "reduction": { "along": "Axes", "dimensions": { "atLeast": 5 } } })", false},
        {reduced, R"({ "reduction": { "along": "Axes", "runs": 2, "lastPerResult": 0 } })", true},
        {reduced, R"({ "reduction": { "along": "Axes", "runs": 1 } })", false},
        {reduced, R"({ "reduction": { "along": "Axes", "dense": true } })", false},
        {reduced, R"({ "reduction": { "along": "Axes", "dense": false, "perResult": { "below": 0.9 } } })", true},
        {reduced, R"({ "reduction": { "along": "Axes", "perResult": { "below": 0.8 } } })", false},
        {reduced, R"({ "reduction": { "along": "Axes", "oddPerResult": { "above": 0.41, "below": 0.42 } } })", true},
        {reduced, R"({ "reduction": { "along": "Axes", "results": 12, "beforeLast": 10 } })", true},
        {reduced, R"({ "reduction": { "along": "Axes", "results": { "below": 12 } } })", false},
        {reduced_rows, R"({ "reduction": { "along": "Axes", "results": 2, "beforeLast": 1 } })", true},
        {reduced_permuted, R"({ "reduction": { "along": "Axes", "dimensions": 3 } })", true},
        {reduced_nothing, R"({ "reduction": { "along": "Axes", "oddPerResult": 0 } })", true},
        {reduced_too_many, R"({ "reduction": { "along": "Axes", "oddPerResult": 0 } })", true},
        {reduced_rows, R"({ "reduction": { "along": "Axes", "dimensions": 2, "runs": 1, "dense": true } })", true},
        {reduced_rows, R"({ "reduction": { "along": "Axes", "perResult": 12, "lastPerResult": 12 } })", true},
        {reduced_rows, R"({ "reduction": { "along": "Axes", "oddPerResult": 1.5 } })", true},
        {reduced_rows, R"({ "reduction": { "along": "Axes", "oddPerResult": 12 } })", false},
        {sliced, R"({ "someDimension": { "OutputTensor": 2 } })", true},
        {resampled, R"({ "someDimension": { "OutputPixelOffsets": { "above": 1e9 }, "Scales": 2 } })", true},
        {resampled, R"({ "someDimension": { "OutputPixelOffsets": { "above": 1e9 }, "Scales": 0.5 } })", false},
        {sliced, R"({ "someDimension": { "OutputTensor": 2, "InputWindowStrides": 1 } })", false},
        {sliced, R"({ "someDimension": { "InputWindowStrides": -2, "InputWindowSizes": 4 } })", true},
        {sliced,
         R"({ "someDimension": { "InputWindowStrides": 1, "different": ["OutputTensor", "InputWindowSizes"] } })",
         false},
        {sliced, R"({ "someDimension": { "InputWindowStrides": { "below": 0 },
                     "different": ["OutputTensor", "InputWindowSizes"] } })",
         true},
        {sliced, R"({ "someDimension": { "InputWindowStrides": { "atLeast": -9 }, "InputTensor": { "above": 5 } } })",
         false},
        {sliced, R"({ "someDimension": { "less": ["OutputTensor", "InputWindowSizes"] } })", true},
        {sliced, R"({ "someDimension": { "less": ["InputWindowSizes", "OutputTensor"] } })", false},
        {sliced, R"({ "someDimension": { "OutputTensor": 3, "less": ["OutputTensor", "InputWindowSizes"] } })", false},
        {sliced, R"({ "someDimension": { "OutputTensor": 2, "before": { "OutputTensor": 3 } } })", true},
        {sliced, R"({ "someDimension": { "OutputTensor": 2, "before": { "OutputTensor": 2 } } })", false},
        {sliced, R"({ "someDimension": { "OutputTensor": 2, "after": { "OutputTensor": 3 } } })", false},
        {sliced, R"({ "someDimension": { "OutputTensor": 3, "after": { "InputWindowStrides": -2 } } })", true},
        {sliced, R"({ "someDimension": { "OutputTensor": 3, "after": { "OutputTensor": 3 } } })", false},
        // Conditions on attributes.
        {powers, R"({ "ScaleBias": { "Scale": { "not": 1 } } })", true},
        {powers, R"({ "ScaleBias": { "Scale": 2, "Bias": 0 } })", false},
        {powers, R"({ "ScaleBias": null })", false},
        {normalised, R"({ "Epsilon": { "atLeast": 0.25, "atMost": 0.25 } })", true},
        {normalised, R"({ "Epsilon": { "above": 0.25 } })", false},
        {normalised, R"({ "NormalizeVariance": true })", true},
        {normalised, R"({ "NormalizeVariance": false })", false},
        {normalised, R"({ "Axes": 3 })", true},
        {normalised, R"({ "Axes[0]": 3 })", false},
        {normalised, R"({ "Axes[1]": 3 })", true},
        {normalised, R"({ "Axes[2]": { "atLeast": 0 } })", false},
        {normalised, R"({ "FusedActivation": "ACTIVATION_*" })", true},
        {normalised, R"({ "FusedActivation": "ACTIVATION_ELU" })", false},
        {normalised, R"({ "FusedActivation": null })", false},
        {recurrent, R"({ "ActivationDescs": "ACTIVATION_ELU" })", true},
        {recurrent, R"({ "ActivationDescs": "ACTIVATION_SIG*" })", true},
        {recurrent, R"({ "ActivationDescs": "ACTIVATION_TANH" })", false},
        {clipped, R"({ "MinMaxDataType": "FLOAT32", "Min": -1.5 })", true},
        {clipped, R"({ "Min": { "integer": true } })", false},
        {clipped, R"({ "Min": { "negative": true } })", true},
        {clipped, R"({ "breaks": "field.dataType" })", true},
        {clipped, R"({ "breaks": ["tensor.sizes", "tensor.dataType"] })", false},
        {powers, R"({ "breaks": ["tensor.dataType"] })", false},
        {unfolded, R"({ "meets": "blocksOfZeroDilations" })", true},
        {unfolded, R"({ "not": { "meets": "blocksOfZeroDilations" } })", false},
        {rounded, R"({ "RoundingMode": "HALVES_TO_NEAREST_EVEN" })", true},
        {rounded, R"({ "RoundingMode": ["TOWARD_ZERO", "TOWARD_INFINITY"] })", false},
        // Conditions on values, which some element must meet.
        {powers, R"({ "InputTensor": { "values": { "below": 0 } } })", true},
        {powers, R"({ "InputTensor": { "values": { "below": -2 } } })", false},
        {powers, R"({ "InputTensor": { "values": 0 } })", true},
        {powers, R"({ "InputTensor": { "values": { "infinite": true } } })", true},
        {powers, R"({ "InputTensor": { "values": { "nan": true } } })", false},
        {rounded, R"({ "InputTensor": { "values": { "nan": true } } })", true},
        {rounded, R"({ "InputTensor": { "values": { "atMost": 1e30 } } })", false},
        {powers, R"({ "InputTensor": { "values": { "magnitude": { "above": 2, "infinite": false } } } })", true},
        {powers, R"({ "InputTensor": { "values": 7 } })", false},
        {powers, R"({ "OutputTensor": { "values": { "atLeast": 0 } } })", false},
        {clipped, R"({ "InputTensor": { "values": { "nan": false } } })", false},
        // Combinations of conditions.
        {powers, R"({ "anyOf": [{ "InputTensor": null }, { "OutputTensor": {} }] })", true},
        {powers, R"({ "anyOf": [{ "InputTensor": null }] })", false},
        {powers, R"({ "not": { "InputTensor": null } })", true},
        {powers, R"({ "InputTensor": {}, "OutputTensor": null })", false},
    };
    for (const Row& row : rows) {
        const cases::Case subject = case_of(row.subject);
        std::string wrong;
        const auto condition = read(row.condition, subject, wrong);
        ASSERT_TRUE(condition) << row.condition << wrong;
        CaseFacts facts(subject);
        EXPECT_EQ(condition->holds(facts), row.holds) << row.condition;
    }
}

TEST(Condition, SizesOfATensorMayStartWithThoseOfAnother) {
    const auto holds = [](const char* input, const char* indices, int axis, int index_dimensions) {
        const cases::Case subject = case_of(fmt::format(
            R"("operator": "GATHER", "desc": {{ "InputTensor": {{ "DataType": "INT8", "Sizes": {} }},
                "IndicesTensor": {{ "DataType": "UINT32", "Sizes": {} }},
                "OutputTensor": {{ "DataType": "INT8", "Sizes": [1, 1, 1] }}, "Axis": {}, "IndexDimensions": {} }},
                "expectError": "E_INVALIDARG")",
            input, indices, axis, index_dimensions));
        std::string wrong;
        const auto condition = read(
            R"({ "startsWith": { "InputTensor": "IndicesTensor", "without": "IndexDimensions", "atMost": "Axis" } })",
            subject, wrong);
        EXPECT_TRUE(condition) << wrong;
        CaseFacts facts(subject);
        return condition && condition->holds(facts);
    };
    EXPECT_TRUE(holds("[2, 1, 3]", "[1, 2, 3]", 2, 1));
    EXPECT_FALSE(holds("[2, 1, 3]", "[1, 4, 3]", 2, 1));
    EXPECT_FALSE(holds("[2, 1, 3]", "[1, 2, 3]", 0, 1)) << "beyond the axis";
    EXPECT_TRUE(holds("[2, 3, 4]", "[2, 3, 9]", 2, 1));
    EXPECT_FALSE(holds("[2, 3, 4]", "[2, 3, 9]", 1, 1));
    EXPECT_FALSE(holds("[2, 3, 4]", "[2, 4, 9]", 2, 1));
    EXPECT_TRUE(holds("[1, 2, 3]", "[1, 1, 2]", 1, 0)) << "leading sizes of 1 do not count";
    EXPECT_FALSE(holds("[1, 2, 3]", "[1, 1, 3]", 2, 0));
    EXPECT_FALSE(holds("[1, 2, 3]", "[2, 3, 1]", 2, 0)) << "more than the input has";
    EXPECT_FALSE(holds("[2, 3, 4]", "[1, 1, 5]", 2, 1)) << "there are none";
    EXPECT_FALSE(holds("[2, 3, 4]", "[5, 6, 7]", 2, 4)) << "there are less than none";
}

TEST(Condition, AsksForSomeElementThatIsExpected) {
    const cases::Case subject = case_of(powers);
    const auto holds = [&](const char* text, const OutputElements& outputs) {
        std::string wrong;
        const auto condition = read(text, subject, wrong);
        EXPECT_TRUE(condition) << wrong;
        CaseFacts facts(subject, outputs);
        return condition && condition->reads_values && condition->holds(facts);
    };
    const OutputElements outputs{[](std::size_t) { return std::vector<double>{1, 2, 3, 4, 5, 6}; }};
    EXPECT_TRUE(holds(R"({ "someElement": { "expected": { "above": 5 } } })", outputs));
    EXPECT_FALSE(holds(R"({ "someElement": { "expected": { "above": 6 } } })", outputs));
    EXPECT_FALSE(holds(R"({ "not": { "someElement": { "expected": 3 } } })", outputs));
    EXPECT_TRUE(holds(R"({ "someElement": { "expected": { "above": 6 } } })", {})) << "nobody knows what is expected";
}

TEST(Condition, FieldsOfSomeOperatorsDoNotHoldForOthers) {
    const operators::OperatorSchema* const both[] = {operators::find_operator("ELEMENT_WISE_POW"),
                                                     operators::find_operator("ELEMENT_WISE_ROUND")};
    for (const char* const text :
         {R"({ "ExponentTensor": {} })", R"({ "ExponentTensor": null })", R"({ "ScaleBias": null })"}) {
        const auto document = cases::parse_json(text);
        cases::ProblemSink problems("c.json", text);
        const auto condition = read_condition(*document, both, problems);
        ASSERT_TRUE(condition) << text;
        const cases::Case subject = case_of(rounded);
        CaseFacts facts(subject);
        EXPECT_EQ(condition->holds(facts), false) << text;
    }
}

TEST(Condition, ProblemsHavePositions) {
    const std::pair<const char*, const char*> rows[] = {
        {"7", "c.json:1:1: error: a condition must be an object; this is a number"},
        {R"({ "InptTensor": {} })",
         "c.json:1:3: error: no operator of this entry has a field \"InptTensor\" (at /InptTensor)\n    hint: did you "
         "mean `InputTensor`?"},
        {R"({ "InputTensor": 3 })",
         "c.json:1:18: error: the test of InputTensor must be null for an absent tensor, or an object; this is a "
         "number (at /InputTensor)"},
        {R"({ "InputTensor": { "DataType": "FLOAT31" } })",
         "c.json:1:32: error: \"FLOAT31\" is not a data type (at /InputTensor/DataType)"},
        {R"({ "InputTensor": { "Strides": "odd" } })",
         "c.json:1:31: error: \"Strides\" may be absent, given, packed, strided, repeating, transposed, unequal (at "
         "/InputTensor/Strides)"},
        {R"({ "operators": 7 })",
         "c.json:1:16: error: this is not the name of an operator that the condition is about (at /operators)"},
        {R"({ "someNode": { "InputTensor": { "values": { "nan": true } } } })",
         "c.json:1:15: error: the values that a node reads are not known here (at /someNode)"},
        {R"({ "someElement": { "actual": 1 } })",
         "c.json:1:18: error: what the engine has computed does not decide which cases are meant (at /someElement)"},
        {R"({ "someElement": { "within": "InputTensor" } })",
         "c.json:1:18: error: what the engine has computed does not decide which cases are meant (at /someElement)"},
        {R"({ "InputTensor": { "Sizes": { "8": 1 } } })",
         "c.json:1:31: error: \"8\" is not a dimension: they are 0 to 7 (at /InputTensor/Sizes/8)"},
        {R"({ "InputTensor": { "elements": {} } })",
         "c.json:1:32: error: the test of \"elements\" has no bounds (at /InputTensor/elements)"},
        {R"({ "InputTensor": { "elements": [] } })",
         "c.json:1:32: error: \"elements\" is one of nothing (at /InputTensor/elements)"},
        {R"({ "InputTensor": { "elements": { "multipleOf": 0 } } })",
         "c.json:1:48: error: nothing but 0 is a multiple of 0 (at /InputTensor/elements/multipleOf)"},
        {R"({ "InputTensor": { "values": { "nan": 1 } } })",
         "c.json:1:39: error: \"nan\" must be true or false; this is a number (at /InputTensor/values/nan)"},
        {R"({ "ScaleBias": 2 })",
         "c.json:1:16: error: the test of ScaleBias must be null or an object with \"Scale\" and \"Bias\"; this is a "
         "number (at /ScaleBias)"},
        {R"({ "differentSizes": ["InputTensor"] })",
         "c.json:1:21: error: two tensors have to be named here (at /differentSizes)"},
        {R"({ "differentSizes": ["InputTensor", "ScaleBias"] })",
         "c.json:1:37: error: this is not the name of a tensor of the operators of this entry (at /differentSizes/1)"},
        {R"({ "differentNumbers": ["ScaleBias", "OutputTensor"] })",
         "c.json:1:23: error: two attributes of the operators of this entry have to be named here (at "
         "/differentNumbers)\n    hint: for example [\"Strides[0]\", \"Strides[1]\"]"},
        {R"({ "elementsAlong": { "InputTensor": 1 } })",
         "c.json:1:22: error: \"InputTensor\" is not an attribute that lists dimensions (at "
         "/elementsAlong/InputTensor)"},
        {R"({ "reduction": { "along": "InputTensor" } })",
         "c.json:1:27: error: this is not the name of an attribute that lists dimensions (at /reduction/along)"},
        {R"({ "reduction": { "first": 1 } })",
         "c.json:1:18: error: \"first\" is not a test of \"reduction\" (at /reduction/first)\n    hint: there are "
         "along, "
         "dimensions, runs, results, beforeLast, perResult, lastPerResult, oddPerResult, and dense (a boolean)"},
        {R"({ "reduction": { "runs": 1 } })",
         "c.json:1:16: error: \"reduction\" must be an object of tests that names the reduced dimensions (at "
         "/reduction)\n    hint: for example { \"along\": \"Axes\", \"runs\": 1 }"},
        {R"({ "startsWith": { "InputTensor": "OutputTensor", "within": "ScaleBias", "atMost": "ScaleBias" } })",
         "c.json:1:50: error: \"startsWith\" takes two tensors, and attributes (at /startsWith/within)\n    hint: for "
         "example { \"InputTensor\": \"IndicesTensor\", \"without\": \"IndexDimensions\", \"atMost\": \"Axis\" }"},
        {R"({ "startsWith": { "InputTensor": "OutputTensor" } })",
         "c.json:1:17: error: \"startsWith\" needs two tensors, \"without\" and \"atMost\" (at /startsWith)\n    hint: "
         "for "
         "example { \"InputTensor\": \"IndicesTensor\", \"without\": \"IndexDimensions\", \"atMost\": \"Axis\" }"},
        {R"({ "someDimension": {} })",
         "c.json:1:20: error: \"someDimension\" must be an object of tests (at /someDimension)\n"
         "    hint: for example { \"Strides\": 1, \"different\": [\"OutputTensor\", \"WindowSizes\"] }"},
        {R"({ "someDimension": { "ScaleBias": 1 } })",
         "c.json:1:22: error: \"ScaleBias\" is neither a tensor nor an array of the operators of this entry (at "
         "/someDimension/ScaleBias)"},
        {R"({ "someDimension": { "different": ["InputTensor"] } })",
         "c.json:1:35: error: two tensors or arrays of the operators of this entry have to be named here (at "
         "/someDimension/different)"},
        {R"({ "someDimension": { "InputTensor": 1, "before": { "ScaleBias": 1 } } })",
         "c.json:1:52: error: \"ScaleBias\" is neither a tensor nor an array of the operators of this entry (at "
         "/someDimension/before/ScaleBias)"},
        {R"({ "meets": "gatheredSizes" })",
         "c.json:1:12: error: no operator of this entry has such a rule (at /meets)\n    hint: docs/expectations.md "
         "names "
         "them, under \"Other rules\""},
        {R"({ "breaks": "tensor.colour" })",
         "c.json:1:13: error: this is not a rule by which a descriptor of these operators can be illegal (at /breaks)\n"
         "    hint: `dmlconform coverage` names them"},
        {R"({ "anyOf": [] })", "c.json:1:12: error: \"anyOf\" must be an array of conditions (at /anyOf)"},
        {R"({ "InputTensor[0]": null })",
         "c.json:1:3: error: InputTensor is not an array of tensors or numbers, and has no index (at /InputTensor[0])"},
        {R"({ "ScaleBias[0]": null })",
         "c.json:1:3: error: ScaleBias is not an array of tensors or numbers, and has no index (at /ScaleBias[0])"},
        {R"({ "anyTensor": null })",
         "c.json:1:16: error: this applies only to tensors that are present (at /anyTensor)\n    hint: name the one "
         "that "
         "has to be absent"},
        {R"({ "differentTypes": ["InputTensor[1]", "OutputTensor"] })",
         "c.json:1:22: error: InputTensor is not an array of tensors or numbers, and has no index (at "
         "/differentTypes/0)"},
        {R"({ "InputTensor": { "elements": { "atLeast": 3, "below": 3 } } })",
         "c.json:1:32: error: no number passes the test of \"elements\": it contradicts itself (at "
         "/InputTensor/elements)"},
        {R"({ "InputTensor": { "values": { "nan": true, "above": 3 } } })",
         "c.json:1:30: error: no number passes the test of \"values\": it contradicts itself (at "
         "/InputTensor/values)"},
    };
    for (const auto& [text, problem] : rows) {
        std::string wrong;
        EXPECT_FALSE(read(text, case_of(powers), wrong)) << text;
        EXPECT_EQ(wrong, problem) << text;
    }
}

TEST(Condition, IndicesAreOfArraysAndWithinThem) {
    const cases::Case subject = case_of(sliced);
    const auto problem_of = [&](const std::string& text) {
        std::string wrong;
        EXPECT_FALSE(read(text.c_str(), subject, wrong)) << text;
        return wrong;
    };
    for (const char* index : {"[-1]", "[99999999999999999999]", "[8]", "[]", "[1", "[1]x", "[01]", "[ 1]", "[1][0]"}) {
        const std::string name = std::string("InputWindowStrides") + index;
        EXPECT_EQ(problem_of(fmt::format(R"({{ "{}": 1 }})", name)),
                  fmt::format("c.json:1:3: error: \"{0}\" has no index from [0] to [7] (at /{0})", name));
        EXPECT_NE(problem_of(fmt::format(R"({{ "differentNumbers": ["{}", "InputWindowStrides[0]"] }})", name))
                      .find("has no index from [0] to [7]"),
                  std::string::npos);
    }
    EXPECT_EQ(problem_of(R"({ "differentNumbers": ["InputWindowStrides", "InputWindowStrides[0]"] })"),
              "c.json:1:24: error: InputWindowStrides is an array: name one of its numbers, such as "
              "InputWindowStrides[0] (at /differentNumbers/0)");
    EXPECT_NE(problem_of(R"({ "elementsAlong": { "InputWindowSizes[0]": 1 } })").find("is not an attribute that lists"),
              std::string::npos);
    EXPECT_NE(
        problem_of(R"({ "someDimension": { "InputWindowSizes[0]": 1 } })").find("is neither a tensor nor an array"),
        std::string::npos);
    std::string wrong;
    EXPECT_TRUE(read(R"({ "InputWindowStrides[7]": 1 })", subject, wrong)) << wrong;
    const operators::OperatorSchema* const join = operators::find_operator("JOIN");
    for (const auto& [text, problem] :
         {std::pair(R"({ "InputTensors": null })", "InputTensors is an array: name one of its tensors"),
          std::pair(R"({ "InputTensors[-1]": null })", "has no index from [0] to [65535]"),
          std::pair(R"({ "InputTensors[65536]": {} })", "has no index from [0] to [65535]"),
          std::pair(R"({ "Axis": null })", "Axis is a number, and never absent")}) {
        cases::ProblemSink problems("c.json", text);
        const auto document = cases::parse_json(text);
        EXPECT_FALSE(read_condition(*document, {&join, 1}, problems)) << text;
        EXPECT_NE(to_string(problems.take(*document).at(0)).find(problem), std::string::npos) << text;
    }
}

/// The mask as a row of 0 and 1; "none" if there is no mask.
std::string mask_of(const char* text, const cases::Case& subject, std::uint64_t elements, OutputElements outputs = {}) {
    const auto document = cases::parse_json(text);
    cases::ProblemSink problems("c.json", text);
    const operators::OperatorSchema* const schema = subject.descriptor->schema;
    const auto test = ElementCondition::read(*document, {&schema, 1}, problems);
    if (!test) {
        return to_string(problems.take(*document).at(0));
    }
    CaseFacts facts(subject, std::move(outputs));
    std::string row;
    for (const bool meant : test->mask(facts, 0, elements)) {
        row += meant ? '1' : '0';
    }
    return row.empty() ? "none" : row;
}

TEST(Condition, SelectsElementsByIndex) {
    const std::pair<const char*, const char*> rows[] = {
        {R"({ "InputTensor": { "below": 0 } })", "010000"},
        {R"({ "InputTensor": { "negative": true } })", "010100"},
        {R"({ "scaled InputTensor": { "below": 0 } })", "010100"},
        {R"({ "ExponentTensor": 2, "InputTensor": { "above": 0 } })", "000010"},
        {R"({ "InputTensor/ExponentTensor": { "atLeast": 2.5, "infinite": false } })", "000010"},
        {R"({ "InputTensor/ExponentTensor": { "fromInteger": 0.08 } })", "110101"},
        {R"({ "InputTensor+ExponentTensor": { "atLeast": 3, "infinite": false } })", "000011"},
        {R"({ "InputTensor^ExponentTensor": { "above": 24, "infinite": false } })", "000011"},
        {R"({ "scaled InputTensor^ExponentTensor": { "above": 24, "infinite": false } })", "010011"},
        {R"({ "InputTensor-ExponentTensor": { "below": 0 } })", "010100"},
        {R"({ "ExponentTensor/scaled InputTensor^ExponentTensor": { "above": 0.1 } })", "100000"},
        {R"({ "InputTensor^scaled ExponentTensor": { "below": -7 } })", "010000"},
        {R"({ "scaled ExponentTensor": 5 })", "001001"},
        {R"({ "index": { "atLeast": 4 } })", "000011"},
        {R"({ "output": "OutputTensor", "InputTensor": 5 })", "000010"},
        {R"({ "output": ["OutputTensor"] })", "111111"},
        {R"({ "output": "InputTensor" })",
         "c.json:1:13: error: this is not the name of an output of the operators of this entry (at /output)"},
        {R"({ "output": [] })", "c.json:1:13: error: at least one tensor has to be named here (at /output)"},
        {R"({ "InputTensor^": 2 })",
         "c.json:1:3: error: no operator of this entry has an input \"\" (at /InputTensor^)\n    hint: \"expected\" "
         "and "
         "\"actual\" are the elements of outputs"},
        {R"({ "from": "ExponentTensor" })", "111111"},
        {R"({ "from": "OutputTensor" })",
         "c.json:1:11: error: this is not the name of an input of the operators of this entry (at /from)"},
        {R"({ "scaled index": 2 })",
         "c.json:1:3: error: ScaleBias is for inputs, and not for \"index\" (at /scaled index)"},
        {R"({ "Input": 2 })",
         "c.json:1:3: error: no operator of this entry has an input \"Input\" (at /Input)\n    hint: \"expected\" and "
         "\"actual\" are the elements of outputs"},
        {R"({ "OutputTensor": 2 })",
         "c.json:1:3: error: no operator of this entry has an input \"OutputTensor\" (at /OutputTensor)\n    hint: "
         "\"expected\" and \"actual\" are the elements of outputs"},
        {"{}",
         "c.json:1:1: error: \"elements\" must be an object with a test for each input that decides\n    hint: for "
         "example { \"InputTensor\": { \"below\": 0 } } or { \"expected\": { \"nan\": true } }"},
    };
    const cases::Case subject = case_of(powers);
    for (const auto& [text, mask] : rows) {
        EXPECT_EQ(mask_of(text, subject, 6), mask) << text;
    }
    EXPECT_EQ(mask_of(R"({ "InputTensor": 2 })", subject, 5), "none") << "no element has an index of its own there";
    EXPECT_EQ(mask_of(R"({ "InputTensor": 2 })", case_of(clipped), 3), "none") << "it has no inputs";
    EXPECT_EQ(
        mask_of(R"({ "InputTensor": 2 })", case_of(sliced), 6),
        "c.json:1:1: error: \"elements\" of inputs are for operators that compute each element from those at its "
        "position\n    hint: \"expected\" and \"actual\" are for every operator, and \"timesTolerance\" says how far "
        "any element may be off");
    EXPECT_EQ(mask_of(R"({ "InputTensor[0]": 2 })", subject, 6),
              "c.json:1:3: error: no operator of this entry has an input \"InputTensor[0]\" (at /InputTensor[0])\n    "
              "hint: \"expected\" and \"actual\" are the elements of outputs");
    EXPECT_EQ(mask_of(R"({ "InputTensor": { "nan": true } })", case_of(rounded), 4), "1111") << "one for all";
    const cases::Case bytes = case_of(R"("operator": "ELEMENT_WISE_ABS",
        "desc": { "InputTensor": { "DataType": "INT8", "Sizes": [5] }, "OutputTensor": { "DataType": "INT8", "Sizes": [5] },
                  "ScaleBias": { "Scale": 3.25, "Bias": -1.5 } },
        "inputs": { "InputTensor": [0, 1, 2, 100, -100] })");
    EXPECT_EQ(mask_of(R"({ "scaled InputTensor": [-1, 1] })", bytes, 5), "11000") << "truncated";
    EXPECT_EQ(mask_of(R"({ "scaled InputTensor": [-326, 5, 323] })", bytes, 5), "00111") << "of 32 bits";
    const cases::Case beyond = case_of(R"("operator": "ELEMENT_WISE_ABS",
        "desc": { "InputTensor": { "DataType": "INT8", "Sizes": [3] }, "OutputTensor": { "DataType": "INT8", "Sizes": [3] },
                  "ScaleBias": { "Scale": 1e30, "Bias": 0 } },
        "inputs": { "InputTensor": [1, -1, 0] })");
    EXPECT_EQ(mask_of(R"({ "scaled InputTensor": [-2147483648, 2147483647] })", beyond, 3), "110") << "clamped";
}

TEST(Condition, ElementsAreMeantByWhatIsExpectedAndWhatWasComputed) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    const double nan = std::nan("");
    const std::vector<double> expected{65504, 65504.5, -65519, 65519, 65520, nan};
    const std::vector<double> actual{inf, inf, -inf, -inf, inf, 1};
    const auto knows = [](const std::vector<double>& values) { return [&values](std::size_t) { return values; }; };
    const std::pair<const char*, const char*> rows[] = {
        {R"({ "expected": { "magnitude": { "above": 65504, "below": 65520 } } })", "011100"},
        {R"({ "expected": { "nan": true } })", "000001"},
        {R"({ "actual": { "infinite": true, "negative": true } })", "001100"},
        {R"({ "actual/expected": { "infinite": true, "negative": false } })", "111010"},
        {R"({ "expected": { "magnitude": { "above": 65504, "below": 65520 } },
              "actual/expected": { "infinite": true, "negative": false } })",
         "011000"},
        {R"({ "actual-expected": { "infinite": true, "negative": false } })", "110010"},
        {R"({ "output": "OutputTensor", "actual": 1 })", "000001"},
        {R"({ "index": 3, "actual": { "infinite": true } })", "000100"},
        {R"({ "scaled expected": 2 })",
         "c.json:1:3: error: ScaleBias is for inputs, and not for \"expected\" (at /scaled expected)"},
        {R"({ "expected/actul": 2 })",
         "c.json:1:3: error: no operator of this entry has an input \"actul\" (at /expected~1actul)\n    hint: "
         "\"expected\" and \"actual\" are the elements of outputs"},
    };
    for (const char* descriptor : {powers, sliced}) {
        const cases::Case subject = case_of(descriptor);
        for (const auto& [text, mask] : rows) {
            EXPECT_EQ(mask_of(text, subject, 6, {knows(expected), knows(actual)}), mask) << text;
        }
        EXPECT_EQ(mask_of(R"({ "actual": 1 })", subject, 6, {knows(expected), {}}), "111111") << "it has not run yet";
        EXPECT_EQ(mask_of(R"({ "actual": 1, "expected": { "above": 65504.5 } })", subject, 6, {knows(expected), {}}),
                  "000110");
        EXPECT_EQ(mask_of(R"({ "expected": 1 })", subject, 5, {knows(expected), {}}), "none") << "another output";
    }
    EXPECT_EQ(mask_of(R"({ "InputTensor": { "above": 0 }, "expected": { "above": 0 } })", case_of(powers), 6,
                      {knows(expected), {}}),
              "100010");
}

TEST(Condition, ElementsMayBeThoseOfSomeOutputs) {
    const cases::Case subject = case_of(pooled);
    const operators::OperatorSchema* const schema = subject.descriptor->schema;
    const std::string text = R"({ "output": "OutputIndicesTensor", "index": 1 })";
    const auto document = cases::parse_json(text);
    cases::ProblemSink problems("c.json", text);
    const auto test = ElementCondition::read(*document, {&schema, 1}, problems);
    ASSERT_TRUE(test);
    CaseFacts facts(subject);
    EXPECT_EQ(test->mask(facts, 0, 3), std::vector<bool>());
    EXPECT_EQ(test->mask(facts, 1, 3), std::vector<bool>({false, true, false}));
    EXPECT_FALSE(test->reads_actual());
}

TEST(Condition, ElementsMayBeThoseOfAnInput) {
    const std::vector<double> actual{1, -2, 7, 0, 6.5, std::nan("")};
    const OutputElements outputs{{}, [&actual](std::size_t) { return actual; }};
    EXPECT_EQ(mask_of(R"({ "from": "InputTensor" })", case_of(powers), 6, outputs), "110110");
    EXPECT_EQ(mask_of(R"({ "from": "ExponentTensor" })", case_of(powers), 6, outputs), "100000");
    EXPECT_EQ(mask_of(R"({ "from": "InputTensor" })", case_of(rounded), 6, outputs), "000001");
    EXPECT_EQ(mask_of(R"({ "from": "InputTensor", "index": 1 })", case_of(powers), 6, outputs), "010000");
}

TEST(Condition, ElementsMayLieBetweenThoseOfInputs) {
    const std::vector<double> actual{1, -2, 3.005, 0.99, 6.5, std::nan("")};
    const OutputElements outputs{{}, [&actual](std::size_t) { return actual; }};
    EXPECT_EQ(mask_of(R"({ "within": "ExponentTensor" })", case_of(powers), 6, outputs), "101000");
    EXPECT_EQ(mask_of(R"({ "within": ["ExponentTensor", "InputTensor"] })", case_of(powers), 6, outputs), "111110");
    EXPECT_EQ(mask_of(R"({ "within": ["ExponentTensor", -2.5] })", case_of(powers), 6, outputs), "111100");
    EXPECT_EQ(mask_of(R"({ "within": ["ExponentTensor", 2, 7] })", case_of(powers), 6, outputs), "101110");
    EXPECT_EQ(mask_of(R"({ "within": "ExponentTensor+ExponentTensor" })", case_of(powers), 6, outputs), "001000");
    EXPECT_EQ(mask_of(R"({ "within": ["ExponentTensor+ExponentTensor", 7] })", case_of(powers), 6, outputs), "001010");
    EXPECT_NE(mask_of(R"({ "within": "ExponentTensor+OutputTensor" })", case_of(powers), 6).find("or of two with a +"),
              std::string::npos);
    EXPECT_EQ(mask_of(R"({ "within": [1, 7] })", case_of(powers), 6, outputs),
              "c.json:1:13: error: at least one tensor has to be named here (at /within)");
    EXPECT_EQ(mask_of(R"({ "within": "ExponentTensor" })", case_of(powers), 6), "111111") << "it has not run yet";
    EXPECT_EQ(mask_of(R"({ "within": "OutputTensor" })", case_of(powers), 6),
              "c.json:1:13: error: this is not the name of an input of the operators of this entry, or of two with a + "
              "(at /within)");
}

/// Six elements, four of which are accepted with any other case. The case is stored.
OutputElements outputs_that_note(OtherCase& asked) {
    OutputElements outputs{{}, [](std::size_t) { return std::vector<double>{1, 2, 3, 4, 5, 6}; }};
    outputs.accepted_with = [&asked](std::size_t, const OtherCase& other) {
        asked = other;
        return std::optional(std::vector<bool>{true, false, true, true, false, true});
    };
    return outputs;
}

TEST(Condition, ElementsMayBeAcceptedOfAChangedCase) {
    OtherCase asked;
    OutputElements outputs = outputs_that_note(asked);
    const char* const text = R"({ "acceptedWith": { "InputPixelOffsets": 0.5 }, "timesTolerance": 2.5 })";
    EXPECT_EQ(mask_of(text, case_of(resampled), 6, outputs), "101101");
    ASSERT_EQ(asked.changes.size(), 1U);
    EXPECT_EQ(asked.changes[0].field, "InputPixelOffsets");
    EXPECT_EQ(asked.times_tolerance, 2.5);
    EXPECT_EQ(
        mask_of(R"({ "acceptedWith": { "Scales": 1 }, "actual": { "below": 4 } })", case_of(resampled), 6, outputs),
        "101000");
    EXPECT_EQ(mask_of(text, case_of(resampled), 6), "111111") << "it has not run yet";
    outputs.accepted_with = {};
    EXPECT_EQ(mask_of(text, case_of(resampled), 6, outputs), "none") << "nobody knows";
}

TEST(Condition, ElementsMayBeComputedByAVariant) {
    OtherCase asked;
    OutputElements outputs = outputs_that_note(asked);
    const char* const text = R"({ "computedAs": "clampedOffsets", "timesTolerance": 2 })";
    EXPECT_EQ(mask_of(text, case_of(resampled), 6, outputs), "101101");
    EXPECT_EQ(asked.variant, "clampedOffsets");
    EXPECT_TRUE(asked.changes.empty());
    EXPECT_EQ(asked.times_tolerance, 2);
    EXPECT_EQ(mask_of(text, case_of(resampled), 6), "111111") << "it has not run yet";
    for (const char* name : {"\"absentStates\"", "\"\"", "1", "null"}) {
        EXPECT_NE(mask_of(fmt::format(R"({{ "computedAs": {} }})", name).c_str(), case_of(resampled), 6)
                      .find("this is not the name of a variant of the operators of this entry"),
                  std::string::npos)
            << name;
    }
}

TEST(Condition, AFactorOfTheToleranceIsForAChangedCase) {
    EXPECT_NE(mask_of(R"({ "expected": 1, "timesTolerance": 2 })", case_of(resampled), 6)
                  .find("\"timesTolerance\" of elements needs \"acceptedWith\" or \"computedAs\""),
              std::string::npos);
    for (const char* times : {"0.5", "\"2\"", "-1", "\"inf\""}) {
        const std::string text = fmt::format(R"({{ "acceptedWith": {{ "Scales": 1 }}, "timesTolerance": {} }})", times);
        EXPECT_NE(mask_of(text.c_str(), case_of(resampled), 6).find("must be a finite number of at least 1"),
                  std::string::npos)
            << times;
    }
}

Expectation entry_of(const std::string& members) {
    const auto read = read_expectations(
        "e.json", fmt::format(R"({{ "format": "dmlconform-expectations", "formatVersion": 1, "expectations": [
            {{ "reason": "r", {} }} ] }})",
                              members));
    for (const cases::Problem& problem : read.problems) {
        throw std::logic_error("the test's entry is broken: " + to_string(problem));
    }
    return read.expectations.at(0);
}

TEST(Condition, EntriesWithoutIdsMeetLegalDescriptorsUnlessTheySpeakOfOthers) {
    struct Row {
        const char* entry;
        const char* subject;
        bool meets;
    };
    const Row rows[] = {
        {R"("operators": "ELEMENT_WISE_*", "status": "fail")", powers, true},
        {R"("operators": ["CAST", "*_POW"], "status": "error")", powers, true},
        {R"("operators": "CAST", "status": "fail")", powers, false},
        {R"("operators": "*", "status": "fail", "when": { "ExponentTensor": {} })", powers, true},
        {R"("operators": "*", "status": "fail", "when": { "ExponentTensor": {} })", rounded, false},
        {R"("operators": "*", "cases": "some/b", "status": "fail")", powers, false},
        {R"("operators": "*", "cases": "some/*", "status": "fail")", powers, true},
        {R"("cases": "some/a", "when": { "InputTensor": null }, "status": "fail")", powers, false},
        {R"("operators": "*", "status": "fail", "happens": "rejected")", powers, true},
        {R"("operators": "*", "status": "fail", "happens": "accepted")", powers, false},
        {R"("operators": "*", "status": "fail", "happens": "rejected")", clipped, false},
        {R"("operators": "*", "status": "fail", "happens": "accepted")", clipped, true},
        {R"("operators": "*", "status": "error")", clipped, false},
        {R"("operators": "*", "status": "error", "happens": "accepted")", clipped, true},
        {R"("operators": "*", "status": "error")", clipped, false},
        {R"("operators": "*", "status": "crash")", clipped, true},
        {R"("operators": "*", "status": "crash")", powers, true},
    };
    for (const Row& row : rows) {
        const cases::Case subject = case_of(row.subject);
        CaseFacts facts(subject);
        EXPECT_EQ(entry_of(row.entry).meets(subject.id, facts), row.meets) << row.entry;
    }
    const cases::Case subject = case_of(powers);
    CaseFacts facts(subject);
    const auto means = [&](const char* members) { return entry_of(members).means_some_element(facts); };
    EXPECT_TRUE(means(R"("operators": "*", "status": "fail")"));
    EXPECT_TRUE(means(R"("operators": "*", "status": "fail", "elements": { "InputTensor": 5 })"));
    EXPECT_FALSE(means(R"("operators": "*", "status": "fail", "elements": { "InputTensor": 7 })"));
}

}  // namespace
}  // namespace dmlconform::expectations::condition_test
