// Numbers with their nouns, for messages.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace dmlconform::core {

/// "1 node", "2 nodes". For nouns whose plural ends with s.
[[nodiscard]] inline std::string counted(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace dmlconform::core
