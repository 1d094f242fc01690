// Tests of engine/hlsl/shader_cache: it returns what was kept, and nothing from a damaged file.
#include "engine/hlsl/shader_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "engine/d3d12/planning/binding.h"
#include "engine/hlsl/hlsl_compiler.h"

namespace shader_cache_test {
namespace {

using namespace dmlconform;

std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, std::string_view text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

class ShaderCacheFile : public testing::Test {
protected:
    void SetUp() override { hlsl::write_shader_cache(path_, cache_); }
    void TearDown() override { std::filesystem::remove(path_); }

    std::string path_ = testing::TempDir() + "shader_cache_test";
    hlsl::ShaderCache cache_{{hlsl::fingerprint_of("one"), {{1, 2, 3}, 20, 7}},
                             {hlsl::fingerprint_of("two"), {{}, 0, 0}}};
};

TEST_F(ShaderCacheFile, HasWhatWasWritten) {
    const hlsl::ShaderCache read_back = hlsl::read_shader_cache(path_);
    ASSERT_EQ(read_back.size(), cache_.size());
    for (const auto& [fingerprint, shader] : cache_) {
        const auto found = read_back.find(fingerprint);
        ASSERT_NE(found, read_back.end());
        EXPECT_EQ(found->second.data, shader.data);
        EXPECT_EQ(found->second.bytes, shader.bytes);
        EXPECT_EQ(found->second.words, shader.words);
    }
}

TEST_F(ShaderCacheFile, IsEmptyIfDamaged) {
    const std::string whole = read(path_);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        write(path_, whole.substr(0, size));
        EXPECT_TRUE(hlsl::read_shader_cache(path_).empty()) << "cut after " << size << " bytes";
        std::string changed = whole;
        changed[size] ^= 1;
        write(path_, changed);
        EXPECT_TRUE(hlsl::read_shader_cache(path_).empty()) << "byte " << size << " changed";
    }
    std::filesystem::remove(path_);
    EXPECT_TRUE(hlsl::read_shader_cache(path_).empty());
}

TEST(ShaderSource, HasIncludedTextsAndDiffersBetweenVariants) {
    std::set<hlsl::ShaderFingerprint> fingerprints;
    std::set<std::string> keys;
    for (const auto& [name, binding] : d3d12::all_bindings().rows()) {
        for (const d3d12::ShaderVariant& variant : binding.variants()) {
            const std::string source = hlsl::shader_source(variant);
            // Every shader includes this file, which begins with its subject.
            EXPECT_NE(source.find("cbuffer DispatchShape"), std::string::npos) << variant.key();
            fingerprints.insert(hlsl::fingerprint_of(source));
            keys.insert(variant.key());
        }
    }
    EXPECT_EQ(fingerprints.size(), keys.size());
}

}  // namespace
}  // namespace shader_cache_test
