// The default implementation of Engine::compile_graph.
#include "engine/graph_by_nodes.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/graph_values.h"
#include "engine/operators/graph.h"
#include "engine/operators/rules.h"

namespace dmlconform {
namespace {

using Clock = std::chrono::steady_clock;

/// If the tensors of all nodes need more memory than this, nodes are compiled again for each execution, and then
/// released.
constexpr double most_kept_bytes = 256.0 * 1024 * 1024;

/// A node's time by the best available clock.
struct NodeTime {
    std::optional<std::chrono::nanoseconds> device;
    std::optional<std::chrono::nanoseconds> there;
    std::chrono::nanoseconds here{};
};

class GraphByNodes final : public Executable {
public:
    GraphByNodes(Engine& engine, const operators::Graph& graph)
        : engine_(engine), graph_(graph), values_(graph), kept_(graph.nodes.size()), times_(graph.nodes.size()) {}

    /// Compiles all nodes once, to find those that are rejected.
    [[nodiscard]] std::optional<CompileFailure> compile_nodes() {
        double bytes = 0;
        for (const std::size_t n : values_.order()) {
            const operators::GraphNode& node = graph_.nodes[n];
            auto compiled = engine_.compile(*node.descriptor);
            if (!compiled) {
                CompileFailure failure = std::move(compiled.error());
                failure.rejection.message = fmt::format("node `{}`: {}", node.name, failure.rejection.message);
                return failure;
            }
            bytes += operators::element_bytes(*node.descriptor);
            kept_[n] = std::move(*compiled);
        }
        if (bytes > most_kept_bytes) {
            for (auto& executable : kept_) {
                executable.reset();
            }
        }
        return std::nullopt;
    }

    core::Result<void> bind(std::span<const core::Tensor* const> inputs) override {
        inputs_.assign(inputs.begin(), inputs.end());
        return {};
    }

    core::Result<void> execute() override {
        values_.start(inputs_);
        for (std::size_t position = 0; position < values_.order().size(); ++position) {
            const std::size_t n = values_.order()[position];
            if (auto done = run_node(n); !done) {
                return tl::unexpected(core::Error{
                    fmt::format("node `{}`: {}", graph_.nodes[n].name, done.error().message), done.error().hint});
            }
            values_.release_after(position);
        }
        return {};
    }

    core::Result<void> read(std::span<core::Tensor* const> outputs) override {
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (outputs[i] != nullptr) {
                const auto bytes = values_.at(graph_.outputs[i]).buffer.bytes();
                std::copy(bytes.begin(), bytes.end(), outputs[i]->buffer.bytes().begin());
            }
        }
        return {};
    }

    [[nodiscard]] std::optional<std::chrono::nanoseconds> device_time() const override {
        return sum(&NodeTime::device);
    }
    [[nodiscard]] std::optional<std::chrono::nanoseconds> execute_time() const override {
        return sum(&NodeTime::there);
    }

    [[nodiscard]] std::vector<std::chrono::nanoseconds> node_times() const override {
        std::vector<std::chrono::nanoseconds> times;
        for (const NodeTime& time : times_) {
            times.push_back(time.device.value_or(time.there.value_or(time.here)));
        }
        return times;
    }

private:
    /// Empty if some node has no such time.
    [[nodiscard]] std::optional<std::chrono::nanoseconds> sum(
        std::optional<std::chrono::nanoseconds> NodeTime::*which) const {
        std::chrono::nanoseconds all{};
        for (const NodeTime& time : times_) {
            if (!(time.*which)) {
                return std::nullopt;
            }
            all += *(time.*which);
        }
        return all;
    }

    core::Result<void> run_node(std::size_t n) {
        const operators::GraphNode& node = graph_.nodes[n];
        std::unique_ptr<Executable> made;
        Executable* executable = kept_[n].get();
        if (executable == nullptr) {
            auto compiled = engine_.compile(*node.descriptor);
            if (!compiled) {
                return core::fail(compiled.error().rejection.message);
            }
            made = std::move(*compiled);
            executable = made.get();
        }
        const NodeInputs inputs = values_.inputs_of(node);
        std::vector<core::Tensor*> outputs;
        for (const operators::ValueIndex output : node.outputs) {
            outputs.push_back(output == operators::no_value
                                  ? nullptr
                                  : &values_.put(output, core::output_tensor(graph_.values[output].desc)));
        }
        if (auto bound = executable->bind(inputs.tensors); !bound) {
            return bound;
        }
        const auto start = Clock::now();
        if (auto executed = executable->execute(); !executed) {
            return executed;
        }
        times_[n] = {executable->device_time(), executable->execute_time(), Clock::now() - start};
        if (auto read = executable->read(outputs); !read) {
            return read;
        }
        return check_ends(node);
    }

    core::Result<void> check_ends(const operators::GraphNode& node) const {
        for (const operators::ValueIndex output : node.outputs) {
            // The graph's outputs are checked for writes beyond their ends by the caller.
            if (output == operators::no_value || std::ranges::find(graph_.outputs, output) != graph_.outputs.end()) {
                continue;
            }
            if (const auto stray = core::find_stray_write(values_.at(output))) {
                return core::fail(fmt::format("the engine wrote {} bytes beyond the end of `{}`", stray->bytes,
                                              graph_.values[output].name));
            }
        }
        return {};
    }

    Engine& engine_;
    const operators::Graph& graph_;
    GraphValues values_;
    std::vector<std::unique_ptr<Executable>> kept_;
    std::vector<NodeTime> times_;
    std::vector<const core::Tensor*> inputs_;
};

}  // namespace

std::optional<std::string> unsupported_node(const Engine& engine, const operators::Descriptor& graph) {
    for (const operators::GraphNode& node : graph.graph->nodes) {
        if (auto reason = engine.unsupported(*node.descriptor)) {
            return fmt::format("node `{}`: {}", node.name, *reason);
        }
    }
    return std::nullopt;
}

tl::expected<std::unique_ptr<Executable>, CompileFailure> compile_by_nodes(Engine& engine,
                                                                           const operators::Descriptor& graph) {
    if (auto rejection = operators::validate(graph, engine.info().feature_level)) {
        return tl::unexpected(CompileFailure{CompileFailure::Kind::rejected, std::move(*rejection)});
    }
    auto executable = std::make_unique<GraphByNodes>(engine, *graph.graph);
    if (auto failure = executable->compile_nodes()) {
        return tl::unexpected(std::move(*failure));
    }
    return executable;
}

std::optional<std::string> Engine::unsupported_graph(const operators::Descriptor& graph) const {
    return unsupported_node(*this, graph);
}

tl::expected<std::unique_ptr<Executable>, CompileFailure> Engine::compile_graph(const operators::Descriptor& graph) {
    return compile_by_nodes(*this, graph);
}

}  // namespace dmlconform
