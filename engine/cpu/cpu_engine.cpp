// The reference engine's implementation of the engine interface, around the kernels.
#include "engine/cpu/cpu_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/hardware_threads.h"
#include "engine/cpu/kernel.h"

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

}  // namespace dmlconform::cpu
