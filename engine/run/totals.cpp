// Adds up results.
#include "engine/run/totals.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace dmlconform::run {
namespace {

/// Ratio of neighbouring buckets. The middle of a bucket is within 0.1 % of its values.
constexpr double bucket_ratio = 1.002;

/// The engine, and why it shows nothing.
std::string reason_text(const CaseResult& result, std::span<const EngineInfo> engines) {
    return fmt::format("{}: {}", engines[result.engine].name, result.reason);
}

}  // namespace

void DurationHistogram::add(std::chrono::nanoseconds duration) {
    // The clock may have been set back.
    const auto counted = std::max(duration, std::chrono::nanoseconds(0));
    least_ = count_ == 0 ? counted : std::min(least_, counted);
    greatest_ = std::max(greatest_, counted);
    ++count_;
    const double nanoseconds = std::max(static_cast<double>(counted.count()), 1.0);
    ++buckets_[static_cast<int>(std::floor(std::log(nanoseconds) / std::log(bucket_ratio)))];
}

void DurationHistogram::add(const DurationHistogram& other) {
    if (other.empty()) {
        return;
    }
    least_ = empty() ? other.least_ : std::min(least_, other.least_);
    greatest_ = std::max(greatest_, other.greatest_);
    count_ += other.count_;
    for (const auto& [bucket, count] : other.buckets_) {
        buckets_[bucket] += count;
    }
}

std::chrono::nanoseconds DurationHistogram::median() const {
    std::size_t below = 0;
    for (const auto& [bucket, count] : buckets_) {
        below += count;
        if (below > count_ / 2) {
            const std::chrono::nanoseconds middle(std::llround(std::pow(bucket_ratio, bucket + 0.5)));
            return std::clamp(middle, least_, greatest_);
        }
    }
    return {};
}

void Tally::add(const CaseResult& result) {
    ++counts[static_cast<std::size_t>(result.status)];
    total += result.timing.total;
    if (result.timing.execute.count() != 0) {
        executions.add(result.timing.device.value_or(result.timing.execute));
    }
    if (result.timing.steady) {
        steady.add(*result.timing.steady);
    }
}

void Tally::add(const Tally& other) {
    for (std::size_t status = 0; status < status_count; ++status) {
        counts[status] += other.counts[status];
    }
    total += other.total;
    executions.add(other.executions);
    steady.add(other.steady);
}

void PrecisionCounts::add(const OutputPrecision& precision) {
    ++(precision.computes_as.empty() ? cannot_tell : precision.computes_as.starts_with("FP32") ? fp32 : less);
}

void RunTotals::add(const CaseResult& result) {
    ++results;
    if (!result.gated) {
        ++off_gate[static_cast<std::size_t>(result.status)];
        if (is_failure(result.status) && off_gate_failures.size() < most_off_gate_failures) {
            off_gate_failures.push_back(fmt::format("{} on {}", result.subject->id, engines[result.engine].name));
        }
        return;
    }
    for (const OutputResult& output : result.outputs) {
        if (output.precision) {
            precision.add(*output.precision);
        }
    }
    if (result.status == Status::skip && result.expectation == nullptr) {
        skips[reason_text(result, engines)].add(result.subject->id);
    }
    rows[{std::string(result.subject->descriptor->schema->short_name()), result.engine}].add(result);
    all[result.engine].add(result);
}

void RunTotals::add_case(std::span<const CaseResult> results_of_case) {
    if (results_of_case.empty() || !results_of_case.front().gated) {
        return;
    }
    Shown shown = Shown::nothing;
    for (const CaseResult& result : results_of_case) {
        shown = std::max(shown, shown_by(result));
    }
    std::vector<std::string> why;
    if (shown == Shown::nothing) {
        for (const CaseResult& result : results_of_case) {
            why.push_back(reason_text(result, engines));
        }
    }
    for (const CaseResult& result : results_of_case) {
        if (shown == Shown::powerless && shown_by(result) == Shown::powerless && why.empty()) {
            why.push_back(powerless_reason(result));
        }
    }
    unverified.add(results_of_case.front().subject->id, shown, fmt::format("{}", fmt::join(why, "; ")));
}

std::size_t RunTotals::count(Status status, bool gated) const {
    if (!gated) {
        return off_gate[static_cast<std::size_t>(status)];
    }
    std::size_t sum = 0;
    for (const Tally& tally : all) {
        sum += tally.count(status);
    }
    return sum;
}

std::size_t RunTotals::failures(bool gated) const {
    std::size_t sum = 0;
    for (std::size_t status = 0; status < status_count; ++status) {
        const auto which = static_cast<Status>(status);
        sum += is_failure(which) ? count(which, gated) : 0;
    }
    return sum;
}

std::size_t RunTotals::verified() const {
    std::size_t sum = 0;
    for (std::size_t status = 0; status < status_count; ++status) {
        const auto which = static_cast<Status>(status);
        sum += is_verified(which) ? count(which) : 0;
    }
    return sum;
}

bool RunTotals::passed() const {
    return verified() > 0 && failures() == 0;
}

}  // namespace dmlconform::run
