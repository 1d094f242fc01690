// Measures dmlconform's own costs around the kernels: reading cases, running small ones, comparing outputs.
//     build/release/tests/benchmark/overhead_benchmark
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/cases/case_file.h"
#include "engine/compare/comparison.h"
#include "engine/cpu/cpu_engine.h"
#include "engine/run/runner.h"

namespace {

using namespace dmlconform;

/// A file of `count` small slices, with expected values.
std::string small_cases(int count) {
    std::string text = R"({ "defaults": { "operator": "SLICE1", "desc": {
        "InputTensor": { "DataType": "FLOAT32", "Sizes": [4,4] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2,2] },
        "InputWindowOffsets": [0,1], "InputWindowSizes": [4,3], "InputWindowStrides": [-2,2] },
        "inputs": { "InputTensor": { "start": 1, "step": 1 } } }, "cases": [)";
    for (int i = 0; i < count; ++i) {
        text += fmt::format(R"({} {{ "name": "{}", "expected": {{ "OutputTensor": [14,16,6,8] }} }})",
                            i == 0 ? "" : ",", i);
    }
    return text + "] }";
}

class Silent final : public run::Observer {
public:
    void on_case(const cases::Case& /*subject*/, std::size_t /*position*/) override {}
    void on_result(const run::CaseResult& /*result*/) override {}
};

constexpr int cases_per_file = 1000;

void read_small_cases(benchmark::State& state) {
    const std::string text = small_cases(cases_per_file);
    for (auto _ : state) {
        benchmark::DoNotOptimize(cases::read_case_file("a.json", text));
    }
    state.SetItemsProcessed(state.iterations() * cases_per_file);
}
BENCHMARK(read_small_cases)->Unit(benchmark::kMillisecond);

void run_small_cases_on_cpu(benchmark::State& state) {
    const cases::Suite suite = cases::read_case_file("a.json", small_cases(cases_per_file));
    std::vector<const cases::Case*> selected;
    for (const cases::Case& entry : suite.cases) {
        selected.push_back(&entry);
    }
    run::EngineSet engines;
    engines.push_back(std::make_unique<cpu::CpuEngine>(core::highest_feature_level));
    Silent observer;
    for (auto _ : state) {
        if (!run::run_cases(run::these_cases(selected), {&engines, 1}, observer).passed()) {
            state.SkipWithError("a case failed");
        }
    }
    state.SetItemsProcessed(state.iterations() * cases_per_file);
}
BENCHMARK(run_small_cases_on_cpu)->Unit(benchmark::kMillisecond);

/// Argument: whether the outputs differ by one ULP everywhere, or are equal.
void compare_outputs(benchmark::State& state) {
    const auto desc = core::TensorDesc::packed(core::DataType::float32, {1024, 1024});
    core::Tensor expected(desc);
    core::Tensor actual(desc);
    for (std::size_t i = 0; i < expected.as<std::uint32_t>().size(); ++i) {
        expected.as<std::uint32_t>()[i] = 0x3f800000u + static_cast<std::uint32_t>(i);
        actual.as<std::uint32_t>()[i] = expected.as<std::uint32_t>()[i] + static_cast<std::uint32_t>(state.range(0));
    }
    core::Tolerance tolerance;
    tolerance.ulp = 2;
    for (auto _ : state) {
        benchmark::DoNotOptimize(compare::compare(expected, actual, tolerance, nullptr));
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(2 * desc.total_bytes));
}
BENCHMARK(compare_outputs)->ArgName("ulp")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
