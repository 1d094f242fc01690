// Sums.
#include "engine/page/totals.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/report/result_file.h"

namespace dmlconform::page {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view operator_prefix = "DML_OPERATOR_";

std::string short_name(const std::string& name) {
    return name.starts_with(operator_prefix) ? name.substr(operator_prefix.size()) : name;
}

void add_output(const Json& output, Total& total) {
    if (const auto histogram = output.find("ulpHistogram"); histogram != output.end() && histogram->is_object()) {
        for (std::size_t bucket = 0; bucket < total.ulps.size(); ++bucket) {
            const auto count = histogram->find(compare::UlpHistogram::label(bucket));
            if (count != histogram->end() && count->is_number_unsigned()) {
                total.ulps[bucket] += count->get<std::uint64_t>();
            }
        }
    }
    const auto used = output.find("largestToleranceUsed");
    if (used != output.end() && used->is_number()) {
        const double share = std::clamp(used->get<double>(), 0.0, 1.0);
        const auto bin = static_cast<std::size_t>(share * tolerance_bins);
        ++total.tolerance[std::min(bin, tolerance_bins - 1)];
        total.largest_tolerance = std::max(total.largest_tolerance, share);
    }
}

}  // namespace

std::uint64_t Total::failures() const {
    std::uint64_t failures = 0;
    for (std::size_t status = 0; status < counts.size(); ++status) {
        failures += run::is_failure(static_cast<run::Status>(status)) ? counts[status] : 0;
    }
    return failures;
}

void Total::add(const Total& other) {
    const auto sum = [](auto& to, const auto& from) {
        std::transform(to.begin(), to.end(), from.begin(), to.begin(), std::plus<>());
    };
    sum(counts, other.counts);
    sum(ulps, other.ulps);
    sum(tolerance, other.tolerance);
    off_gate += other.off_gate;
    largest_tolerance = std::max(largest_tolerance, other.largest_tolerance);
    seconds += other.seconds;
}

void add_result(const Json& result, const std::string& data_type, Totals& totals) {
    Total& total =
        totals[{short_name(result["operator"].get<std::string>()), data_type, result["engine"].get<std::string>()}];
    if (result["gated"].get<bool>()) {
        ++total.counts[static_cast<std::size_t>(*report::status_named(result["status"].get<std::string>()))];
    } else {
        ++total.off_gate;
    }
    for (const Json& output : result["outputs"]) {
        add_output(output, total);
    }
    if (const auto timing = result.find("timing"); timing != result.end()) {
        total.seconds += (*timing)["executeNanoseconds"].get<double>() / 1e9;
    }
}

}  // namespace dmlconform::page
