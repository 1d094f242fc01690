// Which expectation decides about a result.
#include "engine/run/expected_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "engine/core/glob.h"

namespace dmlconform::run {
namespace {

using expectations::Expectation;
using expectations::Expected;

/// The status of a result that is as expected; nothing for what is not a failure.
std::optional<Status> failure_of(Expected expected) {
    switch (expected) {
        case Expected::fail:
            return Status::fail;
        case Expected::error:
            return Status::error;
        case Expected::crash:
            return Status::crash;
        case Expected::timeout:
            return Status::timeout;
        default:
            return std::nullopt;
    }
}

std::string with_issue(const Expectation& expectation) {
    return expectation.issue.empty() ? expectation.reason
                                     : fmt::format("{} ({})", expectation.reason, expectation.issue);
}

}  // namespace

ExpectedResults::ExpectedResults(std::vector<Expectation> all, expectations::Date today)
    : all_(std::move(all)), concerned_(all_.size()), uses_(all_.size()) {
    for (const Expectation& entry : all_) {
        expired_.push_back(entry.expired(today));
    }
}

void ExpectedResults::set_engines(std::span<const EngineInfo> engines) {
    engines_.clear();
    for (const EngineInfo& engine : engines) {
        OfEngine& known = engines_.emplace_back();
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (expired_[i] || !all_[i].concerns(engine)) {
                continue;
            }
            concerned_[i] = true;
            for (const std::string& pattern : all_[i].cases) {
                if (pattern.find_first_of("*?") == std::string::npos) {
                    known.exact[pattern].push_back(i);
                } else {
                    known.patterns.emplace_back(pattern, i);
                }
            }
        }
    }
}

std::vector<std::size_t> ExpectedResults::matching(const std::string& case_id, std::size_t engine) const {
    const OfEngine& known = engines_.at(engine);
    std::vector<std::size_t> found;
    if (const auto exact = known.exact.find(case_id); exact != known.exact.end()) {
        found = exact->second;
    }
    for (const auto& [pattern, index] : known.patterns) {
        if (core::glob_matches(pattern, case_id)) {
            found.push_back(index);
        }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

CasePlan ExpectedResults::plan(const std::string& case_id, std::size_t engine) const {
    CasePlan plan;
    for (const std::size_t index : matching(case_id, engine)) {
        const Expectation& entry = all_[index];
        if (entry.expected == Expected::skip && plan.skip == nullptr) {
            plan.skip = &entry;
        } else if (entry.expected == Expected::flake) {
            plan.retries = std::max(plan.retries, entry.retries);
        }
    }
    return plan;
}

void ExpectedResults::use(CaseResult& result, std::size_t index) {
    result.expectation = &all_[index];
    ++uses_[index];
}

void ExpectedResults::apply(CaseResult& result) {
    const Status status = result.status;
    if (status == Status::reference) {
        return;  // there was nothing that could have failed
    }
    const auto matches = matching(result.subject->id, result.engine);
    const auto first = [&](const auto& is_meant) {
        return std::find_if(matches.begin(), matches.end(), [&](std::size_t index) { return is_meant(all_[index]); });
    };
    const auto same = first([&](const Expectation& entry) {
        return status == Status::skip    ? &entry == result.expectation
               : status == Status::flake ? entry.expected == Expected::flake
                                         : failure_of(entry.expected) == status;
    });
    if (same != matches.end()) {
        use(result, *same);
        if (is_failure(status)) {
            result.actual = status;
            result.status = Status::xfail;
        }
        return;
    }
    const auto flake = first([](const Expectation& entry) { return entry.expected == Expected::flake; });
    if (flake != matches.end() && status != Status::skip) {
        ++uses_[*flake];
        return;
    }
    const auto other = first([](const Expectation& entry) { return failure_of(entry.expected).has_value(); });
    if (other == matches.end() || status == Status::skip) {
        return;
    }
    use(result, *other);
    const Expectation& entry = all_[*other];
    if (status == Status::pass) {
        for (const std::size_t index : matches) {
            // All of them are contradicted; `other` was counted above.
            uses_[index] += index != *other && failure_of(all_[index].expected) ? 1 : 0;
        }
        result.actual = status;
        result.status = Status::xpass;
        result.reason = fmt::format("the case passes, but {} expects {}: {}", entry.place(), to_string(entry.expected),
                                    with_issue(entry));
    } else {
        result.reason += fmt::format("; {} expects {} instead", entry.place(), to_string(entry.expected));
    }
}

std::vector<const Expectation*> ExpectedResults::expired() const {
    std::vector<const Expectation*> list;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (expired_[i]) {
            list.push_back(&all_[i]);
        }
    }
    return list;
}

std::vector<const Expectation*> ExpectedResults::unused() const {
    std::vector<const Expectation*> list;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (concerned_[i] && uses_[i] == 0) {
            list.push_back(&all_[i]);
        }
    }
    return list;
}

CaseResult run_as_planned(const CasePlan& plan, const std::shared_ptr<const cases::Case>& subject, std::size_t engine,
                          const std::function<CaseResult()>& run_once) {
    if (plan.skip != nullptr) {
        CaseResult skipped;
        skipped.subject = subject;
        skipped.engine = engine;
        skipped.status = Status::skip;
        skipped.expectation = plan.skip;
        skipped.reason = fmt::format("{} says not to run it: {}", plan.skip->place(), with_issue(*plan.skip));
        return skipped;
    }
    CaseResult result = run_once();
    std::string first_reason = result.reason;
    unsigned attempts = 1;
    while (is_failure(result.status) && attempts <= plan.retries) {
        result = run_once();
        ++attempts;
    }
    result.attempts = attempts;
    if (attempts > 1 && is_failure(result.status)) {
        result.reason += fmt::format(" (at the last of {} attempts)", attempts);
    } else if (attempts > 1) {
        result.actual = result.status;
        result.status = Status::flake;
        result.reason = fmt::format("it passed at attempt {}; at the first, {}", attempts, first_reason);
    }
    return result;
}

}  // namespace dmlconform::run
