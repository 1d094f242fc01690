// Completion for bash without the package bash-completion: a single function that looks at the preceding words.
#include <fmt/format.h>

#include "app/completion_scripts.h"
#include "engine/report/command_line.h"

namespace dmlconform::app {

namespace {

constexpr std::string_view bash_head =
    R"(# Completion of dmlconform's command line for bash, as `dmlconform completion bash` writes it.

_dmlconform_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$word"); }
_dmlconform_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen "$1" -- "$word")
}

_dmlconform() {
    local at=$COMP_CWORD options=
    local word=${COMP_WORDS[at]} option=${COMP_WORDS[at - 1]} command=
    # To bash, --option=value is three words.
    if [[ $word == = ]]; then
        word=
    elif [[ $option == = ]]; then
        option=${COMP_WORDS[at - 2]}
    fi
    if ((at > 1)); then command=${COMP_WORDS[1]}; fi
)";

constexpr std::string_view bash_foot = R"(    if [[ $word == -* ]]; then _dmlconform_words "$options"; fi
}
complete -F _dmlconform dmlconform dmlconform.exe
)";

/// The code that offers an option's values.
std::string offer(const CommandOption& option) {
    switch (option.kind) {
        case ValueKind::file:
            return "_dmlconform_files -f";
        case ValueKind::folder:
            return "_dmlconform_files -d";
        default:
            return option.values.empty() ? "COMPREPLY=()"
                                         : "_dmlconform_words " + report::shell_quoted(joined(option.values, " "));
    }
}

template <class Visit>
void for_each_command(const CommandNode& node, const Visit& visit) {
    visit(node);
    for (const CommandNode& below : node.commands) {
        for_each_command(below, visit);
    }
}

/// Commands with subcommands, which have names of two words.
std::string second_words(const CommandNode& program) {
    std::vector<std::string> names;
    for (const CommandNode& command : program.commands) {
        if (!command.commands.empty()) {
            names.push_back(command.words.front());
        }
    }
    return names.empty() ? std::string()
                         : fmt::format(
                               "    case $command in\n    {}) if ((at > 2)); then command+=\" ${{COMP_WORDS[2]}}"
                               "\"; fi ;;\n    esac\n",
                               joined(names, " | "));
}

/// Branches for the values of a command's options.
std::string value_branches(const CommandNode& node) {
    std::string text;
    for (const CommandOption& option : node.options) {
        if (option.kind != ValueKind::none) {
            std::vector<std::string> patterns;
            for (const std::string& name : option.names) {
                patterns.push_back(report::shell_quoted(joined(node.words, " ") + " " + name));
            }
            text += fmt::format("    {}) {} && return ;;\n", joined(patterns, " | "), offer(option));
        }
    }
    return text;
}

/// The branch with the names of a command's options, and its arguments.
std::string command_branch(const CommandNode& node) {
    std::vector<std::string> options;
    for (const CommandOption& option : node.options) {
        options.insert(options.end(), option.names.begin(), option.names.end());
    }
    std::vector<std::string> commands;
    for (const CommandNode& below : node.commands) {
        commands.push_back(below.words.back());
    }
    std::string offers;
    if (!commands.empty()) {
        offers = "_dmlconform_words " + report::shell_quoted(joined(commands, " "));
    } else if (!node.arguments.empty()) {
        offers = offer(node.arguments.front());
    }
    return fmt::format("    {})\n        options={}\n{}        ;;\n", report::shell_quoted(joined(node.words, " ")),
                       report::shell_quoted(joined(options, " ")), offers.empty() ? "" : "        " + offers + "\n");
}

}  // namespace

std::string bash_completion(const CommandNode& program) {
    std::string values;
    std::string branches;
    for_each_command(program, [&](const CommandNode& node) {
        values += value_branches(node);
        branches += command_branch(node);
    });
    return fmt::format("{}{}    case \"$command $option\" in\n{}    esac\n    case $command in\n{}    esac\n{}",
                       bash_head, second_words(program), values, branches, bash_foot);
}

}  // namespace dmlconform::app
