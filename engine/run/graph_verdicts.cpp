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

/// "`a`, `b` and 7 more".
std::string listed(std::vector<std::string> names) {
    const std::size_t more = names.size() - std::min(names.size(), most_names);
    names.resize(names.size() - more);
    for (std::string& name : names) {
        name = fmt::format("`{}`", name);
    }
    return fmt::format("{}{}", fmt::join(names, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
}

std::string wrong_nodes(const std::vector<std::string>& names) {
    return names.size() == 1 ? fmt::format("node {} is wrong by itself", listed(names))
                             : fmt::format("nodes {} are wrong by themselves", listed(names));
}

/// What it means that some nodes are right and none is wrong. `open` has the names of those that were not judged.
std::string right_nodes(std::size_t right, const std::vector<std::string>& open) {
    if (!open.empty()) {
        return fmt::format("{} of {} nodes {} right by {}, and {} {} not judged", right, right + open.size(),
                           right == 1 ? "is" : "are", right == 1 ? "itself" : "themselves", listed(open),
                           open.size() == 1 ? "was" : "were");
    }
    return fmt::format(
        "{}, the graph is not: `--graph-mode nodes` runs it one operator at a time",
        right == 1 ? "its node is right by itself" : fmt::format("all {} nodes are right by themselves", right));
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
        } else if (status == Status::pass) {
            ++nodes.right;
        } else {
            nodes.open.push_back(subject.node_name);
        }
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
        verdict = right_nodes(nodes.right, nodes.open);
    }
    const bool are_two = !verdict.empty() && !result.hint.empty();
    result.hint = fmt::format("{}{}{}", verdict, are_two ? "; " : "", result.hint);
}

}  // namespace dmlconform::run
