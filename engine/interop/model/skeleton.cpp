// Parses protobuf's wire format, and copies it without the data of large tensors.
#include "engine/interop/model/skeleton.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "engine/core/text_file.h"
#include "engine/interop/model/memory_limit.h"

namespace dmlconform::interop {
namespace {

/// Limit for a model without its large tensors.
constexpr std::size_t most_skeleton_bytes = std::size_t{64} << 20;
/// Same limit as in protobuf.
constexpr int most_levels = 64;

/// A forward reader that can skip data. It reads blocks; skipped data are not read.
class FileReader {
public:
    FileReader(std::ifstream stream, std::uint64_t size) : stream_(std::move(stream)), size_(size) {}

    [[nodiscard]] std::uint64_t size() const { return size_; }
    [[nodiscard]] std::uint64_t position() const { return position_; }
    void skip(std::uint64_t count) { position_ += count; }

    std::optional<std::uint8_t> byte() {
        if (position_ >= size_ || !load()) {
            return std::nullopt;
        }
        return static_cast<std::uint8_t>(block_[static_cast<std::size_t>(position_++ - start_)]);
    }

    bool append(std::uint64_t count, std::string& to) {
        while (count > 0) {
            if (!load()) {
                return false;
            }
            const auto offset = static_cast<std::size_t>(position_ - start_);
            const std::size_t part = std::min<std::uint64_t>(count, block_.size() - offset);
            to.append(block_, offset, part);
            position_ += part;
            count -= part;
        }
        return true;
    }

private:
    /// Loads the block that contains the position.
    bool load() {
        if (position_ >= start_ && position_ < start_ + block_.size()) {
            return true;
        }
        constexpr std::uint64_t block_size = 1 << 16;
        if (position_ >= size_) {
            return false;
        }
        block_.resize(static_cast<std::size_t>(std::min(block_size, size_ - position_)));
        start_ = position_;
        stream_.clear();
        stream_.seekg(static_cast<std::streamoff>(start_));
        stream_.read(block_.data(), static_cast<std::streamsize>(block_.size()));
        return static_cast<bool>(stream_);
    }

    std::ifstream stream_;
    std::uint64_t size_;
    std::uint64_t position_ = 0;
    std::uint64_t start_ = 0;
    std::string block_;
};

/// Messages that may contain tensors.
enum class Message : std::uint8_t { model, graph, node, attribute, function, tensor, other };

Message child_of(Message parent, std::uint64_t field) {
    switch (parent) {
        case Message::model:
            return field == 7 ? Message::graph : field == 25 ? Message::function : Message::other;
        case Message::graph:
            return field == 1 ? Message::node : field == 5 ? Message::tensor : Message::other;
        case Message::node:
            return field == 5 ? Message::attribute : Message::other;
        case Message::attribute:
            return field == 5 ? Message::tensor : field == 6 ? Message::graph : Message::other;
        case Message::function:
            return field == 7 ? Message::node : field == 11 ? Message::attribute : Message::other;
        default:
            return Message::other;
    }
}

/// Fields of TensorProto: those whose bytes are elements, and this program's own fields.
constexpr std::uint64_t float_data = 4;
constexpr std::uint64_t raw_data = 9;
constexpr std::uint64_t double_data = 10;
constexpr std::uint64_t skipped_offset = 100001;
constexpr std::uint64_t skipped_bytes = 100002;

void put_number(std::uint64_t number, std::string& to) {
    for (; number >= 0x80; number >>= 7) {
        to += static_cast<char>(number | 0x80);
    }
    to += static_cast<char>(number);
}

class Skeleton {
public:
    explicit Skeleton(FileReader reader) : reader_(std::move(reader)) {}

    core::Result<std::string> read(Message kind) {
        std::string text;
        if (copy_message(kind, reader_.size(), 0, text)) {
            return text;
        }
        return core::fail(error_);
    }

private:
    std::optional<std::uint64_t> number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const auto byte = reader_.byte();
            if (!byte) {
                return std::nullopt;
            }
            value |= std::uint64_t{*byte & 0x7fU} << shift;
            if (*byte < 0x80) {
                return value;
            }
        }
        return std::nullopt;
    }

    bool fail(std::string why) {
        error_ = std::move(why);
        return false;
    }

    bool copy_message(Message kind, std::uint64_t end, int level, std::string& to) {
        if (level > most_levels) {
            return fail(fmt::format("its messages are nested in more than {} levels", most_levels));
        }
        bool has_skipped = false;
        while (reader_.position() < end) {
            const auto tag = number();
            if (!tag || *tag >> 3 == 0 || !copy_field(kind, *tag, end, level, has_skipped, to)) {
                return false;
            }
            if (to.size() > most_skeleton_bytes) {
                return fail(fmt::format("it has more than {} MiB besides the raw data of its tensors",
                                        most_skeleton_bytes >> 20));
            }
        }
        return reader_.position() == end;
    }

    bool copy_field(Message kind, std::uint64_t tag, std::uint64_t end, int level, bool& has_skipped, std::string& to) {
        const std::uint64_t field = tag >> 3;
        const std::uint64_t wire = tag & 7;
        const bool own = kind == Message::tensor && (field == skipped_offset || field == skipped_bytes);
        if (wire == 2) {
            return copy_bytes(kind, tag, end, level, has_skipped, to);
        }
        if (wire == 0) {
            const auto value = number();
            if (value && !own) {
                put_number(tag, to);
                put_number(*value, to);
            }
            return value.has_value();
        }
        const std::uint64_t width = wire == 1 ? 8 : wire == 5 ? 4 : 0;
        if (width == 0 || end - reader_.position() < width) {
            return false;
        }
        put_number(tag, to);
        return reader_.append(width, to);
    }

    bool copy_bytes(Message kind, std::uint64_t tag, std::uint64_t end, int level, bool& has_skipped, std::string& to) {
        const std::uint64_t field = tag >> 3;
        const auto length = number();
        if (!length || reader_.position() > end || *length > end - reader_.position()) {
            return false;
        }
        if (kind == Message::tensor && (field == raw_data || field == float_data || field == double_data) &&
            *length > most_inline_bytes) {
            if (has_skipped) {
                return fail("a tensor has its data in several parts");
            }
            has_skipped = true;
            put_number(skipped_offset << 3, to);
            put_number(reader_.position(), to);
            put_number(skipped_bytes << 3, to);
            put_number(*length, to);
            reader_.skip(*length);
            return true;
        }
        const Message child = child_of(kind, field);
        put_number(tag, to);
        if (child == Message::other) {
            if (*length > most_skeleton_bytes) {
                return fail("it has a field of more than 64 MiB");
            }
            put_number(*length, to);
            return reader_.append(*length, to);
        }
        std::string content;
        content.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(*length, most_skeleton_bytes)));
        if (!copy_message(child, reader_.position() + *length, level + 1, content)) {
            return false;
        }
        put_number(content.size(), to);
        to += content;
        return true;
    }

    FileReader reader_;
    std::string error_;
};

template <class Proto>
core::Result<Proto> read_skeleton(const std::filesystem::path& path, Message kind, const char* what) {
    auto stream = core::open_regular_file(path, std::numeric_limits<std::uintmax_t>::max());
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (!stream || error) {
        return core::fail(stream ? std::string("its size is not known") : stream.error().message);
    }
    if (size == 0) {
        return core::fail("the file is empty");
    }
    auto text = Skeleton(FileReader(std::move(*stream), size)).read(kind);
    Proto message;
    auto result = onnx::ReadResult::malformed;
    if (text) {
        result = onnx::read_message(*text, message, memory_for_model(size) - text->size());
    }
    if (result == onnx::ReadResult::too_large) {
        return tl::unexpected(too_much_memory(""));
    }
    if (result == onnx::ReadResult::malformed) {
        const std::string why =
            text || text.error().message.empty() ? fmt::format("it is not {}, or cut off", what) : text.error().message;
        return core::fail(why, "such a file is a message of protobuf in its binary format");
    }
    return message;
}

}  // namespace

core::Result<onnx::ModelProto> read_model_skeleton(const std::filesystem::path& path) {
    return read_skeleton<onnx::ModelProto>(path, Message::model, "an ONNX model");
}

core::Result<onnx::TensorProto> read_tensor_skeleton(const std::filesystem::path& path) {
    return read_skeleton<onnx::TensorProto>(path, Message::tensor, "a tensor of ONNX");
}

}  // namespace dmlconform::interop
