// Tests of run and bench with --sizes, --attr and --type: an operator in one line, without a case file.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/changed_worker.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::shape_test {
namespace {

using nlohmann::json;

TEST(Shape, RunsWithRandomInputsAgainstTheReference) {
    const TemporaryFolder folder;
    const struct {
        std::vector<std::string> words;
        std::vector<const char*> descriptor;
    } rows[] = {
        {{"TOP_K1", "--sizes", "1,1,6,32", "--attr", "Axis=3,K=10", "--type", "FLOAT16"},
         {"InputTensor: FLOAT16 [1,1,6,32]", "OutputValueTensor: FLOAT16 [1,1,6,10]", "Axis: 3", "K: 10"}},
        {{"ELEMENT_WISE_ADD", "--sizes", "2,3,4"},
         {"ATensor: FLOAT32 [2,3,4]", "BTensor: FLOAT32 [2,3,4]", "OutputTensor: FLOAT32 [2,3,4]"}},
        {{"REDUCE", "--sizes", "1,2,8,8", "--attr", "Function=SUM", "--attr", "Axes=[2,3]"},
         {"InputTensor: FLOAT32 [1,2,8,8]", "OutputTensor: FLOAT32 [1,2,1,1]"}},
        {{"ACTIVATION_RELU", "--type", "FLOAT16"}, {"InputTensor: FLOAT16 ["}},
        {{"GEMM", "--sizes", "1,1,64,32", "--sizes", "BTensor=1,1,32,16"},
         {"ATensor: FLOAT32 [1,1,64,32]", "BTensor: FLOAT32 [1,1,32,16]", "CTensor: null",
          "OutputTensor: FLOAT32 [1,1,64,16]", "TransA: NONE", "TransB: NONE", "FusedActivation: null"}},
        {{"GEMM", "--sizes", "B=32,16", "--sizes", "A=4,32", "--sizes", "C=4,16", "--type", "FLOAT16"},
         {"ATensor: FLOAT16 [4,32]", "BTensor: FLOAT16 [32,16]", "CTensor: FLOAT16 [4,16]",
          "OutputTensor: FLOAT16 [4,16]"}},
        {{"GEMM", "--sizes", "4,32", "--sizes", "B=16,32", "--attr", "TransB=TRANSPOSE"},
         {"BTensor: FLOAT32 [16,32]", "OutputTensor: FLOAT32 [4,16]"}},
        {{"CONVOLUTION", "--sizes", "1,3,8,8", "--sizes", "FilterTensor=4,3,3,3", "--attr",
          "StartPadding=[1,1],EndPadding=[1,1]"},
         {"FilterTensor: FLOAT32 [4,3,3,3]", "BiasTensor: null", "OutputTensor: FLOAT32 [1,4,8,8]", "Strides: [1,1]",
          "Dilations: [1,1]", "Direction: FORWARD"}},
        {{"JOIN", "--sizes", "InputTensors[0]=2,3", "--sizes", "Input[1]=2,4", "--sizes", "Input[2]=2,5", "--attr",
          "Axis=1"},
         {"InputCount: 3", "OutputTensor: FLOAT32 [2,12]"}},
        {{"RESAMPLE2", "--sizes", "1,3,64,64", "--attr", "Scales=[1,1,2,2]"},
         {"OutputTensor: FLOAT32 [1,3,128,128]", "InterpolationMode: NEAREST_NEIGHBOR",
          "InputPixelOffsets: [0.5,0.5,0.5,0.5]", "OutputPixelOffsets: [-0.5,-0.5,-0.5,-0.5]"}},
        {{"LSTM", "--sizes", "1,5,2,3"},
         {"WeightTensor: FLOAT32 [1,1,12,3]", "RecurrenceTensor: FLOAT32 [1,1,12,3]", "BiasTensor: null",
          "PeepholeTensor: null", "Direction: FORWARD", "UseClipThreshold: FALSE", "CoupleInputForget: FALSE",
          "ACTIVATION_SIGMOID; ACTIVATION_TANH; ACTIVATION_TANH"}},
        {{"LSTM", "--sizes", "1,5,2,3", "--attr", "Direction=BIDIRECTIONAL"},
         {"WeightTensor: FLOAT32 [1,2,12,3]", "ActivationDescCount: 6"}},
        {{"REDUCE", "--sizes", "8,64"}, {"Function: SUM", "Axes: [1]", "OutputTensor: FLOAT32 [8,1]"}},
        {{"GATHER", "--sizes", "1,1,4,8"}, {"Axis: 3"}},
        {{"CONVOLUTION", "--sizes", "1x3x8x8", "--sizes", "Filter=4x3x3x3", "--attr", "Strides=2,FusedActivation=RELU"},
         {"Strides: [2,2]", "OutputTensor: FLOAT32 [1,4,3,3]", "FusedActivation: ACTIVATION_RELU"}},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.words.front());
        std::vector<std::string> words{"run"};
        words.insert(words.end(), row.words.begin(), row.words.end());
        // The reference alone verifies nothing, but the result lists what it ran.
        words.insert(words.end(), {"--engine", "cpu", "--json", folder.at("r.json")});
        const ProgramResult result = dmlconform(words);
        EXPECT_TRUE(ends_with_code(result, 1));
        EXPECT_TRUE(prints(result, ": 1 reference\n"));
        const json stored = json::parse(content_of(folder.at("r.json")))["results"][0];
        EXPECT_TRUE(stored["id"].get<std::string>().starts_with(row.words.front() + "/float")) << stored["id"];
        const std::string descriptor = stored["descriptor"].dump();
        for (const char* line : row.descriptor) {
            EXPECT_NE(descriptor.find(line), std::string::npos) << line << "\n" << descriptor;
        }
    }
}

TEST(Shape, FailuresAreRunAgainInTheSameWords) {
    const TemporaryFolder folder;
    const std::string wrong = changed_worker(folder, R"(right = worker.slice1
def slice1(desc, data, output):
    right(desc, data, output)
    output[0:4] = b"\0\0\0\x41"
worker.slice1 = slice1)");
    const ProgramResult result = dmlconform({"run", "SLICE1", "--sizes", "4,4", "--sizes", "Output=2,2", "--attr",
                                             "InputWindowSizes=[2,2]", "--engine", wrong});
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(prints(result, "FAIL SLICE1/float32-4x4-InputWindowSizes-_2_2_ on exec:python"));
    EXPECT_TRUE(prints(result, " run SLICE1 --filter "));
    EXPECT_TRUE(prints(result, " --sizes=4,4 --sizes=Output=2,2 "));
}

TEST(Shape, Bench) {
    if (dmlconform({"bench", "--help"}).exit_code != 0) {
        GTEST_SKIP() << "this build has no benchmarks";
    }
    const ProgramResult result =
        dmlconform({"bench", "SLICE1", "--sizes", "1,1,64,64", "--engine", "cpu", "--no-roofline",
                    "--benchmark_min_time=0.001", "--benchmark_repetitions=1"});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, "cpu/SLICE1/float32-1x1x64x64"));
}

TEST(Shape, Slips) {
    const struct {
        std::vector<std::string> words;
        const char* message;
    } rows[] = {
        {{"SLICE9", "--sizes", "4"}, "the catalogue has no operator \"SLICE9\""},
        {{"SLICE1", "TOP_K1", "--sizes", "4"}, "are for one operator"},
        {{"SLICE1", "--sizes", "4,x"}, "\"x\" is not a size"},
        {{"SLICE1", "--sizes", "4,0"}, "\"0\" is not a size"},
        {{"SLICE1", "--sizes", "4,,4"}, "\"\" is not a size"},
        {{"SLICE1", "--sizes", "Input="}, "\"\" is not a size"},
        {{"SLICE1", "--sizes", "=4,4", "--sizes", "4,4"}, "the sizes of InputTensor are given twice"},
        {{"GEMM", "--sizes", "4,4", "--sizes", "A=4,4"}, "the sizes of ATensor are given twice"},
        {{"GEMM", "--sizes", "4,4", "--sizes", "A=4,4"}, "--sizes BTensor=… is for another tensor"},
        {{"SLICE1", "--sizes", "Output=4,4", "--sizes", "Output=4,4"}, "--sizes InputTensor=… is for another tensor"},
        {{"GEMM", "--sizes", "D=4,4"}, "GEMM has no tensor \"D\""},
        {{"GEMM", "--sizes", "D=4,4"}, "its tensors are ATensor, BTensor, CTensor, OutputTensor"},
        {{"JOIN", "--sizes", "Input[9]=4,4"}, "JOIN has no tensor \"Input[9]\""},
        {{"JOIN", "--sizes", "Input=4,4"}, "JOIN has no tensor \"Input\""},
        {{"GEMM", "--sizes", "4,32", "--sizes", "B=31,16"}, "these make an illegal GEMM: "},
        {{"GEMM", "--sizes", "4,32", "--sizes", "B=31,16"}, "hint: not given, and so made up: "},
        {{"GEMM", "--sizes", "4,32", "--sizes", "B=31,16"}, "--sizes NAME=N,N,... gives any tensor's sizes"},
        {{"TOP_K1", "--attr", "Axis"}, "\"Axis\" is not NAME=VALUE"},
        {{"TOP_K1", "--attr", "Axes=1"}, "TOP_K1 has no attribute \"Axes\""},
        {{"TOP_K1", "--attr", "InputTensor=1"}, "TOP_K1 has no attribute \"InputTensor\""},
        {{"TOP_K1", "--attr", "Axis=\"x\""}, "Axis"},
        {{"TOP_K1", "--attr", "Axis=\xff"}, "--attr Axis: the value is not UTF-8"},
        {{"TOP_K1", "--attr", "Axis=" + std::string(60'000, '[') + std::string(60'000, ']')},
         "--attr Axis: more than 64 levels of nesting"},
        {{"TOP_K1", "--sizes", "1,1,1,8", "--attr", "Axis=3,K=9"}, "these make an illegal TOP_K1: "},
        {{"UPSAMPLE_2D", "--sizes", "2,2"}, "no legal descriptor of UPSAMPLE_2D with 2 dimensions was found"},
        {{"SLICE1", "--type", "FLOAT7"}, "--type"},
    };
    for (const auto& row : rows) {
        std::vector<std::string> words{"run"};
        words.insert(words.end(), row.words.begin(), row.words.end());
        const ProgramResult result = dmlconform(words);
        EXPECT_TRUE(ends_with_code(result, 2));
        EXPECT_TRUE(complains(result, row.message));
    }
}

}  // namespace
}  // namespace dmlconform::tests::shape_test
