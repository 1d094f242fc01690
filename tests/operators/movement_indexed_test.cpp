// Tests of engine/operators/rules/movement_indexed: legal descriptors of operators with indices, lengths or windows.
#include "tests/operators/rule_cases.h"

namespace dmlconform::tests::movement_indexed_test {
namespace {

using core::DataType;
using operators::Descriptor;

core::TensorDesc index(core::Dimensions sizes) {
    return tensor(DataType::uint32, std::move(sizes));
}

TEST(MovementIndexed, Gather) {
    const Descriptor base = describe("GATHER", {{"InputTensor", bytes({1, 4, 5})},
                                                {"IndicesTensor", index({1, 2, 3})},
                                                {"OutputTensor", bytes({2, 3, 5})},
                                                {"Axis", 1},
                                                {"IndexDimensions", 2}});
    const RuleCase cases[] = {
        {"a 1 of the input is cropped", {}, ""},
        {"a dimension of the input is cropped", {{"InputTensor", bytes({2, 4, 5})}}, "GATHER.dimensionCount"},
        {"as many index dimensions as there are", {{"IndexDimensions", 3}, {"IndicesTensor", index({1, 2, 3})}}, ""},
        {"more index dimensions than there are", {{"IndexDimensions", 4}}, "GATHER.indexDimensions"},
        {"index dimensions that do not count but are not 1", {{"IndexDimensions", 1}}, "GATHER.indexDimensions"},
        {"one index dimension",
         {{"IndexDimensions", 1}, {"IndicesTensor", index({1, 1, 3})}, {"OutputTensor", bytes({1, 3, 5})}},
         ""},
        {"none", {{"IndexDimensions", 0}, {"IndicesTensor", index({1, 1, 1})}, {"OutputTensor", bytes({1, 1, 5})}}, ""},
        {"the indices' sizes at other dimensions", {{"OutputTensor", bytes({3, 2, 5})}}, "GATHER.outputSizes"},
        {"an axis that there is not", {{"Axis", 3}}, "field.axis"},
    };
    expect_verdicts(base, cases);
    expect_every_rule("GATHER", {cases});
}

TEST(MovementIndexed, AlongAnAxis) {
    const Descriptor gather = describe("GATHER_ELEMENTS", {{"InputTensor", bytes({2, 3})},
                                                           {"IndicesTensor", index({2, 5})},
                                                           {"OutputTensor", bytes({2, 5})},
                                                           {"Axis", 1}});
    const RuleCase gathers[] = {
        {"more than there are along the axis", {}, ""},
        {"fewer elsewhere",
         {{"IndicesTensor", index({1, 5})}, {"OutputTensor", bytes({1, 5})}},
         "GATHER_ELEMENTS.indicesSizes"},
        {"another output", {{"OutputTensor", bytes({2, 3})}}, "tensor.sameSizes"},
    };
    expect_verdicts(gather, gathers);
    expect_every_rule("GATHER_ELEMENTS", {gathers});

    const Descriptor scatter = describe("SCATTER", {{"InputTensor", bytes({2, 3})},
                                                    {"IndicesTensor", index({2, 3})},
                                                    {"UpdatesTensor", bytes({2, 3})},
                                                    {"OutputTensor", bytes({2, 3})},
                                                    {"Axis", 1}});
    const RuleCase scatters[] = {
        {"one for each position", {}, ""},
        {"one more", {{"IndicesTensor", index({2, 4})}, {"UpdatesTensor", bytes({2, 4})}}, "SCATTER.indicesSizes"},
        {"fewer", {{"IndicesTensor", index({2, 1})}, {"UpdatesTensor", bytes({2, 1})}}, ""},
        {"fewer elsewhere",
         {{"IndicesTensor", index({1, 3})}, {"UpdatesTensor", bytes({1, 3})}},
         "SCATTER.indicesSizes"},
    };
    expect_verdicts(scatter, scatters);
    expect_every_rule("SCATTER", {scatters});
}

std::vector<RuleCase> tuple_cases(std::string_view op, std::string_view picked) {
    // Names must live as long as the program.
    static std::vector<std::string> names;
    names.reserve(64);
    const auto rule = [&](const char* name) -> std::string_view {
        return names.emplace_back(std::string(op) + "." + name);
    };
    return {
        {"a row for each of two indices", {}, ""},
        {"no dimension of the input counts", {{"InputDimensionCount", 0}}, rule("inputDimensionCount")},
        {"more than there are", {{"InputDimensionCount", 4}}, rule("inputDimensionCount")},
        {"a dimension that is not 1 does not count", {{"InputDimensionCount", 1}}, rule("inputDimensionCount")},
        {"no dimension of the indices counts", {{"IndicesDimensionCount", 0}}, rule("indicesDimensionCount")},
        {"more than the indices have", {{"IndicesDimensionCount", 4}}, rule("indicesDimensionCount")},
        {"two tuples, but they do not count", {{"IndicesDimensionCount", 1}}, rule("indicesDimensionCount")},
        {"a tuple for all dimensions", {{"IndicesTensor", index({1, 2, 2})}, {picked, bytes({1, 1, 2})}}, ""},
        {"a tuple for more", {{"IndicesTensor", index({1, 2, 3})}, {picked, bytes({1, 1, 2})}}, rule("tupleSize")},
        {"other sizes", {{picked, bytes({2, 1, 3})}}, rule(picked == "OutputTensor" ? "outputSizes" : "updatesSizes")},
    };
}

TEST(MovementIndexed, Tuples) {
    for (const std::string_view op : {"GATHER_ND", "GATHER_ND1", "SCATTER_ND"}) {
        const bool scatters = op == "SCATTER_ND";
        const std::string_view picked = scatters ? "UpdatesTensor" : "OutputTensor";
        std::vector<Setting> settings{{"InputTensor", bytes({1, 4, 3})},
                                      {"IndicesTensor", index({1, 2, 1})},
                                      {picked, bytes({1, 2, 3})},
                                      {"InputDimensionCount", 2},
                                      {"IndicesDimensionCount", 2}};
        if (scatters) {
            settings.emplace_back("OutputTensor", bytes({1, 4, 3}));
        }
        const auto cases = tuple_cases(op, picked);
        expect_verdicts(describe(op, settings), cases);
        if (op == "GATHER_ND1") {
            continue;  // This operator has an additional rule.
        }
        expect_every_rule(op, {cases});
    }
}

TEST(MovementIndexed, Batches) {
    const Descriptor base = describe("GATHER_ND1", {{"InputTensor", bytes({2, 4, 3})},
                                                    {"IndicesTensor", index({2, 5, 1})},
                                                    {"OutputTensor", bytes({2, 5, 3})},
                                                    {"InputDimensionCount", 3},
                                                    {"IndicesDimensionCount", 3},
                                                    {"BatchDimensionCount", 1}});
    const RuleCase cases[] = {
        {"a batch", {}, ""},
        {"other batches", {{"IndicesTensor", index({3, 5, 1})}}, "GATHER_ND1.batchDimensions"},
        {"all dimensions of the indices",
         {{"BatchDimensionCount", 3}, {"InputTensor", bytes({2, 5, 1})}},
         "GATHER_ND1.batchDimensions"},
        {"the most batches there may be",
         {{"BatchDimensionCount", 2}, {"InputTensor", bytes({2, 5, 3})}, {"OutputTensor", bytes({1, 2, 5})}},
         ""},
        {"all dimensions of the input",
         {{"BatchDimensionCount", 2}, {"InputDimensionCount", 2}, {"InputTensor", bytes({1, 2, 5})}},
         "GATHER_ND1.batchDimensions"},
        {"all dimensions of both",
         {{"BatchDimensionCount", 3}, {"InputTensor", bytes({2, 5, 1})}},
         "GATHER_ND1.batchDimensions"},
        {"batches that wrap", {{"BatchDimensionCount", uint_max}}, "GATHER_ND1.batchDimensions"},
        {"a tuple and batches for more than there is", {{"IndicesTensor", index({2, 5, 3})}}, "GATHER_ND1.tupleSize"},
        {"no dimension of the input counts", {{"InputDimensionCount", 0}}, "GATHER_ND1.inputDimensionCount"},
        {"no dimension of the indices counts", {{"IndicesDimensionCount", 0}}, "GATHER_ND1.indicesDimensionCount"},
        {"no dimension of an input of ones counts",
         {{"InputTensor", bytes({1, 1, 1})}, {"InputDimensionCount", 0}},
         "GATHER_ND1.inputDimensionCount"},
        {"no dimension of indices of ones counts",
         {{"IndicesTensor", index({1, 1, 1})}, {"IndicesDimensionCount", 0}},
         "GATHER_ND1.indicesDimensionCount"},
        {"other sizes", {{"OutputTensor", bytes({2, 5, 4})}}, "GATHER_ND1.outputSizes"},
    };
    expect_verdicts(base, cases);
    expect_every_rule("GATHER_ND1", {cases});
}

TEST(MovementIndexed, OneHot) {
    const Descriptor base = describe("ONE_HOT", {{"IndicesTensor", index({2, 1})},
                                                 {"ValuesTensor", bytes({2, 1})},
                                                 {"OutputTensor", bytes({2, 3})},
                                                 {"Axis", 1}});
    const RuleCase cases[] = {
        {"two values", {}, ""},
        {"more values", {{"ValuesTensor", bytes({3, 2})}}, ""},
        {"one value", {{"ValuesTensor", bytes({1, 1})}}, "ONE_HOT.values"},
        {"two indices along the axis", {{"IndicesTensor", index({2, 2})}}, "ONE_HOT.indicesSizes"},
        {"fewer indices", {{"IndicesTensor", index({1, 1})}}, "ONE_HOT.indicesSizes"},
    };
    expect_verdicts(base, cases);
    expect_every_rule("ONE_HOT", {cases});
}

TEST(MovementIndexed, ReverseSubsequences) {
    const Descriptor base = describe("REVERSE_SUBSEQUENCES", {{"InputTensor", bytes({2, 3})},
                                                              {"SequenceLengthsTensor", index({2, 1})},
                                                              {"OutputTensor", bytes({2, 3})},
                                                              {"Axis", 1}});
    const RuleCase cases[] = {
        {"a length for each row", {}, ""},
        {"two", {{"SequenceLengthsTensor", index({2, 2})}}, "REVERSE_SUBSEQUENCES.lengthsSizes"},
        {"one for all", {{"SequenceLengthsTensor", index({1, 1})}}, "REVERSE_SUBSEQUENCES.lengthsSizes"},
    };
    expect_verdicts(base, cases);
    expect_every_rule("REVERSE_SUBSEQUENCES", {cases});
}

/// A 5 by 6 image with 2 by 3 windows, one row of padding above and one column on either side.
std::vector<Setting> windows(std::string_view image, std::string_view unfolded) {
    return {{image, bytes({2, 3, 5, 6})}, {unfolded, bytes({2, 18, 15})}, {"WindowSizes", {2, 3}}, {"Strides", {1, 2}},
            {"Dilations", {1, 2}},        {"StartPadding", {1, 1}},       {"EndPadding", {0, 1}}};
}

TEST(MovementIndexed, Windows) {
    // Rows: 5 + 1 - 2 + 1 = 5 blocks. Columns: (6 + 2 - 5) / 2 + 1 = 2 blocks.
    for (const std::string_view op : {"UNFOLD", "FOLD"}) {
        const bool folds = op == "FOLD";
        const std::string_view image = folds ? "OutputTensor" : "InputTensor";
        const std::string_view unfolded = folds ? "InputTensor" : "OutputTensor";
        const Descriptor base = with(describe(op, windows(image, unfolded)), {{unfolded, bytes({2, 18, 10})}});
        const std::string window = std::string(op) + ".window";
        const std::string bounds = std::string(op) + ".windowInBounds";
        const std::string sizes = std::string(op) + (folds ? ".inputSizes" : ".outputSizes");
        const RuleCase cases[] = {
            {"5 by 2 blocks", {}, ""},
            {"no window", {{"WindowSizes", {2, 0}}}, window},
            {"no step", {{"Strides", {0, 2}}}, window},
            {"no dilation", {{"Dilations", {1, 0}}}, window},
            {"a window of all rows", {{"WindowSizes", {6, 3}}, {unfolded, bytes({2, 54, 2})}}, ""},
            {"a window of more rows", {{"WindowSizes", {7, 3}}}, bounds},
            {"a window that wraps", {{"WindowSizes", {uint_max, 3}}, {"Dilations", {uint_max, 2}}}, bounds},
            {"a block more", {{unfolded, bytes({2, 18, 11})}}, sizes},
            {"a window element fewer", {{unfolded, bytes({2, 17, 10})}}, sizes},
            {"fewer batches", {{unfolded, bytes({1, 18, 10})}}, sizes},
            {"four dimensions", {{unfolded, bytes({1, 2, 18, 10})}}, sizes},
            {"another count of dimensions",
             {{"WindowSizes", {2}}, {"Strides", {1}}, {"Dilations", {1}}, {"StartPadding", {1}}, {"EndPadding", {0}}},
             "field.dimensionCount"},
        };
        expect_verdicts(base, cases);
        expect_every_rule(op, {cases});
    }
}

}  // namespace
}  // namespace dmlconform::tests::movement_indexed_test
