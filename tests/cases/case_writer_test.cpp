// Tests that written cases are read back unchanged: the whole corpus, and descriptors of every operator.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/cases/case_file.h"
#include "engine/cases/case_writer.h"
#include "engine/cases/descriptor_reader.h"
#include "engine/cases/element_reader.h"
#include "engine/cases/element_writer.h"
#include "engine/cases/json_text.h"
#include "engine/cases/npy_header.h"
#include "engine/cases/npy_writer.h"
#include "tests/cases/reading.h"
#include "tests/random_descriptor.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests::case_writer_test {
namespace {

using cases::Case;

/// Everything about a case except its position in a file, as text.
std::string text_of(const Case& subject) {
    std::string text;
    for (const std::string& line : to_lines(*subject.descriptor)) {
        text += line + "\n";
    }
    text += core::to_string(subject.min_feature_level) + " " + subject.description + "\n";
    text += subject.expect_error ? core::to_string(*subject.expect_error) : "no error";
    for (const std::string& tag : subject.tags) {
        text += " " + tag;
    }
    for (const auto& tolerance : subject.tolerances) {
        text += "\n" + (tolerance ? core::to_string(*tolerance) : "default");
    }
    return text;
}

std::vector<std::byte> elements_of(const core::TensorDesc& desc, const std::optional<cases::Initialiser>& data) {
    if (!data) {
        return {};
    }
    core::Tensor tensor(desc);
    EXPECT_TRUE(data->fill(tensor));
    const core::Tensor packed = core::packed_copy(tensor);
    const auto count = *core::element_count(desc.sizes) * core::bytes_of(desc.data_type);
    const auto bytes = packed.buffer.bytes().first(static_cast<std::size_t>(count));
    return {bytes.begin(), bytes.end()};
}

void expect_equal_data(const std::vector<operators::TensorSlot>& slots,
                       const std::vector<std::optional<cases::Initialiser>>& a,
                       const std::vector<std::optional<cases::Initialiser>>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
        ASSERT_EQ(a[i].has_value(), b[i].has_value()) << slots[i].name;
        if (slots[i].desc != nullptr) {
            ASSERT_EQ(elements_of(*slots[i].desc, a[i]), elements_of(*slots[i].desc, b[i])) << slots[i].name;
        }
    }
}

bool small(const Case& subject) {
    std::uint64_t elements = 0;
    for (const auto& slots : {subject.descriptor->inputs(), subject.descriptor->outputs()}) {
        for (const operators::TensorSlot& slot : slots) {
            elements += slot.desc == nullptr ? 0 : core::element_count(slot.desc->sizes).value_or(1 << 20);
        }
    }
    return elements < 2000 || subject.expect_error;
}

TEST(CaseWriter, TheCorpusIsReadAsItIsWritten) {
    const cases::Suite suite = cases::load_suite(std::vector<std::string>{DMLCONFORM_CASES});
    ASSERT_TRUE(suite.problems.empty());
    std::size_t written = 0;
    for (std::size_t i = 0; i < suite.cases.size(); i += 3) {
        const Case& subject = suite.cases[i];
        if (!small(subject)) {
            continue;
        }
        SCOPED_TRACE(subject.id);
        const auto object = cases::case_to_json(subject);
        ASSERT_TRUE(object.has_value()) << object.error().message;
        const std::string text = cases::case_file_text("", {&*object, 1});
        const cases::Suite read = cases::read_case_file(cases::file_stem(subject.id) + ".json", text);
        ASSERT_TRUE(read.problems.empty()) << all_text(read.problems) << text;
        ASSERT_EQ(read.cases.size(), 1u);
        ASSERT_EQ(text_of(read.cases[0]), text_of(subject)) << text;
        expect_equal_data(subject.descriptor->inputs(), read.cases[0].inputs, subject.inputs);
        expect_equal_data(subject.descriptor->outputs(), read.cases[0].expected, subject.expected);
        ++written;
    }
    EXPECT_GT(written, 500u);
}

TEST(CaseWriter, DescriptorsOfEveryOperatorAreReadAsTheyAreWritten) {
    RandomDescriptors random(7);
    for (const std::string& name : operators::operator_names()) {
        const operators::OperatorSchema& schema = *operators::find_operator(name);
        for (int i = 0; i < 10; ++i) {
            const operators::Descriptor written = random.make(schema);
            const std::string text = cases::json_text(cases::desc_to_json(written));
            SCOPED_TRACE(fmt::format("{} {}", name, text));
            const auto read = reading(text, [&](const cases::JsonValue& value, cases::ProblemSink& problems) {
                return cases::read_descriptor(value, schema, problems);
            });
            ASSERT_TRUE(read.value.has_value()) << all_text(read.problems);
            ASSERT_EQ(to_lines(*read.value), to_lines(written));
        }
    }
}

TEST(CaseWriter, EveryKindOfBitsIsReadAsItIsWritten) {
    using core::DataType;
    const std::vector<std::pair<DataType, std::uint64_t>> elements{{DataType::float32, 0x3dcccccd},
                                                                   {DataType::float32, 0x80000000},
                                                                   {DataType::float32, 0},
                                                                   {DataType::float32, 1},
                                                                   {DataType::float32, 0x7f7fffff},
                                                                   {DataType::float32, 0xff800000},
                                                                   {DataType::float32, 0x7fc00000},
                                                                   {DataType::float32, 0x7fc00001},
                                                                   {DataType::float32, 0xffc00000},
                                                                   {DataType::float16, 0x8000},
                                                                   {DataType::float16, 0x7bff},
                                                                   {DataType::float16, 0x0001},
                                                                   {DataType::float16, 0x7e01},
                                                                   {DataType::float64, 0x3ff0000000000001},
                                                                   {DataType::float64, 1},
                                                                   {DataType::int8, 0x80},
                                                                   {DataType::uint64, ~std::uint64_t{0}},
                                                                   {DataType::int64, std::uint64_t{1} << 63}};
    for (const auto& [type, bits] : elements) {
        const std::string text = cases::json_text(cases::element_json(type, bits));
        const auto read = cases::read_element(json(text), type);
        ASSERT_TRUE(read.has_value()) << text << read.error().message;
        EXPECT_EQ(*read, bits) << text;
    }
    EXPECT_EQ(cases::element_json(DataType::float32, 0x3dcccccd).dump(), "0.1");
    EXPECT_EQ(cases::element_json(DataType::float32, 0x3f800000).dump(), "1");
    EXPECT_EQ(cases::element_json(DataType::float32, 0x80000000).dump(), "-0.0");
    EXPECT_EQ(cases::element_json(DataType::float32, 0x7fc00001).dump(), "\"0x7fc00001\"");
}

TEST(CaseWriter, NamesAreThoseOfCaseFiles) {
    EXPECT_EQ(cases::file_stem("slice1/basic[T=FLOAT16,axis=2]"), "slice1");
    EXPECT_EQ(cases::case_name("slice1/basic[T=FLOAT16,axis=2]"), "basic-T-FLOAT16-axis-2");
    EXPECT_EQ(cases::case_name("a/b/c"), "b/c");
    EXPECT_EQ(cases::case_name("a/[]"), "case");
}

TEST(CaseWriter, LargeTensorsAreHandedToTheStore) {
    const std::string text = R"({ "cases": [ { "name": "a", "operator": "SLICE1",
        "desc": { "InputTensor": { "DataType": "INT8", "Sizes": [9] }, "OutputTensor": { "DataType": "INT8", "Sizes": [9] },
                  "InputWindowOffsets": [0], "InputWindowSizes": [9], "InputWindowStrides": [1] },
        "inputs": { "InputTensor": { "start": 1, "step": 1 } } } ] })";
    const cases::Suite suite = cases::read_case_file("x.json", text);
    ASSERT_EQ(suite.cases.size(), 1u);
    std::string stored;
    const cases::WriteOptions options{8, [&](std::string_view what, const std::string& name, const core::Tensor& data) {
                                          stored = fmt::format("{}/{} {}", what, name, core::to_string(data.desc));
                                          return core::Result<std::string>("inputs/x.npy");
                                      }};
    const auto object = cases::case_to_json(suite.cases[0], options);
    ASSERT_TRUE(object.has_value());
    EXPECT_EQ(stored, "inputs/InputTensor INT8 [9]");
    EXPECT_EQ((*object)["inputs"]["InputTensor"]["file"], "inputs/x.npy");
}

TEST(NpyWriter, WritesWhatTheReaderReads) {
    for (const auto type : {core::DataType::float16, core::DataType::float32, core::DataType::int8,
                            core::DataType::uint64, core::DataType::float64}) {
        core::TensorDesc desc = core::TensorDesc::packed(type, {2, 3});
        desc.strides = core::Dimensions{8, 2};
        desc.total_bytes = *core::minimum_total_bytes(desc);
        core::Tensor tensor = blank_tensor(desc);
        for (std::uint64_t i = 0; i < 6; ++i) {
            core::store_element(tensor.buffer.bytes(), type, i / 3 * 8 + i % 3 * 2, i + 1);
        }
        const std::string file = cases::npy_file(tensor);
        const auto header = cases::parse_npy_header(file);
        ASSERT_TRUE(header.has_value()) << header.error().message;
        EXPECT_EQ(header->type, type);
        EXPECT_EQ(header->shape, (std::vector<std::uint64_t>{2, 3}));
        EXPECT_EQ(header->data_offset % 64, 0u);
        ASSERT_EQ(file.size(), header->data_offset + 6 * core::bytes_of(type));
        for (std::size_t i = 0; i < 6; ++i) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, &file[header->data_offset + i * core::bytes_of(type)], core::bytes_of(type));
            EXPECT_EQ(bits, i + 1);
        }
    }
}

/// NumPy has no 4-bit type, so raw elements are written; the file's extension tells the reader.
TEST(NpyWriter, ElementsOfFourBitsAreRaw) {
    core::TensorDesc desc = core::TensorDesc::packed(core::DataType::uint4, {3});
    desc.strides = core::Dimensions{2};
    desc.total_bytes = *core::minimum_total_bytes(desc);
    core::Tensor tensor = blank_tensor(desc);
    for (std::uint64_t i = 0; i < 3; ++i) {
        core::store_element(tensor.buffer.bytes(), desc.data_type, 2 * i, i + 1);
    }
    EXPECT_EQ(cases::data_file_ending(core::DataType::uint4), ".bin");
    EXPECT_EQ(cases::data_file_ending(core::DataType::uint8), ".npy");
    EXPECT_EQ(cases::data_file(tensor), "\x21\x03");
    EXPECT_EQ(cases::data_file_bytes(desc), 2u);
}

/// With a stride of 0, a single element in memory can stand for very many.
TEST(CaseWriter, WhatStridesOfZeroMakeHugeIsNotWritten) {
    const cases::Suite suite = cases::read_case_file("x.json", R"({ "cases": [{ "name": "a", "operator": "SLICE1",
        "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [500000000], "Strides": [0] },
                  "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1] },
                  "InputWindowOffsets": [0], "InputWindowSizes": [1], "InputWindowStrides": [1] },
        "inputs": { "InputTensor": { "value": 1 } } }] })");
    ASSERT_EQ(suite.cases.size(), 1u);
    const auto written = cases::case_to_json(suite.cases[0]);
    ASSERT_FALSE(written.has_value());
    EXPECT_THAT(written.error().message, testing::HasSubstr("InputTensor takes 2000000000 bytes"));
}

TEST(JsonText, BreaksWhatDoesNotFitALine) {
    nlohmann::ordered_json numbers = nlohmann::ordered_json::array();
    for (int i = 0; i < 60; ++i) {
        numbers.push_back(100 + i);
    }
    const nlohmann::ordered_json value{
        {"short", {1, 2}}, {"long", numbers}, {"empty", nlohmann::ordered_json::array()}};
    const std::string text = cases::json_text(value);
    EXPECT_EQ(nlohmann::ordered_json::parse(text), value);
    std::size_t longest = 0;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        longest = std::max(longest, end - start);
        start = end + 1;
    }
    EXPECT_LE(longest, 120u);
    EXPECT_EQ(cases::json_text(nlohmann::ordered_json{{"a", 1}, {"b", {1, 2}}}), R"({ "a": 1, "b": [1, 2] })");
}

}  // namespace
}  // namespace dmlconform::tests::case_writer_test
