// Reads the options of comparisons, and checks the number of runs.
#include "app/comparison_options.h"

#include <fmt/format.h>

#include "app/number_options.h"
#include "app/percentage_option.h"

namespace dmlconform::app {
void add_comparison_options(Command command, bench::ComparisonSettings& settings) {
    add_percentage(command, "--threshold", settings.threshold, "Ignore slowdowns up to this");
    command
        .add_text_option(
            "--significance",
            [&settings](const std::string& text) {
                const auto p = parse_number(text);
                if (!p || *p <= 0 || *p > 0.5) {
                    throw_wrong_value("--significance",
                                      fmt::format("{}: a probability above 0 and up to 0.5 is needed", text));
                }
                settings.significance = *p;
            },
            fmt::format("Call something slower or faster if that is wrong with at most this probability, for all "
                        "benchmarks together. Default: {:g}",
                        settings.significance))
        .type_name("P");
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
