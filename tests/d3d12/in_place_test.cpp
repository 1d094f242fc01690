// Tests that outputs are really computed in their inputs' memory, for tensors of any size.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/core/guard.h"
#include "engine/d3d12/device/executable.h"
#include "tests/d3d12/against_reference.h"
#include "tests/d3d12/recording_list.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::in_place_test {
namespace {

class InPlace : public D3d12Test {
protected:
    static operators::Descriptor addition(std::uint32_t count, std::size_t input) {
        const auto desc = tensor(core::DataType::float32, {count});
        operators::Descriptor add =
            describe("ELEMENT_WISE_ADD", {{"ATensor", desc}, {"BTensor", desc}, {"OutputTensor", desc}});
        add.in_place = {input};
        return add;
    }
};

TEST_F(InPlace, OutputsAreInTheirInputsMemory) {
    // The larger size gets a separate buffer.
    for (const std::uint32_t count : {7u, 100'003u}) {
        for (const std::size_t shared : {0u, 1u}) {
            SCOPED_TRACE(testing::Message() << count << " elements, input " << shared);
            const operators::Descriptor add = addition(count, shared);
            auto executable = engine().compile(add);
            ASSERT_TRUE(executable.has_value());
            std::vector<float> a(count);
            std::vector<float> b(count);
            for (std::uint32_t i = 0; i < count; ++i) {
                a[i] = static_cast<float>(i);
                b[i] = static_cast<float>(3 * i + 1);
            }
            const core::Tensor first = tensor_of<float>(*add.tensor("ATensor"), a);
            const core::Tensor second = tensor_of<float>(*add.tensor("BTensor"), b);
            const std::vector<const core::Tensor*> inputs{&first, &second};
            ASSERT_TRUE((*executable)->bind(inputs).has_value());
            {
                RecordingList list;
                std::size_t next = 0;
                EXPECT_FALSE(dynamic_cast<d3d12::D3d12Executable&>(**executable).record(list, next));
                const auto dispatch = std::find_if(
                    list.commands.begin(), list.commands.end(),
                    [](const RecordedCommand& command) { return command.kind == RecordedCommand::Kind::dispatch; });
                ASSERT_NE(dispatch, list.commands.end());
                EXPECT_EQ(dispatch->buffers[2], dispatch->buffers[shared]);
                EXPECT_NE(dispatch->buffers[2], dispatch->buffers[1 - shared]);
            }
            ASSERT_TRUE((*executable)->execute().has_value());
            core::Tensor output = core::output_tensor(*add.tensor("OutputTensor"));
            core::Tensor* const target = &output;
            ASSERT_TRUE((*executable)->read({&target, 1}).has_value());
            EXPECT_FALSE(core::find_stray_write(output).has_value());
            for (std::uint32_t i = 0; i < count; ++i) {
                ASSERT_EQ(output.as<float>()[i], a[i] + b[i]) << i;
            }
        }
    }
}

}  // namespace
}  // namespace dmlconform::tests::in_place_test
