// Sources that read their elements when a case runs.
#include "engine/interop/model/tensor_data.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <optional>

#include "engine/cases/sources/sources.h"
#include "engine/core/checked.h"
#include "engine/core/parse_number.h"
#include "engine/core/text_file.h"
#include "engine/core/utf8.h"
#include "engine/interop/neighbour_file.h"

namespace dmlconform::interop {
namespace {

namespace fs = std::filesystem;

class GivenBytes final : public cases::ElementSource {
public:
    explicit GivenBytes(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}

    [[nodiscard]] core::Result<void> write(core::DataType /*type*/, std::span<std::byte> elements) const override {
        std::memcpy(elements.data(), bytes_.data(), std::min(elements.size(), bytes_.size()));
        return {};
    }

private:
    std::vector<std::byte> bytes_;
};

class RepeatedElement final : public cases::ElementSource {
public:
    explicit RepeatedElement(std::vector<std::byte> element) : element_(std::move(element)) {}

    [[nodiscard]] core::Result<void> write(core::DataType /*type*/, std::span<std::byte> elements) const override {
        for (std::size_t i = 0; i < elements.size(); ++i) {
            elements[i] = element_[i % element_.size()];
        }
        return {};
    }

private:
    std::vector<std::byte> element_;
};

struct Location {
    fs::path path;
    std::uint64_t offset = 0;
    std::optional<std::uint64_t> length;
};

core::Result<Location> external_location(const onnx::TensorProto& proto, const fs::path& model) {
    Location location;
    std::string name;
    for (const onnx::StringStringEntryProto& entry : proto.external_data()) {
        if (entry.key() == "location") {
            name = entry.value();
        } else if (entry.key() == "offset" || entry.key() == "length") {
            const auto value = core::parse_number<std::uint64_t>(entry.value());
            if (!value) {
                return core::fail(fmt::format("the {} of external data is not a number", entry.key()));
            }
            if (entry.key() == "offset") {
                location.offset = *value;
            } else {
                location.length = value;
            }
        }
    }
    auto path = neighbour_file(name, model, "external data");
    if (!path) {
        return tl::unexpected(path.error());
    }
    location.path = std::move(*path);
    if (const auto stream = core::open_regular_file(location.path, std::numeric_limits<std::uintmax_t>::max());
        !stream) {
        return core::fail(fmt::format("external data \"{}\": {}", core::shortened(name), stream.error().message));
    }
    std::error_code error;
    const std::uintmax_t size = fs::file_size(location.path, error);
    if (error || location.offset > size || location.length.value_or(0) > size - location.offset) {
        return core::fail(fmt::format("external data \"{}\" ends before the tensor does", core::shortened(name)));
    }
    location.length = location.length.value_or(size - location.offset);
    return location;
}

core::Result<core::Dimensions> sizes_of(const onnx::TensorProto& proto) {
    core::Dimensions sizes;
    for (const std::int64_t size : proto.dims()) {
        if (size < 0 || size > std::int64_t{0xffffffff}) {
            return core::fail(fmt::format("a tensor has the size {}", size));
        }
        sizes.push_back(static_cast<std::uint32_t>(size));
    }
    return sizes;
}

}  // namespace

ConstantTensor constant_tensor(OnnxTensor tensor) {
    std::vector<std::byte> bytes = std::move(tensor.elements);
    if (tensor.count() <= most_known_elements) {
        tensor.elements = bytes;
    }
    const std::uint64_t count = bytes.size();
    return {std::move(tensor), std::make_shared<GivenBytes>(std::move(bytes)), count};
}

ConstantTensor repeated_constant(OnnxTensor tensor, const OnnxTensor& element) {
    std::vector<std::byte> repeated = element.elements;
    if (core::bits_of(element.type) < 8) {
        repeated.front() |= repeated.front() << 4;  // for the second of two elements in a byte
    }
    const SourcePointer source = std::make_shared<RepeatedElement>(std::move(repeated));
    if (tensor.count() <= most_known_elements) {
        tensor.elements.resize(tensor.bytes());
        (void)source->write(tensor.type, tensor.elements);
    }
    return {std::move(tensor), source};
}

core::Result<ConstantTensor> constant_tensor(const onnx::TensorProto& proto, const fs::path& path) {
    constexpr int external = 1;
    constexpr int onnx_bool = 9;
    if (proto.data_location() != external && !proto.skipped_offset.has()) {
        auto tensor = onnx_tensor(proto, AnySizes{});
        return tensor ? core::Result<ConstantTensor>(constant_tensor(std::move(*tensor)))
                      : tl::unexpected(tensor.error());
    }
    const auto type = onnx_data_type(proto.data_type());
    const auto sizes = sizes_of(proto);
    if (!type || !sizes) {
        return tl::unexpected(type ? sizes.error() : type.error());
    }
    auto tensor = unknown_tensor(*type, *sizes, proto.data_type() == onnx_bool);
    if (!tensor) {
        return tl::unexpected(tensor.error());
    }
    Location location{path, proto.skipped_offset(), proto.skipped_bytes()};
    if (proto.data_location() == external) {
        auto given = external_location(proto, path);
        if (!given) {
            return tl::unexpected(given.error());
        }
        location = std::move(*given);
    }
    const std::uint64_t bytes = tensor->bytes();
    if (*location.length != bytes) {
        return core::fail(fmt::format("a tensor of sizes {} has {} bytes of data, not {}", core::to_string(*sizes),
                                      *location.length, bytes));
    }
    const SourcePointer source = cases::file_elements(location.path, location.offset);
    if (tensor->count() <= most_known_elements) {
        tensor->elements.resize(static_cast<std::size_t>(bytes));
        if (const auto read = source->write(*type, tensor->elements); !read) {
            return tl::unexpected(read.error());
        }
    }
    return ConstantTensor{std::move(*tensor), source};
}

}  // namespace dmlconform::interop
