// Tests of dmlconform diff, which shows what changed between two results.
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

    /// A result in which the first case has this status. If the status is empty, the case is missing.
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
        {"timeout", "skip", "no longer verified", 1},
        {"fail", "reference", "no longer verified", 1},
        {"xfail", "skip", "no longer verified", 1},
        {"fail", "xfail", "newly excused", 1},
        {"pass", "xfail", "newly excused", 1},
        {"pass", "flake", "newly excused", 1},
        {"xpass", "xfail", "newly excused", 1},
        {"flake", "xfail", "newly excused", 1},
        {"", "pass", "new", 0},
        {"fail", "crash", "other status", 0},
        {"skip", "pass", "other status", 0},
        {"skip", "xfail", "other status", 0},
        {"skip", "reference", "other status", 0},
        {"xfail", "pass", "fixed", 0},
        {"xfail", "flake", "other status", 0},
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

TEST_F(Diff, WhatLeavesTheGateIsARegression) {
    for (const char* status : {"pass", "fail"}) {
        const ProgramResult result =
            dmlconform({"diff", result_with("base.json", "pass"), result_with("now.json", status, false)});
        EXPECT_TRUE(ends_with_code(result, 1));
        EXPECT_TRUE(prints(result, std::string("left the gate a/one on cpu: pass before, ") + status + " now\n"));
        EXPECT_TRUE(prints(result, "1 left the gate, 1 as before\n"));
    }
}

TEST_F(Diff, WhatFailsAndJoinsTheGateFailsNewly) {
    const struct {
        const char* status;
        const char* change;
        int exit_code;
    } rows[] = {{"fail", "newly failing", 1}, {"pass", "other status", 0}};
    for (const auto& row : rows) {
        const ProgramResult result =
            dmlconform({"diff", result_with("base.json", row.status, false), result_with("now.json", row.status)});
        EXPECT_TRUE(ends_with_code(result, row.exit_code));
        EXPECT_TRUE(prints(result, std::string(row.change) + " a/one on cpu: "));
    }
}

TEST_F(Diff, AnOutputThatIsNoLongerComparedIsARegression) {
    const std::string base = result_with("base.json", "pass");
    const ordered_json before = document_;
    for (const bool powerless : {false, true}) {
        document_ = before;
        if (powerless) {
            document_["results"][0]["outputs"][0]["powerless"] = "all zeros would pass";
        } else {
            document_["results"][0]["uncompared"] = {"OutputTensor"};
        }
        const std::string now = result_with("now.json", "pass");
        const ProgramResult result = dmlconform({"diff", base, now});
        EXPECT_TRUE(ends_with_code(result, 1));
        EXPECT_TRUE(prints(result,
                           "no longer verified a/one on cpu: pass before, pass now: an output has no expected "
                           "values, or its tolerance accepts anything\n"));
        EXPECT_TRUE(ends_with_code(dmlconform({"diff", now, base}), 0));
        EXPECT_TRUE(ends_with_code(dmlconform({"diff", now, now}), 0));
    }
}

TEST_F(Diff, RegressionsMayBeAllowedByKind) {
    const struct {
        const char* now;
        bool gated;
        const char* kind;
    } rows[] = {
        {"xfail", true, "excused"}, {"skip", true, "unverified"}, {"pass", false, "left-gate"}, {"", true, "missing"}};
    const std::string base = result_with("base.json", "pass");
    for (const auto& row : rows) {
        const std::string now = result_with("now.json", row.now, row.gated);
        EXPECT_TRUE(prints(dmlconform({"diff", base, now}), std::string("; --allow ") + row.kind + " accepts it\n"));
        for (const auto& allowed : rows) {
            const bool same = std::string_view(allowed.kind) == row.kind;
            const ProgramResult result = dmlconform({"diff", base, now, "--allow", allowed.kind});
            EXPECT_TRUE(ends_with_code(result, same ? 0 : 1)) << row.kind << " " << allowed.kind;
        }
    }
    EXPECT_TRUE(ends_with_code(dmlconform({"diff", base, base, "--allow", "failing"}), 2));
}

TEST_F(Diff, MissingResultsMayBeAllowed) {
    const std::string base = result_with("base.json", "pass");
    const std::string now = result_with("now.json", "");
    EXPECT_TRUE(prints(dmlconform({"diff", base, now}), "missing: a regression; --allow missing accepts it\n"));
    EXPECT_TRUE(ends_with_code(dmlconform({"diff", base, now, "--allow-missing"}), 0));
}

TEST_F(Diff, EqualResults) {
    const std::string base = result_with("base.json", "fail");
    const ProgramResult result = dmlconform({"diff", base, base});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_EQ(result.output, "2 as before, 1 of them still failing\n");
}

TEST_F(Diff, OtherDevicesAreNamed) {
    document_["engines"][0]["adapter"] = "another processor";
    const std::string now = result_with("now.json", "pass");
    const ProgramResult result = dmlconform({"diff", folder_.at("run.json"), now});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(result.output.starts_with("other device: cpu: another processor, was ")) << result.output;
}

TEST_F(Diff, MembersOfAnotherTypeAreInputErrorsOfEveryCommand) {
    for (const char* member : {"reason", "difference", "hint", "engine", "tags"}) {
        ordered_json changed = document_;
        changed["results"][0]["status"] = "fail";
        changed["results"][0][member] = 3;
        const std::string odd = folder_.write("odd.json", changed.dump());
        changed["shard"] = {{"index", 1}, {"count", 1}, {"cases", 2}, {"casesOfAll", 2}, {"fingerprint", "a"}};
        changed["results"][0]["order"] = 0;
        changed["results"][1]["order"] = 1;
        const std::string shard = folder_.write("shard.json", changed.dump());
        const std::vector<std::string> rows[] = {{"diff", odd, odd},
                                                 {"report", odd, "--markdown", "-"},
                                                 {"merge", shard, "--junit", folder_.at("j.xml")},
                                                 {"merge", shard, "--github"},
                                                 {"run", "--rerun-failed", odd}};
        for (const auto& words : rows) {
            const ProgramResult result = dmlconform(words);
            EXPECT_TRUE(ends_with_code(result, 2)) << words.front();
            EXPECT_TRUE(complains(result, std::string("/results/0/") + member + "")) << words.front();
        }
    }
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
