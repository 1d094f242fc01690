// Writes troff. Text that troff would interpret is escaped.
#include "app/manual_page.h"

#include <fmt/format.h>

#include <string_view>

namespace dmlconform::app {

namespace {

/// Escapes text for troff; `code` becomes bold.
std::string troff_escaped(std::string_view text) {
    std::string result;
    bool bold = false;
    bool begins_line = true;
    for (const char c : text) {
        if (begins_line && (c == '.' || c == '\'')) {
            result += "\\&";
        }
        begins_line = c == '\n';
        switch (c) {
            case '\\':
                result += "\\e";
                break;
            case '-':
                result += "\\-";
                break;
            case '`':
                bold = !bold;
                result += bold ? "\\fB" : "\\fR";
                break;
            default:
                result += c;
        }
    }
    return result;
}

/// "-j, --jobs N" with names in bold and the value in italics.
std::string heading(const CommandOption& option) {
    std::vector<std::string> names;
    for (const std::string& name : option.names) {
        names.push_back("\\fB" + troff_escaped(name) + "\\fR");
    }
    std::string text = joined(names, ", ");
    if (!option.value_name.empty()) {
        text += (text.empty() ? "" : " ") + fmt::format("\\fI{}\\fR", troff_escaped(option.value_name));
    }
    return text + (option.repeats ? " ..." : "");
}

std::string paragraph(const CommandOption& option) {
    std::string text = option.help;
    if (!option.range.empty()) {
        text += fmt::format(" ({})", option.range);
    } else if (!option.values.empty() && option.value_name != "OPERATOR" && option.value_name != "NAME") {
        text += fmt::format(" (one of {})", joined(option.values, ", "));
    }
    return fmt::format(".TP\n{}\n{}\n", heading(option), troff_escaped(text));
}

std::string synopsis(const CommandNode& node) {
    std::string text = fmt::format("\\fBdmlconform {}\\fR [\\fIOPTION\\fR]...", troff_escaped(joined(node.words, " ")));
    for (const CommandOption& argument : node.arguments) {
        const std::string word =
            fmt::format("\\fI{}\\fR{}", troff_escaped(argument.value_name), argument.repeats ? "..." : "");
        text += argument.required ? " " + word : " [" + word + "]";
    }
    return text;
}

/// A section for each command without subcommands.
std::string commands(const CommandNode& node) {
    std::string text;
    for (const CommandNode& below : node.commands) {
        if (!below.commands.empty()) {
            text += commands(below);
            continue;
        }
        text += fmt::format(".SS {}\n{}\n.PP\n{}.\n", troff_escaped(joined(below.words, " ")), synopsis(below),
                            troff_escaped(below.help));
        for (const CommandOption& argument : below.arguments) {
            text += paragraph(argument);
        }
        for (const CommandOption& option : below.options) {
            text += paragraph(option);
        }
        if (!below.footer.empty()) {
            text += fmt::format(".PP\n{}\n", troff_escaped(below.footer));
        }
    }
    return text;
}

std::string own_options(const CommandNode& program) {
    std::string text;
    for (const CommandOption& option : program.options) {
        text += paragraph(option);
    }
    return text;
}

constexpr std::string_view manual_foot = R"(.SH EXIT STATUS
.TP
\fB0\fR
Everything is as expected, and at least one case was verified.
.TP
\fB1\fR
There were unexpected results, or nothing was verified.
.TP
\fB2\fR
The command line or an input file is wrong. Nothing was run.
.TP
\fB3\fR
The run could not be done, or its reports could not be written.
.TP
\fB129\fR, \fB130\fR, \fB143\fR
The run was ended early by SIGHUP, by Ctrl\-C or by SIGTERM. All reports are written.
.SH EXAMPLES
.TP
Run all cases on the reference and on Direct3D 12:
\fBdmlconform run cases \-\-engine cpu \-\-engine d3d12\fR
.TP
Test a backend of your own:
\fBdmlconform run cases \-\-engine 'exec:python3 my_backend.py'\fR
.TP
See what became slower:
\fBdmlconform compare base.json new.json\fR
)";

}  // namespace

std::string manual_page(const CommandNode& program, const std::string& version) {
    return fmt::format(
        ".TH DMLCONFORM 1 \"\" \"dmlconform {}\" \"User Commands\"\n"
        ".SH NAME\ndmlconform \\- {}\n"
        ".SH SYNOPSIS\n\\fBdmlconform\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n"
        ".SH DESCRIPTION\nCases in JSON describe tensors and operators of DirectML. dmlconform runs them on engines "
        "and compares every element of every output with what is right, within a tolerance.\n"
        ".SH OPTIONS\n{}.SH COMMANDS\n{}{}",
        version, troff_escaped(program.help), own_options(program), commands(program), manual_foot);
}

}  // namespace dmlconform::app
