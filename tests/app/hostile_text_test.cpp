// Checks that names and messages with commands for a terminal or a CI job are defused, whatever their source.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/core/utf8.h"
#include "tests/app/case_texts.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::hostile_text_test {
namespace {

/// Clears a terminal in several ways, reverses the direction of text, and starts lines with CI commands.
constexpr std::string_view evil = "\x1b[2Jx\n::error::pwned\r::add-mask::e\u009b2J\u202etxt\u2028##[error]\x07\x7f";

std::string evil_json() {
    return nlohmann::json(evil).dump();
}

/// Returns a command in the text that a terminal or GitHub's runner would obey, or an empty string. The lines that
/// --github itself writes are allowed.
std::string command_in(std::string_view text) {
    for (std::string_view rest = text; !rest.empty();) {
        std::uint32_t character = 0;
        const std::size_t length = core::decode_character(rest, character);
        if (length == 0) {
            return "a byte that is not UTF-8";
        }
        if ((character < 0x20 && character != '\n') || (character >= 0x7f && character < 0xa0) || character == 0x2028 ||
            character == 0x202e) {
            return fmt::format("character {:x}", character);
        }
        rest.remove_prefix(length);
    }
    if (text.find("##[") != std::string_view::npos) {
        return "##[";
    }
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view line = text.substr(begin, end - begin);
        const std::string_view content = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
        if (content.starts_with("::") && !content.starts_with("::error file=") &&
            !content.starts_with("::error title=dmlconform")) {
            return std::string(line);
        }
        begin = end + 1;
    }
    return "";
}

class HostileText : public testing::Test {
protected:
    /// Runs the program, which must print something, and no command.
    ProgramResult check(const std::vector<std::string>& words, std::string_view shown = R"(\x1b[2Jx\n::error::pwned)") {
        ProgramResult result = dmlconform(words);
        const std::string all = result.output + "\n" + result.errors;
        EXPECT_EQ(command_in(result.output), "") << fmt::format("{}", fmt::join(words, " ")) << result.all();
        EXPECT_EQ(command_in(result.errors), "") << fmt::format("{}", fmt::join(words, " ")) << result.all();
        EXPECT_NE(all.find(shown), std::string::npos) << fmt::format("{}", fmt::join(words, " ")) << result.all();
        EXPECT_GE(result.exit_code, 0) << result.all();
        return result;
    }

    TemporaryFolder folder_;
};

TEST_F(HostileText, NamesOfCases) {
    const std::string named = fmt::format(R"({{ "name": {}, )", evil_json()) +
                              slice_case("", wrong_values).substr(std::string(R"({ "name": "", )").size());
    const std::string file = folder_.write("x.json", file_of({named}));
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"run", file}, {"list", file}, {"validate", file}, {"bench", file}, {"coverage", file}}) {
        check(words);
    }
}

TEST_F(HostileText, ResultsOfOthers) {
    const std::string part = folder_.at("part.json");
    const std::string file = folder_.write("bad.json", bad_file());
    EXPECT_TRUE(ends_with_code(dmlconform({"run", file, "--engine", "cpu", "--shard", "1/1", "--json", part}), 1));
    auto document = nlohmann::ordered_json::parse(content_of(part));
    for (auto& engine : document["engines"]) {
        engine["name"] = evil;
        engine["adapter"] = evil;
    }
    for (auto& result : document["results"]) {
        result["id"] = std::string(evil) + result["id"].get<std::string>();
        result["engine"] = evil;
        result["operator"] = evil;
        result["file"] = evil;
        result["reason"] = evil;
    }
    folder_.write("part.json", document.dump());
    check({"merge", part, "--github"});
    check({"merge", part, "--no-color", "--summary", "/dev/stderr"}, "pwned");
    check({"report", part, "--markdown", "-"}, "pwned");
    const std::string history = folder_.at("h.sqlite");
    check({"history", "add", part, "--history", history}, "added");
    check({"history", "show", "--history", history}, "pwned");
}

TEST_F(HostileText, WhatIsWrongWithAFile) {
    const auto with = [&](std::string_view member) { return file_of({slice_case("x", fmt::format(", {}", member))}); };
    const std::pair<const char*, std::string> files[] = {
        {"unknown.json", with(evil_json() + ": 1")},
        {"level.json", with(fmt::format(R"("minFeatureLevel": {})", evil_json()))},
        {"sweep.json", with(fmt::format(R"("sweep": {{ "a": [{}] }})", evil_json()))},
        {"operator.json", fmt::format(R"({{ "cases": [ {{ "name": "x", "operator": {} }} ] }})", evil_json())},
        {"data.json",
         fmt::format(
             R"({{ "cases": [ {{ "name": "x", "operator": "SLICE1", "desc": {{}}, "inputs": {{ {}: [1] }} }} ] }})",
             evil_json())},
        {"text.json", "{ \x1b[2J\n::error::pwned"},
    };
    for (const auto& [name, text] : files) {
        const std::string file = folder_.write(name, text);
        for (const char* command : {"validate", "run"}) {
            check({command, file}, name);
        }
    }
    const std::string tagged = folder_.write("tag.json", with(fmt::format(R"("tags": [{}])", evil_json())));
    check({"list", tagged, "--tag", "x"});
}

TEST_F(HostileText, NamesOfFiles) {
    std::string name(evil);
    name = "::error::" + name.substr(0, name.find("\x7f"));
    const TemporaryFolder folder;
    const std::string file = folder.write(name + ".json", "{ nonsense");
    for (const std::string& path : {name + ".json", "./" + name + ".json", file, std::string("::error::none.json")}) {
        const ProgramResult result = dmlconform({"run", path}, {.folder = folder.path().string()});
        EXPECT_EQ(command_in(result.errors), "") << result.all();
        EXPECT_TRUE(ends_with_code(result, 2));
    }
    folder.write(name + ".json", bad_file());
    for (const char* command : {"list", "validate"}) {
        const ProgramResult result = dmlconform({command, "."}, {.folder = folder.path().string()});
        EXPECT_EQ(command_in(result.output), "") << result.all();
        EXPECT_TRUE(ends_with_code(result, 0));
    }
    const ProgramResult run =
        dmlconform({"run", ".", "--engine", "cpu", "--github", "-v"}, {.folder = folder.path().string()});
    EXPECT_EQ(command_in(run.output), "") << run.all();
    EXPECT_TRUE(ends_with_code(run, 1));
    EXPECT_TRUE(prints(run, "\n::error file="));
}

TEST_F(HostileText, DataFiles) {
    const std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (4,), }}\n", evil);
    const auto size = static_cast<char>(header.size());
    folder_.write("x.npy", std::string("\x93NUMPY\x01\x00", 8) + size + std::string(1, '\0') + header);
    const std::string file = folder_.write("x.json", R"({ "cases": [ { "name": "x", "operator": "SLICE1",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [4] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2] },
              "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [2] },
    "inputs": { "InputTensor": { "file": "x.npy" } } } ] })");
    check({"validate", file});
    check({"run", file, "--engine", "cpu"});
}

TEST_F(HostileText, WordsOfTheCommandLine) {
    const std::string text(evil);
    const std::string file = folder_.write("good.json", good_file());
    const std::vector<std::string> rows[] = {
        {text},
        {"run", text},
        {"run", file, "--" + text},
        {"run", file, "--filter", text},
        {"run", file, "--tag", text},
        {"run", file, "--engine", text},
        {"run", file, "--engine", "exec:" + text + "'"},
        {"run", file, "--json", "/none/" + text},
        {"run", file, "--shuffle=" + text},
        {"run", file, "--expect", text},
        {"describe", text},
        {"schema", text},
        {"fuzz", text},
        {"coverage", file, "--reasons", text},
        {"bench", file, "--" + text},
        {"compare", text, text},
        {"history", "add", text},
        {"report", text, "--markdown", "-"},
        {"merge", text},
        {"import", "dxdispatch", text},
        {"reduce", text},
        {"worker", "--engine", text},
    };
    for (const auto& words : rows) {
        EXPECT_NE(check(words, "dmlconform").exit_code, 0) << fmt::format("{}", fmt::join(words, " "));
    }
}

TEST_F(HostileText, Benchmarks) {
    nlohmann::json document{{"context", {{"dmlconform.machine", evil}}},
                            {"benchmarks",
                             {{{"name", evil},
                               {"run_name", evil},
                               {"run_type", "iteration"},
                               {"real_time", 1.0},
                               {"cpu_time", 1.0},
                               {"time_unit", "ns"},
                               {"iterations", 1},
                               {"repetitions", 1},
                               {"repetition_index", 0}}}}};
    const std::string base = folder_.write("base.json", document.dump());
    check({"compare", base, base}, "pwned");
    const std::string history = folder_.at("h.sqlite");
    check({"history", "add", base, "--history", history}, "added");
    check({"history", "show", "--history", history}, "pwned");
    document["context"]["dmlconform.machine"] = std::string(evil) + "2";
    check({"compare", base, folder_.write("new.json", document.dump())}, "pwned");
}

TEST_F(HostileText, Expectations) {
    const std::string file = folder_.write("good.json", good_file());
    const std::string expected = folder_.write(
        "known.json", fmt::format(R"({{ "format": "dmlconform-expectations", "formatVersion": 1, "expectations": [
            {{ "cases": {0}, "status": "fail", "reason": {0} }},
            {{ "cases": "*", "status": "fail", "reason": {0} }},
            {{ "cases": "*", "status": "fail", "reason": {0}, "expires": "2020-01-31" }} ] }})",
                                  evil_json()));
    check({"run", file, "--engine", "cpu", "--expect", expected});
}

TEST_F(HostileText, ABundle) {
    folder_.write("b/x.json", file_of({slice_case("x", wrong_values)}));
    folder_.write("b/environment.json",
                  nlohmann::json{{"dmlconformBundle", 1}, {"engine", {{"name", "x"}, {"command", evil}}}}.dump());
    EXPECT_TRUE(ends_with_code(check({"reduce", folder_.at("b")}), 2));
}

}  // namespace
}  // namespace dmlconform::tests::hostile_text_test
