// Tests of engine/d3d12/tensor_memory: shader writes beyond the end of a temporary are detected.
#include <gmock/gmock.h>

#include "engine/d3d12/device/executable.h"
#include "engine/d3d12/device/roofline_shaders.h"
#include "tests/d3d12/against_reference.h"

namespace dmlconform::tests::temporaries_test {
namespace {

using testing::HasSubstr;

/// The bytes per thread group of the copying shader: 256 threads with 16 bytes each.
constexpr std::uint64_t bytes_per_group = 4096;

class Temporaries : public OtherDeviceTest {
protected:
    /// Thread groups that copy an input of ones into the second of three temporaries.
    std::unique_ptr<Executable> copying(std::uint64_t groups, const std::vector<std::uint64_t>& temporaries) {
        source_ = core::Tensor(
            core::TensorDesc::packed(core::DataType::uint8, {static_cast<std::uint32_t>(groups * bytes_per_group)}));
        std::ranges::fill(source_.buffer.bytes(), std::byte{1});
        d3d12::Dispatch dispatch;
        dispatch.shader = d3d12::roofline_copy_shader();
        dispatch.buffers = {d3d12::input(0), d3d12::temporary(1)};
        dispatch.groups = groups;
        dispatch.has_units = true;
        const core::TensorDesc* desc = &source_.desc;
        auto executable = d3d12::D3d12Executable::create(device_, {&desc, 1}, {}, {}, {temporaries, {dispatch}});
        EXPECT_TRUE(executable.has_value()) << executable.error().message;
        const core::Tensor* input = &source_;
        EXPECT_TRUE((*executable)->bind({&input, 1}).has_value());
        return std::move(*executable);
    }

    /// The error message of reading after an execution; empty if it succeeds.
    static std::string read(Executable& executable) {
        const auto result = executable.read({});
        return result ? "" : result.error().message;
    }

    core::Tensor source_;
};

TEST_F(Temporaries, HaveGuardsBehindThem) {
    struct Row {
        std::uint64_t groups;
        std::uint64_t bytes;
        std::string written;  // the reported bytes of the guard; empty if none
    };
    // Small temporaries share a buffer, large ones have separate buffers.
    const Row rows[] = {{1, 4096, ""},
                        {1, 4080, ": 16 of the 256 bytes after it, from byte 0 on"},
                        {1, 3841, ": 252 of the 256 bytes after it, from byte 0 on"},
                        {1, 5000, ""},
                        {15, 15 * 4096, ""},
                        {15, 15 * 4096 - 32, ": 32 of the 256 bytes after it, from byte 0 on"},
                        {17, 17 * 4096, ""},
                        {17, 17 * 4096 - 64, ": 64 of the 256 bytes after it, from byte 0 on"},
                        {256, 1 << 20, ""},
                        {256, (1 << 20) - 256, ": 256 of the 256 bytes after it, from byte 0 on"}};
    for (const std::uint64_t around : {std::uint64_t{16}, std::uint64_t{100000}}) {
        for (const Row& row : rows) {
            SCOPED_TRACE(testing::Message() << row.bytes << " bytes between two of " << around);
            const auto executable = copying(row.groups, {around, row.bytes, around});
            ASSERT_TRUE(executable->execute().has_value());
            const std::string message = read(*executable);
            if (row.written.empty()) {
                EXPECT_EQ(message, "");
            } else {
                EXPECT_THAT(message, HasSubstr("beyond the end of temporary 1, which has "));
                EXPECT_THAT(message, HasSubstr(row.written));
            }
        }
    }
}

/// Buffers come from a pool that is full of ones, and must not show their earlier contents.
TEST_F(Temporaries, BeginWithZerosWhereThePlanSaysSo) {
    for (const std::uint64_t groups : {1u, 17u}) {
        const std::uint64_t bytes = groups * bytes_per_group;
        ASSERT_TRUE(copying(groups, {16, bytes, 16})->execute().has_value());
        core::Tensor output =
            core::output_tensor(core::TensorDesc::packed(core::DataType::uint8, {static_cast<std::uint32_t>(bytes)}));
        const core::TensorDesc* desc = &output.desc;
        d3d12::Dispatch dispatch;
        dispatch.shader = d3d12::roofline_copy_shader();
        dispatch.buffers = {d3d12::temporary(1), d3d12::output(0)};
        dispatch.groups = groups;
        dispatch.has_units = true;
        auto executable =
            d3d12::D3d12Executable::create(device_, {}, {&desc, 1}, {}, {{bytes, bytes}, {dispatch}, {1}});
        ASSERT_TRUE(executable.has_value());
        ASSERT_TRUE((*executable)->bind({}).has_value());
        ASSERT_TRUE((*executable)->execute().has_value());
        core::Tensor* target = &output;
        ASSERT_TRUE((*executable)->read({&target, 1}).has_value());
        EXPECT_THAT(elements_of(output), testing::Each(0u)) << bytes << " bytes";
    }
}

/// Guards are not checked after later executions, which do the same and are timed.
TEST_F(Temporaries, AreLookedAtOncePerBind) {
    const auto stray = copying(1, {16, 4080, 16});
    const auto well = copying(1, {16, 4096, 16});
    for (int bind = 0; bind < 2; ++bind) {
        const core::Tensor* input = &source_;
        ASSERT_TRUE(stray->bind({&input, 1}).has_value());
        ASSERT_TRUE(well->bind({&input, 1}).has_value());
        for (int execution = 0; execution < 3; ++execution) {
            ASSERT_TRUE(stray->execute().has_value());
            ASSERT_TRUE(well->execute().has_value());
            EXPECT_THAT(read(*stray), HasSubstr(": 16 of the 256 bytes"));
            EXPECT_EQ(read(*well), "");
        }
    }
}

}  // namespace
}  // namespace dmlconform::tests::temporaries_test
