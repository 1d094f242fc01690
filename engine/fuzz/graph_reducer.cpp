// Tries subsets of a graph's nodes, from large to small.
#include "engine/fuzz/graph_reducer.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/operators/graph.h"
#include "engine/run/case_run.h"
#include "engine/run/failure_kind.h"
#include "engine/run/node_cases.h"

namespace dmlconform::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

class GraphSearch {
public:
    GraphSearch(const cases::Case& subject, Engine& engine, const ReduceSettings& settings)
        : original_(subject),
          graph_(std::make_shared<const cases::Case>(subject)),
          engine_(engine),
          settings_(settings),
          order_(subject.descriptor->graph->execution_order()) {}

    core::Result<Reduction> run() {
        if (original_.expect_error) {
            return core::fail("what has to be rejected has no nodes to try one by one",
                              "reduce it by hand: remove nodes while the engine still accepts it");
        }
        kept_ = order_;
        if (const auto begun = begin(); !begun) {
            return tl::unexpected(begun.error());
        }
        if (auto node = wrong_node()) {
            return *std::move(node);
        }
        remove_nodes();
        return finish();
    }

private:
    core::Result<void> begin() {
        const auto whole = part(kept_);
        if (whole == nullptr) {
            return core::fail("the reference does not compute all of the graph's nodes",
                              "expected values of the nodes in between are needed, and nobody has them");
        }
        result_ = judged(*whole);
        if (!run::is_failure(result_.status)) {
            return core::fail(fmt::format("{} does not fail on {}", original_.id, engine_.info().name),
                              result_.reason.empty() ? "it passes, compared with the reference" : result_.reason);
        }
        kind_ = run::kind_of(*whole, result_);
        best_ = whole;
        return {};
    }

    [[nodiscard]] std::shared_ptr<const cases::Case> part(const std::vector<std::size_t>& nodes) const {
        std::vector<bool> wanted(order_.size());
        for (const std::size_t n : nodes) {
            wanted[n] = true;
        }
        return graph_.part(wanted);
    }

    run::CaseResult judged(const cases::Case& subject) {
        ++attempts_;
        run::CaseSettings settings;
        settings.expected = settings_.expected;
        run::CaseResult result = run::run_case(subject, engine_, settings, settings_.engine);
        if (settings_.expected != nullptr) {
            settings_.expected->apply(result);
        }
        return result;
    }

    [[nodiscard]] bool over() {
        ended_early_ = ended_early_ || Clock::now() >= deadline_ || settings_.stop_requested();
        return ended_early_;
    }

    /// Finds the first node that fails with the reference's inputs, and reduces it like an operator.
    std::optional<core::Result<Reduction>> wrong_node() {
        for (const std::size_t n : order_) {
            const auto node = graph_.node(n);
            if (over()) {
                return std::nullopt;
            }
            if (node == nullptr || !run::is_failure(judged(*node).status)) {
                continue;
            }
            ReduceSettings rest = settings_;
            rest.time = std::max<std::chrono::nanoseconds>(deadline_ - Clock::now(), std::chrono::seconds(1));
            auto reduced = reduce(*node, engine_, nullptr, rest);
            if (reduced) {
                reduced->attempts += attempts_;
                reduced->steps += 1;
                reduced->subject.id = fmt::format("reduced/{}", node->id.substr(node->id.find('/') + 1));
            }
            return reduced;
        }
        return std::nullopt;
    }

    /// Removes contiguous ranges in the order of execution, and finally single nodes.
    void remove_nodes() {
        std::size_t length = kept_.size() / 2;
        while (length > 0 && !over()) {
            bool changed = false;
            // From the outputs backwards: nodes that do not lead to a wrong output are removed first.
            for (std::size_t end = kept_.size(); end > 0 && !over();) {
                const std::size_t first = end - std::min(end, length);
                changed = remove(first, end) || changed;
                end = first;
            }
            length = changed && length == 1 ? 1 : length / 2;
        }
    }

    bool remove(std::size_t first, std::size_t end) {
        if (end - first == kept_.size()) {
            return false;
        }
        std::vector<std::size_t> rest(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(first));
        rest.insert(rest.end(), kept_.begin() + static_cast<std::ptrdiff_t>(end), kept_.end());
        const auto smaller = part(rest);
        if (smaller == nullptr) {
            return false;
        }
        run::CaseResult result = judged(*smaller);
        if (!run::is_failure(result.status) || run::kind_of(*smaller, result) != kind_) {
            return false;
        }
        kept_ = std::move(rest);
        best_ = smaller;
        result_ = std::move(result);
        ++steps_;
        return true;
    }

    Reduction finish() {
        Reduction reduction{*best_, std::move(result_), attempts_, steps_, !ended_early_};
        reduction.subject.id = fmt::format("reduced/{}", original_.id.substr(original_.id.find('/') + 1));
        reduction.subject.description =
            fmt::format("reduced from {} to {} of {} nodes, each of which is right by itself: {}", original_.id,
                        kept_.size(), order_.size(), reduction.result.reason);
        return reduction;
    }

    const cases::Case& original_;
    run::GraphCase graph_;
    Engine& engine_;
    const ReduceSettings& settings_;
    Clock::time_point deadline_ = Clock::now() + settings_.time;
    std::vector<std::size_t> order_;
    std::vector<std::size_t> kept_;
    std::shared_ptr<const cases::Case> best_;
    run::CaseResult result_;
    run::FailureKind kind_;
    std::uint64_t attempts_ = 0;
    std::uint64_t steps_ = 0;
    bool ended_early_ = false;
};

}  // namespace

core::Result<Reduction> reduce_graph(const cases::Case& subject, Engine& engine, const ReduceSettings& settings) {
    return GraphSearch(subject, engine, settings).run();
}

}  // namespace dmlconform::fuzz
