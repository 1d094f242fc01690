// Buffers: lists, constants, sequences, files, and lists of values with types of their own.
#include "engine/interop/dxdispatch_buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "engine/cases/element_reader.h"
#include "engine/cases/initialiser.h"
#include "engine/cases/npy_header.h"
#include "engine/core/checked.h"
#include "engine/core/element.h"
#include "engine/core/utf8.h"
#include "engine/interop/image_file.h"
#include "engine/interop/neighbour_file.h"

namespace dmlconform::interop {
namespace {

using cases::JsonValue;
using Bytes = std::vector<std::byte>;

/// Larger buffers are rejected.
constexpr std::uint64_t largest_buffer = std::uint64_t{64} << 20;
/// Limit for all buffers of a model, which may be many in a short text.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;

core::Result<std::uint64_t> unsigned_member(const JsonValue& object, const char* key) {
    const JsonValue* value = object.find(key);
    const auto integer = value == nullptr ? std::nullopt : cases::integer_of(*value);
    if (!integer || integer->negative) {
        return core::fail(fmt::format("\"{}\" must be a number of at least 0", key));
    }
    return integer->magnitude;
}

core::Result<core::DataType> type_of(const JsonValue& object, const char* key) {
    const JsonValue* value = object.find(key);
    const auto type =
        value == nullptr || value->string() == nullptr ? std::nullopt : core::parse_data_type(*value->string());
    if (!type) {
        return core::fail(fmt::format("\"{}\" is not a data type", key));
    }
    return *type;
}

core::Result<core::TensorDesc> packed(core::DataType type, std::uint64_t count) {
    const auto bytes = core::checked_multiply(count, core::bytes_of(type));
    if (!bytes || *bytes == 0 || *bytes > largest_buffer) {
        return core::fail(
            fmt::format("{} elements of {} make no buffer of 1 to {} bytes", count, core::name(type), largest_buffer));
    }
    return core::TensorDesc::packed(type, {static_cast<std::uint32_t>(count)});
}

/// { "value": … } and { "valueStart": …, "valueDelta": … } are forms of case files; the count is not.
JsonValue without_count(const JsonValue& object) {
    JsonValue::Object members;
    for (const cases::JsonMember& member : *object.object()) {
        if (member.key != "valueCount") {
            members.push_back(member);
        }
    }
    return {object.offset, std::make_shared<const JsonValue::Object>(std::move(members))};
}

core::Result<DxDispatchBuffer> of_type(core::Result<Bytes> bytes, core::DataType type) {
    return bytes ? core::Result<DxDispatchBuffer>({std::move(*bytes), type}) : tl::unexpected(bytes.error());
}

}  // namespace

core::Result<const DxDispatchBuffer*> DxDispatchBuffers::contents(const std::string& name) {
    const auto known = read_.find(name);
    if (known != read_.end()) {
        return &known->second;
    }
    const auto found = resources_.find(name);
    const JsonValue* resource = found == resources_.end() ? nullptr : found->second;
    if (resource == nullptr || resource->object() == nullptr) {
        return core::fail(fmt::format("there is no resource \"{}\"", core::shortened(name)));
    }
    auto buffer = read(*resource);
    if (!buffer) {
        return core::fail(fmt::format("resource \"{}\": {}", core::shortened(name), buffer.error().message),
                          buffer.error().hint);
    }
    if (bytes_read_ + buffer->bytes.size() > most_bytes) {
        return core::fail(fmt::format("the model's buffers have more than {} bytes", most_bytes));
    }
    bytes_read_ += buffer->bytes.size();
    return &read_.emplace(name, std::move(*buffer)).first->second;
}

core::Result<DxDispatchBuffer> DxDispatchBuffers::read(const JsonValue& resource) {
    auto buffer = read_values(resource);
    if (!buffer) {
        return buffer;
    }
    Bytes& bytes = buffer->bytes;
    if (resource.find("initialValuesOffsetInBytes") != nullptr) {
        const auto offset = unsigned_member(resource, "initialValuesOffsetInBytes");
        if (!offset || *offset > largest_buffer - bytes.size()) {
            return core::fail(
                fmt::format("\"initialValuesOffsetInBytes\" must be from 0 to {}", largest_buffer - bytes.size()));
        }
        bytes.insert(bytes.begin(), static_cast<std::size_t>(*offset), std::byte{0});
    }
    std::uint64_t size = (bytes.size() + 3) / 4 * 4;
    if (resource.find("sizeInBytes") != nullptr) {
        const auto wanted = unsigned_member(resource, "sizeInBytes");
        if (!wanted || *wanted < bytes.size() || *wanted > largest_buffer) {
            return core::fail(fmt::format("\"sizeInBytes\" must be from {} to {}", bytes.size(), largest_buffer));
        }
        size = std::max(size, *wanted);
    }
    bytes.resize(static_cast<std::size_t>(size));
    return buffer;
}

core::Result<DxDispatchBuffer> DxDispatchBuffers::read_values(const JsonValue& resource) {
    const JsonValue* values = resource.find("initialValues");
    if (values == nullptr) {
        return core::fail("it has no \"initialValues\"");
    }
    core::Result<core::DataType> type = core::DataType::unknown;
    if (resource.find("initialValuesDataType") != nullptr) {
        type = type_of(resource, "initialValuesDataType");
    }
    if (!type) {
        return tl::unexpected(type.error());
    }
    if (values->find("sourcePath") != nullptr) {
        return read_file(resource, *type);
    }
    return of_type(read_list(*values, *type), *type);
}

core::Result<Bytes> DxDispatchBuffers::read_list(const JsonValue& values, core::DataType type) {
    if (values.string() != nullptr) {
        return core::fail(fmt::format("\"initialValues\" is \"{}\"", core::shortened(*values.string())),
                          "values that come from elsewhere when the model runs are not in it");
    }
    if (core::bytes_of(type) == 0) {
        return values.array() != nullptr ? read_typed_list(values)
                                         : core::Result<Bytes>(core::fail("\"initialValuesDataType\" is missing"));
    }
    if (values.array() != nullptr) {
        const auto desc = packed(type, values.array()->size());
        return desc ? filled(values, *desc) : tl::unexpected(desc.error());
    }
    if (values.object() == nullptr) {
        return core::fail(fmt::format("\"initialValues\" is {}", values.kind_name()));
    }
    const auto count = unsigned_member(values, "valueCount");
    if (!count) {
        return tl::unexpected(count.error());
    }
    const auto desc = packed(type, *count);
    return desc ? filled(without_count(values), *desc) : tl::unexpected(desc.error());
}

core::Result<Bytes> DxDispatchBuffers::filled(const JsonValue& initialiser, const core::TensorDesc& desc) {
    cases::ProblemSink problems = positions_.fresh();
    const auto read = cases::read_initialiser(initialiser, desc, problems, {folder_, false});
    if (!read) {
        const auto found = problems.take({});
        return core::fail(found.empty() ? "its values cannot be read" : found.front().message,
                          found.empty() ? "" : found.front().hint);
    }
    core::Tensor tensor(desc);
    if (auto done = read->fill(tensor); !done) {
        return tl::unexpected(done.error());
    }
    const auto count = static_cast<std::size_t>(*core::element_count(desc.sizes)) * core::bytes_of(desc.data_type);
    const auto bytes = tensor.buffer.bytes().first(count);
    return Bytes(bytes.begin(), bytes.end());
}

core::Result<DxDispatchBuffer> DxDispatchBuffers::read_pixels(const JsonValue& resource,
                                                              const std::filesystem::path& file, core::DataType type) {
    const JsonValue* wanted = resource.find("resampleSize");
    std::vector<std::uint64_t> sizes;
    std::uint64_t count = 1;
    for (const JsonValue& size :
         wanted == nullptr || wanted->array() == nullptr ? JsonValue::Array() : *wanted->array()) {
        const auto integer = cases::integer_of(size);
        sizes.push_back(!integer || integer->negative ? 0 : integer->magnitude);
        count = core::checked_multiply(count, sizes.back()).value_or(0);
    }
    if (sizes.size() != 4 || sizes[0] != 1 || (sizes[1] != 3 && sizes[1] != 4)) {
        return core::fail("an image needs a \"resampleSize\"", "for example [1, 3, 224, 224]: 3 or 4 channels");
    }
    if (type != core::DataType::float32 && type != core::DataType::float16) {
        return core::fail("the \"initialValuesDataType\" of an image is FLOAT32 or FLOAT16");
    }
    const auto desc = packed(type, count);
    if (!desc) {
        return tl::unexpected(desc.error());
    }
    const auto image = read_image(file, static_cast<std::uint32_t>(sizes[1]));
    if (!image) {
        return tl::unexpected(image.error());
    }
    const auto planes =
        resampled_planes(*image, static_cast<std::uint32_t>(sizes[3]), static_cast<std::uint32_t>(sizes[2]));
    Bytes bytes(static_cast<std::size_t>(count) * core::bytes_of(type));
    for (std::size_t i = 0; i < planes.size(); ++i) {
        core::store_element(bytes, type, i, *core::encode_element(type, static_cast<double>(planes[i])));
    }
    return DxDispatchBuffer{std::move(bytes), type};
}

core::Result<DxDispatchBuffer> DxDispatchBuffers::read_file(const JsonValue& resource, core::DataType type) {
    const JsonValue& path = *resource.find("initialValues")->find("sourcePath");
    if (path.string() == nullptr) {
        return core::fail("\"sourcePath\" must be a path");
    }
    if (path.string()->find('\0') != std::string::npos) {
        return core::fail("there is a NUL in \"sourcePath\"");
    }
    const std::filesystem::path file = folder_ / *path.string();
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) {
        return core::fail(fmt::format("there is no file \"{}\"", core::shortened(*path.string())),
                          "paths are relative to the model");
    }
    if (file.extension() == ".png" || file.extension() == ".jpg") {
        const auto inside = neighbour_file(*path.string(), folder_ / "model", "\"sourcePath\"");
        return inside ? read_pixels(resource, *inside, type) : tl::unexpected(inside.error());
    }
    JsonValue::Object members{{"file", path.offset, path}};
    const JsonValue initialiser{path.offset, std::make_shared<const JsonValue::Object>(std::move(members))};
    if (file.extension() == ".npy") {
        const auto header = cases::read_npy_header(file);
        if (!header) {
            return tl::unexpected(header.error());
        }
        if (type != core::DataType::unknown && type != header->type) {
            return core::fail(fmt::format("\"initialValuesDataType\" is {}; the file has {}", core::name(type),
                                          core::name(header->type)));
        }
        core::Dimensions sizes;
        std::uint64_t count = 1;
        for (const std::uint64_t size : header->shape) {
            count = core::checked_multiply(count, size).value_or(0);
            sizes.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(size, 0xffffffff)));
        }
        auto desc = packed(header->type, count);
        if (!desc) {
            return tl::unexpected(desc.error());
        }
        return of_type(filled(initialiser, core::TensorDesc::packed(header->type, sizes)), header->type);
    }
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    if (error || core::bytes_of(type) == 0) {
        return core::fail(error ? fmt::format("\"{}\" cannot be read: {}", *path.string(), error.message())
                                : "a raw file needs an \"initialValuesDataType\"");
    }
    const auto desc = packed(type, size / core::bytes_of(type));
    return desc ? of_type(filled(initialiser, *desc), type) : tl::unexpected(desc.error());
}

core::Result<Bytes> DxDispatchBuffers::read_typed_list(const JsonValue& list) {
    Bytes bytes;
    for (const JsonValue& item : *list.array()) {
        const JsonValue* value = item.find("value");
        const auto type = type_of(item, "type");
        if (value == nullptr || !type || core::bytes_of(*type) == 0) {
            return core::fail("a list of type UNKNOWN has objects with \"type\" and \"value\"");
        }
        const auto bits = cases::read_element(*value, *type);
        if (!bits) {
            return tl::unexpected(bits.error());
        }
        std::array<std::byte, sizeof(std::uint64_t)> element{};
        std::memcpy(element.data(), &*bits, sizeof(std::uint64_t));
        bytes.insert(bytes.end(), element.begin(), element.begin() + core::bytes_of(*type));
    }
    return bytes;
}

}  // namespace dmlconform::interop
