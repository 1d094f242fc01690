// Tests of data movement operators on the D3D12 engine: examples derived by hand, of every type and in many layouts.
#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>

#include "engine/core/element.h"
#include "tests/d3d12/against_reference.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::movement_test {
namespace {

using core::DataType;
using operators::Descriptor;
using Values = std::vector<int>;

constexpr DataType types[] = {DataType::float64, DataType::float32, DataType::float16, DataType::int64,
                              DataType::int32,   DataType::int16,   DataType::int8,    DataType::uint64,
                              DataType::uint32,  DataType::uint16,  DataType::uint8};
constexpr DataType signed_indices[] = {DataType::int32, DataType::int64};
constexpr DataType unsigned_indices[] = {DataType::uint32, DataType::uint64};

enum class Role : std::uint8_t { data, signed_index, unsigned_index };

/// A tensor of an example. Parts with the same field form an array of tensors.
struct Part {
    std::string_view field;
    core::Dimensions sizes;
    Values values;
    Role role = Role::data;
};

struct Example {
    std::string_view op;
    std::vector<Part> inputs;
    std::vector<Part> outputs;
    /// The attributes for elements of this type.
    std::function<std::vector<Setting>(DataType)> attributes = [](DataType /*type*/) { return std::vector<Setting>(); };
};

std::uint64_t bits_of(DataType type, int value) {
    return core::encode_element(type, static_cast<double>(value)).value();
}

operators::FieldValue scalar(DataType type, int value) {
    return operators::ScalarUnion{bits_of(type, value)};
}

auto always(std::vector<Setting> settings) {
    return [settings = std::move(settings)](DataType /*type*/) { return settings; };
}

/// `count` consecutive numbers: 0, 1, 2, …
Values counted(int count, int first = 0) {
    Values values;
    for (int i = 0; i < count; ++i) {
        values.push_back(first + i);
    }
    return values;
}

const Example examples[] = {
    {"SLICE",
     {{"InputTensor", {1, 1, 4, 4}, counted(16, 1)}},
     {{"OutputTensor", {1, 1, 2, 2}, {6, 8, 14, 16}}},
     always({{"Offsets", {0, 0, 1, 1}}, {"Sizes", {1, 1, 2, 2}}, {"Strides", {1, 1, 2, 2}}})},
    {"SLICE1",
     {{"InputTensor", {1, 1, 4, 4}, counted(16, 1)}},
     {{"OutputTensor", {1, 1, 2, 2}, {14, 16, 6, 8}}},
     always({{"InputWindowOffsets", {0, 0, 0, 1}},
             {"InputWindowSizes", {1, 1, 4, 3}},
             {"InputWindowStrides", {1, 1, -2, 2}}})},
    {"SLICE_GRAD",
     {{"InputGradientTensor", {1, 1, 2, 2}, {14, 16, 6, 8}}},
     {{"OutputGradientTensor", {1, 1, 4, 4}, {0, 0, 0, 0, 0, 6, 0, 8, 0, 0, 0, 0, 0, 14, 0, 16}}},
     always({{"InputWindowOffsets", {0, 0, 0, 1}},
             {"InputWindowSizes", {1, 1, 4, 3}},
             {"InputWindowStrides", {1, 1, -2, 2}}})},
    {"SPLIT",
     {{"InputTensor", {1, 1, 2, 6}, counted(12)}},
     {{"OutputTensors", {1, 1, 2, 1}, {0, 6}},
      {"OutputTensors", {1, 1, 2, 3}, {1, 2, 3, 7, 8, 9}},
      {"OutputTensors", {1, 1, 2, 2}, {4, 5, 10, 11}}},
     always({{"Axis", 3}})},
    {"JOIN",
     {{"InputTensors", {1, 1, 2, 1}, {0, 6}},
      {"InputTensors", {1, 1, 2, 3}, {1, 2, 3, 7, 8, 9}},
      {"InputTensors", {1, 1, 2, 2}, {4, 5, 10, 11}}},
     {{"OutputTensor", {1, 1, 2, 6}, counted(12)}},
     always({{"Axis", 3}})},
    // The boundaries between the tensors are within 32-bit words.
    {"JOIN",
     {{"InputTensors", {3, 1, 1, 1}, {0, 1, 2}},
      {"InputTensors", {18, 1, 1, 1}, counted(18, 3)},
      {"InputTensors", {1, 1, 1, 1}, {21}},
      {"InputTensors", {5, 1, 1, 1}, counted(5, 22)}},
     {{"OutputTensor", {27, 1, 1, 1}, counted(27)}},
     always({{"Axis", 0}})},
    {"TILE",
     {{"InputTensor", {1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}}},
     {{"OutputTensor",
       {1, 1, 4, 6},
       {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6, 1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}}},
     always({{"Repeats", {1, 1, 2, 2}}})},
    {"PADDING",
     {{"InputTensor", {1, 1, 2, 2}, {1, 2, 3, 4}}},
     {{"OutputTensor", {1, 1, 3, 5}, {9, 9, 9, 9, 9, 9, 1, 2, 9, 9, 9, 3, 4, 9, 9}}},
     always({{"PaddingMode", 0}, {"PaddingValue", 9}, {"StartPadding", {0, 0, 1, 1}}, {"EndPadding", {0, 0, 0, 2}}})},
    {"PADDING1",
     {{"InputTensor", {1, 1, 1, 3}, {1, 2, 3}}},
     {{"OutputTensor", {1, 1, 1, 12}, {7, 7, 7, 7, 7, 1, 2, 3, 7, 7, 7, 7}}},
     [](DataType type) {
         return std::vector<Setting>{{"PaddingMode", 0},
                                     {"PaddingValueDataType", static_cast<double>(type)},
                                     {"PaddingValue", scalar(type, 7)},
                                     {"StartPadding", {0, 0, 0, 5}},
                                     {"EndPadding", {0, 0, 0, 4}}};
     }},
    {"PADDING",
     {{"InputTensor", {1, 1, 1, 3}, {1, 2, 3}}},
     {{"OutputTensor", {1, 1, 1, 12}, {1, 1, 1, 1, 1, 1, 2, 3, 3, 3, 3, 3}}},
     always({{"PaddingMode", 1}, {"StartPadding", {0, 0, 0, 5}}, {"EndPadding", {0, 0, 0, 4}}})},
    {"PADDING",
     {{"InputTensor", {1, 1, 1, 3}, {1, 2, 3}}},
     {{"OutputTensor", {1, 1, 1, 12}, {2, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3}}},
     always({{"PaddingMode", 2}, {"StartPadding", {0, 0, 0, 5}}, {"EndPadding", {0, 0, 0, 4}}})},
    {"PADDING",
     {{"InputTensor", {1, 1, 1, 1}, {5}}},
     {{"OutputTensor", {1, 1, 1, 4}, {5, 5, 5, 5}}},
     always({{"PaddingMode", 2}, {"StartPadding", {0, 0, 0, 1}}, {"EndPadding", {0, 0, 0, 2}}})},
    {"PADDING",
     {{"InputTensor", {1, 1, 1, 3}, {1, 2, 3}}},
     {{"OutputTensor", {1, 1, 1, 12}, {2, 3, 3, 2, 1, 1, 2, 3, 3, 2, 1, 1}}},
     always({{"PaddingMode", 3}, {"StartPadding", {0, 0, 0, 5}}, {"EndPadding", {0, 0, 0, 4}}})},
    {"PADDING",
     {{"InputTensor", {1, 1, 1, 3}, {1, 2, 3}}},
     {{"OutputTensor", {1, 1, 1, 12}, {2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1}}},
     always({{"PaddingMode", 4}, {"StartPadding", {0, 0, 0, 5}}, {"EndPadding", {0, 0, 0, 4}}})},
    {"SPACE_TO_DEPTH",
     {{"InputTensor", {1, 2, 2, 4}, counted(16)}},
     {{"OutputTensor", {1, 8, 1, 2}, {0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15}}},
     always({{"BlockSize", 2}})},
    {"SPACE_TO_DEPTH1",
     {{"InputTensor", {1, 2, 2, 4}, counted(16)}},
     {{"OutputTensor", {1, 8, 1, 2}, {0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15}}},
     always({{"BlockSize", 2}, {"Order", 1}})},
    {"DEPTH_TO_SPACE",
     {{"InputTensor", {1, 8, 1, 2}, {0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15}}},
     {{"OutputTensor", {1, 2, 2, 4}, counted(16)}},
     always({{"BlockSize", 2}})},
    {"DEPTH_TO_SPACE1",
     {{"InputTensor", {1, 8, 1, 2}, {0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15}}},
     {{"OutputTensor", {1, 2, 2, 4}, counted(16)}},
     always({{"BlockSize", 2}, {"Order", 1}})},
    {"UPSAMPLE_2D",
     {{"InputTensor", {1, 1, 2, 2}, {1, 2, 3, 4}}},
     {{"OutputTensor", {1, 1, 4, 6}, {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4}}},
     always({{"ScaleSize", operators::Size2D{3, 2}}, {"InterpolationMode", 0}})},
    // The output's centres are at -0.25, 0.25, 0.75, … of the input.
    {"UPSAMPLE_2D",
     {{"InputTensor", {1, 1, 2, 3}, {0, 4, 8, 16, 20, 24}}},
     {{"OutputTensor",
       {1, 1, 4, 6},
       {0, 1, 3, 5, 7, 8, 4, 5, 7, 9, 11, 12, 12, 13, 15, 17, 19, 20, 16, 17, 19, 21, 23, 24}}},
     always({{"ScaleSize", operators::Size2D{2, 2}}, {"InterpolationMode", 1}})},
    {"DIAGONAL_MATRIX",
     {},
     {{"OutputTensor", {1, 2, 2, 3}, {0, 3, 0, 0, 0, 3, 0, 3, 0, 0, 0, 3}}},
     always({{"Offset", 1}, {"Value", 3}})},
    {"DIAGONAL_MATRIX1",
     {{"InputTensor", {1, 3, 4}, counted(12, 20)}},
     {{"OutputTensor", {1, 3, 4}, {5, 5, 22, 23, 5, 5, 5, 27, 28, 5, 5, 5}}},
     [](DataType type) {
         return std::vector<Setting>{{"ValueDataType", static_cast<double>(type)},
                                     {"Value", scalar(type, 5)},
                                     {"DiagonalFillBegin", -1},
                                     {"DiagonalFillEnd", 2}};
     }},
    {"DIAGONAL_MATRIX1",
     {},
     {{"OutputTensor", {1, 3, 4}, {0, 0, 5, 5, 0, 0, 0, 5, 5, 0, 0, 0}}},
     [](DataType type) {
         return std::vector<Setting>{{"ValueDataType", static_cast<double>(type)},
                                     {"Value", scalar(type, 5)},
                                     {"DiagonalFillBegin", 2},
                                     {"DiagonalFillEnd", -1}};
     }},
    {"FILL_VALUE_CONSTANT",
     {},
     {{"OutputTensor", {1, 1, 3, 7}, Values(21, 6)}},
     [](DataType type) {
         return std::vector<Setting>{{"ValueDataType", static_cast<double>(type)}, {"Value", scalar(type, 6)}};
     }},
    {"FILL_VALUE_SEQUENCE",
     {},
     {{"OutputTensor", {1, 1, 3, 7}, {4,  9,  14, 19, 24, 29, 34, 39, 44, 49, 54,
                                      59, 64, 69, 74, 79, 84, 89, 94, 99, 104}}},
     [](DataType type) {
         return std::vector<Setting>{{"ValueDataType", static_cast<double>(type)},
                                     {"ValueStart", scalar(type, 4)},
                                     {"ValueDelta", scalar(type, 5)}};
     }},
    {"GATHER",
     {{"InputTensor", {1, 2, 3, 2}, counted(12)}, {"IndicesTensor", {1, 1, 1, 4}, {2, 0, -1, -3}, Role::signed_index}},
     {{"OutputTensor", {1, 2, 4, 2}, {4, 5, 0, 1, 4, 5, 0, 1, 10, 11, 6, 7, 10, 11, 6, 7}}},
     always({{"Axis", 2}, {"IndexDimensions", 1}})},
    {"GATHER",
     {{"InputTensor", {1, 1, 3, 2}, counted(6)}, {"IndicesTensor", {1, 1, 2, 2}, {0, 2, 1, 1}, Role::unsigned_index}},
     {{"OutputTensor", {1, 2, 2, 2}, {0, 1, 4, 5, 2, 3, 2, 3}}},
     always({{"Axis", 2}, {"IndexDimensions", 2}})},
    // Indices out of range are clamped.
    {"GATHER_ELEMENTS",
     {{"InputTensor", {2, 3}, counted(6)}, {"IndicesTensor", {2, 4}, {0, 7, -1, -9, 2, 1, 0, 3}, Role::signed_index}},
     {{"OutputTensor", {2, 4}, {0, 2, 2, 0, 5, 4, 3, 5}}},
     always({{"Axis", 1}})},
    {"GATHER_ND",
     {{"InputTensor", {1, 2, 3, 2}, counted(12)}, {"IndicesTensor", {1, 1, 2, 2}, {1, 2, 0, -2}, Role::signed_index}},
     {{"OutputTensor", {1, 1, 2, 2}, {10, 11, 2, 3}}},
     always({{"InputDimensionCount", 3}, {"IndicesDimensionCount", 2}})},
    {"GATHER_ND1",
     {{"InputTensor", {1, 3, 2, 2}, counted(12)},
      {"IndicesTensor", {1, 3, 2, 2}, {0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0}, Role::unsigned_index}},
     {{"OutputTensor", {1, 1, 3, 2}, {0, 3, 7, 4, 9, 10}}},
     always({{"InputDimensionCount", 3}, {"IndicesDimensionCount", 3}, {"BatchDimensionCount", 1}})},
    {"ONE_HOT",
     {{"IndicesTensor", {1, 1, 5, 1}, {1, -1, 3, 0, -4}, Role::signed_index}, {"ValuesTensor", {1, 1, 2, 1}, {8, 9}}},
     {{"OutputTensor", {1, 1, 5, 3}, {8, 9, 8, 8, 8, 9, 8, 8, 8, 9, 8, 8, 8, 8, 8}}},
     always({{"Axis", 3}})},
    {"REVERSE_SUBSEQUENCES",
     {{"InputTensor", {1, 1, 4, 4}, counted(16)},
      {"SequenceLengthsTensor", {1, 1, 4, 1}, {0, 2, 3, 9}, Role::unsigned_index}},
     {{"OutputTensor", {1, 1, 4, 4}, {0, 1, 2, 3, 5, 4, 6, 7, 10, 9, 8, 11, 15, 14, 13, 12}}},
     always({{"Axis", 3}})},
    {"SCATTER",
     {{"InputTensor", {3, 3}, counted(9)},
      {"IndicesTensor", {3, 2}, {2, 0, -1, 5, 1, -4}, Role::signed_index},
      {"UpdatesTensor", {3, 2}, {20, 21, 22, 23, 24, 25}}},
     {{"OutputTensor", {3, 3}, {21, 1, 20, 3, 4, 22, 6, 24, 8}}},
     always({{"Axis", 1}})},
    {"SCATTER_ND",
     {{"InputTensor", {1, 2, 3, 2}, counted(12)},
      {"IndicesTensor", {1, 1, 3, 2}, {1, 2, 0, -2, 1, 3}, Role::signed_index},
      {"UpdatesTensor", {1, 1, 3, 2}, {20, 21, 22, 23, 24, 25}}},
     {{"OutputTensor", {1, 2, 3, 2}, {0, 1, 22, 23, 4, 5, 6, 7, 8, 9, 20, 21}}},
     always({{"InputDimensionCount", 3}, {"IndicesDimensionCount", 2}})},
    {"MAX_UNPOOLING",
     {{"InputTensor", {1, 1, 2, 2}, {1, 2, 3, 4}}, {"IndicesTensor", {1, 1, 2, 2}, {5, 7, 13, 16}, Role::unsigned_index}},
     {{"OutputTensor", {1, 1, 4, 4}, {0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 0}}}},
    {"UNFOLD",
     {{"InputTensor", {1, 2, 3, 3}, counted(18, 1)}},
     {{"OutputTensor", {1, 8, 2}, {0, 2, 1, 3, 0, 5, 4, 6, 0, 11, 10, 12, 0, 14, 13, 15}}},
     always({{"WindowSizes", {2, 2}},
             {"Strides", {2, 2}},
             {"Dilations", {1, 1}},
             {"StartPadding", {0, 1}},
             {"EndPadding", {0, 0}}})},
    // Two windows of 2 with a stride of 1. Sums that fall on padding are dropped.
    {"FOLD",
     {{"InputTensor", {1, 4, 3}, {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60}}},
     {{"OutputTensor", {1, 2, 3}, {6, 8, 6, 60, 80, 60}}},
     always({{"WindowSizes", {2}}, {"Strides", {1}}, {"Dilations", {1}}, {"StartPadding", {1}}, {"EndPadding", {0}}})},
};

DataType type_of(const Part& part, DataType type, std::size_t turn) {
    return part.role == Role::data           ? type
           : part.role == Role::signed_index ? signed_indices[turn % std::size(signed_indices)]
                                             : unsigned_indices[turn % std::size(unsigned_indices)];
}

/// Adds a setting for each tensor, or for each array of them.
void add_tensors(std::vector<Setting>& settings, const std::vector<Part>& parts,
                 const std::function<core::TensorDesc(const Part&)>& layout) {
    operators::TensorDescArray array;
    for (const Part& part : parts) {
        if (part.field.ends_with("Tensors")) {
            array.items.push_back(layout(part));
        } else {
            settings.emplace_back(part.field, layout(part));
        }
    }
    if (!array.items.empty()) {
        settings.emplace_back(parts.front().field, array);
    }
}

core::Tensor tensor_with(const core::TensorDesc& desc, const Values& values) {
    core::Tensor tensor = blank_tensor(desc);
    const std::vector<std::size_t> addresses = addresses_of(desc);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        core::store_element(tensor.buffer.bytes(), desc.data_type, addresses[i], bits_of(desc.data_type, values[i]));
    }
    return tensor;
}

/// The example's descriptor for a data type, with packed or random layouts.
Descriptor described(const Example& example, DataType type, std::size_t turn, Random* random) {
    std::vector<Setting> settings = example.attributes(type);
    add_tensors(settings, example.inputs, [&](const Part& part) {
        const DataType of_part = type_of(part, type, turn);
        return random == nullptr ? tensor(of_part, part.sizes)
                                 : laid_out(*random, of_part, part.sizes, static_cast<Layout>(random->between(0, 2)));
    });
    add_tensors(settings, example.outputs, [&](const Part& part) {
        return random == nullptr ? tensor(type, part.sizes) : random_output(*random, type, part.sizes);
    });
    return describe(example.op, settings);
}

/// Returns false if the operator does not support the type.
bool expect_example(Engine& engine, const Example& example, const Descriptor& descriptor) {
    SCOPED_TRACE(text_of(descriptor));
    if (const auto rejection = operators::validate(descriptor, core::highest_feature_level)) {
        EXPECT_EQ(rejection->rule, "tensor.dataType") << rejection->message;
        return false;
    }
    std::vector<core::Tensor> inputs;
    std::size_t part = 0;
    for (const operators::TensorSlot& slot : descriptor.inputs()) {
        if (slot.desc == nullptr) {
            inputs.emplace_back();
        } else {
            inputs.push_back(tensor_with(*slot.desc, example.inputs[part++].values));
        }
    }
    const std::vector<core::Tensor> outputs = run_on(engine, descriptor, inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        std::vector<std::uint64_t> expected;
        for (const int value : example.outputs[i].values) {
            expected.push_back(bits_of(outputs[i].desc.data_type, value));
        }
        EXPECT_EQ(elements_of(outputs[i]), expected);
    }
    return true;
}

using MovementOnD3d12 = D3d12Test;

TEST_F(MovementOnD3d12, ExamplesOfEveryTypeAndLayout) {
    Random random(1);
    for (const Example& example : examples) {
        std::size_t runs = 0;
        for (const DataType type : types) {
            for (std::size_t turn = 0; turn < 6; ++turn) {
                const bool packed = turn < 2;
                runs += expect_example(engine(), example, described(example, type, turn, packed ? nullptr : &random));
            }
            if (HasFailure()) {
                break;
            }
        }
        EXPECT_GT(runs, 0U) << example.op;
    }
}

/// Rows of 16 bytes or multiples, which shaders copy in larger units. The examples have no values: elements are random
/// bits, and indices random numbers around the range of the first input's outermost dimension.
const Example wide_examples[] = {
    {"SLICE",
     {{"InputTensor", {4, 6, 64}, {}}},
     {{"OutputTensor", {2, 3, 32}, {}}},
     always({{"Offsets", {1, 0, 16}}, {"Sizes", {2, 3, 32}}, {"Strides", {1, 2, 1}}})},
    {"SLICE_GRAD",
     {{"InputGradientTensor", {2, 3, 32}, {}}},
     {{"OutputGradientTensor", {5, 6, 32}, {}}},
     always({{"InputWindowOffsets", {1, 0, 0}}, {"InputWindowSizes", {4, 6, 32}}, {"InputWindowStrides", {-2, 2, 1}}})},
    {"TILE", {{"InputTensor", {2, 3, 16}, {}}}, {{"OutputTensor", {4, 3, 48}, {}}}, always({{"Repeats", {2, 1, 3}}})},
    {"PADDING",
     {{"InputTensor", {3, 5, 32}, {}}},
     {{"OutputTensor", {4, 7, 32}, {}}},
     always({{"PaddingMode", 0}, {"PaddingValue", 5}, {"StartPadding", {0, 2, 0}}, {"EndPadding", {1, 0, 0}}})},
    {"PADDING",
     {{"InputTensor", {3, 5, 32}, {}}},
     {{"OutputTensor", {9, 5, 32}, {}}},
     always({{"PaddingMode", 2}, {"StartPadding", {4, 0, 0}}, {"EndPadding", {2, 0, 0}}})},
    {"PADDING",
     {{"InputTensor", {3, 5, 32}, {}}},
     {{"OutputTensor", {3, 5, 55}, {}}},
     always({{"PaddingMode", 3}, {"StartPadding", {0, 0, 16}}, {"EndPadding", {0, 0, 7}}})},
    {"SPLIT",
     {{"InputTensor", {3, 48}, {}}},
     {{"OutputTensors", {3, 16}, {}}, {"OutputTensors", {3, 32}, {}}},
     always({{"Axis", 1}})},
    {"JOIN",
     {{"InputTensors", {3, 16}, {}}, {"InputTensors", {3, 32}, {}}},
     {{"OutputTensor", {3, 48}, {}}},
     always({{"Axis", 1}})},
    {"JOIN",
     {{"InputTensors", {5, 13}, {}}, {"InputTensors", {16, 13}, {}}, {"InputTensors", {1, 13}, {}}},
     {{"OutputTensor", {22, 13}, {}}},
     always({{"Axis", 0}})},
    {"SPACE_TO_DEPTH",
     {{"InputTensor", {2, 4, 8, 16}, {}}},
     {{"OutputTensor", {2, 16, 4, 8}, {}}},
     always({{"BlockSize", 2}})},
    {"DIAGONAL_MATRIX", {}, {{"OutputTensor", {2, 17, 16}, {}}}, always({{"Offset", -2}, {"Value", 3}})},
    {"FILL_VALUE_CONSTANT",
     {},
     {{"OutputTensor", {5, 64}, {}}},
     [](DataType type) {
         return std::vector<Setting>{{"ValueDataType", static_cast<double>(type)}, {"Value", scalar(type, 6)}};
     }},
    {"UNFOLD",
     {{"InputTensor", {2, 3, 9, 16}, {}}},
     {{"OutputTensor", {2, 18, 64}, {}}},
     always({{"WindowSizes", {3, 2}},
             {"Strides", {2, 1}},
             {"Dilations", {2, 1}},
             {"StartPadding", {1, 0}},
             {"EndPadding", {0, 1}}})},
    {"GATHER",
     {{"InputTensor", {9, 2, 32}, {}}, {"IndicesTensor", {1, 1, 7}, {}, Role::signed_index}},
     {{"OutputTensor", {7, 2, 32}, {}}},
     always({{"Axis", 0}, {"IndexDimensions", 1}})},
    {"GATHER_ND",
     {{"InputTensor", {9, 2, 16}, {}}, {"IndicesTensor", {1, 7, 1}, {}, Role::signed_index}},
     {{"OutputTensor", {7, 2, 16}, {}}},
     always({{"InputDimensionCount", 3}, {"IndicesDimensionCount", 2}})},
    {"SCATTER_ND",
     {{"InputTensor", {200, 2, 16}, {}},
      {"IndicesTensor", {1, 3, 1}, {}, Role::unsigned_index},
      {"UpdatesTensor", {3, 2, 16}, {}}},
     {{"OutputTensor", {200, 2, 16}, {}}},
     always({{"InputDimensionCount", 3}, {"IndicesDimensionCount", 2}})},
    {"REVERSE_SUBSEQUENCES",
     {{"InputTensor", {9, 16}, {}}, {"SequenceLengthsTensor", {1, 16}, {}, Role::unsigned_index}},
     {{"OutputTensor", {9, 16}, {}}},
     always({{"Axis", 0}})},
};

core::Tensor random_part(Random& random, const Example& example, const Part& part, const core::TensorDesc& desc) {
    if (part.role == Role::data) {
        return random_bits(random, desc);
    }
    const auto size = static_cast<int>(example.inputs.front().sizes.front());
    Values values;
    for (std::size_t i = 0; i < addresses_of(desc).size(); ++i) {
        const auto index = static_cast<int>(random.between(0, static_cast<std::uint32_t>(size) - 1));
        values.push_back(part.role == Role::signed_index && random.chance(2) ? index - size : index);
    }
    return tensor_with(desc, values);
}

TEST_F(MovementOnD3d12, RowsOfWholeUnits) {
    Random random(2);
    for (const Example& example : wide_examples) {
        for (const DataType type : types) {
            for (std::size_t turn = 0; turn < 4 && !HasFailure(); ++turn) {
                const bool packed = turn < 2;
                const Descriptor descriptor = described(example, type, turn, packed ? nullptr : &random);
                if (operators::validate(descriptor, core::highest_feature_level)) {
                    continue;  // Some operators lack some types; the test above checks which.
                }
                std::vector<core::Tensor> inputs;
                std::size_t part = 0;
                for (const operators::TensorSlot& slot : descriptor.inputs()) {
                    inputs.push_back(slot.desc == nullptr
                                         ? core::Tensor()
                                         : random_part(random, example, example.inputs[part++], *slot.desc));
                }
                expect_like_reference(engine(), descriptor, inputs);
            }
        }
    }
}

/// Attributes are converted to elements by value: truncated, and clamped to the type's range.
TEST_F(MovementOnD3d12, NumbersBecomeElements) {
    const auto padded = [&](DataType type, double value) {
        const Descriptor padding = describe("PADDING", {{"InputTensor", tensor(type, {1})},
                                                        {"OutputTensor", tensor(type, {2})},
                                                        {"PaddingMode", 0},
                                                        {"PaddingValue", value},
                                                        {"StartPadding", {0}},
                                                        {"EndPadding", {1}}});
        std::vector<core::Tensor> inputs;
        inputs.push_back(tensor_with(tensor(type, {1}), {0}));
        return elements_of(run_on(engine(), padding, inputs)[0])[1];
    };
    EXPECT_EQ(padded(DataType::int8, -9.75), 0xf7U);
    EXPECT_EQ(padded(DataType::int8, 300), 0x7fU);
    EXPECT_EQ(padded(DataType::uint16, -1), 0U);
    EXPECT_EQ(padded(DataType::uint8, std::numeric_limits<double>::quiet_NaN()), 0U);
    EXPECT_EQ(padded(DataType::int64, -1e30), 0x8000000000000000U);
    EXPECT_EQ(padded(DataType::float16, 2049), 0x6800U);
    EXPECT_EQ(padded(DataType::float64, 0.5), 0x3fe0000000000000U);
}

/// Sums of 8 and 16 bits saturate, those of 32 and 64 bits wrap.
TEST_F(MovementOnD3d12, SumsOfFold) {
    const auto sum = [&](DataType type, const std::vector<std::uint64_t>& terms) {
        const auto count = static_cast<std::uint32_t>(terms.size());
        // All but one element of each window lie on padding. Each block has a different one on the output element.
        const Descriptor fold = describe("FOLD", {{"InputTensor", tensor(type, {1, count, count})},
                                                  {"OutputTensor", tensor(type, {1, 1, 1})},
                                                  {"WindowSizes", {std::int64_t{count}}},
                                                  {"Strides", {1}},
                                                  {"Dilations", {1}},
                                                  {"StartPadding", {std::int64_t{count} - 1}},
                                                  {"EndPadding", {std::int64_t{count} - 1}}});
        core::Tensor input = tensor_with(tensor(type, {1, count, count}), Values(count * count, 0));
        for (std::uint32_t k = 0; k < count; ++k) {
            // In block count - 1 - k, element k falls on the output element.
            core::store_element(input.buffer.bytes(), type, k * count + count - 1 - k, terms[k]);
        }
        std::vector<core::Tensor> inputs;
        inputs.push_back(std::move(input));
        return elements_of(run_on(engine(), fold, inputs)[0])[0];
    };
    EXPECT_EQ(sum(DataType::int8, {100, 103}), 127U);
    EXPECT_EQ(sum(DataType::int8, {0x80, 0x81, 5}), 0x80U);
    EXPECT_EQ(sum(DataType::uint8, {200, 200}), 255U);
    EXPECT_EQ(sum(DataType::int16, {0x8000, 1}), 0x8001U);
    EXPECT_EQ(sum(DataType::int32, {0x7fffffff, 1}), 0x80000000U);
    EXPECT_EQ(sum(DataType::uint64, {0xffffffffffffffff, 2, 0x100000000}), 0x100000001U);
    EXPECT_EQ(sum(DataType::float32, {0x80000000, 0x80000000}), 0U);
    EXPECT_EQ(sum(DataType::float16, {0x6800, 0x3c00, 0x3c00}), 0x6801U);
}

/// Shaders have no FP64 and emulate it with 32-bit words; the sums must equal those of C++ doubles.
TEST_F(MovementOnD3d12, AddsDoublesToTheLastBit) {
    Random random(3);
    constexpr std::uint32_t count = 4000;
    std::vector<double> terms(std::size_t{2} * count);
    std::vector<double> sums(count + 1);
    for (double& term : terms) {
        // Exponents are close, and include the smallest and the largest, so that digits overlap and cancel.
        const std::uint64_t base = random.one_of(std::array<std::uint64_t, 4>{0, 1, 1023, 2045});
        const std::uint64_t exponent = std::min<std::uint64_t>(base + random.between(0, 60), 2046);
        const std::uint64_t significand = random.bits() & (random.chance(3) ? 0xff00000000000 : 0xfffffffffffff);
        term = std::bit_cast<double>((random.bits() & 0x8000000000000000) | exponent << 52 | significand);
    }
    terms[0] = std::numeric_limits<double>::infinity();
    terms[count + 1] = -std::numeric_limits<double>::infinity();
    terms[5] = std::numeric_limits<double>::max();
    terms[count + 4] = std::numeric_limits<double>::max();
    // Windows have two elements: output p is the sum of element 0 of block p and element 1 of block p - 1.
    for (std::uint32_t p = 0; p <= count; ++p) {
        const double first = p < count ? terms[p] : 0;
        sums[p] = p > 0 ? first + terms[count + p - 1] : first;
    }
    const Descriptor fold = describe("FOLD", {{"InputTensor", tensor(DataType::float64, {1, 2, count})},
                                              {"OutputTensor", tensor(DataType::float64, {1, 1, count + 1})},
                                              {"WindowSizes", {2}},
                                              {"Strides", {1}},
                                              {"Dilations", {1}},
                                              {"StartPadding", {0}},
                                              {"EndPadding", {0}}});
    std::vector<core::Tensor> inputs;
    inputs.push_back(tensor_of<double>(*fold.tensor("InputTensor"), terms));
    const std::vector<double> actual = values_of<double>(run_on(engine(), fold, inputs)[0]);
    for (std::size_t p = 0; p < sums.size(); ++p) {
        // A sum that begins with +0 is never -0.
        EXPECT_EQ(std::bit_cast<std::uint64_t>(actual[p]), std::bit_cast<std::uint64_t>(sums[p] + 0.0)) << p;
    }
}

}  // namespace
}  // namespace dmlconform::tests::movement_test
