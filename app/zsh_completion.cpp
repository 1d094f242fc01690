// Completion for zsh: a function for each command that calls _arguments.
#include <fmt/format.h>

#include "app/completion_scripts.h"
#include "engine/report/command_line.h"

namespace dmlconform::app {

namespace {

/// Escapes text within the brackets or fields of an _arguments specification.
std::string zsh_escaped(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == ':' || c == '[' || c == ']' || c == '\\') {
            result += '\\';
        }
        result += c;
    }
    return result;
}

/// ":FILE:_files"; empty for a flag.
std::string zsh_value(const CommandOption& option) {
    switch (option.kind) {
        case ValueKind::none:
            return {};
        case ValueKind::file:
            return ":" + zsh_escaped(option.value_name) + ":_files";
        case ValueKind::folder:
            return ":" + zsh_escaped(option.value_name) + ":_files -/";
        case ValueKind::text:
            break;
    }
    return ":" + zsh_escaped(option.value_name) + ":" +
           (option.values.empty() ? std::string() : "(" + zsh_escaped(joined(option.values, " ")) + ")");
}

/// A specification for each name of an option: excluded names, the name, its description, and its value.
std::string option_words(const CommandOption& option) {
    const std::string excluded = option.repeats            ? "*"
                                 : option.names.size() > 1 ? "(" + joined(option.names, " ") + ")"
                                                           : std::string();
    std::string text;
    for (const std::string& name : option.names) {
        const std::string_view sign = option.kind == ValueKind::none ? ""
                                      : name.starts_with("--")       ? "="
                                                                     : "+";  // "--name=value", "-nvalue"
        text += " \\\n        " +
                report::shell_quoted(fmt::format("{}{}{}[{}]{}", excluded, name, sign,
                                                 zsh_escaped(short_help(option.help)), zsh_value(option)));
    }
    return text;
}

std::string function_name(const CommandNode& node) {
    return node.words.empty() ? "_dmlconform" : "_dmlconform_" + joined(node.words, "_");
}

std::string argument_words(const CommandNode& node) {
    std::string text;
    for (const CommandOption& argument : node.arguments) {
        text += " \\\n        " + report::shell_quoted((argument.repeats    ? "*"
                                                        : argument.required ? ""
                                                                            : ":") +
                                                       zsh_value(argument));
    }
    return text;
}

/// A command with subcommands: first their names, then the arguments of each.
std::string branching_function(const CommandNode& node, std::string_view options) {
    std::string names;
    std::string branches;
    for (const CommandNode& below : node.commands) {
        names += "            " + report::shell_quoted(zsh_escaped(below.words.back()) + ":" + short_help(below.help)) +
                 "\n";
        branches += fmt::format("        {}) {} ;;\n", below.words.back(), function_name(below));
    }
    return fmt::format(
        "{}() {{\n    local context state state_descr line\n    typeset -A opt_args\n"
        "    _arguments -C{} \\\n        '1: :->command' \\\n        '*:: :->arguments'\n"
        "    case $state in\n    command)\n        local -a commands=(\n{}        )\n"
        "        _describe command commands\n        ;;\n    arguments)\n        case $words[1] in\n{}        esac\n"
        "        ;;\n    esac\n}}\n\n",
        function_name(node), options, names, branches);
}

std::string functions(const CommandNode& node) {
    std::string text;
    for (const CommandNode& below : node.commands) {
        text += functions(below);
    }
    std::string options;
    for (const CommandOption& option : node.options) {
        options += option_words(option);
    }
    if (node.commands.empty()) {
        return text +
               fmt::format("{}() {{\n    _arguments{}{}\n}}\n\n", function_name(node), options, argument_words(node));
    }
    return text + branching_function(node, options);
}

}  // namespace

std::string zsh_completion(const CommandNode& program) {
    return "#compdef dmlconform dmlconform.exe\n"
           "# Completion of dmlconform's command line for zsh, as `dmlconform completion zsh` writes it.\n\n" +
           functions(program) +
           // When autoloaded, the file is the function's body; when sourced, it registers the function.
           "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n    _dmlconform \"$@\"\nelse\n"
           "    compdef _dmlconform dmlconform dmlconform.exe\nfi\n";
}

}  // namespace dmlconform::app
