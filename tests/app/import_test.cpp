// Imports and runs DxDispatch models as people write them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/case_texts.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::import_test {
namespace {

struct Model {
    const char* name;
    const char* resources;
    const char* dispatchable;
    const char* bindings;
    /// A graph of one node: a run has a result for the node and one for the graph.
    bool is_graph = false;
};

/// One model for each feature of the format.
constexpr Model models[] = {
    {"add", R"("A": { "initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3] },
               "B": { "initialValuesDataType": "FLOAT32", "initialValues": { "valueCount": 3, "valueStart": 5, "valueDelta": -2 } },
               "Out": { "initialValuesDataType": "FLOAT32", "initialValues": { "valueCount": 3, "value": 0 } })",
     R"("type": "DML_OPERATOR_ELEMENT_WISE_ADD", "desc": {
        "ATensor": { "DataType": "FLOAT32", "Sizes": [3] }, "BTensor": { "DataType": "FLOAT32", "Sizes": [3] },
        "OutputTensor": { "DataType": "FLOAT32", "Sizes": [3] } })",
     R"("ATensor": "A", "BTensor": "B", "OutputTensor": "Out")"},
    {"fused-activation", R"("A": { "initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3] },
               "B": { "initialValuesDataType": "FLOAT32", "initialValues": [5, 8, -5] })",
     R"("type": "DML_OPERATOR_ELEMENT_WISE_ADD1", "desc": {
        "ATensor": { "DataType": "FLOAT32", "Sizes": [3] }, "BTensor": { "DataType": "FLOAT32", "Sizes": [3] },
        "OutputTensor": { "DataType": "FLOAT32", "Sizes": [3] },
        "FusedActivation": { "Type": "ACTIVATION_ELU", "Alpha": 0.5 } })",
     R"("ATensor": "A", "BTensor": "B", "OutputTensor": "B")"},
    {"data-files", R"("A": { "initialValues": { "sourcePath": "a.npy" } },
               "B": { "initialValuesDataType": "FLOAT32", "initialValues": { "sourcePath": "b.dat" } })",
     R"("type": "ELEMENT_WISE_MULTIPLY", "desc": {
        "ATensor": { "DataType": "FLOAT32", "Sizes": [2] }, "BTensor": { "DataType": "FLOAT32", "Sizes": [2] },
        "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2] } })",
     R"("ATensor": "A", "BTensor": "B", "OutputTensor": "A")"},
    {"in-place", R"("A": { "initialValuesDataType": "FLOAT32", "initialValues": [-4, -3, -2, -1, 0, 1, 2, 3, 4] })",
     R"("type": "DML_OPERATOR_ELEMENT_WISE_CLIP", "desc": {
        "InputTensor": { "DataType": "FLOAT32", "Sizes": [9] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [9] },
        "Min": -2.5, "Max": 2.5 })",
     R"("InputTensor": "A", "OutputTensor": "A")"},
    {"scale-and-bias", R"("A": { "initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3] })",
     R"("type": "DML_OPERATOR_ELEMENT_WISE_IDENTITY", "desc": {
        "InputTensor": { "DataType": "FLOAT32", "Sizes": [3] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [3] },
        "ScaleBias": { "Scale": 2, "Bias": 10 } })",
     R"("InputTensor": "A", "OutputTensor": "A")"},
    {"scalar-union-of-float16",
     R"("in": { "initialValuesDataType": "FLOAT16", "initialValues": { "valueCount": 5, "valueStart": 1, "valueDelta": 1 } })",
     R"("type": "DML_OPERATOR_ELEMENT_WISE_CLIP1", "desc": {
        "InputTensor": { "DataType": "FLOAT16", "Sizes": [5] }, "OutputTensor": { "DataType": "FLOAT16", "Sizes": [5] },
        "MinMaxDataType": "FLOAT16", "Min": 2, "Max": 4 })",
     R"("InputTensor": "in", "OutputTensor": "in")"},
    {"owned-by-dml", R"("A": { "initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3] },
               "B": { "initialValuesDataType": "FLOAT32", "initialValues": [5, 8, -5] })",
     R"("type": "DML_OPERATOR_ELEMENT_WISE_SUBTRACT", "dmlCompileType": "DmlCompileGraph", "desc": {
        "ATensor": { "DataType": "FLOAT32", "Sizes": [3], "Flags": "OWNED_BY_DML" },
        "BTensor": { "DataType": "FLOAT32", "Sizes": [3] },
        "OutputTensor": { "DataType": "FLOAT32", "Sizes": [3] } },
        "bindings": { "ATensor": "A" })",
     R"("BTensor": "B", "OutputTensor": "B")", true},
};

/// [3, -4] as a NumPy file.
std::string npy_file() {
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
    header.resize(117, ' ');
    return std::string("\x93NUMPY\x01\0\x76\0", 10) + header + "\n" + std::string("\0\0\x40\x40\0\0\x80\xc0", 8);
}

TEST(Export, TheNodesOfAGraphAreADxDispatchModel) {
    const TemporaryFolder folder;
    const std::string model = folder.at("model.json");
    const ProgramResult exported =
        dmlconform({"export", "dxdispatch", cases_folder() + "/graphs/chains.json", "-o", model});
    ASSERT_EQ(exported.exit_code, 0) << exported.all();
    const std::string cases = folder.at("cases.json");
    const ProgramResult imported = dmlconform({"import", "dxdispatch", model, "-o", cases});
    ASSERT_EQ(imported.exit_code, 0) << imported.all();
    EXPECT_EQ(imported.errors, "") << "every dispatchable is an operator";
    EXPECT_EQ(content_of(cases).find("GRAPH"), std::string::npos);
}

TEST(Import, DxDispatchModelsRunOnEveryEngine) {
    const TemporaryFolder folder;
    folder.write("a.npy", npy_file());
    folder.write("b.dat", std::string("\0\0\x80\x3f\0\0\0\x40", 8));
    for (const Model& model : models) {
        SCOPED_TRACE(model.name);
        const std::string file =
            folder.write(fmt::format("{}.json", model.name),
                         fmt::format(R"({{ "resources": {{ {} }}, "dispatchables": {{ "it": {{ {} }} }},
"commands": [ {{ "type": "dispatch", "dispatchable": "it", "bindings": {{ {} }} }}, {{ "type": "print", "resource": "A" }} ] }})",
                                     model.resources, model.dispatchable, model.bindings));
        const std::string cases = folder.at(fmt::format("cases/{}.json", model.name));
        folder.write("cases/.keep", "");
        const ProgramResult imported = dmlconform({"import", "dxdispatch", file, "-o", cases});
        ASSERT_EQ(imported.exit_code, 0) << imported.all();
        EXPECT_EQ(imported.errors, "");
        std::vector<std::string> words{"run", cases, "--json", folder.at("result.json"), "--quiet"};
        for (const std::string& engine : usable_engines()) {
            words.insert(words.end(), {"--engine", engine});
        }
        const ProgramResult run = dmlconform(words);
        if (usable_engines().size() == 1) {  // nothing to compare with the reference
            EXPECT_EQ(run.exit_code, 1) << run.all();
            continue;
        }
        EXPECT_EQ(run.exit_code, 0) << run.all();
        // The imported cases have no expected values, so the reference passes by definition; other tests check its
        // answers.
        const auto results = nlohmann::json::parse(content_of(folder.at("result.json")))["results"];
        std::size_t graphs = 0;
        for (const auto& result : results) {
            graphs += result["operator"] == "DML_OPERATOR_GRAPH" ? 1U : 0U;
        }
        EXPECT_EQ(graphs, model.is_graph ? usable_engines().size() : 0);
        EXPECT_EQ(results.size() - graphs, usable_engines().size());
        for (const auto& result : results) {
            EXPECT_EQ(result["status"], result["engine"] == "cpu" ? "reference" : "pass") << result.dump();
        }
    }
}

TEST(Import, OutputsDoNotReplaceWhatTheyAreMadeFrom) {
    const TemporaryFolder folder;
    ProgramOptions options;
    options.folder = folder.path().string();
    folder.write("cases.json", file_of({slice_case("a", right_values)}));
    folder.write("a.npy", npy_file());
    folder.write("dx.json", R"({ "resources": { "A": { "initialValues": { "sourcePath": "a.npy" } } },
"dispatchables": { "it": { "type": "ELEMENT_WISE_IDENTITY", "desc": {
    "InputTensor": { "DataType": "FLOAT32", "Sizes": [2] },
    "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2] } } } },
"commands": [ { "type": "dispatch", "dispatchable": "it",
    "bindings": { "InputTensor": "A", "OutputTensor": "A" } } ] })");
    ASSERT_EQ(dmlconform({"export", "onnx", "cases.json", "-o", "tests"}, options).exit_code, 0);
    std::string model;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.at("tests"))) {
        model = entry.path().filename() == "model.onnx" ? entry.path().string() : model;
    }
    ASSERT_FALSE(model.empty());
    const std::string data = (std::filesystem::path(model).parent_path() / "test_data_set_0/output_0.pb").string();
    std::filesystem::create_symlink(model, folder.at("link.json"));
    const struct {
        std::vector<std::string> words;
        std::string replaced;
    } rows[] = {
        {{"export", "dxdispatch", "cases.json", "-o", "./cases.json"}, folder.at("cases.json")},
        {{"import", "dxdispatch", "dx.json", "-o", "dx.json"}, folder.at("dx.json")},
        {{"import", "dxdispatch", "dx.json", "-o", "a.npy"}, folder.at("a.npy")},
        {{"import", "onnx", model, "-o", model}, model},
        {{"import", "onnx", model, "-o", "link.json"}, model},
        {{"import", "onnx-test", "tests", "-o", model}, model},
        {{"import", "onnx-test", "tests", "-o", data}, data},
    };
    for (const auto& row : rows) {
        const std::string before = content_of(row.replaced);
        const ProgramResult result = dmlconform(row.words, options);
        EXPECT_EQ(result.exit_code, 2) << result.all();
        EXPECT_NE(result.errors.find("which this command needs"), std::string::npos) << result.all();
        EXPECT_EQ(content_of(row.replaced), before) << row.replaced;
    }
    EXPECT_EQ(dmlconform({"import", "onnx-test", "tests", "-o", "tests/new.json"}, options).exit_code, 0);
    EXPECT_EQ(dmlconform({"import", "onnx-test", "tests", "-o", "tests/new.json"}, options).exit_code, 0) << "again";
}

TEST(Import, InputErrorsSayWhereWhyAndWhatToDo) {
    const TemporaryFolder folder;
    const std::string file = folder.write("m.json", R"({ "resources": {}, "dispatchables": {
  "shader": { "type": "hlsl", "sourcePath": "x.hlsl" } },
"commands": [ { "type": "dispatch", "dispatchable": "shader", "bindings": {} } ] })");
    const ProgramResult result = dmlconform({"import", "dxdispatch", file, "-o", folder.at("cases.json")});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.errors.find(file + ":2:13: shader: it is a shader in HLSL (operators, ONNX models and serialised "
                                        "graphs become cases)"),
              std::string::npos)
        << result.errors;
    EXPECT_FALSE(std::filesystem::exists(folder.at("cases.json")));
}

}  // namespace
}  // namespace dmlconform::tests::import_test
