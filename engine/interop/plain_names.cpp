// Shortens names, replaces what cannot be shown, and numbers equal ones.
#include "engine/interop/plain_names.h"

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string_view>

#include "engine/core/utf8.h"

namespace dmlconform::interop {
namespace {

std::string plain_name(const std::string& name) {
    constexpr std::size_t most_characters = 200;
    std::string plain;
    core::for_each_character(
        core::shortened(name, most_characters), [&](std::uint32_t character, std::string_view bytes) {
            const bool shown =
                character >= 0x20 && (character < 0x7f || character >= 0xa0) && !core::find_invalid_utf8(bytes);
            plain += shown ? std::string(bytes) : "_";
        });
    return plain.empty() ? "unnamed" : plain;
}

}  // namespace

std::string PlainNames::unique(const std::string& name) {
    const std::string plain = plain_name(name);
    std::string candidate = plain;
    const std::hash<std::string> hash;
    for (std::size_t& number = taken_.try_emplace(hash(plain), 0).first->second;; ++number) {
        candidate = number == 0 ? plain : fmt::format("{}~{}", plain, number + 1);
        if (number == 0 || taken_.try_emplace(hash(candidate), 1).second) {
            ++number;
            return candidate;
        }
    }
}

}  // namespace dmlconform::interop
