// Tests of engine/cases/case_file: whole files, folders, and unreadable input.
#include "engine/cases/case_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "tests/cases/reading.h"
#include "tests/temporary_folder.h"

#ifndef _WIN32
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace dmlconform::tests::case_file_test {
namespace {

namespace fs = std::filesystem;

using cases::load_suite;
using cases::read_case_file;
using cases::Suite;

/// The shortest valid case: one that must be rejected needs no data.
std::string case_text(std::string_view name) {
    return fmt::format(R"({{ "name": "{}", "operator": "SLICE1", "expectError": "E_INVALIDARG",
      "desc": {{ "InputTensor": null, "OutputTensor": null, "InputWindowOffsets": [0], "InputWindowSizes": [1],
                 "InputWindowStrides": [1] }} }})",
                       name);
}

std::string file_text(std::initializer_list<std::string_view> names) {
    std::string text;
    for (const std::string_view name : names) {
        text += (text.empty() ? "" : ",\n") + case_text(name);
    }
    return "{ \"cases\": [\n" + text + "\n] }\n";
}

std::vector<std::string> ids_of(const Suite& suite) {
    std::vector<std::string> ids;
    for (const auto& entry : suite.cases) {
        ids.push_back(entry.id);
    }
    return ids;
}

Suite load(std::vector<std::string> paths) {
    return load_suite(paths);
}

using Ids = std::vector<std::string>;

TEST(CaseFile, IdsBeginWithTheStem) {
    for (const auto& [file, stem] : {std::pair("a.json", "a"), std::pair("x/y/topk-1.json", "topk-1"),
                                     std::pair("a.b.json", "a.b"), std::pair("noextension", "noextension")}) {
        const Suite suite = read_case_file(file, file_text({"one", "two/three"}));
        ASSERT_TRUE(suite.problems.empty()) << all_text(suite.problems);
        EXPECT_EQ(ids_of(suite), (Ids{fmt::format("{}/one", stem), fmt::format("{}/two/three", stem)}));
        EXPECT_EQ(suite.cases[0].file, file);
    }
}

TEST(CaseFile, SchemaAndDescriptionAreAllowed) {
    const Suite suite = read_case_file(
        "a.json", R"({"$schema": "x", "description": "y", "defaults": {}, "cases": [)" + case_text("a") + "]}");
    EXPECT_TRUE(suite.problems.empty()) << all_text(suite.problems);
    EXPECT_EQ(suite.cases.size(), 1u);
}

TEST(CaseFile, Refused) {
    const std::pair<std::string, std::vector<std::string>> rows[] = {
        {"", {"1:1 : not valid JSON"}},
        {"{\n\"cases\": [}", {"2:11 : not valid JSON"}},
        {"[]", {"1:1 : a case file must be an object; this is an array"}},
        {"null", {"1:1 : a case file must be an object; this is null"}},
        {"{}", {R"(1:1 : a case file needs "cases": an array of at least one case)"}},
        {R"({"cases": []})", {R"(1:11 /cases: a case file needs "cases": an array of at least one case)"}},
        {R"({"cases": {}})", {R"(1:11 /cases: a case file needs "cases")"}},
        {R"({"defaults": 5, "cases": [{}]})", {R"(1:14 /defaults: "defaults" must be an object; this is a number)"}},
        {R"({"case": [], "cases": [)" + case_text("a") + "]}",
         {R"(1:2 /case: unknown key "case" in a case file [did you mean `cases`?])"}},
        {R"({"defaults": {"nmae": 1}, "cases": [5]})",
         {R"(1:15 /defaults/nmae: unknown key "nmae" in the defaults [did you mean `name`?])",
          "1:37 /cases/0: a case must be an object; this is a number"}},
        {R"({"description": 5, "cases": [)" + case_text("a") + "]}", {R"(1:17 /description: )"}},
        {R"({"cases": [1], "cases": [2]})", {R"(1:16 : the key "cases" occurs twice in one object [remove one)"}},
    };
    for (const auto& [text, problems] : rows) {
        const Suite suite = read_case_file("a.json", text);
        EXPECT_TRUE(begin_with(suite.problems, problems)) << text;
    }
}

TEST(CaseFile, ManyBrokenCasesAreNoDanger) {
    // After the hundredth problem only the count grows. It must keep growing, because readers compare counts to notice
    // errors.
    std::string text = R"({"cases": [)";
    for (int i = 0; i < 300; ++i) {
        text += fmt::format(R"({}{{"name": "{}", "operator": "TOP_K1", "inputs": {{"InputTensor": [[1, "x"], 3]}},
            "desc": {{"InputTensor": {{"DataType": "FLOAT", "Sizes": [-2], "Strides": [1,2]}}, "Axis": {{}}, "K": "x",
                      "OutputValueTensor": 5, "OutputIndexTensor": {{}}}}, "tolerance": 5}})",
                            i == 0 ? "" : ",", i);
    }
    const Suite suite = read_case_file("a.json", text + "]}");
    EXPECT_EQ(suite.problems.size(), cases::most_problems + 1);
    EXPECT_GT(suite.problems.back().more, 1000u);
    EXPECT_TRUE(suite.cases.empty());
}

TEST(CaseFile, ManyCasesTakeNoLongerEachThanAFew) {
    // 20 000 cases in some megabytes take a minute if the time is quadratic, and a second if it is linear.
    std::string text = "{ \"cases\": [\n";
    for (int i = 0; i < 20'000; ++i) {
        text += (i == 0 ? "" : ",\n") + case_text(std::to_string(i));
    }
    const auto start = std::chrono::steady_clock::now();
    const Suite suite = read_case_file("a.json", text + "] }");
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
    ASSERT_EQ(suite.cases.size(), 20'000u);
    EXPECT_EQ(suite.cases.back().line, 2u + 3 * 19'999u);
}

TEST(CaseFile, NamesAreUniqueInAFile) {
    const Suite suite = read_case_file("a.json", file_text({"one", "two", "one"}));
    ASSERT_EQ(suite.problems.size(), 1u) << all_text(suite.problems);
    EXPECT_TRUE(
        contains(short_text(suite.problems[0]), "/cases/2/name: another case is called \"a/one\" too, in line 2"));
    EXPECT_EQ(suite.problems[0].line, 8u);
}

TEST(CaseFile, ANameInTheDefaultsIsNotUnique) {
    const Suite suite = read_case_file("a.json", R"({"defaults": )" + case_text("x") + R"(, "cases": [{}, {}]})");
    ASSERT_EQ(suite.problems.size(), 1u) << all_text(suite.problems);
    EXPECT_EQ(suite.problems[0].pointer, "/defaults/name");
    EXPECT_TRUE(contains(suite.problems[0].message, "another case is called \"a/x\" too"));
}

std::string graph_case(const std::string& name, const std::string& node) {
    return R"({ "name": ")" + name + R"(", "graph": { "nodes": [ { "name": ")" + node + R"(",
        "operator": "ACTIVATION_RELU",
        "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [2] },
                  "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2] } },
        "inputs": { "InputTensor": "x" }, "outputs": { "OutputTensor": "y" } } ], "outputs": ["y"] },
        "inputs": { "x": [1, -1] } })";
}

TEST(LoadSuite, IdsOfNodesAreTakenOnce) {
    const TemporaryFolder folder;
    const auto problems_of = [&](const std::string& first, const std::string& second) {
        const std::string file = folder.write("a.json", R"({"cases": [)" + first + ",\n" + second + "]}");
        const Suite suite = load({file});
        return all_text(suite.problems);
    };
    EXPECT_TRUE(contains(problems_of(graph_case("net", "relu"), case_text("net/relu")),
                         "a node of this graph has the id \"a/net/relu\", which is taken by"));
    EXPECT_TRUE(contains(problems_of(graph_case("net", "b/c"), graph_case("net/b", "c")),
                         "a node of this graph has the id \"a/net/b/c\""));
    EXPECT_EQ(problems_of(graph_case("net", "relu"), case_text("relu")), "");
    EXPECT_EQ(problems_of(graph_case("net", "relu"), graph_case("other", "relu")), "");
}

TEST(LoadSuite, NamesModelsInAFolderWithoutCases) {
    const TemporaryFolder folder;
    folder.write("zoo/net.onnx", "a model");
    const Suite suite = load({folder.at("zoo")});
    ASSERT_EQ(suite.problems.size(), 1U);
    EXPECT_TRUE(contains(suite.problems[0].message, "there is no case file"));
    EXPECT_TRUE(contains(suite.problems[0].hint, "zoo/net.onnx"));
}

TEST(LoadSuite, FilesAndFoldersInOrder) {
    const TemporaryFolder folder;
    const std::string b = folder.write("b.json", file_text({"2", "1"}));
    folder.write("a/z.json", file_text({"x"}));
    folder.write("a/c/y.json", file_text({"x"}));
    folder.write("a/notes.txt", "not JSON");
    folder.write("a/backup.json~", "not JSON");
    const Suite all = load({folder.path().string()});
    EXPECT_TRUE(all.problems.empty()) << all_text(all.problems);
    EXPECT_EQ(ids_of(all), (Ids{"y/x", "z/x", "b/2", "b/1"}));
    EXPECT_EQ(all.cases[2].file, b);
    EXPECT_EQ(ids_of(load({b, folder.at("a")})), (Ids{"b/2", "b/1", "y/x", "z/x"})) << "in the order of the arguments";
    EXPECT_EQ(ids_of(load({folder.at("a/z.json")})), (Ids{"z/x"}));
}

TEST(LoadSuite, AFileNeedNotBeCalledJsonWhenItIsNamed) {
    const TemporaryFolder folder;
    EXPECT_EQ(ids_of(load({folder.write("cases.txt", file_text({"x"}))})), (Ids{"cases/x"}));
}

TEST(LoadSuite, TheSameFileTwiceIsOneFile) {
    const TemporaryFolder folder;
    const std::string file = folder.write("sub/a.json", file_text({"x"}));
    fs::create_symlink("a.json", folder.at("sub/link.json"));
    const std::vector<std::string> roundabout{folder.at("sub/../sub/./a.json"), file, folder.at("sub/link.json"),
                                              folder.at("sub"), folder.path().string()};
    const Suite suite = load_suite(roundabout);
    EXPECT_TRUE(suite.problems.empty()) << all_text(suite.problems);
    EXPECT_EQ(ids_of(suite), (Ids{"a/x"}));
}

TEST(LoadSuite, IdsAreUniqueAcrossFiles) {
    const TemporaryFolder folder;
    const std::string first = folder.write("1/a.json", file_text({"x", "y"}));
    const std::string second = folder.write("2/a.json", "\n" + file_text({"z", "y"}));
    const Suite suite = load({folder.path().string()});
    ASSERT_EQ(suite.problems.size(), 1u) << all_text(suite.problems);
    const auto& problem = suite.problems[0];
    EXPECT_EQ(problem.file, second);
    EXPECT_EQ(problem.line, 6u);
    EXPECT_EQ(problem.message, fmt::format("the case id \"a/y\" is taken by {}:5", first));
    EXPECT_TRUE(contains(problem.hint, "rename"));
}

TEST(LoadSuite, ProblemsOfAllFilesAtOnce) {
    const TemporaryFolder folder;
    folder.write("a.json", "{");
    folder.write("b.json", file_text({"x"}));
    folder.write("c.json", "[]");
    const Suite suite = load({folder.at("nowhere"), folder.path().string(), folder.at("nothing.json")});
    ASSERT_EQ(suite.problems.size(), 4u) << all_text(suite.problems);
    EXPECT_EQ(suite.problems[0].message, "there is no such file or folder");
    EXPECT_EQ(suite.problems[0].file, folder.at("nowhere"));
    EXPECT_EQ(suite.problems[0].line, 0u);
    EXPECT_EQ(suite.problems[1].file, folder.at("a.json"));
    EXPECT_EQ(suite.problems[2].file, folder.at("c.json"));
    EXPECT_EQ(suite.problems[3].file, folder.at("nothing.json"));
}

TEST(LoadSuite, EmptyFolders) {
    const TemporaryFolder folder;
    fs::create_directories(folder.at("sub/deeper.json"));  // a folder, in spite of its name
    folder.write("sub/readme.txt", "");
    const Suite suite = load({folder.path().string()});
    ASSERT_EQ(suite.problems.size(), 1u) << all_text(suite.problems);
    EXPECT_EQ(suite.problems[0].message, "there is no case file (*.json) in this folder");
}

TEST(LoadSuite, AnEmptyPath) {
    const Suite suite = load({""});
    ASSERT_EQ(suite.problems.size(), 1u);
    EXPECT_EQ(suite.problems[0].message, "there is no such file or folder");
}

TEST(LoadSuite, FilesOverTheLimitAreNotRead) {
    const TemporaryFolder folder;
    const std::string file = folder.write("huge.json", "{");
    fs::resize_file(file, (std::uintmax_t{64} << 20) + 1);  // a sparse file, which needs no disk space
    const Suite suite = load({file});
    ASSERT_EQ(suite.problems.size(), 1u);
    EXPECT_EQ(suite.problems[0].message, "the file has 67108865 bytes; at most 67108864 are read");
}

#ifndef _WIN32
TEST(LoadSuite, OtherThingsThanFiles) {
    const TemporaryFolder folder;
    const std::string pipe = folder.at("pipe.json");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    for (const std::string& path : {pipe, std::string("/dev/null")}) {
        const Suite suite = load({path});
        ASSERT_EQ(suite.problems.size(), 1u);
        EXPECT_EQ(suite.problems[0].message, "this is neither a file nor a folder");
    }
}

TEST(LoadSuite, LinksThatLeadNowhere) {
    const TemporaryFolder folder;
    folder.write("good.json", file_text({"x"}));
    fs::create_symlink("circle.json", folder.at("circle.json"));
    fs::create_symlink("gone.json", folder.at("dangling.json"));
    ASSERT_EQ(mkfifo(folder.at("pipe.json").c_str(), 0600), 0);
    const Suite suite = load({folder.path().string()});
    // None of them is skipped silently, and none ends the program.
    EXPECT_EQ(suite.problems.size(), 3u) << all_text(suite.problems);
    EXPECT_EQ(ids_of(suite), (Ids{"good/x"}));
}

/// Loads the path as an unprivileged user and prints the problems.
void load_without_rights(const std::string& path) {
    constexpr uid_t nobody = 65534;
    if (geteuid() == 0 && setuid(nobody) != 0) {
        std::exit(1);
    }
    fmt::print(stderr, "{}\n", all_text(load({path}).problems));
    std::exit(0);
}

TEST(LoadSuite, WhatMayNotBeRead) {
    testing::GTEST_FLAG(death_test_style) = "fast";
    const TemporaryFolder folder;
    fs::permissions(folder.path(), fs::perms(0755));
    const std::string file = folder.write("secret.json", file_text({"x"}));
    fs::permissions(file, fs::perms::none);
    folder.write("closed/a.json", file_text({"x"}));
    fs::permissions(folder.at("closed"), fs::perms::none);
    EXPECT_EXIT(load_without_rights(file), testing::ExitedWithCode(0), "the file cannot be read: Permission denied");
    EXPECT_EXIT(load_without_rights(folder.at("closed")), testing::ExitedWithCode(0),
                "the folder cannot be read: Permission denied");
    EXPECT_EXIT(load_without_rights(folder.at("closed/a.json")), testing::ExitedWithCode(0), "Permission denied");
    EXPECT_EXIT(load_without_rights(folder.path().string()), testing::ExitedWithCode(0), "Permission denied");
    fs::permissions(folder.at("closed"), fs::perms(0755));
}
#endif

}  // namespace
}  // namespace dmlconform::tests::case_file_test
