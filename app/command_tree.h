// The program's commands and options as data: what completions and the manual page are written from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/command_line.h"

namespace dmlconform::app {

/// What a shell may offer as a value.
enum class ValueKind {
    none,    // there is no value: a flag
    text,    // anything, or one of `values`
    file,    // a file
    folder,  // a folder
};

/// An option, or an argument that has no name.
struct CommandOption {
    /// With their dashes, long ones first; none for an argument.
    std::vector<std::string> names;
    ValueKind kind = ValueKind::none;
    /// "FILE"; empty for a flag.
    std::string value_name;
    /// What may be given, such as "0 to 100"; empty if the name of the value says it all.
    std::string range;
    /// All that it can be, if these are few.
    std::vector<std::string> values;
    std::string help;
    bool repeats = false;
    bool required = false;
};

struct CommandNode {
    /// The words that lead to it: "history", "add". None for the program itself.
    std::vector<std::string> words;
    std::string help;
    std::string footer;
    std::vector<CommandOption> options;
    std::vector<CommandOption> arguments;
    std::vector<CommandNode> commands;
};

/// The program, with all commands below it. Hidden commands and options are left out.
[[nodiscard]] CommandNode command_tree(Command program);

[[nodiscard]] std::string joined(const std::vector<std::string>& words, std::string_view between);

/// The part of a help text that says what something is: up to the first end of a sentence, or to a colon.
[[nodiscard]] std::string short_help(const std::string& help);

}  // namespace dmlconform::app
