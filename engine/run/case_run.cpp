// Runs a case: inputs are made once, the reference is computed when needed, then each engine is run and judged.
#include "engine/run/case_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>

#include "engine/compare/beyond.h"
#include "engine/core/element.h"
#include "engine/cpu/distributed_loops.h"
#include "engine/cpu/reference.h"
#include "engine/engine_lost.h"
#include "engine/graph_by_nodes.h"
#include "engine/run/blank_output.h"
#include "engine/run/case_memory.h"
#include "engine/run/case_values.h"
#include "engine/run/dispute.h"
#include "engine/run/output_elements.h"
#include "engine/run/precision_verdict.h"
#include "engine/run/reference_source.h"
#include "engine/run/segments.h"

namespace dmlconform::run {
namespace {

using Clock = std::chrono::steady_clock;

/// Limit for further executions: none starts after this time.
constexpr std::chrono::milliseconds longest_repetition{100};

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

/// For reports: "1 of 8: [0,0,1,3] 12 expected, 11 got".
std::string difference_text(const OutputResult& output, bool is_only_output) {
    const compare::Comparison& comparison = output.comparison;
    std::string count =
        fmt::format("{}{} of {}", is_only_output ? "" : output.name + ": ", comparison.beyond, comparison.elements);
    if (!comparison.worst) {
        return count;
    }
    const core::DataType type = output.desc.data_type;
    return fmt::format("{}{} [{}] {} expected, {} got", count, comparison.beyond == 1 ? ":" : ", most at",
                       fmt::join(compare::coordinates_of(comparison.worst->index, output.desc.sizes), ","),
                       core::format_element(type, comparison.worst->expected_bits),
                       core::format_element(type, comparison.worst->actual_bits));
}

/// Why outputs within their tolerances fail because of their precision. Empty if they do not.
std::string precision_reason(const CaseResult& result) {
    for (const OutputResult& output : result.outputs) {
        if (output.precision && !output.precision->promised.empty()) {
            return fmt::format("{} is within every element's range, but computes as {}, and {} was promised",
                               result.outputs.size() == 1 ? "the output" : output.name, output.precision->computes_as,
                               output.precision->promised);
        }
    }
    return {};
}

/// A known explanation for the difference of an output, if there is one.
std::string coarse_operands(const CaseResult& result) {
    for (const OutputResult& output : result.outputs) {
        if (!output.comparison.passed() && output.precision && !output.precision->computes_as.empty() &&
            output.precision->statistic.q() > compare::highest_honest_q) {
            return fmt::format("; it computes as {}", output.precision->computes_as);
        }
    }
    return {};
}

class CaseRun {
public:
    CaseRun(std::shared_ptr<const cases::Case> subject, const CaseSettings& settings)
        : subject_(std::move(subject)),
          case_(*subject_),
          descriptor_(*case_.descriptor),
          settings_(settings),
          values_(case_, settings.against.has_value()),
          dispute_(values_) {
        if (is_in_files(case_, settings)) {
            values_.use_files();
        }
    }

    CaseResult on(Engine& engine, std::size_t index) {
        CaseResult result;
        result.subject = subject_;
        result.engine = index;
        const auto start = Clock::now();
        try {
            judge(engine, result);
        } catch (const DataUnavailable& problem) {
            finish(result, Status::error, problem.what());
        } catch (const EngineLost& lost) {
            if (lost.kind() == EngineLost::Kind::interrupted) {
                throw;  // not a statement about the case
            }
            result.timing.total = Clock::now() - start;
            finish(result, status_of(lost.kind()), lost.what());
        } catch (const ReferenceLost& lost) {
            finish(result, Status::error, lost.what());
        } catch (const std::bad_alloc&) {
            finish(result, Status::error, "out of memory");
        } catch (const std::exception& exception) {
            finish(result, Status::error, fmt::format("exception: {}", exception.what()));
        }
        return result;
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
    [[nodiscard]] bool says_what_is_expected(const Engine& engine, const CaseResult& result) const {
        return settings_.against ? *settings_.against == result.engine : engine.info().is_reference;
    }

    static void finish(CaseResult& result, Status status, std::string reason) {
        result.status = status;
        result.reason = std::move(reason);
    }

    void judge(Engine& engine, CaseResult& result) {
        if (!case_.problem.empty()) {
            return finish(result, Status::error, case_.problem);
        }
        if (case_.min_feature_level > engine.info().feature_level) {
            return finish(
                result, Status::skip,
                fmt::format("needs feature level {}, the engine has {}", core::to_string(case_.min_feature_level),
                            core::to_string(engine.info().feature_level)));
        }
        if (case_.expect_error && engine.info().has_only_outputs()) {
            return finish(result, Status::skip,
                          "the descriptor has to be rejected, which outputs that were computed elsewhere do not show");
        }
        if (auto reason = too_large(engine)) {
            return finish(result, Status::skip, std::move(*reason));
        }
        if (auto reason = unsupported(engine)) {
            return finish(result, Status::skip, std::move(*reason));
        }
        engine.next_case(case_.id);
        auto executable = compile(engine, descriptor_);
        if (!executable) {
            return judge_failure(engine, executable.error(), result);
        }
        if (case_.expect_error) {
            return finish(result, Status::fail,
                          fmt::format("the descriptor was accepted, but has to be rejected with {}; {}",
                                      core::to_string(*case_.expect_error), opinion_for(engine)));
        }
        if (auto reason = unjudgeable(engine, result)) {
            return finish(result, Status::skip, std::move(*reason));
        }
        execute(engine, **executable, result);
    }

    [[nodiscard]] std::optional<std::string> unsupported(const Engine& engine) const {
        return descriptor_.graph == nullptr               ? engine.unsupported(descriptor_)
               : settings_.graph_mode == GraphMode::nodes ? unsupported_node(engine, descriptor_)
                                                          : engine.unsupported_graph(descriptor_);
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
            return says_what_is_expected(engine, result) || values_.has_answer()
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

    void judge_failure(const Engine& engine, const CompileFailure& failure, CaseResult& result) {
        const operators::Rejection& rejection = failure.rejection;
        if (failure.kind == CompileFailure::Kind::broken) {
            return finish(result, Status::error, rejection.message);
        }
        result.rejection = rejection;
        if (!case_.expect_error) {
            return finish(result, Status::fail,
                          fmt::format("the descriptor was rejected with {}: {}; {}", core::to_string(rejection.code),
                                      rejection.message, opinion_for(engine)));
        }
        if (*case_.expect_error != rejection.code) {
            return finish(
                result, Status::fail,
                fmt::format("the descriptor was rejected with {} instead of {}; {}", core::to_string(rejection.code),
                            core::to_string(*case_.expect_error), opinion_for(engine)));
        }
        finish(result, Status::pass, "");
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
        if (const auto failure = timed(executable, inputs, targets, result.timing)) {
            return finish(result, Status::error, *failure);
        }
        if (!settings_.compare) {
            return finish(result, Status::reference, "not compared");
        }
        find_stray_writes(outputs, result);
        if (settings_.against == result.engine) {
            if (auto reason = unusable(outputs)) {
                return finish(result, Status::error, std::move(*reason));
            }
            keep_answer(outputs, result);
        }
        compare_outputs(engine, outputs, result);
        if (result.status == Status::pass || differs_from_reference(result)) {
            compare_segments(engine, outputs, result);
        }
        if (settings_.further_executions != 0 && !is_failure(result.status)) {
            if (const auto failure = repeat(executable, result.timing)) {
                return finish(result, Status::error, fmt::format("executed again: {}", *failure));
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

    void find_stray_writes(const std::vector<core::Tensor>& outputs, CaseResult& result) const {
        const auto slots = descriptor_.outputs();
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i].desc == nullptr) {
                continue;
            }
            if (const auto write = core::find_stray_write(outputs[i])) {
                result.stray_writes.push_back({std::string(slots[i].name), *write});
            }
        }
    }

    static std::string stray_write_reason(const StrayOutput& stray) {
        return fmt::format(
            "the engine wrote beyond the end of {}: {} of the {} bytes after its total size, from byte {} on",
            stray.name, stray.write.bytes, core::guard_bytes, stray.write.offset);
    }

    /// Binds, executes and reads. Returns the reason of a failure.
    static std::optional<std::string> timed(Executable& executable, std::span<const core::Tensor* const> inputs,
                                            std::span<core::Tensor* const> outputs, Timing& timing) {
        const auto start = Clock::now();
        if (const auto bound = executable.bind(inputs); !bound) {
            return bound.error().message;
        }
        const std::uint64_t loops = cpu::distributed_loops();
        const auto execution = Clock::now();
        if (const auto executed = executable.execute(); !executed) {
            return executed.error().message;
        }
        const auto executed = Clock::now();
        timing.on_several_threads = cpu::distributed_loops() != loops;
        if (const auto read = executable.read(outputs); !read) {
            return read.error().message;
        }
        timing.total = Clock::now() - start;
        const auto measured = executable.execute_time();
        timing.measured_there = measured.has_value();
        timing.execute = measured.value_or(executed - execution);
        timing.device = executable.device_time();
        return std::nullopt;
    }

    /// Executes repeatedly for `timing`. Returns the reason of a failure.
    std::optional<std::string> repeat(Executable& executable, Timing& timing) const {
        std::vector<std::chrono::nanoseconds> times;
        const auto end = Clock::now() + longest_repetition;
        while (times.size() < settings_.further_executions && (times.empty() || Clock::now() < end)) {
            const auto start = Clock::now();
            if (const auto executed = executable.execute(); !executed) {
                return executed.error().message;
            }
            const std::chrono::nanoseconds wall = Clock::now() - start;
            times.push_back(executable.device_time().value_or(executable.execute_time().value_or(wall)));
        }
        const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
        std::nth_element(times.begin(), middle, times.end());
        timing.steady = *middle;
        return std::nullopt;
    }

    void compare_outputs(const Engine& engine, const std::vector<core::Tensor>& outputs, CaseResult& result) {
        const auto slots = descriptor_.outputs();
        std::string blank;
        std::vector<std::vector<std::uint64_t>> beyond(slots.size());
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i].desc == nullptr) {
                continue;
            }
            if (!case_.expected[i] && says_what_is_expected(engine, result)) {
                result.uncompared.push_back(slots[i].name);
                continue;
            }
            const std::string missing = compare_output(i, slots[i], outputs[i], result, beyond[i]);
            blank = blank.empty() ? missing : blank;
        }
        if (result.outputs.empty() && result.stray_writes.empty()) {
            return finish(result, Status::reference,
                          settings_.against
                              ? "the case has no expected values, so the others are compared with this engine"
                              : "the case has no expected values, so this engine is the reference");
        }
        conclude(outputs, blank, std::move(beyond), result);
    }

    static bool differs(const OutputResult& output) { return !output.comparison.passed(); }

    /// True if values are wrong, and nothing else, and the case itself does not say what they should be.
    static bool differs_from_reference(const CaseResult& result) {
        return result.status == Status::fail && result.stray_writes.empty() && !result.unwritten &&
               std::ranges::any_of(result.outputs, differs) &&
               std::ranges::all_of(result.outputs, &OutputResult::from_reference);
    }

    /// Judges a graph in segments, if decisions inside it may go either way.
    void compare_segments(Engine& engine, const std::vector<core::Tensor>& outputs, CaseResult& result) {
        const std::vector<std::string>& values = values_.undecided();
        for (std::size_t i = 0; i < case_.expected.size(); ++i) {
            if (promised_by(result.engine, i) != core::Precision::fp32) {
                return;  // ranges are known for FP32 alone
            }
        }
        if (values.empty() || engine.info().is_reference || engine.info().has_only_outputs()) {
            return;
        }
        SegmentVerdict verdict =
            judge_segments(descriptor_, values_.inputs(), outputs, values,
                           [&](const operators::Descriptor& graph) { return compile(engine, graph); });
        if (result.status != Status::pass) {
            return accept_decisions(std::move(verdict.without_further_outputs), result);
        }
        if (!verdict.failure.empty()) {
            result.difference = verdict.difference;
            finish(result, Status::fail, verdict.failure);
        }
    }

    /// Lets a graph pass that follows from the engine's own decisions, although no run of the reference took all of
    /// them together.
    void accept_decisions(std::vector<compare::Comparison> comparisons, CaseResult& result) {
        if (comparisons.size() != result.outputs.size() ||
            !std::ranges::all_of(comparisons, &compare::Comparison::passed)) {
            return;
        }
        for (std::size_t i = 0; i < comparisons.size(); ++i) {
            OutputResult& output = result.outputs[i];
            output.comparison = std::move(comparisons[i]);
            output.error_map = {};
            output.shown = {};
        }
        result.difference.clear();
        result.excusing = {};
        const std::string imprecise = precision_reason(result);
        finish(result, imprecise.empty() ? Status::pass : Status::fail, imprecise);
    }

    /// Compares one output. Returns why the output looks as if nothing was computed; empty if it does not.
    std::string compare_output(std::size_t i, const operators::TensorSlot& slot, const core::Tensor& actual,
                               CaseResult& result, std::vector<std::uint64_t>& beyond) {
        OutputResult& output = result.outputs.emplace_back();
        output.name = slot.name;
        output.desc = *slot.desc;
        const core::Precision promised = promised_by(result.engine, i);
        const Accepted accepted = values_.accepted(i, promised);
        output.tolerance = accepted.tolerance;
        output.from_reference = !case_.expected[i];
        output.expected_by = output.from_reference && settings_.against ? asked_ : "";
        const core::ElementSlack* slack = accepted.slack();
        const core::Tensor& expected = values_.expected(i);
        output.comparison = compare::compare(expected, actual, accepted.tolerance, slack);
        if (!output.comparison.passed()) {
            output.error_map = compare::error_map(expected, actual, accepted.tolerance, slack);
            output.shown = compare::shown_elements(expected, actual, accepted.tolerance, slack);
            if (settings_.expected != nullptr && settings_.expected->knows_elements(result.engine)) {
                beyond = compare::elements_beyond(expected, actual, accepted.tolerance, slack);
            }
        }
        if (output.comparison.passed()) {
            output.powerless = values_.lack_of_power(i, accepted);
        }
        if (const cpu::Reference* reference = values_.reference_at_hand(i)) {
            output.precision = precision_verdict(
                {descriptor_, values_.inputs(), *reference, i, promised, !output.comparison.passed()}, actual);
        }
        const std::uint64_t meaningful = slack == nullptr ? core::ElementSlack().meaningful : slack->meaningful;
        if (!output.comparison.passed()) {
            if (const auto what = unwritten_part(actual, &expected, meaningful)) {
                result.unwritten = true;
                return fmt::format("{}: {}", output.name, *what);
            }
        }
        // If no element is meaningful, nothing need be written.
        if (meaningful != 0 && output.comparison.histogram.counts[0] != output.comparison.elements) {
            if (const auto what = blank_output(expected, actual, output.tolerance.element_slack)) {
                return fmt::format("{}: {}", output.name, *what);
            }
        }
        return {};
    }

    /// The precision in which the engine must compute the output.
    [[nodiscard]] core::Precision promised_by(std::size_t engine, std::size_t output) const {
        if (case_.precision) {
            return *case_.precision;
        }
        if (case_.tolerances[output] && case_.tolerances[output]->half_precision) {
            return core::Precision::fp16;
        }
        return engine < settings_.precisions.size() ? settings_.precisions[engine] : core::Precision::fp32;
    }

    void conclude(const std::vector<core::Tensor>& outputs, const std::string& blank,
                  std::vector<std::vector<std::uint64_t>> beyond, CaseResult& result) {
        const auto worst = std::find_if(result.outputs.begin(), result.outputs.end(), differs);
        const bool passed = worst == result.outputs.end();
        if (!passed) {
            result.difference = difference_text(*worst, descriptor_.outputs().size() == 1);
        }
        if (!result.stray_writes.empty()) {
            return finish(result, Status::fail,
                          stray_write_reason(result.stray_writes.front()) +
                              (passed ? "" : "; the output differs beyond tolerance"));
        }
        const auto unwritten = [](const core::Tensor& output) {
            return !output.buffer.bytes().empty() && looks_unwritten(output);
        };
        dispute_.hear(result.engine,
                      !passed && blank.empty() && !worst->from_reference && std::ranges::none_of(outputs, unwritten),
                      outputs);
        if (passed && blank.empty()) {
            const std::string imprecise = precision_reason(result);
            return finish(result, imprecise.empty() ? Status::pass : Status::fail, imprecise);
        }
        if (settings_.expected != nullptr && blank.empty()) {
            result.excusing =
                settings_.expected->excusing(case_, result.engine, std::move(beyond), elements_of_outputs(outputs));
        }
        // A missing output is a failure, whatever the tolerance accepts.
        finish(result, Status::fail,
               passed          ? blank + ", though the tolerance accepts that"
               : blank.empty() ? "the output differs beyond tolerance" + coarse_operands(result)
                               : "the output differs beyond tolerance; " + blank);
    }

    /// For expectations. Only elements that some expectation asks for are computed.
    expectations::OutputElements elements_of_outputs(const std::vector<core::Tensor>& outputs) {
        return {.expected = [this, by_reference = elements_by_reference(case_)](
                                std::size_t output) -> std::optional<std::vector<double>> {
                    const core::Tensor& expected = values_.expected(output);
                    const bool is_half = expected.desc.data_type == core::DataType::float16;
                    return unrounded(expected, is_half ? by_reference.expected(output) : std::nullopt);
                },
                .actual = [&outputs](std::size_t output) -> std::optional<std::vector<double>> {
                    return elements_of(outputs[output]);
                }};
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
