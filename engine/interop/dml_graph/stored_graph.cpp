// Verifies that everything in a file refers to a position in the file.
#include "engine/interop/dml_graph/stored_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/text_file.h"

namespace dmlconform::interop {
namespace {

/// Limit for a file. Large constants lie in files of their own.
constexpr std::uint64_t largest_graph_file = std::uint64_t{256} << 20;

/// Limit for the length of a name.
constexpr std::size_t longest_name = 4096;

/// A file may refer to one table many times, which costs memory each time. Tables that are written once take more bytes
/// than this on average: the smallest one in use, an absent attribute, takes 16, and the others more than 32.
constexpr std::size_t least_bytes_of_a_table = 24;

/// Activations in operators are nested four tables deep, and the format allows activations in activations.
constexpr flatbuffers::uoffset_t most_table_depth = 32;

}  // namespace

flatbuffers::Verifier StoredGraph::verifier() const {
    const auto tables = static_cast<flatbuffers::uoffset_t>(16 + bytes_.size() / least_bytes_of_a_table);
    return {bytes_.data(), bytes_.size(), most_table_depth, tables};
}

core::Result<StoredGraph> StoredGraph::read(const std::filesystem::path& path) {
    auto stream = core::open_regular_file(path, largest_graph_file);
    if (!stream) {
        return tl::unexpected(stream.error());
    }
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    std::vector<std::uint8_t> bytes(
        error ? 0 : static_cast<std::size_t>(std::min<std::uintmax_t>(size, largest_graph_file)));
    stream->read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!*stream || bytes.empty()) {
        return core::fail(bytes.empty() ? "the file is empty" : "the file cannot be read");
    }
    StoredGraph file(std::move(bytes));
    flatbuffers::Verifier verifier = file.verifier();
    if (!stored::VerifyGraphBuffer(verifier)) {
        return core::fail("this is not a serialised DirectML graph, or it is damaged",
                          "ONNX Runtime writes them with the session option ep.dml.enable_graph_serialization");
    }
    return file;
}

core::Result<std::string_view> stored_name(const flatbuffers::String* name, const char* what) {
    if (name == nullptr || name->size() > longest_name) {
        return core::fail(name == nullptr ? fmt::format("{} is missing", what)
                                          : fmt::format("{} has {} bytes", what, name->size()));
    }
    return std::string_view(name->data(), name->size());
}

core::Result<std::string_view> StoredGraph::name_at(const StoredNames& names, std::uint32_t position) const {
    const flatbuffers::Verifier check = verifier();
    const auto at = static_cast<std::size_t>(names.Data() - bytes_.data()) + position * sizeof(std::uint32_t);
    const flatbuffers::uoffset_t offset = check.VerifyOffset(at);
    const auto* name = reinterpret_cast<const flatbuffers::String*>(bytes_.data() + at + offset);
    if (offset == 0 || !check.VerifyString(name)) {
        return core::fail("the name of a value lies outside of the file");
    }
    return stored_name(name, "the name of a value");
}

}  // namespace dmlconform::interop
