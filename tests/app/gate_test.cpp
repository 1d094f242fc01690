// Tests what a green run claims: illegal descriptors are not failures, and everything that was not verified is
// reported.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/case_texts.h"
#include "tests/app/changed_worker.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"
#include "tests/without_reference.h"

namespace dmlconform::tests::gate_test {
namespace {

using nlohmann::json;

constexpr std::string_view legal_identity = R"({ "name": "identity", "operator": "RESAMPLE",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [1,1,1,2] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1,1,1,2] },
              "InterpolationMode": "NEAREST_NEIGHBOR", "Scales": [1,1,1,1] },
    "inputs": { "InputTensor": [1, 2] }, "expected": { "OutputTensor": [1, 2] } })";

std::string replaced(std::string text, std::string_view what, std::string_view by) {
    text.replace(text.find(what), what.size(), by);
    return text;
}

std::string illegal_slice(std::string_view more = "") {
    return replaced(slice_case("bad", more), R"("InputWindowStrides": [2])", R"("InputWindowStrides": [0])");
}

/// An operator without a reference, whose tensors illegally have different types.
std::string illegal_identity() {
    return replaced(std::string(legal_identity), R"("OutputTensor": { "DataType": "FLOAT32")",
                    R"("OutputTensor": { "DataType": "FLOAT16")");
}

class Gate : public testing::Test {
protected:
    WithoutReference resampling_{"RESAMPLE"};
    TemporaryFolder folder_;
};

TEST_F(Gate, IllegalDescriptorsAreInputErrorsUnlessTheyAreExpected) {
    struct {
        const char* what;
        std::string text;
        const char* message;
        const char* rule;
    } const rows[] = {
        {"with a reference", illegal_slice(right_values),
         "the descriptor is illegal: ", " [SLICE1.windowStride] (at /cases/1/desc)\n"},
        {"without one", illegal_identity(),
         "the descriptor is illegal: ", " [tensor.sameDataType] (at /cases/1/desc)\n"},
        {"of a sweep",
         replaced(illegal_slice(right_values), R"("InputWindowStrides": [0])",
                  R"("InputWindowStrides": ["${s}"] }, "sweep": { "s": [2, 0])"),
         "the expansion [s=0] gives an illegal descriptor: ", " [SLICE1.windowStride] (at /cases/1/desc)\n"},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.what);
        const std::string file = folder_.write("a.json", file_of({slice_case("good", right_values), row.text}));
        for (const char* command : {"run", "validate", "list", "bench"}) {
            const ProgramResult result = dmlconform({command, file});
            EXPECT_TRUE(ends_with_code(result, 2));
            EXPECT_EQ(result.output, "");
            EXPECT_TRUE(complains(result, file + ":7:13: error: " + row.message));
            EXPECT_TRUE(complains(result, row.rule));
            EXPECT_TRUE(complains(result, "\"expectError\": \"E_INVALIDARG\" says that engines have to reject it\n"));
            EXPECT_TRUE(complains(result, "dmlconform: 1 problem in the input; nothing was run\n"));
        }
    }
    const std::string expecting =
        replaced(illegal_slice(), R"("inputs": { "InputTensor": [1, 2, 3, 4] })", R"("expectError": "E_INVALIDARG")");
    EXPECT_TRUE(ends_with_code(dmlconform({"run", folder_.write("b.json", file_of({expecting}))}), 0));
}

TEST_F(Gate, ARejectionSaysWhatTheCatalogueThinks) {
    const std::string engine = rejecting_worker(folder_, 2);
    const std::string legal = folder_.write("a.json", file_of({slice_case("x", right_values)}));
    const ProgramResult wrongly_rejected = dmlconform({"run", legal, "--engine", engine});
    EXPECT_TRUE(ends_with_code(wrongly_rejected, 1));
    EXPECT_TRUE(prints(wrongly_rejected,
                       "the descriptor was rejected with E_INVALIDARG: too large for me; it is legal by the "
                       "catalogue\n"));
    // Legal from feature level 4.1 on.
    const std::string later =
        folder_.write("level.json", R"({ "cases": [ { "name": "a", "operator": "SLICE1", "minFeatureLevel": "2.1",
        "desc": { "InputTensor": { "DataType": "INT64", "Sizes": [4] }, "OutputTensor": { "DataType": "INT64", "Sizes": [1] },
                  "InputWindowOffsets": [0], "InputWindowSizes": [1], "InputWindowStrides": [1] },
        "inputs": { "InputTensor": [1, 2, 3, 4] }, "expected": { "OutputTensor": [1] } } ] })");
    EXPECT_TRUE(prints(dmlconform({"run", later, "--engine", "cpu", "--feature-level", "4.0"}),
                       "; by the catalogue it is illegal at feature level 4.0: tensor.dataType, legal from 4.1 on\n"));
    const std::string illegal =
        folder_.write("c.json", R"({ "cases": [ { "name": "c", "operator": "SLICE1", "expectError": "E_INVALIDARG",
        "desc": { "InputTensor": { "DataType": "INT8", "Sizes": [4] }, "OutputTensor": { "DataType": "INT8", "Sizes": [2] },
                  "InputWindowOffsets": [3], "InputWindowSizes": [4], "InputWindowStrides": [1] } } ] })");
    const ProgramResult wrongly_accepted =
        dmlconform({"run", illegal, "--engine", std::string("exec:python3 -B ") + EXAMPLE_WORKER});
    EXPECT_TRUE(ends_with_code(wrongly_accepted, 1));
    EXPECT_TRUE(prints(wrongly_accepted,
                       "the descriptor was accepted, but has to be rejected with E_INVALIDARG; by the "
                       "catalogue it is illegal: SLICE1."));
}

/// Two outputs, only one of which has expected values.
constexpr std::string_view half_expected = R"({ "name": "half", "operator": "TOP_K1",
    "desc": { "InputTensor": { "DataType": "INT8", "Sizes": [3] }, "OutputValueTensor": { "DataType": "INT8", "Sizes": [1] },
              "OutputIndexTensor": { "DataType": "UINT32", "Sizes": [1] }, "Axis": 0, "K": 1, "AxisDirection": "DECREASING" },
    "inputs": { "InputTensor": [3, 9, 4] }, "expected": { "OutputIndexTensor": [1] } })";

TEST_F(Gate, WhatARunDoesNotShowIsSaidAndFailsWhenStrict) {
    const std::string good = slice_case("good", right_values);
    struct {
        const char* what;
        std::string file;
        std::vector<std::string> more;
        const char* said;
    } const rows[] = {
        {"no engine has the operator",
         folder_.write("a.json", file_of({good, std::string(legal_identity)})),
         {},
         "\nVerified by no engine: 1 of 2 cases: a/identity\n"},
        {"only the reference ran",
         folder_.write("b.json", file_of({good, slice_case("x", ""), slice_case("y", "")})),
         {},
         "\nVerified by no engine: 2 of 3 cases: b/x, b/y\n"},
        {"one output of two",
         folder_.write("c.json", file_of({good, std::string(half_expected)})),
         {},
         "\nVerified in part, because only the reference computed an output without expected values: 1 of 2 cases: "
         "c/half\n"},
        {"a tolerance that accepts anything",
         folder_.write("w.json", file_of({good, slice_case("wide", std::string(right_values) +
                                                                       R"(, "tolerance": { "*": { "abs": 1e9 } })")})),
         {},
         "\nPassed within a tolerance that says nothing: 1 of 2 cases: w/wide\n"
         "  1 case: OutputTensor: the tolerance also accepts an output that was never written (w/wide)\n"},
        {"a filter",
         folder_.write("d.json", file_of({good})),
         {"--filter", "d/*", "--filter", "d/goood"},
         "\nThe filter d/goood matches none of the cases\n"},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.what);
        std::vector<std::string> words{"run", row.file, "--engine", "cpu"};
        words.insert(words.end(), row.more.begin(), row.more.end());
        const ProgramResult lenient = dmlconform(words);
        EXPECT_TRUE(ends_with_code(lenient, 0));
        EXPECT_TRUE(prints(lenient, row.said));
        words.emplace_back("--strict");
        const ProgramResult strict = dmlconform(words);
        EXPECT_TRUE(ends_with_code(strict, 1));
        EXPECT_TRUE(prints(strict, row.said));
        // The same after merging shards, which are strict if one of them was.
        words.insert(words.end(), {"--shard", "1/1", "--json", folder_.at("shard.json")});
        EXPECT_TRUE(ends_with_code(dmlconform(words), 1));
        EXPECT_EQ(json::parse(content_of(folder_.at("shard.json"))).at("exitCode"), 1);
        EXPECT_TRUE(ends_with_code(dmlconform({"merge", folder_.at("shard.json")}), 1));
        std::erase(words, "--strict");
        EXPECT_TRUE(ends_with_code(dmlconform(words), 0));
        const ProgramResult merged = dmlconform({"merge", folder_.at("shard.json")});
        EXPECT_TRUE(ends_with_code(merged, 0));
        EXPECT_TRUE(prints(merged, row.said));
        EXPECT_TRUE(ends_with_code(dmlconform({"merge", folder_.at("shard.json"), "--strict"}), 1));
    }
}

TEST_F(Gate, StrictIsContentWithWhatIsVerifiedOrKnown) {
    const std::string file =
        folder_.write("a.json", file_of({slice_case("good", right_values), std::string(legal_identity)}));
    const auto strict = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words{"run", file, "--engine", "cpu", "--strict"};
        words.insert(words.end(), more.begin(), more.end());
        return dmlconform(words);
    };
    EXPECT_TRUE(ends_with_code(strict({"--filter", "*good"}), 0));
    const std::string known =
        folder_.write("known.expect", R"({ "format": "dmlconform-expectations", "formatVersion": 1,
        "expectations": [ { "cases": ["a/identity"], "status": "skip", "reason": "not there yet" } ] })");
    EXPECT_TRUE(ends_with_code(strict({"--expect", known}), 0)) << "a file of expectations says it";
    // Without expected values and a reference, nothing can be verified.
    const std::string unspecified = folder_.write(
        "u.json", file_of({slice_case("good", right_values), slice_case("u", R"(, "tags": ["unspecified"])")}));
    EXPECT_TRUE(ends_with_code(dmlconform({"run", unspecified, "--engine", "cpu", "--strict"}), 0));
    if (usable_engines().size() > 1) {
        const std::string half = folder_.write("h.json", file_of({std::string(half_expected)}));
        EXPECT_TRUE(ends_with_code(dmlconform({"run", half, "--engine", "cpu", "--engine", "d3d12", "--strict"}), 0))
            << "the other engine is compared with the reference";
    }
}

}  // namespace
}  // namespace dmlconform::tests::gate_test
