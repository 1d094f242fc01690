// Counts and describes what a run has not verified.
#include "engine/run/unverified.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/core/counted.h"

namespace dmlconform::run {
namespace {

std::string count_text(std::size_t count, std::size_t of, const std::vector<std::string>& examples) {
    return fmt::format("{} of {} {}{} {}", count, of, of == 1 ? "case" : "cases",
                       examples.size() == count ? ":" : ", among them", fmt::join(examples, ", "));
}

}  // namespace

Shown shown_by(Status status, bool has_expectation, Shown compared) {
    if (is_failure(status) || status == Status::xfail || (status == Status::skip && has_expectation)) {
        return Shown::all;
    }
    if (!is_verified(status)) {
        return Shown::nothing;
    }
    return compared;
}

Shown shown_by(const CaseResult& result) {
    const Shown compared = !result.uncompared.empty()         ? Shown::part
                           : powerless_reason(result).empty() ? Shown::all
                                                              : Shown::powerless;
    return shown_by(result.status, result.expectation != nullptr, compared);
}

std::string powerless_reason(const CaseResult& result) {
    const auto found =
        std::ranges::find_if(result.outputs, [](const OutputResult& output) { return !output.powerless.empty(); });
    return found == result.outputs.end() ? "" : fmt::format("{}: {}", found->name, found->powerless);
}

std::vector<std::string> reason_lines(const SharedReasons& reasons, std::string_view unit) {
    constexpr std::size_t most_lines = 8;
    std::vector<const SharedReasons::value_type*> sorted;
    for (const auto& entry : reasons) {
        sorted.push_back(&entry);
    }
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto* a, const auto* b) { return a->second.count > b->second.count; });
    std::vector<std::string> lines;
    for (const auto* entry : sorted) {
        if (lines.size() == most_lines) {
            lines.push_back(fmt::format("and {} more reasons", sorted.size() - most_lines));
            break;
        }
        const auto& [reason, shared] = *entry;
        lines.push_back(fmt::format("{}: {} ({}{})", core::counted(shared.count, unit), reason,
                                    shared.count == 1 ? "" : "for example ", shared.example));
    }
    return lines;
}

void Unverified::add(std::string_view id, Shown shown, const std::string& why) {
    ++of;
    if (shown == Shown::all) {
        return;
    }
    if (shown != Shown::part && !why.empty()) {
        (shown == Shown::nothing ? reasons : powerless_reasons)[why].add(id);
    }
    auto& ids = shown == Shown::nothing ? examples : shown == Shown::part ? in_part_examples : powerless_examples;
    ++(shown == Shown::nothing ? cases : shown == Shown::part ? in_part : powerless);
    if (ids.size() < most_examples) {
        ids.emplace_back(id);
    }
}

std::vector<std::string> Unverified::sentences() const {
    std::vector<std::string> all;
    if (cases != 0) {
        all.push_back(fmt::format("Verified by no engine: {}", count_text(cases, of, examples)));
        for (const std::string& line : reason_lines(reasons, "case")) {
            all.push_back("  " + line);
        }
    }
    if (in_part != 0) {
        all.push_back(
            fmt::format("Verified in part, because only the reference computed an output without expected values: {}",
                        count_text(in_part, of, in_part_examples)));
    }
    if (powerless != 0) {
        all.push_back(fmt::format("Passed within a tolerance that says nothing: {}",
                                  count_text(powerless, of, powerless_examples)));
        for (const std::string& line : reason_lines(powerless_reasons, "case")) {
            all.push_back("  " + line);
        }
    }
    for (const std::string& filter : filters) {
        all.push_back(fmt::format("The filter {} matches none of the cases", filter));
    }
    return all;
}

}  // namespace dmlconform::run
