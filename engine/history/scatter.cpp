// J. von Neumann: Distribution of the ratio of the mean square successive difference to the variance (1941).
#include "engine/history/scatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/history/verdict.h"

namespace dmlconform::history {
namespace {

std::string value_in(const bench::BenchmarkFile& file, const std::string& name) {
    const auto found = file.context.find(name);
    return found == file.context.end() ? std::string() : found->second;
}

bench::LearnedScatter scatter_of(const Series& series, const ChangePointSettings& settings) {
    const auto changes = changes_of(series, settings);
    double squares = 0;
    std::size_t count = 0;
    for (std::size_t i = 1; i < series.points.size(); ++i) {
        if (std::ranges::find(changes, i, &ChangePoint::index) == changes.end()) {
            const double difference = std::log(series.points[i].median / series.points[i - 1].median);
            squares += difference * difference;
            ++count;
        }
    }
    if (count == 0) {
        return {};
    }
    // A difference has twice the variance of a result. Neighbouring differences share a result, so they are worth two
    // thirds of their number.
    return {std::sqrt(squares / static_cast<double>(count) / 2), count * 2 / 3};
}

}  // namespace

std::map<std::string, bench::LearnedScatter> learned_scatter(std::span<const Series> all,
                                                             const bench::BenchmarkFile& file,
                                                             const ChangePointSettings& settings) {
    const std::string machine = value_in(file, "dmlconform.machine");
    const ChangePointSettings each = for_each_of(all.size(), settings);
    std::map<std::string, bench::LearnedScatter> learned;
    for (const Series& series : all) {
        const std::string adapter = value_in(file, fmt::format("dmlconform.{}.adapter", series.engine));
        const auto times = file.benchmarks.find(series.benchmark);
        const bool is_other_problem =
            series.one_of_several && times != file.benchmarks.end() &&
            series.label != fmt::format("{} {}", times->second.label, times->second.descriptor);
        if (series.machine == machine && series.adapter == adapter && !is_other_problem) {
            learned[series.benchmark] = scatter_of(series, each);
        }
    }
    return learned;
}

}  // namespace dmlconform::history
