// Splits a command at blanks, with quotes and backslashes.
#include "engine/worker/command_words.h"

#include <fmt/format.h>

#include <optional>

namespace dmlconform::worker {
namespace {

/// True if a backslash before `next` escapes it.
bool is_kept(char quote, char next) {
    switch (quote) {
        case '\'':
            return false;
        case '"':
            return next == '"' || next == '\\';
        default:
            return next == ' ' || next == '\t' || next == '"' || next == '\'' || next == '\\';
    }
}

}  // namespace

core::Result<std::vector<std::string>> split_command(std::string_view command) {
    std::vector<std::string> words;
    std::optional<std::string> word;  // "" is a word too
    char quote = 0;
    for (std::size_t i = 0; i < command.size(); ++i) {
        const char c = command[i];
        if (c == '\\' && i + 1 < command.size() && is_kept(quote, command[i + 1])) {
            word = word.value_or("") + command[++i];
        } else if (quote != 0 ? c == quote : c == '\'' || c == '"') {
            word = word.value_or("");
            quote = quote != 0 ? '\0' : c;
        } else if (quote == 0 && (c == ' ' || c == '\t')) {
            if (word) {
                words.push_back(*word);
            }
            word.reset();
        } else {
            word = word.value_or("") + c;
        }
    }
    if (quote != 0) {
        return core::fail(fmt::format("a quote {} is not closed in the command `{}`", quote, command));
    }
    if (word) {
        words.push_back(*word);
    }
    if (words.empty()) {
        return core::fail("the command is empty");
    }
    return words;
}

}  // namespace dmlconform::worker
