// Percentages on the command line, and how many runs make pairs.
#include "app/comparison_options.h"

#include <fmt/format.h>

#include <exception>
#include <string>

namespace dmlconform::app {
namespace {

/// "5%" or "0.05". Empty: no error.
std::string parse_threshold(const std::string& text, double& threshold) {
    std::size_t used = 0;
    double value = 0;
    try {
        value = std::stod(text, &used);
    } catch (const std::exception&) {
        return "no number: " + text;
    }
    const bool percent = text.substr(used) == "%";
    if ((!percent && used != text.size()) || !(value >= 0) || value > 1000) {
        return "no threshold, as 5% is: " + text;
    }
    threshold = percent ? value / 100 : value;
    return {};
}

}  // namespace

void add_comparison_options(CLI::App& command, bench::ComparisonSettings& settings) {
    command
        .add_option_function<std::string>(
            "--threshold",
            [&threshold = settings.threshold](const std::string& text) {
                if (const std::string error = parse_threshold(text, threshold); !error.empty()) {
                    throw CLI::ValidationError("--threshold", error);
                }
            },
            "Slowdowns up to this are none (default: 5%)")
        ->type_name("PERCENT");
    command.add_flag("--paired", settings.paired,
                     "The first run of one side was taken next to the first of the other, and so on: compare the two "
                     "of each pair");
}

core::Result<void> check_pairs(const bench::ComparisonSettings& settings, std::size_t base, std::size_t now) {
    if (!settings.paired || (base == now && base >= bench::least_pairs)) {
        return {};
    }
    return core::fail(fmt::format("--paired cannot compare {} and {} files", base, now),
                      fmt::format("it takes as many of each side, at least {}", bench::least_pairs));
}

}  // namespace dmlconform::app
