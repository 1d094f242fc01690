// Tests changes of cases: what fields become, and what cannot be changed in this way.
#include "engine/expectations/field_changes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/expectations/case_of_members.h"

namespace dmlconform::expectations::field_changes_test {
namespace {

const char* const resampled = R"("operator": "RESAMPLE1",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [2, 3] },
              "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2, 3] }, "InterpolationMode": "LINEAR",
              "Scales": [0.5, 2], "InputPixelOffsets": [0.25, 0], "OutputPixelOffsets": [-0.5, 1] },
    "inputs": { "InputTensor": { "value": 1 } }, "expected": { "OutputTensor": { "value": 1 } })";

const char* const convolved = R"("operator": "CONVOLUTION",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 2, 2] },
              "FilterTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 1, 1] },
              "BiasTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 1, 1] },
              "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 2, 2] }, "Mode": "CROSS_CORRELATION",
              "Direction": "FORWARD", "Strides": [1, 1], "Dilations": [1, 1], "StartPadding": [0, 0],
              "EndPadding": [0, 0], "OutputPadding": [0, 0], "GroupCount": 1 },
    "inputs": { "InputTensor": { "value": 1 }, "FilterTensor": { "value": 1 }, "BiasTensor": { "value": 1 } })";

/// The message of the first problem; empty if there is none.
std::string read(const char* text, const cases::Case& subject, std::vector<FieldChange>& changes) {
    const auto document = cases::parse_json(text);
    cases::ProblemSink problems("c.json", text);
    const operators::OperatorSchema* const schema = subject.descriptor->schema;
    auto found = read_field_changes(*document, {&schema, 1}, problems);
    changes = found.value_or(std::vector<FieldChange>());
    return found ? "" : to_string(problems.take(*document).at(0));
}

std::optional<cases::Case> changed_by(const char* text, const cases::Case& subject) {
    std::vector<FieldChange> changes;
    EXPECT_EQ(read(text, subject, changes), "");
    return changed(subject, changes);
}

TEST(FieldChanges, AttributesMayBecomeEachOther) {
    const auto other =
        changed_by(R"({ "InputPixelOffsets": "OutputPixelOffsets", "OutputPixelOffsets": "InputPixelOffsets" })",
                   case_of(resampled));
    ASSERT_TRUE(other);
    EXPECT_EQ(other->descriptor->get<std::vector<float>>("InputPixelOffsets"), std::vector<float>({-0.5F, 1}));
    EXPECT_EQ(other->descriptor->get<std::vector<float>>("OutputPixelOffsets"), std::vector<float>({0.25F, 0}));
    EXPECT_FALSE(other->expected.at(0)) << "the reference has to say";
}

TEST(FieldChanges, AttributesMayBecomeNumbersAndEnumerators) {
    const auto other = changed_by(R"({ "Scales": 4, "InterpolationMode": "NEAREST_NEIGHBOR" })", case_of(resampled));
    ASSERT_TRUE(other);
    EXPECT_EQ(other->descriptor->get<std::vector<float>>("Scales"), std::vector<float>({4, 4}));
    EXPECT_EQ(other->descriptor->uint("InterpolationMode"), 0U);
}

TEST(FieldChanges, EntriesMayBecomeThoseOfAnArray) {
    const auto other =
        changed_by(R"({ "Scales": "Scales[1]", "OutputPixelOffsets": "InputPixelOffsets[0]" })", case_of(resampled));
    ASSERT_TRUE(other);
    EXPECT_EQ(other->descriptor->get<std::vector<float>>("Scales"), std::vector<float>({2, 2}));
    EXPECT_EQ(other->descriptor->get<std::vector<float>>("OutputPixelOffsets"), std::vector<float>({0.25F, 0.25F}));
    EXPECT_FALSE(changed_by(R"({ "Scales": "Scales[2]" })", case_of(resampled))) << "there are two";
}

TEST(FieldChanges, SingleEntriesMayBecomeNumbers) {
    const auto other = changed_by(R"({ "Scales[1]": 4 })", case_of(resampled));
    ASSERT_TRUE(other);
    EXPECT_EQ(other->descriptor->get<std::vector<float>>("Scales"), std::vector<float>({0.5, 4}));
    EXPECT_FALSE(changed_by(R"({ "Scales[2]": 4 })", case_of(resampled))) << "there are two";
    EXPECT_FALSE(changed_by(R"({ "StartPadding[1]": -1 })", case_of(convolved)));
}

/// The height of tensors of three dimensions is 1, and the width is the second entry.
TEST(FieldChanges, ConvolutionsMayHaveOutputsOfAnySize) {
    const auto subject = case_of(R"("operator": "QUANTIZED_LINEAR_CONVOLUTION",
        "desc": { "InputTensor": { "DataType": "INT8", "Sizes": [1, 1, 3] },
                  "InputScaleTensor": { "DataType": "FLOAT32", "Sizes": [1] },
                  "FilterTensor": { "DataType": "INT8", "Sizes": [1, 1, 2] },
                  "FilterScaleTensor": { "DataType": "FLOAT32", "Sizes": [1] },
                  "OutputScaleTensor": { "DataType": "FLOAT32", "Sizes": [1] },
                  "OutputTensor": { "DataType": "INT8", "Sizes": [1, 1, 2] }, "Strides": [2, 1], "Dilations": [3, 1],
                  "StartPadding": [0, 0], "EndPadding": [0, 0], "GroupCount": 1 },
        "inputs": { "InputTensor": { "value": 1 }, "InputScaleTensor": { "value": 1 }, "FilterTensor": { "value": 1 },
                    "FilterScaleTensor": { "value": 1 }, "OutputScaleTensor": { "value": 1 } })");
    EXPECT_TRUE(changed_by(R"({ "Strides": "Strides[0]" })", subject));
    EXPECT_TRUE(changed_by(R"({ "Dilations": "Dilations[0]" })", subject)) << "a filter that does not fit";
    EXPECT_FALSE(changed_by(R"({ "Strides": 0 })", subject));
    EXPECT_FALSE(changed_by(R"({ "Dilations": 3, "Strides[1]": 0 })", subject)) << "nor divided by 0";
    EXPECT_FALSE(changed_by(R"({ "StartPadding": 1 })", subject)) << "heights have no padding";
}

TEST(FieldChanges, TensorsMayBecomeAbsent) {
    const auto other = changed_by(R"({ "BiasTensor": null })", case_of(convolved));
    ASSERT_TRUE(other);
    EXPECT_EQ(other->descriptor->tensor("BiasTensor"), nullptr);
}

TEST(FieldChanges, ElementsOfInputsMayBecomeLarger) {
    const std::pair<const char*, std::vector<float>> rows[] = {
        {"-1", {-1, -1, 2}},
        {"-1e300", {-std::numeric_limits<float>::max(), -std::numeric_limits<float>::max(), 2}},
    };
    for (const auto& [bound, elements] : rows) {
        const auto other = changed_by(fmt::format(R"({{ "InputTensor": {{ "atLeast": {} }} }})", bound).c_str(),
                                      case_of(R"("operator": "ACTIVATION_RELU",
            "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [3], "Strides": [2] },
                      "OutputTensor": { "DataType": "FLOAT32", "Sizes": [3] } },
            "inputs": { "InputTensor": ["-inf", "nan", 2] })"));
        ASSERT_TRUE(other);
        core::Tensor tensor(*other->descriptor->tensor("InputTensor"));
        ASSERT_TRUE(other->inputs.at(0)->fill(tensor));
        for (std::size_t i = 0; i < elements.size(); ++i) {
            EXPECT_EQ(tensor.as<float>()[2 * i], elements[i]) << bound << " at " << i;
        }
    }
}

TEST(FieldChanges, IllegalCasesAreNone) {
    EXPECT_FALSE(changed_by(R"({ "Strides": 0 })", case_of(convolved)));
    EXPECT_FALSE(changed_by(R"({ "GroupCount": 1.5 })", case_of(convolved)));
    EXPECT_FALSE(changed_by(R"({ "GroupCount": -1 })", case_of(convolved)));
    const auto other = changed_by(R"({ "EndPadding": "Strides", "Strides": 2 })", case_of(convolved));
    ASSERT_TRUE(other);
    EXPECT_EQ(other->descriptor->uints("EndPadding"), std::vector<std::uint32_t>({1, 1})) << "as it was";
}

TEST(FieldChanges, WhatCannotBeChanged) {
    for (const char* text :
         {R"({ "Scales": null })", R"({ "Scales": "InputTensor" })", R"({ "Scales": "InterpolationMode" })",
          R"({ "InterpolationMode": "CUBIC" })", R"({ "Size": 1 })", R"({ "InputTensor": null })",
          R"({ "InputTensor": 1 })", R"({ "InputTensor": { "atMost": 1 } })", R"({ "OutputTensor": { "atLeast": 1 } })",
          R"({ "InputTensor": { "atLeast": 1, "atMost": 2 } })", R"({ "Scales": true })",
          R"({ "Scales": "Scales[8]" })", R"({ "Scales[8]": 1 })", R"({ "InterpolationMode[0]": 1 })",
          R"({ "Scales[1]": "Scales" })", R"({ "InputTensor[0]": { "atLeast": 1 } })",
          R"({ "Scales": "InputTensor[0]" })", R"({ "InterpolationMode": "InterpolationMode[0]" })"}) {
        std::vector<FieldChange> changes;
        EXPECT_NE(read(text, case_of(resampled), changes).find("that can become this"), std::string::npos) << text;
    }
    std::vector<FieldChange> changes;
    EXPECT_NE(read("{}", case_of(resampled), changes).find("an object with what fields become"), std::string::npos);
}

}  // namespace
}  // namespace dmlconform::expectations::field_changes_test
