// A tool of the build: compiles every variant of every shader, and writes a C++ source with the bytecode.
//
// usage: compile_shaders FILE
//
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

namespace {

using namespace dmlconform;

struct Shader {
    d3d12::ShaderVariant variant;
    std::vector<std::uint32_t> code;
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
    std::vector<Shader> shaders;
    for (auto& [key, variant] : variants) {
        shaders.push_back({std::move(variant), {}, {}});
    }
    return shaders;
}

void compile(std::vector<Shader>& shaders) {
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < shaders.size(); i = next++) {
            if (auto code = hlsl::compile_shader(shaders[i].variant)) {
                shaders[i].code = std::move(*code);
            } else {
                shaders[i].problem = fmt::format("{}\n{}", code.error().message, code.error().hint);
            }
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

struct Compressed {
    std::vector<std::uint64_t> data;
    std::size_t bytes = 0;
};

/// Uses zlib's highest level, because this runs only once for each shader.
Compressed compress(const std::vector<std::uint32_t>& code) {
    const auto size = static_cast<uLong>(code.size() * sizeof(code[0]));
    auto bytes = compressBound(size);
    Compressed result;
    result.data.resize((bytes + sizeof(result.data[0]) - 1) / sizeof(result.data[0]));
    if (compress2(reinterpret_cast<Bytef*>(result.data.data()), &bytes, reinterpret_cast<const Bytef*>(code.data()),
                  size, Z_BEST_COMPRESSION) != Z_OK) {
        throw std::bad_alloc();  // the only other error is a buffer that is too small, which is impossible here
    }
    result.bytes = bytes;
    result.data.resize((bytes + sizeof(result.data[0]) - 1) / sizeof(result.data[0]));
    return result;
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
    struct Written {
        std::size_t number = 0;
        std::size_t bytes = 0;
    };
    std::map<std::vector<std::uint32_t>, Written> written;
    for (std::size_t i = 0; i < shaders.size(); ++i) {
        const auto [found, is_new] = written.try_emplace(shaders[i].code);
        if (is_new) {
            const Compressed compressed = compress(shaders[i].code);
            found->second = {i, compressed.bytes};
            arrays += fmt::format("const std::uint64_t code_{}[] = {{\n{}}};\n", i, numbers_of(compressed.data));
        }
        rows += fmt::format("    {{\"{}\", code_{}, {}, {}}},\n", shaders[i].variant.key(), found->second.number,
                            found->second.bytes, shaders[i].code.size());
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
    if (argc != 2) {
        fmt::print(stderr, "usage: compile_shaders FILE\n");
        return 2;
    }
    std::vector<Shader> shaders = all_shaders();
    compile(shaders);
    bool failed = false;
    for (const Shader& shader : shaders) {
        if (!shader.problem.empty()) {
            fmt::print(stderr, "{}\n", shader.problem);
            failed = true;
        }
    }
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
