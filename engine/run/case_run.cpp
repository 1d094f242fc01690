// Runs a case: inputs are made once, the reference is computed when needed, then each engine is run and judged.
#include "engine/run/case_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>

#include "engine/cpu/reference.h"
#include "engine/engine_lost.h"
#include "engine/graph_by_nodes.h"
#include "engine/run/blank_output.h"
#include "engine/run/case_memory.h"
#include "engine/run/case_values.h"
#include "engine/run/dispute.h"
#include "engine/run/output_judge.h"
#include "engine/run/reference_source.h"
#include "engine/run/timed_execution.h"

namespace dmlconform::run {
namespace {

std::string memory_text(std::uint64_t bytes) {
    constexpr std::uint64_t mebibyte = 1024 * 1024;
    return bytes < 10 * mebibyte ? fmt::format("{} bytes", bytes) : fmt::format("{} MiB", bytes / mebibyte);
}

Status status_of(EngineLost::Kind kind) {
    switch (kind) {
        case EngineLost::Kind::crashed:
            return Status::crash;
        case EngineLost::Kind::timed_out:
            return Status::timeout;
        default:
            return Status::error;
    }
}

class CaseRun {
public:
    CaseRun(std::shared_ptr<const cases::Case> subject, const CaseSettings& settings)
        : subject_(std::move(subject)),
          case_(*subject_),
          descriptor_(*case_.descriptor),
          settings_(settings),
          values_(case_, settings.against.has_value()),
          dispute_(values_),
          judge_(case_, settings_, values_, dispute_, asked_) {
        if (is_in_files(case_, settings)) {
            values_.use_files();
        }
    }

    [[nodiscard]] bool may_compare(const Engine& engine, std::size_t index) const {
        const bool is_skipped = settings_.expected != nullptr && settings_.expected->plan(case_, index).skip != nullptr;
        const bool compares =
            !says_what_is_expected(engine, index) ||
            std::ranges::any_of(case_.expected, [](const auto& values) { return values.has_value(); });
        return settings_.compare && compares && !is_skipped && !known_skip(engine);
    }

    CaseResult on(Engine& engine, std::size_t index) {
        CaseResult result = attempt(index, [&](CaseResult& judged) { judge(engine, judged); });
        CaseResult end = attempt(index, [&](CaseResult& ended) {
            const auto released = engine.end_case();
            ended.finish(released ? Status::pass : Status::error, released ? "" : released.error().message);
        });
        return end.status == Status::pass ? std::move(result) : after_release(result, std::move(end));
    }

    /// Called after the engine that the others are compared with has run.
    void end_answer(const CaseResult& result, const std::string& name) {
        asked_ = name;
        no_answer_ = values_.has_answer() ? "" : result.reason;
    }

    /// Applies checks that need all results of the case.
    void settle_dispute(std::span<CaseResult> results, std::span<const std::unique_ptr<Engine>> engines) {
        std::string verdict;
        try {
            verdict = dispute_.verdict(descriptor_, engines);
        } catch (const ReferenceLost&) {
            // Without an answer there is nothing to compare the others with.
        }
        for (CaseResult& result : results) {
            result.hint = is_failure(result.status) && !result.difference.empty() ? verdict : "";
        }
    }

private:
    /// The result that `action` fills in, or of the exception that ends it.
    template <class Action>
    CaseResult attempt(std::size_t index, const Action& action) {
        CaseResult result;
        result.subject = subject_;
        result.engine = index;
        const auto start = std::chrono::steady_clock::now();
        try {
            action(result);
        } catch (const DataUnavailable& problem) {
            result.finish(Status::error, problem.what());
        } catch (const EngineLost& lost) {
            if (lost.kind() == EngineLost::Kind::interrupted) {
                throw;  // not a statement about the case
            }
            result.timing.total = std::chrono::steady_clock::now() - start;
            result.finish(status_of(lost.kind()), lost.what());
        } catch (const ReferenceLost& lost) {
            result.finish(Status::error, lost.what());
        } catch (const std::bad_alloc&) {
            result.finish(Status::error, "out of memory");
        } catch (const std::exception& exception) {
            result.finish(Status::error, fmt::format("exception: {}", exception.what()));
        }
        return result;
    }

    /// The result of a case that was judged, but whose executable was not released. An engine that has failed may
    /// refuse to release what it failed with: that is not a second failure.
    static CaseResult after_release(CaseResult& judged, CaseResult end) {
        if (end.status == Status::error && judged.status == Status::error) {
            return std::move(judged);
        }
        if (is_failure(judged.status)) {
            end.reason +=
                fmt::format("; before, the case ended as {}: {}", to_string(judged.status), message_of(judged));
        }
        end.timing = judged.timing;
        return end;
    }

    [[nodiscard]] bool says_what_is_expected(const Engine& engine, std::size_t index) const {
        return settings_.against ? *settings_.against == index : engine.info().is_reference;
    }

    /// Why the engine skips the case, as far as that is known without asking a device or another process.
    [[nodiscard]] std::optional<std::string> known_skip(const Engine& engine) const {
        if (case_.min_feature_level > engine.info().feature_level) {
            return fmt::format("needs feature level {}, the engine has {}", core::to_string(case_.min_feature_level),
                               core::to_string(engine.info().feature_level));
        }
        if (case_.expect_error && engine.info().has_only_outputs()) {
            return "the descriptor has to be rejected, which outputs that were computed elsewhere do not show";
        }
        if (auto reason = too_large(engine)) {
            return reason;
        }
        return engine.info().in_own_process ? std::nullopt : unsupported(engine, descriptor_);
    }

    void judge(Engine& engine, CaseResult& result) {
        if (!case_.problem.empty()) {
            return result.finish(Status::error, case_.problem);
        }
        if (auto reason = known_skip(engine)) {
            return result.finish(Status::skip, std::move(*reason));
        }
        if (auto reason = engine.info().in_own_process ? unsupported(engine, descriptor_) : std::nullopt) {
            return result.finish(Status::skip, std::move(*reason));
        }
        engine.next_case(case_.id);
        auto executable = compile(engine, descriptor_);
        if (!executable) {
            return judge_failure(engine, executable.error(), result);
        }
        if (case_.expect_error) {
            return result.finish(Status::fail,
                                 fmt::format("the descriptor was accepted, but has to be rejected with {}; {}",
                                             core::to_string(*case_.expect_error), opinion_for(engine)));
        }
        if (auto reason = unjudgeable(engine, result)) {
            return result.finish(Status::skip, std::move(*reason));
        }
        execute(engine, **executable, result);
    }

    [[nodiscard]] std::optional<std::string> unsupported(const Engine& engine,
                                                         const operators::Descriptor& descriptor) const {
        return descriptor.graph == nullptr                ? engine.unsupported(descriptor)
               : settings_.graph_mode == GraphMode::nodes ? unsupported_node(engine, descriptor)
                                                          : engine.unsupported_graph(descriptor);
    }

    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile(
        Engine& engine, const operators::Descriptor& descriptor) const {
        return descriptor.graph == nullptr                ? engine.compile(descriptor)
               : settings_.graph_mode == GraphMode::nodes ? compile_by_nodes(engine, descriptor)
                                                          : engine.compile_graph(descriptor);
    }

    /// Why the case needs too much memory for the engine; empty if it does not. Compiling may allocate memory for
    /// tensors, so the limit also applies to descriptors that the engine is expected to reject but the catalogue
    /// accepts. A descriptor that the catalogue rejects is always passed on.
    [[nodiscard]] std::optional<std::string> too_large(const Engine& engine) const {
        if (operators::validate(descriptor_, core::highest_feature_level)) {
            return std::nullopt;
        }
        const std::uint64_t needed = memory_of(case_, engine.info(), settings_);
        if (needed <= settings_.max_memory) {
            return std::nullopt;
        }
        std::string reason = fmt::format("needs about {} of memory; {} are allowed", memory_text(needed),
                                         memory_text(settings_.max_memory));
        if (descriptor_.graph != nullptr && settings_.graph_mode != GraphMode::nodes) {
            CaseSettings by_nodes = settings_;
            by_nodes.graph_mode = GraphMode::nodes;
            const std::uint64_t less = memory_of(case_, engine.info(), by_nodes);
            if (less <= settings_.max_memory) {
                reason += fmt::format(" (about {} with --graph-mode nodes)", memory_text(less));
            }
        }
        return reason;
    }

    /// Why results of the engine cannot be judged: there are neither expected values nor a reference.
    [[nodiscard]] std::optional<std::string> unjudgeable(const Engine& engine, const CaseResult& result) const {
        if (!case_.needs_reference()) {
            return std::nullopt;
        }
        if (settings_.against) {
            return says_what_is_expected(engine, result.engine) || values_.has_answer()
                       ? std::nullopt
                       : std::optional(fmt::format("{} has no values to compare with: {}", asked_, no_answer_));
        }
        if (!cpu::has_reference(descriptor_)) {
            return fmt::format("there is no reference yet for {}, and the case expects no values",
                               descriptor_.schema->short_name());
        }
        return std::nullopt;
    }

    /// Evidence for or against the engine when it disagrees with the case about the descriptor.
    [[nodiscard]] std::string opinion_for(const Engine& engine) const {
        return operators::catalogue_opinion(descriptor_, engine.info().feature_level);
    }

    /// What an engine says, with a way out where the device's memory is too small for a whole graph.
    [[nodiscard]] std::string with_way_out(std::string failure) const {
        const bool is_full = failure.find("E_OUTOFMEMORY") != std::string::npos;
        if (is_full && descriptor_.graph != nullptr && settings_.graph_mode != GraphMode::nodes) {
            failure += " (with --graph-mode nodes, the engine gets one operator at a time)";
        }
        return failure;
    }

    void judge_failure(const Engine& engine, const CompileFailure& failure, CaseResult& result) {
        const operators::Rejection& rejection = failure.rejection;
        if (failure.kind == CompileFailure::Kind::broken) {
            return result.finish(Status::error, with_way_out(rejection.message));
        }
        result.rejection = rejection;
        if (!case_.expect_error) {
            return result.finish(Status::fail,
                                 fmt::format("the descriptor was rejected with {}: {}; {}",
                                             core::to_string(rejection.code), rejection.message, opinion_for(engine)));
        }
        if (*case_.expect_error != rejection.code) {
            return result.finish(Status::fail, fmt::format("the descriptor was rejected with {} instead of {}; {}",
                                                           core::to_string(rejection.code),
                                                           core::to_string(*case_.expect_error), opinion_for(engine)));
        }
        result.finish(Status::pass, "");
    }

    void execute(Engine& engine, Executable& executable, CaseResult& result) {
        const auto inputs = values_.inputs();
        std::vector<core::Tensor> outputs;
        std::vector<core::Tensor*> targets;
        const auto slots = descriptor_.outputs();
        outputs.reserve(slots.size());
        for (const operators::TensorSlot& slot : slots) {
            outputs.push_back(slot.desc == nullptr ? core::Tensor() : core::output_tensor(*slot.desc));
            targets.push_back(slot.desc == nullptr ? nullptr : &outputs.back());
        }
        if (settings_.further_executions == 0) {
            executable.execute_only_once();
        }
        if (const auto failure = execute_timed(executable, inputs, targets, result.timing)) {
            return result.finish(Status::error, with_way_out(*failure));
        }
        if (!settings_.compare) {
            return result.finish(Status::reference, "not compared");
        }
        judge_.find_stray_writes(outputs, result);
        if (settings_.against == result.engine) {
            if (auto reason = unusable(outputs)) {
                return result.finish(Status::error, std::move(*reason));
            }
            keep_answer(outputs, result);
        }
        judge_.compare_outputs(says_what_is_expected(engine, result.engine), outputs, result);
        judge_.compare_segments(
            engine.info(),
            {.unsupported = [&](const operators::Descriptor& graph) { return unsupported(engine, graph); },
             .compile = [&](const operators::Descriptor& graph) { return compile(engine, graph); }},
            outputs, result);
        if (settings_.further_executions != 0 && !is_failure(result.status)) {
            if (const auto failure = execute_again(executable, settings_.further_executions, result.timing)) {
                return result.finish(Status::error, fmt::format("executed again: {}", *failure));
            }
        }
        if (settings_.keep_evidence && is_failure(result.status)) {
            result.evidence = std::make_shared<const Evidence>(evidence(std::move(outputs)));
        }
    }

    /// Why the outputs cannot serve as expected values for the other engines. Outputs with values in the case are
    /// compared themselves.
    std::optional<std::string> unusable(const std::vector<core::Tensor>& outputs) {
        const auto slots = descriptor_.outputs();
        const bool has_reference = cpu::has_reference(descriptor_);
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i].desc == nullptr || case_.expected[i] || !looks_unwritten(outputs[i])) {
                continue;
            }
            const core::ElementSlack* slack = values_.slack(i);
            const std::uint64_t meaningful = slack == nullptr ? core::ElementSlack().meaningful : slack->meaningful;
            const core::Tensor* reference = has_reference ? &values_.reference().outputs[i] : nullptr;
            const core::Tolerance tolerance = values_.tolerance(i);
            const bool is_accepted = reference != nullptr && tolerance.element_slack &&
                                     compare::compare(*reference, outputs[i], tolerance, slack).passed();
            if (const auto what = unusable_answer(outputs[i], reference, is_accepted, meaningful)) {
                return fmt::format("{}: {}", slots[i].name, *what);
            }
        }
        return std::nullopt;
    }

    /// Keeps outputs to compare the other engines with, unless the engine wrote beyond the end of one.
    void keep_answer(const std::vector<core::Tensor>& outputs, CaseResult& result) {
        if (!result.stray_writes.empty()) {
            return;
        }
        std::vector<core::Tensor> answer;
        for (const core::Tensor& output : outputs) {
            answer.push_back(output.buffer.bytes().empty() ? core::Tensor() : copy_of(output));
        }
        const auto kept = std::make_shared<const std::vector<core::Tensor>>(std::move(answer));
        values_.set_answer(kept);
        result.computed = settings_.keep_computed ? kept : nullptr;
    }

    Evidence evidence(std::vector<core::Tensor> actual) {
        Evidence all;
        for (const core::Tensor* input : values_.inputs()) {
            all.inputs.push_back(input == nullptr ? core::Tensor() : copy_of(*input));
        }
        const auto slots = descriptor_.outputs();
        for (std::size_t i = 0; i < slots.size(); ++i) {
            const bool known = slots[i].desc != nullptr && values_.knows(i);
            all.expected.push_back(known ? copy_of(values_.expected(i)) : core::Tensor());
        }
        all.actual = std::move(actual);
        return all;
    }

    std::shared_ptr<const cases::Case> subject_;
    const cases::Case& case_;
    const operators::Descriptor& descriptor_;
    const CaseSettings& settings_;
    CaseValues values_;
    Dispute dispute_;
    /// The engine that the others are compared with.
    std::string asked_;
    /// Why that engine computed nothing.
    std::string no_answer_;
    OutputJudge judge_;
};

}  // namespace

bool is_in_files(const cases::Case& subject, const CaseSettings& settings) {
    return subject.descriptor->graph != nullptr && !subject.expect_error && !references_are_isolated() &&
           memory_needed(subject, {false, settings.keep_evidence, settings.against.has_value()}) > settings.max_memory;
}

std::uint64_t memory_of(const cases::Case& subject, const EngineInfo& engine, const CaseSettings& settings) {
    MoreCopies more{engine.in_own_process, settings.keep_evidence, settings.against.has_value()};
    if (engine.in_own_process || !is_in_files(subject, settings)) {
        return memory_needed(subject, more);
    }
    more.engine = engine.is_reference                       ? MoreCopies::Engine::nothing
                  : settings.graph_mode == GraphMode::nodes ? MoreCopies::Engine::node
                                                            : MoreCopies::Engine::graph;
    return memory_needed_in_files(subject, more);
}

bool may_compare(const cases::Case& subject, std::span<const std::unique_ptr<Engine>> engines,
                 const CaseSettings& settings) {
    // The caller keeps the case alive.
    const CaseRun run(std::shared_ptr<const cases::Case>(std::shared_ptr<void>(), &subject), settings);
    for (std::size_t i = 0; i < engines.size(); ++i) {
        if (run.may_compare(*engines[i], i)) {
            return true;
        }
    }
    return false;
}

std::vector<CaseResult> run_case(const std::shared_ptr<const cases::Case>& subject,
                                 std::span<const std::unique_ptr<Engine>> engines, const CaseSettings& settings) {
    CaseRun run(subject, settings);
    std::vector<CaseResult> results(engines.size());
    const auto run_on = [&](std::size_t i) {
        const auto once = [&] { return run.on(*engines[i], i); };
        CasePlan plan = settings.expected == nullptr ? CasePlan() : settings.expected->plan(*subject, i);
        plan.retries = std::max(plan.retries, settings.retries);
        results[i] = run_as_planned(plan, subject, i, once);
    };
    if (settings.against) {
        run_on(*settings.against);
        run.end_answer(results[*settings.against], engines[*settings.against]->info().name);
    }
    for (std::size_t i = 0; i < engines.size(); ++i) {
        if (settings.against != i) {
            run_on(i);
        }
    }
    run.settle_dispute(results, engines);
    return results;
}

CaseResult run_case(const cases::Case& subject, Engine& engine, const CaseSettings& settings, std::size_t index) {
    // The caller keeps the case alive.
    return CaseRun(std::shared_ptr<const cases::Case>(std::shared_ptr<void>(), &subject), settings).on(engine, index);
}

CaseResult answer_of(const cases::Case& subject, Engine& engine) {
    CaseSettings settings;
    settings.against = 0;
    settings.keep_computed = true;
    return run_case(subject, engine, settings);
}

}  // namespace dmlconform::run
