// Measures what the reference of a model takes: its values alone, with the ranges of all nodes, with the runs that the
// tolerance of the whole model follows from, and what all cases of a run take together.
//     build/release/tests/benchmark/judging_benchmark MODEL.onnx
// taskset -c 0 in front of it keeps it on one thread.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "engine/cpu/cpu_engine.h"
#include "engine/cpu/graph_reference.h"
#include "engine/interop/model/model_case.h"
#include "engine/run/case_values.h"
#include "engine/run/node_cases.h"
#include "engine/run/physical_memory.h"

namespace {

using namespace dmlconform;

struct Model {
    std::shared_ptr<const cases::Case> subject;
    std::shared_ptr<const operators::Descriptor> descriptor;
    std::vector<core::Tensor> inputs;
    std::vector<const core::Tensor*> pointers;
};

core::Result<Model> read_model(const char* path) {
    const auto read = interop::read_model_case(path);
    if (!read) {
        return tl::unexpected(read.error());
    }
    Model model{read->subject, read->subject->descriptor, {}, {}};
    const auto slots = model.descriptor->inputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        core::Tensor& tensor = model.inputs.emplace_back(*slots[i].desc);
        if (auto filled = read->subject->inputs[i]->fill(tensor); !filled) {
            return tl::unexpected(filled.error());
        }
    }
    for (const core::Tensor& input : model.inputs) {
        model.pointers.push_back(&input);
    }
    return model;
}

void compute_values(benchmark::State& state, const Model& model) {
    cpu::CpuEngine engine(core::highest_feature_level);
    const auto executable = engine.compile_graph(*model.descriptor);
    if (!executable || !(*executable)->bind(model.pointers)) {
        state.SkipWithError("the reference cannot compute the model");
        return;
    }
    for (auto _ : state) {
        if (!(*executable)->execute()) {
            state.SkipWithError("the reference failed");
        }
    }
}

/// Computes values, the ranges of all nodes, and so many runs.
void judge(benchmark::State& state, const Model& model, std::size_t runs) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(
            cpu::compute_graph_reference(*model.descriptor->graph, model.pointers, cpu::Accumulation::fp32, runs));
    }
}

/// Provides the inputs of a case, and what an engine's outputs are compared with.
void judge_case(const cases::Case& subject) {
    run::CaseValues values(subject, false);
    benchmark::DoNotOptimize(values.inputs());
    benchmark::DoNotOptimize(values.reference());
}

/// What `dmlconform run` does for each node and for the model, besides running the engines.
void judge_nodes_and_whole(benchmark::State& state, const Model& model) {
    for (auto _ : state) {
        const run::GraphCase graph(model.subject, run::physical_memory() / 4, run::GraphCase::Judged::together);
        for (std::size_t n = 0; n < model.descriptor->graph->nodes.size(); ++n) {
            if (const auto node = graph.node(n)) {
                judge_case(*node);
            }
        }
        judge_case(*graph.whole());
    }
}

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (argc != 2) {
        std::fputs("usage: judging_benchmark MODEL.onnx\n", stderr);
        return 2;
    }
    const auto model = read_model(argv[1]);
    if (!model) {
        fmt::print(stderr, "{}: {}\n", argv[1], model.error().message);
        return 2;
    }
    constexpr auto unit = benchmark::kMillisecond;
    benchmark::RegisterBenchmark("values", compute_values, std::cref(*model))->Unit(unit);
    benchmark::RegisterBenchmark("values_and_ranges", judge, std::cref(*model), 0)->Unit(unit);
    benchmark::RegisterBenchmark("values_ranges_and_runs", judge, std::cref(*model), cpu::monte_carlo_runs)->Unit(unit);
    benchmark::RegisterBenchmark("nodes_and_whole", judge_nodes_and_whole, std::cref(*model))->Unit(unit);
    benchmark::RunSpecifiedBenchmarks();
}
