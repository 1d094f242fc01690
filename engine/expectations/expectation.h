// What is known to go wrong, and on which engines: the content of expectation files.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "engine/expectations/version_range.h"

namespace dmlconform::expectations {

/// How a case is expected to end. `skip`: it is not even run. `flake`: it may fail, and is tried again then.
enum class Expected : std::uint8_t { fail, error, crash, timeout, skip, flake };

inline constexpr std::size_t expected_count = 6;

/// "fail", …
[[nodiscard]] const char* to_string(Expected expected);
[[nodiscard]] std::optional<Expected> parse_expected(std::string_view text);

using Date = std::chrono::sys_days;

/// Today, in UTC.
[[nodiscard]] Date today();
/// "2026-12-31"; nothing when there is no such day.
[[nodiscard]] std::optional<Date> parse_date(std::string_view text);
[[nodiscard]] std::string to_string(Date date);

struct Expectation {
    /// Globs of case ids; at least one.
    std::vector<std::string> cases;
    /// A glob; "*" for every engine.
    std::string engine = "*";
    /// Part of the adapter's name in any case, in which `*` and `?` mean what they mean in globs; empty: every adapter.
    std::string adapter{};
    /// Versions of the driver, and of libraries that the engine runs on.
    std::optional<VersionRange> driver{};
    std::map<std::string, VersionRange> libraries{};
    Expected expected = Expected::fail;
    std::string reason;
    /// A link; may be empty.
    std::string issue{};
    /// For Expected::flake: how often a case that fails is tried again.
    unsigned retries = 3;
    /// The last day on which it counts.
    std::optional<Date> expires{};
    /// Where it is written.
    std::string file{};
    std::size_t line = 0;

    /// Whether it speaks of that engine, on that adapter, with that driver.
    [[nodiscard]] bool concerns(const EngineInfo& engine_info) const;
    [[nodiscard]] bool expired(Date date) const { return expires && date > *expires; }
    /// "expectations.json:12"
    [[nodiscard]] std::string place() const;
};

}  // namespace dmlconform::expectations
