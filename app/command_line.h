// An interface to CLI11's commands and options by handles. CLI11's header takes four seconds to compile, so few files
// include it: command_line.cpp, which adds and configures, command_tree.cpp, which inspects, help_headings.cpp, and
// main.cpp, which parses the command line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/core/error.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace dmlconform::app {

/// A condition on the values of an option.
struct ValueRule {
    /// Returns what is wrong with the text, or an empty text. May rewrite the text.
    std::function<std::string(std::string& text)> judge;
    /// The range for the help text: "0 to 100". May be empty.
    std::string range;
};

/// An option, a flag, or a positional argument. Functions have the names and meaning of CLI11's.
class Option {
public:
    explicit Option(CLI::Option& option) : option_(&option) {}

    Option type_name(const std::string& name) const;
    /// The same for the path of a file or folder, which must not be empty.
    Option path(const std::string& type_name) const;
    Option required(bool value = true) const;
    Option expected(int least, int most) const;
    /// Whether one name can be followed by several values.
    Option allow_extra_args(bool value) const;
    /// Shows the variable's value as the default. The type name must have been set before.
    Option capture_default_str() const;

    /// The function returns what is wrong with a value, or an empty text.
    Option check(const std::function<std::string(const std::string& text)>& problem) const;
    Option transform(const ValueRule& rule) const;
    /// Accepts only these values, which the help lists.
    Option one_of(std::vector<std::string> values) const;

    Option needs(Option other) const;
    Option needs(const std::string& other) const;
    Option excludes(Option other) const;
    Option excludes(const std::string& other) const;

    [[nodiscard]] std::string get_name() const;

private:
    CLI::Option* option_;
};

/// A subcommand, or the program. Variables and functions must outlive it.
class Command {
public:
    /// Implicit, so that CLI11's command can be passed to all functions here.
    Command(CLI::App& command) : command_(&command) {}

    [[nodiscard]] Command add_subcommand(const std::string& name, const std::string& help) const;

    /// `Value` is one of the types that command_line.cpp instantiates: text, texts, number, optional number.
    template <class Value>
    Option add_option(const std::string& names, Value& variable, const std::string& help) const;
    /// `Value` is bool, or text for flags with an optional value, which is "true" by default.
    template <class Value>
    Option add_flag(const std::string& names, Value& variable, const std::string& help) const;

    /// The same with a function that receives the value.
    Option add_text_option(const std::string& names, const std::function<void(const std::string&)>& take,
                           const std::string& help) const;
    Option add_texts_option(const std::string& names, const std::function<void(const std::vector<std::string>&)>& take,
                            const std::string& help) const;
    Option add_number_option(const std::string& names, const std::function<void(double)>& take,
                             const std::string& help) const;
    Option add_flag_callback(const std::string& names, const std::function<void()>& take,
                             const std::string& help) const;

    [[nodiscard]] Option get_option(const std::string& name) const;

    Command footer(const std::string& text) const;
    Command require_subcommand(int count) const;
    /// Accepts words that belong to no option; they remain.
    Command allow_extras() const;
    [[nodiscard]] std::vector<std::string> remaining() const;
    /// Sets the function that runs after the whole command line was parsed.
    Command callback(const std::function<void()>& run) const;

    [[nodiscard]] CLI::App& cli11() const { return *command_; }

private:
    CLI::App* command_;
};

/// Parses words as the options of a command that `set_up` creates. The error says what is wrong with them.
[[nodiscard]] core::Result<void> read_words(const std::function<void(Command)>& set_up, std::vector<std::string> words);

/// The keys of a table, for Option::one_of.
template <class Table>
[[nodiscard]] std::vector<std::string> keys_of(const Table& table) {
    std::vector<std::string> keys;
    for (const auto& entry : table) {
        keys.push_back(entry.first);
    }
    return keys;
}

/// For functions that receive values: reports that the value of an option is wrong or missing.
[[noreturn]] void throw_wrong_value(const std::string& option, const std::string& problem);
[[noreturn]] void throw_missing(const std::string& name);

}  // namespace dmlconform::app
