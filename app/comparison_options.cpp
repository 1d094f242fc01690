// Reads the options of comparisons, and checks the number of runs.
#include "app/comparison_options.h"

#include <fmt/format.h>

#include "app/percentage_option.h"

namespace dmlconform::app {
void add_comparison_options(Command command, bench::ComparisonSettings& settings) {
    add_percentage(command, "--threshold", settings.threshold, "Ignore slowdowns up to this");
    command.add_flag("--paired", settings.paired,
                     "Compare run by run: the first of one side with the first of the other, and so on, because they "
                     "were taken next to each other");
}

core::Result<void> check_pairs(const bench::ComparisonSettings& settings, std::size_t base, std::size_t now) {
    if (!settings.paired || (base == now && base >= bench::least_pairs)) {
        return {};
    }
    return core::fail(fmt::format("--paired cannot compare {} and {} files", base, now),
                      fmt::format("it takes as many of each side, at least {}", bench::least_pairs));
}

}  // namespace dmlconform::app
