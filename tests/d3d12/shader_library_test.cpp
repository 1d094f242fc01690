// Tests that every compiled shader unpacks to valid Direct3D bytecode.
#include "engine/d3d12/device/shader_library.h"

#include <gtest/gtest.h>

#include "engine/d3d12/device/shader_packing.h"
#include "engine/d3d12/planning/binding.h"

namespace shader_library_test {
namespace {

using namespace dmlconform;

// Microsoft's container format for bytecode starts with these four bytes and contains its size in the seventh 32-bit
// word.
constexpr std::uint32_t dxbc = 0x43425844;
constexpr std::size_t size_word = 6;

TEST(ShaderLibrary, UnpacksEveryVariantToAWholeContainer) {
    std::size_t count = 0;
    for (const auto& [name, binding] : d3d12::all_bindings().rows()) {
        for (const d3d12::ShaderVariant& variant : binding.variants()) {
            const auto code = d3d12::find_shader(variant);
            ASSERT_TRUE(code) << code.error().message;
            ASSERT_GT(code->size(), size_word) << variant.key();
            EXPECT_EQ(code->front(), dxbc) << variant.key();
            EXPECT_EQ((*code)[size_word], code->size_bytes()) << variant.key();
            ++count;
        }
    }
    EXPECT_GT(count, 700U);
}

TEST(ShaderLibrary, PutsTheLowestByteOfEveryWordFirst) {
    const std::vector<std::uint32_t> words{0x44332211, 0x88776655};
    const std::vector<std::uint8_t> bytes = d3d12::bytes_in_planes(words);
    EXPECT_EQ(bytes, (std::vector<std::uint8_t>{0x11, 0x55, 0x22, 0x66, 0x33, 0x77, 0x44, 0x88}));
    EXPECT_EQ(d3d12::words_of_planes(bytes), words);
    EXPECT_TRUE(d3d12::words_of_planes({}).empty());
}

TEST(ShaderLibrary, UnpacksAShaderOnce) {
    const auto variants = d3d12::all_bindings().rows().begin()->second.variants();
    ASSERT_FALSE(variants.empty());
    EXPECT_EQ(d3d12::find_shader(variants.front())->data(), d3d12::find_shader(variants.front())->data());
}

TEST(ShaderLibrary, NamesAVariantThatWasNotCompiled) {
    d3d12::ShaderVariant variant = d3d12::all_bindings().rows().begin()->second.variants().front();
    variant.shader = "no_such_shader";
    const auto code = d3d12::find_shader(variant);
    ASSERT_FALSE(code);
    EXPECT_NE(code.error().message.find("no_such_shader"), std::string::npos);
}

}  // namespace
}  // namespace shader_library_test
