// Collects results of nodes by graph.
#include "engine/report/graph_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/counted.h"
#include "engine/core/utf8.h"
#include "engine/operators/graph.h"
#include "engine/operators/graph_rules.h"
#include "engine/operators/rules.h"
#include "engine/report/text_table.h"
#include "engine/run/node_cases.h"

namespace dmlconform::report {
namespace {

/// Limit, without --verbose, for the nodes that are shown besides failing ones.
constexpr std::size_t most_nodes = 20;
/// With more graphs, only those with a failure are shown without --verbose.
constexpr std::size_t most_graphs = 3;
/// Limit for the length of a description if lines have any width.
constexpr std::size_t most_characters = 200;

std::chrono::nanoseconds time_of(const run::Timing& timing) {
    return timing.steady.value_or(timing.device.value_or(timing.execute));
}

std::optional<double> fraction_of(const run::CaseResult& result) {
    std::optional<double> largest;
    for (const run::OutputResult& output : result.outputs) {
        if (const auto fraction = output.comparison.largest_fraction) {
            largest = std::max(largest.value_or(0), *fraction);
        }
    }
    return largest;
}

std::string shape_of(const operators::Descriptor& descriptor) {
    for (const operators::TensorSlot& output : descriptor.outputs()) {
        if (output.desc != nullptr) {
            std::string text;
            for (const std::uint32_t size : output.desc->sizes) {
                text += fmt::format("{}{}", text.empty() ? "" : "x", size);
            }
            return text;
        }
    }
    return "";
}

/// Formats a number with three significant digits and the letter of a power of 1000.
std::string with_letter(double number) {
    constexpr std::string_view letters[] = {"", "k", "M", "G", "T", "P"};
    std::size_t power = 0;
    for (; number >= 1000 && power + 1 < std::size(letters); ++power) {
        number /= 1000;
    }
    return fmt::format("{:.3g}{}{}", number, power == 0 ? "" : " ", letters[power]);
}

/// For example "0.4 of range", or what is wrong.
std::string worst_text(const run::Status status, std::optional<double> fraction) {
    if (status != run::Status::pass) {
        return run::to_string(status);
    }
    return fraction ? fmt::format("{:.2g} of range", *fraction) : "exact";
}

/// How many nodes are identical to a node, by its name, where there are others.
std::map<std::string, std::size_t> repeated_nodes(const operators::Graph& graph) {
    const std::vector<std::size_t> counts = run::identical_nodes(graph);
    std::map<std::string, std::size_t> result;
    for (std::size_t n = 0; n < counts.size(); ++n) {
        if (counts[n] > 1) {
            result.emplace(graph.nodes[n].name, counts[n]);
        }
    }
    return result;
}

}  // namespace

core::Result<void> GraphTables::begin(const RunContext& /*context*/, std::span<const EngineInfo> engines) {
    engines_.assign(engines.begin(), engines.end());
    return {};
}

core::Result<void> GraphTables::add(const run::CaseResult& result) {
    const cases::Case& subject = *result.subject;
    const bool is_graph = subject.descriptor->graph != nullptr;
    if ((subject.graph_id.empty() && !is_graph) || result.repetition != 0) {
        return {};
    }
    const Outcome outcome{result.status, time_of(result.timing), fraction_of(result)};
    if (is_graph) {
        Table& table = tables_[subject.id];
        if (table.whole.empty()) {
            table.times = repeated_nodes(*subject.descriptor->graph);
        }
        table.whole.resize(engines_.size());
        table.whole[result.engine] = outcome;
        table.all_nodes = subject.descriptor->graph->nodes.size();
        // Graphs that are rejected have none that could be counted.
        if (!operators::validate(*subject.descriptor, core::highest_feature_level)) {
            table.operations = operators::minimum_graph_cost(*subject.descriptor->graph).operations;
        }
        table.description = subject.description;
        return {};
    }
    Table& table = tables_[subject.graph_id];
    if (table.nodes.empty() || table.nodes.back().name != subject.node_name) {
        table.nodes.push_back({subject.node_name, std::string(subject.descriptor->schema->short_name()),
                               shape_of(*subject.descriptor), std::vector<Outcome>(engines_.size())});
    }
    table.nodes.back().outcomes[result.engine] = outcome;
    return {};
}

core::Result<void> GraphTables::finish(const run::RunTotals& /*totals*/, int /*exit_code*/) {
    return {};
}

core::ShownText GraphTables::text(const ConsoleStyle& style, std::size_t width, bool every_row) const {
    core::ShownText text;
    for (const auto& [id, table] : tables_) {
        if (!table.nodes.empty() && (every_row || tables_.size() <= most_graphs || has_failure(table))) {
            text += table_text(id, table, style, width, every_row);
        }
    }
    return text;
}

bool GraphTables::has_failure(const Table& table) {
    const auto failed = [](const Outcome& outcome) { return run::is_failure(outcome.status); };
    return std::ranges::any_of(table.whole, failed) ||
           std::ranges::any_of(table.nodes, [&](const Row& row) { return std::ranges::any_of(row.outcomes, failed); });
}

core::ShownText GraphTables::table_text(const std::string& id, const Table& table, const ConsoleStyle& style,
                                        std::size_t width, bool every_row) const {
    // Uses the last engine that measures, because the reference comes first.
    const std::size_t engine = engines_.size() - 1;
    std::chrono::nanoseconds all{};
    std::vector<const Row*> rows;
    for (const Row& row : table.nodes) {
        all += row.outcomes[engine].time;
        rows.push_back(&row);
    }
    const auto fails = [&](const Row& row) {
        return std::ranges::any_of(row.outcomes, [](const Outcome& one) { return run::is_failure(one.status); });
    };
    std::ranges::stable_sort(rows, [&](const Row* a, const Row* b) {
        return std::pair(!fails(*a), -a->outcomes[engine].time.count()) <
               std::pair(!fails(*b), -b->outcomes[engine].time.count());
    });
    TextTable lines({"node", "operator", "shape"});
    for (const EngineInfo& info : engines_) {
        lines.add_value_column(info.name);
    }
    lines.add_value_column("share");
    lines.add_value_column("worst");
    std::size_t shown = 0;
    for (const Row* row : rows) {
        if (!every_row && shown >= most_nodes && !fails(*row)) {
            break;
        }
        ++shown;
        std::vector<std::string> values;
        for (const Outcome& outcome : row->outcomes) {
            values.push_back(outcome.status == run::Status::skip ? "-" : format_duration(outcome.time));
        }
        const double share = all.count() == 0 ? 0
                                              : static_cast<double>(row->outcomes[engine].time.count()) /
                                                    static_cast<double>(all.count());
        values.push_back(fmt::format("{:.1f} %", 100 * share));
        const auto wrong =
            std::ranges::find_if(row->outcomes, [](const Outcome& one) { return run::is_failure(one.status); });
        const Outcome& judged = wrong == row->outcomes.end() ? row->outcomes[engine] : *wrong;
        values.push_back(worst_text(judged.status, judged.fraction));
        const auto times = table.times.find(row->name);
        const std::string name =
            times == table.times.end() ? row->name : fmt::format("{} (x{})", row->name, times->second);
        lines.add_row({name, row->operator_name, row->shape}, {}, std::move(values));
    }
    core::ShownText text = style.bold(core::show("{}\n", id));
    if (!table.description.empty()) {
        text += core::show("{}\n", core::shortened(table.description, width == 0 ? most_characters : width));
    }
    text += lines.text(width, style);
    if (shown < rows.size()) {
        const std::size_t more = rows.size() - shown;
        text += core::show("{} more node{}, which take{} less (--verbose shows {})\n", more, more == 1 ? "" : "s",
                           more == 1 ? "s" : "", more == 1 ? "it" : "them");
    }
    for (std::size_t e = 0; e < engines_.size(); ++e) {
        text += summary(table, e);
    }
    return text + core::show("\n");
}

core::ShownText GraphTables::summary(const Table& table, std::size_t engine) const {
    std::map<std::string, std::size_t> counts;
    const Row* first_wrong = nullptr;
    for (const Row& row : table.nodes) {
        const Outcome& outcome = row.outcomes[engine];
        ++counts[run::to_string(outcome.status)];
        if (first_wrong == nullptr && run::is_failure(outcome.status)) {
            first_wrong = &row;
        }
    }
    std::string numbers;
    for (const auto& [status, count] : counts) {
        numbers += fmt::format("{}{} {}", numbers.empty() ? "" : ", ", count, status);
    }
    // Without a result of the graph, as after an interruption, nothing says how many nodes it has.
    const std::string nodes =
        table.whole.empty()
            ? core::counted(table.nodes.size(), "distinct node")
            : fmt::format("{}, {} distinct", core::counted(table.all_nodes, "node"), table.nodes.size());
    core::ShownText text = core::show("{}: {}: {}.", engines_[engine].name, nodes, numbers);
    if (table.whole.empty()) {
        text += core::show("  The whole graph was not judged.");
    } else {
        const Outcome& whole = table.whole[engine];
        text += core::show("  Whole graph: {}", run::to_string(whole.status));
        if (whole.fraction && whole.status == run::Status::pass) {
            text += core::show(" ({:.2g} of the allowed range)", *whole.fraction);
        }
        if (whole.status != run::Status::skip) {
            text += core::show(", {}", format_duration(whole.time));
        }
        if (table.operations > 0) {
            text += core::show(", {} operation{}", with_letter(table.operations), table.operations == 1 ? "" : "s");
        }
    }
    text += core::show("\n");
    if (first_wrong != nullptr) {
        text += core::show("{}: the first wrong node is {} ({})\n", engines_[engine].name, first_wrong->name,
                           first_wrong->operator_name);
    }
    return text;
}

}  // namespace dmlconform::report
