// Tests how options that commands declare are parsed by CLI11: every type of variable, and every condition on values.
#include "app/command_line.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/number_options.h"

namespace dmlconform::tests::command_line_test {
namespace {

/// A command with an option of each kind, and the variables that a command line sets.
struct Program {
    CLI::App cli11{"The program", "program"};
    std::string text;
    std::optional<std::string> other_text;
    std::vector<std::string> texts;
    std::vector<std::string> arguments;
    std::uint32_t small = 0;
    std::uint64_t large = 0;
    std::optional<std::uint64_t> other_large;
    std::optional<std::int64_t> entry;
    double number = 0;
    std::optional<double> other_number;
    bool flag = false;
    bool other_flag = false;
    std::string text_flag;
    std::string taken;
    std::vector<std::string> all_taken;
    double number_taken = 0;
    bool called = false;
    std::vector<std::string> remaining;
    bool has_run = false;

    Program() {
        const app::Command command = app::Command(cli11).require_subcommand(1).add_subcommand("do", "Does it");
        command.add_option("arguments", arguments, "").expected(0, 2);
        command.add_option("--text", text, "").check([](const std::string& value) {
            return std::string(value == "bad" ? "this is bad" : "");
        });
        command.add_option("--other-text", other_text, "").one_of({"a", "b"});
        command.add_option("--texts", texts, "").allow_extra_args(false);
        command.add_option("--small", small, "");
        command.add_option("--large", large, "").transform(app::size_in_bytes());
        const app::Option first = command.add_option("--other-large", other_large, "");
        command.add_option("--entry", entry, "").needs(first);
        command.add_option("--number", number, "").needs("--other-large");
        command.add_option("--other-number", other_number, "").excludes(first);
        command.add_flag("--flag", flag, "").excludes("--other-large");
        command.add_flag("--other-flag", other_flag, "");
        command.add_flag("--text-flag", text_flag, "");
        command.add_text_option(
            "--take",
            [this](const std::string& value) {
                if (value == "bad") {
                    app::throw_wrong_value("--take", "this is bad");
                }
                taken = value;
            },
            "");
        command.add_texts_option(
            "--take-all", [this](const std::vector<std::string>& values) { all_taken = values; }, "");
        command.add_number_option(
            "--take-number", [this](double value) { number_taken = value; }, "");
        command.add_flag_callback(
            "--call", [this] { called = true; }, "");
        command.allow_extras();
        command.callback([this, command] {
            remaining = command.remaining();
            has_run = true;
        });
    }

    /// Returns CLI11's error message, or an empty string.
    std::string parse(const std::string& line) {
        try {
            cli11.parse(line);
        } catch (const CLI::ParseError& error) {
            return error.what();
        }
        return {};
    }
};

TEST(CommandLine, ValuesReachTheirVariables) {
    Program program;
    ASSERT_EQ(program.parse("do x y --text t --other-text b --texts 1 --texts 2 --small 3 --large 4K --other-large 5 "
                            "--entry -6 --number 0.5 --other-flag --text-flag=7 --take 8 --take-all 9 10 "
                            "--take-number 1.5 --call --unknown"),
              "");
    EXPECT_EQ(program.arguments, (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(program.text, "t");
    EXPECT_EQ(program.other_text, "b");
    EXPECT_EQ(program.texts, (std::vector<std::string>{"1", "2"}));
    EXPECT_EQ(program.small, 3u);
    EXPECT_EQ(program.large, 4096u);
    EXPECT_EQ(program.other_large, 5u);
    EXPECT_EQ(program.entry, -6);
    EXPECT_EQ(program.number, 0.5);
    EXPECT_EQ(program.other_number, std::nullopt);
    EXPECT_FALSE(program.flag);
    EXPECT_TRUE(program.other_flag);
    EXPECT_EQ(program.text_flag, "7");
    EXPECT_EQ(program.taken, "8");
    EXPECT_EQ(program.all_taken, (std::vector<std::string>{"9", "10"}));
    EXPECT_EQ(program.number_taken, 1.5);
    EXPECT_TRUE(program.called);
    EXPECT_TRUE(program.has_run);
    EXPECT_EQ(program.remaining, std::vector<std::string>{"--unknown"});
}

TEST(CommandLine, AFlagThatMayHaveAValueIsTrueWithoutOne) {
    Program program;
    ASSERT_EQ(program.parse("do --text-flag"), "");
    EXPECT_EQ(program.text_flag, "true");
}

TEST(CommandLine, WrongValuesAreRefused) {
    const std::vector<std::pair<std::string, std::string>> lines{
        {"", "A subcommand is required"},
        {"do --text bad", "--text: this is bad"},
        {"do --other-text c", "--other-text: c not in {a,b}"},
        {"do --large 4X", "--large: \"4X\" is not a size"},
        {"do --entry 1", "--entry requires --other-large"},
        {"do --number 1", "--number requires --other-large"},
        {"do --other-large 1 --other-number 2", "excludes --other-"},
        {"do --other-large 1 --flag", "excludes --"},
        {"do --take bad", "--take: this is bad"},
    };
    for (const auto& [line, expected] : lines) {
        Program program;
        const std::string problem = program.parse(line);
        EXPECT_NE(problem.find(expected), std::string::npos) << line << ": " << problem;
        EXPECT_FALSE(program.has_run) << line;
    }
}

TEST(CommandLine, WhatIsRequiredIsMissed) {
    CLI::App cli11{"The program", "program"};
    std::string text = "before";
    const app::Command command(cli11);
    const app::Option option =
        command.add_option("--text", text, "A text").required().type_name("TEXT").capture_default_str();
    // Versions of CLI11 print different text between these parts.
    for (const char* part : {"--text TEXT", "before", "REQUIRED"}) {
        EXPECT_NE(cli11.help().find(part), std::string::npos) << cli11.help();
    }
    EXPECT_THROW(cli11.parse(""), CLI::RequiredError);
    command.get_option("--text").required(false);
    EXPECT_NO_THROW(cli11.parse(""));
    EXPECT_EQ(option.get_name(), "--text");
    EXPECT_THROW(app::throw_missing("--text"), CLI::RequiredError);
}

}  // namespace
}  // namespace dmlconform::tests::command_line_test
