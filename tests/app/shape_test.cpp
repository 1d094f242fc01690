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
        {{"REDUCE", "--sizes", "1,1,8,16", "--attr", "Function=ARGMAX"},
         {"Function: ARGMAX", "OutputTensor: UINT32 [1,1,8,1]"}},
        {{"REDUCE", "--sizes", "8,64"}, {"Function: SUM", "Axes: [1]", "OutputTensor: FLOAT32 [8,1]"}},
        {{"GATHER", "--sizes", "1,1,4,8"}, {"Axis: 3"}},
        {{"CONVOLUTION", "--sizes", "1x3x8x8", "--sizes", "Filter=4x3x3x3", "--attr", "Strides=2,FusedActivation=RELU"},
         {"Strides: [2,2]", "OutputTensor: FLOAT32 [1,4,3,3]", "FusedActivation: ACTIVATION_RELU"}},
        {{"ELEMENT_WISE_ADD", "--sizes", "2,3,4", "--sizes", "B=1,3,1"},
         {"ATensor: FLOAT32 [2,3,4]\"", "BTensor: FLOAT32 [2,3,4] strides [0,1,0]", "OutputTensor: FLOAT32 [2,3,4]\""}},
        {{"ELEMENT_WISE_ADD", "--sizes", "2,1,4", "--sizes", "B=3,1"},
         {"ATensor: FLOAT32 [2,3,4] strides [4,0,1]", "BTensor: FLOAT32 [2,3,4] strides [0,1,0]"}},
        {{"GEMM", "--sizes", "4,32", "--sizes", "B=32,16", "--sizes", "C=16", "--sizes", "Output=4,16"},
         {"CTensor: FLOAT32 [4,16] strides [0,1]"}},
        {{"ACTIVATION_RELU", "--sizes", "1,3,4,5", "--strides", "nhwc", "--strides", "Output=NHWC"},
         {"InputTensor: FLOAT32 [1,3,4,5] strides [60,1,15,3]", "OutputTensor: FLOAT32 [1,3,4,5] strides [60,1,15,3]"}},
        {{"ACTIVATION_RELU", "--sizes", "2,3", "--strides", "8,1"}, {"InputTensor: FLOAT32 [2,3] strides [8,1]"}},
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

/// Problems that differ in strides alone are not compared with each other.
TEST(Shape, NamesHaveTheStrides) {
    const ProgramResult result =
        dmlconform({"run", "ELEMENT_WISE_ADD", "--sizes", "2,4", "--sizes", "B=1,4", "--engine", "cpu", "-v"});
    EXPECT_TRUE(prints(result, "ELEMENT_WISE_ADD/float32-2x4-2x4_s0x1 on cpu"));
    EXPECT_TRUE(prints(
        dmlconform({"run", "ACTIVATION_RELU", "--sizes", "2,3", "--strides", "Output=1,2", "--engine", "cpu", "-v"}),
        "ACTIVATION_RELU/float32-2x3-OutputTensor_s1x2 on cpu"));
}

TEST(Batch, EachLineIsAProblem) {
    const TemporaryFolder folder;
    const std::string file = folder.write("layers.txt",
                                          "# a comment, and an empty line\n\n"
                                          "GEMM --sizes A=64x32 --sizes B=32x16  # another comment\n"
                                          "CONVOLUTION --sizes 1x3x8x8 --sizes Filter=4x3x3x3 --attr Strides=2\r\n"
                                          "GEMM --sizes A=64x32 --sizes B=32x16 --type FLOAT16\n"
                                          "ELEMENT_WISE_ADD --sizes 2x3 --sizes B=1x3\n"
                                          "GEMM --sizes A=64x32 --sizes B=32x16\n");
    const ProgramResult all = dmlconform({"run", "--batch", file, "--engine", "cpu", "-v"});
    EXPECT_TRUE(prints(all, "4 cases on 1 engine"));
    EXPECT_TRUE(complains(all, "layers.txt repeats 1 problem, which is left out"));
    for (const char* id : {"GEMM/float32-64x32-32x16 on", "CONVOLUTION/float32-1x3x8x8-4x3x3x3-Strides-2 on",
                           "GEMM/float16-64x32-32x16 on", "ELEMENT_WISE_ADD/float32-2x3-2x3_s0x1 on"}) {
        EXPECT_TRUE(prints(all, id));
    }
    EXPECT_TRUE(prints(dmlconform({"run", "GEMM", "--batch", file, "--engine", "cpu"}), "2 cases on 1 engine"));
    const ProgramResult halves = dmlconform({"run", "--batch", file, "--type", "FLOAT16", "--engine", "cpu", "-v"});
    EXPECT_TRUE(prints(halves, "CONVOLUTION/float16-"));
    EXPECT_FALSE(prints(halves, "float32-"));
}

TEST(Batch, IsTimed) {
    if (dmlconform({"bench", "--help"}).exit_code != 0) {
        GTEST_SKIP() << "this build has no benchmarks";
    }
    const TemporaryFolder folder;
    const std::string file =
        folder.write("layers.txt", "SLICE1 --sizes 1x1x64x64\nACTIVATION_RELU --sizes 1x3x32x32\n");
    const ProgramResult result = dmlconform({"bench", "--batch", file, "--engine", "cpu", "--no-roofline",
                                             "--benchmark_min_time=0.001", "--benchmark_repetitions=1"});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, "cpu/SLICE1/float32-1x1x64x64"));
    EXPECT_TRUE(prints(result, "cpu/ACTIVATION_RELU/float32-1x3x32x32"));
    EXPECT_FALSE(complains(result, "InputTensor: FLOAT32 [1,3,32,32]"));
    EXPECT_TRUE(complains(dmlconform({"bench", "--batch", file, "-v", "--engine", "cpu", "--no-roofline",
                                      "--benchmark_min_time=0.001", "--benchmark_repetitions=1"}),
                          "InputTensor: FLOAT32 [1,3,32,32]"));
}

/// The example in the documents.
TEST(Batch, TheExampleIsLegal) {
    const ProgramResult result = dmlconform({"run", "--batch", EXAMPLE_BATCH, "--engine", "cpu", "--max-memory", "1"});
    EXPECT_TRUE(prints(result, " cases on 1 engine"));
}

TEST(Batch, AFailureIsRunAgainFromTheFile) {
    const TemporaryFolder folder;
    const std::string wrong = changed_worker(folder, R"(right = worker.slice1
def slice1(desc, data, output):
    right(desc, data, output)
    output[0:4] = b"\0\0\0\x41"
worker.slice1 = slice1)");
    const std::string file = folder.write("layers.txt", "SLICE1 --sizes 4x4\n");
    const ProgramResult result = dmlconform({"run", "--batch", file, "--engine", wrong});
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(prints(result, " run SLICE1 --filter SLICE1/float32-4x4 "));
    EXPECT_TRUE(prints(result, " --batch=" + file));
    const ProgramResult again =
        dmlconform({"run", "SLICE1", "--filter", "SLICE1/float32-4x4", "--engine", wrong, "--batch=" + file});
    EXPECT_TRUE(ends_with_code(again, 1));
    EXPECT_TRUE(prints(again, "FAIL SLICE1/float32-4x4 on"));
}

TEST(Batch, Slips) {
    const TemporaryFolder folder;
    const std::string file = folder.write("slips.txt",
                                          "SLICE9 --sizes 4\nSLICE1 --sizes 4,x\nSLICE1 --size 4\n"
                                          "SLICE1 --attr 'K=1\nSLICE1 --attr K=1\nGEMM --sizes 4x32 --sizes B=31x16\n"
                                          "GEMM --batch x\n");
    const ProgramResult result = dmlconform({"run", "--batch", file, "--engine", "cpu"});
    EXPECT_TRUE(ends_with_code(result, 2));
    for (const char* message :
         {"slips.txt:1:1: error: the catalogue has no operator \"SLICE9\"",
          "slips.txt:2:1: error: --sizes 4,x: \"x\" is not a size", "slips.txt:3:1: error: ",
          "slips.txt:4:1: error: a quote", "slips.txt:5:1: error: SLICE1 has no attribute \"K\"",
          "slips.txt:6:1: error: these make an illegal GEMM: ", "slips.txt:7:1: error: ", "7 problems in the input"}) {
        EXPECT_TRUE(complains(result, message));
    }
    const struct {
        std::vector<std::string> words;
        const char* message;
    } rows[] = {
        {{"--batch", folder.at("none.txt")}, "none.txt: "},
        {{"--batch", folder.write("empty.txt", "# nothing\n")}, "empty.txt: no line has a problem"},
        {{"TOP_K1", "--batch", folder.write("one.txt", "SLICE1\n")}, "one.txt: no line has a problem of this operator"},
        {{"cases.json", "--batch", folder.at("one.txt")}, "the catalogue has no operator \"cases.json\""},
        {{"--batch", folder.at("one.txt"), "--sizes", "4"}, "--sizes"},
    };
    for (const auto& row : rows) {
        std::vector<std::string> words{"run"};
        words.insert(words.end(), row.words.begin(), row.words.end());
        const ProgramResult slip = dmlconform(words);
        EXPECT_TRUE(ends_with_code(slip, 2));
        EXPECT_TRUE(complains(slip, row.message));
    }
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
        {{"TOP_K1", "--attr", "Axis=" + std::string(15'000, '[') + std::string(15'000, ']')},
         "--attr Axis: more than 64 levels of nesting"},
        {{"TOP_K1", "--sizes", "1,1,1,8", "--attr", "Axis=3,K=9"}, "these make an illegal TOP_K1: "},
        {{"UPSAMPLE_2D", "--sizes", "2,2"}, "no legal descriptor of UPSAMPLE_2D with 2 dimensions was found"},
        {{"SLICE1", "--type", "FLOAT7"}, "--type"},
        {{"SLICE1", "--sizes", "4,4", "--strides", "1"},
         "--strides InputTensor=1: these are 1 strides for 2 dimensions"},
        {{"SLICE1", "--sizes", "4,4", "--strides", "nhwc"}, "\"nhwc\" are no strides for 2 dimensions"},
        {{"SLICE1", "--sizes", "4,4", "--strides", "nhwc"}, "for example 4,1, or the letters hw"},
        {{"ACTIVATION_RELU", "--sizes", "4,4", "--strides", "Output=1,1"}, "its elements overlap"},
        {{"SLICE1", "--sizes", "4,4", "--strides", "B=1,1"}, "SLICE1 has no tensor \"B\""},
        {{"GEMM", "--sizes", "4,4", "--strides", "C=1,4"}, "--strides CTensor=1,4: the tensor is absent"},
        {{"ELEMENT_WISE_ADD", "--sizes", "2,3", "--sizes", "B=2,2"}, "these make an illegal ELEMENT_WISE_ADD: "},
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
