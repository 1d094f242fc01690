// Tests of `dmlconform export raw` and `dmlconform judge`, for cases that another machine computes: the exported files,
// and the verdict on the files that come back.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/cases/data_file_names.h"
#include "engine/cases/npy_writer.h"
#include "tests/app/case_texts.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::judge_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string floats_npy(const std::vector<float>& values) {
    core::Tensor tensor(core::TensorDesc::packed(core::DataType::float32, {static_cast<std::uint32_t>(values.size())}));
    std::memcpy(tensor.buffer.bytes().data(), values.data(), values.size() * sizeof(float));
    return cases::npy_file(tensor);
}

/// A TensorProto of FLOAT32 [2] with these elements as raw data.
std::string floats_pb(float first, float second) {
    std::string bytes("\x08\x02\x10\x01\x4a\x08", 6);
    for (const float value : {first, second}) {
        bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    return bytes;
}

class Judge : public testing::Test {
protected:
    /// Copies a file to where an output of the case is expected.
    void give(const std::string& id, const std::string& file, const std::string& content) const {
        (void)folder_.write(fmt::format("back/{}/{}", cases::case_folder_name(id), file), content);
    }
    [[nodiscard]] ProgramResult judge(std::vector<std::string> more = {}) const {
        std::vector<std::string> words{"judge", file_, "--outputs", folder_.at("back")};
        words.insert(words.end(), more.begin(), more.end());
        fs::create_directory(folder_.at("back"));
        return dmlconform(words);
    }

    TemporaryFolder folder_;
    std::string file_ = folder_.write("cases.json", file_of({slice_case("good", right_values)}));
};

TEST_F(Judge, TheSameFolderTwiceIsOneEngine) {
    give("cases/good", "OutputTensor.npy", "");
    const std::string result = folder_.at("result.json");
    EXPECT_TRUE(ends_with_code(judge({"--outputs", folder_.at("back"), "--json", result}), 1));
    EXPECT_TRUE(ends_with_code(dmlconform({"diff", result, result}), 0));
}

TEST_F(Judge, APythonScriptComputesWhatWasExportedAndItPasses) {
    const std::string sweep = folder_.write("sweep.json", R"({ "cases": [{ "name": "steps", "operator": "SLICE1",
        "sweep": { "type": ["FLOAT32", "UINT8", "INT64"] },
        "desc": { "InputTensor": { "DataType": "${type}", "Sizes": [2, 6], "Strides": [1, 2] },
                  "OutputTensor": { "DataType": "${type}", "Sizes": [2, 3] },
                  "InputWindowOffsets": [0, 0], "InputWindowSizes": [2, 6], "InputWindowStrides": [1, 2] },
        "inputs": { "InputTensor": { "start": 1, "step": 1 } } }] })");
    const auto exported = dmlconform({"export", "raw", sweep, "-o", folder_.at("out")});
    ASSERT_EQ(exported.exit_code, 0) << exported.all();
    EXPECT_THAT(exported.output, HasSubstr("3 cases in "));
    // The other machine has the files and NumPy, but not dmlconform.
    const std::string script = folder_.write("compute.py", R"py(
import json, pathlib, struct, sys
for case in pathlib.Path(sys.argv[1]).iterdir():
    about = json.loads((case / "case.json").read_text())
    data = (case / about["inputs"][0]["file"]).read_bytes()
    offset = 10 + struct.unpack("<H", data[8:10])[0]
    width = (len(data) - offset) // 12
    rows, columns = about["inputs"][0]["sizes"]
    step = about["desc"]["InputWindowStrides"][1]
    elements = b"".join(data[offset + (row * columns + column) * width:][:width]
                        for row in range(rows) for column in range(0, columns, step))
    header = data[10:offset].replace(b"(2, 6, )", b"(2, 3, )")
    target = pathlib.Path(sys.argv[2]) / case.name
    target.mkdir(parents=True)
    (target / about["outputs"][0]["file"]).write_bytes(data[:10] + header + elements)
)py");
    const auto computed = run_program({"/usr/bin/env", "python3", script, folder_.at("out"), folder_.at("back")});
    ASSERT_EQ(computed.exit_code, 0) << computed.all();
    const auto judged = dmlconform({"judge", sweep, "--outputs", folder_.at("back"), "--strict"});
    EXPECT_EQ(judged.exit_code, 0) << judged.all();
    EXPECT_THAT(judged.output, HasSubstr(": 3 pass"));
}

TEST_F(Judge, CaseJsonSaysWhatToCompute) {
    const auto exported = dmlconform({"export", "raw", file_, "-o", folder_.at("out")});
    ASSERT_EQ(exported.exit_code, 0) << exported.all();
    const fs::path folder = fs::path(folder_.at("out")) / cases::case_folder_name("cases/good");
    EXPECT_EQ(content_of((folder / "InputTensor.npy").string()), floats_npy({1, 2, 3, 4}));
    const auto about = nlohmann::json::parse(content_of((folder / "case.json").string()));
    EXPECT_EQ(about["case"], "cases/good");
    EXPECT_EQ(about["operator"], "DML_OPERATOR_SLICE1");
    EXPECT_EQ(about["desc"]["InputWindowStrides"], nlohmann::json({2}));
    const auto output = nlohmann::json::parse(
        R"([{ "name": "OutputTensor", "file": "OutputTensor.npy", "dataType": "FLOAT32", "sizes": [2] }])");
    EXPECT_EQ(about["outputs"], output);
}

TEST_F(Judge, OutputsMayBeOfEitherKind) {
    give("cases/good", "OutputTensor.npy", floats_npy({1, 3}));
    EXPECT_EQ(judge().exit_code, 0) << judge().all();
    fs::remove_all(folder_.at("back"));
    give("cases/good", "output_0.pb", floats_pb(1, 3));
    EXPECT_EQ(judge().exit_code, 0) << judge().all();
}

TEST_F(Judge, AWrongOutputIsReportedAsARunReportsIt) {
    give("cases/good", "OutputTensor.npy", floats_npy({1, 4}));
    (void)folder_.write("back/engine.json", R"({ "adapter": "Phone 7", "driver": "1.2", "libraries": [["rt", "3"]] })");
    const auto judged = judge({"--json", folder_.at("result.json"), "--junit", folder_.at("result.xml"), "--summary",
                               folder_.at("result.md"), "--bundle", folder_.at("bundles")});
    EXPECT_EQ(judged.exit_code, 1) << judged.all();
    EXPECT_THAT(judged.output, HasSubstr("FAIL cases/good on outputs:"));
    EXPECT_THAT(judged.output, HasSubstr("the output differs beyond tolerance"));
    EXPECT_THAT(judged.output, HasSubstr("Phone 7"));
    const auto document = nlohmann::json::parse(content_of(folder_.at("result.json")));
    EXPECT_EQ(document["results"][0]["status"], "fail");
    EXPECT_EQ(document["engines"][0]["adapter"], "Phone 7");
    EXPECT_THAT(content_of(folder_.at("result.xml")), HasSubstr("<failure"));
    EXPECT_THAT(content_of(folder_.at("result.md")), HasSubstr("cases/good"));
    // A failed case runs again with the same judgement, from the result and from its bundle.
    const auto again = dmlconform({"run", "--rerun-failed", folder_.at("result.json")});
    EXPECT_EQ(again.exit_code, 1) << again.all();
    const auto bundle = fs::directory_iterator(folder_.at("bundles"))->path();
    ProgramOptions inside;
    inside.folder = bundle.string();
    const auto from_bundle = dmlconform({"judge", ".", "--outputs", "outputs"}, inside);
    EXPECT_EQ(from_bundle.exit_code, 1) << from_bundle.all();
    EXPECT_THAT(from_bundle.output, HasSubstr("the output differs beyond tolerance"));
    EXPECT_THAT(content_of((bundle / "command.txt").string()), HasSubstr("dmlconform judge . --outputs outputs\n"));
}

TEST_F(Judge, AKnownFailureIsAsExpected) {
    give("cases/good", "OutputTensor.npy", floats_npy({1, 4}));
    const std::string known = folder_.write("known.json", R"({ "format": "dmlconform-expectations", "formatVersion": 1,
        "expectations": [{ "cases": "cases/good", "engine": "outputs:*", "status": "fail", "reason": "known" }] })");
    const auto judged = judge({"--expect", known});
    EXPECT_EQ(judged.exit_code, 0) << judged.all();
    EXPECT_THAT(judged.output, HasSubstr("1 xfail"));
}

struct BadOutput {
    const char* what;
    const char* file;
    std::string content;
    const char* complaint;
};

TEST_F(Judge, WhatIsWrongWithAFileIsAnErrorThatNamesIt) {
    const std::string right = floats_npy({1, 3});
    std::string huge = right;
    huge.replace(huge.find("(2, )"), 5, "(4294967295, 4294967295, )");
    std::string twice = right;
    twice.replace(twice.find("<f4"), 3, "<f8");
    const BadOutput table[] = {
        {"missing", "other.npy", right, "the output OutputTensor is missing: there is neither OutputTensor.npy nor"},
        {"of other sizes", "OutputTensor.npy", floats_npy({1, 3, 5}), "has the shape [3], the tensor [2]"},
        {"of another type", "OutputTensor.npy", twice, "holds FLOAT64, the tensor is FLOAT32"},
        {"shorter", "OutputTensor.npy", right.substr(0, right.size() - 1), "holds 7 bytes of elements"},
        {"longer", "OutputTensor.npy", right + "x", "holds 9 bytes of elements"},
        {"of huge sizes", "OutputTensor.npy", huge, "has the shape [4294967295,4294967295], the tensor [2]"},
        {"empty", "OutputTensor.npy", "", "this is not a .npy file"},
        {"of a pb's other sizes", "output_0.pb", "\x08\x03" + floats_pb(1, 3).substr(2), "output_0.pb"},
        {"a pb's rubbish", "output_0.pb", "rubbish", "output_0.pb"},
    };
    for (const BadOutput& bad : table) {
        SCOPED_TRACE(bad.what);
        fs::remove_all(folder_.at("back"));
        give("cases/good", bad.file, bad.content);
        const auto judged = judge();
        EXPECT_EQ(judged.exit_code, 1) << judged.all();
        EXPECT_THAT(judged.output, HasSubstr("ERROR cases/good"));
        EXPECT_THAT(judged.output, HasSubstr(bad.complaint));
        EXPECT_THAT(judged.output, HasSubstr(": 1 error"));
    }
}

TEST_F(Judge, TwoFilesForOneOutputAreAnError) {
    give("cases/good", "OutputTensor.npy", floats_npy({1, 3}));
    give("cases/good", "output_0.pb", floats_pb(1, 3));
    EXPECT_THAT(judge().output, HasSubstr("has both OutputTensor.npy and output_0.pb"));
}

TEST_F(Judge, LinksAreNotFollowed) {
    give("cases/elsewhere", "OutputTensor.npy", floats_npy({1, 3}));
    const fs::path back = folder_.at("back");
    const fs::path real = back / cases::case_folder_name("cases/elsewhere");
    const fs::path wanted = back / cases::case_folder_name("cases/good");
    fs::create_directory_symlink(real, wanted);
    EXPECT_THAT(judge().output, HasSubstr("is a symbolic link, which is not followed"));
    fs::remove(wanted);
    fs::create_directory(wanted);
    fs::create_symlink(real / "OutputTensor.npy", wanted / "OutputTensor.npy");
    const auto judged = judge();
    EXPECT_EQ(judged.exit_code, 1) << judged.all();
    EXPECT_THAT(judged.output, HasSubstr("OutputTensor.npy is a symbolic link, which is not followed"));
}

TEST_F(Judge, RejectionsCannotBeShownByOutputs) {
    const std::string rejected = slice_case("bad", "");
    std::string text = rejected;
    text.replace(text.find(R"("InputWindowStrides": [2])"), 25, R"("InputWindowStrides": [0])");
    text.replace(text.find(R"("inputs": { "InputTensor": [1, 2, 3, 4] })"), 41, R"("expectError": "E_INVALIDARG")");
    file_ = folder_.write("cases.json", file_of({text, slice_case("good", right_values)}));
    const auto exported = dmlconform({"export", "raw", file_, "-o", folder_.at("out")});
    EXPECT_EQ(exported.exit_code, 0) << exported.all();
    EXPECT_THAT(exported.errors, HasSubstr("left out: cases/bad: the descriptor has to be rejected"));
    give("cases/good", "OutputTensor.npy", floats_npy({1, 3}));
    const auto judged = judge();
    EXPECT_EQ(judged.exit_code, 0) << judged.all();
    EXPECT_THAT(judged.output, HasSubstr("1 pass, 1 skip"));
}

TEST_F(Judge, WrongUsageIsToldFromWrongOutputs) {
    const auto without = dmlconform({"judge", file_});
    EXPECT_EQ(without.exit_code, 2) << without.all();
    (void)folder_.write("back/x", "");
    for (const char* command : {"bench", "fuzz"}) {
        const auto timed = dmlconform(
            {command, command == std::string("bench") ? file_ : "SLICE1", "--engine", "outputs:" + folder_.at("back")});
        EXPECT_EQ(timed.exit_code, 2) << timed.all();
    }
    const auto nowhere = dmlconform({"judge", file_, "--outputs", folder_.at("nowhere")});
    EXPECT_EQ(nowhere.exit_code, 3) << nowhere.all();
    EXPECT_THAT(nowhere.errors, HasSubstr("there is no folder"));
    (void)folder_.write("back/engine.json", "[]");
    const auto wrong = judge();
    EXPECT_EQ(wrong.exit_code, 3) << wrong.all();
    EXPECT_THAT(wrong.errors, HasSubstr("engine.json is not a JSON object"));
}

TEST(CaseFolderName, LeadsNowhereElseAndIsUnique) {
    for (const char* id : {"", "..", "../../etc/passwd", "/x", "a\\b", "a/b", "a-b", "A/b", ".hidden", "x.", "a:b"}) {
        const std::string name = cases::case_folder_name(id);
        EXPECT_EQ(name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"),
                  std::string::npos)
            << name;
        EXPECT_FALSE(name.starts_with('.')) << name;
        EXPECT_LE(name.size(), 100u);
    }
    EXPECT_LE(cases::case_folder_name(std::string(1000, 'x')).size(), 100u);
    EXPECT_NE(cases::case_folder_name("a/b"), cases::case_folder_name("a-b"));
    EXPECT_NE(cases::case_folder_name("a/B").substr(4), cases::case_folder_name("a/b").substr(4));
    EXPECT_EQ(cases::case_folder_name("slice1/basic[T=FLOAT16]").substr(0, 23), "slice1-basic-T-FLOAT16-");
    EXPECT_EQ(cases::tensor_file_name("OutputTensors[1]", core::DataType::float32), "OutputTensors-1.npy");
    EXPECT_EQ(cases::tensor_file_name("x", core::DataType::int4), "x.bin");
    EXPECT_NE(cases::tensor_file_name("a/b", core::DataType::int8),
              cases::tensor_file_name("a:b", core::DataType::int8));
}

}  // namespace
}  // namespace dmlconform::tests::judge_test
