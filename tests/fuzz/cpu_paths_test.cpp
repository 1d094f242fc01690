// The CPU engine has faster ways where nobody asks for bounds, and where the processor has wide registers. Random cases
// of every operator say that all of them give the same bits.
#include <gtest/gtest.h>

#include "engine/core/element.h"
#include "engine/core/strided.h"
#include "engine/cpu/cpu_engine.h"
#include "engine/cpu/reference.h"
#include "engine/cpu/wide_registers.h"
#include "engine/fuzz/case_generator.h"

namespace dmlconform::tests {
namespace {

using core::Tensor;
using cpu::Registers;

/// Takes back what a test has set.
class WithRegisters {
public:
    explicit WithRegisters(Registers widest) { cpu::widest_registers = widest; }
    ~WithRegisters() { cpu::widest_registers = Registers::avx512; }
    WithRegisters(const WithRegisters&) = delete;
    WithRegisters& operator=(const WithRegisters&) = delete;
};

std::vector<std::uint64_t> elements_of(const Tensor& tensor) {
    std::vector<std::uint64_t> elements;
    const core::StridedRuns<1> places(tensor.desc.sizes, {core::signed_strides(tensor.desc)});
    places.for_each_element([&](const auto& at) {
        elements.push_back(
            core::load_element(tensor.buffer.bytes(), tensor.desc.data_type, static_cast<std::uint64_t>(at[0])));
    });
    return elements;
}

/// Of all outputs, one after the other; nothing for an absent one.
std::vector<std::vector<std::uint64_t>> elements_of(const std::vector<Tensor>& outputs) {
    std::vector<std::vector<std::uint64_t>> elements;
    for (const Tensor& output : outputs) {
        elements.push_back(output.desc.sizes.empty() ? std::vector<std::uint64_t>() : elements_of(output));
    }
    return elements;
}

std::vector<Tensor> outputs_with(Registers widest, const operators::Descriptor& descriptor,
                                 const std::vector<const Tensor*>& inputs) {
    const WithRegisters registers(widest);
    cpu::CpuEngine engine(core::highest_feature_level);
    auto executable = engine.compile(descriptor);
    EXPECT_TRUE(executable.has_value());
    EXPECT_TRUE((*executable)->bind(inputs));
    EXPECT_TRUE((*executable)->execute());
    std::vector<Tensor> outputs;
    for (const operators::TensorSlot& slot : descriptor.outputs()) {
        outputs.push_back(slot.desc == nullptr ? Tensor() : core::output_tensor(*slot.desc));
    }
    std::vector<Tensor*> pointers;
    for (Tensor& output : outputs) {
        pointers.push_back(output.desc.sizes.empty() ? nullptr : &output);
    }
    EXPECT_TRUE((*executable)->read(pointers));
    return outputs;
}

void expect_all_alike(const cases::Case& subject) {
    const operators::Descriptor& descriptor = *subject.descriptor;
    const auto slots = descriptor.inputs();
    std::vector<Tensor> inputs(slots.size());
    std::vector<const Tensor*> pointers(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc != nullptr && subject.inputs[i]) {
            inputs[i] = Tensor(*slots[i].desc);
            ASSERT_TRUE(subject.inputs[i]->fill(inputs[i]));
            pointers[i] = &inputs[i];
        }
    }
    const auto expected = elements_of(cpu::compute_reference(descriptor, pointers).outputs);
    for (const Registers widest : {Registers::any, Registers::avx2, Registers::avx512}) {
        ASSERT_EQ(elements_of(outputs_with(widest, descriptor, pointers)), expected)
            << subject.id << " with registers " << static_cast<int>(widest);
    }
}

TEST(CpuPaths, RegistersAndBoundsChangeNoResult) {
    constexpr std::uint64_t cases_of_each = 25;
    std::size_t compared = 0;
    for (const std::string& name : operators::operator_names()) {
        const operators::OperatorSchema& schema = *operators::find_operator(name);
        for (std::uint64_t n = 0; n < cases_of_each && cpu::has_reference(schema); ++n) {
            const auto subject = fuzz::generate(schema, {.seed = 16, .perturbed_percent = 0}, n);
            if (subject && !subject->expect_error) {
                expect_all_alike(*subject);
                ++compared;
            }
        }
    }
    EXPECT_GT(compared, 3000u);
}

}  // namespace
}  // namespace dmlconform::tests
