// Tests of windows on the D3D12 engine: their plans, and windows of all shapes over tensors of all layouts and types.
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <string_view>

#include "engine/d3d12/planning/made_elements.h"
#include "tests/d3d12/against_reference.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::window_test {
namespace {

using core::DataType;
using operators::Descriptor;

constexpr std::array real_types{DataType::float32, DataType::float16};
constexpr std::array byte_types{DataType::int8, DataType::uint8};
constexpr std::array all_types{DataType::float32, DataType::float16, DataType::int64,  DataType::int32,
                               DataType::int16,   DataType::int8,    DataType::uint64, DataType::uint32,
                               DataType::uint16,  DataType::uint8};

using Numbers = std::vector<std::uint32_t>;

/// Windows over an image, and the number of their positions.
struct Windows {
    core::Dimensions image;
    Numbers size, stride, dilation, start, end;
    core::Dimensions stops;
};

/// Windows of up to five elements per dimension, some of which cover only padding.
Windows random_windows(Random& random, bool dilated) {
    Windows windows;
    windows.image = {random.between(1, 3), random.between(1, 4)};
    windows.stops = windows.image;
    const std::size_t rank = random.between(2, 3);
    for (std::size_t d = 0; d < rank; ++d) {
        const std::uint32_t image = random.between(1, rank == 2 ? 15 : 8);
        const std::uint32_t dilation = dilated ? random.between(1, 3) : 1;
        const std::uint32_t start = random.between(0, 3) * random.between(0, 1);
        const std::uint32_t end = random.between(0, 3) * random.between(0, 1);
        const std::uint32_t padded = image + start + end;
        const std::uint32_t size = random.between(1, std::min((padded - 1) / dilation + 1, 5u));
        const std::uint32_t stride = random.between(1, 4);
        windows.image.push_back(image);
        windows.size.push_back(size);
        windows.stride.push_back(stride);
        windows.dilation.push_back(dilation);
        windows.start.push_back(start);
        windows.end.push_back(end);
        windows.stops.push_back((padded - (size - 1) * dilation - 1) / stride + 1);
    }
    return windows;
}

/// The fields of the windows, with dilations if the operator has them.
std::vector<Setting> settings_of(const Windows& windows, std::string_view op) {
    std::vector<Setting> settings{{"WindowSize", windows.size},
                                  {"Strides", windows.stride},
                                  {"StartPadding", windows.start},
                                  {"EndPadding", windows.end}};
    if (operators::find_operator(op)->find_field("Dilations") != nullptr) {
        settings.push_back({"Dilations", windows.dilation});
    }
    return settings;
}

std::vector<Setting> operator+(std::vector<Setting> settings, const std::vector<Setting>& more) {
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
}

class WindowsOnD3d12 : public D3d12Test {
protected:
    core::TensorDesc source(DataType type, const core::Dimensions& sizes) { return random_input(random_, type, sizes); }
    core::TensorDesc target(DataType type, const core::Dimensions& sizes) {
        return random_output(random_, type, sizes);
    }

    Descriptor pooling(std::string_view op, DataType type, const Windows& windows,
                       const std::vector<Setting>& more = {}) {
        return describe(op, settings_of(windows, op) +
                                std::vector<Setting>{{"InputTensor", source(type, windows.image)},
                                                     {"OutputTensor", target(type, windows.stops)}} +
                                more);
    }

    /// Small numbers from a few values, so that ties occur, with some NaN if `nan` is set. Scales are positive.
    void expect_like_reference(const Descriptor& descriptor, bool nan = false) {
        std::vector<core::Tensor> inputs;
        for (const operators::TensorSlot& slot : descriptor.inputs()) {
            if (slot.desc == nullptr) {
                inputs.emplace_back();
                continue;
            }
            const bool is_real = core::is_floating_point(slot.desc->data_type);
            const bool is_signed = is_real || core::is_signed_integer(slot.desc->data_type);
            const double least = slot.name.ends_with("ScaleTensor") ? 0.25 : is_signed ? -4 : 0;
            inputs.push_back(drawn(*slot.desc, [&] {
                const double number = random_.between_reals(least, 4);
                return is_real && nan && random_.chance(3) ? std::nan("")
                       : is_real && least != -4            ? number
                                                           : std::trunc(number);
            }));
        }
        tests::expect_like_reference(engine(), descriptor, inputs);
    }

    Random random_{1};
};

// ---- Planning ----

std::vector<d3d12::Dispatch> dispatches_of(const Descriptor& descriptor) {
    return d3d12::find_binding(descriptor.schema->short_name())->plan(descriptor).dispatches;
}

std::uint32_t elements_of_variant(const Descriptor& descriptor) {
    return dispatches_of(descriptor).back().shader.defines.at(1).second;
}

Descriptor largest_of(const core::TensorDesc& source, const core::TensorDesc& target) {
    return describe("MAX_POOLING", {{"InputTensor", source},
                                    {"OutputTensor", target},
                                    {"WindowSize", {2, 2}},
                                    {"Strides", {1, 1}},
                                    {"StartPadding", {0, 0}},
                                    {"EndPadding", {0, 0}}});
}

TEST(WindowPlanning, ThreadsWriteWordsWhereTheOutputHasNoGaps) {
    struct Row {
        DataType type;
        core::Dimensions strides;
        std::uint32_t elements;
    };
    const Row rows[] = {
        {DataType::float32, {100, 50, 7, 1}, ELEMENTS_WORDS},  {DataType::int64, {24, 12, 4, 1}, ELEMENTS_WORDS},
        {DataType::float16, {24, 12, 4, 1}, ELEMENTS_PACKED},  {DataType::uint8, {24, 12, 4, 1}, ELEMENTS_PACKED},
        {DataType::float16, {100, 50, 7, 1}, ELEMENTS_NARROW}, {DataType::int8, {24, 12, 1, 3}, ELEMENTS_NARROW},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(core::to_string(row.strides));
        const Descriptor descriptor =
            largest_of(tensor(row.type, {2, 2, 4, 5}), tensor(row.type, {2, 2, 3, 4}, row.strides));
        EXPECT_EQ(elements_of_variant(descriptor), row.elements);
    }
}

TEST(WindowPlanning, GroupsHaveAThreadForEachElementOrWordOrFourPlanes) {
    struct Row {
        DataType type;
        std::uint32_t planes;
        std::uint32_t lanes;
        std::uint64_t groups;
    };
    const Row rows[] = {{DataType::float32, 8, 4, 32}, {DataType::int32, 8, 4, 32}, {DataType::float32, 7, 4, 28},
                        {DataType::float16, 8, 4, 16}, {DataType::uint8, 8, 4, 8},  {DataType::uint64, 8, 1, 128},
                        {DataType::float32, 1, 1, 4}};
    for (const Row& row : rows) {
        SCOPED_TRACE(testing::Message() << core::name(row.type) << ", planes: 4 times " << row.planes);
        const core::Dimensions from{row.planes == 1 ? 1u : 4u, row.planes, 33, 33};
        const core::Dimensions to{from[0], from[1], 32, 32};
        const auto dispatches = dispatches_of(largest_of(tensor(row.type, from), tensor(row.type, to)));
        ASSERT_EQ(dispatches.size(), 1u);
        EXPECT_EQ(dispatches.front().shader.defines.at(2).second, row.lanes);
        EXPECT_EQ(dispatches.front().groups, row.groups);
    }
}

Descriptor average_of(const core::Dimensions& window, std::uint32_t padding, const core::Dimensions& to) {
    return describe("AVERAGE_POOLING", {{"InputTensor", tensor(DataType::float32, {4, 8, 7, 9})},
                                        {"OutputTensor", tensor(DataType::float32, to)},
                                        {"WindowSize", operators::FieldValue(window)},
                                        {"Strides", {1, 1}},
                                        {"StartPadding", {padding, 0}},
                                        {"EndPadding", {0, padding}}});
}

TEST(WindowPlanning, MeansOfWholeChannelsAreReductions) {
    const auto shader = [](const Descriptor& descriptor) { return dispatches_of(descriptor).front().shader.shader; };
    EXPECT_EQ(shader(average_of({7, 9}, 0, {4, 8, 1, 1})), "reduction");
    EXPECT_EQ(shader(average_of({7, 8}, 0, {4, 8, 1, 2})), "window");
    EXPECT_EQ(shader(average_of({8, 9}, 1, {4, 8, 1, 2})), "window");
}

TEST(WindowPlanning, SaysWhatItCannotCount) {
    Descriptor descriptor =
        largest_of(tensor(DataType::float32, {1, 1, 4, 4}), tensor(DataType::float32, {1, 1, 1, 3}));
    const auto& unsupported = d3d12::find_binding("MAX_POOLING")->unsupported;
    EXPECT_FALSE(unsupported(descriptor));
    descriptor = with(descriptor, {{"StartPadding", {0xfffffffb, 0}}, {"Strides", {0xffffffff, 1}}});
    EXPECT_FALSE(unsupported(descriptor));
    descriptor = with(descriptor, {{"EndPadding", {1, 0}}});
    EXPECT_THAT(unsupported(descriptor).value_or(""), testing::HasSubstr("2^32 positions"));
}

// ---- Against the reference ----

TEST_F(WindowsOnD3d12, AveragesOfRandomWindows) {
    for (std::size_t turn = 0; turn < 120 && !HasFailure(); ++turn) {
        const std::string_view op = turn % 2 == 0 ? "AVERAGE_POOLING" : "AVERAGE_POOLING1";
        const Windows windows = random_windows(random_, turn % 2 != 0);
        expect_like_reference(
            pooling(op, real_types[turn / 2 % 2], windows, {{"IncludePadding", random_.between(0, 1)}}));
    }
}

TEST_F(WindowsOnD3d12, AveragesOfWholeChannels) {
    for (const DataType type : real_types) {
        for (const core::Dimensions& sizes : {core::Dimensions{2, 3, 7, 7}, {1, 2, 300, 401}, {3, 2, 4, 5, 6}}) {
            Windows windows;
            windows.image = sizes;
            windows.stops.assign(sizes.size(), 1);
            std::copy_n(sizes.begin(), 2, windows.stops.begin());
            windows.size.assign(sizes.begin() + 2, sizes.end());
            windows.stride = windows.dilation = Numbers(windows.size.size(), 1);
            windows.start = windows.end = Numbers(windows.size.size(), 0);
            expect_like_reference(
                pooling("AVERAGE_POOLING1", type, windows, {{"IncludePadding", random_.between(0, 1)}}));
        }
    }
}

TEST_F(WindowsOnD3d12, RootsOfRandomWindows) {
    for (std::size_t turn = 0; turn < 120 && !HasFailure(); ++turn) {
        const std::string_view op = turn % 2 == 0 ? "LP_POOLING" : "LP_POOLING1";
        const Windows windows = random_windows(random_, turn % 2 != 0);
        expect_like_reference(pooling(op, real_types[turn / 2 % 2], windows, {{"P", random_.between(1, 4)}}));
    }
}

TEST_F(WindowsOnD3d12, LargestOfEveryType) {
    for (std::size_t turn = 0; turn < 12; ++turn) {
        for (const DataType type : all_types) {
            expect_like_reference(pooling("MAX_POOLING", type, random_windows(random_, false)), turn % 3 == 0);
            for (const std::string_view op : {"MAX_POOLING1", "MAX_POOLING2"}) {
                const Windows windows = random_windows(random_, op == "MAX_POOLING2");
                Descriptor descriptor = pooling(op, type, windows);
                if (!random_.chance(4)) {
                    const DataType index_type = random_.chance(2) ? DataType::uint64 : DataType::uint32;
                    descriptor = with(descriptor, {{"OutputIndicesTensor", target(index_type, windows.stops)}});
                }
                expect_like_reference(descriptor, turn % 3 == 0);
            }
            ASSERT_FALSE(HasFailure());
        }
    }
}

/// Special bit patterns: both zeros, infinities, NaN of either sign, and numbers that drivers may flush.
TEST_F(WindowsOnD3d12, LargestOfSpecialNumbers) {
    constexpr std::array words{0x00000000u, 0x80000000u, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00000u,
                               0x00000001u, 0x80000001u, 0x007fffffu, 0xff7fffffu, 0x3f800000u, 0xbf800000u};
    constexpr std::array halves{0x0000u, 0x8000u, 0x7c00u, 0xfc00u, 0x7e00u, 0xfe00u,
                                0x0001u, 0x8001u, 0x03ffu, 0xfbffu, 0x3c00u, 0xbc00u};
    for (std::size_t turn = 0; turn < 60 && !HasFailure(); ++turn) {
        const DataType type = real_types[turn % 2];
        Windows windows = random_windows(random_, true);
        Descriptor descriptor = with(pooling("MAX_POOLING2", type, windows),
                                     {{"OutputIndicesTensor", target(DataType::uint32, windows.stops)}});
        std::vector<core::Tensor> inputs;
        inputs.push_back(blank_tensor(*descriptor.tensor("InputTensor")));
        // Uses only a few kinds of numbers, so that some windows contain a single kind.
        const std::uint32_t from = random_.between(0, 11);
        const std::uint32_t kinds = random_.between(1, 4);
        for (const std::size_t address : addresses_of(inputs.front().desc)) {
            const std::uint32_t kind = (from + random_.between(0, kinds - 1)) % 12;
            core::store_element(inputs.front().buffer.bytes(), type, address,
                                type == DataType::float32 ? words.at(kind) : halves.at(kind));
        }
        tests::expect_like_reference(engine(), descriptor, inputs);
    }
}

TEST_F(WindowsOnD3d12, QuantizedAveragesOfRandomWindows) {
    for (std::size_t turn = 0; turn < 120 && !HasFailure(); ++turn) {
        const Windows windows = random_windows(random_, true);
        const DataType type = byte_types[turn % 2];
        const DataType made = byte_types[random_.between(0, 1)];
        const auto parameter = [&](DataType of) {
            core::Dimensions sizes(windows.image.size(), 1);
            sizes[1] = random_.chance(2) ? windows.image[1] : 1;
            return source(of, sizes);
        };
        Descriptor descriptor = pooling("QUANTIZED_LINEAR_AVERAGE_POOLING", type, windows,
                                        {{"OutputTensor", target(made, windows.stops)},
                                         {"InputScaleTensor", parameter(DataType::float32)},
                                         {"OutputScaleTensor", parameter(DataType::float32)},
                                         {"IncludePadding", random_.between(0, 1)}});
        if (!random_.chance(3)) {
            descriptor = with(descriptor, {{"InputZeroPointTensor", parameter(type)}});
        }
        if (!random_.chance(3)) {
            descriptor = with(descriptor, {{"OutputZeroPointTensor", parameter(made)}});
        }
        expect_like_reference(descriptor);
    }
}

TEST_F(WindowsOnD3d12, GradientsOfRandomWindows) {
    for (std::size_t turn = 0; turn < 160 && !HasFailure(); ++turn) {
        const DataType type = real_types[turn / 2 % 2];
        const bool is_average = turn % 2 == 0;
        const std::string_view op = is_average ? "AVERAGE_POOLING_GRAD" : "MAX_POOLING_GRAD";
        Windows windows = random_windows(random_, false);
        if (is_average && random_.chance(3)) {
            // A random number of windows.
            windows.stops.back() = random_.between(1, 20);
        }
        const std::vector<Setting> tensors{{"InputGradientTensor", source(type, windows.stops)},
                                           {"OutputGradientTensor", target(type, windows.image)}};
        const Setting last = is_average ? Setting("IncludePadding", random_.between(0, 1))
                                        : Setting("InputTensor", source(type, windows.image));
        expect_like_reference(describe(op, settings_of(windows, op) + tensors + std::vector<Setting>{last}));
    }
}

TEST_F(WindowsOnD3d12, LocalResponsesOfRandomShapes) {
    for (std::size_t turn = 0; turn < 160 && !HasFailure(); ++turn) {
        const DataType type = real_types[turn / 2 % 2];
        const core::Dimensions sizes{random_.between(1, 3), random_.between(1, 12), random_.between(1, 9),
                                     random_.between(1, 9)};
        const std::vector<Setting> settings{
            {"InputTensor", source(type, sizes)},  {"CrossChannel", random_.between(0, 1)},
            {"LocalSize", random_.between(1, 7)},  {"Alpha", random_.between_reals(0, 1)},
            {"Beta", random_.between_reals(0, 2)}, {"Bias", random_.between_reals(0.5, 2)}};
        expect_like_reference(
            turn % 2 == 0 ? describe("LOCAL_RESPONSE_NORMALIZATION",
                                     settings + std::vector<Setting>{{"OutputTensor", target(type, sizes)}})
                          : describe("LOCAL_RESPONSE_NORMALIZATION_GRAD",
                                     settings + std::vector<Setting>{{"InputGradientTensor", source(type, sizes)},
                                                                     {"OutputGradientTensor", target(type, sizes)}}));
    }
}

}  // namespace
}  // namespace dmlconform::tests::window_test
