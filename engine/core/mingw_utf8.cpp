// Makes std::filesystem::path take UTF-8, which it gives, in programs of MinGW-w64.
//
// GCC's library converts narrow text to a path by the C library's mbrtowc, which takes each byte for a character, but
// converts paths to UTF-8. So path(path.string()) would be another path if it is not ASCII. The linker sends mbrtowc's
// callers here (--wrap).
#ifdef __MINGW32__

#include <cstddef>
#include <cstdint>
#include <cwchar>
#include <string_view>

#include "engine/core/utf8.h"

namespace {

constexpr auto invalid = static_cast<std::size_t>(-1);
constexpr auto incomplete = static_cast<std::size_t>(-2);

}  // namespace

/// mbrtowc for UTF-8. A character of four bytes becomes two words: the first three bytes give the first one, and
/// `state` keeps the second one, which the last byte gives.
extern "C" std::size_t __wrap_mbrtowc(wchar_t* to, const char* from, std::size_t count, std::mbstate_t* state) {
    if (count == 0) {
        return incomplete;
    }
    if (*state != 0) {
        *to = static_cast<wchar_t>(*state);
        *state = 0;
        return 1;
    }
    std::uint32_t character = 0;
    const std::size_t length = dmlconform::core::decode_character(std::string_view(from, count), character);
    if (length == 0) {
        return invalid;
    }
    constexpr std::uint32_t first_of_two_words = 0x10000;
    if (character >= first_of_two_words) {
        const std::uint32_t rest = character - first_of_two_words;
        *to = static_cast<wchar_t>(0xd800 + (rest >> 10));
        *state = static_cast<std::mbstate_t>(0xdc00 + (rest & 0x3ff));
        return length - 1;
    }
    *to = static_cast<wchar_t>(character);
    return character == 0 ? 0 : length;
}

#endif
