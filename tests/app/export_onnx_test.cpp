// Tests of `dmlconform export onnx`: folders of models that can be run again, and refused exports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::export_onnx_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* case_file = R"({"cases": [
  {"name": "plain", "operator": "ELEMENT_WISE_SQRT",
   "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [3]},
            "OutputTensor": {"DataType": "FLOAT32", "Sizes": [3]}},
   "inputs": {"InputTensor": [1, 4, 9]}},
  {"name": "random", "operator": "RANDOM_GENERATOR",
   "desc": {"InputStateTensor": {"DataType": "UINT32", "Sizes": [1, 1, 1, 6]},
            "OutputTensor": {"DataType": "UINT32", "Sizes": [1, 1, 1, 4]}, "Type": "PHILOX_4X32_10"},
   "inputs": {"InputStateTensor": [1, 2, 3, 4, 5, 6]}}]})";

class ExportOnnx : public testing::Test {
protected:
    void SetUp() override { std::ofstream(cases_) << case_file; }

    [[nodiscard]] std::string at(const std::string& name) const { return (folder_.path() / name).string(); }
    [[nodiscard]] ProgramResult exported(const std::string& folder, std::vector<std::string> words = {}) const {
        std::vector<std::string> all{"export", "onnx", cases_, "-o", folder};
        all.insert(all.end(), words.begin(), words.end());
        return dmlconform(all);
    }

    /// The folder of the only case below that folder.
    [[nodiscard]] std::string only_case_in(const std::string& folder) const {
        std::string found;
        for (const fs::directory_entry& entry : fs::directory_iterator(at(folder))) {
            found = entry.is_directory() ? entry.path().string() : found;
        }
        return found;
    }

    TemporaryFolder folder_;
    std::string cases_ = (folder_.path() / "some.json").string();
};

TEST_F(ExportOnnx, WritesModelsThatPassOnTheReference) {
    const ProgramResult result = exported(at("out"));
    EXPECT_EQ(result.exit_code, 0) << result.all();
    EXPECT_THAT(result.output, HasSubstr("exported 1 of 2 cases"));
    EXPECT_THAT(result.output, HasSubstr("ONNX's random numbers are not those of Philox 4x32-10"));
    EXPECT_THAT(result.output, HasSubstr("some/random"));
    EXPECT_TRUE(fs::exists(at("out/left-out.txt")));
    EXPECT_TRUE(fs::exists(only_case_in("out") + "/test_data_set_0/output_0.pb"));
    const ProgramResult run = dmlconform({"run", only_case_in("out") + "/model.onnx", "--engine", "cpu"});
    EXPECT_EQ(run.exit_code, 0) << run.all();
}

TEST_F(ExportOnnx, OutputsOfTheDataSetPassWhereAnotherMachineSendsThemBack) {
    ASSERT_EQ(exported(at("out")).exit_code, 0);
    const fs::path case_folder = only_case_in("out");
    fs::create_directories(fs::path(at("back")) / case_folder.filename());
    fs::copy(case_folder / "test_data_set_0" / "output_0.pb", fs::path(at("back")) / case_folder.filename());
    const ProgramResult result = dmlconform({"judge", cases_, "--outputs", at("back"), "--filter", "some/plain"});
    EXPECT_EQ(result.exit_code, 0) << result.all();
}

TEST_F(ExportOnnx, ImportsAgainAsTheSameOperator) {
    ASSERT_EQ(exported(at("out")).exit_code, 0);
    const ProgramResult result = dmlconform({"import", "onnx-test", only_case_in("out")});
    EXPECT_EQ(result.exit_code, 0) << result.all();
    EXPECT_THAT(result.output, HasSubstr("DML_OPERATOR_ELEMENT_WISE_SQRT"));
}

TEST_F(ExportOnnx, LeavesFoldersThatAreNotEmptyAlone) {
    fs::create_directory(at("out"));
    std::ofstream(at("out/mine")) << "text";
    const ProgramResult result = exported(at("out"));
    EXPECT_EQ(result.exit_code, 2) << result.all();
    EXPECT_THAT(result.errors, HasSubstr("is not empty"));
    EXPECT_EQ(only_case_in("out"), "");
}

TEST_F(ExportOnnx, RefusesWhatIsNoFolder) {
    for (const std::string& path : {at("some.json"), at("some.json/below"), std::string("/proc/none")}) {
        const ProgramResult result = exported(path);
        EXPECT_EQ(result.exit_code, 2) << path << result.all();
        EXPECT_THAT(result.errors, HasSubstr("cannot be made"));
    }
}

TEST_F(ExportOnnx, RefusesOpsetsThatItDoesNotWrite) {
    for (const char* opset : {"12", "22", "-1", "x", ""}) {
        const ProgramResult result = exported(at("out"), {"--opset", opset});
        EXPECT_EQ(result.exit_code, 2) << opset << result.all();
        EXPECT_FALSE(fs::exists(at("out")));
    }
}

TEST_F(ExportOnnx, NeedsCasesAndAFolder) {
    EXPECT_EQ(dmlconform({"export", "onnx", cases_}).exit_code, 2);
    EXPECT_EQ(dmlconform({"export", "onnx", "-o", at("out")}).exit_code, 2);
    EXPECT_EQ(dmlconform({"export", "onnx", cases_, "--table"}).exit_code, 2);
}

TEST_F(ExportOnnx, SaysWhereNothingCouldBeExported) {
    const ProgramResult result = exported(at("out"), {"--filter", "some/random"});
    EXPECT_EQ(result.exit_code, 2) << result.all();
    EXPECT_THAT(result.errors, HasSubstr("none of the cases can be a model"));
}

}  // namespace
}  // namespace dmlconform::tests::export_onnx_test
