// Points in time in the format of results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dmlconform::history {

/// Parses "2026-11-21T13:04:42Z", or with "+01:00" instead of "Z", as `run` and Google Benchmark write it, to seconds
/// since 1970. Empty for other texts.
[[nodiscard]] std::optional<std::int64_t> parse_moment(std::string_view text);

/// "2026-11-21T13:04:42Z".
[[nodiscard]] std::string format_moment(std::int64_t seconds);

}  // namespace dmlconform::history
