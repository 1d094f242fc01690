// The program's commands and options as data, from which completions and the manual page are written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/command_line.h"

namespace dmlconform::app {

/// What a shell can offer as a value.
enum class ValueKind {
    none,    // no value: a flag
    text,    // any text, or one of `values`
    file,    // a file
    folder,  // a folder
};

/// An option, or an argument that has no name.
struct CommandOption {
    /// With their dashes, long ones first; empty for an argument.
    std::vector<std::string> names;
    ValueKind kind = ValueKind::none;
    /// The placeholder of the value, such as "FILE"; empty for a flag.
    std::string value_name;
    /// The accepted range, such as "0 to 100"; empty if the value's name says enough.
    std::string range;
    /// All possible values, if they are few.
    std::vector<std::string> values;
    std::string help;
    bool repeats = false;
    bool required = false;
};

struct CommandNode {
    /// The words that select it: "history", "add". Empty for the program itself.
    std::vector<std::string> words;
    std::string help;
    std::string footer;
    std::vector<CommandOption> options;
    std::vector<CommandOption> arguments;
    std::vector<CommandNode> commands;
};

/// The program with all its commands, without hidden commands and options.
[[nodiscard]] CommandNode command_tree(Command program);

[[nodiscard]] std::string joined(const std::vector<std::string>& words, std::string_view between);

/// The first part of a help text, up to the end of a sentence or a colon.
[[nodiscard]] std::string short_help(const std::string& help);

}  // namespace dmlconform::app
