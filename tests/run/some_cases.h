// Cases for tests of running and reporting, in the form of case files.
#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cases/case_file.h"
#include "engine/run/runner.h"

namespace dmlconform::tests {

/// Slices [1,2,3,4] by 2.
inline constexpr std::string_view slice_with_expected = R"({ "name": "with-expected", "operator": "SLICE1",
    "tags": ["doc", "smoke"],
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [4] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2] },
              "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [2] },
    "inputs": { "InputTensor": [1, 2, 3, 4] }, "expected": { "OutputTensor": [1, 3] } })";

/// The same without expected values.
inline constexpr std::string_view slice_without_expected = R"({ "name": "without-expected", "operator": "SLICE1",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [4] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2] },
              "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [2] },
    "inputs": { "InputTensor": [1, 2, 3, 4] } })";

/// The same with a wrong expected value for the second element.
inline constexpr std::string_view slice_with_wrong_expected = R"({ "name": "wrong-expected", "operator": "SLICE1",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [4] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2] },
              "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [2] },
    "inputs": { "InputTensor": [1, 2, 3, 4] }, "expected": { "OutputTensor": [1, "nan"] } })";

/// Illegal because of a stride of 0.
inline constexpr std::string_view illegal_slice = R"({ "name": "illegal", "operator": "SLICE1",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [4] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2] },
              "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [0] },
    "expectError": "E_INVALIDARG" })";

/// Two outputs, only one of which has expected values.
inline constexpr std::string_view top_k_half_expected = R"({ "name": "half-expected", "operator": "TOP_K1",
    "desc": { "InputTensor": { "DataType": "INT8", "Sizes": [3] }, "OutputValueTensor": { "DataType": "INT8", "Sizes": [1] },
              "OutputIndexTensor": { "DataType": "UINT32", "Sizes": [1] }, "Axis": 0, "K": 1, "AxisDirection": "DECREASING" },
    "inputs": { "InputTensor": [3, 9, 4] }, "expected": { "OutputIndexTensor": [1] } })";

/// Compared within the operator's own bounds.
inline constexpr std::string_view normalization =
    R"({ "name": "normalization", "operator": "MEAN_VARIANCE_NORMALIZATION1",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [4] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [4] },
              "Axes": [0], "NormalizeVariance": true, "Epsilon": 0.25 },
    "inputs": { "InputTensor": [1, 2, 3, 5] } })";

/// A case of an operator without a reference.
inline constexpr std::string_view resample = R"({ "name": "resample", "operator": "RESAMPLE",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [1,1,1,2] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1,1,1,2] },
              "InterpolationMode": "NEAREST_NEIGHBOR", "Scales": [1,1,1,1] },
    "inputs": { "InputTensor": [1, 2] }, "expected": { "OutputTensor": [1, 2] } })";

/// Reads the cases; throws if there are problems.
[[nodiscard]] inline std::vector<cases::Case> cases_of(const std::vector<std::string_view>& texts,
                                                       const std::string& file = "some.json") {
    std::string text;
    for (const std::string_view entry : texts) {
        text += (text.empty() ? "" : ",\n") + std::string(entry);
    }
    cases::Suite suite = cases::read_case_file(file, "{ \"cases\": [\n" + text + "\n] }");
    for (const cases::Problem& problem : suite.problems) {
        throw std::logic_error("the test's cases are broken: " + to_string(problem));
    }
    return std::move(suite.cases);
}

/// Records all events of a run, and may end it.
class Recorder : public run::Observer {
public:
    void on_case(const cases::Case& subject, std::size_t position) override {
        log.push_back(subject.id + " " + std::to_string(position));
    }
    void on_result(const run::CaseResult& result) override {
        log.push_back(std::string(to_string(result.status)) + " by " + std::to_string(result.engine));
        results.push_back(result);
    }
    bool stop_requested() override { return log.size() >= stop_after; }

    std::vector<std::string> log;
    std::vector<run::CaseResult> results;
    std::size_t stop_after = ~std::size_t{0};
};

/// All results of a run, which tests may change.
struct AllResults {
    std::vector<EngineInfo> engines;
    std::vector<run::CaseResult> results;
    std::chrono::nanoseconds duration{};

    [[nodiscard]] run::RunTotals totals() const {
        run::RunTotals sum(engines);
        for (const run::CaseResult& result : results) {
            sum.add(result);
        }
        sum.duration = duration;
        return sum;
    }
    [[nodiscard]] std::size_t count(run::Status status, bool gated = true) const {
        return totals().count(status, gated);
    }
    [[nodiscard]] std::size_t failures() const { return totals().failures(); }
    [[nodiscard]] bool passed() const { return totals().passed(); }
};

[[nodiscard]] inline AllResults run_watched(const std::vector<cases::Case>& cases, std::span<const run::EngineSet> sets,
                                            Recorder& recorder, const run::RunSettings& settings = {}) {
    // Copies the cases, because results outlive them if they are temporaries of the test.
    std::vector<std::shared_ptr<const cases::Case>> copies;
    for (const cases::Case& entry : cases) {
        copies.push_back(std::make_shared<const cases::Case>(entry));
    }
    const run::CaseSource source{copies.size(),
                                 [&](const auto& /*is_compared*/) { return [&](std::size_t i) { return copies[i]; }; }};
    run::RunTotals totals = run::run_cases(source, sets, recorder, settings);
    return {std::move(totals.engines), recorder.results, totals.duration};
}

[[nodiscard]] inline AllResults run_all(const std::vector<cases::Case>& cases, const run::EngineSet& engines,
                                        const run::RunSettings& settings = {}) {
    Recorder recorder;
    return run_watched(cases, {&engines, 1}, recorder, settings);
}

}  // namespace dmlconform::tests
