// Tests of engine/cases/sources/file_source and npy_header: NumPy and raw files, and their allowed locations.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "engine/cases/case_file.h"
#include "engine/cases/npy_header.h"
#include "tests/cases/filling.h"
#include "tests/descriptor_builder.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::file_source_test {
namespace {

namespace fs = std::filesystem;

using cases::DataFolder;
using cases::parse_npy_header;
using core::DataType;

std::string little_endian(std::size_t value, std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes; ++i) {
        text += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
    }
    return text;
}

/// A .npy file with this dictionary, padded like NumPy's.
std::string npy(std::string dictionary, std::string_view data, unsigned version = 1) {
    const std::size_t length_bytes = version == 1 ? 2 : 4;
    while ((8 + length_bytes + dictionary.size() + 1) % 64 != 0) {
        dictionary += ' ';
    }
    dictionary += '\n';
    return "\x93NUMPY" + little_endian(version, 1) + little_endian(0, 1) +
           little_endian(dictionary.size(), length_bytes) + dictionary + std::string(data);
}

std::string dictionary(std::string_view type, std::string_view shape, std::string_view fortran = "False") {
    return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", type, fortran, shape);
}

TEST(NpyHeader, TypesAndShapes) {
    const std::pair<std::string_view, DataType> types[] = {
        {"<f2", DataType::float16}, {"<f4", DataType::float32}, {"<f8", DataType::float64}, {"|u1", DataType::uint8},
        {"<u2", DataType::uint16},  {"<u4", DataType::uint32},  {"<u8", DataType::uint64},  {"|i1", DataType::int8},
        {"<i2", DataType::int16},   {"<i4", DataType::int32},   {"<i8", DataType::int64},
    };
    for (const auto& [code, type] : types) {
        const auto header = parse_npy_header(npy(dictionary(code, "(2, 3)"), "data"));
        ASSERT_TRUE(header.has_value()) << code << ": " << header.error().message;
        EXPECT_EQ(header->type, type);
        EXPECT_EQ(header->shape, (std::vector<std::uint64_t>{2, 3}));
        EXPECT_FALSE(header->fortran_order);
        EXPECT_EQ(header->data_offset, 128u);
    }
    const std::pair<std::string_view, std::vector<std::uint64_t>> shapes[] = {
        {"()", {}},    {"(5,)", {5}}, {"(1, 2, 3, 4)", {1, 2, 3, 4}}, {"(18446744073709551615,)", {~std::uint64_t{0}}},
        {"(0,)", {0}},
    };
    for (const auto& [text, shape] : shapes) {
        const auto header = parse_npy_header(npy(dictionary("<f4", text), ""));
        ASSERT_TRUE(header.has_value()) << text << ": " << header.error().message;
        EXPECT_EQ(header->shape, shape);
    }
}

TEST(NpyHeader, VersionsAndSpellings) {
    for (const unsigned version : {1u, 2u, 3u}) {
        const auto header = parse_npy_header(npy(dictionary("<f4", "(2,)", "True"), "", version));
        ASSERT_TRUE(header.has_value()) << version;
        EXPECT_TRUE(header->fortran_order);
        EXPECT_EQ(header->data_offset % 64, 0u);
    }
    for (const char* text : {"{'shape': (2,), 'fortran_order': False, 'descr': '<f4'}",
                             "{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(2,)}",
                             "{ 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 2 , ) , }",
                             "{'descr':\t'<f4',\t'fortran_order':\tFalse,\r\n'shape':\t(\t2,)\t}\t"}) {
        EXPECT_TRUE(parse_npy_header(npy(text, "")).has_value()) << text;
    }
}

TEST(NpyHeader, Refused) {
    const std::pair<std::string, std::string_view> rows[] = {
        {"", "magic bytes"},
        {"PK\x03\x04", "magic bytes"},
        {"\x93NUMPX" + std::string(100, ' '), "magic bytes"},
        {npy(dictionary("<f4", "(2,)"), "", 4), "format version 4"},
        {std::string("\x93NUMPY\x01\x00", 8), "longer than the file"},
        {npy(dictionary("<f4", "(2,)"), "").substr(0, 100), "longer than the file"},
        {npy(dictionary(">f4", "(2,)"), ""), "the type '>f4', which no tensor has"},
        {npy(dictionary("<c8", "(2,)"), ""), "the type '<c8', which no tensor has"},
        {npy(dictionary("|b1", "(2,)"), ""), "the type '|b1'"},
        {npy(dictionary("", "(2,)"), ""), "the type ''"},
        {npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", ""), "structured type"},
        {npy("{'descr': '<f4', 'fortran_order': False}", ""), "malformed"},
        {npy("{'descr': '<f4', 'shape': (2,)}", ""), "malformed"},
        {npy("{'fortran_order': False, 'shape': (2,)}", ""), "malformed"},
        {npy("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}", ""), "malformed"},
        {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", ""), "malformed"},
        {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616,)}", ""), "malformed"},
        {npy("{'descr': '<f4', 'fortran_order': False, 'shape': 2}", ""), "malformed"},
        {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,}", ""), "malformed"},
        {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}", ""), "malformed"},
        {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'extra': 1}", ""), "malformed"},
        {npy("'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", ""), "malformed"},
        {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", ""), "malformed"},
        {npy("{'descr: '<f4'", ""), "malformed"},
        {npy("", ""), "malformed"},
        {npy("{'descr': '<f4', 'descr': '<i4', 'fortran_order': False, 'shape': (2,)}", ""),
         "has the key 'descr' twice"},
        {npy("{'descr': '<f4', 'shape': (2,), 'fortran_order': False, 'shape': (2,)}", ""),
         "has the key 'shape' twice"},
        {npy("{'descr': '<f4', 'fortran_order': True, 'fortran_order': False, 'shape': (2,)}", ""),
         "'fortran_order' twice"},
        {npy(dictionary("<f4", "(2,)") + " {}", ""), "goes on behind its end"},
        {npy(dictionary("<f4", "(2,)") + "x", ""), "goes on behind its end"},
        {npy(dictionary("<f4", "(2,)") + std::string(1, '\0'), ""), "goes on behind its end"},
        {npy("{'descr': 3, 'fortran_order': False, 'shape': (2,)}", ""), "malformed"},
        {npy("{'descr': '" + std::string(1000, 'x') + "', 'fortran_order': False, 'shape': (2,)}", ""), "xxx…'"},
        {npy(std::string(70000, ' '), "", 2), "longer than any real one"},
    };
    for (const auto& [bytes, message] : rows) {
        const auto header = parse_npy_header(bytes);
        EXPECT_FALSE(header.has_value()) << bytes;
        EXPECT_TRUE(header.has_value() || contains(header.error().message, message)) << bytes;
    }
}

TEST(NpyHeader, NoBeginningOfAGoodFileIsADanger) {
    const std::string good = npy(dictionary("<f4", "(2, 3)"), "");
    for (std::size_t length = 0; length < good.size(); ++length) {
        EXPECT_FALSE(parse_npy_header(good.substr(0, length)).has_value()) << length;
    }
    // Replaces each byte by every value.
    for (std::size_t i = 0; i < good.size(); ++i) {
        for (int value = 0; value < 256; ++value) {
            std::string bad = good;
            bad[i] = static_cast<char>(value);
            if (const auto header = parse_npy_header(bad)) {
                EXPECT_LE(header->data_offset, bad.size());
            }
        }
    }
}

std::string raw_floats(std::initializer_list<float> values) {
    std::string bytes(values.size() * sizeof(float), '\0');
    std::memcpy(bytes.data(), values.begin(), bytes.size());
    return bytes;
}

class FileSource : public testing::Test {
protected:
    TemporaryFolder folder_;
    DataFolder data_{folder_.path(), false};
};

TEST_F(FileSource, NumpyAndRawFiles) {
    folder_.write("x.npy", npy(dictionary("<f4", "(2, 2)"), raw_floats({1, 2, 3, 4})));
    folder_.write("data/y.bin", raw_floats({5, 6, 7, 8}));
    folder_.write("data/z.dat", raw_floats({9, 10, 11, 12}));
    folder_.write("row.npy", npy(dictionary("|i1", "(3,)", "True"), "\x01\x80\x7f"));
    const auto square = tensor(DataType::float32, {2, 2});
    EXPECT_EQ(elements(filled(R"({"file": "x.npy"})", square, data_)), "1 2 3 4");
    EXPECT_EQ(elements(filled(R"({"file": "data/y.bin"})", square, data_)), "5 6 7 8");
    EXPECT_EQ(elements(filled(R"({"file": "./data/../data/z.dat"})", square, data_)), "9 10 11 12");
    EXPECT_EQ(elements(filled(R"({"file": "x.npy"})", tensor(DataType::float32, {2, 2}, {1, 3}), data_)), "1 2 3 4");
    EXPECT_EQ(elements(filled(R"({"file": "row.npy"})", tensor(DataType::int8, {3}), data_)), "1 -128 127")
        << "one dimension is in both orders";
}

struct ErrorRow {
    const char* text;
    DataType type;
    core::Dimensions sizes;
    std::string problem;  // the text after "1:10 /file: "
    std::string hint;
};

TEST_F(FileSource, Refused) {
    folder_.write("x.npy", npy(dictionary("<f4", "(2, 2)"), raw_floats({1, 2, 3, 4})));
    folder_.write("short.npy", npy(dictionary("<f4", "(2, 2)"), raw_floats({1, 2, 3})));
    folder_.write("long.npy", npy(dictionary("<f4", "(2, 2)"), raw_floats({1, 2, 3, 4, 5})));
    folder_.write("fortran.npy", npy(dictionary("<f4", "(2, 2)", "True"), raw_floats({1, 2, 3, 4})));
    folder_.write("big.npy", npy(dictionary(">f4", "(2, 2)"), raw_floats({1, 2, 3, 4})));
    folder_.write("notreally.npy", "PK");
    folder_.write("y.bin", raw_floats({5, 6, 7}));
    folder_.write("empty.dat", "");
    folder_.write("x.txt", "1 2 3 4");
    folder_.write("sub/x.bin", raw_floats({1, 2, 3, 4}));
    const std::string outside = folder_.write("outside.bin", raw_floats({1, 2, 3, 4}));
    fs::create_directory(folder_.at("folder.bin"));
    fs::create_symlink("..", folder_.at("sub/up"));
    fs::create_symlink("../outside.bin", folder_.at("sub/link.bin"));
    const auto at = [&](const char* name) { return folder_.at(name); };
    const core::Dimensions square{2, 2};
    const ErrorRow rows[] = {
        {R"({"file": 5})", DataType::float32, square, R"("file" must be a path; this is a number)", ""},
        {R"({"file": "nothere.npy"})", DataType::float32, square,
         fmt::format("there is no file \"{}\"", at("nothere.npy")), "relative to the case file"},
        {R"({"file": ""})", DataType::float32, square, "\"" + folder_.path().generic_string(), ""},
        {R"({"file": "folder.bin"})", DataType::float32, square, "\"" + at("folder.bin") + "\" is a folder", ""},
        {R"({"file": "x.txt"})", DataType::float32, square, R"("x.txt" is of no known kind)", ".npy, or .bin and .dat"},
        {R"({"file": "x.npy"})", DataType::int32, square, at("x.npy") + " holds FLOAT32, the tensor is INT32", ""},
        {R"({"file": "x.npy"})", DataType::float32, {4}, at("x.npy") + " has the shape [2,2], the tensor [4]", ""},
        {R"({"file": "x.npy"})", DataType::float32, {1, 2, 2}, "", ""},
        {R"({"file": "short.npy"})", DataType::float32, square,
         at("short.npy") + " holds 12 bytes of elements; FLOAT32 [2,2] takes 16", ""},
        {R"({"file": "long.npy"})", DataType::float32, square, at("long.npy") + " holds 20 bytes of elements", ""},
        {R"({"file": "fortran.npy"})", DataType::float32, square, at("fortran.npy") + " is in Fortran order",
         "ascontiguousarray"},
        {R"({"file": "big.npy"})", DataType::float32, square, "the .npy file has the type '>f4'", "big-endian"},
        {R"({"file": "notreally.npy"})", DataType::float32, square, "this is not a .npy file", ""},
        {R"({"file": "y.bin"})", DataType::float32, square,
         at("y.bin") + " holds 12 bytes of elements; FLOAT32 [2,2] takes 16", ""},
        {R"({"file": "empty.dat"})", DataType::float32, square, at("empty.dat") + " holds 0 bytes", ""},
        {R"({"file": "y.bin"})", DataType::float64, {0xffffffff, 0xffffffff}, "", "takes more than"},
        {R"({"file": "y.bin\u0000.txt"})", DataType::float32, square, "there is a NUL in the path", ""},
    };
    for (const ErrorRow& row : rows) {
        SCOPED_TRACE(fmt::format("{} {}", core::name(row.type), row.text));
        core::TensorDesc desc;
        desc.data_type = row.type;
        desc.sizes = row.sizes;
        desc.total_bytes = core::minimum_total_bytes(desc).value_or(0);
        const auto read = initialiser(row.text, desc, data_);
        EXPECT_FALSE(read.value.has_value());
        EXPECT_TRUE(begin_with(read.problems, {"1:10 /file: " + row.problem}));
        EXPECT_TRUE(contains(all_text(read.problems), row.hint));
    }
    EXPECT_TRUE(
        begin_with(initialiser(R"({"file": "x.npy", "seed": 1})", tensor(DataType::float32, {2, 2}), data_).problems,
                   {R"(1:19 /seed: unknown key "seed" in a file initialiser)"}));

    // Different paths to files outside the folder.
    const DataFolder below{folder_.at("sub"), false};
    for (const std::string& way : {std::string("../outside.bin"), std::string("x/../../outside.bin"), outside,
                                   std::string("up/outside.bin"), std::string("link.bin")}) {
        const std::string text = fmt::format(R"({{"file": "{}"}})", way);
        const auto desc = tensor(DataType::float32, square);
        EXPECT_TRUE(begin_with(
            initialiser(text, desc, below).problems,
            {fmt::format("1:10 /file: \"{}\" leads out of the case file's folder [--allow-external-data", way)}));
        EXPECT_EQ(elements(filled(text, desc, {folder_.at("sub"), true})), "1 2 3 4") << way;
    }
    // A folder whose name merely starts with the allowed one is outside, too.
    folder_.write("sub2/x.bin", raw_floats({1, 2, 3, 4}));
    EXPECT_FALSE(
        initialiser(R"({"file": "../sub2/x.bin"})", tensor(DataType::float32, square), below).value.has_value());
    EXPECT_TRUE(initialiser(R"({"file": "../sub/x.bin"})", tensor(DataType::float32, square), below).value.has_value());
}

TEST_F(FileSource, AFileThatChangesLaterIsAnErrorThen) {
    const std::string path = folder_.write("x.bin", raw_floats({1, 2, 3, 4}));
    const auto desc = tensor(DataType::float32, {4});
    const auto read = initialiser(R"({"file": "x.bin"})", desc, data_);
    ASSERT_TRUE(read.value.has_value());
    core::Tensor data = blank_tensor(desc);
    EXPECT_TRUE(read.value->fill(data).has_value());
    folder_.write("x.bin", "12");
    const auto shorter = read.value->fill(data);
    ASSERT_FALSE(shorter.has_value());
    EXPECT_TRUE(contains(shorter.error().message, "cannot be read any more, or has become shorter"));
    fs::remove(path);
    EXPECT_FALSE(read.value->fill(data).has_value());
    EXPECT_FALSE(read.value->fill(data).has_value()) << "nothing was cached";
}

TEST_F(FileSource, PathsAreRelativeToTheCaseFile) {
    folder_.write("deep/data/x.bin", raw_floats({1, 2}));
    const std::string text = R"({"cases": [{"name": "a", "operator": "SLICE1", "desc": {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [2]}, "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2]},
        "InputWindowOffsets": [0], "InputWindowSizes": [2], "InputWindowStrides": [1]},
        "inputs": {"InputTensor": {"file": "data/x.bin"}}, "expected": {"OutputTensor": {"file": "../up.bin"}}}]})";
    folder_.write("deep/a.json", text);
    folder_.write("up.bin", raw_floats({1, 2}));
    const std::vector<std::string> paths{folder_.at("deep")};
    const auto refused = cases::load_suite(paths);
    ASSERT_EQ(refused.problems.size(), 1u) << all_text(refused.problems);
    EXPECT_EQ(refused.problems[0].pointer, "/cases/0/expected/OutputTensor/file");
    const auto allowed = cases::load_suite(paths, {.allow_external_data = true});
    EXPECT_TRUE(allowed.problems.empty()) << all_text(allowed.problems);
    EXPECT_EQ(allowed.cases.size(), 1u);
}

}  // namespace
}  // namespace dmlconform::tests::file_source_test
