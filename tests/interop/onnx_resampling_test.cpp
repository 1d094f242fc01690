// Tests of engine/interop/onnx_resampling: the conversion of Resize, Upsample, RoiAlign and MaxRoiPool.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "engine/cpu/reference.h"

#include "tests/interop/onnx_node_tests.h"

namespace dmlconform::tests::onnx_resampling_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

onnx::TensorProto zeros(std::vector<std::int64_t> dims) {
    std::size_t count = 1;
    for (const std::int64_t size : dims) {
        count *= static_cast<std::size_t>(size);
    }
    return floats(std::move(dims), std::vector<float>(count));
}

onnx::TensorProto nothing() {
    return {};
}

onnx::AttributeProto numbers(const std::string& name, const std::vector<float>& values) {
    onnx::AttributeProto attribute;
    attribute.name.set(name);
    attribute.floats.append(values.begin(), values.end());
    return attribute;
}

/// A row that is resized by this scale.
NodeTest resize(std::int64_t in, std::int64_t out, float scale, std::vector<onnx::AttributeProto> attributes) {
    return {"Resize", {zeros({1, in}), nothing(), floats({2}, {1, scale})}, {zeros({1, out})}, std::move(attributes)};
}

const std::vector<float>& list(const cases::Case& subject, const char* field) {
    return subject.descriptor->get<std::vector<float>>(field);
}

struct Transformation {
    const char* mode;
    float scale;
    float input_offset;
    float output_offset;
};

/// From 4 elements to 7 by a scale of 1.75; the formulas are those of ONNX's Resize.
TEST(OnnxResampling, CoordinateTransformations) {
    for (const Transformation& row :
         {Transformation{"half_pixel", 1.75F, 0.5F, -0.5F}, Transformation{"pytorch_half_pixel", 1.75F, 0.5F, -0.5F},
          Transformation{"align_corners", 2, 0, 0}, Transformation{"asymmetric", 1.75F, 0, 0},
          Transformation{"tf_half_pixel_for_nn", 1.75F, 0, -0.5F},
          Transformation{"half_pixel_symmetric", 1.75F, 0.5F, -0.5F}}) {
        SCOPED_TRACE(row.mode);
        const auto subject =
            imported(resize(4, 7, 1.75F, {text("mode", "linear"), text("coordinate_transformation_mode", row.mode)}));
        EXPECT_EQ(subject.descriptor->schema->short_name(), "RESAMPLE2");
        EXPECT_EQ(subject.descriptor->uint("InterpolationMode"), 1u);
        EXPECT_EQ(list(subject, "Scales")[1], row.scale);
        EXPECT_EQ(list(subject, "InputPixelOffsets")[1], row.input_offset);
        EXPECT_EQ(list(subject, "OutputPixelOffsets")[1], row.output_offset);
    }
    const auto one = imported(
        resize(4, 1, 0.25F, {text("mode", "linear"), text("coordinate_transformation_mode", "pytorch_half_pixel")}));
    EXPECT_EQ(list(one, "InputPixelOffsets")[1], 0) << "a single output lies at 0";
    EXPECT_EQ(list(one, "OutputPixelOffsets")[1], 0);
    // 4 * 0.8 = 3.2, but there are 3 outputs: the remainder is cut off equally on both sides.
    const auto symmetric = imported(
        resize(4, 3, 0.8F, {text("mode", "linear"), text("coordinate_transformation_mode", "half_pixel_symmetric")}));
    // Aligns the corners for a size of 2.4, as in ONNX's own tests.
    const auto corners =
        imported(resize(4, 2, 0.6F, {text("mode", "linear"), text("coordinate_transformation_mode", "align_corners")}));
    EXPECT_FLOAT_EQ(list(corners, "Scales")[1], 1.4F / 3);
    EXPECT_FLOAT_EQ(list(symmetric, "InputPixelOffsets")[1], 0.5F - 2 * (1 - 3 / 3.2F));
}

/// RESAMPLE2 rounds down or up; with a suitable offset, this selects the nearest element.
TEST(OnnxResampling, NearestModes) {
    struct Row {
        const char* mode;
        std::uint32_t direction;
        float input_offset;
    };
    for (const Row& row : {Row{"round_prefer_floor", 0, 1}, Row{"round_prefer_ceil", 1, 0}, Row{"floor", 1, 0.5F},
                           Row{"ceil", 0, 0.5F}}) {
        SCOPED_TRACE(row.mode);
        const auto subject = imported(resize(4, 8, 2, {text("nearest_mode", row.mode)}));
        EXPECT_EQ(subject.descriptor->uint("InterpolationMode"), 0u);
        EXPECT_EQ(subject.descriptor->uint("RoundingDirection"), row.direction);
        EXPECT_EQ(list(subject, "InputPixelOffsets")[1], row.input_offset);
    }
}

TEST(OnnxResampling, ScalesFollowFromSizes) {
    const auto sizes = imported({"Resize",
                                 {zeros({1, 1, 2, 4}), nothing(), nothing(), longs({4}, {1, 1, 3, 2})},
                                 {zeros({1, 1, 3, 2})},
                                 {text("mode", "linear")}});
    EXPECT_THAT(list(sizes, "Scales"), ElementsAre(1, 1, 1.5F, 0.5F));
    const auto axes = imported({"Resize",
                                {zeros({1, 1, 2, 4}), nothing(), floats({2}, {2, 3})},
                                {zeros({1, 3, 2, 8})},
                                {text("mode", "linear"), integers("axes", {-1, 1})},
                                0,
                                "",
                                false,
                                18});
    EXPECT_THAT(list(axes, "Scales"), ElementsAre(1, 3, 1, 2));
}

/// The elements that the reference takes of 0, 1, 2 and so on.
std::vector<float> taken(std::int64_t in, std::int64_t out, std::vector<onnx::AttributeProto> attributes) {
    std::vector<float> elements(static_cast<std::size_t>(in));
    std::iota(elements.begin(), elements.end(), 0.0F);
    const auto subject = imported({"Resize",
                                   {floats({1, in}, elements), nothing(), nothing(), longs({2}, {1, out})},
                                   {zeros({1, out})},
                                   std::move(attributes)});
    core::Tensor input(*subject.descriptor->tensor("InputTensor"));
    EXPECT_TRUE(subject.inputs[0]->fill(input));
    const core::Tensor* const inputs[] = {&input};
    const cpu::Reference computed = cpu::compute_reference(*subject.descriptor, inputs);
    const auto values = computed.outputs[0].as<float>();
    return {values.begin(), values.end()};
}

/// Scales such as 4/3 are rounded. Positions that are exactly an element, or a tie, are rounded as exact ones are.
TEST(OnnxResampling, NearestElementsOfExactPositions) {
    const auto asymmetric = text("coordinate_transformation_mode", "asymmetric");
    EXPECT_THAT(taken(6, 8, {asymmetric, text("nearest_mode", "floor")}), ElementsAre(0, 0, 1, 2, 3, 3, 4, 5));
    EXPECT_THAT(taken(6, 8, {asymmetric, text("nearest_mode", "ceil")}), ElementsAre(0, 1, 2, 3, 3, 4, 5, 5));
    // 0, 1.5, 3 and 4.5
    EXPECT_THAT(taken(6, 4, {asymmetric, text("nearest_mode", "floor")}), ElementsAre(0, 1, 3, 4));
    EXPECT_THAT(taken(6, 4, {asymmetric}), ElementsAre(0, 1, 3, 4)) << "ties down";
    EXPECT_THAT(taken(6, 4, {asymmetric, text("nearest_mode", "round_prefer_ceil")}), ElementsAre(0, 2, 3, 5));
    // (0 + 1/2) 6/8 - 1/2 = -1/8, then 5/8, 11/8 and so on
    EXPECT_THAT(taken(6, 8, {text("nearest_mode", "floor")}), ElementsAre(0, 0, 1, 2, 2, 3, 4, 5));
    const auto corners = text("coordinate_transformation_mode", "align_corners");
    EXPECT_THAT(taken(3, 8, {corners, text("nearest_mode", "floor")}), ElementsAre(0, 0, 0, 0, 1, 1, 1, 2));
    EXPECT_THAT(taken(8, 3, {corners}), ElementsAre(0, 3, 7)) << "3.5 is a tie";
    // Integers divide exactly.
    for (std::int64_t in = 1; in <= 13; ++in) {
        for (std::int64_t out = 1; out <= 50; ++out) {
            std::vector<float> expected;
            for (std::int64_t o = 0; o < out; ++o) {
                expected.push_back(static_cast<float>(o * in / out));
            }
            EXPECT_EQ(taken(in, out, {asymmetric, text("nearest_mode", "floor")}), expected) << in << " to " << out;
        }
    }
}

/// ONNX Runtime leaves dimensions alone that are not resized.
TEST(OnnxResampling, DimensionsOfTheSameSizeAreKept) {
    const auto subject = imported(resize(
        3, 6, 2,
        {text("coordinate_transformation_mode", "tf_half_pixel_for_nn"), text("nearest_mode", "round_prefer_ceil")}));
    EXPECT_THAT(list(subject, "OutputPixelOffsets"), ElementsAre(0, -0.5F));
    EXPECT_THAT(list(subject, "InputPixelOffsets"), ElementsAre(-0.5F, -0.5F)) << "rounds down what is 0.5 above";
}

/// Before Resize had rounding modes, it rounded down, like Upsample.
TEST(OnnxResampling, OldOperators) {
    const NodeTest old{"Resize", {zeros({1, 2}), floats({2}, {1, 3})}, {zeros({1, 6})}, {}, 0, "", false, 10};
    const NodeTest nine{"Upsample", {zeros({1, 2}), floats({2}, {1, 3})}, {zeros({1, 6})}, {}, 0, "", false, 9};
    const NodeTest seven{"Upsample", {zeros({1, 2})}, {zeros({1, 6})}, {numbers("scales", {1, 3})}, 0, "", false, 7};
    for (const NodeTest& test : {old, nine, seven}) {
        SCOPED_TRACE(test.opset);
        const auto subject = imported(test);
        EXPECT_THAT(list(subject, "Scales"), ElementsAre(1, 3));
        EXPECT_THAT(list(subject, "InputPixelOffsets"), ElementsAre(0, 0));
        EXPECT_THAT(list(subject, "OutputPixelOffsets"), ElementsAre(0, 0));
        EXPECT_EQ(subject.descriptor->uint("RoundingDirection"), 1u) << "down";
    }
}

TEST(OnnxResampling, RegionsOfResize) {
    const auto crop = [](std::vector<float> region) {
        return NodeTest{"Resize",
                        {zeros({1, 5}), floats({4}, region), nothing(), longs({2}, {1, 3})},
                        {zeros({1, 3})},
                        {text("mode", "linear"), text("coordinate_transformation_mode", "tf_crop_and_resize")}};
    };
    const auto subject = imported(crop({0, 0.25F, 1, 0.75F}));
    EXPECT_EQ(list(subject, "Scales")[1], 1);
    EXPECT_EQ(list(subject, "InputPixelOffsets")[1], -1) << "output 0 is element 1";
    EXPECT_THAT(reason(crop({0, -0.25F, 1, 0.75F})), HasSubstr("extrapolation_value"));
    EXPECT_THAT(reason(crop({0, 0.5F, 1, 0.5F})), HasSubstr("empty regions"));
}

TEST(OnnxResampling, Antialiasing) {
    const std::vector<onnx::AttributeProto> linear{text("mode", "linear"), integer("antialias", 1)};
    const auto subject = imported(resize(8, 2, 0.25F, linear));
    EXPECT_EQ(subject.descriptor->schema->short_name(), "RESAMPLE3");
    EXPECT_EQ(subject.descriptor->uint("Antialiased"), 1u);
    EXPECT_EQ(imported(resize(8, 2, 0.25F, {integer("antialias", 1)})).descriptor->schema->short_name(), "RESAMPLE2")
        << "the nearest element";
    EXPECT_THAT(reason(resize(8, 6, 0.75F, linear)), HasSubstr("below 0.5"));
    EXPECT_THAT(
        reason(resize(8, 2, 0.25F, {text("mode", "linear"), integer("antialias", 1), integer("exclude_outside", 1)})),
        HasSubstr("exclude_outside"));
}

TEST(OnnxResampling, DimensionsOfOneElementAreLeftOut) {
    const auto scales = floats({6}, {1, 2, 1, 1, 2, 1});
    const auto subject =
        imported({"Resize", {zeros({1, 2, 1, 3, 2, 2}), nothing(), scales}, {zeros({1, 4, 1, 3, 4, 2})}});
    EXPECT_THAT(subject.descriptor->sizes("InputTensor"), ElementsAre(2, 3, 2, 2));
    EXPECT_THAT(list(subject, "Scales"), ElementsAre(2, 1, 2, 1));
    EXPECT_THAT(reason({"Resize", {zeros({2, 2, 1, 3, 2, 2}), nothing(), scales}, {zeros({2, 4, 1, 3, 4, 2})}}),
                HasSubstr("four dimensions"));
}

TEST(OnnxResampling, WhatDirectMLHasNot) {
    EXPECT_THAT(reason(resize(4, 8, 2, {text("mode", "cubic")})), HasSubstr("cubic interpolation is mapped"));
    EXPECT_THAT(reason(resize(4, 8, 2, {text("nearest_mode", "simple")})), HasSubstr("no nearest_mode"));
    EXPECT_THAT(reason(resize(4, 8, 2, {text("coordinate_transformation_mode", "other")})),
                HasSubstr("no coordinate_transformation_mode"));
    EXPECT_THAT(reason({"Resize",
                        {zeros({1, 4}), nothing(), nothing(), longs({2}, {1, 8})},
                        {zeros({1, 8})},
                        {text("keep_aspect_ratio_policy", "not_larger")}}),
                HasSubstr("keep_aspect_ratio_policy"));
    EXPECT_THAT(reason({"Resize", {zeros({1, 4}), nothing(), floats({3}, {1, 1, 2})}, {zeros({1, 8})}}),
                HasSubstr("one scale, size or region for each axis"));
    EXPECT_THAT(reason({"Resize",
                        {zeros({1, 4}), nothing(), floats({1}, {2})},
                        {zeros({1, 8})},
                        {integers("axes", {2})},
                        0,
                        "",
                        false,
                        18}),
                HasSubstr("an axis that its input has not"));
    EXPECT_THAT(reason({"Resize", {zeros({4}), nothing(), floats({1}, {2})}, {zeros({1, 8})}}),
                HasSubstr("another number of dimensions than its output"));
}

// ---- regions of interest -----------------------------------------------------------------------------------------

NodeTest roi_align(std::vector<onnx::AttributeProto> attributes, std::int64_t opset = 16) {
    return {"RoiAlign",
            {zeros({2, 1, 4, 4}), floats({1, 4}, {0, 0, 2, 0.5F}), longs({1}, {1})},
            {zeros({1, 1, 3, 2})},
            std::move(attributes),
            0,
            "",
            false,
            opset};
}

TEST(OnnxResampling, RoiAlign) {
    const auto subject = imported(roi_align({number("spatial_scale", 0.5F), integer("sampling_ratio", 3)}));
    const operators::Descriptor& descriptor = *subject.descriptor;
    EXPECT_EQ(descriptor.schema->short_name(), "ROI_ALIGN1");
    EXPECT_EQ(descriptor.number("InputPixelOffset"), 0.5F);
    EXPECT_EQ(descriptor.number("OutputPixelOffset"), -0.5F);
    EXPECT_EQ(descriptor.number("SpatialScaleX"), 0.5F);
    EXPECT_EQ(descriptor.number("SpatialScaleY"), 0.5F);
    EXPECT_EQ(descriptor.uint("MinimumSamplesPerOutput"), 3u);
    EXPECT_EQ(descriptor.uint("MaximumSamplesPerOutput"), 3u);
    EXPECT_EQ(descriptor.uint("ReductionFunction"), 2u);
    EXPECT_EQ(descriptor.tensor("BatchIndicesTensor")->data_type, core::DataType::uint64);
    const auto adaptive = imported(roi_align({}));
    EXPECT_EQ(adaptive.descriptor->uint("MinimumSamplesPerOutput"), 1u);
    EXPECT_EQ(adaptive.descriptor->uint("MaximumSamplesPerOutput"), 4294967295U);
    EXPECT_THAT(reason(roi_align({text("mode", "max")})), HasSubstr("weighted elements"));
    EXPECT_THAT(reason(roi_align({}, 10)), HasSubstr("widens regions")) << "half an element high";
    const auto old = imported(roi_align({number("spatial_scale", 2)}, 10));
    EXPECT_EQ(old.descriptor->number("InputPixelOffset"), 0);
}

TEST(OnnxResampling, MaxRoiPool) {
    const auto pool = [](std::vector<onnx::AttributeProto> attributes) {
        return NodeTest{
            "MaxRoiPool", {zeros({1, 2, 4, 4}), zeros({3, 5})}, {zeros({3, 2, 1, 2})}, std::move(attributes)};
    };
    const auto subject = imported(pool({integers("pooled_shape", {1, 2}), number("spatial_scale", 0.25F)}));
    EXPECT_EQ(subject.descriptor->schema->short_name(), "ROI_POOLING");
    EXPECT_THAT(subject.descriptor->sizes("ROITensor"), ElementsAre(1, 1, 3, 5));
    EXPECT_EQ(subject.descriptor->get<operators::Size2D>("PooledSize").height, 1u);
    EXPECT_EQ(subject.descriptor->get<operators::Size2D>("PooledSize").width, 2u);
    EXPECT_EQ(subject.descriptor->number("SpatialScale"), 0.25F);
    EXPECT_THAT(reason(pool({})), HasSubstr("no pooled_shape"));
    EXPECT_THAT(reason(pool({integers("pooled_shape", {2, 1})})), HasSubstr("ROI_POOLING.outputSizes"));
}

}  // namespace
}  // namespace dmlconform::tests::onnx_resampling_test
