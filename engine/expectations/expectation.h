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
#include "engine/expectations/condition.h"
#include "engine/expectations/element_condition.h"
#include "engine/expectations/version_range.h"

namespace dmlconform::expectations {

/// How a case is expected to end. `skip`: it is not even run. `flake`: it may fail, and is tried again then.
enum class Expected : std::uint8_t { fail, error, crash, timeout, skip, flake };

inline constexpr std::size_t expected_count = 6;

/// "fail", …
[[nodiscard]] const char* to_string(Expected expected);
[[nodiscard]] std::optional<Expected> parse_expected(std::string_view text);

/// What a case does that is expected to fail: any failure of that status, or one of these alone.
enum class Happening : std::uint8_t { anything, rejected, accepted, differs };

inline constexpr std::size_t happening_count = 4;

/// "rejected", …; empty for `anything`.
[[nodiscard]] const char* to_string(Happening happening);
/// Nothing for any other text, "" included.
[[nodiscard]] std::optional<Happening> parse_happening(std::string_view text);

using Date = std::chrono::sys_days;

/// Today, in UTC.
[[nodiscard]] Date today();
/// "2026-12-31"; nothing when there is no such day.
[[nodiscard]] std::optional<Date> parse_date(std::string_view text);
[[nodiscard]] std::string to_string(Date date);

struct Expectation {
    /// Globs of case ids. Empty: what follows decides alone.
    std::vector<std::string> cases{};
    /// Globs of operators' short names. Empty: every operator, and then there are ids of cases.
    std::vector<std::string> operators{};
    /// What descriptors and inputs have to be like.
    std::optional<Condition> when{};
    /// Which elements of outputs may differ; the others must not.
    std::optional<ElementCondition> elements{};
    Happening happens = Happening::anything;
    /// Whether some of the cases do not fail, because it depends on more than can be said: a pass is a plain pass.
    bool sometimes = false;
    /// How many times the tolerance an output that differs may be off; nothing: any.
    std::optional<double> times_tolerance{};
    /// The heading under which a page of findings has more. May be empty.
    std::string finding{};
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
    /// Whether it speaks of the case, as far as the id, the descriptor and the inputs say.
    [[nodiscard]] bool meets(const std::string& id, CaseFacts& facts) const;
    /// Whether `elements` are about some element of an output; true without them. Of more elements than a person would
    /// wait for it is taken for granted.
    [[nodiscard]] bool means_some_element(CaseFacts& facts) const;
    /// Whether a pass contradicts it.
    [[nodiscard]] bool forbids_a_pass() const;
    /// Whether it is about an operator of that short name in every case that `when` may hold for.
    [[nodiscard]] bool is_about(std::string_view operator_name) const;
    /// What the engine does with a case: "directml rejects it". Not for skips and flakes.
    [[nodiscard]] std::string what_is_done() const;
    /// The finding and the reason.
    [[nodiscard]] std::string title() const;
    /// "expectations.json:12"
    [[nodiscard]] std::string place() const;
};

}  // namespace dmlconform::expectations
