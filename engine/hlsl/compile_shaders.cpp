// A tool of the build: compiles every variant of every shader, and writes a C++ source with the bytecode.
//
// usage: compile_shaders FILE CACHE
//
// CACHE keeps the bytecode for the next time: only variants whose text has changed since are compiled again.
// Exit codes: 0 written; 1 a shader does not compile, or the file cannot be written; 2 wrong usage.
#include <fmt/format.h>
#include <zlib.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <new>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/d3d12/device/roofline_shaders.h"
#include "engine/d3d12/device/shader_packing.h"
#include "engine/d3d12/planning/binding.h"
#include "engine/hlsl/hlsl_compiler.h"
#include "engine/hlsl/shader_cache.h"

namespace {

using namespace dmlconform;

struct Shader {
    d3d12::ShaderVariant variant;
    hlsl::ShaderFingerprint fingerprint;
    hlsl::CompressedShader code;
    std::string problem;
};

/// Every variant of all operators once, sorted by key.
std::vector<Shader> all_shaders() {
    std::map<std::string, d3d12::ShaderVariant> variants;
    const auto add = [&](std::vector<d3d12::ShaderVariant> more) {
        for (d3d12::ShaderVariant& variant : more) {
            variants.emplace(variant.key(), std::move(variant));
        }
    };
    for (const auto& [name, binding] : d3d12::all_bindings().rows()) {
        add(binding.variants());
    }
    add(d3d12::roofline_variants());
    const std::string compiler = hlsl::compiler_version();
    std::vector<Shader> shaders;
    for (auto& [key, variant] : variants) {
        const std::string source = hlsl::shader_source(variant);
        shaders.push_back({std::move(variant), hlsl::fingerprint_of(compiler + source), {}, {}});
    }
    return shaders;
}

hlsl::CompressedShader compress(std::span<const std::uint8_t> code, int level) {
    auto bytes = compressBound(static_cast<uLong>(code.size()));
    hlsl::CompressedShader result;
    result.data.resize((bytes + sizeof(result.data[0]) - 1) / sizeof(result.data[0]));
    if (compress2(reinterpret_cast<Bytef*>(result.data.data()), &bytes, code.data(), static_cast<uLong>(code.size()),
                  level) != Z_OK) {
        throw std::bad_alloc();  // the only other error is a buffer that is too small, which is impossible here
    }
    result.bytes = bytes;
    result.words = code.size() / sizeof(std::uint32_t);
    result.data.resize((bytes + sizeof(result.data[0]) - 1) / sizeof(result.data[0]));
    return result;
}

void compile(Shader& shader, const hlsl::ShaderCache& cache) {
    if (const auto found = cache.find(shader.fingerprint); found != cache.end()) {
        shader.code = found->second;
    } else if (const auto code = hlsl::compile_shader(shader.variant)) {
        const std::span bytes(reinterpret_cast<const std::uint8_t*>(code->data()),
                              code->size() * sizeof(code->front()));
        shader.code = compress(bytes, Z_DEFAULT_COMPRESSION);
    } else {
        shader.problem = fmt::format("{}\n{}", code.error().message, code.error().hint);
    }
}

/// Calls work_on(i) for each i below `count`, in several threads.
template <class WorkOn>
void for_each_in_threads(std::size_t count, const WorkOn& work_on) {
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < count; i = next++) {
            work_on(i);
        }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) {
        threads.emplace_back(work);
    }
    work();
    for (std::thread& thread : threads) {
        thread.join();
    }
}

/// Written as numbers, because Microsoft's compiler limits string literals to 16 KB.
std::string numbers_of(const std::vector<std::uint64_t>& data) {
    std::string text;
    for (std::size_t i = 0; i < data.size(); ++i) {
        fmt::format_to(std::back_inserter(text), "{:#x},{}", data[i], i % 6 == 5 ? "\n" : "");
    }
    return text;
}

/// The bytecode of a shader, which `compress` packed a moment ago, or the cache's checksum vouches for.
std::vector<std::uint32_t> words_of(const hlsl::CompressedShader& shader) {
    std::vector<std::uint32_t> words(shader.words);
    auto size = static_cast<uLongf>(words.size() * sizeof(words[0]));
    if (uncompress(reinterpret_cast<Bytef*>(words.data()), &size, reinterpret_cast<const Bytef*>(shader.data.data()),
                   static_cast<uLong>(shader.bytes)) != Z_OK) {
        throw std::bad_alloc();  // as above
    }
    return words;
}

/// Where a shader's bytecode is.
struct Position {
    std::size_t group = 0;
    std::size_t first_word = 0;
    std::size_t words = 0;
};

/// All bytecode in groups. Equal shaders share their bytecode.
struct Groups {
    std::vector<std::vector<std::uint32_t>> words;
    /// One per shader.
    std::vector<Position> positions;
};

/// A group is unpacked as a whole, in 1 ms. Twice the size would save 8 % of the bytes.
constexpr std::size_t words_per_group = 128 * 1024;

/// Fills groups in the order of keys, so that variants of one source are close to each other.
Groups groups_of(const std::vector<Shader>& shaders) {
    Groups groups;
    std::map<std::vector<std::uint64_t>, Position> known;
    for (const Shader& shader : shaders) {
        const auto [found, is_new] = known.try_emplace(shader.code.data);
        if (is_new) {
            if (groups.words.empty() || groups.words.back().size() + shader.code.words > words_per_group) {
                groups.words.emplace_back();
            }
            std::vector<std::uint32_t>& group = groups.words.back();
            found->second = {groups.words.size() - 1, group.size(), shader.code.words};
            const std::vector<std::uint32_t> words = words_of(shader.code);
            group.insert(group.end(), words.begin(), words.end());
        }
        groups.positions.push_back(found->second);
    }
    return groups;
}

std::string source_of(const std::vector<Shader>& shaders) {
    const Groups groups = groups_of(shaders);
    std::vector<hlsl::CompressedShader> packed(groups.words.size());
    for_each_in_threads(packed.size(), [&](std::size_t i) {
        packed[i] = compress(d3d12::bytes_in_planes(groups.words[i]), Z_BEST_COMPRESSION);
    });
    std::string arrays;
    std::string group_rows;
    for (std::size_t i = 0; i < packed.size(); ++i) {
        arrays += fmt::format("const std::uint64_t code_{}[] = {{\n{}}};\n", i, numbers_of(packed[i].data));
        group_rows += fmt::format("    {{code_{}, {}, {}}},\n", i, packed[i].bytes, packed[i].words);
    }
    std::string rows;
    for (std::size_t i = 0; i < shaders.size(); ++i) {
        const Position& position = groups.positions[i];
        rows += fmt::format("    {{\"{}\", {}, {}, {}}},\n", shaders[i].variant.key(), position.group,
                            position.first_word, position.words);
    }
    return fmt::format(R"(// Written by engine/hlsl/compile_shaders.cpp. Do not edit.
#include "engine/d3d12/device/shader_library.h"

namespace dmlconform::d3d12 {{
namespace {{
{}
const ShaderGroup groups[] = {{
{}}};
const CompiledShader shaders[] = {{
{}}};
}}  // namespace
const std::span<const ShaderGroup> shader_groups = groups;
const std::span<const CompiledShader> compiled_shaders = shaders;
const std::string_view shader_compiler = "{}";
}}  // namespace dmlconform::d3d12
)",
                       arrays, group_rows, rows, hlsl::compiler_version());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        fmt::print(stderr, "usage: compile_shaders FILE CACHE\n");
        return 2;
    }
    std::vector<Shader> shaders = all_shaders();
    const hlsl::ShaderCache old = hlsl::read_shader_cache(argv[2]);
    for_each_in_threads(shaders.size(), [&](std::size_t i) { compile(shaders[i], old); });
    bool failed = false;
    hlsl::ShaderCache cache;
    for (const Shader& shader : shaders) {
        if (shader.problem.empty()) {
            cache.emplace(shader.fingerprint, shader.code);
        } else {
            fmt::print(stderr, "{}\n", shader.problem);
            failed = true;
        }
    }
    hlsl::write_shader_cache(argv[2], cache);
    if (failed) {
        return 1;
    }
    std::ofstream file(argv[1], std::ios::binary | std::ios::trunc);
    file << source_of(shaders);
    file.close();
    if (!file) {
        fmt::print(stderr, "{} cannot be written\n", argv[1]);
        return 1;
    }
    return 0;
}
