// Decides which expectation applies to a result.
#include "engine/run/expected_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "engine/compare/precision.h"
#include "engine/core/glob.h"
#include "engine/run/failure_kind.h"
#include "engine/run/output_elements.h"

namespace dmlconform::run {
namespace {

using expectations::Expectation;
using expectations::Expected;

/// The status of a result that meets the expectation; empty if no failure is expected.
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
    return expectation.issue.empty() ? expectation.title()
                                     : fmt::format("{} ({})", expectation.title(), expectation.issue);
}

/// True if no element exceeds its tolerance by more than this factor, and if all errors together are at most this many
/// times what FP32 may be off by.
bool is_within(const std::optional<double>& times, const CaseResult& result) {
    const auto elements_are = [&](const OutputResult& output) {
        return !output.error_map ||
               std::ranges::all_of(output.error_map->used, [&](double used) { return used <= *times; });
    };
    const auto errors_are = [&](const OutputResult& output) {
        return !output.precision || output.precision->promised.empty() ||
               output.precision->statistic.q() <= *times * compare::highest_honest_q;
    };
    return !times || std::ranges::all_of(result.outputs, [&](const OutputResult& output) {
        return elements_are(output) && errors_are(output);
    });
}

/// True if the case failed as the entry says, and only in elements that the entry lists.
bool is_as_said(const Expectation& entry, const CaseResult& result) {
    return !is_failure(result.status) ||
           (is_within(entry.times_tolerance, result) &&
            (entry.elements ? std::ranges::find(result.excusing, &entry) != result.excusing.end()
                            : happened(entry.happens, result)));
}

/// Erases the elements that the mask excuses. True if there were any.
bool erase_excused(Beyond& beyond, const std::vector<bool>& mask, bool even_unwritten) {
    const auto is_excused = [&](std::uint64_t at) {
        return mask[at] && (even_unwritten || !std::ranges::binary_search(beyond.unwritten, at));
    };
    return !mask.empty() && std::erase_if(beyond.elements, is_excused) != 0;
}

/// Message for a case that fails differently.
std::string what_is_expected(const Expectation& entry) {
    if (entry.elements) {
        return "other elements to differ";
    }
    return entry.happens == expectations::Happening::anything
               ? fmt::format("{} instead", to_string(entry.expected))
               : fmt::format("{} instead: {}", to_string(entry.expected), to_string(entry.happens));
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
            known.has_elements = known.has_elements || all_[i].elements;
            if (all_[i].cases.empty()) {
                note_operators(known, i);
            }
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

void ExpectedResults::note_operators(OfEngine& known, std::size_t index) const {
    std::vector<std::string> names{std::string(expectations::graph_name)};
    for (const std::string& name : operators::operator_names()) {
        names.emplace_back(operators::find_operator(name)->short_name());
    }
    for (std::string& name : names) {
        if (std::ranges::any_of(all_[index].operators,
                                [&](const auto& glob) { return core::glob_matches(glob, name); })) {
            known.by_operator[std::move(name)].push_back(index);
        }
    }
}

std::vector<std::size_t> ExpectedResults::candidates(const cases::Case& subject, std::size_t engine) const {
    const OfEngine& known = engines_.at(engine);
    std::vector<std::size_t> found;
    if (const auto exact = known.exact.find(subject.id); exact != known.exact.end()) {
        found = exact->second;
    }
    for (const auto& [pattern, index] : known.patterns) {
        if (core::glob_matches(pattern, subject.id)) {
            found.push_back(index);
        }
    }
    const auto by_operator = known.by_operator.find(std::string(subject.descriptor->schema->short_name()));
    if (by_operator != known.by_operator.end()) {
        found.insert(found.end(), by_operator->second.begin(), by_operator->second.end());
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

std::vector<std::size_t> ExpectedResults::matching(const cases::Case& subject, std::size_t engine) const {
    std::vector<std::size_t> found = candidates(subject, engine);
    expectations::CaseFacts facts(subject, elements_by_reference(subject));
    std::erase_if(found, [&](std::size_t index) { return !all_[index].meets(subject.id, facts); });
    return found;
}

CasePlan ExpectedResults::plan(const cases::Case& subject, std::size_t engine) const {
    CasePlan plan;
    expectations::CaseFacts facts(subject);
    for (const std::size_t index : candidates(subject, engine)) {
        const Expectation& entry = all_[index];
        const bool plans = entry.expected == Expected::skip || entry.expected == Expected::flake;
        if (!plans || !entry.meets(subject.id, facts)) {
            continue;
        }
        if (entry.expected == Expected::flake) {
            plan.retries = std::max(plan.retries, entry.retries);
        } else if (plan.skip == nullptr) {
            plan.skip = &entry;
        }
    }
    return plan;
}

std::vector<const Expectation*> ExpectedResults::excusing(const cases::Case& subject, std::size_t engine,
                                                          std::vector<Beyond> beyond,
                                                          expectations::OutputElements elements) const {
    if (std::ranges::any_of(beyond, &Beyond::is_zero)) {
        return {};
    }
    std::vector<const Expectation*> used;
    expectations::CaseFacts facts(subject, std::move(elements));
    const auto outputs = subject.descriptor->outputs();
    for (const std::size_t index : candidates(subject, engine)) {
        const Expectation& entry = all_[index];
        if (!entry.elements || !entry.meets(subject.id, facts)) {
            continue;
        }
        bool helped = false;
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (!beyond[i].elements.empty()) {
                const auto mask = entry.elements->mask(facts, i, *core::element_count(outputs[i].desc->sizes));
                helped = erase_excused(beyond[i], mask, entry.elements->accepts_another_case()) || helped;
            }
        }
        if (helped) {
            used.push_back(&entry);
        }
    }
    const bool all = std::ranges::all_of(beyond, [](const Beyond& left) { return left.elements.empty(); });
    return all ? used : std::vector<const Expectation*>();
}

void ExpectedResults::use(CaseResult& result, std::size_t index) {
    result.expectation = &all_[index];
    ++uses_[index];
}

void ExpectedResults::apply(CaseResult& result) {
    const Status status = result.status;
    if (status == Status::reference) {
        return;  // skipped cases cannot contradict an expectation
    }
    const auto matches = matching(*result.subject, result.engine);
    const auto first = [&](const auto& is_meant) {
        return std::find_if(matches.begin(), matches.end(), [&](std::size_t index) { return is_meant(all_[index]); });
    };
    const auto same = first([&](const Expectation& entry) {
        return status == Status::skip    ? &entry == result.expectation
               : status == Status::flake ? entry.expected == Expected::flake
                                         : failure_of(entry.expected) == status && is_as_said(entry, result);
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
    const auto other = first([&](const Expectation& entry) {
        return failure_of(entry.expected).has_value() && (status != Status::pass || entry.forbids_a_pass());
    });
    if (other == matches.end() || status == Status::skip) {
        return;
    }
    use(result, *other);
    const Expectation& entry = all_[*other];
    if (status == Status::pass) {
        for (const std::size_t index : matches) {
            // All of them are contradicted; `other` was counted above.
            uses_[index] += index != *other && all_[index].forbids_a_pass() ? 1 : 0;
        }
        result.actual = status;
        result.status = Status::xpass;
        result.reason = fmt::format("the case passes, but {} expects {}: {}", entry.location(),
                                    to_string(entry.expected), with_issue(entry));
    } else {
        result.reason += fmt::format("; {} expects {}", entry.location(), what_is_expected(entry));
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
        skipped.reason = fmt::format("{} says not to run it: {}", plan.skip->location(), with_issue(*plan.skip));
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
