// Walks over CLI11's commands, and keeps what completions and the manual page need.
#include "app/command_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "engine/core/comma_list.h"
#include "engine/operators/catalogue.h"
#include "engine/operators/operator_name.h"
#include "engine/run/engine_list.h"

namespace dmlconform::app {

namespace {

std::vector<std::string> short_operator_names() {
    std::vector<std::string> names;
    for (const std::string& name : operators::operator_names()) {
        names.emplace_back(operators::short_name_of(name));
    }
    return names;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Derives the kind of a value from its name.
void classify(CommandOption& option) {
    option.kind = ValueKind::text;
    if (is_one_of(option.value_name, {"FILE", "PATH", "RESULT", "MODEL"})) {
        option.kind = ValueKind::file;
    } else if (is_one_of(option.value_name, {"DIR", "FOLDER"})) {
        option.kind = ValueKind::folder;
    } else if (option.value_name == "OPERATOR") {
        option.values = short_operator_names();
    } else if (option.value_name == "NAME" && option.values.empty()) {
        const auto engines = run::engine_names();
        option.values.assign(engines.begin(), engines.end());
    }
}

/// Splits "LEVEL:{1.0,2.0}" and "N:1 to 1024", which CLI11 joins.
void read_type(CommandOption& option, const std::string& type) {
    const std::size_t colon = type.find(':');
    option.value_name = type.substr(0, colon);
    if (colon != std::string::npos) {
        const std::string_view rest = std::string_view(type).substr(colon + 1);
        if (rest.starts_with('{') && rest.ends_with('}')) {
            option.values = core::split_at_commas(rest.substr(1, rest.size() - 2));
        } else {
            option.range = rest;
        }
    }
    classify(option);
}

CommandOption read_option(const CLI::Option& option) {
    CommandOption read;
    for (const std::string& name : option.get_lnames()) {
        read.names.push_back("--" + name);
    }
    for (const std::string& name : option.get_snames()) {
        read.names.push_back("-" + name);
    }
    read.help = option.get_description();
    read.required = option.get_required();
    // A flag does not consume the next argument, even if it accepts a value.
    if (option.get_items_expected_max() > 0) {
        read.repeats = option.get_expected_max() > 1;
        read_type(read, option.get_type_name());
    }
    return read;
}

void read_command(CommandNode& node, const CLI::App& app) {
    node.help = app.get_description();
    node.footer = app.get_footer();
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_group().empty()) {
            continue;
        }
        CommandOption read = read_option(*option);
        if (read.names.empty()) {
            read.value_name = read.value_name.empty() ? option->get_name() : read.value_name;
            node.arguments.push_back(std::move(read));
        } else {
            node.options.push_back(std::move(read));
        }
    }
    for (const CLI::App* below : app.get_subcommands(nullptr)) {
        if (below->get_group().empty()) {
            continue;
        }
        CommandNode& command = node.commands.emplace_back();
        command.words = node.words;
        command.words.push_back(below->get_name());
        read_command(command, *below);
    }
}

}  // namespace

CommandNode command_tree(Command program) {
    CommandNode node;
    read_command(node, program.cli11());
    return node;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
    return fmt::format("{}", fmt::join(words, between));
}

std::string short_help(const std::string& help) {
    std::size_t end = help.size();
    for (const char* mark : {". ", ": ", "; "}) {
        end = std::min(end, help.find(mark));
    }
    std::string text = help.substr(0, end);
    if (text.ends_with('.')) {
        text.pop_back();
    }
    return text;
}

}  // namespace dmlconform::app
