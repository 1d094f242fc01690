// Compares outputs with what is expected, and says what is wrong with them.
#include "engine/run/output_judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "engine/compare/beyond.h"
#include "engine/core/element.h"
#include "engine/run/blank_output.h"
#include "engine/run/output_elements.h"
#include "engine/run/precision_verdict.h"
#include "engine/run/quantised_codes.h"

namespace dmlconform::run {
namespace {

/// For reports: "1 of 8: [0,0,1,3] 12 expected, 11 got".
std::string difference_text(const OutputResult& output, bool is_only_output) {
    const compare::Comparison& comparison = output.comparison;
    std::string count =
        fmt::format("{}{} of {}", is_only_output ? "" : output.name + ": ", comparison.beyond, comparison.elements);
    if (!comparison.worst) {
        return count;
    }
    const core::DataType type = output.desc.data_type;
    return fmt::format("{}{} [{}] {} expected, {} got", count, comparison.beyond == 1 ? ":" : ", most at",
                       fmt::join(compare::coordinates_of(comparison.worst->index, output.desc.sizes), ","),
                       core::format_element(type, comparison.worst->expected_bits),
                       core::format_element(type, comparison.worst->actual_bits));
}

/// Why outputs within their tolerances fail because of their precision. Empty if they do not.
std::string precision_reason(const CaseResult& result) {
    for (const OutputResult& output : result.outputs) {
        if (output.precision && !output.precision->promised.empty()) {
            return fmt::format("{} is within every element's range, but computes as {}, and {} was promised",
                               result.outputs.size() == 1 ? "the output" : output.name, output.precision->computes_as,
                               output.precision->promised);
        }
    }
    return {};
}

/// A known explanation for the difference of an output, if there is one.
std::string coarse_operands(const CaseResult& result) {
    for (const OutputResult& output : result.outputs) {
        if (!output.comparison.passed() && output.precision && !output.precision->computes_as.empty() &&
            output.precision->statistic.q() > compare::highest_honest_q) {
            return fmt::format("; it computes as {}", output.precision->computes_as);
        }
    }
    return {};
}

std::string stray_write_reason(const StrayOutput& stray) {
    return fmt::format(
        "the engine wrote beyond the end of {}: {} of the {} bytes after its total size, from byte {} on", stray.name,
        stray.write.bytes, core::guard_bytes, stray.write.offset);
}

bool differs(const OutputResult& output) {
    return !output.comparison.passed();
}

/// True if values are wrong, and nothing else, and the case itself does not say what they should be.
bool differs_from_reference(const CaseResult& result) {
    return result.status == Status::fail && result.stray_writes.empty() && !result.unwritten &&
           std::ranges::any_of(result.outputs, differs) &&
           std::ranges::all_of(result.outputs, &OutputResult::from_reference);
}

}  // namespace

void OutputJudge::find_stray_writes(const std::vector<core::Tensor>& outputs, CaseResult& result) const {
    const auto slots = descriptor_.outputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc == nullptr) {
            continue;
        }
        if (const auto write = core::find_stray_write(outputs[i])) {
            result.stray_writes.push_back({std::string(slots[i].name), *write});
        }
    }
}

void OutputJudge::compare_outputs(bool says_what_is_expected, const std::vector<core::Tensor>& outputs,
                                  CaseResult& result) {
    const auto slots = descriptor_.outputs();
    std::string blank;
    std::vector<Beyond> beyond(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc == nullptr) {
            continue;
        }
        if (!case_.expected[i] && says_what_is_expected) {
            result.uncompared.push_back(slots[i].name);
            continue;
        }
        const std::string missing = compare_output(i, slots[i], outputs[i], result, beyond[i]);
        blank = blank.empty() ? missing : blank;
    }
    if (const std::string apart = judge_codes(descriptor_, values_.inputs(), outputs, result); !apart.empty()) {
        blank = blank.empty() ? apart : blank;
    }
    if (result.outputs.empty() && result.stray_writes.empty()) {
        return result.finish(Status::reference,
                             settings_.against
                                 ? "the case has no expected values, so the others are compared with this engine"
                                 : "the case has no expected values, so this engine is the reference");
    }
    conclude(outputs, std::move(blank), std::move(beyond), result);
}

std::string OutputJudge::compare_output(std::size_t i, const operators::TensorSlot& slot, const core::Tensor& actual,
                                        CaseResult& result, Beyond& beyond) {
    OutputResult& output = result.outputs.emplace_back();
    output.name = slot.name;
    output.desc = *slot.desc;
    const core::Precision promised = promised_by(result.engine, i);
    Accepted accepted = values_.accepted(i, promised);
    output.from_reference = !case_.expected[i];
    output.expected_by = output.from_reference && settings_.against ? asked_ : "";
    const core::Tensor& expected = values_.expected(i);
    output.comparison = compare::compare(expected, actual, accepted.tolerance, accepted.slack());
    if (auto wider = output.comparison.passed() ? std::nullopt : values_.accepted_around_fp32(i)) {
        accepted = std::move(*wider);
        output.comparison = compare::compare(expected, actual, accepted.tolerance, accepted.slack());
    }
    output.tolerance = accepted.tolerance;
    const core::ElementSlack* slack = accepted.slack();
    if (!output.comparison.passed()) {
        output.error_map = compare::error_map(expected, actual, accepted.tolerance, slack);
        output.shown = compare::shown_elements(expected, actual, accepted.tolerance, slack);
        if (settings_.expected != nullptr && settings_.expected->knows_elements(result.engine)) {
            beyond.elements = compare::elements_beyond(expected, actual, accepted.tolerance, slack);
        }
    }
    if (output.comparison.passed()) {
        output.powerless = values_.lack_of_power(i, accepted);
    }
    if (const cpu::Reference* reference = values_.reference_at_hand(i)) {
        output.precision = precision_verdict(
            {descriptor_, values_.inputs(), *reference, i, promised, !output.comparison.passed()}, actual);
    }
    const std::uint64_t meaningful = slack == nullptr ? core::ElementSlack().meaningful : slack->meaningful;
    if (!output.comparison.passed()) {
        if (const auto what = unwritten_part(actual, &expected, meaningful)) {
            result.unwritten = true;
            beyond.unwritten = unwritten_at(actual, expected, meaningful);
            return fmt::format("{}: {}", output.name, *what);
        }
    }
    // If no element is meaningful, nothing need be written.
    if (meaningful != 0 && output.comparison.histogram.counts[0] != output.comparison.elements) {
        if (const auto what = blank_output(expected, actual, output.tolerance.element_slack)) {
            beyond.is_zero = !is_untouched(actual);
            beyond.unwritten = beyond.is_zero ? std::vector<std::uint64_t>() : beyond.elements;
            return fmt::format("{}: {}", output.name, *what);
        }
    }
    return {};
}

core::Precision OutputJudge::promised_by(std::size_t engine, std::size_t output) const {
    if (case_.precision) {
        return *case_.precision;
    }
    if (case_.tolerances[output] && case_.tolerances[output]->half_precision) {
        return core::Precision::fp16;
    }
    return engine < settings_.precisions.size() ? settings_.precisions[engine] : core::Precision::fp32;
}

void OutputJudge::conclude(const std::vector<core::Tensor>& outputs, std::string blank, std::vector<Beyond> beyond,
                           CaseResult& result) {
    const auto worst = std::find_if(result.outputs.begin(), result.outputs.end(), differs);
    const bool passed = worst == result.outputs.end();
    if (!passed) {
        result.difference = difference_text(*worst, descriptor_.outputs().size() == 1);
    }
    if (!result.stray_writes.empty()) {
        return result.finish(Status::fail, stray_write_reason(result.stray_writes.front()) +
                                               (passed ? "" : "; the output differs beyond tolerance"));
    }
    const auto unwritten = [](const core::Tensor& output) {
        return !output.buffer.bytes().empty() && looks_unwritten(output);
    };
    dispute_.hear(result.engine,
                  !passed && blank.empty() && !worst->from_reference && std::ranges::none_of(outputs, unwritten),
                  outputs);
    if (passed && blank.empty()) {
        const std::string imprecise = precision_reason(result);
        return result.finish(imprecise.empty() ? Status::pass : Status::fail, imprecise);
    }
    if (settings_.expected != nullptr) {
        result.excusing = settings_.expected->excusing(case_, result.engine, std::move(beyond),
                                                       elements_of_outputs(outputs, result.engine));
    }
    if (!result.excusing.empty()) {
        // What looked unwritten is what an entry says.
        blank.clear();
        result.unwritten = false;
    }
    // A missing output is a failure, whatever the tolerance accepts.
    result.finish(Status::fail, passed          ? blank + ", though the tolerance accepts that"
                                : blank.empty() ? "the output differs beyond tolerance" + coarse_operands(result)
                                                : "the output differs beyond tolerance; " + blank);
}

expectations::OutputElements OutputJudge::elements_of_outputs(const std::vector<core::Tensor>& outputs,
                                                              std::size_t engine) {
    return {.expected = [this, by_reference = elements_by_reference(case_)](
                            std::size_t output) -> std::optional<std::vector<double>> {
                const core::Tensor& expected = values_.expected(output);
                const bool is_half = expected.desc.data_type == core::DataType::float16;
                return unrounded(expected, is_half ? by_reference.expected(output) : std::nullopt);
            },
            .actual = [&outputs](std::size_t output) -> std::optional<std::vector<double>> {
                return elements_of(outputs[output]);
            },
            .accepted_with =
                [this, engine, &outputs](std::size_t output, const expectations::OtherCase& other) {
                    return accepted_with(case_, output, other, outputs[output], promised_by(engine, output));
                }};
}

void OutputJudge::compare_segments(const EngineInfo& engine, const SegmentEngine& asked,
                                   const std::vector<core::Tensor>& outputs, CaseResult& result) {
    if (result.status != Status::pass && !differs_from_reference(result)) {
        return;
    }
    const std::vector<std::string>& values = values_.undecided();
    for (std::size_t i = 0; i < case_.expected.size(); ++i) {
        if (promised_by(result.engine, i) != core::Precision::fp32) {
            return;  // ranges are known for FP32 alone
        }
    }
    if (values.empty() || engine.is_reference || engine.has_only_outputs()) {
        return;
    }
    std::optional<SegmentVerdict> verdict = judge_segments(descriptor_, values_.inputs(), outputs, values, asked);
    if (!verdict) {
        return;
    }
    if (result.status != Status::pass) {
        return accept_decisions(std::move(verdict->without_further_outputs), result);
    }
    if (!verdict->failure.empty()) {
        result.difference = verdict->difference;
        result.segments = verdict->wrong;
        result.finish(Status::fail, verdict->failure);
    }
}

void OutputJudge::accept_decisions(std::vector<SegmentOutput> outputs, CaseResult& result) {
    if (outputs.size() != result.outputs.size() || !std::ranges::all_of(outputs, &SegmentOutput::passed)) {
        return;
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        OutputResult& output = result.outputs[i];
        output.comparison = std::move(outputs[i].comparison);
        output.precision = std::move(outputs[i].precision);
        output.tolerance.slack_formula = "judged in segments, from the engine's own decisions on (docs/graphs.md)";
        output.error_map = {};
        output.shown = {};
    }
    result.difference.clear();
    result.excusing = {};
    result.finish(Status::pass, "");
}

}  // namespace dmlconform::run
