// Sweeps the lengths at which kernels split their work. An operation on a long tensor must give the same bits as the
// same operation on short pieces of it, which no kernel splits, and the same bits for any layout.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "engine/core/data_type.h"
#include "engine/core/guard.h"
#include "engine/cpu/kernel.h"
#include "engine/operators/rules.h"
#include "tests/cpu/random_tensors.h"
#include "tests/packed_tensors.h"

namespace dmlconform::tests::lengths_test {
namespace {

using core::DataType;
using core::Dimensions;
using core::Tensor;
using core::TensorDesc;
using operators::Descriptor;
using Settings = std::vector<Setting>;

/// Every number in engine/cpu at which a loop is divided, or another loop takes over. A test below compares this list
/// with the sources.
constexpr std::uint32_t split_at[] = {4, 8, 16, 32, 48, 64, 128, 192, 256, 512, 2048, 4096, 8192, 16384, 65536};

/// Shorter than any of them.
constexpr std::uint32_t piece = 3;
/// Pieces for lengths above this are longer, so that a sweep takes seconds; they are still not split.
constexpr std::uint32_t long_length = 1024;
constexpr std::uint32_t longer_piece = 61;

struct Row {
    std::string_view op;
    std::string_view what;
    std::function<Settings(std::uint32_t length)> settings;
    /// The tensors that pieces are taken of, and the dimension that has `length` elements.
    std::map<std::string_view, std::size_t> cut;
    /// The limit on lengths, for operators that take long.
    std::uint32_t longest = 65537;
};

TensorDesc of(DataType type, Dimensions sizes) {
    return tensor(type, std::move(sizes));
}

Settings alike(const Dimensions& sizes, Settings more = {}) {
    more.emplace_back("InputTensor", real(sizes));
    more.emplace_back("OutputTensor", real(sizes));
    return more;
}

Settings reduced(int function, DataType type, const Dimensions& sizes, std::size_t axis) {
    Dimensions output = sizes;
    output[axis] = 1;
    return {{"Function", function},
            {"InputTensor", of(type, sizes)},
            {"OutputTensor", of(type, output)},
            {"Axes", {static_cast<std::int64_t>(axis)}}};
}

Settings convolved(DataType type, std::uint32_t batch, std::uint32_t width, bool has_direction) {
    Settings result{{"InputTensor", of(type, {batch, 2, 1, width})},
                    {"FilterTensor", of(type, {3, 2, 1, 1})},
                    {"OutputTensor", of(has_direction ? type : DataType::int32, {batch, 3, 1, width})},
                    {"Strides", {1, 1}},
                    {"Dilations", {1, 1}},
                    {"StartPadding", {0, 0}},
                    {"EndPadding", {0, 0}},
                    {"GroupCount", 1}};
    if (has_direction) {
        result.emplace_back("Mode", 1);
        result.emplace_back("Direction", 0);
        result.emplace_back("OutputPadding", std::initializer_list<std::int64_t>{0, 0});
    }
    return result;
}

/// One window of two elements for each row, in `batch` images.
Settings pooled(std::uint32_t batch, Settings more = {}) {
    more.insert(more.end(), {{"InputTensor", real({batch, 1, 1, 2})},
                             {"OutputTensor", real({batch, 1, 1, 1})},
                             {"Strides", {1, 1}},
                             {"WindowSize", {1, 2}},
                             {"StartPadding", {0, 0}},
                             {"EndPadding", {0, 0}}});
    return more;
}

const std::vector<Row>& rows() {
    using N = std::uint32_t;
    constexpr auto f32 = DataType::float32;
    constexpr auto i32 = DataType::int32;
    static const std::map<std::string_view, std::size_t> first{{"InputTensor", 0}, {"OutputTensor", 0}};
    static const std::map<std::string_view, std::size_t> last{{"InputTensor", 1}, {"OutputTensor", 1}};
    static const std::vector<Row> result{
        {"ELEMENT_WISE_ABS", "", [](N n) { return alike({n}); }, first},
        {"ELEMENT_WISE_ABS", "rows",
         [](N n) {
             return alike({n, 5});
         },
         first},
        {"ELEMENT_WISE_ABS", "columns",
         [](N n) {
             return alike({5, n});
         },
         last},
        {"CAST", "to FLOAT16",
         [](N n) {
             return Settings{{"InputTensor", real({n})}, {"OutputTensor", of(DataType::float16, {n})}};
         },
         first},
        {"ELEMENT_WISE_ADD",
         "INT8",
         [](N n) {
             const TensorDesc desc = of(DataType::int8, {n});
             return Settings{{"ATensor", desc}, {"BTensor", desc}, {"OutputTensor", desc}};
         },
         {{"ATensor", 0}, {"BTensor", 0}, {"OutputTensor", 0}}},
        {"GATHER_ELEMENTS",
         "",
         [](N n) {
             return Settings{{"InputTensor", real({7})},
                             {"IndicesTensor", of(DataType::uint32, {n})},
                             {"OutputTensor", real({n})},
                             {"Axis", 0}};
         },
         {{"IndicesTensor", 0}, {"OutputTensor", 0}}},
        {"GATHER",
         "",
         [](N n) {
             return Settings{{"InputTensor", real({7})},
                             {"IndicesTensor", of(DataType::int64, {n})},
                             {"OutputTensor", real({n})},
                             {"IndexDimensions", 1},
                             {"Axis", 0}};
         },
         {{"IndicesTensor", 0}, {"OutputTensor", 0}}},
        {"ONE_HOT",
         "",
         [](N n) {
             return Settings{{"IndicesTensor", of(DataType::uint32, {n, 1})},
                             {"ValuesTensor", real({1, 2})},
                             {"OutputTensor", real({n, 3})},
                             {"Axis", 1}};
         },
         {{"IndicesTensor", 0}, {"OutputTensor", 0}}},
        {"SLICE1", "within rows",
         [](N n) {
             return Settings{{"InputTensor", real({n, 5})},
                             {"OutputTensor", real({n, 2})},
                             {"InputWindowOffsets", {0, 1}},
                             {"InputWindowSizes", {static_cast<std::int64_t>(n), 3}},
                             {"InputWindowStrides", {1, -2}}};
         },
         first},
        {"SLICE1", "of columns",
         [](N n) {
             return Settings{{"InputTensor", real({5, n})},
                             {"OutputTensor", real({2, n})},
                             {"InputWindowOffsets", {1, 0}},
                             {"InputWindowSizes", {3, static_cast<std::int64_t>(n)}},
                             {"InputWindowStrides", {-2, 1}}};
         },
         last},
        {"PADDING", "of rows",
         [](N n) {
             return Settings{{"InputTensor", real({n, 3})},
                             {"OutputTensor", real({n, 6})},
                             {"PaddingMode", 1},
                             {"StartPadding", {0, 1}},
                             {"EndPadding", {0, 2}}};
         },
         first},
        {"TILE", "of rows",
         [](N n) {
             return Settings{{"InputTensor", real({n, 2})}, {"OutputTensor", real({n, 6})}, {"Repeats", {1, 3}}};
         },
         first},
        {"REDUCE", "sums of rows",
         [](N n) {
             return reduced(10, f32, {n, 5}, 1);
         },
         first},
        {"REDUCE", "sums of columns",
         [](N n) {
             return reduced(10, f32, {5, n}, 0);
         },
         last},
        {"REDUCE", "sums of integers",
         [](N n) {
             return reduced(10, i32, {5, n}, 0);
         },
         last},
        {"REDUCE", "greatest of columns",
         [](N n) {
             return reduced(7, f32, {5, n}, 0);
         },
         last},
        {"REDUCE", "products of rows",
         [](N n) {
             return reduced(9, f32, {n, 5}, 1);
         },
         first},
        {"ARGMAX", "of columns",
         [](N n) {
             return Settings{
                 {"InputTensor", real({5, n})}, {"OutputTensor", of(DataType::uint32, {1, n})}, {"Axes", {0}}};
         },
         last},
        {"CUMULATIVE_SUMMATION", "of columns",
         [](N n) {
             return alike({5, n}, {{"Axis", 0}});
         },
         last},
        {"CUMULATIVE_SUMMATION", "of rows",
         [](N n) {
             return alike({n, 5}, {{"Axis", 1}});
         },
         first},
        {"CUMULATIVE_PRODUCT", "of columns",
         [](N n) {
             return alike({5, n}, {{"Axis", 0}});
         },
         last},
        {"ACTIVATION_SOFTMAX1", "of columns",
         [](N n) {
             return alike({5, n}, {{"Axes", {0}}});
         },
         last},
        {"ACTIVATION_SOFTMAX1", "of rows",
         [](N n) {
             return alike({n, 5}, {{"Axes", {1}}});
         },
         first},
        {"ACTIVATION_LOG_SOFTMAX1", "of columns",
         [](N n) {
             return alike({5, n}, {{"Axes", {0}}});
         },
         last},
        {"ACTIVATION_HARDMAX1", "of columns",
         [](N n) {
             return alike({5, n}, {{"Axes", {0}}});
         },
         last},
        {"LP_NORMALIZATION", "of columns",
         [](N n) {
             return alike({5, n}, {{"Axis", 0}, {"Epsilon", 1e-3F}, {"P", 2}});
         },
         last},
        {"MEAN_VARIANCE_NORMALIZATION1", "of columns",
         [](N n) {
             return alike({5, n}, {{"Axes", {0}}, {"NormalizeVariance", 1}, {"Epsilon", 1e-3F}});
         },
         last},
        {"MEAN_VARIANCE_NORMALIZATION1", "of rows",
         [](N n) {
             return alike({n, 5}, {{"Axes", {1}}, {"NormalizeVariance", 1}, {"Epsilon", 1e-3F}});
         },
         first},
        {"TOP_K1",
         "of columns",
         [](N n) {
             return Settings{{"InputTensor", real({5, n})},
                             {"OutputValueTensor", real({3, n})},
                             {"OutputIndexTensor", of(DataType::uint32, {3, n})},
                             {"Axis", 0},
                             {"K", 3}};
         },
         {{"InputTensor", 1}, {"OutputValueTensor", 1}, {"OutputIndexTensor", 1}}},
        {"GEMM",
         "rows",
         [](N n) {
             return Settings{
                 {"ATensor", real({n, 5})}, {"BTensor", real({5, 3})}, {"OutputTensor", real({n, 3})}, {"Alpha", 1}};
         },
         {{"ATensor", 0}, {"OutputTensor", 0}}},
        {"GEMM",
         "columns",
         [](N n) {
             return Settings{
                 {"ATensor", real({3, 5})}, {"BTensor", real({5, n})}, {"OutputTensor", real({3, n})}, {"Alpha", 1}};
         },
         {{"BTensor", 1}, {"OutputTensor", 1}}},
        {"GEMM",
         "columns of one row",
         [](N n) {
             return Settings{
                 {"ATensor", real({1, 5})}, {"BTensor", real({5, n})}, {"OutputTensor", real({1, n})}, {"Alpha", 1}};
         },
         {{"BTensor", 1}, {"OutputTensor", 1}}},
        {"MATRIX_MULTIPLY_INTEGER",
         "rows",
         [](N n) {
             return Settings{{"ATensor", bytes({n, 5})}, {"BTensor", bytes({5, 3})}, {"OutputTensor", of(i32, {n, 3})}};
         },
         {{"ATensor", 0}, {"OutputTensor", 0}}},
        {"MATRIX_MULTIPLY_INTEGER",
         "columns",
         [](N n) {
             return Settings{{"ATensor", bytes({3, 5})}, {"BTensor", bytes({5, n})}, {"OutputTensor", of(i32, {3, n})}};
         },
         {{"BTensor", 1}, {"OutputTensor", 1}}},
        {"CONVOLUTION",
         "positions",
         [](N n) { return convolved(f32, 1, n, true); },
         {{"InputTensor", 3}, {"OutputTensor", 3}}},
        {"CONVOLUTION", "images", [](N n) { return convolved(f32, n, 2, true); }, first, 8193},
        {"CONVOLUTION_INTEGER",
         "positions",
         [](N n) { return convolved(DataType::uint8, 1, n, false); },
         {{"InputTensor", 3}, {"OutputTensor", 3}}},
        {"CONVOLUTION_INTEGER", "images", [](N n) { return convolved(DataType::uint8, n, 2, false); }, first, 8193},
        {"AVERAGE_POOLING", "images", [](N n) { return pooled(n); }, first},
        {"MAX_POOLING", "images", [](N n) { return pooled(n); }, first},
        {"RESAMPLE", "of rows",
         [](N n) {
             return Settings{{"InputTensor", real({n, 3})},
                             {"OutputTensor", real({n, 6})},
                             {"InterpolationMode", 1},
                             {"Scales", operators::FieldValue(std::vector<float>{1, 2})}};
         },
         first},
    };
    return result;
}

/// The elements first … last - 1 of each line along a dimension, without gaps.
Tensor part_of(const Tensor& whole, std::size_t dimension, std::uint32_t first, std::uint32_t last) {
    Dimensions sizes = whole.desc.sizes;
    sizes[dimension] = last - first;
    Tensor part(of(whole.desc.data_type, sizes));
    const std::size_t width = core::bytes_of(whole.desc.data_type);
    const std::size_t inner =
        width * count_of(Dimensions(sizes.begin() + static_cast<std::ptrdiff_t>(dimension) + 1, sizes.end()));
    const std::size_t outer =
        count_of(Dimensions(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(dimension)));
    for (std::size_t o = 0; o < outer; ++o) {
        std::memcpy(part.buffer.bytes().data() + o * (last - first) * inner,
                    whole.buffer.bytes().data() + (o * whole.desc.sizes[dimension] + first) * inner,
                    (last - first) * inner);
    }
    return part;
}

Tensor random_input(Random& random, const TensorDesc& desc, bool is_index) {
    Tensor result(desc);
    const std::size_t count = count_of(desc.sizes);
    const auto bytes = result.buffer.bytes();
    for (std::size_t i = 0; i < count; ++i) {
        if (desc.data_type == DataType::float32) {
            const float number = random.normal();
            std::memcpy(bytes.data() + i * sizeof(float), &number, sizeof(float));
        } else {
            const std::uint64_t bits = is_index ? random.pick(0u, 2u) : random.bits();
            const std::size_t width = core::bytes_of(desc.data_type);
            std::memcpy(bytes.data() + i * width, &bits, width);
        }
    }
    return result;
}

/// Null for absent inputs.
using Inputs = std::vector<const Tensor*>;

Inputs pointers_to(const std::vector<Tensor>& tensors) {
    Inputs pointers;
    for (const Tensor& tensor : tensors) {
        pointers.push_back(tensor.desc.sizes.empty() ? nullptr : &tensor);
    }
    return pointers;
}

/// Without the bounds of elements, which take most of the reference's time.
std::vector<Tensor> outputs_of(const Descriptor& descriptor, const Inputs& inputs) {
    std::vector<Tensor> outputs;
    std::vector<Tensor*> pointers;
    const auto slots = descriptor.outputs();
    outputs.reserve(slots.size());
    for (const operators::TensorSlot& slot : slots) {
        outputs.push_back(core::output_tensor(*slot.desc));
        pointers.push_back(&outputs.back());
    }
    cpu::find_kernel(descriptor.schema->short_name())->compute({descriptor, inputs, pointers, {}});
    return outputs;
}

bool have_same_bits(const Tensor& a, const Tensor& b) {
    const std::size_t size = count_of(a.desc.sizes) * core::bytes_of(a.desc.data_type);
    return a.desc.sizes == b.desc.sizes && std::memcmp(a.buffer.bytes().data(), b.buffer.bytes().data(), size) == 0;
}

/// True for all pieces of short tensors, and for pieces of long ones near the ends and near the numbers of the list.
bool is_compared(std::uint32_t begin, std::uint32_t length) {
    const auto is_near = [&](std::uint32_t split) {
        return begin + longer_piece >= split && begin <= split + longer_piece;
    };
    return length <= long_length || is_near(0) || is_near(length) || std::ranges::any_of(split_at, is_near);
}

void expect_pieces_alike(const Row& row, std::uint32_t length, const Inputs& inputs,
                         const std::vector<Tensor>& outputs) {
    const std::uint32_t step = length > long_length ? longer_piece : piece;
    for (std::uint32_t begin = 0; begin < length; begin += step) {
        if (!is_compared(begin, length)) {
            continue;
        }
        const std::uint32_t end = std::min(begin + step, length);
        const Descriptor part = describe(row.op, row.settings(end - begin));
        const auto slots = part.inputs();
        std::vector<Tensor> parts(slots.size());
        Inputs pointers = inputs;
        for (std::size_t i = 0; i < slots.size(); ++i) {
            const auto cut = row.cut.find(slots[i].name);
            if (cut != row.cut.end() && inputs[i] != nullptr) {
                parts[i] = part_of(*inputs[i], cut->second, begin, end);
                pointers[i] = &parts[i];
            }
        }
        const std::vector<Tensor> made = outputs_of(part, pointers);
        for (std::size_t o = 0; o < made.size(); ++o) {
            const std::string name = part.outputs()[o].name;
            ASSERT_TRUE(have_same_bits(made[o], part_of(outputs[o], row.cut.at(name), begin, end)))
                << name << " from " << begin;
        }
    }
}

/// The same sizes with gaps between elements, and with dimensions in the opposite order.
std::vector<TensorDesc> other_layouts(const TensorDesc& desc) {
    Dimensions gaps;
    for (const std::uint64_t stride : core::packed_strides(desc.sizes)) {
        gaps.push_back(static_cast<std::uint32_t>(3 * stride));
    }
    Dimensions turned(desc.sizes.size());
    std::uint32_t stride = 1;
    for (std::size_t d = 0; d < desc.sizes.size(); ++d) {
        turned[d] = stride;
        stride *= desc.sizes[d];
    }
    return {tensor(desc.data_type, desc.sizes, gaps), tensor(desc.data_type, desc.sizes, turned)};
}

Tensor laid_out(const Tensor& elements, const TensorDesc& desc) {
    Tensor result = blank_tensor(desc);
    const auto addresses = addresses_of(desc);
    const std::size_t width = core::bytes_of(desc.data_type);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        std::memcpy(result.buffer.bytes().data() + addresses[i] * width, elements.buffer.bytes().data() + i * width,
                    width);
    }
    return result;
}

/// Lays out inputs or outputs in another way.
void expect_layouts_alike(const Descriptor& descriptor, const Inputs& inputs, const std::vector<Tensor>& outputs) {
    for (const std::size_t layout : {std::size_t{0}, std::size_t{1}}) {
        for (const bool of_inputs : {true, false}) {
            Descriptor other = descriptor;
            std::vector<Tensor> others(inputs.size());
            Inputs pointers = inputs;
            std::size_t number = 0;
            for (std::size_t f = 0; f < other.values.size(); ++f) {
                auto* const desc = std::get_if<TensorDesc>(&other.values[f]);
                const bool is_input = other.schema->fields[f].kind == operators::FieldKind::input;
                if (desc != nullptr && is_input == of_inputs) {
                    *desc = other_layouts(*desc)[layout];
                    if (is_input) {
                        others[number] = laid_out(*inputs[number], *desc);
                        pointers[number] = &others[number];
                    }
                }
                number += other.schema->fields[f].is_tensor() && is_input ? 1 : 0;
            }
            const std::vector<Tensor> made = outputs_of(other, pointers);
            for (std::size_t o = 0; o < made.size(); ++o) {
                ASSERT_TRUE(have_same_bits(core::packed_copy(made[o]), outputs[o]))
                    << "output " << o << (of_inputs ? " of inputs" : "") << " with layout " << layout;
            }
        }
    }
}

class Lengths : public testing::TestWithParam<std::size_t> {};

TEST_P(Lengths, AreThoseOfTheirPieces) {
    const Row& row = rows()[GetParam()];
    Random random(28);
    for (const std::uint32_t split : split_at) {
        for (const std::uint32_t length : {split - 1, split, split + 1}) {
            if (length > row.longest) {
                continue;
            }
            SCOPED_TRACE(fmt::format("{} {}, {} elements", row.op, row.what, length));
            const Descriptor descriptor = describe(row.op, row.settings(length));
            const auto verdict = operators::validate(descriptor, core::highest_feature_level);
            ASSERT_FALSE(verdict) << verdict->message;
            std::vector<Tensor> inputs;
            for (const operators::TensorSlot& slot : descriptor.inputs()) {
                inputs.push_back(slot.desc == nullptr ? Tensor()
                                                      : random_input(random, *slot.desc, slot.name == "IndicesTensor"));
            }
            const Inputs pointers = pointers_to(inputs);
            const std::vector<Tensor> outputs = outputs_of(descriptor, pointers);
            expect_pieces_alike(row, length, pointers, outputs);
            expect_layouts_alike(descriptor, pointers, outputs);
            if (HasFatalFailure()) {
                return;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, Lengths, testing::Range(std::size_t{0}, rows().size()), [](const auto& parameter) {
    const Row& row = rows()[parameter.param];
    std::string name = fmt::format("{}_{}", row.op, row.what);
    std::ranges::replace(name, ' ', '_');
    return name.ends_with('_') ? name.substr(0, name.size() - 1) : name;
});

/// Numbers in the sources at which no loop is divided, with what they are.
const std::map<std::string_view, std::string_view> other_numbers{
    {"most_tensors", "tensors of an operator"},
    {"repetitions", "of a measurement"},
    {"multiply_add_steps", "of a measurement"},
    {"enough", "a bound on the elements of a window, beyond which more make no difference"},
    {"steps_per_thread", "work from which threads share a loop (tests/cpu/parallel_test.cpp)"},
    {"rounds", "of Philox"},
    {"most_samples", "the largest number of samples that regions may have"},
    {"most_narrow_stops", "windows that DirectML would not come to an end with (tests/cpu/variants_test.cpp)"},
    {"bias", "of the exponents of doubles"},
    {"run_tile_columns", "columns of a tile of several runs (tests/cpu/runs_test.cpp)"},
    {"most_block_columns", "columns of a block of several runs (tests/cpu/runs_test.cpp)"},
    {"fraction_bits", "of doubles"},
    {"most_kept", "numbers of a product that are kept for the next block (tests/cpu/product_blocks_test.cpp)"}};

std::string content_of(const std::filesystem::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// A new number at which a kernel splits its work needs an entry in the list above, or a reason.
TEST(LengthsInSources, AreAllSwept) {
    static const std::regex constant(
        R"(constexpr (?:std::u?int64_t|std::u?int32_t|std::size_t|int) (\w+) = (?:(\d[\d']*)|1 << (\d+));)");
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(DMLCONFORM_SOURCE "/engine/cpu")) {
        if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") {
            continue;
        }
        const std::string text = content_of(entry.path());
        for (std::sregex_iterator match(text.begin(), text.end(), constant), end; match != end; ++match) {
            std::string digits = (*match)[2];
            std::erase(digits, '\'');
            const std::uint64_t number =
                digits.empty() ? std::uint64_t{1} << std::stoul((*match)[3]) : std::stoull(digits);
            const bool is_swept = std::ranges::find(split_at, number) != std::end(split_at);
            const std::string name = (*match)[1];
            found.insert(name);
            EXPECT_TRUE(number < split_at[0] || is_swept || other_numbers.contains(name))
                << entry.path().filename() << ": " << name << " = " << number;
        }
    }
    EXPECT_GT(found.size(), 30u);
    for (const auto& [name, reason] : other_numbers) {
        EXPECT_TRUE(found.contains(std::string(name))) << name << " is not in the sources any more";
    }
}

}  // namespace
}  // namespace dmlconform::tests::lengths_test
