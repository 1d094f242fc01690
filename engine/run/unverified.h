// What a run does not show although nothing in it failed: cases that no engine verified, outputs that were compared
// with nothing, and filters that chose nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/run/result.h"

namespace dmlconform::run {

/// How much of a case a result says something about. A later one is more than an earlier one.
enum class Shown : std::uint8_t { nothing, part, all };

/// `all` for failures too, which are reported anyway, and for skips that a file of expectations asks for.
[[nodiscard]] Shown shown_by(Status status, bool has_expectation, bool all_compared);
[[nodiscard]] Shown shown_by(const CaseResult& result);

/// Results that share the reason why they show nothing.
struct SharedReason {
    std::size_t count = 0;
    /// The first of them.
    std::string example;

    void add(std::string_view id) {
        if (++count == 1) {
            example = id;
        }
    }
};
using SharedReasons = std::map<std::string, SharedReason>;

/// A line for each reason, the most frequent first; of many, the first few, and how many more there are. `unit`:
/// what is counted.
[[nodiscard]] std::vector<std::string> reason_lines(const SharedReasons& reasons, std::string_view unit);

struct Unverified {
    /// So many ids are kept of each kind.
    static constexpr std::size_t most_examples = 3;

    /// How many cases were counted; in repetitions, each counts again.
    std::size_t of = 0;
    /// Cases about which no engine's result says anything.
    std::size_t cases = 0;
    std::vector<std::string> examples{};
    /// Cases of which some output has no expected values, and only the reference computed it.
    std::size_t in_part = 0;
    std::vector<std::string> in_part_examples{};
    /// Why, by engine: "cpu: there is no kernel; d3d12: …".
    SharedReasons reasons{};
    /// Filters that match no case, in a run with others that do.
    std::vector<std::string> filters{};

    /// Counts a case on the gate; `shown` is the most that one of its results shows, `why` the reasons of all engines
    /// where that is nothing.
    void add(std::string_view id, Shown shown, const std::string& why = {});
    [[nodiscard]] bool any() const { return cases != 0 || in_part != 0 || !filters.empty(); }
    /// What there is to say, a sentence each.
    [[nodiscard]] std::vector<std::string> sentences() const;
};

}  // namespace dmlconform::run
