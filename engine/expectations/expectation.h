// Expectations: known failures, and the engines that they concern. They are the contents of expectation files.
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

/// How a case is expected to end. `skip`: it is not run. `flake`: it may fail, and is then retried.
enum class Expected : std::uint8_t { fail, error, crash, timeout, skip, flake };

inline constexpr std::size_t expected_count = 6;

/// The name: "fail", …
[[nodiscard]] const char* to_string(Expected expected);
[[nodiscard]] std::optional<Expected> parse_expected(std::string_view text);

/// How a case fails: in any way, or only in this one. `differs` excludes outputs with unwritten parts, for which there
/// is `unwritten`.
enum class Happening : std::uint8_t { anything, rejected, accepted, differs, precision, unwritten };

inline constexpr std::size_t happening_count = 6;

/// The name: "rejected", …; empty for `anything`.
[[nodiscard]] const char* to_string(Happening happening);
/// Empty for any other text, including "".
[[nodiscard]] std::optional<Happening> parse_happening(std::string_view text);

using Date = std::chrono::sys_days;

/// Today, in UTC.
[[nodiscard]] Date today();
/// Parses "2026-12-31"; empty if there is no such day.
[[nodiscard]] std::optional<Date> parse_date(std::string_view text);
[[nodiscard]] std::string to_string(Date date);

/// What Expectation::operators calls graphs as a whole.
inline constexpr std::string_view graph_name = "GRAPH";

struct Expectation {
    /// Globs for case ids. Empty: the other conditions decide.
    std::vector<std::string> cases{};
    /// Globs for operators' short names. Empty: every operator; then case ids are given.
    std::vector<std::string> operators{};
    /// A condition on descriptors and inputs.
    std::optional<Condition> when{};
    /// The elements of outputs that may differ; all others must not.
    std::optional<ElementCondition> elements{};
    Happening happens = Happening::anything;
    /// True if some of these cases pass for reasons that a condition cannot express; then a pass is an ordinary pass.
    bool sometimes = false;
    /// Limits the deviation of outputs to this multiple of the tolerance, and that of all elements together to this
    /// multiple of what FP32 may be off by; empty: no limit.
    std::optional<double> times_tolerance{};
    /// The heading of the finding in the documentation. May be empty.
    std::string finding{};
    /// A glob for engine names; "*" matches every engine.
    std::string engine = "*";
    /// A part of the adapter's name in any case, with `*` and `?` as in globs. Empty: every adapter.
    std::string adapter{};
    /// Versions of the driver, and of libraries that the engine uses.
    std::optional<VersionRange> driver{};
    std::map<std::string, VersionRange> libraries{};
    Expected expected = Expected::fail;
    std::string reason;
    /// A link; may be empty.
    std::string issue{};
    /// For Expected::flake: the number of retries after a failure.
    unsigned retries = 3;
    /// The last day on which the expectation is in force.
    std::optional<Date> expires{};
    /// The file and line of the entry.
    std::string file{};
    std::size_t line = 0;

    /// True if it applies to that engine, adapter and driver.
    [[nodiscard]] bool concerns(const EngineInfo& engine_info) const;
    [[nodiscard]] bool expired(Date date) const { return expires && date > *expires; }
    /// True if it applies to the case, considering id, descriptor and inputs.
    [[nodiscard]] bool meets(const std::string& id, CaseFacts& facts) const;
    /// True if `elements` selects some element of an output, or if there is no such condition. Assumed for very large
    /// outputs, where evaluating it would take too long.
    [[nodiscard]] bool means_some_element(CaseFacts& facts) const;
    /// True if a pass contradicts it.
    [[nodiscard]] bool forbids_a_pass() const;
    /// True if it requires this operator for every case that `when` may hold for.
    [[nodiscard]] bool is_about(std::string_view operator_name) const;
    /// What the engine does with a case: "directml rejects it". Not for skips and flakes.
    [[nodiscard]] std::string what_is_done() const;
    /// The finding and the reason.
    [[nodiscard]] std::string title() const;
    /// The file and line: "expectations.json:12".
    [[nodiscard]] std::string location() const;
};

}  // namespace dmlconform::expectations
