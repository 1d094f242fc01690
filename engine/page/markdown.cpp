// Tables and lists in Markdown.
#include "engine/page/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/report/console_style.h"
#include "engine/report/markdown_text.h"

namespace dmlconform::page {
namespace {

/// The reason with the numbers and the hint, as by run::message_of.
std::string message(const nlohmann::ordered_json& result) {
    const std::string difference = result.value("difference", "");
    const std::string hint = result.value("hint", "");
    return result.value("reason", "") + (difference.empty() ? "" : fmt::format(" ({})", difference)) +
           (hint.empty() ? "" : "; " + hint);
}

constexpr std::size_t most_lines = 20;
constexpr std::size_t longest_text = 300;

std::string escaped(std::string_view text) {
    return report::markdown_text(text, longest_text);
}

std::string totals_table(const Totals& totals) {
    std::map<std::string, Total> engines;
    for (const auto& [key, total] : totals) {
        engines[key.engine].add(total);
    }
    std::string text =
        "| engine | pass | failures | skip | reference | off the gate | execution |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for (const auto& [engine, total] : engines) {
        text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", escaped(engine), total.count(run::Status::pass),
                            total.failures(), total.count(run::Status::skip), total.count(run::Status::reference),
                            total.off_gate, report::format_seconds(total.seconds));
    }
    return text;
}

std::string failing_operators(const Totals& totals) {
    std::string text;
    std::size_t lines = 0;
    for (const auto& [key, total] : totals) {
        if (total.failures() == 0 || ++lines > most_lines) {
            continue;
        }
        text += fmt::format("| {} | {} | {} | {} | {} |\n", escaped(key.operator_name), key.data_type,
                            escaped(key.engine), total.failures(), total.count(run::Status::pass));
    }
    if (text.empty()) {
        return {};
    }
    text = "\n| operator | type | engine | failures | pass |\n| --- | --- | --- | ---: | ---: |\n" + text;
    return lines > most_lines ? fmt::format("{}\n… and {} more\n", text, lines - most_lines) : text;
}

std::string failure_list(const PageData& data) {
    if (data.failure_count == 0) {
        return {};
    }
    std::string text = "\n### Failures\n\n";
    for (std::size_t i = 0; i < std::min(data.failures.size(), most_lines); ++i) {
        const Json& result = data.failures[i].result;
        text += fmt::format("- **{}** {} on {}{}: {}\n", result["status"].get<std::string>(),
                            escaped(result["id"].get<std::string>()), escaped(result["engine"].get<std::string>()),
                            result["gated"].get<bool>() ? "" : " (off the gate)", escaped(message(result)));
    }
    return data.failure_count > most_lines ? fmt::format("{}- … and {} more\n", text, data.failure_count - most_lines)
                                           : text;
}

/// A table of the precision in which each engine computes each operator, if known.
std::string precision_table(const Totals& totals) {
    constexpr std::size_t most_rows = 1000;
    std::string rows;
    std::size_t count = 0;
    std::size_t less = 0;
    for (const auto& [key, total] : totals) {
        const std::string name = total.precision_name(key.data_type);
        if (name.empty()) {
            continue;
        }
        less += name.starts_with("FP32") ? 0 : 1;
        const auto type = key.data_type == "FLOAT16" ? core::DataType::float16 : core::DataType::float32;
        if (++count <= most_rows) {
            rows += fmt::format("| {} | {} | {} | {} | {:.3g} | {:.2g} | {:.1f} | {} |\n", escaped(key.operator_name),
                                key.data_type, escaped(key.engine), escaped(name), total.precision.q(),
                                total.precision.bias(), compare::effective_bits(total.precision.q(), type),
                                total.precision.elements);
        }
    }
    if (rows.empty()) {
        return {};
    }
    return fmt::format(
        "\n<details><summary>Precision: {} of {} operators, types and engines compute in less than FP32</summary>\n\n"
        "| operator | type | engine | computes as | Q | bias | bits | elements |\n"
        "| --- | --- | --- | --- | ---: | ---: | ---: | ---: |\n{}{}\n</details>\n",
        less, count, rows, count > most_rows ? fmt::format("\n… and {} more\n", count - most_rows) : "");
}

const char* change_name(bench::Change change) {
    return change == bench::Change::slower ? "**slower**" : bench::to_string(change);
}

/// The benchmarks that only the base has.
std::string missing_list(const std::vector<std::string>& missing) {
    std::string text;
    for (std::size_t i = 0; i < std::min(missing.size(), most_lines); ++i) {
        text += fmt::format("- {}\n", escaped(missing[i]));
    }
    if (missing.size() > most_lines) {
        text += fmt::format("- … and {} more\n", missing.size() - most_lines);
    }
    return text.empty() ? text : "\nOnly in the base:\n\n" + text;
}

std::string comparison_table(const PageData& data) {
    std::string text;
    std::size_t lines = 0;
    for (const bench::ComparedBenchmark& compared : data.comparison.benchmarks) {
        if (compared.change == bench::Change::none || ++lines > most_lines) {
            continue;
        }
        text += fmt::format("| {} | {} | {} | {:.3f} | {:.1f}% | {:.2g} | {} |\n", escaped(compared.name),
                            report::format_seconds(compared.base), report::format_seconds(compared.now), compared.ratio,
                            100 * compared.spread, compared.p, change_name(compared.change));
    }
    std::string head = fmt::format("\n### Benchmarks\n\n{} compared at {:g}%\n", data.comparison.benchmarks.size(),
                                   100 * data.settings.threshold);
    for (const std::string& difference : data.comparison.differences) {
        head += fmt::format("\nThe runs differ in: {}\n", escaped(difference));
    }
    head += missing_list(data.comparison.missing);
    if (!text.empty()) {
        head +=
            "\n| benchmark | base | new | ratio | spread | p | |\n| --- | ---: | ---: | ---: | ---: | ---: | --- |\n";
    }
    return head + text + (lines > most_lines ? fmt::format("\n… and {} more\n", lines - most_lines) : "");
}

/// One line for each change in a trend.
std::string trend_list(const Json& trends) {
    std::string text;
    for (const Json& series : trends) {
        for (const Json& change : series["changes"]) {
            const double before = change["before"].get<double>();
            const double after = change["after"].get<double>();
            const Json& point = series["points"][change["index"].get<std::size_t>()];
            text +=
                fmt::format("- {}: {} → {} ({:+.1f}%) since {}, {}{}\n", escaped(series["title"].get<std::string>()),
                            report::format_seconds(before), report::format_seconds(after), 100 * (after / before - 1),
                            point["measured"].get<std::string>(), escaped(point["commit"].get<std::string>()),
                            change["confirmed"].get<bool>() ? "" : "; the next result will tell whether it stays");
        }
    }
    return text.empty() ? text : "\n### Changes in the history\n\n" + text;
}

}  // namespace

std::string markdown(const PageData& data) {
    std::string text = fmt::format("## {}\n\n", escaped(data.title));
    if (!data.runs.empty()) {
        text += totals_table(data.totals) + failing_operators(data.totals) + failure_list(data) +
                precision_table(data.totals);
    }
    if (const SlowerBenchmarks slower = data.slower(); !slower.text().empty()) {
        text += fmt::format("\n{}\n", slower.text());
        for (const std::string& name : slower.names) {
            text += fmt::format("{}- {}\n", name == *slower.names.begin() ? "\n" : "", escaped(name));
        }
    }
    if (!data.base.empty()) {
        text += comparison_table(data);
    } else if (!data.benches.empty()) {
        text += fmt::format("\n{} benchmarks in {} files\n", data.benches.front().content.benchmarks.size(),
                            data.benches.size());
    }
    return text + trend_list(data.trends.is_array() ? data.trends : Json::array());
}

}  // namespace dmlconform::page
