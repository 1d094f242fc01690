// Initialiser that reads elements from a data file: NumPy's .npy, or raw little-endian .bin and .dat. Header and size
// are checked when the case is read; the elements are read when they are needed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>

#include "engine/cases/npy_header.h"
#include "engine/cases/sources/sources.h"
#include "engine/cases/tensor_desc_reader.h"
#include "engine/core/checked.h"
#include "engine/core/text_file.h"
#include "engine/core/utf8.h"

namespace dmlconform::cases {
namespace {

namespace fs = std::filesystem;

class FileSource final : public ElementSource {
public:
    FileSource(fs::path path, std::uint64_t offset) : path_(std::move(path)), offset_(offset) {}

    [[nodiscard]] core::Result<void> write(core::DataType /*type*/, std::span<std::byte> elements) const override {
        auto stream = core::open_regular_file(path_, std::numeric_limits<std::uintmax_t>::max());
        if (stream) {
            stream->seekg(static_cast<std::streamoff>(offset_));
            stream->read(reinterpret_cast<char*>(elements.data()), static_cast<std::streamsize>(elements.size()));
        }
        if (!stream || !*stream) {
            return core::fail(fmt::format("{} cannot be read any more, or has become shorter", path_.generic_string()));
        }
        return {};
    }

private:
    fs::path path_;
    std::uint64_t offset_;
};

/// The file's path, if reading it is allowed.
core::Result<fs::path> resolve(const std::string& written, const DataFolder& folder) {
    if (written.find('\0') != std::string::npos) {
        return core::fail("there is a NUL in the path, at which the system would end it");
    }
    std::error_code error;
    const fs::path base = fs::weakly_canonical(folder.path.empty() ? fs::path(".") : folder.path, error);
    // Canonical, so that ".." and links cannot leave the folder.
    const fs::path path = fs::weakly_canonical(base / fs::path(written), error);
    if (error) {
        return core::fail(fmt::format("\"{}\" is not a usable path: {}", core::shortened(written), error.message()));
    }
    const auto [rest, unused] = std::mismatch(base.begin(), base.end(), path.begin(), path.end());
    if (rest != base.end() && !folder.allow_external) {
        return core::fail(fmt::format("\"{}\" leads out of the case file's folder", core::shortened(written)),
                          "--allow-external-data allows that");
    }
    const fs::file_status status = fs::status(path, error);
    if (fs::exists(status) && !fs::is_regular_file(status)) {
        return core::fail(fmt::format("\"{}\" is {}", core::shortened(path.generic_string()),
                                      fs::is_directory(status) ? "a folder" : "not a regular file"));
    }
    if (!fs::exists(status)) {
        return core::fail(fmt::format("there is no file \"{}\"", core::shortened(path.generic_string())),
                          "paths are relative to the case file");
    }
    return path;
}

core::Result<void> check_size(const fs::path& path, std::uint64_t offset, const core::TensorDesc& desc) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(path, error);
    const auto count = core::element_count(desc.sizes);
    // Counted in bits, because elements may have 4 bits.
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
    const auto header = read_npy_header(path);
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

}  // namespace

core::Result<SourcePointer> open_data_file(const std::string& written, const core::TensorDesc& desc,
                                           const DataFolder& folder) {
    const auto path = resolve(written, folder);
    if (!path) {
        return tl::unexpected(path.error());
    }
    core::Result<std::size_t> offset = 0;
    const fs::path extension = path->extension();
    if (extension == ".npy") {
        offset = check_npy(*path, desc);
    } else if (extension != ".bin" && extension != ".dat") {
        return core::fail(fmt::format("\"{}\" is of no known kind", core::shortened(written)),
                          ".npy, or .bin and .dat for raw elements");
    }
    if (!offset) {
        return tl::unexpected(offset.error());
    }
    if (auto fits = check_size(*path, *offset, desc); !fits) {
        return tl::unexpected(fits.error());
    }
    return file_elements(*path, *offset);
}

SourcePointer file_elements(fs::path path, std::uint64_t offset) {
    return std::make_shared<FileSource>(std::move(path), offset);
}

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
    auto source = open_data_file(*value.string(), desc, folder);
    if (!source) {
        problems.add(value.offset, source.error().message, source.error().hint);
        return nullptr;
    }
    return std::move(*source);
}

}  // namespace dmlconform::cases
