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
#include <string>
#include <thread>
#include <vector>

#include "engine/d3d12/device/roofline_shaders.h"
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

/// Uses zlib's highest level, because this runs only once for each shader.
hlsl::CompressedShader compress(const std::vector<std::uint32_t>& code) {
    const auto size = static_cast<uLong>(code.size() * sizeof(code[0]));
    auto bytes = compressBound(size);
    hlsl::CompressedShader result;
    result.data.resize((bytes + sizeof(result.data[0]) - 1) / sizeof(result.data[0]));
    if (compress2(reinterpret_cast<Bytef*>(result.data.data()), &bytes, reinterpret_cast<const Bytef*>(code.data()),
                  size, Z_BEST_COMPRESSION) != Z_OK) {
        throw std::bad_alloc();  // the only other error is a buffer that is too small, which is impossible here
    }
    result.bytes = bytes;
    result.words = code.size();
    result.data.resize((bytes + sizeof(result.data[0]) - 1) / sizeof(result.data[0]));
    return result;
}

void compile(Shader& shader, const hlsl::ShaderCache& cache) {
    if (const auto found = cache.find(shader.fingerprint); found != cache.end()) {
        shader.code = found->second;
    } else if (auto code = hlsl::compile_shader(shader.variant)) {
        shader.code = compress(*code);
    } else {
        shader.problem = fmt::format("{}\n{}", code.error().message, code.error().hint);
    }
}

void compile(std::vector<Shader>& shaders, const hlsl::ShaderCache& cache) {
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < shaders.size(); i = next++) {
            compile(shaders[i], cache);
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

std::string source_of(const std::vector<Shader>& shaders) {
    std::string arrays;
    std::string rows;
    std::map<std::vector<std::uint64_t>, std::size_t> written;
    for (std::size_t i = 0; i < shaders.size(); ++i) {
        const hlsl::CompressedShader& code = shaders[i].code;
        const auto [found, is_new] = written.try_emplace(code.data, i);
        if (is_new) {
            arrays += fmt::format("const std::uint64_t code_{}[] = {{\n{}}};\n", i, numbers_of(code.data));
        }
        rows += fmt::format("    {{\"{}\", code_{}, {}, {}}},\n", shaders[i].variant.key(), found->second, code.bytes,
                            code.words);
    }
    return fmt::format(R"(// Written by engine/hlsl/compile_shaders.cpp. Do not edit.
#include "engine/d3d12/device/shader_library.h"

namespace dmlconform::d3d12 {{
namespace {{
{}
const CompiledShader shaders[] = {{
{}}};
}}  // namespace
const std::span<const CompiledShader> compiled_shaders = shaders;
const std::string_view shader_compiler = "{}";
}}  // namespace dmlconform::d3d12
)",
                       arrays, rows, hlsl::compiler_version());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        fmt::print(stderr, "usage: compile_shaders FILE CACHE\n");
        return 2;
    }
    std::vector<Shader> shaders = all_shaders();
    compile(shaders, hlsl::read_shader_cache(argv[2]));
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
