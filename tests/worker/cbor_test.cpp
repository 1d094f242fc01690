// Tests of engine/worker/cbor: messages that nlohmann-json encodes are read, and hostile messages do no harm.
#include "engine/worker/cbor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace dmlconform::worker::cbor_test {
namespace {

using nlohmann::json;

core::Result<json> decode(const std::vector<std::uint8_t>& bytes) {
    return decode_cbor(std::as_bytes(std::span(bytes)));
}

std::vector<std::uint8_t> from_hex(std::string_view text) {
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        bytes.push_back(static_cast<std::uint8_t>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
    }
    return bytes;
}

TEST(Cbor, ReadsWhatIsWritten) {
    const json values[] = {
        nullptr,
        true,
        false,
        0,
        23,
        24,
        255,
        256,
        65536,
        std::uint64_t{1} << 32,
        std::numeric_limits<std::uint64_t>::max(),
        -1,
        -24,
        -25,
        -70000,
        std::numeric_limits<std::int64_t>::min(),
        0.5,
        1e300,
        0.1,
        std::numeric_limits<double>::infinity(),
        "",
        "text with ü",
        std::string(70000, 'x'),
        json::array(),
        json::object(),
        json::binary({}),
        json::binary({0, 1, 255}),
        json::binary(std::vector<std::uint8_t>(70000, 7)),
        {1, "two", {3, {{"four", 5}}}},
        {{"a", {{"b", {{"c", nullptr}}}}}, {"d", {1, 2, 3}}},
    };
    for (const json& value : values) {
        const auto read = decode(json::to_cbor(value));
        ASSERT_TRUE(read.has_value()) << read.error().message;
        EXPECT_EQ(*read, value);
        EXPECT_EQ(read->is_number_float(), value.is_number_float());
    }
    EXPECT_TRUE(std::isnan(decode(json::to_cbor(std::nan(""))).value().get<double>()));
}

/// Examples from RFC 8949, appendix A, some in encodings that only other programs use.
TEST(Cbor, ReadsWhatOthersWrite) {
    const std::pair<const char*, json> rows[] = {
        {"1b000000e8d4a51000", 1000000000000},
        {"3bffffffffffffffff", nullptr},
        {"f90000", 0.0},
        {"f97bff", 65504.0},
        {"f90001", 5.960464477539063e-8},
        {"f9c400", -4.0},
        {"fa47c35000", 100000.0},
        {"fbc010666666666666", -4.1},
        {"f97c00", INFINITY},
        {"1818", 24},
        {"190018", 24},
        {"5a0000000101", json::binary({1})},
    };
    for (const auto& [hex, value] : rows) {
        SCOPED_TRACE(hex);
        const auto read = decode(from_hex(hex));
        if (value.is_null()) {
            EXPECT_FALSE(read.has_value()) << "-2^64 fits no integer";
        } else {
            ASSERT_TRUE(read.has_value()) << read.error().message;
            EXPECT_EQ(*read, value);
        }
    }
}

TEST(Cbor, Garbage) {
    const std::pair<std::string, const char*> rows[] = {
        {"", "ends in the middle"},
        {"18", "ends in the middle"},
        {"1b00", "ends in the middle"},
        {"0000", "1 bytes follow"},
        {"62ff", "ends in the middle"},
        {"7bffffffffffffffff00", "ends in the middle"},
        {"5bffffffffffffffff00", "ends in the middle"},
        {"9bffffffffffffffff00", "ends in the middle"},
        {"bbffffffffffffffff6161", "ends in the middle"},
        {"8201", "ends in the middle"},
        {"a16161", "ends in the middle"},
        {"a10000", "key is not a text"},
        {"a2616100616100", "key twice"},
        {"c000", "tags"},
        {"d82a00", "tags"},
        {"1c", "definite"},
        {"1f", "definite"},
        {"5f4101ff", "definite"},
        {"7f6161ff", "definite"},
        {"9f01ff", "definite"},
        {"bf616101ff", "definite"},
        {"f7", "simple value"},
        {"f818", "simple value"},
        {"ff", "simple value"},
        {"fa0000", "ends in the middle"},
    };
    for (const auto& [hex, message] : rows) {
        SCOPED_TRACE(hex);
        const auto read = decode(from_hex(hex));
        ASSERT_FALSE(read.has_value());
        EXPECT_NE(read.error().message.find(message), std::string::npos) << read.error().message;
    }
}

TEST(Cbor, NestingIsLimited) {
    for (const int opening : {0x81, 0x9f, 0x5f, 0x7f, 0xc0}) {
        EXPECT_FALSE(decode(std::vector<std::uint8_t>(10'000'000, static_cast<std::uint8_t>(opening))).has_value())
            << opening;
    }
    std::vector<std::uint8_t> maps;
    for (int i = 0; i < 1'000'000; ++i) {
        maps.insert(maps.end(), {0xa1, 0x60});
    }
    EXPECT_FALSE(decode(maps).has_value());
    std::vector<std::uint8_t> just_right(16, 0x81);
    just_right.push_back(0);
    EXPECT_TRUE(decode(just_right).has_value());
    just_right.insert(just_right.begin(), 0x81);
    EXPECT_FALSE(decode(just_right).has_value());
}

TEST(Cbor, TheNumberOfValuesIsLimited) {
    std::vector<std::uint8_t> many{0x9a, 0x00, 0x0f, 0x42, 0x3f};  // announces 999,999 elements
    many.resize(5 + 999'999);
    EXPECT_TRUE(decode(many).has_value());
    many[4] = 0x40;
    many.push_back(0);
    const auto read = decode(many);
    ASSERT_FALSE(read.has_value());
    EXPECT_NE(read.error().message.find("values"), std::string::npos);
}

}  // namespace
}  // namespace dmlconform::worker::cbor_test
