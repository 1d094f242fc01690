// A recursive decoder with limited depth.
#include "engine/worker/cbor.h"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "engine/core/float16.h"

namespace dmlconform::worker {
namespace {

using nlohmann::json;

constexpr int deepest = 16;
/// Limit; any descriptor has far fewer values, since a tensor is one value. A value can take one byte of CBOR and much
/// more memory.
constexpr std::size_t most_values = 1'000'000;

/// Does not leave this file: decode_cbor turns it into an error.
class Malformed : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The meaning of the upper three bits of an item's first byte.
enum class MajorType : std::uint8_t { natural, negative, bytes, text, array, map, tag, simple };

class Decoder {
public:
    explicit Decoder(std::span<const std::byte> bytes) : rest_(bytes) {}

    json document() {
        json value = item(0);
        if (!rest_.empty()) {
            throw Malformed(fmt::format("{} bytes follow the value", rest_.size()));
        }
        return value;
    }

private:
    std::span<const std::byte> take(std::uint64_t count) {
        if (count > rest_.size()) {
            throw Malformed("it ends in the middle of a value");
        }
        const auto taken = rest_.first(static_cast<std::size_t>(count));
        rest_ = rest_.subspan(taken.size());
        return taken;
    }

    std::uint64_t big_endian(std::size_t size) {
        std::uint64_t value = 0;
        for (const std::byte byte : take(size)) {
            value = value << 8 | std::to_integer<std::uint64_t>(byte);
        }
        return value;
    }

    /// The number that the lower five bits of an item's first byte encode.
    std::uint64_t argument(unsigned low) {
        if (low < 24) {
            return low;
        }
        if (low > 27) {
            throw Malformed("lengths must be definite");
        }
        return big_endian(std::size_t{1} << (low - 24));
    }

    std::string text(std::uint64_t size) {
        const auto bytes = take(size);
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }

    json item(int depth) {
        if (depth > deepest) {
            throw Malformed(fmt::format("more than {} levels are nested", deepest));
        }
        if (++values_ > most_values) {
            throw Malformed(fmt::format("there are more than {} values", most_values));
        }
        const auto first = std::to_integer<unsigned>(take(1)[0]);
        const auto type = static_cast<MajorType>(first >> 5);
        if (type == MajorType::simple) {
            return simple(first & 31u);
        }
        const std::uint64_t number = argument(first & 31u);
        switch (type) {
            case MajorType::natural:
                return number;
            case MajorType::negative:
                return negative(number);
            case MajorType::bytes:
                return binary(number);
            case MajorType::text:
                return text(number);
            case MajorType::array:
                return array(number, depth);
            case MajorType::map:
                return map(number, depth);
            default:
                throw Malformed("tags are not used");
        }
    }

    static json negative(std::uint64_t number) {
        if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
            throw Malformed("a negative integer does not fit 64 bits");
        }
        return -1 - static_cast<std::int64_t>(number);
    }

    json binary(std::uint64_t size) {
        const auto bytes = take(size);
        const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
        return json::binary(std::vector<std::uint8_t>(data, data + bytes.size()));
    }

    json array(std::uint64_t size, int depth) {
        json list = json::array();
        for (std::uint64_t i = 0; i < size; ++i) {
            list.push_back(item(depth + 1));
        }
        return list;
    }

    json map(std::uint64_t size, int depth) {
        json object = json::object();
        for (std::uint64_t i = 0; i < size; ++i) {
            const auto first = std::to_integer<unsigned>(take(1)[0]);
            if (static_cast<MajorType>(first >> 5) != MajorType::text) {
                throw Malformed("a map's key is not a text");
            }
            std::string key = text(argument(first & 31u));
            if (object.contains(key)) {
                throw Malformed("a map has a key twice");
            }
            object[std::move(key)] = item(depth + 1);
        }
        return object;
    }

    json simple(unsigned low) {
        switch (low) {
            case 20:
                return false;
            case 21:
                return true;
            case 22:
                return nullptr;
            case 25:
                return core::float16_bits_to_double(static_cast<std::uint16_t>(big_endian(2)));
            case 26:
                return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(big_endian(4))));
            case 27:
                return std::bit_cast<double>(big_endian(8));
            default:
                throw Malformed("a simple value is not false, true, null or a number");
        }
    }

    std::span<const std::byte> rest_;
    std::size_t values_ = 0;
};

}  // namespace

core::Result<json> decode_cbor(std::span<const std::byte> bytes) {
    try {
        return Decoder(bytes).document();
    } catch (const Malformed& problem) {
        return core::fail(problem.what());
    }
}

}  // namespace dmlconform::worker
