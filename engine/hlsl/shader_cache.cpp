// The cache file: a first line, then each shader as numbers of 64 bits and its compressed bytecode, then a checksum.
#include "engine/hlsl/shader_cache.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>

#include "engine/core/hash.h"

namespace dmlconform::hlsl {
namespace {

constexpr std::string_view first_line = "dmlconform compiled shaders 1\n";

void append(std::string& text, std::uint64_t number) {
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    text.append(bytes, sizeof bytes);
}

class Reader {
public:
    explicit Reader(std::string_view text) : rest_(text) {}

    [[nodiscard]] bool at_end() const { return rest_.empty(); }

    [[nodiscard]] std::optional<std::uint64_t> number() {
        std::uint64_t value = 0;
        if (rest_.size() < sizeof value) {
            return std::nullopt;
        }
        std::memcpy(&value, rest_.data(), sizeof value);
        rest_.remove_prefix(sizeof value);
        return value;
    }

    [[nodiscard]] std::optional<std::vector<std::uint64_t>> numbers(std::uint64_t count) {
        if (rest_.size() / sizeof(std::uint64_t) < count) {
            return std::nullopt;
        }
        std::vector<std::uint64_t> values(count);
        std::memcpy(values.data(), rest_.data(), count * sizeof(std::uint64_t));
        rest_.remove_prefix(count * sizeof(std::uint64_t));
        return values;
    }

private:
    std::string_view rest_;
};

/// The text between first line and checksum; empty if these are wrong.
std::string_view contents_of(std::string_view text) {
    if (!text.starts_with(first_line) || text.size() < first_line.size() + sizeof(std::uint64_t)) {
        return {};
    }
    const std::string_view contents =
        text.substr(first_line.size(), text.size() - first_line.size() - sizeof(std::uint64_t));
    return Reader(text.substr(text.size() - sizeof(std::uint64_t))).number() == core::fnv1a(contents)
               ? contents
               : std::string_view();
}

}  // namespace

ShaderFingerprint fingerprint_of(const std::string& text) {
    const std::uint64_t first = core::fnv1a(text);
    return {first, core::fnv1a(text, core::mixed(text.size() + 1))};
}

ShaderCache read_shader_cache(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    ShaderCache cache;
    for (Reader reader(contents_of(text)); !reader.at_end();) {
        const auto first = reader.number();
        const auto second = reader.number();
        const auto bytes = reader.number();
        const auto words = reader.number();
        const auto size = reader.number();
        auto data = size ? reader.numbers(*size) : std::nullopt;
        if (!data || *bytes > data->size() * sizeof(std::uint64_t)) {
            return {};
        }
        cache[{*first, *second}] = {std::move(*data), *bytes, *words};
    }
    return cache;
}

void write_shader_cache(const std::string& path, const ShaderCache& cache) {
    std::string contents;
    for (const auto& [fingerprint, shader] : cache) {
        for (const std::uint64_t number :
             {fingerprint.first, fingerprint.second, shader.bytes, shader.words, std::uint64_t{shader.data.size()}}) {
            append(contents, number);
        }
        for (const std::uint64_t number : shader.data) {
            append(contents, number);
        }
    }
    const std::uint64_t checksum = core::fnv1a(contents);
    append(contents, checksum);
    const std::string partial = path + ".partial";
    std::ofstream file(partial, std::ios::binary | std::ios::trunc);
    file << first_line << contents;
    file.close();
    std::error_code failed;
    if (file) {
        std::filesystem::rename(partial, path, failed);
    } else {
        std::filesystem::remove(partial, failed);
    }
}

}  // namespace dmlconform::hlsl
