// Tests of dmlconform new and describe: from an operator's name to a case that runs.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::new_test {
namespace {

using nlohmann::json;

TEST(New, CasesRunAsTheyAre) {
    const TemporaryFolder folder;
    // One operator for each way of generating random cases.
    for (const char* name :
         {"SLICE1", "TOP_K1", "QUANTIZED_LINEAR_CONVOLUTION", "MEAN_VARIANCE_NORMALIZATION1", "GATHER", "REDUCE",
          "ACTIVATION_SOFTMAX1", "MAX_POOLING2", "ELEMENT_WISE_ADD1", "FILL_VALUE_SEQUENCE"}) {
        SCOPED_TRACE(name);
        const ProgramResult made = dmlconform({"new", name});
        ASSERT_TRUE(ends_with_code(made, 0));
        EXPECT_EQ(made.errors, "");
        const std::string file = folder.write(std::string(name) + ".json", made.output);
        const ProgramResult run = dmlconform({"run", file, "--engine", "cpu"});
        EXPECT_TRUE(ends_with_code(run, 0)) << made.output;
        EXPECT_TRUE(prints(run, ": 1 pass\n"));
        EXPECT_EQ(dmlconform({"new", name}).output, made.output) << "the same every time";
    }
}

TEST(New, RankTypeAndLevel) {
    const struct {
        std::vector<std::string> words;
        std::size_t rank;
        const char* type;
    } rows[] = {
        {{"SLICE1", "--rank", "3", "--type", "INT16"}, 3, "INT16"},
        {{"ELEMENT_WISE_ADD", "--rank", "7"}, 7, "FLOAT32"},
        {{"TOP_K1", "--type", "FLOAT16"}, 0, "FLOAT16"},
        {{"SLICE1", "--feature-level", "2.1"}, 0, "FLOAT32"},
    };
    for (const auto& row : rows) {
        std::vector<std::string> words{"new"};
        words.insert(words.end(), row.words.begin(), row.words.end());
        const ProgramResult made = dmlconform(words);
        ASSERT_TRUE(ends_with_code(made, 0));
        const json desc = json::parse(made.output)["cases"][0]["desc"];
        const json& tensor = desc.contains("ATensor") ? desc["ATensor"] : desc["InputTensor"];
        EXPECT_EQ(tensor["DataType"], row.type);
        if (row.rank != 0) {
            EXPECT_EQ(tensor["Sizes"].size(), row.rank);
        }
        EXPECT_FALSE(tensor.contains("Strides")) << "plain";
    }
}

TEST(New, Slips) {
    const struct {
        std::vector<std::string> words;
        const char* message;
    } rows[] = {
        {{"SLICE9"}, "the catalogue has no operator \"SLICE9\"\n    hint: did you mean"},
        {{"UPSAMPLE_2D", "--type", "INT64"},
         "no legal descriptor of UPSAMPLE_2D of type INT64 was found at feature level 6.4\n    hint: `dmlconform "
         "describe UPSAMPLE_2D`"},
        {{"SLICE1", "--rank", "9"}, "--rank"},
        {{"SLICE1", "--type", "FLOAT8"}, "--type"},
        {{}, "operator is required"},
    };
    for (const auto& row : rows) {
        std::vector<std::string> words{"new"};
        words.insert(words.end(), row.words.begin(), row.words.end());
        const ProgramResult result = dmlconform(words);
        EXPECT_TRUE(ends_with_code(result, 2));
        EXPECT_TRUE(complains(result, row.message));
        EXPECT_EQ(result.output, "");
    }
}

TEST(Describe, AnOperatorWithEverythingAboutIt) {
    const ProgramResult result = dmlconform({"describe", "SLICE1"});
    EXPECT_TRUE(ends_with_code(result, 0));
    for (const char* part :
         {"https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_slice1_operator_desc\n",
          "Rules (a rejection names its rule):\n", "  SLICE1.windowStride\n    No stride is 0.",
          "  tensor.sameDimensionCount\n    InputTensor and OutputTensor have the same number of dimensions.\n",
          "Tolerance if a case states none:\n", " INT64 exact\n",
          "`dmlconform new SLICE1` prints a case to start from.\n"}) {
        EXPECT_TRUE(prints(result, part));
    }
    EXPECT_TRUE(prints(dmlconform({"describe", "GATHER"}),
                       "\nThe sizes of the first output follow from the other fields, for example:\n"));
}

/// What another type of the output or ScaleBias changes.
TEST(Describe, EveryDefaultTolerance) {
    const std::string plain = "exact, but for subnormal numbers, which may count as zero";
    EXPECT_TRUE(prints(dmlconform({"describe", "CAST"}),
                       plain + "; to FLOAT16: " + plain + ", then rounded to 16 bits, to nearest or towards zero"));
    const ProgramResult identity = dmlconform({"describe", "ELEMENT_WISE_IDENTITY"});
    EXPECT_TRUE(
        prints(identity, plain + "; with ScaleBias: FP32 as Direct3D allows it (*: one rounding; +: one rounding)\n"));
    EXPECT_TRUE(prints(identity, "exact; with ScaleBias: FP32 as Direct3D allows it"));
}

TEST(Describe, SeveralAndPatterns) {
    const ProgramResult two = dmlconform({"describe", "SLICE1", "DML_OPERATOR_TOP_K1"});
    EXPECT_TRUE(prints(two, "DML_OPERATOR_SLICE1 ("));
    EXPECT_TRUE(prints(two, "\nDML_OPERATOR_TOP_K1 ("));
    const ProgramResult pattern = dmlconform({"describe", "SLICE*", "DML_OPERATOR_SLICE?"});
    EXPECT_TRUE(ends_with_code(pattern, 0));
    std::istringstream lines(pattern.output);
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        EXPECT_TRUE(line.starts_with("DML_OPERATOR_SLICE")) << line;
    }
    EXPECT_EQ(count, 3u) << "SLICE, SLICE1 and SLICE_GRAD, each once\n" << pattern.output;
    EXPECT_TRUE(ends_with_code(dmlconform({"describe", "NOTHING*"}), 2));
    EXPECT_TRUE(ends_with_code(dmlconform({"describe", "SLICE1", "SLICE9"}), 2));
}

/// The formulas are those of Microsoft's pages about the operators.
TEST(Describe, ARuleOrAField) {
    const struct {
        const char* name;
        std::vector<std::string> parts;
    } rows[] = {
        {"CONVOLUTION.outputSizes",
         {"OutputTensor[d + 2] = floor((InputTensor[d + 2] + StartPadding[d] + EndPadding[d] - (FilterTensor[d + 2] - "
          "1) "
          "* Dilations[d] - 1) / Strides[d]) + 1 + OutputPadding[d]\n",
          "OutputTensor[d + 2] = (InputTensor[d + 2] - 1) * Strides[d] + (FilterTensor[d + 2] - 1) * Dilations[d] + 1 "
          "- "
          "StartPadding[d] - EndPadding[d] + OutputPadding[d]\n"}},
        {"convolution_integer.outputSizes", {"OutputTensor[1] = FilterTensor[0]\n"}},
        {"LSTM.sizes",
         {"WeightTensor = [1, directions, 4 * hidden, inputs]\n", "BiasTensor = [1, 1, directions, 8 * hidden]\n",
          "PeepholeTensor = [1, 1, directions, 3 * hidden]\n",
          "OutputSequenceTensor = [steps, directions, batch, hidden]\n"}},
        {"GRU.sizes", {"RecurrenceTensor = [1, directions, 3 * hidden, hidden]\n"}},
        {"RNN.sizes", {"BiasTensor = [1, 1, directions, 2 * hidden]\n"}},
        {"MULTIHEAD_ATTENTION.sizes",
         {"StackedQueryKeyValueTensor = [batch, queries, HeadCount, 3, size]\n",
          "OutputTensor = [batch, queries, HeadCount * valueSize]\n"}},
        {"MULTIHEAD_ATTENTION1.mask", {"MaskTensor = [3 * batch + 2] for KEY_QUERY_SEQUENCE_LENGTH_START_END\n"}},
        {"MAX_POOLING.outputSizes", {"- (WindowSize[d] - 1) - 1) / Strides[d]) + 1\n"}},
        {"tensor.alignment", {"a power of two"}},
        {"GEMM.tensor.totalSize", {"TotalTensorSizeInBytes"}},
        {"GEMM.TransA", {"DML_MATRIX_TRANSFORM", "NONE = 0, TRANSPOSE = 1", "GEMM.innerSizes\n", "GEMM.outputSizes\n"}},
        {"GEMM.BTensor", {"FLOAT16", "tensor.sameDataType\n"}},
    };
    for (const auto& [name, parts] : rows) {
        const ProgramResult result = dmlconform({"describe", name});
        EXPECT_TRUE(ends_with_code(result, 0)) << name;
        for (const std::string& part : parts) {
            EXPECT_TRUE(prints(result, part)) << name;
        }
    }
    EXPECT_FALSE(prints(dmlconform({"describe", "GEMM.TransA"}), "GEMM.fusedAxes")) << "only what names the field";
    for (const std::vector<std::string>& words : {std::vector<std::string>{"CONVOLUTION.outputsizes"},
                                                  {"GEMM.Trans"},
                                                  {"NOTHING.sizes"},
                                                  {"GEMM.", "GEMM"},
                                                  {"GEMM.TransA", "--json"}}) {
        std::vector<std::string> all{"describe"};
        all.insert(all.end(), words.begin(), words.end());
        const ProgramResult result = dmlconform(all);
        EXPECT_TRUE(ends_with_code(result, 2)) << words.front();
        EXPECT_NE(result.errors.find("hint: "), std::string::npos) << result.errors;
    }
}

TEST(Describe, ForScripts) {
    const ProgramResult result = dmlconform({"describe", "TOP_K1", "--json"});
    EXPECT_TRUE(ends_with_code(result, 0));
    const json document = json::parse(result.output);
    ASSERT_EQ(document.size(), 1u);
    const json& top_k1 = document[0];
    EXPECT_EQ(top_k1["name"], "DML_OPERATOR_TOP_K1");
    EXPECT_EQ(top_k1["fields"][0]["name"], "InputTensor");
    EXPECT_EQ(top_k1["fields"][0]["kind"], "input");
    EXPECT_EQ(top_k1["tolerances"]["FLOAT32"], "exact");
    EXPECT_TRUE(top_k1["tensors"][0].contains("dataTypes"));
    EXPECT_EQ(top_k1["explanations"]["TOP_K1.k"]["sentence"], "K is at least 1 and at most InputTensor[Axis].");
    EXPECT_FALSE(top_k1["explanations"]["TOP_K1.outputSizes"]["formulas"].empty());
    EXPECT_EQ(json::parse(dmlconform({"describe", "SLICE*", "--json"}).output).size(), 3u);
}

}  // namespace
}  // namespace dmlconform::tests::new_test
