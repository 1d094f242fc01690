// Tests of attention operators on the D3D12 engine: their plans, and shapes that are too large for cases.
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "engine/operators/enumerators.h"
#include "tests/d3d12/against_reference.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::attention_test {
namespace {

using core::DataType;
using operators::Descriptor;
using testing::ElementsAreArray;
using testing::HasSubstr;

constexpr std::array types{DataType::float32, DataType::float16};

using MaskType = operators::MultiheadAttentionMaskType;

struct Shape {
    std::uint32_t batch = 1;
    std::uint32_t queries = 1;
    std::uint32_t keys = 1;
    std::uint32_t past = 0;
    std::uint32_t heads = 1;
    std::uint32_t key_heads = 1;
    std::uint32_t size = 1;
    std::uint32_t value_size = 1;

    [[nodiscard]] std::uint32_t all_keys() const { return past + keys; }
};

/// A packed layout, or a random one.
core::TensorDesc source_of(Random* layout, DataType type, const core::Dimensions& sizes) {
    return layout == nullptr ? tensor(type, sizes) : random_input(*layout, type, sizes);
}

core::TensorDesc target_of(Random* layout, DataType type, const core::Dimensions& sizes) {
    return layout == nullptr ? tensor(type, sizes) : random_output(*layout, type, sizes);
}

/// Queries, keys and values in separate tensors, with past keys and values if the shape has them.
Descriptor attention(DataType type, const Shape& s, Random* layout = nullptr) {
    Descriptor descriptor =
        describe("MULTIHEAD_ATTENTION1",
                 {{"QueryTensor", source_of(layout, type, {s.batch, s.queries, s.heads * s.size})},
                  {"KeyTensor", source_of(layout, type, {s.batch, s.keys, s.key_heads * s.size})},
                  {"ValueTensor", source_of(layout, type, {s.batch, s.keys, s.key_heads * s.value_size})},
                  {"OutputTensor", target_of(layout, type, {s.batch, s.queries, s.heads * s.value_size})},
                  {"Scale", 1 / std::sqrt(static_cast<double>(s.size))},
                  {"MaskFilterValue", -10000},
                  {"QueryHeadCount", s.heads},
                  {"KeyValueHeadCount", s.key_heads}});
    if (s.past != 0) {
        descriptor = with(descriptor,
                          {{"PastKeyTensor", source_of(layout, type, {s.batch, s.key_heads, s.past, s.size})},
                           {"PastValueTensor", source_of(layout, type, {s.batch, s.key_heads, s.past, s.value_size})}});
    }
    return descriptor;
}

Setting bias(DataType type, const Shape& s, Random* layout = nullptr) {
    return {"BiasTensor", source_of(layout, type, {s.heads * s.size + s.key_heads * (s.size + s.value_size)})};
}

Setting position_bias(DataType type, const Shape& s, Random* layout = nullptr) {
    return {"RelativePositionBiasTensor", source_of(layout, type, {s.batch, s.heads, s.queries, s.all_keys()})};
}

Setting present_keys(DataType type, const Shape& s, Random* layout = nullptr) {
    return {"OutputPresentKeyTensor", target_of(layout, type, {s.batch, s.key_heads, s.all_keys(), s.size})};
}

Setting present_values(DataType type, const Shape& s, Random* layout = nullptr) {
    return {"OutputPresentValueTensor", target_of(layout, type, {s.batch, s.key_heads, s.all_keys(), s.value_size})};
}

Descriptor masked(const Descriptor& descriptor, const Shape& s, MaskType type, Random* layout = nullptr) {
    const core::Dimensions sizes[] = {
        {1, s.batch}, {2, s.batch}, {3 * s.batch + 2}, {s.batch, s.heads, s.queries, s.all_keys()}};
    return with(descriptor,
                {{"MaskTensor", source_of(layout, DataType::int32, sizes[static_cast<std::size_t>(type) - 1])},
                 {"MaskType", static_cast<std::uint32_t>(type)}});
}

/// Masks contain numbers around the valid positions, or 0 and 1.
std::vector<core::Tensor> random_inputs(Random& random, const Descriptor& descriptor) {
    std::vector<core::Tensor> inputs;
    for (const operators::TensorSlot& slot : descriptor.inputs()) {
        if (slot.desc == nullptr) {
            inputs.emplace_back();
        } else if (slot.name == "MaskTensor") {
            const double low = enumerator<MaskType>(descriptor, "MaskType") == MaskType::boolean ? 0 : -3;
            const double high = enumerator<MaskType>(descriptor, "MaskType") == MaskType::boolean ? 2 : 12;
            inputs.push_back(drawn(*slot.desc, [&] { return std::floor(random.between_reals(low, high)); }));
        } else {
            inputs.push_back(drawn(*slot.desc, [&] { return random.between_reals(-2, 2); }));
        }
    }
    return inputs;
}

// ---- Planning ----

std::vector<std::string_view> shaders_of(const Descriptor& descriptor) {
    std::vector<std::string_view> shaders;
    for (const auto& dispatch : d3d12::find_binding("MULTIHEAD_ATTENTION1")->plan(descriptor).dispatches) {
        shaders.push_back(dispatch.shader.shader);
    }
    return shaders;
}

/// Tensors are multiplied directly where their layout allows, and gathered first otherwise.
TEST(AttentionPlanning, DispatchesWhatIsNeeded) {
    constexpr std::string_view gather = "attention_heads";
    constexpr std::string_view add = "attention_scores";
    constexpr std::string_view multiply = "product_plain";
    constexpr std::string_view normalize = "reduction";
    const Shape s{2, 3, 4, 0, 2, 2, 5, 6};
    const DataType real = DataType::float32;
    const Descriptor plain = attention(real, s);
    const core::TensorDesc stacked = tensor(real, {2, 4, 2, 2, 5});
    const std::pair<Descriptor, std::vector<std::string_view>> rows[] = {
        {plain, {multiply, normalize, multiply}},
        {with(plain, {bias(real, s)}), {gather, gather, gather, multiply, normalize, multiply}},
        {with(plain, {present_keys(real, s)}), {gather, multiply, normalize, multiply}},
        {with(plain, {present_values(real, s)}), {gather, multiply, normalize, multiply}},
        {with(plain, {position_bias(real, s)}), {multiply, add, normalize, multiply}},
        {masked(plain, s, MaskType::key_sequence_length), {multiply, add, normalize, multiply}},
        {masked(with(plain, {position_bias(real, s)}), s, MaskType::boolean), {multiply, add, normalize, multiply}},
        // In a stacked tensor, the values begin at an offset.
        {with(plain, {{"KeyTensor", nullptr}, {"ValueTensor", nullptr}, {"StackedKeyValueTensor", stacked}}),
         {gather, multiply, normalize, multiply}},
        {attention(real, {2, 3, 4, 1, 2, 2, 5, 6}), {gather, gather, multiply, normalize, multiply}},
        {attention(DataType::float16, s), {gather, gather, gather, multiply, normalize, multiply}},
    };
    for (const auto& [descriptor, shaders] : rows) {
        EXPECT_THAT(shaders_of(descriptor), ElementsAreArray(shaders)) << text_of(descriptor);
    }
}

/// Temporaries may be much larger than the tensors.
TEST(AttentionPlanning, TemporariesThatAreTooLargeAreUnsupported) {
    const auto unsupported = d3d12::find_binding("MULTIHEAD_ATTENTION1")->unsupported;
    const std::uint32_t half = 1u << 15;
    const std::uint32_t whole = 1u << 16;
    const std::pair<Shape, std::string> rows[] = {
        {{1, half, half, 0, 1, 1, 1, 1}, ""},
        {{1, half, half, 1, 1, 1, 1, 1}, "the scores take 4295098368 bytes in FP32; shaders address 4294967296"},
        {{1, whole, whole, 0, 1, 1, 1, 1}, "the scores take 17179869184 bytes"},
        {{1, whole, 1, 0, 1, 1, half, 1}, "the queries take 8589934592 bytes"},
        {{1, 1, whole, 0, 1, 1, half, 1}, "the keys take 8589934592 bytes"},
        {{1, 1, whole, 0, 1, 1, 1, half}, "the values take 8589934592 bytes"},
        {{1, 1, 1, 0, 1, 1, (1u << 27) + 1, 1}, "each output sums 134217729 products"},
        {{1, 1, (1u << 27) + 1, 0, 1, 1, 1, 1}, "each output sums 134217729 products"},
    };
    for (const auto& [shape, expected] : rows) {
        const Descriptor descriptor = attention(DataType::float16, shape);
        SCOPED_TRACE(text_of(descriptor));
        const auto reason = unsupported(descriptor);
        EXPECT_EQ(reason.has_value(), !expected.empty());
        EXPECT_THAT(reason.value_or(""), HasSubstr(expected));
    }
}

using AttentionOnD3d12 = D3d12Test;

/// The tensors have 64 KiB, the temporary scores 4 GiB.
TEST_F(AttentionOnD3d12, TemporariesMustFitTheDevice) {
    const auto adapters = d3d12::enumerate_adapters();
    const std::uint64_t most = (*adapters)[*d3d12::choose_adapter(*adapters, "")].addressable.bytes;
    const std::uint32_t half = 1u << 15;
    const auto reason = engine().unsupported(attention(DataType::float16, {1, half, half, 0, 1, 1, 1, 1}));
    EXPECT_EQ(reason.has_value(), most < std::uint64_t{1} << 32);
    EXPECT_THAT(reason.value_or("needs a buffer of 4294967296 bytes"), HasSubstr("needs a buffer of 4294967296 bytes"));
}

// ---- Results ----

/// Random small shapes with random options.
TEST_F(AttentionOnD3d12, RandomDescriptors) {
    Random random(1);
    for (int turn = 0; turn < 150 && !HasFailure(); ++turn) {
        const DataType type = random.one_of(types);
        Random* const layout = random.chance(3) ? nullptr : &random;
        Shape s{random.between(1, 3),
                random.between(1, 5),
                random.between(1, 7),
                random.chance(2) ? 0 : random.between(1, 4),
                1,
                random.between(1, 3),
                random.between(1, 6),
                random.between(1, 6)};
        s.heads = s.key_heads * random.between(1, 3);
        Descriptor descriptor = attention(type, s, layout);
        for (const Setting& setting : {bias(type, s, layout), position_bias(type, s, layout),
                                       present_keys(type, s, layout), present_values(type, s, layout)}) {
            if (random.chance(2)) {
                descriptor = with(descriptor, {setting});
            }
        }
        if (const auto mask = static_cast<MaskType>(random.between(0, 4)); mask != MaskType::none) {
            descriptor = masked(descriptor, s, mask, layout);
        }
        descriptor = with(descriptor, {{"MaskFilterValue", random.chance(2) ? -10000 : -0.5}});
        expect_like_reference(engine(), descriptor, random_inputs(random, descriptor));
    }
}

/// Products in tiles, rows of scores that several threads and groups share, and sums that are split into slices.
TEST_F(AttentionOnD3d12, LargeShapes) {
    Random random(2);
    for (const Shape& s : {Shape{2, 70, 66, 5, 4, 2, 65, 33}, Shape{1, 130, 300, 0, 1, 1, 64, 64},
                           Shape{1, 1, 40000, 7, 2, 1, 3, 5}, Shape{2, 2, 3000, 0, 3, 3, 2, 2}}) {
        for (const DataType type : types) {
            Random* const layout = random.chance(2) ? &random : nullptr;
            const Descriptor descriptor =
                with(attention(type, s, layout), {present_keys(type, s, layout), position_bias(type, s, layout)});
            expect_like_reference(engine(), descriptor, random_inputs(random, descriptor));
        }
    }
}

/// Lengths and starts far out of range are not reduced modulo 2^32.
TEST_F(AttentionOnD3d12, LengthsAndStartsFarAway) {
    constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
    constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
    const Shape s{2, 3, 4, 0, 1, 1, 2, 2};
    Random random(3);
    const Descriptor descriptor =
        masked(attention(DataType::float32, s), s, MaskType::key_query_sequence_length_start_end);
    // Lengths, the queries' starts and end, the keys' starts and end.
    const std::array<std::int32_t, 8> masks[] = {{most, most, least, 0, most, 1, 5, 0},
                                                 {most, most, 0, 3, 6, least, least, 0},
                                                 {least, -1, 0, 3, 6, 0, 4, 0},
                                                 {2, 2, 0, 3, 6, most, most, 0}};
    for (const auto& mask : masks) {
        std::vector<core::Tensor> inputs = random_inputs(random, descriptor);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (descriptor.inputs()[i].name == "MaskTensor") {
                auto next = mask.begin();
                inputs[i] = drawn(*descriptor.inputs()[i].desc, [&] { return static_cast<double>(*next++); });
            }
        }
        expect_like_reference(engine(), descriptor, inputs);
    }
}

/// A mask of 1 adds nothing, and keys whose score is -infinity have no weight.
TEST_F(AttentionOnD3d12, InfiniteFilters) {
    Random random(4);
    const Shape s{2, 5, 6, 0, 2, 2, 3, 4};
    for (const DataType type : types) {
        for (const MaskType mask : {MaskType::key_sequence_length, MaskType::boolean}) {
            const Descriptor descriptor = with(masked(attention(type, s), s, mask),
                                               {{"MaskFilterValue", -std::numeric_limits<double>::infinity()}});
            std::vector<core::Tensor> inputs = random_inputs(random, descriptor);
            expect_like_reference(engine(), descriptor, inputs);
        }
    }
}

}  // namespace
}  // namespace dmlconform::tests::attention_test
