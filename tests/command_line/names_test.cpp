// Checks that the names of commands, options and arguments are valid in every version of CLI11, not only in the
// installed one.
// From 2.4 on, CLI11 throws for some names that 2.1 accepts. It does so before parsing the command line, so that no
// command would work at all.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/commands.h"

namespace dmlconform::tests::names_test {
namespace {

/// The rule of CLI11 2.6, except that tabs are not allowed.
bool is_name(const std::string& name) {
    const auto is_printed = [](char c) { return static_cast<unsigned char>(c) > ' '; };
    return !name.empty() && name != "++" && name.find_first_of("-!") != 0 &&
           name.find_first_of("=:{") == std::string::npos && std::all_of(name.begin(), name.end(), is_printed);
}

/// The invalid names of an option.
std::vector<std::string> problems_of(const CLI::Option& option) {
    std::vector<std::string> names = option.get_lnames();
    names.insert(names.end(), option.get_snames().begin(), option.get_snames().end());
    if (option.get_positional()) {
        names.push_back(option.get_name(true));
    }
    std::vector<std::string> problems;
    for (const std::string& name : names) {
        if (!is_name(name)) {
            problems.push_back(fmt::format("\"{}\" is not a name", name));
        }
    }
    return problems;
}

/// The invalid names of a command and of its subcommands.
std::vector<std::string> problems_of(const CLI::App& command) {
    std::vector<std::string> problems;
    std::set<std::string> seen;
    for (const CLI::Option* option : command.get_options()) {
        for (const std::string& problem : problems_of(*option)) {
            problems.push_back(command.get_name() + ": " + problem);
        }
        // An argument and an option need different names, because configuration files could not distinguish them.
        std::vector<std::string> names = option->get_lnames();
        if (option->get_positional()) {
            names.push_back(option->get_name(true));
        }
        for (const std::string& name : names) {
            if (!seen.insert(name).second) {
                problems.push_back(fmt::format("{}: \"{}\" is there twice", command.get_name(), name));
            }
        }
    }
    for (const CLI::App* sub : command.get_subcommands(nullptr)) {
        if (!is_name(sub->get_name())) {
            problems.push_back(fmt::format("\"{}\" is not a name for a command", sub->get_name()));
        }
        for (const std::string& problem : problems_of(*sub)) {
            problems.push_back(command.get_name() + " " + problem);
        }
    }
    return problems;
}

TEST(Names, OfAllCommandsAreAllowedByEveryCli11) {
    CLI::App app{"", "dmlconform"};
    const app::Invocation invocation{{"dmlconform"}};
    int exit_code = 0;
    app::add_commands(app, invocation, exit_code);
    EXPECT_GE(app.get_subcommands(nullptr).size(), 15u);
    EXPECT_EQ(problems_of(std::as_const(app)), std::vector<std::string>{});
}

TEST(Names, ThatSomeVersionRefusesAreFound) {
    for (const char* bad : {"", "BASE NEW", "-a", "!a", "a=b", "a:b", "a{b}", "a\tb", "a\n", " a", "++"}) {
        EXPECT_FALSE(is_name(bad)) << bad;
    }
    for (const char* good : {"BASE", "max-memory", "j", "a.b", "a+", "é"}) {
        EXPECT_TRUE(is_name(good)) << good;
    }
    CLI::App app{"", "app"};
    CLI::App* command = app.add_subcommand("command", "");
    command->add_flag("--good,-g");
    EXPECT_EQ(problems_of(std::as_const(app)), std::vector<std::string>{});
    CLI::App* below = command->add_subcommand("below", "");
    std::string value;
    below->add_option("--twice,twice", value);
    EXPECT_EQ(problems_of(std::as_const(app)), std::vector<std::string>{"app command below: \"twice\" is there twice"});
}

}  // namespace
}  // namespace dmlconform::tests::names_test
