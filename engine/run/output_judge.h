// Judges the outputs that an engine has computed for a case.
#pragma once

#include <string>
#include <vector>

#include "engine/compare/comparison.h"
#include "engine/core/precision.h"
#include "engine/core/tensor.h"
#include "engine/engine.h"
#include "engine/run/case_run.h"
#include "engine/run/case_values.h"
#include "engine/run/dispute.h"
#include "engine/run/expected_results.h"
#include "engine/run/result.h"
#include "engine/run/segments.h"

namespace dmlconform::run {

class OutputJudge {
public:
    /// Keeps references. `asked` is the name of the engine that the others are compared with, once that has run.
    OutputJudge(const cases::Case& subject, const CaseSettings& settings, CaseValues& values, Dispute& dispute,
                const std::string& asked)
        : case_(subject),
          descriptor_(*subject.descriptor),
          settings_(settings),
          values_(values),
          dispute_(dispute),
          asked_(asked) {}

    /// Notes writes beyond the end of outputs.
    void find_stray_writes(const std::vector<core::Tensor>& outputs, CaseResult& result) const;

    /// Compares all outputs and decides the case's status. An engine that says what is expected is only compared with
    /// values in the case.
    void compare_outputs(bool says_what_is_expected, const std::vector<core::Tensor>& outputs, CaseResult& result);

    /// Judges a graph in segments, if decisions inside it may go either way. A case that has not passed stays as it is,
    /// unless nothing is wrong but values that the reference expects.
    void compare_segments(const EngineInfo& engine, const SegmentEngine& asked,
                          const std::vector<core::Tensor>& outputs, CaseResult& result);

private:
    /// Compares one output. Returns why the output looks as if nothing was computed; empty if it does not.
    std::string compare_output(std::size_t i, const operators::TensorSlot& slot, const core::Tensor& actual,
                               CaseResult& result, Beyond& beyond);

    /// The precision in which the engine must compute the output.
    [[nodiscard]] core::Precision promised_by(std::size_t engine, std::size_t output) const;

    void conclude(const std::vector<core::Tensor>& outputs, std::string blank, std::vector<Beyond> beyond,
                  CaseResult& result);

    /// For expectations. Only elements that some expectation asks for are computed.
    expectations::OutputElements elements_of_outputs(const std::vector<core::Tensor>& outputs, std::size_t engine);

    /// Lets a graph pass that follows from the engine's own decisions, although no run of the reference took all of
    /// them together.
    static void accept_decisions(std::vector<SegmentOutput> outputs, CaseResult& result);

    const cases::Case& case_;
    const operators::Descriptor& descriptor_;
    const CaseSettings& settings_;
    CaseValues& values_;
    Dispute& dispute_;
    const std::string& asked_;
};

}  // namespace dmlconform::run
