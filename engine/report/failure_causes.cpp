// Identifies causes by what does not vary between cases.
#include "engine/report/failure_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/run/failure_kind.h"

namespace dmlconform::report {
namespace {

constexpr std::size_t most_causes = 20;
constexpr std::size_t most_operators = 4;

/// The type of the first output, otherwise of the first tensor.
std::string type_of(const run::CaseResult& result) {
    const operators::Descriptor& descriptor = *result.subject->descriptor;
    for (const auto& slots : {descriptor.outputs(), descriptor.inputs()}) {
        for (const operators::TensorSlot& slot : slots) {
            if (slot.desc != nullptr) {
                return std::string(core::name(slot.desc->data_type));
            }
        }
    }
    return {};
}

/// "GEMM 8, CONVOLUTION 4 and 3 more".
std::string operators_text(const std::map<std::string, std::size_t>& operators) {
    std::vector<std::pair<std::string, std::size_t>> sorted(operators.begin(), operators.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string text;
    for (std::size_t i = 0; i < std::min(sorted.size(), most_operators); ++i) {
        text += fmt::format("{}{} {}", i == 0 ? "" : ", ", sorted[i].first, sorted[i].second);
    }
    return text + (sorted.size() > most_operators
                       ? fmt::format(" and {} more operators", sorted.size() - most_operators)
                       : "");
}

}  // namespace

FailureCauses::Key FailureCauses::key_of(const run::CaseResult& result) {
    using What = run::FailureKind::What;
    switch (run::kind_of(*result.subject, result).what) {
        case What::rejected:
            return {result.engine, result.status, "the descriptor was rejected", result.rejection->rule};
        case What::wrong_code:
            return {result.engine, result.status, "the descriptor was rejected with another error",
                    result.rejection->rule};
        case What::accepted:
            return {result.engine, result.status, "the descriptor was accepted, but has to be rejected",
                    type_of(result)};
        case What::stray_write:
            return {result.engine, result.status, "the engine wrote beyond the end of an output", type_of(result)};
        case What::unwritten:
            return {result.engine, result.status, "the engine did not write all of an output", type_of(result)};
        default:
            return {result.engine, result.status, result.reason, type_of(result)};
    }
}

std::size_t FailureCauses::add(const run::CaseResult& result) {
    Cause& cause = causes_[key_of(result)];
    ++cause.operators[std::string(result.subject->descriptor->schema->short_name())];
    return ++cause.count;
}

core::ShownText FailureCauses::summary(std::span<const EngineInfo> engines) const {
    std::vector<const std::pair<const Key, Cause>*> sorted;
    for (const auto& entry : causes_) {
        sorted.push_back(&entry);
    }
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto* a, const auto* b) { return a->second.count > b->second.count; });
    if (sorted.empty() || sorted.front()->second.count < 2) {
        return {};
    }
    core::ShownText text = core::show("Failures by cause:\n");
    for (std::size_t i = 0; i < std::min(sorted.size(), most_causes); ++i) {
        const auto& [engine, status, reason, subject] = sorted[i]->first;
        text += core::show("  {:>5} {} on {}: {}{}: {}\n", sorted[i]->second.count, to_string(status),
                           engines[engine].name, reason, subject.empty() ? "" : fmt::format(" ({})", subject),
                           operators_text(sorted[i]->second.operators));
    }
    if (sorted.size() > most_causes) {
        text += core::show("  and {} more causes\n", sorted.size() - most_causes);
    }
    return text + core::show("\n");
}

}  // namespace dmlconform::report
