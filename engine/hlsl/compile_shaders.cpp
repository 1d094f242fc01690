// A tool of the build: compiles every variant of every shader, and writes them as a C++ source for the program.
//
// usage: compile_shaders FILE
//
// Exit codes: 0 written; 1 a shader does not compile, or the file cannot be written; 2 wrong usage.
#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "engine/d3d12/binding.h"
#include "engine/d3d12/roofline_shaders.h"
#include "engine/hlsl/hlsl_compiler.h"

namespace {

using namespace dmlconform;

struct Shader {
    d3d12::ShaderVariant variant;
    std::vector<std::uint32_t> code;
    std::string problem;
};

/// Each variant once, whichever operators use it, in the order of the keys.
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

/// As numbers: a string literal may have no more than 16 KB for Microsoft's compiler.
std::string words_of(const std::vector<std::uint32_t>& code) {
    std::string text;
    for (std::size_t i = 0; i < code.size(); ++i) {
        fmt::format_to(std::back_inserter(text), "{:#x},{}", code[i], i % 12 == 11 ? "\n" : "");
    }
    return text;
}

std::string source_of(const std::vector<Shader>& shaders) {
    std::string arrays;
    std::string rows;
    std::map<std::vector<std::uint32_t>, std::size_t> written;
    for (std::size_t i = 0; i < shaders.size(); ++i) {
        const auto [found, is_new] = written.emplace(shaders[i].code, i);
        if (is_new) {
            arrays += fmt::format("const std::uint32_t code_{}[] = {{\n{}}};\n", i, words_of(shaders[i].code));
        }
        rows += fmt::format("    {{\"{}\", code_{}}},\n", shaders[i].variant.key(), found->second);
    }
    return fmt::format(R"(// Written by engine/hlsl/compile_shaders.cpp. Do not edit.
#include "engine/d3d12/shader_library.h"

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
