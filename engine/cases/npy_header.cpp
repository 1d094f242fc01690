// Parses the header of .npy files, a Python dictionary with three keys of fixed forms.
#include "engine/cases/npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "engine/core/text_file.h"
#include "engine/core/utf8.h"

namespace dmlconform::cases {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

/// Little-endian type codes. Single bytes have no byte order, which NumPy writes as '|'.
constexpr std::array<std::pair<std::string_view, core::DataType>, 11> types{{
    {"<f4", core::DataType::float32},
    {"<f2", core::DataType::float16},
    {"<f8", core::DataType::float64},
    {"<u8", core::DataType::uint64},
    {"<u4", core::DataType::uint32},
    {"<u2", core::DataType::uint16},
    {"|u1", core::DataType::uint8},
    {"<i8", core::DataType::int64},
    {"<i4", core::DataType::int32},
    {"<i2", core::DataType::int16},
    {"|i1", core::DataType::int8},
}};

class DictionaryParser {
public:
    explicit DictionaryParser(std::string_view text) : text_(text) {}

    core::Result<NpyHeader> parse() {
        NpyHeader header;
        std::array<bool, 3> seen{};
        if (!take('{')) {
            return malformed();
        }
        while (!take('}')) {
            const auto key = string();
            if (!key || !take(':')) {
                return malformed();
            }
            const auto found = std::find(keys.begin(), keys.end(), *key);
            if (found == keys.end()) {
                return malformed();
            }
            if (std::exchange(seen[static_cast<std::size_t>(found - keys.begin())], true)) {
                return core::fail(fmt::format("the .npy header has the key '{}' twice", *key));
            }
            if (*key == "descr") {
                if (auto read = read_type(header); !read) {
                    return tl::unexpected(read.error());
                }
            } else if (!(*key == "shape" ? read_shape(header.shape) : read_boolean(header.fortran_order))) {
                return malformed();
            }
            if (!take(',') && peek() != '}') {
                return malformed();
            }
        }
        if (peek() != '\0' || !text_.empty()) {
            return core::fail("the .npy header goes on behind its end");
        }
        return seen[0] && seen[1] && seen[2] ? core::Result<NpyHeader>(header) : malformed();
    }

private:
    static constexpr std::array<std::string_view, 3> keys{"descr", "fortran_order", "shape"};

    static tl::unexpected<core::Error> malformed() { return core::fail("the .npy header is malformed"); }

    void skip_space() {
        // Characters that Python treats as white space.
        text_.remove_prefix(std::min(text_.find_first_not_of(" \t\r\n\f"), text_.size()));
    }
    char peek() {
        skip_space();
        return text_.empty() ? '\0' : text_.front();
    }
    bool take(char c) {
        if (peek() != c) {
            return false;
        }
        text_.remove_prefix(1);
        return true;
    }
    bool take(std::string_view word) {
        skip_space();
        if (!text_.starts_with(word)) {
            return false;
        }
        text_.remove_prefix(word.size());
        return true;
    }

    std::optional<std::string_view> string() {
        const char quote = peek();
        if (quote != '\'' && quote != '"') {
            return std::nullopt;
        }
        const std::size_t end = text_.find(quote, 1);
        if (end == std::string_view::npos) {
            return std::nullopt;
        }
        const std::string_view result = text_.substr(1, end - 1);
        text_.remove_prefix(end + 1);
        return result;
    }

    core::Result<void> read_type(NpyHeader& header) {
        if (peek() == '[') {
            return core::fail("the .npy file has a structured type; only plain numbers are read");
        }
        const auto code = string();
        if (!code) {
            return malformed();
        }
        for (const auto& [name, type] : types) {
            if (name == *code) {
                header.type = type;
                return {};
            }
        }
        return core::fail(fmt::format("the .npy file has the type '{}', which no tensor has", core::shortened(*code)),
                          code->starts_with(">") ? "big-endian files are not read: save it with .astype('<…')" : "");
    }

    bool read_boolean(bool& result) {
        if (take("True")) {
            result = true;
            return true;
        }
        result = false;
        return take("False");
    }

    bool read_shape(std::vector<std::uint64_t>& shape) {
        if (!take('(')) {
            return false;
        }
        while (!take(')')) {
            skip_space();
            std::uint64_t size = 0;
            const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
            if (error != std::errc() || shape.size() == 64) {
                return false;
            }
            text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
            shape.push_back(size);
            if (!take(',') && peek() != ')') {
                return false;
            }
        }
        return true;
    }

    std::string_view text_;
};

}  // namespace

std::string_view npy_type_code(core::DataType type) {
    for (const auto& [code, coded] : types) {
        if (coded == type) {
            return code;
        }
    }
    return {};
}

core::Result<NpyHeader> parse_npy_header(std::string_view start) {
    if (!start.starts_with(magic)) {
        return core::fail("this is not a .npy file: it does not begin with NumPy's magic bytes");
    }
    const auto byte = [&](std::size_t i) -> std::size_t {
        return i < start.size() ? static_cast<unsigned char>(start[i]) : 0;
    };
    const std::size_t version = byte(6);
    if (version < 1 || version > 3) {
        return core::fail(fmt::format("the .npy file has format version {}; versions 1 to 3 are read", version));
    }
    const std::size_t length_size = version == 1 ? 2 : 4;
    std::size_t length = 0;
    for (std::size_t i = 0; i < length_size; ++i) {
        length |= byte(8 + i) << (8 * i);
    }
    const std::size_t dictionary = 8 + length_size;
    if (length > longest_npy_header || dictionary + length > start.size()) {
        return core::fail("the .npy header is longer than the file, or longer than any real one");
    }
    auto header = DictionaryParser(start.substr(dictionary, length)).parse();
    if (header) {
        header->data_offset = dictionary + length;
    }
    return header;
}

core::Result<NpyHeader> read_npy_header(const std::filesystem::path& path) {
    auto stream = core::open_regular_file(path, std::numeric_limits<std::uintmax_t>::max());
    if (!stream) {
        return tl::unexpected(stream.error());
    }
    std::string start(longest_npy_header + 16, '\0');
    stream->read(start.data(), static_cast<std::streamsize>(start.size()));
    start.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream->gcount(), 0)));
    return parse_npy_header(start);
}

}  // namespace dmlconform::cases
