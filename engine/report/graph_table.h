// Tables of graphs' nodes for the terminal: the time of each on each engine, and how much of its tolerance it uses.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/report/console_style.h"
#include "engine/report/sink.h"

namespace dmlconform::report {

/// Prints a table for each graph whose nodes were judged, slowest nodes first. If there are many graphs, only those
/// with a failure are shown.
class GraphTables final : public Sink {
public:
    core::Result<void> begin(const RunContext& context, std::span<const EngineInfo> engines) override;
    core::Result<void> add(const run::CaseResult& result) override;
    core::Result<void> finish(const run::RunTotals& totals, int exit_code) override;

    /// `width`: the maximum in characters; 0: unlimited. `every_row`: all nodes instead of the most important ones.
    [[nodiscard]] core::ShownText text(const ConsoleStyle& style, std::size_t width, bool every_row) const;

private:
    /// The result of a node or of the graph on an engine.
    struct Outcome {
        run::Status status = run::Status::skip;
        std::chrono::nanoseconds time{};
        /// The largest share of the tolerance that an output used.
        std::optional<double> fraction;
    };
    struct Row {
        std::string name;
        std::string operator_name;
        std::string shape;
        /// One for each engine.
        std::vector<Outcome> outcomes;
    };
    struct Table {
        /// In the order of the results.
        std::vector<Row> nodes;
        std::vector<Outcome> whole;
        /// How many nodes a row stands for, by its name, if they are several.
        std::map<std::string, std::size_t> times;
        std::size_t all_nodes = 0;
        double operations = 0;
        std::string description;
    };

    [[nodiscard]] static bool has_failure(const Table& table);
    [[nodiscard]] core::ShownText table_text(const std::string& id, const Table& table, const ConsoleStyle& style,
                                             std::size_t width, bool every_row) const;
    [[nodiscard]] core::ShownText summary(const Table& table, std::size_t engine) const;

    std::vector<EngineInfo> engines_;
    std::map<std::string, Table> tables_;
};

}  // namespace dmlconform::report
