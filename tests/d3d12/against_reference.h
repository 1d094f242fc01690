// Helpers that run descriptors on the D3D12 engine and compare with the reference.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/compare/comparison.h"
#include "engine/cpu/cpu_engine.h"
#include "engine/cpu/reference.h"
#include "engine/d3d12/d3d12_engine.h"
#include "engine/d3d12/device/adapters.h"
#include "engine/d3d12/planning/binding.h"
#include "engine/operators/rules.h"
#include "tests/d3d12/random_tensors.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests {

/// An engine that all tests of a process share, or the reason why it could not be created.
inline core::Result<std::unique_ptr<Engine>>& shared_engine() {
    static auto engine = d3d12::create_engine("", core::highest_feature_level);
    return engine;
}

/// A suite whose tests need an adapter.
class D3d12Test : public testing::Test {
protected:
    void SetUp() override {
        if (!shared_engine()) {
            GTEST_SKIP() << shared_engine().error().message;
        }
    }

    [[nodiscard]] static Engine& engine() { return **shared_engine(); }

    /// The adapter of engine().
    [[nodiscard]] static d3d12::AdapterInfo adapter() {
        const auto adapters = d3d12::enumerate_adapters();
        return (*adapters)[*d3d12::choose_adapter(*adapters, "")];
    }

    /// Creates another device on that adapter.
    [[nodiscard]] static core::Result<std::shared_ptr<d3d12::Device>> another_device(
        std::optional<std::chrono::seconds> time_limit = std::nullopt) {
        return d3d12::create_device(dynamic_cast<d3d12::D3d12Engine&>(engine()).pipelines(), adapter(), time_limit);
    }
};

/// A suite whose tests modify a separate device, or fill its memory.
class OtherDeviceTest : public D3d12Test {
protected:
    void SetUp() override {
        D3d12Test::SetUp();
        if (IsSkipped()) {
            return;
        }
        auto device = another_device();
        ASSERT_TRUE(device.has_value());
        device_ = std::move(*device);
    }

    std::shared_ptr<d3d12::Device> device_;
};

/// All fields, for the messages of failed tests.
inline std::string text_of(const operators::Descriptor& descriptor) {
    std::string text(descriptor.schema->short_name());
    for (const std::string& line : operators::to_lines(descriptor)) {
        text += "\n  " + line;
    }
    return text;
}

inline std::vector<const core::Tensor*> pointers_to(const std::vector<core::Tensor>& tensors) {
    std::vector<const core::Tensor*> pointers;
    for (const core::Tensor& tensor : tensors) {
        pointers.push_back(tensor.desc.sizes.empty() ? nullptr : &tensor);
    }
    return pointers;
}

/// The outputs of one run on the engine. The descriptor must be valid.
inline std::vector<core::Tensor> run_on(Engine& engine, const operators::Descriptor& descriptor,
                                        const std::vector<core::Tensor>& inputs) {
    std::vector<core::Tensor> outputs;
    for (const operators::TensorSlot& slot : descriptor.outputs()) {
        outputs.push_back(slot.desc == nullptr ? core::Tensor() : core::output_tensor(*slot.desc));
    }
    auto executable = engine.compile(descriptor);
    if (!executable) {
        ADD_FAILURE() << "not compiled: " << executable.error().rejection.message;
        return outputs;
    }
    std::vector<core::Tensor*> targets;
    for (core::Tensor& output : outputs) {
        targets.push_back(output.desc.sizes.empty() ? nullptr : &output);
    }
    for (const auto& result :
         {(*executable)->bind(pointers_to(inputs)), (*executable)->execute(), (*executable)->read(targets)}) {
        if (!result) {
            ADD_FAILURE() << result.error().message << " " << result.error().hint;
        }
    }
    for (const core::Tensor& output : outputs) {
        EXPECT_FALSE(!output.desc.sizes.empty() && core::find_stray_write(output)) << "written beyond the output's end";
    }
    return outputs;
}

inline bool is_variant_of(const d3d12::Binding& binding, const d3d12::ShaderVariant& variant) {
    for (const d3d12::ShaderVariant& known : binding.variants()) {
        if (known.key() == variant.key()) {
            return true;
        }
    }
    return false;
}

/// Compares one run with the reference, within the operator's default tolerance. If that is exact, bits must be equal,
/// including payloads of NaNs.
inline void expect_like_reference(Engine& engine, const operators::Descriptor& descriptor,
                                  const std::vector<core::Tensor>& inputs) {
    SCOPED_TRACE(text_of(descriptor));
    const auto rejection = operators::validate(descriptor, core::highest_feature_level);
    ASSERT_FALSE(rejection) << "the test's descriptor is not legal: " << rejection->message;
    ASSERT_FALSE(engine.unsupported(descriptor)) << *engine.unsupported(descriptor);

    const d3d12::Binding* binding = d3d12::find_binding(descriptor.schema->short_name());
    for (const d3d12::Dispatch& dispatch : binding->plan(descriptor).dispatches) {
        EXPECT_TRUE(is_variant_of(*binding, dispatch.shader)) << dispatch.shader.key() << " is not among the variants";
    }

    const std::vector<core::Tensor> actual = run_on(engine, descriptor, inputs);
    const cpu::Reference reference = cpu::compute_reference(descriptor, pointers_to(inputs));
    const auto slots = descriptor.outputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        SCOPED_TRACE(slots[i].name);
        if (slots[i].desc == nullptr) {
            continue;
        }
        const core::Tolerance tolerance = cpu::default_tolerance(descriptor, slots[i]);
        const auto comparison = compare::compare(reference.outputs[i], actual[i], tolerance, &reference.slack[i]);
        EXPECT_TRUE(comparison.passed()) << comparison.beyond << " of " << comparison.elements
                                         << " elements, worst number " << comparison.worst->index << ": expected bits "
                                         << std::hex << comparison.worst->expected_bits << ", actual "
                                         << comparison.worst->actual_bits;
        if (tolerance.exact) {
            EXPECT_EQ(elements_of(actual[i]), elements_of(reference.outputs[i])) << "bits";
        }
    }
}

}  // namespace dmlconform::tests
