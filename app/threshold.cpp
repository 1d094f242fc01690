// Percentages on the command line.
#include "app/threshold.h"

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

void add_threshold(CLI::App& command, double& threshold) {
    command
        .add_option_function<std::string>(
            "--threshold",
            [&threshold](const std::string& text) {
                if (const std::string error = parse_threshold(text, threshold); !error.empty()) {
                    throw CLI::ValidationError("--threshold", error);
                }
            },
            "Slowdowns up to this are none (default: 5%)")
        ->type_name("PERCENT");
}

}  // namespace dmlconform::app
