// Runs cases of all operators in rotation on all engines.
#include "engine/fuzz/fuzzer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "engine/cases/recorded_case.h"
#include "engine/cpu/reference.h"
#include "engine/fuzz/random_graph.h"
#include "engine/operators/graph.h"
#include "engine/operators/rules.h"
#include "engine/run/node_cases.h"
#include "engine/run/output_elements.h"
#include "engine/run/runner.h"

namespace dmlconform::fuzz {
namespace {

using Engines = std::span<const std::unique_ptr<Engine>>;

class Fuzzer {
public:
    Fuzzer(Engines engines, const FuzzSettings& settings, FuzzObserver& observer)
        : engines_(engines), expected_(settings.expected), precisions_(settings.precisions), observer_(observer) {}

    void run(const cases::Case& subject) {
        const operators::OperatorSchema& schema = *subject.descriptor->schema;
        tally_ = &result_.operators[std::string(schema.short_name())];
        ++tally_->cases;
        ++done_;
        if (!subject.expect_error) {
            ++tally_->legal;
            note_type(subject);
        }
        const auto shared = std::make_shared<const cases::Case>(subject);
        if (subject.expect_error || cpu::has_reference(*subject.descriptor)) {
            for (std::size_t e = 0; e < engines_.size(); ++e) {
                judge(shared, e);
            }
        } else {
            compare_engines(shared);
        }
        std::ranges::sort(results_, {}, &run::CaseResult::engine);
        observer_.on_case(results_);
        results_.clear();
    }

    [[nodiscard]] bool stop_requested() { return observer_.stop_requested(done_, failures_); }
    [[nodiscard]] std::uint64_t done() const { return done_; }
    void note(const operators::OperatorSchema& schema) { result_.operators[std::string(schema.short_name())]; }
    [[nodiscard]] FuzzResult take() { return std::move(result_); }

private:
    void note_type(const cases::Case& subject) {
        for (const auto& slots : {subject.descriptor->inputs(), subject.descriptor->outputs()}) {
            if (!slots.empty() && slots.front().desc != nullptr) {
                tally_->types.insert(slots.front().desc->data_type);
                return;
            }
        }
    }

    void judge(const std::shared_ptr<const cases::Case>& subject, std::size_t engine,
               std::optional<std::size_t> expected_by = {}) {
        run::CaseResult result = judged(subject, engine);
        if (run::is_failure(result.status) && expected_ != nullptr && subject->descriptor->graph != nullptr) {
            judge_without_known_nodes(subject, result, engine);
        }
        note_known(*subject, result);
        tally_->skipped += result.status == run::Status::skip ? 1 : 0;
        // The reference rejects by the same rules that generated the case, so only its failures are meaningful.
        if (result.status != run::Status::skip && !engines_[engine]->info().is_reference) {
            ++tally_->compared;
            tally_->rejected += subject->expect_error && result.status == run::Status::pass ? 1 : 0;
        }
        if (run::is_failure(result.status)) {
            const std::shared_ptr<const cases::Case> failed = result.subject;
            fail(failed, std::move(result), engine, expected_by);
        } else {
            keep(subject, std::move(result), engine);
        }
    }

    /// The result of a case, as the expectations see it.
    run::CaseResult judged(const std::shared_ptr<const cases::Case>& subject, std::size_t engine) {
        run::CaseSettings settings;
        settings.keep_evidence = true;
        settings.expected = expected_;
        settings.precisions = precisions_;
        const auto once = [&] { return run::run_case(*subject, *engines_[engine], settings, engine); };
        run::CaseResult result = expected_ == nullptr
                                     ? once()
                                     : run::run_as_planned(expected_->plan(*subject, engine), subject, engine, once);
        result.subject = subject;
        result.engine = engine;
        if (expected_ != nullptr) {
            expected_->apply(result);
        }
        return result;
    }

    /// Replaces the result of a graph with nodes that fail by themselves, as expected, by that of the other nodes. If
    /// they pass, the graph has failed as expected.
    void judge_without_known_nodes(const std::shared_ptr<const cases::Case>& subject, run::CaseResult& result,
                                   std::size_t engine) {
        const run::GraphCase graph(subject);
        const auto& nodes = subject->descriptor->graph->nodes;
        std::vector<bool> others(nodes.size(), true);
        const expectations::Expectation* known = nullptr;
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            const std::shared_ptr<const cases::Case> node = graph.node(n);
            const run::CaseResult of_node = node == nullptr ? run::CaseResult() : judged(node, engine);
            if (node == nullptr || of_node.status != run::Status::xfail) {
                continue;
            }
            known = of_node.expectation;
            for (std::size_t k = 0; k < nodes.size(); ++k) {
                others[k] = others[k] && !run::are_identical(nodes[n], nodes[k]);
            }
        }
        if (known == nullptr) {
            return;
        }
        if (const auto part = graph.part(others)) {
            run::CaseResult of_part = judged(part, engine);
            if (run::is_failure(of_part.status)) {
                result = std::move(of_part);
                return;
            }
        }
        result.expectation = known;
        result.actual = result.status;
        result.status = run::Status::xfail;
    }

    /// Keeps the result for `on_case`. It replaces an earlier one of the same engine.
    void keep(const std::shared_ptr<const cases::Case>& subject, run::CaseResult result, std::size_t engine) {
        result.subject = subject;
        result.engine = engine;
        if (result.status == run::Status::skip) {
            result_.skips[fmt::format("{}: {}", engines_[engine]->info().name, result.reason)].add(subject->id);
        }
        std::erase_if(results_, [&](const run::CaseResult& other) { return other.engine == engine; });
        results_.push_back(std::move(result));
    }

    void note_known(const cases::Case& subject, const run::CaseResult& result) {
        const auto finding_of = [](const expectations::Expectation& entry) -> const std::string& {
            return entry.finding.empty() ? entry.reason : entry.finding;
        };
        if (result.status == run::Status::xfail) {
            ++tally_->known[finding_of(*result.expectation)].failed;
        } else if (result.status == run::Status::pass && expected_ != nullptr) {
            std::set<std::string> findings;
            expectations::CaseFacts facts(subject, run::elements_by_reference(subject));
            for (const std::size_t index : expected_->matching(subject, result.engine)) {
                const expectations::Expectation& entry = expected_->all()[index];
                // What is about the engine's own elements excuses nothing that may be right.
                const bool may_pass = entry.sometimes && entry.expected != expectations::Expected::skip &&
                                      entry.expected != expectations::Expected::flake &&
                                      !(entry.elements && entry.elements->reads_actual());
                if (may_pass && entry.means_some_element(facts)) {
                    findings.insert(finding_of(entry));
                }
            }
            for (const std::string& finding : findings) {
                ++tally_->known[finding].passed;
            }
        }
    }

    void fail(const std::shared_ptr<const cases::Case>& subject, run::CaseResult result, std::size_t engine,
              std::optional<std::size_t> expected_by = {}) {
        ++tally_->failures;
        ++failures_;
        result.subject = subject;
        result.engine = engine;
        observer_.on_failure({subject, result, engine, expected_by});
        keep(subject, std::move(result), engine);
    }

    /// The first engine that computes the case provides the expected values for the others.
    void compare_engines(const std::shared_ptr<const cases::Case>& subject) {
        std::shared_ptr<const cases::Case> expected;
        std::size_t expected_by = 0;
        std::optional<std::size_t> rejecting;
        std::string rejection;
        std::uint64_t verdicts = 0;
        for (std::size_t e = 0; e < engines_.size(); ++e) {
            if (expected != nullptr) {
                ++verdicts;
                judge(expected, e, expected_by);
                continue;
            }
            const run::CaseResult answer = run::answer_of(*subject, *engines_[e]);
            if (answer.status == run::Status::skip) {
                ++tally_->skipped;
                keep(subject, answer, e);
            } else if (answer.rejection) {
                ++verdicts;
                rejecting = rejecting ? rejecting : e;
                rejection = answer.rejection->message;
                keep(subject, without_verdict(fmt::format("rejected: {}", rejection)), e);
            } else if (answer.status != run::Status::reference) {
                fail(subject, answer, e);
            } else {
                ++verdicts;
                keep(subject, answer, e);
                expected_by = e;
                expected = std::make_shared<const cases::Case>(cases::recorded_case(*subject, *answer.computed));
            }
        }
        if (rejecting && expected != nullptr) {
            fail(expected,
                 failed(run::Status::fail,
                        fmt::format("the descriptor was rejected: {}; another engine accepts it, and {}", rejection,
                                    operators::catalogue_opinion(*subject->descriptor,
                                                                 engines_[*rejecting]->info().feature_level))),
                 *rejecting, expected_by);
        } else if (verdicts == 1) {
            ++tally_->skipped;
        }
    }

    static run::CaseResult failed(run::Status status, std::string reason) {
        run::CaseResult result;
        result.status = status;
        result.reason = std::move(reason);
        return result;
    }

    /// The result of an engine that rejects a case while no engine has accepted it.
    static run::CaseResult without_verdict(std::string reason) { return failed(run::Status::skip, std::move(reason)); }

    Engines engines_;
    run::ExpectedResults* expected_;
    std::vector<core::Precision> precisions_;
    FuzzObserver& observer_;
    FuzzResult result_;
    OperatorTally* tally_ = nullptr;
    /// The results of the current case.
    std::vector<run::CaseResult> results_;
    std::uint64_t done_ = 0;
    std::uint64_t failures_ = 0;
};

}  // namespace

OperatorTally FuzzResult::total() const {
    OperatorTally sum;
    for (const auto& [name, tally] : operators) {
        sum.cases += tally.cases;
        sum.legal += tally.legal;
        sum.compared += tally.compared;
        sum.rejected += tally.rejected;
        sum.skipped += tally.skipped;
        for (const auto& [finding, count] : tally.known) {
            sum.known[finding].failed += count.failed;
            sum.known[finding].passed += count.passed;
        }
        sum.failures += tally.failures;
    }
    return sum;
}

FuzzResult fuzz(const FuzzSettings& settings, Engines engines, FuzzObserver& observer) {
    Fuzzer fuzzer(engines, settings, observer);
    if (settings.graphs) {
        for (std::uint64_t number = settings.start; !fuzzer.stop_requested(); ++number) {
            if (settings.count != 0 && number - settings.start >= settings.count) {
                break;
            }
            if (const auto subject = generate_graph(settings.generator, number)) {
                fuzzer.run(*subject);
            }
        }
        return fuzzer.take();
    }
    for (const operators::OperatorSchema* schema : settings.operators) {
        fuzzer.note(*schema);
    }
    for (std::uint64_t round = 0;; ++round) {
        bool made_any = false;
        for (const operators::OperatorSchema* schema : settings.operators) {
            if (fuzzer.stop_requested() || (settings.count != 0 && fuzzer.done() >= settings.count)) {
                return fuzzer.take();
            }
            // The n-th case of an operator does not depend on which other operators are fuzzed.
            if (const auto subject = generate(*schema, settings.generator, settings.start + round)) {
                made_any = true;
                fuzzer.run(*subject);
            }
        }
        if (!made_any && round > 100) {
            return fuzzer.take();
        }
    }
}

}  // namespace dmlconform::fuzz
