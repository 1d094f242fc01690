// Relates the results of graphs to those of their nodes.
#include "engine/run/graph_verdicts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/operators/graph.h"

namespace dmlconform::run {
namespace {

/// Further names are only counted.
constexpr std::size_t most_names = 5;

std::string wrong_nodes(std::vector<std::string> names) {
    const std::size_t more = names.size() - std::min(names.size(), most_names);
    names.resize(names.size() - more);
    for (std::string& name : names) {
        name = fmt::format("`{}`", name);
    }
    const bool is_one = names.size() == 1;
    return fmt::format("node{} {}{} {} wrong by {}", is_one ? "" : "s", fmt::join(names, ", "),
                       more == 0 ? "" : fmt::format(" and {} more", more), is_one ? "is" : "are",
                       is_one ? "itself" : "themselves");
}

}  // namespace

void GraphVerdicts::hear(CaseResult& result) {
    const cases::Case& subject = *result.subject;
    if (!subject.graph_id.empty()) {
        Nodes& nodes = nodes_[{subject.graph_id, result.engine}];
        const Status status = result.actual.value_or(result.status);
        ++nodes.verdicts.judged;
        if (is_failure(status)) {
            nodes.verdicts.wrong.push_back(subject.node_name);
        }
        nodes.right += status == Status::pass ? 1 : 0;
        return;
    }
    const auto found = subject.descriptor->graph == nullptr ? nodes_.end() : nodes_.find({subject.id, result.engine});
    if (found == nodes_.end()) {
        return;
    }
    const Nodes nodes = std::move(found->second);
    nodes_.erase(found);
    result.nodes = nodes.verdicts;
    if (!is_failure(result.actual.value_or(result.status))) {
        return;
    }
    std::string verdict;
    if (!nodes.verdicts.wrong.empty()) {
        verdict = wrong_nodes(nodes.verdicts.wrong);
    } else if (nodes.right != 0) {
        verdict =
            fmt::format("{} by {}, the graph is not: `--graph-mode nodes` runs it one operator at a time",
                        nodes.right == 1 ? "its node is right" : fmt::format("all {} nodes are right", nodes.right),
                        nodes.right == 1 ? "itself" : "themselves");
    }
    const bool are_two = !verdict.empty() && !result.hint.empty();
    result.hint = fmt::format("{}{}{}", verdict, are_two ? "; " : "", result.hint);
}

}  // namespace dmlconform::run
