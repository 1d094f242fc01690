// Forwards everything to CLI11.
#include "app/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dmlconform::app {

Option Option::type_name(const std::string& name) const {
    return Option(*option_->type_name(name));
}

Option Option::path(const std::string& name) const {
    return type_name(name).check([](const std::string& path) { return path.empty() ? "the path is empty" : ""; });
}

Option Option::required(bool value) const {
    return Option(*option_->required(value));
}

Option Option::expected(int least, int most) const {
    return Option(*option_->expected(least, most));
}

Option Option::allow_extra_args(bool value) const {
    return Option(*option_->allow_extra_args(value));
}

Option Option::capture_default_str() const {
    return Option(*option_->capture_default_str());
}

Option Option::check(const std::function<std::string(const std::string& text)>& problem) const {
    return Option(*option_->check(problem));
}

Option Option::transform(const ValueRule& rule) const {
    return Option(*option_->transform(CLI::Validator(rule.judge, rule.range)));
}

Option Option::one_of(std::vector<std::string> values) const {
    return Option(*option_->check(CLI::IsMember(std::move(values))));
}

Option Option::needs(Option other) const {
    return Option(*option_->needs(other.option_));
}

Option Option::needs(const std::string& other) const {
    return Option(*option_->needs(other));
}

Option Option::excludes(Option other) const {
    return Option(*option_->excludes(other.option_));
}

Option Option::excludes(const std::string& other) const {
    return Option(*option_->excludes(other));
}

std::string Option::get_name() const {
    return option_->get_name();
}

Command Command::add_subcommand(const std::string& name, const std::string& help) const {
    return *command_->add_subcommand(name, help);
}

template <class Value>
Option Command::add_option(const std::string& names, Value& variable, const std::string& help) const {
    return Option(*command_->add_option(names, variable, help));
}

template Option Command::add_option(const std::string&, std::string&, const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<std::string>&, const std::string&) const;
template Option Command::add_option(const std::string&, std::vector<std::string>&, const std::string&) const;
template Option Command::add_option(const std::string&, std::uint32_t&, const std::string&) const;
template Option Command::add_option(const std::string&, std::uint64_t&, const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<std::uint64_t>&, const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<std::int64_t>&, const std::string&) const;
template Option Command::add_option(const std::string&, std::int64_t&, const std::string&) const;
template Option Command::add_option(const std::string&, double&, const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<double>&, const std::string&) const;

template <class Value>
Option Command::add_flag(const std::string& names, Value& variable, const std::string& help) const {
    return Option(*command_->add_flag(names, variable, help));
}

template Option Command::add_flag(const std::string&, bool&, const std::string&) const;
template Option Command::add_flag(const std::string&, std::string&, const std::string&) const;

Option Command::add_text_option(const std::string& names, const std::function<void(const std::string&)>& take,
                                const std::string& help) const {
    return Option(*command_->add_option_function<std::string>(names, take, help));
}

Option Command::add_texts_option(const std::string& names,
                                 const std::function<void(const std::vector<std::string>&)>& take,
                                 const std::string& help) const {
    return Option(*command_->add_option_function<std::vector<std::string>>(names, take, help));
}

Option Command::add_number_option(const std::string& names, const std::function<void(double)>& take,
                                  const std::string& help) const {
    return Option(*command_->add_option_function<double>(names, take, help));
}

Option Command::add_flag_callback(const std::string& names, const std::function<void()>& take,
                                  const std::string& help) const {
    return Option(*command_->add_flag_callback(names, take, help));
}

Option Command::get_option(const std::string& name) const {
    return Option(*command_->get_option(name));
}

Command Command::footer(const std::string& text) const {
    return *command_->footer(text);
}

Command Command::require_subcommand(int count) const {
    return *command_->require_subcommand(count);
}

Command Command::allow_extras() const {
    return *command_->allow_extras();
}

std::vector<std::string> Command::remaining() const {
    return command_->remaining();
}

Command Command::callback(const std::function<void()>& run) const {
    return *command_->callback(run);
}

core::Result<void> read_words(const std::function<void(Command)>& set_up, std::vector<std::string> words) {
    CLI::App app;
    app.allow_windows_style_options(false);
    set_up(app);
    std::reverse(words.begin(), words.end());  // CLI11 consumes them from the end
    try {
        app.parse(std::move(words));
    } catch (const CLI::ParseError& error) {
        return core::fail(error.what());
    }
    return {};
}

void throw_wrong_value(const std::string& option, const std::string& problem) {
    throw CLI::ValidationError(option, problem);
}

void throw_missing(const std::string& name) {
    throw CLI::RequiredError(name);
}

}  // namespace dmlconform::app
