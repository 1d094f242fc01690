// Tests of the commands list, validate, adapters and describe, and of machines without a Vulkan driver.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "engine/cpu/reference.h"
#include "engine/operators/catalogue.h"
#include "tests/app/case_texts.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::commands_test {
namespace {

using nlohmann::json;

TEST(List, IdsInTheOrderOfTheFiles) {
    const TemporaryFolder folder;
    folder.write("b.json", file_of({slice_case("2", right_values), slice_case("1", right_values)}));
    folder.write("a.json", file_of({slice_case("x/y", R"(, "tags": ["t"])")}));
    const ProgramResult all = dmlconform({"list", folder.path().string()});
    EXPECT_TRUE(ends_with_code(all, 0));
    EXPECT_EQ(all.output, "a/x/y\nb/2\nb/1\n");
    EXPECT_EQ(all.errors, "");
    EXPECT_EQ(dmlconform({"list", folder.path().string(), "--filter", "b/*"}).output, "b/2\nb/1\n");
    EXPECT_EQ(dmlconform({"list", folder.path().string(), "--tag", "t"}).output, "a/x/y\n");
}

TEST(List, AsJson) {
    const TemporaryFolder folder;
    const std::string file = folder.write(
        "a.json",
        file_of({slice_case("ok", R"(, "tags": ["t", "u"], "description": "says \"ü\"", "minFeatureLevel": "5.0")"),
                 R"({ "name": "no", "operator": "DML_OPERATOR_SLICE1", "expectError": "0x80070057",
  "desc": { "InputTensor": null, "OutputTensor": null, "InputWindowOffsets": [], "InputWindowSizes": [], "InputWindowStrides": [] } })"}));
    const ProgramResult result = dmlconform({"list", file, "--json"});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_EQ(json::parse(result.output), json({{{"id", "a/ok"},
                                                 {"operator", "DML_OPERATOR_SLICE1"},
                                                 {"description", "says \"ü\""},
                                                 {"file", file},
                                                 {"line", 2},
                                                 {"tags", {"t", "u"}},
                                                 {"minFeatureLevel", "5.0"},
                                                 {"expectError", nullptr}},
                                                {{"id", "a/no"},
                                                 {"operator", "DML_OPERATOR_SLICE1"},
                                                 {"description", ""},
                                                 {"file", file},
                                                 {"line", 6},
                                                 {"tags", json::array()},
                                                 {"minFeatureLevel", "2.1"},
                                                 {"expectError", "E_INVALIDARG"}}}));
}

TEST(List, EveryCaseOfTheRepositoryCanBeRunByItsId) {
    const std::string output = dmlconform({"list", cases_folder()}).output;
    const std::size_t count = occurrences(output, "\n");
    EXPECT_GT(count, 700u);
    // Ids are unique, and --filter takes them literally: an id selects exactly one case.
    std::vector<std::string> words{"list", cases_folder()};
    std::size_t begin = 0;
    std::string wanted;
    for (std::size_t line = 0; begin < output.size(); ++line) {
        const std::size_t end = output.find('\n', begin);
        if (line % (count / 50) == 0) {
            words.insert(words.end(), {"--filter", output.substr(begin, end - begin)});
            wanted += output.substr(begin, end + 1 - begin);
        }
        begin = end + 1;
    }
    EXPECT_EQ(dmlconform(words).output, wanted);
}

TEST(Validate, SaysWhatIsNotAsItSays) {
    const TemporaryFolder folder;
    const std::string file =
        folder.write("a.json", file_of({slice_case("good", right_values),
                                        R"({ "name": "legal", "operator": "SLICE1", "expectError": "E_INVALIDARG",
  "desc": { "InputTensor": { "DataType": "INT64", "Sizes": [4] }, "OutputTensor": { "DataType": "INT64", "Sizes": [1] },
            "InputWindowOffsets": [0], "InputWindowSizes": [1], "InputWindowStrides": [1] } })"}));
    const ProgramResult result = dmlconform({"validate", file});
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(
        prints(result, file + ":6:1: error: a/legal: the descriptor is legal, but the case expects E_INVALIDARG\n"));
    EXPECT_TRUE(prints(result, "1 of 2 cases are as expected at feature level 6.4\n"));
    EXPECT_TRUE(ends_with_code(dmlconform({"validate", file, "--filter", "a/good"}), 0));
    const ProgramResult low = dmlconform({"validate", file, "--feature-level", "2.1"});
    EXPECT_TRUE(ends_with_code(low, 1));
    EXPECT_TRUE(prints(low, file + ":2:1: error: a/good: InputTensor has 1 dimensions; "));
    EXPECT_TRUE(prints(low, " [tensor.dimensionCount]\n"));
    EXPECT_TRUE(prints(low, "hint: legal from feature level 3.0 on; this is 2.1"));
    EXPECT_TRUE(prints(low, "1 of 2 cases")) << "INT64 is illegal there, as the case expects";
}

TEST(Describe, TheListOfOperators) {
    const ProgramResult result = dmlconform({"describe"});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_EQ(occurrences(result.output, "\n"), 177u);
    EXPECT_TRUE(prints(result, "DML_OPERATOR_SLICE1 "));
    EXPECT_TRUE(prints(result, "from feature level 2.1, runs on cpu and d3d12\n"));
    EXPECT_TRUE(prints(result, "DML_OPERATOR_ACTIVATION_ELU "));
    const auto names = operators::operator_names();
    const auto known = std::count_if(names.begin(), names.end(), [](const std::string& name) {
        return cpu::has_reference(*operators::find_operator(name));
    });
    EXPECT_GE(known, 95);
    EXPECT_EQ(occurrences(result.output, ", runs on cpu"), static_cast<std::size_t>(known));
}

TEST(Describe, OneOperator) {
    const ProgramResult slice = dmlconform({"describe", "SLICE1"});
    EXPECT_TRUE(ends_with_code(slice, 0));
    EXPECT_TRUE(slice.output.starts_with("DML_OPERATOR_SLICE1 (111), from feature level 2.1 on\n")) << slice.output;
    for (const char* text : {"InputTensor                  input      tensor\n",
                             "DimensionCount               attribute  UINT, may be left out\n",
                             "InputWindowStrides           attribute  INT[] of DimensionCount\n", "4-5 dimensions",
                             "1-8 dimensions", "FLOAT64"}) {
        EXPECT_TRUE(prints(slice, text));
    }
    EXPECT_EQ(dmlconform({"describe", "DML_OPERATOR_SLICE1"}).output, slice.output);
    EXPECT_TRUE(prints(slice, "\ncomputed by cpu"));
    for (const char* op : {"GEMM", "ROI_POOLING", "RESAMPLE3", "GRU"}) {
        // More operators may be computed in the future, so accept either text.
        const std::string text = dmlconform({"describe", op}).output;
        const bool is_computed = text.find("\ncomputed by") != std::string::npos;
        EXPECT_NE(is_computed, text.find("\nneither cpu nor d3d12 computes it") != std::string::npos) << text;
    }
    const ProgramResult normalization = dmlconform({"describe", "MEAN_VARIANCE_NORMALIZATION1"});
    for (const char* text :
         {"ScaleTensor                  input      tensor, optional\n",
          "NormalizeVariance            attribute  BOOL\n",
          "FusedActivation              attribute  activation, optional\n", "DML_OPERATOR_ACTIVATION_GELU"}) {
        EXPECT_TRUE(prints(normalization, text));
    }
    EXPECT_TRUE(prints(dmlconform({"describe", "ELEMENT_WISE_ADD"}),
                       "\nMay be computed in place:\n  OutputTensor in the memory of ATensor or BTensor\n"));
    EXPECT_FALSE(prints(slice, "in place"));
    EXPECT_FALSE(prints(slice, "Precision, besides"));
    // Some of them only have sums with some functions and modes.
    for (const char* op : {"GEMM", "REDUCE", "RESAMPLE2", "MATRIX_MULTIPLY_INTEGER_TO_FLOAT"}) {
        EXPECT_TRUE(prints(dmlconform({"describe", op}), "Precision, besides the tolerance of each element")) << op;
    }
    EXPECT_TRUE(prints(dmlconform({"describe", "TOP_K1"}), "INCREASING = 0, DECREASING = 1\n"));
    for (const char* op : {"Einsum", "com.microsoft.GroupQueryAttention"}) {
        const ProgramResult composed = dmlconform({"describe", op});
        EXPECT_TRUE(ends_with_code(composed, 2)) << op;
        EXPECT_TRUE(complains(composed, "which becomes several operators: docs/import.md")) << op;
    }
    const ProgramResult padding = dmlconform({"describe", "PADDING1"});
    for (const char* text : {"PaddingValue                 attribute  scalar of type PaddingValueDataType\n",
                             "  tensor.sameDataType\n    InputTensor and OutputTensor have the same data type.\n",
                             "PaddingValueDataType is the data type of OutputTensor.\n"}) {
        EXPECT_TRUE(prints(padding, text));
    }
    EXPECT_TRUE(
        prints(dmlconform({"describe", "ELEMENT_WISE_QUANTIZE_LINEAR"}), "optional from feature level 6.2 on\n"));
}

TEST(Adapters, EveryEngineHasALine) {
    const ProgramResult result = dmlconform({"adapters"});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(result.output.starts_with("cpu      reference on ")) << result.output;
    EXPECT_TRUE(prints(result, "\nd3d12    "));
    EXPECT_TRUE(prints(result, "(default)"));
}

TEST(Schema, IsPrinted) {
    for (const char* kind : {"case-file", "result"}) {
        const ProgramResult result = dmlconform({"schema", kind});
        EXPECT_TRUE(ends_with_code(result, 0));
        EXPECT_TRUE(json::parse(result.output).contains("$schema"));
    }
    const ProgramResult unknown = dmlconform({"schema", "case"});
    EXPECT_TRUE(ends_with_code(unknown, 2));
    EXPECT_TRUE(complains(unknown, "case-file"));
}

TEST(Coverage, GatesOnWhatIsNeitherCoveredNorExcused) {
    const TemporaryFolder folder;
    const std::string file = folder.write("a.json", good_file());
    const ProgramResult all = dmlconform({"coverage", file});
    EXPECT_TRUE(ends_with_code(all, 1));
    EXPECT_TRUE(prints(all, "     1 cases  SLICE1                         type      InputTensor FLOAT32\n"));
    EXPECT_TRUE(prints(all, "NOT COVERED   SLICE1                         type      InputTensor FLOAT16\n"));
    const ProgramResult missing = dmlconform({"coverage", file, "--missing"});
    EXPECT_EQ(occurrences(missing.output, " cases "), 0u);
    EXPECT_TRUE(prints(missing, "NOT COVERED   SLICE1                         type      InputTensor FLOAT16\n"));
    const ProgramResult one = dmlconform({"coverage", file, "--missing", "--operator", "DML_OPERATOR_SLICE1"});
    EXPECT_TRUE(ends_with_code(one, 1));
    EXPECT_TRUE(prints(one, "NOT COVERED   SLICE1                         type      InputTensor FLOAT16\n"));
    EXPECT_FALSE(prints(one, "TOP_K1"));
    EXPECT_TRUE(ends_with_code(dmlconform({"coverage", file, "--operator", "SLICE9"}), 2));
    // Passes if there is a reason for every missing line, and none for a line that is not missing.
    std::string reasons = "# why not\n";
    for (std::size_t at = 0; at < missing.output.size();) {
        const std::string line = missing.output.substr(at, missing.output.find('\n', at) - at);
        at += line.size() + 1;
        if (line.starts_with("NOT COVERED")) {
            std::istringstream words(line.substr(12));
            std::string op;
            std::string kind;
            std::string item;
            words >> op >> kind >> std::ws;
            std::getline(words, item);
            reasons += fmt::format("{} {} {}: because\n", op, kind, item);
        }
    }
    const std::string reasons_file = folder.write("reasons.txt", reasons);
    const ProgramResult excused = dmlconform({"coverage", file, "--reasons", reasons_file});
    EXPECT_TRUE(ends_with_code(excused, 0));
    EXPECT_TRUE(
        prints(excused, "not covered   SLICE1                         type      InputTensor FLOAT16: because\n"));
    const ProgramResult excused_one = dmlconform({"coverage", file, "--operator", "SLICE1", "--reasons", reasons_file});
    EXPECT_TRUE(ends_with_code(excused_one, 0)) << "reasons for other operators are not unused";
    // One reason can cover all operators.
    const auto any = std::regex("\n[A-Z0-9_]+ rule tensor[.]sizes: because");
    folder.write("reasons.txt",
                 std::regex_replace(reasons, any, "") + "* rule tensor.sizes: because\n* rule nowhere: because\n");
    const ProgramResult shared = dmlconform({"coverage", file, "--reasons", reasons_file});
    EXPECT_TRUE(prints(shared, "not covered   TOP_K1                         rule      tensor.sizes: because\n"));
    EXPECT_TRUE(prints(shared, "unused reason: * rule nowhere\n"));
    EXPECT_TRUE(prints(shared, ", 0 not covered without a reason, 1 reasons not used\n"));
    folder.write("reasons.txt", reasons + "SLICE1 type InputTensor FLOAT32: obsolete\n");
    const ProgramResult obsolete = dmlconform({"coverage", file, "--reasons", reasons_file});
    EXPECT_TRUE(ends_with_code(obsolete, 1));
    EXPECT_TRUE(prints(obsolete, "unused reason: SLICE1 type InputTensor FLOAT32\n"));
    folder.write("reasons.txt", "nonsense");
    EXPECT_TRUE(ends_with_code(dmlconform({"coverage", file, "--reasons", reasons_file}), 2));
    EXPECT_TRUE(ends_with_code(dmlconform({"coverage", file, "--reasons", folder.at("nowhere")}), 2));
    EXPECT_TRUE(ends_with_code(dmlconform({"coverage", folder.at("nowhere")}), 2));
}

// ---- machines without a Vulkan driver ------------------------------------------------------------------------------

class WithoutDriver : public testing::Test {
protected:
    [[nodiscard]] ProgramResult without_driver(const std::vector<std::string>& words) const {
        return dmlconform(words, {.environment = {{"VK_DRIVER_FILES", "/nowhere"}, {"VK_ICD_FILENAMES", "/nowhere"}}});
    }

    TemporaryFolder folder_;
    std::string good_ = folder_.write("good.json", good_file());
};

TEST_F(WithoutDriver, AdaptersSaysWhy) {
    const ProgramResult result = without_driver({"adapters"});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, "d3d12    not usable: "));
    if (has_d3d12()) {
        EXPECT_TRUE(prints(result, "VK_DRIVER_FILES is set to \"/nowhere\""));
    }
}

TEST_F(WithoutDriver, ADefaultRunUsesTheCpuEngineAndSaysSo) {
    const ProgramResult result = without_driver({"run", good_});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, "1 case on 1 engine\n  cpu "));
    EXPECT_TRUE(complains(result, "dmlconform: the engine d3d12 is not usable here: "));
}

TEST_F(WithoutDriver, AskingForTheEngineEndsWithThree) {
    const std::string report = folder_.at("result.json");
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"run", good_, "--engine", "d3d12", "--json", report},
          std::vector<std::string>{"run", good_, "--engine", "cpu", "--engine", "d3d12"},
          std::vector<std::string>{"run", good_, "--adapter", "llvmpipe"}}) {
        const ProgramResult result = without_driver(words);
        EXPECT_TRUE(ends_with_code(result, 3));
        EXPECT_TRUE(complains(result, "dmlconform: the engine d3d12 is not usable here: "));
        EXPECT_EQ(result.output, "");
    }
    EXPECT_FALSE(std::filesystem::exists(report)) << "there is no result";
}

TEST_F(WithoutDriver, InputErrorsComeFirst) {
    const ProgramResult result = without_driver({"run", folder_.at("nowhere.json"), "--engine", "d3d12"});
    EXPECT_TRUE(ends_with_code(result, 2));
}

TEST(WithDriver, AnAdapterThatIsNotThereEndsWithThree) {
    const TemporaryFolder folder;
    const ProgramResult result =
        dmlconform({"run", folder.write("good.json", good_file()), "--adapter", "no such adapter"});
    EXPECT_TRUE(ends_with_code(result, 3));
    EXPECT_EQ(result.output, "");
    if (usable_engines().size() > 1) {
        EXPECT_TRUE(complains(result, "no adapter's name contains \"no such adapter\""));
        EXPECT_TRUE(complains(result, "hint: there is: "));
    }
}

}  // namespace
}  // namespace dmlconform::tests::commands_test
