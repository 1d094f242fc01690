// Tests of engine/cpu/movement: operators with index tensors against their definitions, with tensors of any
// layout.
#include <gtest/gtest.h>

#include "tests/cpu/random_tensors.h"
#include "tests/cpu/references.h"

namespace dmlconform::tests::named_positions_test {
namespace {

using core::DataType;
using core::Tensor;
using operators::Descriptor;
using operators::FieldKind;

using Coordinates = std::vector<std::size_t>;

/// Sizes of a tensor and of its indices along an axis, and the tensors.
class Named {
public:
    explicit Named(Random& random) : random_(random) {
        sizes_ = random.sizes(random.pick<std::size_t>(1, 4), 6, 400);
        axis_ = random.pick<std::size_t>(0, sizes_.size() - 1);
    }

    [[nodiscard]] const core::Dimensions& sizes() const { return sizes_; }
    [[nodiscard]] std::size_t axis() const { return axis_; }
    [[nodiscard]] std::int64_t size() const { return sizes_[axis_]; }

    /// The sizes, with this size along the axis.
    [[nodiscard]] core::Dimensions with(std::uint32_t size) const {
        core::Dimensions sizes = sizes_;
        sizes[axis_] = size;
        return sizes;
    }
    /// Each element has a unique value, which tells its source.
    [[nodiscard]] Tensor data(const core::Dimensions& sizes) {
        return random_.filled<std::uint16_t>(random_.layout(DataType::uint16, sizes, FieldKind::input),
                                             [&] { return ++last_; });
    }
    /// Some indices are out of range, or count from the end.
    [[nodiscard]] Tensor indices(const core::Dimensions& sizes, std::int64_t size) {
        return random_.filled<std::int64_t>(random_.layout(DataType::int64, sizes, FieldKind::input),
                                            [&] { return random_.pick<std::int64_t>(-size - 1, size); });
    }
    [[nodiscard]] core::TensorDesc output(const core::Dimensions& sizes) {
        return random_.layout(DataType::uint16, sizes, FieldKind::output);
    }

private:
    Random& random_;
    core::Dimensions sizes_;
    std::size_t axis_ = 0;
    std::uint16_t last_ = 0;
};

std::vector<std::uint16_t> output_of(const Descriptor& descriptor, const std::vector<const Tensor*>& inputs) {
    return values_of<std::uint16_t>(reference_of(descriptor, inputs).outputs[0]);
}

TEST(NamedPositions, GatherElements) {
    Random random(11);
    for (int round = 0; round < 300; ++round) {
        Named named(random);
        const core::Dimensions picked = named.with(random.pick(1u, 9u));
        const Tensor input = named.data(named.sizes());
        const Tensor indices = named.indices(picked, named.size());
        const auto actual = output_of(describe("GATHER_ELEMENTS", {{"InputTensor", input.desc},
                                                                   {"IndicesTensor", indices.desc},
                                                                   {"OutputTensor", named.output(picked)},
                                                                   {"Axis", static_cast<int>(named.axis())}}),
                                      {&input, &indices});
        const auto from = values_of<std::uint16_t>(input);
        const auto names = values_of<std::int64_t>(indices);
        for (std::size_t i = 0; i < actual.size(); ++i) {
            Coordinates position = coordinates_of(i, picked);
            const std::int64_t index = names[i] < 0 ? names[i] + named.size() : names[i];
            position[named.axis()] = static_cast<std::size_t>(std::clamp<std::int64_t>(index, 0, named.size() - 1));
            ASSERT_EQ(actual[i], from[index_of(position, named.sizes())]) << round;
        }
    }
}

TEST(NamedPositions, Scatter) {
    Random random(12);
    for (int round = 0; round < 300; ++round) {
        Named named(random);
        const core::Dimensions put = named.with(random.pick(1u, static_cast<std::uint32_t>(named.size())));
        const Tensor input = named.data(named.sizes());
        const Tensor indices = named.indices(put, named.size());
        const Tensor updates = named.data(put);
        const auto actual = output_of(describe("SCATTER", {{"InputTensor", input.desc},
                                                           {"IndicesTensor", indices.desc},
                                                           {"UpdatesTensor", updates.desc},
                                                           {"OutputTensor", named.output(named.sizes())},
                                                           {"Axis", static_cast<int>(named.axis())}}),
                                      {&input, &indices, &updates});
        auto expected = values_of<std::uint16_t>(input);
        const auto names = values_of<std::int64_t>(indices);
        const auto from = values_of<std::uint16_t>(updates);
        for (std::size_t i = 0; i < from.size(); ++i) {
            const std::int64_t index = names[i] < 0 ? names[i] + named.size() : names[i];
            if (index >= 0 && index < named.size()) {
                Coordinates position = coordinates_of(i, put);
                position[named.axis()] = static_cast<std::size_t>(index);
                expected[index_of(position, named.sizes())] = from[i];
            }
        }
        ASSERT_EQ(actual, expected) << round;
    }
}

TEST(NamedPositions, ScatterNd) {
    Random random(13);
    for (int round = 0; round < 300; ++round) {
        Named named(random);
        const core::Dimensions& sizes = named.sizes();
        const std::uint32_t length = random.pick(1u, static_cast<std::uint32_t>(sizes.size()));
        const std::uint32_t tuples = random.pick(1u, 5u);
        // The sizes of the updates: one dimension for the tuples, then the input's dimensions that the tuples do not
        // index.
        core::Dimensions put{tuples};
        put.insert(put.end(), sizes.begin() + length, sizes.end());
        const std::size_t rank = std::max(sizes.size(), std::max<std::size_t>(put.size(), 2));
        const auto widened = [&](core::Dimensions of) {
            of.insert(of.begin(), rank - of.size(), 1);
            return of;
        };
        const Tensor input = named.data(widened(sizes));
        const Tensor indices =
            named.indices(widened({tuples, length}), static_cast<std::int64_t>(*std::ranges::max_element(sizes)));
        const Tensor updates = named.data(widened(put));
        const auto actual = output_of(describe("SCATTER_ND", {{"InputTensor", input.desc},
                                                              {"IndicesTensor", indices.desc},
                                                              {"UpdatesTensor", updates.desc},
                                                              {"OutputTensor", named.output(widened(sizes))},
                                                              {"InputDimensionCount", static_cast<int>(sizes.size())},
                                                              {"IndicesDimensionCount", 2}}),
                                      {&input, &indices, &updates});
        auto expected = values_of<std::uint16_t>(input);
        const auto names = values_of<std::int64_t>(indices);
        const auto from = values_of<std::uint16_t>(updates);
        const std::size_t each = from.size() / tuples;
        for (std::size_t i = 0; i < from.size(); ++i) {
            // `part` is the row-major index of the slice that the tuple selects; then comes the index of the element in
            // it.
            std::size_t part = 0;
            bool within = true;
            for (std::size_t d = 0; d < length; ++d) {
                const std::int64_t name = names[i / each * length + d];
                const std::int64_t index = name < 0 ? name + sizes[d] : name;
                within = within && index >= 0 && index < sizes[d];
                part = part * sizes[d] + static_cast<std::size_t>(index);
            }
            if (within) {
                expected[part * each + i % each] = from[i];
            }
        }
        ASSERT_EQ(actual, expected) << round;
    }
}

TEST(NamedPositions, ReverseSubsequences) {
    Random random(14);
    for (int round = 0; round < 300; ++round) {
        Named named(random);
        const core::Dimensions single = named.with(1);
        const Tensor input = named.data(named.sizes());
        const Tensor lengths = random.filled<std::uint32_t>(
            random.layout(DataType::uint32, single, FieldKind::input),
            [&] { return static_cast<std::uint32_t>(random.pick<std::int64_t>(0, named.size() + 1)); });
        const auto actual = output_of(describe("REVERSE_SUBSEQUENCES", {{"InputTensor", input.desc},
                                                                        {"SequenceLengthsTensor", lengths.desc},
                                                                        {"OutputTensor", named.output(named.sizes())},
                                                                        {"Axis", static_cast<int>(named.axis())}}),
                                      {&input, &lengths});
        const auto from = values_of<std::uint16_t>(input);
        const auto ends = values_of<std::uint32_t>(lengths);
        for (std::size_t i = 0; i < actual.size(); ++i) {
            Coordinates position = coordinates_of(i, named.sizes());
            const std::size_t at = position[named.axis()];
            position[named.axis()] = 0;
            const std::size_t length =
                std::min<std::size_t>(ends[index_of(position, single)], named.sizes()[named.axis()]);
            position[named.axis()] = at < length ? length - 1 - at : at;
            ASSERT_EQ(actual[i], from[index_of(position, named.sizes())]) << round;
        }
    }
}

}  // namespace
}  // namespace dmlconform::tests::named_positions_test
