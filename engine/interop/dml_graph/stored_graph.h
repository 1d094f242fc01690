// A serialised DirectML graph in memory, whose structure is verified.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "dml_graph_generated.h"
#include "engine/core/error.h"

namespace dmlconform::interop {

/// A list of strings, as Node has it.
using StoredNames = flatbuffers::Vector<std::uint32_t>;

class StoredGraph {
public:
    /// Reads a file. The error does not contain the path.
    [[nodiscard]] static core::Result<StoredGraph> read(const std::filesystem::path& path);

    [[nodiscard]] const stored::Graph& root() const { return *stored::GetGraph(bytes_.data()); }

    /// The string at a position of a list, which must have it. Fails if it lies outside of the file, and if it is too
    /// long for a name.
    [[nodiscard]] core::Result<std::string_view> name_at(const StoredNames& names, std::uint32_t position) const;

    /// A value that the verifier has not seen; null if it is absent or does not lie in the file.
    template <class Struct>
    [[nodiscard]] const Struct* checked_struct(const void* value) const {
        const auto* start = static_cast<const std::uint8_t*>(value);
        return start != nullptr &&
                       verifier().VerifyAlignment(static_cast<std::size_t>(start - bytes_.data()), alignof(Struct)) &&
                       verifier().Verify(static_cast<std::size_t>(start - bytes_.data()), sizeof(Struct))
                   ? static_cast<const Struct*>(value)
                   : nullptr;
    }

private:
    explicit StoredGraph(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}
    [[nodiscard]] flatbuffers::Verifier verifier() const;

    std::vector<std::uint8_t> bytes_;
};

/// A string of the file; fails if it is missing or too long for a name.
[[nodiscard]] core::Result<std::string_view> stored_name(const flatbuffers::String* name, const char* what);

}  // namespace dmlconform::interop
