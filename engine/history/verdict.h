// Whether a benchmark is slower now than it was before: one answer for `history show`, `history gate` and the page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "engine/history/change_points.h"
#include "engine/history/store.h"

namespace dmlconform::history {

enum class Verdict : std::uint8_t {
    as_before,
    slower,        // it went to a slower level, within a window of the newest result, and has stayed there since
    maybe_slower,  // only the newest result is slower: the next one will tell
    faster,        // the same as slower, the other way
    too_few,       // there are not enough results for any change
    gone,          // none of the newest results has it: see NewestResults
};

/// "slower", "maybe slower", …
[[nodiscard]] const char* to_string(Verdict verdict);

struct Judgement {
    Verdict verdict = Verdict::as_before;
    /// The change that decided; nothing where there is none.
    std::optional<ChangePoint> change{};
};

/// The settings for each of `count` series that are judged together, so that the probability of a wrong change holds
/// for all of them.
[[nodiscard]] ChangePointSettings for_each_of(std::size_t count, ChangePointSettings settings);

/// With fewer results, no change can be found.
[[nodiscard]] std::size_t fewest_results(const ChangePointSettings& settings);

/// The change points of a series. Whoever shows or judges a series uses these.
[[nodiscard]] std::vector<ChangePoint> changes_of(const Series& series, const ChangePointSettings& settings);

/// The newest results of a history: as far back as a window of the benchmark that was measured most often. A benchmark
/// that none of them has is gone: it was removed or renamed, or its machine, adapter or descriptor was replaced.
class NewestResults {
public:
    NewestResults(std::span<const Series> all, std::size_t window);

    [[nodiscard]] bool have(const Series& series) const;

private:
    /// The time and the entry of the first of them.
    std::pair<std::int64_t, std::int64_t> first_;
};

/// Judges a series of medians, whose newest one is last. A change that is a whole window old is no regression any more:
/// the benchmark is now compared with the level after it. A newest result that differs from a slower level does not
/// make up for it before another one confirms that.
[[nodiscard]] Judgement judge(std::span<const double> medians, const ChangePointSettings& settings = {});

/// The same, of the change points that are known already. `results`: how many medians there are.
[[nodiscard]] Judgement judge(std::span<const ChangePoint> changes, std::size_t results,
                              const ChangePointSettings& settings = {});

/// The same, of a series with these change points, which may be gone.
[[nodiscard]] Judgement judge(const Series& series, std::span<const ChangePoint> changes, const NewestResults& newest,
                              const ChangePointSettings& settings = {});

}  // namespace dmlconform::history
