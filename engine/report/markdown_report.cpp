// Writes the tables of the summary.
#include "engine/report/markdown_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/report/console_style.h"
#include "engine/report/markdown_text.h"
#include "engine/report/output_file.h"

namespace dmlconform::report {
namespace {

constexpr std::size_t most_rows = 50;
constexpr std::size_t longest_cell = 400;

std::string cell(std::string_view text) {
    return markdown_text(text, longest_cell);
}

std::string section(std::string_view title, const std::vector<std::string>& rows, std::size_t count) {
    if (count == 0) {
        return "";
    }
    std::string text =
        fmt::format("\n### {} ({})\n\n| case | engine | status | reason |\n| --- | --- | --- | --- |\n{}\n", title,
                    count, fmt::join(rows, "\n"));
    if (count > rows.size()) {
        text += fmt::format("\n… and {} more.\n", count - rows.size());
    }
    return text;
}

std::string verdict(const run::RunTotals& totals, int exit_code) {
    if (exit_code > 128) {
        return "❌ interrupted";
    }
    if (totals.failures() != 0) {
        return fmt::format("❌ {} of {} results failed", totals.failures(), totals.results);
    }
    if (totals.verified() == 0) {
        return exit_code == 0 ? "no case in this shard" : "❌ nothing was verified";
    }
    return fmt::format("{} {} of {} results verified", exit_code == 0 ? "✅" : "❌", totals.verified(), totals.results);
}

std::string table(const run::RunTotals& totals) {
    std::vector<run::Status> columns;
    for (std::size_t status = 0; status < run::status_count; ++status) {
        if (totals.count(static_cast<run::Status>(status)) != 0) {
            columns.push_back(static_cast<run::Status>(status));
        }
    }
    std::string text = "| operator | engine |";
    std::string line = "| --- | --- |";
    for (const run::Status status : columns) {
        text += fmt::format(" {} |", to_string(status));
        line += " ---: |";
    }
    text += fmt::format(" total time |\n{} ---: |\n", line);
    const auto row = [&](std::string_view name, std::size_t engine, const run::Tally& tally) {
        text += fmt::format("| {} | {} |", cell(name), cell(totals.engines[engine].name));
        for (const run::Status status : columns) {
            text += fmt::format(" {} |", tally.count(status));
        }
        text += fmt::format(" {} |\n", format_duration(tally.total));
    };
    for (const auto& [key, tally] : totals.rows) {
        if (tally.count(run::Status::skip) != 0 && tally.executions.empty()) {
            continue;  // omits operators that the engine does not support; the sum includes them
        }
        row(key.first, key.second, tally);
    }
    for (std::size_t i = 0; i < totals.engines.size(); ++i) {
        row("all", i, totals.all[i]);
    }
    return text;
}

}  // namespace

core::Result<void> MarkdownReport::begin(const RunContext& context, std::span<const EngineInfo> engines) {
    notes_ = context.notes;
    if (context.shard) {
        notes_.push_back(
            fmt::format("shard {} of {} cases", run::to_string(context.shard->shard), context.shard->cases_of_all));
    }
    engines_.assign(engines.begin(), engines.end());
    return {};
}

core::Result<void> MarkdownReport::add(const run::CaseResult& result) {
    if (!result.gated) {
        return {};
    }
    const bool failed = run::is_failure(result.status);
    if (!failed && result.status != run::Status::flake && result.status != run::Status::xfail) {
        return {};
    }
    Section& where = failed ? failures_ : result.status == run::Status::flake ? flakes_ : expected_;
    if (++where.count <= most_rows) {
        const bool known = result.status == run::Status::xfail && result.expectation != nullptr;
        where.rows.push_back(fmt::format("| {} | {} | {} | {} |", cell(result.subject->id),
                                         cell(engines_[result.engine].name), to_string(result.status),
                                         cell(known ? result.expectation->title() : message_of(result))));
    }
    return {};
}

std::string MarkdownReport::text(const run::RunTotals& totals, int exit_code) const {
    std::string text = fmt::format("## dmlconform: {}\n\n", verdict(totals, exit_code));
    for (const EngineInfo& engine : engines_) {
        text += fmt::format("- {}: {}{}\n", cell(engine.name), cell(engine.adapter),
                            engine.driver.empty() ? "" : ", driver " + cell(engine.driver));
    }
    for (const std::string& note : notes_) {
        text += fmt::format("- {}\n", cell(note));
    }
    std::size_t off_gate = 0;
    for (const std::size_t count : totals.off_gate) {
        off_gate += count;
    }
    text += "\n" + table(totals);
    if (off_gate != 0) {
        text += fmt::format("\n{} results off the gate, because no source says what is right.\n", off_gate);
    }
    for (const std::string& sentence : totals.unverified.sentences()) {
        text += fmt::format("\n{}\n", cell(sentence));
    }
    return text + section("Failures", failures_.rows, failures_.count) +
           section("Flakes", flakes_.rows, flakes_.count) +
           section("Expected failures", expected_.rows, expected_.count);
}

core::Result<void> MarkdownReport::finish(const run::RunTotals& totals, int exit_code) {
    const std::string all = text(totals, exit_code);
    return append_ ? append_to_file(path_, all + "\n") : write_file(path_, all);
}

}  // namespace dmlconform::report
