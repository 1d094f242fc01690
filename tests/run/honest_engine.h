// An engine that computes in FP32, in random order. One node may have a wrong scale.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "tests/honest_arithmetic.h"

namespace dmlconform::tests {

class HonestEngine final : public Engine {
public:
    using Descriptor = operators::Descriptor;

    explicit HonestEngine(std::uint64_t seed, const Descriptor* wrong = nullptr) : arithmetic_(seed), wrong_(wrong) {
        info_.name = "honest";
        info_.feature_level = core::highest_feature_level;
    }

    [[nodiscard]] const EngineInfo& info() const override { return info_; }
    [[nodiscard]] std::optional<std::string> unsupported(const Descriptor&) const override { return std::nullopt; }
    [[nodiscard]] std::optional<std::string> unsupported_graph(const Descriptor& graph) const override {
        return graph.outputs().size() <= most_outputs ? std::nullopt
                                                      : std::optional<std::string>("a graph of so many outputs");
    }
    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile(
        const Descriptor& descriptor) override {
        return std::make_unique<Node>(*this, descriptor);
    }

    /// How it computes may be changed.
    HonestArithmetic& arithmetic() { return arithmetic_; }
    /// Graphs with more outputs are not supported.
    std::size_t most_outputs = std::numeric_limits<std::size_t>::max();

private:
    class Node final : public Executable {
    public:
        Node(HonestEngine& engine, const Descriptor& descriptor) : engine_(engine), descriptor_(descriptor) {}

        core::Result<void> bind(std::span<const core::Tensor* const> inputs) override {
            inputs_.assign(inputs.begin(), inputs.end());
            return {};
        }
        core::Result<void> execute() override {
            core::Tensor scale;
            if (&descriptor_ == engine_.wrong_) {
                scale = core::packed_copy(*inputs_[1]);
                for (float& x : scale.as<float>()) {
                    x *= 1.01F;
                }
                inputs_[1] = &scale;
            }
            outputs_ = engine_.arithmetic_.run(descriptor_, inputs_);
            return {};
        }
        core::Result<void> read(std::span<core::Tensor* const> outputs) override {
            for (std::size_t i = 0; i < outputs.size(); ++i) {
                const auto bytes = outputs_[i].buffer.bytes();
                std::ranges::copy(bytes.first(std::min(bytes.size(), outputs[i]->buffer.bytes().size())),
                                  outputs[i]->buffer.bytes().begin());
            }
            return {};
        }

    private:
        HonestEngine& engine_;
        const Descriptor& descriptor_;
        std::vector<const core::Tensor*> inputs_;
        std::vector<core::Tensor> outputs_;
    };

    HonestArithmetic arithmetic_;
    const Descriptor* wrong_;
    EngineInfo info_;
};

}  // namespace dmlconform::tests
