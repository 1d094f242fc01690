// Tests of repro bundles and of `dmlconform reduce`, with a worker that has a bug.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/app/case_texts.h"
#include "tests/app/changed_worker.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"
#include "tests/without_reference.h"

namespace dmlconform::tests::bundle_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string content_of(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file()) {
            names.push_back(fs::relative(entry.path(), folder).generic_string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

/// The example worker with a bug: the first byte of an output is wrong if the output has at least 3 elements and
/// contains a byte 7.
std::string worker_with_a_bug(const TemporaryFolder& folder) {
    return changed_worker(folder, R"(right = worker.slice1
def slice1(desc, data, output):
    right(desc, data, output)
    if desc["OutputTensor"]["Sizes"][-1] >= 3 and 7 in list(output[:-256]):
        output[0] ^= 1
worker.slice1 = slice1)");
}

std::string failing_case(std::string_view name) {
    return fmt::format(R"({{ "name": "{}", "operator": "SLICE1",
        "desc": {{ "InputTensor": {{ "DataType": "UINT8", "Sizes": [4, 300] }}, "OutputTensor": {{ "DataType": "UINT8", "Sizes": [2, 300] }},
                  "InputWindowOffsets": [0, 0], "InputWindowSizes": [4, 300], "InputWindowStrides": [2, 1] }},
        "inputs": {{ "InputTensor": {{ "random": "integer", "min": 0, "max": 255, "seed": 7 }} }} }})",
                       name);
}

TEST(Bundle, HasWhatItTakesToSeeTheFailureElsewhere) {
    const TemporaryFolder folder;
    const std::string engine = worker_with_a_bug(folder);
    const std::string file =
        folder.write("planted.json", file_of({failing_case("a/b"), slice_case("good", right_values)}));
    const auto run = dmlconform({"run", file, "--engine", engine, "--bundle", folder.at("bundles")});
    EXPECT_EQ(run.exit_code, 1) << run.all();
    EXPECT_THAT(run.output, HasSubstr("1 bundle in "));
    const fs::path bundle = fs::path(folder.at("bundles")) / "planted-a-b.exec-python";
    ASSERT_TRUE(fs::is_directory(bundle)) << run.all();
    EXPECT_THAT(names_in(bundle),
                testing::ElementsAre("actual/OutputTensor.npy", "command.txt", "environment.json",
                                     "expected/OutputTensor.npy", "inputs/InputTensor.npy", "planted.json"));
    const auto environment = nlohmann::json::parse(content_of(bundle / "environment.json"));
    EXPECT_EQ(environment["case"], "planted/a/b");
    EXPECT_EQ(environment["engine"]["name"], "exec:python");
    EXPECT_EQ(environment["status"], "fail");
    EXPECT_EQ(environment["versions"]["dmlconform"].is_string(), true);
    // Large data lie in files next to the case, which still finds them if the folder is moved.
    EXPECT_THAT(content_of(bundle / "planted.json"), HasSubstr("\"inputs/InputTensor.npy\""));
    fs::rename(bundle, folder.at("moved"));
    const auto again = dmlconform({"run", folder.at("moved"), "--engine", engine});
    EXPECT_EQ(again.exit_code, 1) << again.all();
    EXPECT_THAT(again.output, HasSubstr("planted/a/b"));
    EXPECT_THAT(again.output, HasSubstr("1 case on"));
}

TEST(Bundle, ACommandInItRunsItAgain) {
    const TemporaryFolder folder;
    const std::string file = folder.write("x.json", bad_file());
    const auto run = dmlconform({"run", file, "--engine", "cpu", "--bundle", folder.at("b")});
    EXPECT_EQ(run.exit_code, 1) << run.all();
    const fs::path bundle = fs::path(folder.at("b")) / "x-bad.cpu";
    std::string command = content_of(bundle / "command.txt");
    const std::size_t at = command.find("\ndmlconform run .");
    ASSERT_NE(at, std::string::npos) << command;
    command.replace(at + 1, std::string_view("dmlconform").size(), dmlconform_path());
    ProgramOptions options;
    options.folder = bundle.string();
    const auto again = run_program({"/bin/sh", "-c", command}, options);
    EXPECT_EQ(again.exit_code, 1) << command << again.all();
    EXPECT_THAT(again.output, HasSubstr("x/bad"));
}

/// Runs the command of a bundle as a user does, in the bundle's folder.
ProgramResult run_command_of(const fs::path& bundle) {
    std::string command = content_of(bundle / "command.txt");
    const std::size_t at = command.find("dmlconform run \"$bundle\"");
    if (at != std::string::npos) {
        command.replace(at, std::string_view("dmlconform").size(), dmlconform_path());
    }
    ProgramOptions options;
    options.folder = bundle.string();
    return run_program({"/bin/sh", "-c", command}, options);
}

TEST(Bundle, ACommandWithRelativePathsRunsItAgain) {
    const TemporaryFolder folder;
    worker_with_a_bug(folder);
    const std::string file = folder.write("planted.json", file_of({failing_case("a")}));
    ProgramOptions there;
    there.folder = fs::path(file).parent_path().string();
    const std::string engine = "exec:python3 -B 'changed worker.py'";
    const auto run = dmlconform({"run", "planted.json", "--engine", engine, "--bundle", "b"}, there);
    EXPECT_EQ(run.exit_code, 1) << run.all();
    const fs::path bundle = fs::path(folder.at("b")) / "planted-a.exec-python";
    const auto again = run_command_of(bundle);
    EXPECT_EQ(again.exit_code, 1) << content_of(bundle / "command.txt") << again.all();
    EXPECT_THAT(again.output, HasSubstr("FAIL planted/a on exec:python"));
    // Also if the bundle was moved.
    fs::rename(bundle, folder.at("moved"));
    EXPECT_THAT(run_command_of(folder.at("moved")).output, HasSubstr("FAIL planted/a on exec:python"));
}

/// NumPy has no 4-bit elements, so these are stored in files of a separate format.
TEST(Bundle, ElementsOfFourBitsAreSeenAgainAndMadeSmall) {
    const TemporaryFolder folder;
    const std::string file = folder.write("nibbles.json", R"({ "cases": [{ "name": "a", "operator": "DEQUANTIZE",
        "desc": { "InputTensor": { "DataType": "INT4", "Sizes": [1, 1, 1, 301] }, "QuantizationType": "SCALE",
                  "QuantizationTensors": [{ "DataType": "FLOAT32", "Sizes": [1, 1, 1, 1] }],
                  "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 1, 301] } },
        "inputs": { "InputTensor": { "random": "integer", "min": -8, "max": 7, "seed": 1 },
                    "QuantizationTensors[0]": [1] } }] })");
    // A worker that answers everything with zeros.
    const std::string engine = changed_worker(folder, R"(right = worker.answer
def answer(request, programs):
    if request["request"] == "compile":
        programs[request["id"]] = {"desc": request["desc"]}
        return {"accepted": True}
    if request["request"] == "execute":
        output = programs[request["executable"]]["output"]
        output[:-256] = bytes(len(output) - 256)
        return {}
    return right(request, programs)
worker.answer = answer)");
    EXPECT_EQ(dmlconform({"run", file, "--engine", engine, "--bundle", folder.at("b")}).exit_code, 1);
    const fs::path bundle = fs::path(folder.at("b")) / "nibbles-a.exec-python";
    EXPECT_EQ(fs::file_size(bundle / "inputs" / "InputTensor.bin"), 151u);
    const auto again = dmlconform({"run", bundle.string(), "--engine", engine});
    EXPECT_EQ(again.exit_code, 1) << again.all();
    EXPECT_THAT(again.output, HasSubstr("1 fail"));
    const auto reduced = dmlconform({"reduce", bundle.string(), "--engine", engine});
    EXPECT_EQ(reduced.exit_code, 0) << reduced.all();
    EXPECT_THAT(content_of(bundle / "reduced.json"), HasSubstr(R"("DataType": "INT4", "Sizes": [1])"));
}

TEST(Bundle, LimitsAreKeptAndTold) {
    const TemporaryFolder folder;
    std::vector<std::string> names;
    const std::string file = folder.write(
        "x.json",
        file_of({slice_case("a", wrong_values), slice_case("b", wrong_values), slice_case("c", wrong_values)}));
    const auto some = dmlconform({"run", file, "--engine", "cpu", "--bundle", folder.at("some"), "--max-bundles", "2"});
    EXPECT_EQ(some.exit_code, 1);
    EXPECT_THAT(some.output, HasSubstr("2 bundles in "));
    EXPECT_THAT(some.output, HasSubstr("1 more failures have no bundle (--max-bundles=2)"));
    const auto none =
        dmlconform({"run", file, "--engine", "cpu", "--bundle", folder.at("none"), "--max-bundle-size", "8"});
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_THAT(none.output, HasSubstr("no bundle for x/a: its tensors take more than 8 bytes"));
    EXPECT_TRUE(fs::is_empty(folder.at("none")));
    // A second run does not overwrite the bundles of the first.
    const auto again = dmlconform({"run", file, "--engine", "cpu", "--bundle", folder.at("some")});
    EXPECT_TRUE(fs::is_directory(fs::path(folder.at("some")) / "x-a.cpu-2")) << again.all();
}

/// A file size limit simulates the full disk. A bundle that cannot be written is an error because the user asked for
/// it.
TEST(Bundle, AFullDiskIsToldAtTheEnd) {
    const TemporaryFolder folder;
    const std::string file = folder.write("x.json", file_of({slice_case("a", wrong_values)}));
    const std::string bundles = folder.at("b");
    const std::vector<std::string> rows[] = {
        {"run", file, "--engine", "cpu", "--bundle", bundles},
        {"fuzz", "SLICE1", "--count", "60", "--seed", "3", "--max-failures", "1", "--no-reduce", "--bundle", bundles,
         "--engine", std::string("exec:python3 -B ") + EXAMPLE_WORKER}};
    for (const auto& words : rows) {
        std::vector<std::string> all{"/bin/sh", "-c", R"(ulimit -f 0; exec "$@")", "sh", dmlconform_path()};
        all.insert(all.end(), words.begin(), words.end());
        const auto full = run_program(all);
        EXPECT_EQ(full.exit_code, 3) << full.all();
        EXPECT_THAT(full.output, HasSubstr("no bundle")) << full.all();
        EXPECT_TRUE(fs::is_empty(bundles)) << "nothing is left of it";
        all.insert(all.end(), {"--max-bundle-size", "1"});
        all[2] = R"(exec "$@")";
        EXPECT_EQ(run_program(all).exit_code, 1) << "what is too large is left out as it was asked for";
    }
}

TEST(Bundle, NoNameLeadsOutOfTheFolder) {
    const TemporaryFolder folder;
    const std::string deep = "../../up/" + std::string(300, 'n');
    const std::string file =
        folder.write("odd [name].json", file_of({slice_case(deep, wrong_values), slice_case("..", wrong_values)}));
    const auto run = dmlconform({"run", file, "--engine", "cpu", "--bundle", folder.at("b/c")});
    EXPECT_EQ(run.exit_code, 1) << run.all();
    std::size_t bundles = 0;
    for (const auto& entry : fs::directory_iterator(folder.at("b/c"))) {
        ++bundles;
        const std::string name = entry.path().filename().string();
        EXPECT_LT(name.size(), 110u);
        EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz.-0123456789"), std::string::npos) << name;
        EXPECT_EQ(dmlconform({"run", entry.path().string(), "--engine", "cpu"}).exit_code, 1);
    }
    EXPECT_EQ(bundles, 2u);
    EXPECT_FALSE(fs::exists(folder.at("up")));
}

TEST(Bundle, AFolderThatCannotBeMadeIsToldBeforeTheRun) {
    const TemporaryFolder folder;
    const std::string file = folder.write("x.json", bad_file());
    const auto run = dmlconform({"run", file, "--engine", "cpu", "--bundle", file});
    EXPECT_EQ(run.exit_code, 2) << run.all();
    EXPECT_EQ(run.output, "");
}

TEST(Reduce, ABundleShrinksToWhatTheBugNeeds) {
    const TemporaryFolder folder;
    const std::string engine = worker_with_a_bug(folder);
    const std::string file = folder.write("planted.json", file_of({failing_case("a")}));
    EXPECT_EQ(dmlconform({"run", file, "--engine", engine, "--bundle", folder.at("b")}).exit_code, 1);
    const std::string bundle = folder.at("b/planted-a.exec-python");
    // Uses the engine that the bundle names.
    const auto reduced = dmlconform({"reduce", bundle, "--trust-bundle"});
    EXPECT_EQ(reduced.exit_code, 0) << reduced.all();
    const auto document = nlohmann::json::parse(content_of(bundle + "/reduced.json"));
    const auto& subject = document["cases"][0];
    EXPECT_EQ(subject["desc"]["OutputTensor"]["Sizes"], (nlohmann::json{3})) << subject.dump();
    auto values = subject["inputs"]["InputTensor"].get<std::vector<int>>();
    std::sort(values.begin(), values.end());
    EXPECT_EQ(values, (std::vector<int>{0, 0, 7}));
    // The folder contains both cases now; reducing again starts from the first one.
    EXPECT_THAT(dmlconform({"run", bundle, "--engine", engine}).output, HasSubstr("2 cases on"));
    EXPECT_EQ(dmlconform({"reduce", bundle, "--trust-bundle", "--time", "20", "-o", folder.at("other.json")}).exit_code,
              0);
}

TEST(Reduce, TakesTheNodeThatIsWrong) {
    const TemporaryFolder folder;
    const std::string engine = worker_with_a_bug(folder);
    const std::string file = folder.write("net.json", file_of({R"({ "name": "g", "graph": { "nodes": [
        { "name": "cut", "operator": "SLICE1", "desc": { "InputTensor": { "DataType": "UINT8", "Sizes": [6] },
          "OutputTensor": { "DataType": "UINT8", "Sizes": [6] }, "InputWindowOffsets": [0], "InputWindowSizes": [6],
          "InputWindowStrides": [1] }, "inputs": { "InputTensor": "x" }, "outputs": { "OutputTensor": "y" } } ],
        "outputs": ["y"] }, "inputs": { "x": [1, 2, 7, 3, 4, 5] } })"}));
    const std::string reduced = folder.at("reduced.json");
    const auto result = dmlconform({"reduce", file, "--filter", "net/g/cut", "--engine", engine, "-o", reduced});
    EXPECT_EQ(result.exit_code, 0) << result.all();
    EXPECT_THAT(result.output, HasSubstr("net/g/cut on exec:python"));
    EXPECT_THAT(content_of(reduced), HasSubstr("SLICE1"));
    EXPECT_EQ(dmlconform({"run", reduced, "--engine", engine}).exit_code, 1);
}

/// A malicious bundle, such as one attached to a bug report: its engine creates a file.
std::string planted_bundle(const TemporaryFolder& folder, const std::string& name, const nlohmann::json& engine) {
    folder.write(name + "/x.json", file_of({slice_case("x", wrong_values)}));
    folder.write(name + "/environment.json", nlohmann::json{{"dmlconformBundle", 1}, {"engine", engine}}.dump());
    return folder.at(name);
}

TEST(Reduce, ABundlesCommandIsShownAndNotRunUnasked) {
    const TemporaryFolder folder;
    const std::string victim = folder.at("victim");
    const std::string command = "touch " + victim;
    const nlohmann::json engines[] = {{{"name", "exec:x"}, {"command", command}},
                                      {{"name", "exec:" + command}},
                                      {{"name", "cpu"}, {"command", command}},
                                      {{"name", "cpu"}, {"command", "\x1b]0;\n::error::" + command}}};
    int number = 0;
    for (const auto& engine : engines) {
        const std::string bundle = planted_bundle(folder, fmt::format("b{}", ++number), engine);
        const auto refused = dmlconform({"reduce", bundle});
        EXPECT_EQ(refused.exit_code, 2) << refused.all();
        EXPECT_THAT(refused.errors,
                    HasSubstr("the bundle names this engine, which does not run unless you ask for it: exec:"));
        EXPECT_THAT(refused.errors, HasSubstr(command));
        EXPECT_THAT(refused.errors, HasSubstr("--trust-bundle"));
        EXPECT_THAT(refused.errors, testing::Not(HasSubstr("\x1b")));
        EXPECT_FALSE(fs::exists(victim)) << engine.dump();
        EXPECT_THAT(dmlconform({"reduce", bundle, "--engine", "cpu"}).errors, HasSubstr("does not fail on this engine"))
            << "the user's word counts";
        EXPECT_FALSE(fs::exists(victim)) << engine.dump();
    }
    EXPECT_EQ(dmlconform({"reduce", folder.at("b1"), "--trust-bundle"}).exit_code, 3) << "touch is not a worker";
    EXPECT_TRUE(fs::exists(victim)) << "and it was asked for";
    EXPECT_THAT(dmlconform({"reduce", planted_bundle(folder, "harmless", {{"name", "cpu"}})}).errors,
                HasSubstr("does not fail on this engine"))
        << "engines of our own need no trust";
}

TEST(Reduce, ABundlesLinkIsNotWrittenThrough) {
    const TemporaryFolder folder;
    const std::string victim = folder.write("victim.json", good_file());
    const std::string bundle = planted_bundle(folder, "b", {{"name", "cpu"}});
    fs::create_symlink(victim, bundle + "/reduced.json");
    const auto refused = dmlconform({"reduce", bundle, "--filter", "x/x", "--engine", "cpu"});
    EXPECT_EQ(refused.exit_code, 2) << refused.all();
    EXPECT_THAT(refused.errors, HasSubstr("reduced.json is a symbolic link"));
    EXPECT_EQ(content_of(victim), good_file());
}

/// Reduces the only case of the file and returns the reduced case. Expects `says_so` in the output.
nlohmann::json reduced(const TemporaryFolder& folder, const std::string& file, const std::string& engine,
                       const char* says_so) {
    const std::string path = folder.at("reduced.json");
    const auto result = dmlconform({"reduce", file, "--engine", engine, "-o", path});
    EXPECT_EQ(result.exit_code, 0) << result.all();
    EXPECT_THAT(result.output, HasSubstr(says_so));
    // The reduced case fails in the same way.
    EXPECT_EQ(dmlconform({"run", path, "--engine", engine}).exit_code, 1);
    return nlohmann::json::parse(content_of(path))["cases"][0];
}

TEST(Reduce, WronglyAcceptedDescriptors) {
    const TemporaryFolder folder;
    const std::string engine = std::string("exec:python3 -B ") + EXAMPLE_WORKER;
    const std::string file =
        folder.write("a.json", R"({ "cases": [ { "name": "a", "operator": "SLICE1", "expectError": "E_INVALIDARG",
        "desc": { "InputTensor": { "DataType": "UINT8", "Sizes": [20, 30] }, "OutputTensor": { "DataType": "UINT8", "Sizes": [5, 9] },
                  "InputWindowOffsets": [3, 4], "InputWindowSizes": [10, 20], "InputWindowStrides": [2, 3] } } ] })");
    const auto subject = reduced(folder, file, engine, " attempts; the case is in ");
    EXPECT_EQ(subject["desc"]["InputTensor"]["Sizes"], (nlohmann::json{1})) << subject.dump();
    EXPECT_EQ(subject["desc"]["OutputTensor"]["Sizes"], (nlohmann::json{2})) << subject.dump();
    EXPECT_EQ(subject["expectError"], "E_INVALIDARG");
    // A reduced case cannot be reduced further.
    reduced(folder, folder.write("again.json", content_of(folder.at("reduced.json"))), engine,
            "It could not be made smaller: ");
}

TEST(Reduce, WronglyRejectedDescriptors) {
    const WithoutReference resampling("RESAMPLE");
    const TemporaryFolder folder;
    const std::string engine = rejecting_worker(folder, 3);
    const auto subject =
        reduced(folder, folder.write("a.json", file_of({failing_case("a")})), engine, " attempts; the case is in ");
    EXPECT_EQ(subject["desc"]["OutputTensor"]["Sizes"], (nlohmann::json{3})) << subject.dump();
    // Reducing also works for an operator without a reference, where no values are compared.
    const std::string other = folder.write("b.json", R"({ "cases": [ { "name": "b", "operator": "RESAMPLE",
        "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [1,1,2,8] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1,1,2,8] },
                  "InterpolationMode": "NEAREST_NEIGHBOR", "Scales": [1,1,1,1] },
        "inputs": { "InputTensor": { "value": 1 } }, "expected": { "OutputTensor": { "value": 1 } } } ] })");
    const auto resampled = reduced(folder, other, engine, " attempts; the case is in ");
    EXPECT_EQ(resampled["desc"]["InputTensor"]["Sizes"].back(), 1) << resampled.dump();
    EXPECT_THAT(resampled["description"].get<std::string>(), HasSubstr("those expected are just zeros"));
}

TEST(Reduce, AtTheFeatureLevelOfTheBundle) {
    const TemporaryFolder folder;
    // The case is legal from feature level 4.1 on, so it is only rejected at a lower level.
    const std::string file =
        folder.write("a.json", R"({ "cases": [ { "name": "a", "operator": "SLICE1", "minFeatureLevel": "2.1",
        "desc": { "InputTensor": { "DataType": "INT64", "Sizes": [9] }, "OutputTensor": { "DataType": "INT64", "Sizes": [5] },
                  "InputWindowOffsets": [1], "InputWindowSizes": [5], "InputWindowStrides": [1] },
        "inputs": { "InputTensor": { "value": 1 } } } ] })");
    const auto run = dmlconform({"run", file, "--engine", "cpu", "--feature-level", "4.0", "--bundle", folder.at("b")});
    EXPECT_EQ(run.exit_code, 1) << run.all();
    const auto result = dmlconform({"reduce", folder.at("b/a-a.cpu")});
    EXPECT_EQ(result.exit_code, 0) << result.all();
    EXPECT_THAT(result.output, HasSubstr("InputTensor: INT64 [1]"));
}

TEST(Reduce, WhereNobodySaysWhatIsRight) {
    const WithoutReference resampling("RESAMPLE");
    const TemporaryFolder folder;
    const std::string engine = changed_worker(folder, R"(right = worker.answer
def answer(request, programs):
    told = {"compile": {"accepted": True}, "bind": {"error": {"message": "broken"}}, "release": {}}
    return told.get(request["request"]) or ({} if request["request"] in told else right(request, programs))
worker.answer = answer)");
    const std::string file = folder.write("b.json", R"({ "cases": [ { "name": "b", "operator": "RESAMPLE",
        "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [1,1,2,8] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1,1,2,8] },
                  "InterpolationMode": "NEAREST_NEIGHBOR", "Scales": [1,1,1,1] },
        "inputs": { "InputTensor": { "value": 1 } }, "expected": { "OutputTensor": { "value": 1 } } } ] })");
    const auto result = dmlconform({"reduce", file, "--engine", engine});
    EXPECT_EQ(result.exit_code, 3) << result.all();
    EXPECT_THAT(result.errors, HasSubstr("the case is skipped on this engine: there is no reference yet for RESAMPLE"));
    EXPECT_THAT(result.errors, HasSubstr("--against names an engine"));
}

TEST(Reduce, SlipsAreTold) {
    const TemporaryFolder folder;
    const std::string file = folder.write("x.json", bad_file());
    EXPECT_EQ(dmlconform({"reduce", folder.at("none")}).exit_code, 2);
    const auto several = dmlconform({"reduce", file, "--engine", "cpu"});
    EXPECT_EQ(several.exit_code, 2);
    EXPECT_THAT(several.errors, HasSubstr("2 cases are selected"));
    const auto engine = dmlconform({"reduce", file, "--filter", "x/good"});
    EXPECT_EQ(engine.exit_code, 2);
    EXPECT_THAT(engine.errors, HasSubstr("--engine names it"));
    const auto good = dmlconform({"reduce", file, "--filter", "x/good", "--engine", "cpu"});
    EXPECT_EQ(good.exit_code, 3) << good.all();
    EXPECT_THAT(good.errors, HasSubstr("does not fail on this engine"));
}

}  // namespace
}  // namespace dmlconform::tests::bundle_test
