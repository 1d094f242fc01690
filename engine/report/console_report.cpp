// Formats results for people.
#include "engine/report/console_report.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "engine/core/ascii_case.h"
#include "engine/core/element.h"
#include "engine/operators/descriptor.h"
#include "engine/report/command_line.h"
#include "engine/report/element_lines.h"
#include "engine/report/totals_table.h"
#include "engine/run/runner.h"

namespace dmlconform::report {
namespace {

constexpr int label_width = 12;

/// `text` is a plain string or a ShownText.
template <class Text>
core::ShownText labelled(std::string_view label, const Text& text) {
    return core::show("  {:<{}}{}\n", label, label_width, text);
}

std::string rerun_command(const run::CaseResult& result, const EngineInfo& engine, const Caller& caller) {
    if (caller.again) {
        return caller.again(result);
    }
    const cases::Case& subject = *result.subject;
    // A path must not be mistaken for an option.
    const std::string file = (subject.file.starts_with("-") ? "./" : "") + subject.file;
    std::string command = fmt::format("{} run {} --filter {} {}", word_quoted(caller.program), word_quoted(file),
                                      word_quoted(subject.id), engine_options(engine));
    if (subject.has_tag(run::unspecified_tag)) {
        command += " --include-unspecified";
    }
    for (const std::string& option : caller.options) {
        command += " " + word_quoted(option);
    }
    return command;
}

core::ShownText histogram_text(const compare::UlpHistogram& histogram) {
    std::vector<core::ShownText> parts;
    for (std::size_t bucket = 0; bucket < histogram.counts.size(); ++bucket) {
        if (histogram.counts[bucket] != 0) {
            parts.push_back(core::show("{}: {}", compare::UlpHistogram::label(bucket), histogram.counts[bucket]));
        }
    }
    return core::show_list(parts, ", ");
}

/// For example "    OutputTensor: computes as FP32 (Q 0.53, …)". Empty if the reference does not know the error of
/// FP32.
core::ShownText precision_line(const run::OutputResult& output) {
    if (!output.precision || output.precision->statistic.elements == 0) {
        return {};
    }
    const compare::PrecisionStatistic& statistic = output.precision->statistic;
    if (output.precision->computes_as.empty() && statistic.can_tell()) {
        return core::show("    {}: its errors do not tell in which precision it was computed\n", output.name);
    }
    if (output.precision->computes_as.empty()) {
        return core::show("    {}: {} elements can tell the precision, which are too few or too similar\n", output.name,
                          statistic.elements);
    }
    return core::show(
        "    {}: computes as {} (Q {:.3g}, bias {:.2g} towards zero, {:.1f} effective bits, {} elements)\n",
        output.name, output.precision->computes_as, statistic.q(), statistic.bias(),
        compare::effective_bits(statistic.q(), output.desc.data_type), statistic.elements);
}

/// Where the expected values come from.
std::string source_of(const run::OutputResult& output) {
    if (!output.expected_by.empty()) {
        return "engine " + output.expected_by;
    }
    return output.from_reference ? "CPU reference" : "case file";
}

/// Zeros of different signs are 0 ULP apart and yet can differ beyond the tolerance.
core::ShownText distance_of(const compare::ElementReport& element) {
    if (!element.ulp) {
        return core::show("one of the two is NaN");
    }
    return core::show("{} ULP{}", *element.ulp,
                      *element.ulp == 0 && element.expected_bits != element.actual_bits
                          ? ": only the sign of the zero differs, which matters if the tolerance is exact or the case "
                            "file spells -0.0"
                          : "");
}

core::ShownText output_block(const run::OutputResult& output) {
    const compare::Comparison& comparison = output.comparison;
    core::ShownText text =
        labelled("output", core::show("{}: {} of {} elements beyond tolerance ({}); expected values from the {}",
                                      output.name, comparison.beyond, comparison.elements,
                                      core::to_string(output.tolerance), source_of(output)));
    text += element_lines(output);
    if (const auto& worst = comparison.worst) {
        const core::DataType type = output.desc.data_type;
        const core::Dimensions coordinates = compare::coordinates_of(worst->index, output.desc.sizes);
        text += labelled("worst", core::show("{}[{}]", output.name, core::show_list(coordinates, ",")));
        text += labelled("  expected", core::show("{} ({})", core::format_element(type, worst->expected_bits),
                                                  core::format_bits(type, worst->expected_bits)));
        text += labelled("  actual", core::show("{} ({})", core::format_element(type, worst->actual_bits),
                                                core::format_bits(type, worst->actual_bits)));
        if (worst->slack) {
            const double expected = core::decode_element(type, worst->expected_bits);
            text += labelled("  accepted", core::show("{:.9g} to {:.9g}", expected - worst->slack->below,
                                                      expected + worst->slack->above));
        }
        text += labelled("  distance", distance_of(*worst));
    }
    return text + labelled("ULPs", histogram_text(comparison.histogram));
}

// ---- totals ------------------------------------------------------------------------------------------------------

/// The number of results by status: "3 pass, 1 fail". Empty if there are none.
core::ShownText counts_text(const run::RunTotals& totals, bool gated, const ConsoleStyle& style) {
    std::vector<core::ShownText> parts;
    for (std::size_t status = 0; status < run::status_count; ++status) {
        const auto which = static_cast<run::Status>(status);
        if (const std::size_t count = totals.count(which, gated); count != 0) {
            parts.push_back(style.status(which, core::show("{} {}", count, to_string(which))));
        }
    }
    return core::show_list(parts, ", ");
}

core::ShownText verdict(const run::RunTotals& totals, const ConsoleStyle& style) {
    const core::ShownText on_gate = counts_text(totals, true, style);
    core::ShownText text =
        core::show("{} {} in {}: {}\n", totals.results, totals.results == 1 ? "result" : "results",
                   format_duration(totals.duration), on_gate.text().empty() ? core::show("none on the gate") : on_gate);
    if (const core::ShownText off_gate = counts_text(totals, false, style); !off_gate.text().empty()) {
        text += core::show("Not counted, because no source says what is right (tag `unspecified`): {}\n", off_gate);
        const std::size_t failed = totals.failures(false);
        if (failed != 0) {
            text += core::show("  failed{}: {}\n", failed > totals.off_gate_failures.size() ? ", among them" : "",
                               core::show_list(totals.off_gate_failures, ", "));
        }
    }
    if (totals.verified() == 0 && totals.failures() == 0) {
        text += style.status(run::Status::fail, core::show("Nothing was verified: no case passed or failed.")) +
                core::show("\n");
    }
    if (totals.precision.less != 0) {
        text += core::show("Computed in less than FP32: {} of {} outputs that can tell\n", totals.precision.less,
                           totals.precision.less + totals.precision.fp32);
    }
    for (const std::string& sentence : totals.unverified.sentences()) {
        text += core::show("{}\n", sentence);
    }
    return text;
}

}  // namespace

core::ShownText failure_block(const run::CaseResult& result, const EngineInfo& engine, const Caller& caller,
                              const ConsoleStyle& style) {
    core::ShownText text = core::show(
        "{} {} on {}{}\n", style.status(result.status, core::show("{}", core::upper_case(to_string(result.status)))),
        style.bold(core::show("{}", result.subject->id)), engine.name,
        engine.adapter.empty() ? core::ShownText() : core::show(" ({})", engine.adapter));
    text += labelled("reason", result.reason);
    if (!result.hint.empty()) {
        text += labelled("note", result.hint);
    }
    if (result.rejection) {
        std::string_view label = "rule";
        if (!result.rejection->rule.empty()) {
            text += labelled(std::exchange(label, ""), result.rejection->rule);
        }
        if (result.rejection->legal_from) {
            text += labelled(
                label, core::show("legal from feature level {} on", core::to_string(*result.rejection->legal_from)));
        }
    }
    const operators::Descriptor& descriptor = *result.subject->descriptor;
    text += labelled("operator", descriptor.schema->name);
    // A model has no lines, and a random case no file.
    text += result.subject->file.empty()
                ? core::ShownText()
                : labelled("case", result.subject->line == 0
                                       ? core::show("{}", result.subject->file)
                                       : core::show("{}:{}", result.subject->file, result.subject->line));
    std::string_view label = "descriptor";
    for (const std::string& line : operators::to_lines(descriptor)) {
        text += labelled(std::exchange(label, ""), line);
    }
    for (const run::OutputResult& output : result.outputs) {
        if (!output.comparison.passed()) {
            text += output_block(output);
        } else if (output.precision && !output.precision->promised.empty()) {
            text += precision_line(output);
        }
    }
    return text + labelled("run again", rerun_command(result, engine, caller));
}

std::string failure_text(const run::CaseResult& result, const EngineInfo& engine, const Caller& caller) {
    return result.subject->descriptor == nullptr ? result.reason
                                                 : failure_block(result, engine, caller, ConsoleStyle(false)).text();
}

core::ShownText result_line(const run::CaseResult& result, const EngineInfo& engine, const ConsoleStyle& style) {
    core::ShownText text =
        core::show("{} {} on {}", style.status(result.status, core::show("{:<9}", to_string(result.status))),
                   result.subject->id, engine.name);
    if (const std::string message = message_of(result); !message.empty()) {
        text += core::show(": {}", message);
    }
    if (!result.gated) {
        text += core::show(" (unspecified)");
    }
    return text + core::show("\n");
}

core::ShownText comparison_lines(const run::CaseResult& result) {
    core::ShownText text;
    if (!result.difference.empty()) {
        text += core::show("    {}\n", result.difference);
    }
    for (const run::OutputResult& output : result.outputs) {
        const compare::Comparison& comparison = output.comparison;
        text += core::show("    {}: {}", output.name, core::to_string(output.tolerance));
        if (comparison.largest_fraction) {
            text += core::show(", largest difference {:.3g} of that", *comparison.largest_fraction);
        }
        text += core::show("; elements by ULPs: {}\n", histogram_text(comparison.histogram));
        text += precision_line(output);
        if (!output.powerless.empty()) {
            text += core::show("    {}: passing says nothing: {}\n", output.name, output.powerless);
        }
    }
    for (const std::string& name : result.uncompared) {
        text += core::show("    {}: not compared, because the case does not say what it should be\n", name);
    }
    return text;
}

core::ShownText summary(const run::RunTotals& totals, const ConsoleStyle& style, std::size_t width, bool every_row) {
    return totals_table(totals, style, width, every_row) + core::show("\n") + verdict(totals, style);
}

}  // namespace dmlconform::report
