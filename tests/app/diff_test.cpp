// dmlconform diff: what changed between two results.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/case_texts.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::diff_test {
namespace {

using nlohmann::ordered_json;

class Diff : public testing::Test {
protected:
    Diff() {
        const std::string file =
            folder_.write("a.json", file_of({slice_case("one", right_values), slice_case("two", right_values)}));
        EXPECT_EQ(dmlconform({"run", file, "--engine", "cpu", "--json", folder_.at("run.json")}).exit_code, 0);
        document_ = ordered_json::parse(content_of(folder_.at("run.json")));
    }

    /// A result in which the first case has this status; with an empty one it is missing.
    std::string result_with(const std::string& name, const std::string& status, bool gated = true) const {
        ordered_json changed = document_;
        if (status.empty()) {
            changed["results"].erase(0);
        } else {
            changed["results"][0]["status"] = status;
            changed["results"][0]["gated"] = gated;
        }
        return folder_.write(name, changed.dump());
    }

    TemporaryFolder folder_;
    ordered_json document_;
};

TEST_F(Diff, ByWhatBecameOfEachCase) {
    const struct {
        const char* before;
        const char* now;
        const char* change;
        int exit_code;
    } rows[] = {
        {"pass", "fail", "newly failing", 1},
        {"reference", "crash", "newly failing", 1},
        {"xfail", "xpass", "newly failing", 1},
        {"", "error", "newly failing", 1},
        {"pass", "skip", "no longer verified", 1},
        {"pass", "reference", "no longer verified", 1},
        {"pass", "", "missing", 1},
        {"fail", "pass", "fixed", 0},
        {"timeout", "skip", "fixed", 0},
        {"", "pass", "new", 0},
        {"fail", "crash", "other status", 0},
        {"skip", "pass", "other status", 0},
        {"pass", "xfail", "other status", 0},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(std::string(row.before) + " to " + row.now);
        const std::string base = result_with("base.json", row.before);
        const std::string now = result_with("now.json", row.now);
        const ProgramResult result = dmlconform({"diff", base, now});
        EXPECT_TRUE(ends_with_code(result, row.exit_code));
        EXPECT_TRUE(prints(result, std::string(row.change) + " a/one on cpu: "));
        EXPECT_TRUE(prints(result, std::string("1 ") + row.change + ", 1 as before"));
        EXPECT_TRUE(prints(result, "SLICE1    cpu"));
        const ProgramResult script = dmlconform({"diff", base, now, "--json", "-"});
        EXPECT_TRUE(ends_with_code(script, row.exit_code));
        const auto changes = ordered_json::parse(script.output);
        EXPECT_EQ(changes["counts"][row.change], 1);
        ASSERT_EQ(changes["changes"].size(), 1u);
        EXPECT_EQ(changes["changes"][0]["change"], row.change);
    }
}

TEST_F(Diff, WhatIsOffTheGateDecidesNothing) {
    const ProgramResult result =
        dmlconform({"diff", result_with("base.json", "pass", false), result_with("now.json", "fail", false)});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, "newly failing a/one on cpu: pass before, fail now (off the gate)\n"));
}

TEST_F(Diff, MissingResultsMayBeAllowed) {
    const std::string base = result_with("base.json", "pass");
    const std::string now = result_with("now.json", "");
    EXPECT_TRUE(prints(dmlconform({"diff", base, now}), "--allow-missing accepts them"));
    EXPECT_TRUE(ends_with_code(dmlconform({"diff", base, now, "--allow-missing"}), 0));
}

TEST_F(Diff, EqualResults) {
    const std::string base = result_with("base.json", "fail");
    const ProgramResult result = dmlconform({"diff", base, base});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_EQ(result.output, "2 as before, 1 of them failing still\n");
}

TEST_F(Diff, OtherDevicesAreNamed) {
    document_["engines"][0]["adapter"] = "another processor";
    const std::string now = result_with("now.json", "pass");
    const ProgramResult result = dmlconform({"diff", folder_.at("run.json"), now});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(result.output.starts_with("other device: cpu: another processor, was ")) << result.output;
}

TEST_F(Diff, WhatIsNoResultIsAnInputError) {
    const std::string good = result_with("good.json", "pass");
    ordered_json twice = document_;
    twice["results"].push_back(twice["results"][0]);
    const struct {
        std::vector<std::string> words;
        const char* message;
    } rows[] = {
        {{good, folder_.at("none.json")}, "none.json: "},
        {{folder_.write("case.json", good_file()), good}, "case.json: "},
        {{good, folder_.write("twice.json", twice.dump())}, "there are two results of a/one on one engine"},
        {{good}, "NEW is required"},
        {{good, good, "--json", folder_.at("nowhere/x.json")}, "nowhere/x.json"},
    };
    for (const auto& row : rows) {
        std::vector<std::string> words{"diff"};
        words.insert(words.end(), row.words.begin(), row.words.end());
        const ProgramResult result = dmlconform(words);
        EXPECT_TRUE(ends_with_code(result, 2));
        EXPECT_TRUE(complains(result, row.message));
    }
}

}  // namespace
}  // namespace dmlconform::tests::diff_test
