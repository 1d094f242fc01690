// Writes JUnit XML in the form that common readers accept.
#include "engine/report/junit_report.h"

#include <fmt/format.h>

#include "engine/core/utf8.h"

namespace dmlconform::report {
namespace {

/// True if XML 1.0 can represent the character, at least as a reference.
bool is_xml_character(std::uint32_t c) {
    return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c != 0xfffe && c != 0xffff);
}

std::string seconds(std::chrono::nanoseconds time) {
    return fmt::format("{:.9f}", std::chrono::duration<double>(time).count());
}

/// Writes <failure message="…" type="fail">…</failure>.
std::string element(std::string_view name, const run::CaseResult& result, std::string_view text) {
    return fmt::format("<{0} message=\"{1}\" type=\"{2}\">{3}</{0}>", name, xml_escaped(message_of(result)),
                       to_string(result.status), xml_escaped(text));
}

/// Writes <properties>…</properties> with the precision of each output; empty if none is known.
std::string precision_properties(const run::CaseResult& result) {
    std::string properties;
    for (const run::OutputResult& output : result.outputs) {
        if (output.precision && !output.precision->computes_as.empty()) {
            properties +=
                fmt::format("<property name=\"precision.{}\" value=\"{}, Q {:.3g}\"/>", xml_escaped(output.name),
                            xml_escaped(output.precision->computes_as), output.precision->statistic.q());
        }
    }
    return properties.empty() ? "" : fmt::format("<properties>{}</properties>", properties);
}

}  // namespace

std::string xml_escaped(std::string_view text) {
    std::string escaped;
    escaped.reserve(text.size());
    core::for_each_character(text, [&](std::uint32_t character, std::string_view bytes) {
        switch (character) {
            case '&':
                escaped += "&amp;";
                break;
            case '<':
                escaped += "&lt;";
                break;
            case '>':
                escaped += "&gt;";
                break;
            case '"':
                escaped += "&quot;";
                break;
            case '\t':
            case '\n':
            case '\r':
                // XML readers convert unescaped ones in attributes to spaces.
                escaped += fmt::format("&#{};", character);
                break;
            default:
                escaped += is_xml_character(character) ? bytes : core::replacement_character;
        }
    });
    return escaped;
}

core::Result<void> JunitReport::begin(const RunContext& context, std::span<const EngineInfo> engines) {
    context_ = context;
    for (const EngineInfo& engine : engines) {
        suites_.emplace_back().engine = engine;
    }
    return file_.open(path_);
}

core::Result<void> JunitReport::add(const run::CaseResult& result) {
    Suite& suite = suites_[result.engine];
    ++suite.tests;
    suite.time += result.timing.total;
    std::string inner;
    if (!result.gated && result.status != run::Status::pass) {
        ++suite.skipped;
        inner = fmt::format("<skipped message=\"off the gate, because no source says what is right: {}: {}\"/>",
                            to_string(result.status), xml_escaped(message_of(result)));
    } else if (result.status == run::Status::fail || result.status == run::Status::xpass) {
        ++suite.failures;
        inner = element("failure", result, failure_text(result, suite.engine, caller_));
    } else if (run::is_failure(result.status)) {
        ++suite.errors;
        inner = element("error", result, failure_text(result, suite.engine, caller_));
    } else if (result.status == run::Status::flake) {
        inner = fmt::format("<system-out>flake: {}</system-out>", xml_escaped(result.reason));
    } else if (result.status != run::Status::pass) {
        ++suite.skipped;
        inner = fmt::format("<skipped message=\"{}: {}\"/>", to_string(result.status), xml_escaped(message_of(result)));
    }
    inner = precision_properties(result) + inner;
    const std::string repetition = result.repetition == 0 ? "" : fmt::format(" (run {})", result.repetition + 1);
    // Models have no lines.
    const std::size_t line = result.subject->line;
    return suite.cases.append(
        fmt::format("    <testcase classname=\"{}\" name=\"{}{}\" file=\"{}\"{} time=\"{}\"{}\n",
                    xml_escaped(suite.engine.name), xml_escaped(result.subject->id), repetition,
                    xml_escaped(result.subject->file), line == 0 ? "" : fmt::format(" line=\"{}\"", line),
                    seconds(result.timing.total), inner.empty() ? "/>" : ">" + inner + "</testcase>"));
}

core::Result<void> JunitReport::write_suite(Suite& suite) {
    auto written = file_.write(fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\" "
        "timestamp=\"{}\">\n"
        "    <properties>\n      <property name=\"adapter\" value=\"{}\"/>\n      <property name=\"driver\" "
        "value=\"{}\"/>\n    </properties>\n",
        xml_escaped(suite.engine.name), suite.tests, suite.failures, suite.errors, suite.skipped, seconds(suite.time),
        xml_escaped(context_.started), xml_escaped(suite.engine.adapter), xml_escaped(suite.engine.driver)));
    if (written) {
        written = suite.cases.read([&](std::string_view text) { return file_.write(text); });
    }
    return written ? file_.write("  </testsuite>\n") : written;
}

core::Result<void> JunitReport::finish(const run::RunTotals& totals, int /*exit_code*/) {
    Suite sum;
    for (const Suite& suite : suites_) {
        sum.tests += suite.tests;
        sum.failures += suite.failures;
        sum.errors += suite.errors;
        sum.skipped += suite.skipped;
    }
    auto written = file_.write(fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites name=\"dmlconform\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\">\n",
        sum.tests, sum.failures, sum.errors, sum.skipped, seconds(totals.duration)));
    for (std::size_t i = 0; written && i < suites_.size(); ++i) {
        written = write_suite(suites_[i]);
    }
    if (written) {
        written = file_.write("</testsuites>\n");
    }
    return written ? file_.commit() : written;
}

}  // namespace dmlconform::report
