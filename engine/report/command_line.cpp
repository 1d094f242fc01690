// Quotes words for shells.
#include "engine/report/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "engine/core/shown_text.h"
#include "engine/core/utf8.h"
#include "engine/core/windows_words.h"

namespace dmlconform::report {
namespace {

/// A command has a single adapter and feature level for all engines of this program.
std::string options_of(std::span<const EngineInfo> engines, bool here) {
    std::string names;
    std::set<std::string> adapters;
    std::string level;
    for (const EngineInfo& engine : engines) {
        names += names.empty() ? "--engine " : " --engine ";
        if (!engine.command.empty()) {
            names += word_quoted("exec:" + engine.command);
            continue;
        }
        names += word_quoted(engine.name);
        if (engine.has_only_outputs()) {
            continue;  // a folder, whatever was computed on
        }
        if (here && !engine.is_reference && !engine.adapter.empty()) {
            adapters.insert(engine.adapter);
        }
        if (engine.feature_level != core::highest_feature_level) {
            level = " --feature-level " + core::to_string(engine.feature_level);
        }
    }
    // Engines on different adapters chose these by themselves.
    return names + (adapters.size() == 1 ? " --adapter " + word_quoted(*adapters.begin()) : "") + level;
}

/// Escapes every byte that is not printable, in the syntax of bash, zsh and ksh.
std::string spelt_out(std::string_view text) {
    std::string quoted = "$'";
    while (!text.empty()) {
        std::uint32_t character = 0;
        const std::size_t length = core::decode_character(text, character);
        const std::string_view bytes = text.substr(0, std::max<std::size_t>(length, 1));
        if (character == '\\' || character == '\'') {
            quoted += '\\';
        }
        if (bytes == "\n") {
            quoted += "\\n";
        } else if (length != 0 && character != '#' && core::shows_as_itself(character)) {
            quoted += bytes;
        } else {
            for (const char c : bytes) {
                quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
            }
        }
        text.remove_prefix(bytes.size());
    }
    return quoted + "'";
}

}  // namespace

std::string shell_quoted(const std::string& text) {
    const bool plain =
        text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/=,+:") ==
        std::string::npos;
    if (plain && !text.empty()) {
        return text;
    }
    // Without such quotes, the printed text could differ from the word.
    if (core::one_line(text) != text) {
        return spelt_out(text);
    }
    std::string quoted = "'";
    for (const char c : text) {
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return quoted + "'";
}

std::string word_quoted(const std::string& text) {
#ifdef _WIN32
    return core::windows_quoted(text);
#else
    return shell_quoted(text);
#endif
}

std::string engine_options(const EngineInfo& engine, bool here) {
    return options_of({&engine, 1}, here);
}

std::string engines_options(std::span<const EngineInfo> engines) {
    return options_of(engines, true);
}

}  // namespace dmlconform::report
