// The command line as commands see it: CLI11's commands and options, by handles. CLI11's own header takes four seconds
// to compile, so few files include it: command_line.cpp, which adds and sets up, command_tree.cpp, which looks, and
// main.cpp, which reads the command line.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace dmlconform::app {

/// What a value has to be.
struct ValueRule {
    /// What is wrong with the text, or nothing. It may write the text in another way.
    std::function<std::string(std::string& text)> judge;
    /// What may be given, for the help: "0 to 100". Empty if there is nothing to say.
    std::string range;
};

/// An option, a flag, or an argument without a name. Functions are called as CLI11's, and do the same.
class Option {
public:
    explicit Option(CLI::Option& option) : option_(&option) {}

    Option type_name(const std::string& name) const;
    Option required(bool value = true) const;
    Option expected(int least, int most) const;
    /// Whether several values may follow one name.
    Option allow_extra_args(bool value) const;
    /// Shows the variable's value as the default. It has to have its type's name by then.
    Option capture_default_str() const;

    /// What is wrong with a value, or nothing.
    Option check(const std::function<std::string(const std::string& text)>& problem) const;
    Option transform(const ValueRule& rule) const;
    /// Refuses all values but these, which the help lists.
    Option one_of(std::vector<std::string> values) const;

    Option needs(Option other) const;
    Option needs(const std::string& other) const;
    Option excludes(Option other) const;
    Option excludes(const std::string& other) const;

    [[nodiscard]] std::string get_name() const;

private:
    CLI::Option* option_;
};

/// A subcommand, or the program itself. Variables and functions have to live as long as it does.
class Command {
public:
    /// Whoever has CLI11's command can hand it to everything here.
    Command(CLI::App& command) : command_(&command) {}

    [[nodiscard]] Command add_subcommand(const std::string& name, const std::string& help) const;

    /// `Value` is a text, texts, a number or what may be a number: those that command_line.cpp instantiates.
    template <class Value>
    Option add_option(const std::string& names, Value& variable, const std::string& help) const;
    /// `Value` is bool, or a text for flags that may have a value: "true" without one.
    template <class Value>
    Option add_flag(const std::string& names, Value& variable, const std::string& help) const;

    /// The same for what is more than a variable.
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
    /// Lets words through that are nobody's: those remain.
    Command allow_extras() const;
    [[nodiscard]] std::vector<std::string> remaining() const;
    /// What the command does, once all of the command line has been read.
    Command callback(const std::function<void()>& run) const;

    [[nodiscard]] const CLI::App& cli11() const { return *command_; }

private:
    CLI::App* command_;
};

/// The names of a table, for Option::one_of.
template <class Table>
[[nodiscard]] std::vector<std::string> keys_of(const Table& table) {
    std::vector<std::string> keys;
    for (const auto& entry : table) {
        keys.push_back(entry.first);
    }
    return keys;
}

/// From functions that take values: the command line is wrong in what an option has, or lacks something.
[[noreturn]] void throw_wrong_value(const std::string& option, const std::string& problem);
[[noreturn]] void throw_missing(const std::string& name);

}  // namespace dmlconform::app
