// Operators that move elements on the D3D12 engine: examples worked out by hand, of every type and in many layouts.
#include <functional>
#include <string_view>
#include <utility>

#include "engine/core/element.h"
#include "tests/d3d12/against_reference.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests {
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

/// A tensor of an example. Those of the same field are one array.
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
    /// For elements of this type.
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

/// 0, 1, 2, …
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
    // The parts end between words.
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
    // Centres at -0.25, 0.25, 0.75 and so on of an input.
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
    // Indices beyond either end are those of the ends.
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
    // Two windows of 2 with a step of 1, and the padding's part is lost.
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

/// The example with tensors of a type, packed or laid out at random.
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

/// False for types that the operator does not have.
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

}  // namespace
}  // namespace dmlconform::tests
