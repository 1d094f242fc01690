// Reads cases from corpora and lists.
#include "engine/run/case_source.h"

#include <algorithm>

#include "engine/run/case_memory.h"
#include "engine/run/node_cases.h"
#include "engine/run/reference_source.h"

namespace dmlconform::run {

namespace {

/// Position of an entry's first case, if each node of a graph has a case of its own.
struct EntryStart {
    std::size_t first = 0;
    const cases::Corpus::Entry* entry = nullptr;
};

struct EntryStarts {
    std::vector<EntryStart> all;
    std::size_t positions = 0;
};

EntryStarts starts_of(const cases::Corpus& corpus) {
    EntryStarts starts;
    for (const cases::Corpus::Entry& entry : corpus.entries) {
        starts.all.push_back({starts.positions, &entry});
        starts.positions += entry.expansions() * (entry.nodes + 1);
    }
    return starts;
}

/// Reads cases and nodes' cases. Keeps the last graph for the next node.
class NodeReader {
public:
    NodeReader(const cases::Corpus& corpus, const Selector& selector, std::shared_ptr<const EntryStarts> starts,
               std::shared_ptr<SharedGraphCases> graphs, std::uint64_t max_memory, CaseSource::IsCompared is_compared)
        : reader_(corpus),
          selector_(selector),
          starts_(std::move(starts)),
          graphs_(std::move(graphs)),
          max_memory_(max_memory),
          is_compared_(std::move(is_compared)) {}

    std::shared_ptr<const cases::Case> at(std::size_t position) {
        const auto next = std::ranges::upper_bound(starts_->all, position, {}, &EntryStart::first);
        const EntryStart& start = *std::prev(next);
        const std::size_t cases_of_one = start.entry->nodes + 1;
        const std::size_t written = start.entry->first + (position - start.first) / cases_of_one;
        const std::size_t part = (position - start.first) % cases_of_one;
        if (cases_of_one == 1) {
            return if_selected(read(written));
        }
        if (graph_ == nullptr || number_ != written) {
            graph_ = graphs_->at(written, [&] { return read_graph(written); });
            number_ = written;
        }
        if (graph_ == nullptr) {
            return nullptr;
        }
        return if_selected(part < start.entry->nodes ? graph_->node_in_order(part) : graph_->whole());
    }

private:
    [[nodiscard]] std::shared_ptr<const cases::Case> read(std::size_t position) {
        auto subject = reader_.at(position);
        return subject ? std::make_shared<const cases::Case>(std::move(*subject)) : nullptr;
    }

    [[nodiscard]] std::shared_ptr<const GraphCase> read_graph(std::size_t position) {
        auto whole = read(position);
        if (whole == nullptr) {
            return nullptr;
        }
        const std::uint64_t memory = memory_for_values(*whole, max_memory_);
        // Without an engine whose graph is compared, nobody needs the runs.
        const bool together = selector_.matches(*whole) && !references_are_isolated() && is_compared_(*whole);
        return std::make_shared<const GraphCase>(std::move(whole), memory,
                                                 together ? GraphCase::Judged::together : GraphCase::Judged::apart);
    }

    [[nodiscard]] std::shared_ptr<const cases::Case> if_selected(std::shared_ptr<const cases::Case> subject) const {
        return subject != nullptr && selector_.matches(*subject) ? std::move(subject) : nullptr;
    }

    cases::CorpusReader reader_;
    const Selector& selector_;
    std::shared_ptr<const EntryStarts> starts_;
    std::shared_ptr<SharedGraphCases> graphs_;
    std::shared_ptr<const GraphCase> graph_;
    std::size_t number_ = 0;
    std::uint64_t max_memory_;
    CaseSource::IsCompared is_compared_;
};

CaseSource cases_with_nodes(const cases::Corpus& corpus, const Selector& selector, std::uint64_t max_memory) {
    const auto starts = std::make_shared<const EntryStarts>(starts_of(corpus));
    const auto graphs = std::make_shared<SharedGraphCases>();
    return {
        starts->positions, [&corpus, &selector, starts, graphs, max_memory](const CaseSource::IsCompared& is_compared) {
            return [reader = std::make_shared<NodeReader>(corpus, selector, starts, graphs, max_memory, is_compared)](
                       std::size_t position) { return reader->at(position); };
        }};
}

}  // namespace

CaseSource selected_cases(const cases::Corpus& corpus, const Selector& selector, Nodes nodes,
                          std::uint64_t max_memory) {
    if (nodes == Nodes::judged) {
        return cases_with_nodes(corpus, selector, max_memory);
    }
    return {corpus.positions(), [&corpus, &selector](const CaseSource::IsCompared&) -> CaseSource::Reader {
                return [reader = cases::CorpusReader(corpus), &selector](std::size_t position) mutable {
                    auto subject = reader.at(position);
                    return subject && selector.matches(*subject)
                               ? std::make_shared<const cases::Case>(std::move(*subject))
                               : std::shared_ptr<const cases::Case>();
                };
            }};
}

CaseSource these_cases(std::span<const cases::Case* const> cases) {
    return {cases.size(), [cases](const CaseSource::IsCompared&) -> CaseSource::Reader {
                return [cases](std::size_t position) {
                    return std::shared_ptr<const cases::Case>(std::shared_ptr<void>(), cases[position]);
                };
            }};
}

}  // namespace dmlconform::run
