// Tests the command line as data, from which completions and the manual page are generated.
#include "app/command_tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "app/manual_page.h"

namespace dmlconform::tests::command_tree_test {
namespace {

TEST(CommandTree, HasOptionsAsTheyWereAdded) {
    CLI::App app{"The program", "program"};
    std::string text;
    std::vector<std::string> list;
    int number = 0;
    bool flag = false;
    CLI::App* command = app.add_subcommand("one", "First: a command");
    command->add_option("--file,-f", text, "A file")->type_name("FILE")->required();
    command->add_option("--dir", text, "A folder")->type_name("DIR");
    command->add_option("--operator", list, "Operators")->type_name("OPERATOR");
    command->add_option("--format", text, "A format")->type_name("FORMAT")->check(CLI::IsMember({"a", "b"}));
    command->add_option("--jobs", number, "How many")->type_name("N")->check(CLI::Range(1, 9));
    command->add_flag("--flag", flag, "A flag");
    command->add_option("--hidden", text)->group("");
    command->add_option("paths", list, "Files")->type_name("PATH")->required();
    command->add_subcommand("below", "Below");
    app.add_subcommand("secret", "Not for people")->group("");

    const app::CommandNode program = app::command_tree(app);
    ASSERT_EQ(program.commands.size(), 1u);
    const app::CommandNode& one = program.commands.front();
    EXPECT_EQ(one.words, std::vector<std::string>{"one"});
    ASSERT_EQ(one.commands.size(), 1u);
    EXPECT_EQ(one.commands.front().words, (std::vector<std::string>{"one", "below"}));

    std::string seen;
    for (const app::CommandOption& option : one.options) {
        seen += fmt::format("{} {} {} {}{}{}\n", app::joined(option.names, ","), static_cast<int>(option.kind),
                            option.value_name, app::joined(option.values, ",").substr(0, 22),
                            option.repeats ? " repeats" : "", option.required ? " required" : "");
    }
    EXPECT_EQ(seen,
              "--help,-h 0  \n"
              "--file,-f 2 FILE  required\n"
              "--dir 3 DIR \n"
              "--operator 1 OPERATOR ELEMENT_WISE_IDENTITY, repeats\n"
              "--format 1 FORMAT a,b\n"
              "--jobs 1 N \n"
              "--flag 0  \n");
    ASSERT_EQ(one.arguments.size(), 1u);
    EXPECT_EQ(one.arguments.front().value_name, "PATH");
    EXPECT_EQ(one.arguments.front().kind, app::ValueKind::file);
    EXPECT_TRUE(one.arguments.front().repeats && one.arguments.front().required);
}

TEST(CommandTree, ShortHelpEndsWithTheFirstThought) {
    for (const auto& [help, expected] :
         std::vector<std::pair<std::string, std::string>>{{"A file. Default: none", "A file"},
                                                          {"Run it: a crash costs one case", "Run it"},
                                                          {"More; repeat it", "More"},
                                                          {"Version 1.2 or later.", "Version 1.2 or later"},
                                                          {"", ""}}) {
        EXPECT_EQ(app::short_help(help), expected);
    }
}

TEST(ManualPage, SpellsOutWhatTroffTakesForACommand) {
    CLI::App app{"The program", "program"};
    std::string text;
    app.add_subcommand("one", "First")->add_option("--file", text, "'tis a \\ of `code`\n.so /etc/passwd");
    const std::string page = app::manual_page(app::command_tree(app), "1.2");
    EXPECT_NE(page.find("\\&'tis a \\e of \\fBcode\\fR\n\\&.so /etc/passwd"), std::string::npos) << page;
    EXPECT_NE(page.find("dmlconform 1.2"), std::string::npos);
}

}  // namespace
}  // namespace dmlconform::tests::command_tree_test
