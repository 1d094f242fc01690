// Adds up results.
#include "engine/page/totals.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "engine/operators/operator_name.h"
#include "engine/report/result_file.h"

namespace dmlconform::page {
namespace {

using Json = nlohmann::ordered_json;

/// Outputs beyond their tolerance may be wrong for any reason, so only those with a known precision count.
void add_precision(const Json& precision, bool differs, Total& total) {
    const auto number = [&](const char* member) {
        const auto found = precision.find(member);
        return found != precision.end() && found->is_number() ? found->get<double>() : 0.0;
    };
    compare::PrecisionStatistic statistic;
    statistic.elements = static_cast<std::uint64_t>(std::clamp(number("elements"), 0.0, 0x1p62));
    statistic.different = static_cast<std::uint64_t>(std::clamp(number("different"), 0.0, 0x1p62));
    const auto elements = static_cast<double>(statistic.elements);
    statistic.squares = number("q") * number("q") * elements;
    statistic.towards_zero = number("bias") * elements;
    const auto name = precision.find("computesAs");
    const bool is_named = name != precision.end() && name->is_string();
    if (!differs || is_named) {
        total.precision.add(statistic);
    }
    if (is_named) {
        ++total.computes_as[name->get<std::string>()];
    }
}

void add_output(const Json& output, bool gated, Total& total) {
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
    const auto precision = output.find("precision");
    if (gated && precision != output.end() && precision->is_object()) {
        add_precision(*precision, output.value("beyondTolerance", Json()) != 0, total);
    }
}

}  // namespace

std::string Total::precision_name(const std::string& data_type) const {
    const std::pair<const std::string, std::uint64_t>* most = nullptr;
    for (const auto& entry : computes_as) {
        if (!entry.first.starts_with("FP32") && (most == nullptr || entry.second > most->second)) {
            most = &entry;
        }
    }
    if (most != nullptr) {
        return most->first;
    }
    constexpr const char* truncating = "FP32, rounding towards zero";
    if (computes_as.contains(truncating)) {
        return truncating;
    }
    if (!precision.can_tell()) {
        return {};
    }
    if (precision.q() <= compare::highest_honest_q || precision.truncates()) {
        return precision.truncates() ? truncating : "FP32";
    }
    const auto type = data_type == "FLOAT16" ? core::DataType::float16 : core::DataType::float32;
    return fmt::format("less than FP32 ({:.1f} bits)", compare::effective_bits(precision.q(), type));
}

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
    precision.add(other.precision);
    for (const auto& [name, count] : other.computes_as) {
        computes_as[name] += count;
    }
    off_gate += other.off_gate;
    largest_tolerance = std::max(largest_tolerance, other.largest_tolerance);
    seconds += other.seconds;
}

void add_result(const Json& result, const std::string& data_type, Totals& totals) {
    Total& total = totals[{std::string(operators::short_name_of(result["operator"].get<std::string>())), data_type,
                           result["engine"].get<std::string>()}];
    if (result["gated"].get<bool>()) {
        ++total.counts[static_cast<std::size_t>(*report::status_named(result["status"].get<std::string>()))];
    } else {
        ++total.off_gate;
    }
    for (const Json& output : result["outputs"]) {
        add_output(output, result["gated"].get<bool>(), total);
    }
    if (const auto timing = result.find("timing"); timing != result.end()) {
        total.seconds += (*timing)["executeNanoseconds"].get<double>() / 1e9;
    }
}

}  // namespace dmlconform::page
