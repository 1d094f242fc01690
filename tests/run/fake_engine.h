// An engine whose behaviour a test defines, for tests of code that judges engines.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/cpu/cpu_engine.h"
#include "engine/cpu/reference.h"
#include "engine/engine.h"

namespace dmlconform::tests {

/// The behaviour of a FakeEngine. By default, it gives the right results for everything that the reference can compute;
/// for other operators it copies the first input.
struct Behaviour {
    std::string name = "fake";
    core::FeatureLevel feature_level = core::highest_feature_level;
    std::optional<std::string> unsupported;
    std::optional<CompileFailure> compile_failure;
    std::optional<std::string> bind_error;
    std::optional<std::string> execute_error;
    std::optional<std::string> read_error;
    /// Called at each step, with its name: "unsupported", "compile", "bind", "execute" or "read". May throw.
    std::function<void(const std::string& step)> at_step = [](const std::string&) {};
    /// Called when an executable is released. Must not throw.
    std::function<void()> at_release = [] {};
    /// Receives the right outputs and may change them.
    std::function<void(std::span<core::Tensor* const> outputs)> change = [](auto) {};
    /// Does not write any output.
    bool writes_nothing = false;
    std::optional<std::chrono::nanoseconds> device_time;
};

class FakeExecutable final : public Executable {
public:
    FakeExecutable(const Behaviour& behaviour, const operators::Descriptor& descriptor)
        : behaviour_(behaviour), descriptor_(descriptor) {}
    ~FakeExecutable() override { behaviour_.at_release(); }

    core::Result<void> bind(std::span<const core::Tensor* const> inputs) override {
        behaviour_.at_step("bind");
        inputs_.assign(inputs.begin(), inputs.end());
        return outcome(behaviour_.bind_error);
    }
    core::Result<void> execute() override {
        behaviour_.at_step("execute");
        return outcome(behaviour_.execute_error);
    }
    core::Result<void> read(std::span<core::Tensor* const> outputs) override {
        behaviour_.at_step("read");
        if (!behaviour_.writes_nothing && !behaviour_.read_error) {
            if (!cpu::has_reference(*descriptor_.schema)) {
                // Writes outputs that are not computed, because unwritten elements would be reported as another error.
                std::ranges::fill(
                    outputs.front()->buffer.bytes().first(static_cast<std::size_t>(outputs.front()->desc.total_bytes)),
                    std::byte{1});
                copy(*inputs_.front(), *outputs.front());
            } else {
                compute(outputs);
            }
            behaviour_.change(outputs);
        }
        return outcome(behaviour_.read_error);
    }
    [[nodiscard]] std::optional<std::chrono::nanoseconds> device_time() const override {
        return behaviour_.device_time;
    }

private:
    static void copy(const core::Tensor& from, core::Tensor& to) {
        const auto bytes =
            from.buffer.bytes().first(static_cast<std::size_t>(std::min(from.desc.total_bytes, to.desc.total_bytes)));
        std::copy(bytes.begin(), bytes.end(), to.buffer.bytes().begin());
    }

    void compute(std::span<core::Tensor* const> outputs) const {
        const auto right = cpu::compute_reference(descriptor_, inputs_);
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (outputs[i] != nullptr) {
                copy(right.outputs[i], *outputs[i]);
            }
        }
    }

    static core::Result<void> outcome(const std::optional<std::string>& error) {
        return error ? core::Result<void>(core::fail(*error)) : core::Result<void>();
    }

    const Behaviour& behaviour_;
    const operators::Descriptor& descriptor_;
    std::vector<const core::Tensor*> inputs_;
};

class FakeEngine : public Engine {
public:
    explicit FakeEngine(Behaviour behaviour) : behaviour_(std::move(behaviour)) {
        info_.name = behaviour_.name;
        info_.adapter = "made up";
        info_.is_reference = behaviour_.name == "cpu";
        info_.feature_level = behaviour_.feature_level;
    }

    [[nodiscard]] const EngineInfo& info() const override { return info_; }
    [[nodiscard]] std::optional<std::string> unsupported(const operators::Descriptor& /*descriptor*/) const override {
        behaviour_.at_step("unsupported");
        return behaviour_.unsupported;
    }
    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile(
        const operators::Descriptor& descriptor) override {
        behaviour_.at_step("compile");
        if (behaviour_.compile_failure) {
            return tl::unexpected(*behaviour_.compile_failure);
        }
        return std::make_unique<FakeExecutable>(behaviour_, descriptor);
    }

private:
    Behaviour behaviour_;
    EngineInfo info_;
};

[[nodiscard]] inline CompileFailure rejected(core::HResult code, std::string message = "bad") {
    return {CompileFailure::Kind::rejected, {code, "test.rule", std::move(message), {}}};
}

[[nodiscard]] inline CompileFailure broken(std::string message) {
    return {CompileFailure::Kind::broken, {core::HResult::fail, "", std::move(message), {}}};
}

}  // namespace dmlconform::tests
