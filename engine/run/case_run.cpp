// Judging: inputs are made once, the reference is computed when something needs it, then each engine is judged.
#include "engine/run/case_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>

#include "engine/compare/beyond.h"
#include "engine/cpu/cpu_engine.h"
#include "engine/cpu/reference.h"
#include "engine/engine_lost.h"
#include "engine/run/blank_output.h"
#include "engine/run/case_memory.h"

namespace dmlconform::run {
namespace {

using Clock = std::chrono::steady_clock;

/// No further execution begins after this.
constexpr std::chrono::milliseconds longest_repetition{100};

/// Whether the engine is the one whose answer the reference is.
bool is_reference(const Engine& engine) {
    return engine.info().name == "cpu";
}

/// A data file of the case has gone or changed since the case was read.
class DataUnavailable : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

std::string memory_text(std::uint64_t bytes) {
    constexpr std::uint64_t mebibyte = 1024 * 1024;
    return bytes < 10 * mebibyte ? fmt::format("{} bytes", bytes) : fmt::format("{} MiB", bytes / mebibyte);
}

core::Tensor copy_of(const core::Tensor& tensor) {
    core::Tensor copy(tensor.desc);
    std::ranges::copy(tensor.buffer.bytes(), copy.buffer.bytes().begin());
    return copy;
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
        : subject_(std::move(subject)), case_(*subject_), descriptor_(*case_.descriptor), settings_(settings) {}

    CaseResult on(Engine& engine, std::size_t index) {
        CaseResult result;
        result.subject = subject_;
        result.engine = index;
        try {
            judge(engine, result);
        } catch (const DataUnavailable& problem) {
            finish(result, Status::error, problem.what());
        } catch (const EngineLost& lost) {
            if (lost.kind() == EngineLost::Kind::interrupted) {
                throw;  // says nothing of the case
            }
            finish(result, status_of(lost.kind()), lost.what());
        } catch (const std::bad_alloc&) {
            finish(result, Status::error, "out of memory");
        } catch (const std::exception& exception) {
            finish(result, Status::error, fmt::format("exception: {}", exception.what()));
        }
        return result;
    }

private:
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
        if (auto reason = too_large(engine)) {
            return finish(result, Status::skip, std::move(*reason));
        }
        if (auto reason = engine.unsupported(descriptor_)) {
            return finish(result, Status::skip, std::move(*reason));
        }
        auto executable = engine.compile(descriptor_);
        if (!executable) {
            return judge_failure(engine, executable.error(), result);
        }
        if (case_.expect_error) {
            return finish(result, Status::fail,
                          fmt::format("the descriptor was accepted, but has to be rejected with {}; {}",
                                      core::to_string(*case_.expect_error), opinion_for(engine)));
        }
        if (auto reason = unjudgeable()) {
            return finish(result, Status::skip, std::move(*reason));
        }
        execute(engine, **executable, result);
    }

    /// Why the case is not given to the engine, which may take memory for tensors when it compiles: also where it has
    /// to reject what the catalogue calls legal. What is illegal has no tensors: the engine has to reject it.
    [[nodiscard]] std::optional<std::string> too_large(const Engine& engine) const {
        if (operators::validate(descriptor_, core::highest_feature_level)) {
            return std::nullopt;
        }
        const std::uint64_t needed = memory_needed(case_, {engine.info().in_own_process, settings_.keep_evidence});
        return needed <= settings_.max_memory
                   ? std::nullopt
                   : std::optional(fmt::format("needs about {} of memory; {} are allowed", memory_text(needed),
                                               memory_text(settings_.max_memory)));
    }

    /// Why no answer of an engine can be judged: without expected values or a reference nobody says what is right.
    [[nodiscard]] std::optional<std::string> unjudgeable() const {
        if (case_.needs_reference() && !cpu::has_reference(*descriptor_.schema)) {
            return fmt::format("there is no reference yet for {}", descriptor_.schema->short_name());
        }
        return std::nullopt;
    }

    /// What speaks for the engine, or against it, where it disagrees with the case about the descriptor.
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

    void execute(const Engine& engine, Executable& executable, CaseResult& result) {
        prepare_inputs();
        std::vector<core::Tensor> outputs;
        std::vector<core::Tensor*> targets;
        const auto slots = descriptor_.outputs();
        outputs.reserve(slots.size());
        for (const operators::TensorSlot& slot : slots) {
            outputs.push_back(slot.desc == nullptr ? core::Tensor() : core::output_tensor(*slot.desc));
            targets.push_back(slot.desc == nullptr ? nullptr : &outputs.back());
        }
        if (const auto failure = timed(executable, targets, result.timing)) {
            return finish(result, Status::error, *failure);
        }
        find_stray_writes(outputs, result);
        compare_outputs(engine, outputs, result);
        if (settings_.further_executions != 0 && !is_failure(result.status)) {
            if (const auto failure = repeat(executable, result.timing)) {
                return finish(result, Status::error, fmt::format("executed again: {}", *failure));
            }
        }
        if (settings_.keep_evidence && is_failure(result.status)) {
            result.evidence = std::make_shared<const Evidence>(evidence(std::move(outputs)));
        }
    }

    Evidence evidence(std::vector<core::Tensor> actual) {
        Evidence all;
        for (const core::Tensor* input : input_pointers_) {
            all.inputs.push_back(input == nullptr ? core::Tensor() : copy_of(*input));
        }
        const auto slots = descriptor_.outputs();
        const bool has_reference = cpu::has_reference(*descriptor_.schema);
        for (std::size_t i = 0; i < slots.size(); ++i) {
            const bool known = slots[i].desc != nullptr && (case_.expected[i] || has_reference);
            all.expected.push_back(known ? copy_of(expected(i)) : core::Tensor());
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

    /// Binds, executes and reads. The result is the reason of a failure.
    std::optional<std::string> timed(Executable& executable, std::span<core::Tensor* const> outputs, Timing& timing) {
        const auto start = Clock::now();
        if (const auto bound = executable.bind(input_pointers_); !bound) {
            return bound.error().message;
        }
        const auto execution = Clock::now();
        if (const auto executed = executable.execute(); !executed) {
            return executed.error().message;
        }
        const auto executed = Clock::now();
        if (const auto read = executable.read(outputs); !read) {
            return read.error().message;
        }
        timing.total = Clock::now() - start;
        const auto told = executable.execute_time();
        timing.told = told.has_value();
        timing.execute = told.value_or(executed - execution);
        timing.device = executable.device_time();
        return std::nullopt;
    }

    /// The result is the reason of a failure.
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
        bool compared = false;
        std::string blank;
        std::vector<std::vector<std::uint64_t>> beyond(slots.size());
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i].desc == nullptr) {
                continue;
            }
            if (!case_.expected[i] && is_reference(engine)) {
                result.uncompared.push_back(slots[i].name);
                continue;
            }
            OutputResult& output = result.outputs.emplace_back();
            output.name = slots[i].name;
            output.desc = *slots[i].desc;
            output.tolerance = case_.tolerances[i].value_or(cpu::default_tolerance(descriptor_, slots[i]));
            output.from_reference = !case_.expected[i];
            const bool has_slack =
                output.tolerance.element_slack || output.tolerance.alternatives || output.tolerance.meaningful_part;
            const core::ElementSlack* slack = has_slack ? &reference().slack[i] : nullptr;
            output.comparison = compare::compare(expected(i), outputs[i], output.tolerance, slack);
            if (!output.comparison.passed()) {
                output.error_map = compare::error_map(expected(i), outputs[i], output.tolerance, slack);
                if (settings_.expected != nullptr && settings_.expected->knows_elements(result.engine)) {
                    beyond[i] = compare::elements_beyond(expected(i), outputs[i], output.tolerance, slack);
                }
            }
            compared = true;
            // Where nothing means anything, nothing need be written.
            const bool is_meant = slack == nullptr || slack->meaningful != 0;
            if (is_meant && output.comparison.histogram.counts[0] != output.comparison.elements && blank.empty()) {
                if (const auto what = blank_output(expected(i), outputs[i], output.tolerance.element_slack)) {
                    blank = fmt::format("{}: {}", output.name, *what);
                }
            }
        }
        const bool passed = std::all_of(result.outputs.begin(), result.outputs.end(),
                                        [](const OutputResult& output) { return output.comparison.passed(); });
        if (!result.stray_writes.empty()) {
            return finish(result, Status::fail,
                          stray_write_reason(result.stray_writes.front()) +
                              (passed ? "" : "; the output differs beyond tolerance"));
        }
        if (!compared) {
            return finish(result, Status::reference,
                          "the case has no expected values, so this engine is the reference");
        }
        if (passed && blank.empty()) {
            return finish(result, Status::pass, "");
        }
        if (settings_.expected != nullptr && blank.empty()) {
            result.excusing = settings_.expected->excusing(case_, result.engine, std::move(beyond));
        }
        // What a tolerance accepts of an output that is not there is no pass.
        finish(result, Status::fail,
               passed          ? blank + ", though the tolerance accepts that"
               : blank.empty() ? "the output differs beyond tolerance"
                               : "the output differs beyond tolerance; " + blank);
    }

    static void fill(const cases::Initialiser& initialiser, core::Tensor& tensor) {
        if (const auto filled = initialiser.fill(tensor); !filled) {
            throw DataUnavailable(filled.error().message);
        }
    }

    void prepare_inputs() {
        if (prepared_) {
            return;
        }
        const auto slots = descriptor_.inputs();
        inputs_.clear();  // what an attempt for an earlier engine left when memory ran out
        input_pointers_.clear();
        inputs_.reserve(slots.size());
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i].desc == nullptr) {
                input_pointers_.push_back(nullptr);
                continue;
            }
            fill(*case_.inputs[i], inputs_.emplace_back(*slots[i].desc));
            input_pointers_.push_back(&inputs_.back());
        }
        prepared_ = true;
    }

    const cpu::Reference& reference() {
        if (!reference_) {
            reference_ = cpu::compute_reference(descriptor_, input_pointers_);
        }
        return *reference_;
    }

    const core::Tensor& expected(std::size_t output) {
        if (!case_.expected[output]) {
            return reference().outputs[output];
        }
        expected_.resize(case_.expected.size());
        if (!expected_[output]) {
            const core::TensorDesc& desc = *descriptor_.outputs()[output].desc;
            core::Tensor values(core::TensorDesc::packed(desc.data_type, desc.sizes));
            fill(*case_.expected[output], values);
            expected_[output] = std::move(values);
        }
        return *expected_[output];
    }

    std::shared_ptr<const cases::Case> subject_;
    const cases::Case& case_;
    const operators::Descriptor& descriptor_;
    const CaseSettings& settings_;
    bool prepared_ = false;
    std::vector<core::Tensor> inputs_;
    std::vector<const core::Tensor*> input_pointers_;
    std::optional<cpu::Reference> reference_;
    std::vector<std::optional<core::Tensor>> expected_;
};

}  // namespace

std::vector<CaseResult> run_case(const std::shared_ptr<const cases::Case>& subject,
                                 std::span<const std::unique_ptr<Engine>> engines, const CaseSettings& settings) {
    CaseRun run(subject, settings);
    std::vector<CaseResult> results;
    results.reserve(engines.size());
    for (std::size_t i = 0; i < engines.size(); ++i) {
        const auto once = [&] { return run.on(*engines[i], i); };
        results.push_back(settings.expected == nullptr
                              ? once()
                              : run_as_planned(settings.expected->plan(*subject, i), subject, i, once));
    }
    return results;
}

CaseResult run_case(const cases::Case& subject, Engine& engine, const CaseSettings& settings, std::size_t index) {
    // The caller keeps the case.
    return CaseRun(std::shared_ptr<const cases::Case>(std::shared_ptr<void>(), &subject), settings).on(engine, index);
}

}  // namespace dmlconform::run
