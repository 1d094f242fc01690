// End-to-end tests of Microsoft's DirectML under Wine: it answers, its crashes cost one case, and nothing is left
// behind. Skipped if scripts/setup-directml was not run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/case_texts.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/directml/wine/processes_of_a_run.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::directml_test {
namespace {

namespace fs = std::filesystem;

const fs::path checkout = DMLCONFORM_CHECKOUT;

class DirectMl : public testing::Test {
protected:
    void SetUp() override {
        if (!fs::exists(checkout / "build/directml/ready")) {
            GTEST_SKIP() << "DirectML is not set up here: scripts/setup-directml does that";
        }
        options_.environment.emplace_back(processes_.variable());
        options_.timeout = std::chrono::seconds(240);
    }

    ProgramResult run(std::vector<std::string> words) {
        words.insert(words.begin(), {"run", "--engine", "directml"});
        return dmlconform(std::move(words), options_);
    }

    [[nodiscard]] std::string many_cases(int count) const {
        std::string text;
        for (int i = 0; i < count; ++i) {
            text += (i == 0 ? "" : ",\n") + slice_case(std::to_string(i), right_values);
        }
        return folder_.write("many.json", "{ \"cases\": [\n" + text + "\n] }\n");
    }

    /// Runs the action when the program prints its first result.
    void at_first_result(const std::function<void()>& action) {
        options_.interrupt_when = [action, done = false](const std::string& output) mutable {
            if (!done && output.find("many/") != std::string::npos) {
                done = true;
                action();
            }
            return false;
        };
    }

    /// Kills the worker: the Windows program, which Wine's loader runs in a separate process.
    void kill_worker() const {
        const auto found = processes_.running("dmlconform.exe");
        EXPECT_FALSE(found.empty());
        for (const auto& process : found) {
            if (process.command.find("scripts/directml") == std::string::npos) {
                kill(process.id, SIGKILL);
            }
        }
    }

    ProcessesOfARun processes_;
    ProgramOptions options_;
    TemporaryFolder folder_;
};

TEST_F(DirectMl, AnswersAsTheReferenceDoes) {
    std::vector<std::string> words;
    for (const char* op : {"slice1", "top_k1", "quantized_linear_convolution", "mean_variance_normalization1"}) {
        words.push_back(fmt::format("{}/{}/examples.json", cases_folder(), op));
    }
    const std::string json_file = folder_.at("result.json");
    words.insert(words.end(), {"--json", json_file});
    const ProgramResult result = run(words);
    EXPECT_TRUE(ends_with_code(result, 0));
    const auto document = nlohmann::json::parse(content_of(json_file));
    EXPECT_GE(document.at("summary").at("pass"), 8);
    const auto& libraries = document.at("engines").at(0).at("libraries").dump();
    EXPECT_NE(libraries.find("DirectML"), std::string::npos) << libraries;
    EXPECT_NE(libraries.find("Wine"), std::string::npos) << libraries;
    EXPECT_NE(libraries.find("vkd3d"), std::string::npos) << libraries;
    EXPECT_EQ(processes_.left_behind(), "");
}

/// DirectML has the shaders of these cases only as DXIL, so they fail on Wine's own Direct3D, which does not support
/// it.
TEST_F(DirectMl, TakesShadersInDxil) {
    const std::vector<std::string> words = {cases_folder(), "--no-default-expectations",
                                            "--filter",     "edges/cast/int64-to-float64/rounding",
                                            "--filter",     "special/element_wise_max/nan/float32",
                                            "--filter",     "types/binary/any-number[op=ELEMENT_WISE_MULTIPLY,T=INT64]",
                                            "--filter",     "examples/random_generator/zero-state"};
    const ProgramResult result = run(words);
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, ": 4 pass\n"));
    options_.environment.emplace_back("DMLCONFORM_DIRECT3D", "wine");
    const ProgramResult on_wine = run(words);
    EXPECT_TRUE(ends_with_code(on_wine, 1));
    EXPECT_TRUE(prints(on_wine, ": 4 error\n"));
}

/// DirectML runs only one case at a time, which users need not know. The paths have a drive letter because the Windows
/// program takes a word that begins with a slash for an option.
TEST_F(DirectMl, AsManyAtATimeAsItCan) {
    const ProgramResult result = run_program(
        {(checkout / "scripts/directml").string(), "run", "Z:" + many_cases(3), "--engine", "directml"}, options_);
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(complains(result, "note: 1 case at a time and not "));
    const ProgramResult asked = run_program(
        {(checkout / "scripts/directml").string(), "run", "Z:" + many_cases(3), "--engine", "directml", "-j", "2"},
        options_);
    EXPECT_TRUE(ends_with_code(asked, 3));
    EXPECT_TRUE(complains(asked, "2 cases at a time are too many: directml runs one case at a time"));
}

TEST_F(DirectMl, TheWindowsProgramReadsModels) {
    const std::string models = folder_.at("models");
    ASSERT_TRUE(ends_with_code(
        dmlconform({"export", "onnx", cases_folder() + "/gemm", "--filter", "examples/gemm/plain", "-o", models}), 0));
    std::string model;
    for (const fs::path& path : fs::recursive_directory_iterator(models)) {
        model = path.extension() == ".onnx" ? path.string() : model;
    }
    // Its data set says what is expected.
    const ProgramResult result =
        run_program({(checkout / "scripts/directml").string(), "run", "Z:" + model, "--engine", "cpu"}, options_);
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, ": 1 pass"));
}

TEST_F(DirectMl, KnownDifferencesAreExpected) {
    const std::string edges = cases_folder() + "/slice1/edges.json";
    const ProgramResult known = run({edges, "--filter", "*alignment*"});
    EXPECT_TRUE(ends_with_code(known, 0));
    EXPECT_TRUE(prints(known, "cases/expectations/directml-1.15.4-wine.json"));
    EXPECT_TRUE(prints(known, " xfail"));
    const ProgramResult unknown = run({edges, "--filter", "*alignment*", "--no-default-expectations"});
    EXPECT_TRUE(ends_with_code(unknown, 1));
    EXPECT_EQ(unknown.output.find("cases/expectations"), std::string::npos) << unknown.all();
    EXPECT_TRUE(prints(unknown, " fail"));
}

TEST_F(DirectMl, AnUnexpectedPassFails) {
    const std::string expectations = folder_.write("expect.json", R"({
        "format": "dmlconform-expectations", "formatVersion": 1,
        "expectations": [{ "cases": "good/good", "engine": "directml", "libraries": { "DirectML": ">=1", "Wine": ">=1" },
                           "status": "fail", "reason": "a test" }] })");
    const ProgramResult result = run({folder_.write("good.json", good_file()), "--expect", expectations});
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(prints(result, ": 1 xpass"));
}

TEST_F(DirectMl, FindsWrongExpectations) {
    const ProgramResult result = run({folder_.write("bad.json", bad_file())});
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(prints(result, "worst       OutputTensor[1]\n    expected  3.0000002 (0x40400001)\n"));
    EXPECT_TRUE(prints(result, ": 1 pass, 1 fail\n"));
}

TEST_F(DirectMl, IsUsableByItsOwnWord) {
    const ProgramResult result = dmlconform({"adapters"}, options_);
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, "\ndirectml "));
    EXPECT_EQ(result.output.find("directml not usable"), std::string::npos) << result.all();
}

TEST_F(DirectMl, KillingTheWorkerCostsOneCase) {
    const int count = 400;
    at_first_result([&] { kill_worker(); });
    const ProgramResult result = run({many_cases(count), "--verbose"});
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(prints(result, fmt::format("{} pass, 1 crash\n", count - 1)));
    EXPECT_EQ(processes_.left_behind(), "");
}

/// This case causes an access violation inside DirectML.
TEST_F(DirectMl, ACrashInItCostsOneCase) {
    const std::string crash = R"({ "name": "null", "operator": "QUANTIZED_LINEAR_CONVOLUTION",
        "desc": { "InputTensor": { "DataType": "UINT8", "Sizes": [1, 1, 4, 4] },
                  "InputScaleTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 1, 1] },
                  "FilterTensor": { "DataType": "UINT8", "Sizes": [1, 1, 1, 1] },
                  "FilterScaleTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 1, 1] },
                  "OutputScaleTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 1, 1] },
                  "OutputTensor": { "DataType": "UINT8", "Sizes": [1, 1, 4, 4] },
                  "DimensionCount": 2, "Strides": null, "Dilations": [1, 1],
                  "StartPadding": [0, 0], "EndPadding": [0, 0], "GroupCount": 1 },
        "expectError": "E_INVALIDARG" })";
    const ProgramResult result = run({folder_.write(
        "many.json", file_of({slice_case("before", right_values), crash, slice_case("after", right_values)}))});
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(prints(result, ": 2 pass, 1 crash\n"));
    EXPECT_EQ(processes_.left_behind(), "");
}

TEST_F(DirectMl, CtrlCLeavesNothing) {
    options_.interrupt_when = [](const std::string& output) { return output.find("many/") != std::string::npos; };
    const ProgramResult result = run({many_cases(20000), "--verbose"});
    EXPECT_TRUE(ends_with_code(result, 130));
    EXPECT_TRUE(complains(result, "dmlconform: interrupted"));
    EXPECT_EQ(processes_.left_behind(), "");
}

TEST_F(DirectMl, ACrashOfDmlconformLeavesNothing) {
    at_first_result([&] {
        for (const auto& process : processes_.running(dmlconform_path())) {
            kill(process.id, SIGSEGV);
        }
    });
    const ProgramResult result = run({many_cases(20000), "--verbose"});
    EXPECT_EQ(result.signal, SIGSEGV) << result.all();
    EXPECT_EQ(processes_.left_behind(), "");
}

/// A driver that computes nothing and reports no error to DirectML: Debian 12's, with Wine's own Direct3D.
TEST_F(DirectMl, ADriverThatWritesNothingIsFound) {
    const fs::path real = checkout / "build/directml";
    if (!fs::exists(real / "mesa")) {
        GTEST_SKIP() << "the system's own driver is new enough here";
    }
    // A checkout without the newer driver, so that the system's is used.
    const fs::path fake = folder_.at("checkout");
    fs::create_directories(fake / "scripts");
    fs::create_directories(fake / "build/directml");
    fs::copy_file(checkout / "scripts/directml", fake / "scripts/directml");
    for (const char* name : {"ready", "DirectML.dll", "dmlconform.exe", "prefix"}) {
        fs::create_symlink(real / name, fake / "build/directml" / name);
    }
    options_.environment.emplace_back("DMLCONFORM_ROOT", fake.string());
    options_.environment.emplace_back("DMLCONFORM_DIRECT3D", "wine");
    const ProgramResult result = run({folder_.write("good.json", good_file())});
    EXPECT_TRUE(ends_with_code(result, 3));
    EXPECT_TRUE(complains(result, "self-test: DirectML succeeds on this device, but does not write the right numbers"));
    EXPECT_TRUE(complains(result, "Mesa's must be 25 or newer"));
    EXPECT_EQ(processes_.left_behind(), "");
}

/// A setup made by an older script, and an unknown Direct3D. Does not need DirectML.
TEST(DirectMlScript, SaysWhichDirect3dIsMissing) {
    struct Row {
        const char* direct3d;
        const char* complaint;
        const char* hint;
    };
    const TemporaryFolder folder;
    fs::create_directories(fs::path(folder.path()) / "scripts");
    fs::create_directories(fs::path(folder.path()) / "build/directml");
    const fs::path script = fs::path(folder.path()) / "scripts/directml";
    fs::copy_file(checkout / "scripts/directml", script);
    folder.write("build/directml/ready", "");
    for (const Row& row : {Row{"", "DirectML was set up here before it got a Direct3D 12 of its own",
                               "run scripts/setup-directml again"},
                           Row{"new", "DMLCONFORM_DIRECT3D is \"new\"", "it can be \"wine\", or not be there"}}) {
        ProgramOptions options;
        options.environment.emplace_back("DMLCONFORM_DIRECT3D", row.direct3d);
        const ProgramResult result = run_program({script.string(), "adapters"}, options);
        EXPECT_TRUE(ends_with_code(result, 3));
        EXPECT_TRUE(complains(result, row.complaint));
        EXPECT_TRUE(complains(result, row.hint));
    }
}

/// Does not need DirectML.
TEST(DirectMlIsMissing, AndTheScriptThatSetsItUpIsNamed) {
    const TemporaryFolder folder;
    ProgramOptions options;
    options.environment.emplace_back("DMLCONFORM_ROOT", folder.path().string());
    const ProgramResult result =
        dmlconform({"run", folder.write("good.json", good_file()), "--engine", "directml"}, options);
    EXPECT_TRUE(ends_with_code(result, 3));
    EXPECT_TRUE(complains(result, "the engine directml is not usable here: DirectML is not set up here"));
    EXPECT_TRUE(complains(result, "hint: run " + (folder.path() / "scripts/setup-directml").string()));
    EXPECT_EQ(result.output, "");
}

}  // namespace
}  // namespace dmlconform::tests::directml_test
