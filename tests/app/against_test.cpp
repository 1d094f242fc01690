// Tests of run --against and --record, which compare with another engine instead of the reference.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/case_texts.h"
#include "tests/app/changed_worker.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"
#include "tests/without_reference.h"

namespace dmlconform::tests::against_test {
namespace {

using nlohmann::json;

std::string example_worker() {
    return std::string("exec:python3 -B ") + EXAMPLE_WORKER;
}

/// A worker that computes the second element wrong.
std::string wrong_worker(const TemporaryFolder& folder) {
    return changed_worker(folder, R"(right = worker.slice1
def slice1(desc, data, output):
    right(desc, data, output)
    output[4:8] = b"\0\0\0\x41"
worker.slice1 = slice1)");
}

/// A case whose operator has no reference.
constexpr std::string_view without_reference = R"({ "name": "resample", "operator": "RESAMPLE",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [1,1,1,2] },
              "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1,1,1,2] },
              "InterpolationMode": "NEAREST_NEIGHBOR", "Scales": [1,1,1,1] },
    "inputs": { "InputTensor": [1, 2] } })";

class Against : public testing::Test {
protected:
    /// Returns an engine that answers every case with these bytes.
    std::string answering(const std::string& name, const std::string& bytes) const {
        const std::string answers = folder_.write(name, json::array({json::array({bytes})}).dump());
        return fmt::format("exec:python3 '{}' '{}' '{}'", ANSWERING_WORKER, EXAMPLE_WORKER, answers);
    }

    json results_of(const std::string& name) const { return json::parse(content_of(folder_.at(name)))["results"]; }

    TemporaryFolder folder_;
    std::string file_ = folder_.write("a.json", file_of({slice_case("bare", "")}));
};

TEST_F(Against, EnginesAreComparedWithThatEngine) {
    const ProgramResult result =
        dmlconform({"run", file_, "--engine", "cpu", "--against", example_worker(), "--json", folder_.at("r.json")});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, ": 1 pass, 1 reference\n"));
    const json results = results_of("r.json");
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(results[0]["engine"], "cpu");
    EXPECT_EQ(results[0]["status"], "pass");
    EXPECT_EQ(results[0]["outputs"][0]["expectedFrom"], "exec:python");
    EXPECT_EQ(results[1]["status"], "reference");
}

TEST_F(Against, ADifferenceIsTheOtherEngines) {
    const std::string wrong = wrong_worker(folder_);
    const ProgramResult result =
        dmlconform({"run", file_, "--engine", "cpu", "--against", wrong, "--bundle", folder_.at("bundles")});
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(prints(result, "FAIL a/bare on cpu"));
    EXPECT_TRUE(
        prints(result, "1 of 2 elements beyond tolerance (exact); expected values from the engine exec:python"));
    EXPECT_TRUE(prints(result, "    expected  8 "));
    EXPECT_TRUE(prints(result, "--against="));
    // The bundle does not need the engine of --against, because its case contains that engine's results as expected
    // values.
    const json bundled = json::parse(content_of(folder_.at("bundles/a-bare.cpu/a.json")));
    EXPECT_EQ(bundled["cases"][0]["expected"]["OutputTensor"], json::array({1, 8}));
}

TEST_F(Against, ARejectionIsADifferenceOnce) {
    const ProgramResult result = dmlconform(
        {"run", file_, "--engine", "cpu", "--against", rejecting_worker(folder_, 2), "--json", folder_.at("r.json")});
    EXPECT_TRUE(ends_with_code(result, 1));
    const json results = results_of("r.json");
    EXPECT_EQ(results[0]["status"], "skip");
    EXPECT_EQ(results[0]["reason"],
              "exec:python has no values to compare with: the descriptor was rejected with E_INVALIDARG: too large for "
              "me; it is legal by the catalogue");
    EXPECT_EQ(results[1]["status"], "fail");
}

TEST_F(Against, ValuesOfTheCaseItselfCount) {
    const std::string own = folder_.write("own.json", good_file());
    const ProgramResult result = dmlconform({"run", own, "--engine", "cpu", "--against", wrong_worker(folder_)});
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(prints(result, "FAIL own/good on exec:python")) << "it is judged too";
    EXPECT_TRUE(prints(result, ": 1 pass, 1 fail\n"));
}

TEST_F(Against, OperatorsWithoutAReference) {
    const WithoutReference resampling("RESAMPLE");
    const std::string file = folder_.write("b.json", file_of({std::string(without_reference)}));
    const ProgramResult alone = dmlconform({"run", file});
    EXPECT_TRUE(ends_with_code(alone, 2));
    EXPECT_TRUE(complains(alone, "`run --against ENGINE` compares with what another engine computes"));
    const std::string one = answering("one.txt", "0000803f00000040");
    const ProgramResult same =
        dmlconform({"run", file, "--engine", one, "--against", answering("same.txt", "0000803f00000040")});
    EXPECT_TRUE(ends_with_code(same, 0));
    EXPECT_TRUE(prints(same, ": 1 pass, 1 reference\n"));
    const ProgramResult other =
        dmlconform({"run", file, "--engine", one, "--against", answering("other.txt", "0000803f00000041")});
    EXPECT_TRUE(ends_with_code(other, 1));
    EXPECT_TRUE(prints(other, "expected values from the engine exec:told#2"));
}

TEST_F(Against, ANameThatIsNoEngineIsAUsageError) {
    const ProgramResult result = dmlconform({"run", file_, "--against", "gpu"});
    EXPECT_TRUE(ends_with_code(result, 2));
    EXPECT_TRUE(complains(result, "there is no engine \"gpu\""));
}

TEST_F(Against, RecordsWhatAnEngineComputes) {
    const std::string large = R"({ "name": "large", "operator": "ELEMENT_WISE_IDENTITY",
        "desc": { "InputTensor": { "DataType": "INT32", "Sizes": [1000] }, "OutputTensor": { "DataType": "INT32", "Sizes": [1000] } },
        "inputs": { "InputTensor": { "start": 1, "step": 1 } } })";
    const std::string file = folder_.write(
        "in.json", file_of({slice_case("bare", ""), slice_case("own", wrong_values), large,
                            R"({ "name": "illegal", "operator": "ELEMENT_WISE_IDENTITY", "expectError": "E_INVALIDARG",
        "desc": { "InputTensor": { "DataType": "INT32", "Sizes": [2] }, "OutputTensor": { "DataType": "INT32", "Sizes": [1] } } })"}));
    const std::string recorded = folder_.at("golden/out.json");
    folder_.write("golden/.keep", "");
    const ProgramResult result =
        dmlconform({"run", file, "--engine", "cpu", "--record", recorded, "--exclude", "in/own"});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, "Recorded 2 cases of cpu, "));
    EXPECT_TRUE(prints(result, "  left out: 1 case: an engine has to reject it (in/illegal)\n"));
    const json written = json::parse(content_of(recorded));
    EXPECT_TRUE(written["description"].get<std::string>().starts_with("expected values recorded from cpu, "))
        << written;
    EXPECT_EQ(written["cases"][0]["name"], "in/bare");
    EXPECT_EQ(written["cases"][0]["expected"]["OutputTensor"], json::array({1, 3}));
    EXPECT_EQ(written["cases"][1]["expected"]["OutputTensor"]["file"], "out/in-large.expected.OutputTensor.npy");
    EXPECT_TRUE(std::filesystem::exists(folder_.at("golden/out/in-large.expected.OutputTensor.npy")));
    // The recording is an ordinary case file.
    const ProgramResult again = dmlconform({"run", recorded, "--engine", "cpu"});
    EXPECT_TRUE(ends_with_code(again, 0));
    EXPECT_TRUE(prints(again, ": 2 pass\n"));
    const ProgramResult other =
        dmlconform({"run", recorded, "--engine", wrong_worker(folder_), "--filter", "out/in/bare"});
    EXPECT_TRUE(ends_with_code(other, 1));
    EXPECT_TRUE(prints(other, "expected values from the case file"));
}

TEST_F(Against, RecordingNeedsToKnowTheEngineAndTheFile) {
    const struct {
        std::vector<std::string> words;
        int exit_code;
        const char* message;
    } rows[] = {
        {{"--record", folder_.at("x.json")}, 2, "--record needs to know which engine to record"},
        {{"--engine", "cpu", "--record", folder_.at("x.txt")}, 2, "a case file's name ends in .json"},
        {{"--engine", "cpu", "--record", folder_.at("nowhere/x.json")}, 2, "nowhere/x.json"},
        {{"--engine", "cpu", "--record", ""}, 2, "the path is empty"},
    };
    for (const auto& row : rows) {
        std::vector<std::string> words{"run", file_};
        words.insert(words.end(), row.words.begin(), row.words.end());
        const ProgramResult result = dmlconform(words);
        EXPECT_TRUE(ends_with_code(result, row.exit_code));
        EXPECT_TRUE(complains(result, row.message));
    }
    const ProgramResult nothing =
        dmlconform({"run", file_, "--engine", rejecting_worker(folder_, 2), "--record", folder_.at("x.json")});
    EXPECT_TRUE(ends_with_code(nothing, 1));
    EXPECT_TRUE(prints(nothing, "Nothing was recorded: "));
    EXPECT_FALSE(std::filesystem::exists(folder_.at("x.json")));
}

}  // namespace
}  // namespace dmlconform::tests::against_test
