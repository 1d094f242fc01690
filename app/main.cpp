// dmlconform's main function: parses the command line, prints help, and reports usage errors.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/commands.h"
#include "app/help_headings.h"
#include "app/interrupt.h"
#include "app/program_words.h"
#include "app/standard_streams.h"
#include "app/terminal.h"
#include "engine/cases/problems.h"

namespace {

using dmlconform::app::Invocation;

std::string version_text() {
    std::string text;
    for (const auto& [name, version] : dmlconform::app::versions()) {
        text += fmt::format("{} {}\n", name, version);
    }
    text.pop_back();
    return text;
}

/// The names of a command and of its options.
std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
    std::vector<std::string> names;
    for (const CLI::App* command : commands) {
        names.push_back(command->get_name());
    }
    return names;
}

std::vector<std::string> names_of(const std::vector<const CLI::Option*>& options) {
    std::vector<std::string> names;
    for (const CLI::Option* option : options) {
        for (const std::string& name : option->get_lnames()) {
            names.push_back("--" + name);
        }
    }
    return names;
}

/// A suggestion for the first unknown option.
std::string option_hint(const CLI::App& command, std::span<const std::string> words) {
    const auto known = names_of(command.get_options());
    for (const std::string& word : words) {
        const std::string name = word.substr(0, word.find('='));
        if (name.starts_with("--") && std::find(known.begin(), known.end(), name) == known.end()) {
            return dmlconform::cases::suggestion(name, known);
        }
    }
    return {};
}

/// Prints what is wrong with the command line, and a suggestion.
void print_usage_error(const CLI::App& app, const CLI::ParseError& error, std::span<const std::string> words) {
    // The innermost command, as far as there is one.
    const CLI::App* command = &app;
    std::string names = "dmlconform";
    std::size_t next = 1;
    for (auto chosen = app.get_subcommands(); !chosen.empty(); chosen = command->get_subcommands()) {
        command = chosen.front();
        names += " " + command->get_name();
        ++next;
    }
    const std::vector<std::string> commands = names_of(command->get_subcommands(nullptr));
    std::string message = error.what();
    std::string hint;
    if (!commands.empty() && words.size() > next && !words[next].starts_with("-")) {
        // CLI11 only reports that a subcommand is required.
        message = next == 1 ? fmt::format("there is no command \"{}\"", words[next])
                            : fmt::format("`{}` has no command \"{}\"", names, words[next]);
        hint = dmlconform::cases::suggestion(words[next], commands);
    } else {
        hint = option_hint(*command, words);
    }
    if (hint.empty()) {
        hint = fmt::format("`{} --help` lists {}", names, commands.empty() ? "them" : "commands");
    }
    dmlconform::app::warn("dmlconform: {}\n    hint: {}\n", message, hint);
}

/// Prints help, which contains only text of the program.
void print_help(const CLI::App& app) {
    dmlconform::app::print_warning(dmlconform::core::ShownText::made_of(app.help()));
}

/// Breaks descriptions where the terminal ends. What is not a terminal gets one line for each.
class WrappingFormatter final : public CLI::Formatter {
public:
    std::string make_option_desc(const CLI::Option* option) const override {
        return wrapped(CLI::Formatter::make_option_desc(option), get_column_width());
    }
    /// "Excludes:" and "Needs:" name no options that this help leaves out.
    std::string make_option_opts(const CLI::Option* option) const override {
        std::string text = CLI::Formatter::make_option_opts(option);
        for (const std::string label : {" Excludes:", " Needs:"}) {
            const std::size_t at = text.find(label);
            if (at == std::string::npos) {
                continue;
            }
            const std::size_t next = text.find_first_not_of(' ', at + label.size());
            if (next == std::string::npos || text.compare(next, 9, "Excludes:") == 0) {
                text.replace(at, std::min(next, text.size()) - at, next == std::string::npos ? "" : " ");
            }
        }
        return text;
    }
    std::string make_description(const CLI::App* app) const override {
        return wrapped(CLI::Formatter::make_description(app), 0);
    }
    std::string make_footer(const CLI::App* app) const override { return wrapped(CLI::Formatter::make_footer(app), 0); }
    std::string make_subcommand(const CLI::App* command) const override {
        std::ostringstream text;
        CLI::detail::format_help(text, command->get_name(), wrapped(command->get_description(), get_column_width()),
                                 get_column_width());
        return text.str();
    }

private:
    [[nodiscard]] static std::string wrapped(const std::string& text, std::size_t indent) {
        constexpr std::size_t least = 20;
        const std::size_t width = dmlconform::app::output_width();
        return width == 0 ? text : dmlconform::app::wrap(text, std::max(least, width - std::min(width, indent)));
    }
};

/// `dmlconform help COMMAND` is `dmlconform COMMAND --help`. A command that there is not stays an error.
std::vector<std::string> without_help_command(const CLI::App& app, std::vector<std::string> words) {
    if (words.size() > 1 && words[1] == "help") {
        words.erase(words.begin() + 1);
        const auto commands = names_of(app.get_subcommands(nullptr));
        if (words.size() == 1 || std::ranges::find(commands, words[1]) != commands.end()) {
            words.emplace_back("--help");
        }
    }
    return words;
}

/// Commands whose help leaves nothing out take --help-all as --help.
std::vector<std::string> without_help_all(const CLI::App& app, std::vector<std::string> words) {
    const auto commands = app.get_subcommands(nullptr);
    const auto command = std::ranges::find_if(
        commands, [&](const CLI::App* each) { return words.size() > 1 && each->get_name() == words[1]; });
    if (command == commands.end() || (*command)->get_help_all_ptr() == nullptr) {
        std::replace(words.begin(), std::ranges::find(words, "--"), std::string("--help-all"), std::string("--help"));
    }
    return words;
}

int run(std::vector<std::string> given) {
    CLI::App app{"Conformance and benchmarks for DirectML operators", "dmlconform"};
    // Otherwise "/folder/cases.json" would be an option on Windows.
    app.allow_windows_style_options(false);
    app.set_version_flag("--version", version_text(),
                         "Print the versions of the program and of everything that is linked into it");
    app.require_subcommand(1);
    app.formatter(std::make_shared<WrappingFormatter>());
    app.get_formatter()->column_width(34);
    app.footer(
        "Exit codes: 0 everything is as expected, 1 unexpected results, 2 usage or input error, 3 the run could not be "
        "done, 4 it cannot be told whether something became slower.\n"
        "`dmlconform COMMAND --help` lists the options of a command.");

    const Invocation invocation{std::move(given)};
    int exit_code = dmlconform::app::exit_ok;
    dmlconform::app::add_commands(app, invocation, exit_code);
    if (invocation.words.size() < 2) {
        print_help(app);
        return dmlconform::app::exit_usage;
    }
    std::vector<std::string> words = without_help_command(app, invocation.words);
    // Options that the help leaves out must not be missing in completions and in the manual page.
    const bool short_help =
        std::ranges::any_of(words, [](const std::string& word) { return word == "--help" || word == "-h"; });
    dmlconform::app::add_help_headings(app, !short_help);
    words = without_help_all(app, std::move(words));
    try {
        // Without the program's name.
        app.parse(std::vector<std::string>(words.rbegin(), words.rend() - 1));  // which takes the last one first
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) {
            std::ostringstream text;  // --help, --version
            const int code = app.exit(error, text, text);
            dmlconform::app::print_document(text.str());
            return code;
        }
        print_usage_error(app, error, words);
        return dmlconform::app::exit_usage;
    }
    return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
    using dmlconform::app::final_exit_code;
    using dmlconform::app::warn;
    dmlconform::app::open_standard_streams();
    dmlconform::app::turn_write_signals_into_errors();
    dmlconform::app::remove_partial_files_on_signals();
    try {
        return final_exit_code(run(dmlconform::app::program_words(argc, argv)));
    } catch (const std::bad_alloc&) {
        std::fputs("dmlconform: out of memory\n", stderr);
    } catch (const std::system_error& error) {
        // Mostly a thread that could not be created.
        warn("dmlconform: the system refuses what is needed: {}\n", error.what());
    } catch (const std::exception& error) {
        warn("dmlconform: internal error: {}\n", error.what());
    }
    return dmlconform::app::exit_not_run;
}
