// Elements from a file beside the case file: NumPy's .npy, or raw little-endian .bin and .dat. Header and size are
// checked when the case is read; the elements are read when they are needed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "engine/cases/npy_header.h"
#include "engine/cases/sources/sources.h"
#include "engine/cases/tensor_desc_reader.h"
#include "engine/core/checked.h"

namespace dmlconform::cases {
namespace {

namespace fs = std::filesystem;

class FileSource final : public ElementSource {
public:
    FileSource(fs::path path, std::size_t offset) : path_(std::move(path)), offset_(offset) {}

    [[nodiscard]] core::Result<void> write(core::DataType /*type*/, std::span<std::byte> elements) const override {
        std::ifstream stream(path_, std::ios::binary);
        stream.seekg(static_cast<std::streamoff>(offset_));
        stream.read(reinterpret_cast<char*>(elements.data()), static_cast<std::streamsize>(elements.size()));
        if (!stream) {
            return core::fail(fmt::format("{} cannot be read any more, or has become shorter", path_.generic_string()));
        }
        return {};
    }

private:
    fs::path path_;
    std::size_t offset_;
};

/// The file's path, if it may be read from.
core::Result<fs::path> resolve(const std::string& written, const DataFolder& folder) {
    std::error_code error;
    const fs::path base = fs::weakly_canonical(folder.path.empty() ? fs::path(".") : folder.path, error);
    // Canonical, so that neither ".." nor a link leads out unnoticed.
    const fs::path path = fs::weakly_canonical(base / fs::path(written), error);
    if (error) {
        return core::fail(fmt::format("\"{}\" is no usable path: {}", written, error.message()));
    }
    const auto [rest, unused] = std::mismatch(base.begin(), base.end(), path.begin(), path.end());
    if (rest != base.end() && !folder.allow_external) {
        return core::fail(fmt::format("\"{}\" leads out of the case file's folder", written),
                          "--allow-external-data allows that");
    }
    if (!fs::is_regular_file(path, error)) {
        return core::fail(fmt::format("there is no file \"{}\"", path.generic_string()),
                          "paths are relative to the case file");
    }
    return path;
}

core::Result<void> check_size(const fs::path& path, std::uint64_t offset, const core::TensorDesc& desc) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(path, error);
    const auto count = core::element_count(desc.sizes);
    // In bits, because elements may be half a byte wide.
    const auto bits = count ? core::checked_multiply(*count, core::bits_of(desc.data_type)) : std::nullopt;
    const auto bytes = bits ? std::optional((*bits + 7) / 8) : std::nullopt;
    if (error || !bytes || size - offset != *bytes || size < offset) {
        return core::fail(fmt::format("{} holds {} bytes of elements; {} takes {}", path.generic_string(),
                                      error || size < offset ? 0 : size - offset, core::to_string(desc),
                                      bytes ? fmt::format("{}", *bytes) : "more than 64 bits can count"));
    }
    return {};
}

core::Result<std::size_t> check_npy(const fs::path& path, const core::TensorDesc& desc) {
    std::ifstream stream(path, std::ios::binary);
    std::string start(longest_npy_header + 16, '\0');
    stream.read(start.data(), static_cast<std::streamsize>(start.size()));
    start.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
    const auto header = parse_npy_header(start);
    if (!header) {
        return tl::unexpected(header.error());
    }
    if (header->type != desc.data_type) {
        return core::fail(fmt::format("{} holds {}, the tensor is {}", path.generic_string(), core::name(header->type),
                                      core::name(desc.data_type)));
    }
    if (!std::equal(header->shape.begin(), header->shape.end(), desc.sizes.begin(), desc.sizes.end())) {
        return core::fail(fmt::format("{} has the shape [{}], the tensor {}", path.generic_string(),
                                      fmt::join(header->shape, ","), core::to_string(desc.sizes)));
    }
    if (header->fortran_order && header->shape.size() > 1) {
        return core::fail(fmt::format("{} is in Fortran order", path.generic_string()),
                          "save it with numpy.ascontiguousarray(…)");
    }
    return header->data_offset;
}

core::Result<SourcePointer> open(const std::string& written, const core::TensorDesc& desc, const DataFolder& folder) {
    const auto path = resolve(written, folder);
    if (!path) {
        return tl::unexpected(path.error());
    }
    core::Result<std::size_t> offset = 0;
    const fs::path extension = path->extension();
    if (extension == ".npy") {
        offset = check_npy(*path, desc);
    } else if (extension != ".bin" && extension != ".dat") {
        return core::fail(fmt::format("\"{}\" is of no known kind", written),
                          ".npy, or .bin and .dat for raw elements");
    }
    if (!offset) {
        return tl::unexpected(offset.error());
    }
    if (auto fits = check_size(*path, *offset, desc); !fits) {
        return tl::unexpected(fits.error());
    }
    return std::make_shared<FileSource>(*path, *offset);
}

}  // namespace

SourcePointer read_data_file(const JsonValue& object, const core::TensorDesc& desc, const DataFolder& folder,
                             ProblemSink& problems) {
    static const std::array<std::string, 1> keys{"file"};
    const JsonValue& value = *object.find("file");
    if (!check_keys(object, keys, "a file initialiser", problems)) {
        return nullptr;
    }
    if (value.string() == nullptr) {
        problems.add(value.offset, fmt::format("\"file\" must be a path; this is {}", value.kind_name()));
        return nullptr;
    }
    auto source = open(*value.string(), desc, folder);
    if (!source) {
        problems.add(value.offset, source.error().message, source.error().hint);
        return nullptr;
    }
    return std::move(*source);
}

}  // namespace dmlconform::cases
