// Implements the engine interface by the CPU kernels.
#include "engine/cpu/cpu_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/hardware_threads.h"
#include "engine/cpu/kernel.h"
#include "engine/graph_values.h"
#include "engine/operators/graph.h"

namespace dmlconform::cpu {
namespace {

class CpuExecutable final : public Executable {
public:
    CpuExecutable(const operators::Descriptor& descriptor, const Kernel& kernel)
        : descriptor_(descriptor), kernel_(kernel) {
        for (const operators::TensorSlot& slot : descriptor.outputs()) {
            outputs_.push_back(slot.desc == nullptr ? core::Tensor() : core::output_tensor(*slot.desc));
        }
    }

    core::Result<void> bind(std::span<const core::Tensor* const> inputs) override {
        inputs_.assign(inputs.begin(), inputs.end());
        for (core::Tensor& output : outputs_) {
            std::ranges::fill(output.buffer.bytes(), core::untouched);
        }
        for (std::size_t o = 0; o < descriptor_.in_place.size(); ++o) {
            if (const auto& input = descriptor_.in_place[o]) {
                std::ranges::copy(inputs[*input]->buffer.bytes(), outputs_[o].buffer.bytes().begin());
                inputs_[*input] = &outputs_[o];
            }
        }
        return {};
    }

    core::Result<void> execute() override {
        std::vector<core::Tensor*> outputs;
        for (core::Tensor& output : outputs_) {
            outputs.push_back(&output);
        }
        kernel_.compute({descriptor_, inputs_, outputs, {}});
        return {};
    }

    core::Result<void> read(std::span<core::Tensor* const> outputs) override {
        for (std::size_t i = 0; i < outputs_.size(); ++i) {
            if (outputs[i] != nullptr) {
                const auto bytes = outputs_[i].buffer.bytes();
                std::copy(bytes.begin(), bytes.end(), outputs[i]->buffer.bytes().begin());
            }
        }
        return {};
    }

private:
    const operators::Descriptor& descriptor_;
    const Kernel& kernel_;
    std::vector<const core::Tensor*> inputs_;
    std::vector<core::Tensor> outputs_;
};

class CpuGraphExecutable final : public Executable {
public:
    explicit CpuGraphExecutable(const operators::Graph& graph)
        : graph_(graph), values_(graph), times_(graph.nodes.size()), is_output_(graph.values.size()) {
        for (const operators::ValueIndex output : graph.outputs) {
            is_output_[output] = true;
        }
    }

    core::Result<void> bind(std::span<const core::Tensor* const> inputs) override {
        inputs_.assign(inputs.begin(), inputs.end());
        return {};
    }

    core::Result<void> execute() override {
        values_.start(inputs_);
        for (std::size_t position = 0; position < values_.order().size(); ++position) {
            const auto start = std::chrono::steady_clock::now();
            const std::size_t n = values_.order()[position];
            run(graph_.nodes[n]);
            values_.release_after(position);
            times_[n] = std::chrono::steady_clock::now() - start;
        }
        return {};
    }

    core::Result<void> read(std::span<core::Tensor* const> outputs) override {
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (outputs[i] != nullptr) {
                std::ranges::copy(values_.at(graph_.outputs[i]).buffer.bytes(), outputs[i]->buffer.bytes().begin());
            }
        }
        return {};
    }

    [[nodiscard]] std::vector<std::chrono::nanoseconds> node_times() const override { return times_; }

private:
    void run(const operators::GraphNode& node) {
        const NodeInputs inputs = values_.inputs_of(node);
        std::vector<core::Tensor*> outputs;
        for (const operators::ValueIndex output : node.outputs) {
            if (output == operators::no_value) {
                outputs.push_back(nullptr);
                continue;
            }
            const core::TensorDesc& desc = graph_.values[output].desc;
            outputs.push_back(
                &values_.put(output, is_output_[output] ? core::output_tensor(desc) : values_.new_tensor(desc)));
        }
        find_kernel(node.descriptor->schema->short_name())->compute({*node.descriptor, inputs.tensors, outputs, {}});
    }

    const operators::Graph& graph_;
    GraphValues values_;
    std::vector<std::chrono::nanoseconds> times_;
    /// For each value, whether it is read back. Only these show which of their bytes were not written.
    std::vector<bool> is_output_;
    std::vector<const core::Tensor*> inputs_;
};

}  // namespace

CpuEngine::CpuEngine(core::FeatureLevel level) {
    info_.name = "cpu";
    info_.is_reference = true;
    info_.adapter = "reference on " + core::hardware_threads_text();
    info_.feature_level = level;
}

std::optional<std::string> CpuEngine::unsupported(const operators::Descriptor& descriptor) const {
    if (find_kernel(descriptor.schema->short_name()) == nullptr) {
        return fmt::format("no kernel yet for {}", descriptor.schema->short_name());
    }
    return std::nullopt;
}

tl::expected<std::unique_ptr<Executable>, CompileFailure> CpuEngine::compile(const operators::Descriptor& descriptor) {
    if (auto rejection = operators::validate(descriptor, info_.feature_level)) {
        return tl::unexpected(CompileFailure{CompileFailure::Kind::rejected, std::move(*rejection)});
    }
    return std::make_unique<CpuExecutable>(descriptor, *find_kernel(descriptor.schema->short_name()));
}

tl::expected<std::unique_ptr<Executable>, CompileFailure> CpuEngine::compile_graph(const operators::Descriptor& graph) {
    if (auto rejection = operators::validate(graph, info_.feature_level)) {
        return tl::unexpected(CompileFailure{CompileFailure::Kind::rejected, std::move(*rejection)});
    }
    return std::make_unique<CpuGraphExecutable>(*graph.graph);
}

}  // namespace dmlconform::cpu
