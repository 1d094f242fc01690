// What a run has not verified although nothing failed: cases without a verdict from any engine, outputs that were
// not compared, or within a tolerance that accepts unrelated values, and filters that match nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/run/result.h"

namespace dmlconform::run {

/// How much of a case a result verifies, in ascending order. `powerless`: an output passed within a tolerance that also
/// accepts unrelated values.
enum class Shown : std::uint8_t { nothing, part, powerless, all };

/// Classifies a result. `all` for failures, which are reported anyway, and for skips that an expectation file requests.
/// `compared`: what was compared, if the case was verified.
[[nodiscard]] Shown shown_by(Status status, bool has_expectation, Shown compared);
[[nodiscard]] Shown shown_by(const CaseResult& result);

/// Why the result is `powerless`: "OutputTensor: the tolerance also accepts zeros".
[[nodiscard]] std::string powerless_reason(const CaseResult& result);

/// Results that verify nothing for a common reason.
struct SharedReason {
    std::size_t count = 0;
    /// The first of these results.
    std::string example;

    void add(std::string_view id) {
        if (++count == 1) {
            example = id;
        }
    }
};
using SharedReasons = std::map<std::string, SharedReason>;

/// One line for each reason, the most frequent first. Only the first few are listed, the others are counted. `unit`:
/// what is counted.
[[nodiscard]] std::vector<std::string> reason_lines(const SharedReasons& reasons, std::string_view unit);

struct Unverified {
    /// The maximum number of ids that are kept for each kind.
    static constexpr std::size_t most_examples = 3;

    /// The number of counted cases. Repetitions count separately.
    std::size_t of = 0;
    /// Cases that no engine verified.
    std::size_t cases = 0;
    std::vector<std::string> examples{};
    /// Cases with an output that has no expected values and that only the reference computed.
    std::size_t in_part = 0;
    std::vector<std::string> in_part_examples{};
    /// Cases whose tolerance accepts unrelated values.
    std::size_t powerless = 0;
    std::vector<std::string> powerless_examples{};
    /// The reasons by engine: "cpu: there is no kernel; d3d12: …".
    SharedReasons reasons{};
    SharedReasons powerless_reasons{};
    /// Filters that match no case while others of the run do.
    std::vector<std::string> filters{};

    /// Counts a case on the gate. `shown` is the maximum over its results; `why` has the reasons of all engines if that
    /// is nothing or `powerless`.
    void add(std::string_view id, Shown shown, const std::string& why = {});
    [[nodiscard]] bool any() const { return cases != 0 || in_part != 0 || powerless != 0 || !filters.empty(); }
    /// One sentence for each observation.
    [[nodiscard]] std::vector<std::string> sentences() const;
};

}  // namespace dmlconform::run
