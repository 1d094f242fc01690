// Completion for fish: one line for each command, option and argument, with the condition for offering it.
#include <fmt/format.h>

#include "app/completion_scripts.h"

namespace dmlconform::app {

namespace {

constexpr std::string_view fish_head =
    R"(# Completion of dmlconform's command line for fish, as `dmlconform completion fish` writes it.

# The words after the program, up to the cursor, begin with these.
function __dmlconform_in
    set -l words (commandline -opc)
    set -e words[1]
    set -l count (count $argv)
    test (count $words) -ge $count
    and test "$words[1..$count]" = "$argv"
end

# They are just these: the next one is a command.
function __dmlconform_after
    set -l words (commandline -opc)
    set -e words[1]
    test "$words" = "$argv"
end

complete -c dmlconform -f
)";

/// In single quotes, fish only interprets \' and \\.
std::string fish_word(std::string_view text) {
    std::string word = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') {
            word += '\\';
        }
        word += c;
    }
    return word + "'";
}

std::string condition(std::string_view function, const CommandNode& node) {
    return "-n " + fish_word(joined(
                       [&] {
                           std::vector<std::string> words{std::string(function)};
                           words.insert(words.end(), node.words.begin(), node.words.end());
                           return words;
                       }(),
                       " "));
}

/// How the value of an option is offered: -r requires a value, -F allows files.
std::string fish_value(const CommandOption& option) {
    switch (option.kind) {
        case ValueKind::none:
            return {};
        case ValueKind::file:
            return " -r -F";
        case ValueKind::folder:
            return " -x -a '(__fish_complete_directories)'";
        case ValueKind::text:
            break;
    }
    return option.values.empty() ? " -x" : " -x -a " + fish_word(joined(option.values, " "));
}

std::string option_line(const CommandNode& node, const CommandOption& option) {
    std::string names;
    for (const std::string& name : option.names) {
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    // The program's own options are only offered before a command.
    return fmt::format("complete -c dmlconform {}{}{} -d {}\n",
                       condition(node.words.empty() ? "__dmlconform_after" : "__dmlconform_in", node), names,
                       fish_value(option), fish_word(short_help(option.help)));
}

std::string argument_line(const CommandNode& node, const CommandOption& argument) {
    const std::string where = "complete -c dmlconform " + condition("__dmlconform_in", node);
    switch (argument.kind) {
        case ValueKind::file:
            return where + " -F\n";
        case ValueKind::folder:
            return where + " -a '(__fish_complete_directories)'\n";
        default:
            return argument.values.empty() ? std::string()
                                           : where + " -a " + fish_word(joined(argument.values, " ")) + "\n";
    }
}

std::string lines(const CommandNode& node) {
    std::string text;
    for (const CommandNode& below : node.commands) {
        text += fmt::format("complete -c dmlconform {} -a {} -d {}\n", condition("__dmlconform_after", node),
                            below.words.back(), fish_word(short_help(below.help)));
    }
    for (const CommandOption& option : node.options) {
        text += option_line(node, option);
    }
    if (!node.arguments.empty()) {
        text += argument_line(node, node.arguments.front());
    }
    for (const CommandNode& below : node.commands) {
        text += lines(below);
    }
    return text;
}

}  // namespace

std::string fish_completion(const CommandNode& program) {
    return std::string(fish_head) + lines(program);
}

}  // namespace dmlconform::app
