// Compares the ranges of resampling, regions of interest, attention and normalisation with exact arithmetic: each holds
// the exact result, reaches about as far as the roundings of the formula can lead, and ends there. Formulas follow
// DirectML's documentation, and none is taken from the reference.
#include "tests/cpu/rounded.h"

#if DMLCONFORM_HAS_QUADMATH

#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/cpu/random_tensors.h"
#include "tests/cpu/references.h"
#include "tests/packed_tensors.h"

namespace dmlconform::tests::exact_widths_test {
namespace {

using core::DataType;
using core::Tensor;
using operators::Descriptor;
using Floats = std::vector<float>;

constexpr int rounds = 150;

/// How far the middle one and the widest of all ranges reach, in errors of the formula as it is written here. Ranges
/// also hold other orders of its operations, and some count a rounding where the formula has none.
struct Reach {
    double median;
    double most;
};

/// Collects the reach of ranges.
class Widths {
public:
    /// The part of an element's range beyond the exact result, without the element's own rounding.
    void add(const cpu::Reference& reference, std::size_t i, const Rounded& bound) {
        const cpu::Interval range = accepted(reference, i);
        ASSERT_FALSE(range.nan);
        ASSERT_LE(Quad(range.low), bound.value) << i;
        ASSERT_GE(Quad(range.high), bound.value) << i;
        const Quad own = Quad(one_rounding) * fabsq(bound.value) + Quad(0x1p-125);
        const Quad reach = fmaxq(Quad(range.high) - bound.value, bound.value - Quad(range.low));
        if (bound.error > 0) {
            reaches_.push_back(static_cast<double>((reach - own) / bound.error));
        } else {
            ASSERT_LE(reach, own) << i;
        }
    }

    void expect(const Reach& wanted) {
        ASSERT_GE(reaches_.size(), 1000U);
        std::ranges::sort(reaches_);
        testing::Test::RecordProperty("median", std::to_string(reaches_[reaches_.size() / 2]));
        testing::Test::RecordProperty("most", std::to_string(reaches_.back()));
        EXPECT_GE(reaches_[reaches_.size() / 2], wanted.median);
        EXPECT_LE(reaches_.back(), wanted.most);
    }

private:
    std::vector<double> reaches_;
};

Floats numbers(Random& random, std::size_t count, float largest = 4) {
    Floats result(count);
    std::ranges::generate(result, [&] { return random.uniform(-largest, largest); });
    return result;
}

// ---- interpolation -----------------------------------------------------------------------------------------------

/// A position along a dimension, in elements.
struct Line {
    std::vector<Rounded> positions;
    std::int64_t size = 1;

    /// The first and the last neighbour of a position that FP32 may compute. Positions may be moved to the outermost
    /// element, which is then interpolated with the next one.
    [[nodiscard]] std::pair<std::int64_t, std::int64_t> elements(std::size_t o) const {
        const auto last = static_cast<double>(size - 1);
        const Rounded& position = positions[o];
        const Quad from = floorq(fminq(fmaxq(position.value - position.error, 0), last));
        const Quad to = floorq(fminq(fmaxq(position.value + position.error, 0), last)) + 1;
        return {static_cast<std::int64_t>(from), static_cast<std::int64_t>(fminq(to, last))};
    }
    [[nodiscard]] bool is_beyond(std::size_t o) const {
        return positions[o].value + positions[o].error < 0 ||
               positions[o].value - positions[o].error > static_cast<double>(size - 1);
    }
    [[nodiscard]] Quad weight(Quad position, std::int64_t element) const {
        const Quad inside = fminq(fmaxq(position, 0), static_cast<double>(size - 1));
        return fmaxq(0, 1 - fabsq(inside - static_cast<double>(element)));
    }
};

/// The interpolated element of a plane, and the error of both positions and of a difference, a product and a sum along
/// each dimension. The largest element is in the first two of them twice.
Rounded interpolated(const Floats& plane, const Line& y, std::size_t row, const Line& x, std::size_t column) {
    const auto [top, bottom] = y.elements(row);
    const auto [left, right] = x.elements(column);
    const auto at = [&](std::int64_t v, std::int64_t h) {
        return Quad(double{plane[static_cast<std::size_t>(v * x.size + h)]});
    };
    Quad value = 0;
    Quad largest = 0;
    Quad steepest_down = 0;
    Quad steepest_right = 0;
    for (std::int64_t v = top; v <= bottom; ++v) {
        for (std::int64_t h = left; h <= right; ++h) {
            value += y.weight(y.positions[row].value, v) * x.weight(x.positions[column].value, h) * at(v, h);
            largest = fmaxq(largest, fabsq(at(v, h)));
            steepest_down = v > top ? fmaxq(steepest_down, fabsq(at(v, h) - at(v - 1, h))) : steepest_down;
            steepest_right = h > left ? fmaxq(steepest_right, fabsq(at(v, h) - at(v, h - 1))) : steepest_right;
        }
    }
    const bool alike = steepest_down == 0 && steepest_right == 0;
    const Quad rounding = alike ? Quad(0) : 2 * (2 + 2 + 1) * Quad(one_rounding) * largest;
    return {value, rounding + (y.is_beyond(row) ? Quad(0) : steepest_down * y.positions[row].error) +
                       (x.is_beyond(column) ? Quad(0) : steepest_right * x.positions[column].error)};
}

/// (output - output offset) / scale - input offset
Line resampled(std::uint32_t size, std::uint32_t outputs, double scale, double input_offset, double output_offset) {
    Line line{{}, size};
    for (std::uint32_t o = 0; o < outputs; ++o) {
        line.positions.push_back((Rounded(o) - Rounded(output_offset)) / Rounded(scale) - Rounded(input_offset));
    }
    return line;
}

/// Attributes of a resampling of rows and columns, as FP32 numbers.
struct Resampling {
    std::uint32_t sizes[2];
    std::uint32_t outputs[2];
    float scales[2];
    float input_offsets[2];
    float output_offsets[2];

    explicit Resampling(Random& random, float smallest = 0.6F) {
        for (int d = 0; d < 2; ++d) {
            sizes[d] = random.pick(1U, 7U);
            scales[d] = random.uniform(smallest, 3);
            outputs[d] = std::max(1U, static_cast<std::uint32_t>(static_cast<float>(sizes[d]) * scales[d]));
            input_offsets[d] = random.one_in(2) ? 0.5F : random.uniform(-0.5F, 0.5F);
            output_offsets[d] = random.one_in(2) ? -0.5F : random.uniform(-0.5F, 0.5F);
        }
    }

    [[nodiscard]] Line line(int d) const {
        return resampled(sizes[d], outputs[d], double{scales[d]}, double{input_offsets[d]}, double{output_offsets[d]});
    }
    [[nodiscard]] std::vector<Setting> settings() const {
        const auto both = [](const float(&values)[2]) { return operators::FieldValue(Floats{values[0], values[1]}); };
        return {{"InterpolationMode", 1},
                {"Scales", both(scales)},
                {"InputPixelOffsets", both(input_offsets)},
                {"OutputPixelOffsets", both(output_offsets)}};
    }
};

Descriptor described(const char* op, const char* from, core::Dimensions sizes, const char* to, core::Dimensions outputs,
                     std::vector<Setting> settings) {
    settings.emplace_back(from, real(std::move(sizes)));
    settings.emplace_back(to, real(std::move(outputs)));
    return describe(op, settings);
}

TEST(ExactWidths, OfResampling) {
    Random random(1);
    Widths widths;
    for (int round = 0; round < rounds; ++round) {
        const Resampling r(random);
        const Floats image = numbers(random, std::size_t{r.sizes[0]} * r.sizes[1]);
        const Descriptor descriptor = described("RESAMPLE1", "InputTensor", {r.sizes[0], r.sizes[1]}, "OutputTensor",
                                                {r.outputs[0], r.outputs[1]}, r.settings());
        const auto reference = reference_of(descriptor, tensor_of<float>(real({r.sizes[0], r.sizes[1]}), image));
        const Line y = r.line(0);
        const Line x = r.line(1);
        for (std::size_t i = 0; i < std::size_t{r.outputs[0]} * r.outputs[1]; ++i) {
            widths.add(reference, i, interpolated(image, y, i / r.outputs[1], x, i % r.outputs[1]));
        }
    }
    widths.expect({0.6, 1.3});
}

// ---- antialiasing ------------------------------------------------------------------------------------------------

/// The mean of all elements, weighted by the linear filter, which is 1 / scale wide on each side. The outermost
/// elements repeat.
Rounded filtered(const Floats& row, const Rounded& position, double scale) {
    const auto last = static_cast<std::int64_t>(row.size()) - 1;
    const Quad reach = 1 / Quad(scale) + position.error + 1;
    std::vector<Rounded> terms;
    Quad all_weights = 0;
    Quad weights_off = 0;
    Quad magnitudes = 0;
    for (auto i = static_cast<std::int64_t>(floorq(position.value - reach));
         static_cast<double>(i) <= position.value + reach; ++i) {
        const Quad distance = fabsq(static_cast<double>(i) - position.value);
        const Quad weight = fmaxq(0, 1 - distance * scale);
        // The distance, its product with the scale, and the difference from 1 are rounded.
        const Quad off = scale * (position.error + 2 * one_rounding * distance) + one_rounding;
        if (weight + off <= 0 || distance * scale - off >= 1) {
            continue;
        }
        const Quad element{double{row[static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, last))]}};
        terms.push_back(Rounded::once(weight * element, off * fabsq(element)));
        all_weights += weight;
        weights_off += off;
        magnitudes += weight * fabsq(element);
    }
    weights_off += static_cast<double>(terms.size()) * one_rounding * all_weights;
    const Rounded sum = sum_of(terms);
    // Each weight may be divided before it is multiplied, so that the sum of the weights matters for magnitudes.
    return {sum.value / all_weights,
            (sum.error + magnitudes * (weights_off / all_weights + one_rounding)) / all_weights};
}

TEST(ExactWidths, OfAntialiasing) {
    Random random(2);
    Widths widths;
    for (int round = 0; round < 3 * rounds; ++round) {
        const std::uint32_t size = random.pick(8U, 40U);
        const float scale = random.uniform(0.1F, 0.49F);
        const auto outputs = static_cast<std::uint32_t>(static_cast<float>(size) * scale) + 1;
        const Floats row = numbers(random, size);
        const Descriptor descriptor = described("RESAMPLE3", "InputTensor", {size}, "OutputTensor", {outputs},
                                                {{"InterpolationMode", 1},
                                                 {"Scales", operators::FieldValue(Floats{scale})},
                                                 {"InputPixelOffsets", operators::FieldValue(Floats{0.5F})},
                                                 {"OutputPixelOffsets", operators::FieldValue(Floats{-0.5F})},
                                                 {"Antialiased", 1}});
        const auto reference = reference_of(descriptor, tensor_of<float>(real({size}), row));
        const Line line = resampled(size, outputs, double{scale}, 0.5, -0.5);
        for (std::size_t o = 0; o < outputs; ++o) {
            widths.add(reference, o, filtered(row, line.positions[o], double{scale}));
        }
    }
    widths.expect({0.5, 2.7});
}

// ---- gradients of interpolation ----------------------------------------------------------------------------------

/// What share of a value interpolated at a position is the element's.
Rounded share(const Line& line, std::size_t o, std::int64_t element) {
    const Rounded& position = line.positions[o];
    const Quad weight = line.weight(position.value, element);
    const auto [first, last] = line.elements(o);
    if (element < first || element > last) {
        return {};
    }
    const bool moves = !line.is_beyond(o);
    // A difference from the lower neighbour, and its complement.
    return {weight, (moves ? position.error : Quad(0)) + 2 * Quad(one_rounding)};
}

/// The sum of all gradients, each multiplied by the element's shares.
Rounded gradient(const Floats& gradients, const Rounded& factor, const Line& y, const Line& x, std::int64_t row,
                 std::int64_t column, std::size_t samples) {
    std::vector<Rounded> terms;
    for (std::size_t v = 0; v < y.positions.size(); ++v) {
        for (std::size_t h = 0; h < x.positions.size(); ++h) {
            const Rounded both = share(y, v, row) * share(x, h, column);
            if (both.value != 0 || both.error != 0) {
                const std::size_t at = v / samples * (x.positions.size() / samples) + h / samples;
                terms.push_back(Rounded(double{gradients[at]}) * factor * both);
            }
        }
    }
    return sum_of(terms);
}

TEST(ExactWidths, OfResamplingGradients) {
    Random random(3);
    Widths widths;
    for (int round = 0; round < rounds; ++round) {
        const Resampling r(random);
        const Floats gradients = numbers(random, std::size_t{r.outputs[0]} * r.outputs[1]);
        const Descriptor descriptor = described("RESAMPLE_GRAD1", "InputGradientTensor", {r.outputs[0], r.outputs[1]},
                                                "OutputGradientTensor", {r.sizes[0], r.sizes[1]}, r.settings());
        const auto reference =
            reference_of(descriptor, tensor_of<float>(real({r.outputs[0], r.outputs[1]}), gradients));
        const Line y = r.line(0);
        const Line x = r.line(1);
        for (std::size_t i = 0; i < std::size_t{r.sizes[0]} * r.sizes[1]; ++i) {
            widths.add(reference, i,
                       gradient(gradients, 1.0, y, x, static_cast<std::int64_t>(i / r.sizes[1]),
                                static_cast<std::int64_t>(i % r.sizes[1]), 1));
        }
    }
    widths.expect({0.4, 1.7});
}

// ---- regions of interest -----------------------------------------------------------------------------------------

/// One region of an image of one channel. All samples are inside the image.
struct Aligned {
    static constexpr std::uint32_t samples = 3;
    std::uint32_t sizes[2];
    std::uint32_t outputs[2];
    float corners[4];  // x1, y1, x2, y2
    float scales[2];   // y, x
    bool to_corners;

    explicit Aligned(Random& random) : to_corners(random.one_in(2)) {
        for (int d = 0; d < 2; ++d) {
            sizes[d] = random.pick(2U, 9U);
            outputs[d] = random.pick(1U, 4U);
            scales[d] = random.uniform(0.2F, 3);
            const auto last = static_cast<float>(sizes[d] - 1);
            corners[1 - d] = random.uniform(0.5F, last / 2 + 0.5F) / scales[d];
            corners[3 - d] = random.uniform(last / 2 + 0.5F, last + 0.49F) / scales[d];
        }
    }

    [[nodiscard]] Line line(int d) const {
        Line line{{}, sizes[d]};
        const Rounded start = Rounded(double{corners[1 - d]}) * Rounded(double{scales[d]});
        const Rounded end = Rounded(double{corners[3 - d]}) * Rounded(double{scales[d]});
        const std::uint32_t all = samples * outputs[d];
        const Rounded step = (end - start) / Rounded(to_corners ? all - 1 : all);
        for (std::uint32_t i = 0; i < all; ++i) {
            line.positions.push_back((Rounded(i) - Rounded(to_corners ? 0.0 : -0.5)) * step + start - Rounded(0.5));
        }
        return line;
    }
    [[nodiscard]] std::vector<Setting> settings() const {
        return {{"ROITensor", real({1, 4})},
                {"BatchIndicesTensor", tensor(DataType::uint32, {1})},
                {"ReductionFunction", 2},
                {"InterpolationMode", 1},
                {"SpatialScaleX", scales[1]},
                {"SpatialScaleY", scales[0]},
                {"InputPixelOffset", 0.5},
                {"OutputPixelOffset", to_corners ? 0.0 : -0.5},
                {"MinimumSamplesPerOutput", samples},
                {"MaximumSamplesPerOutput", samples},
                {"AlignRegionsToCorners", to_corners ? 1 : 0}};
    }
    [[nodiscard]] core::TensorDesc image() const { return real({1, 1, sizes[0], sizes[1]}); }
    [[nodiscard]] core::TensorDesc output() const { return real({1, 1, outputs[0], outputs[1]}); }
    [[nodiscard]] Tensor region() const { return tensor_of<float>(real({1, 4}), Floats(corners, corners + 4)); }
};

Tensor first_batch() {
    return tensor_of<std::uint32_t>(tensor(DataType::uint32, {1}), {0});
}

TEST(ExactWidths, OfRegions) {
    Random random(4);
    Widths widths;
    constexpr std::size_t n = Aligned::samples;
    for (int round = 0; round < 2 * rounds; ++round) {
        const Aligned r(random);
        const Floats image = numbers(random, std::size_t{r.sizes[0]} * r.sizes[1]);
        std::vector<Setting> settings = r.settings();
        settings.emplace_back("OutOfBoundsInputValue", 100);
        const Descriptor descriptor = described("ROI_ALIGN1", "InputTensor", r.image().sizes, "OutputTensor",
                                                r.output().sizes, std::move(settings));
        const auto reference = reference_of(descriptor, tensor_of<float>(r.image(), image), r.region(), first_batch());
        const Line y = r.line(0);
        const Line x = r.line(1);
        for (std::size_t i = 0; i < std::size_t{r.outputs[0]} * r.outputs[1]; ++i) {
            std::vector<Rounded> values;
            for (std::size_t k = 0; k < n * n; ++k) {
                values.push_back(interpolated(image, y, i / r.outputs[1] * n + k / n, x, i % r.outputs[1] * n + k % n));
            }
            widths.add(reference, i, sum_of(values) / Rounded(n * n));
        }
    }
    widths.expect({0.4, 1.2});
}

TEST(ExactWidths, OfGradientsOfRegions) {
    Random random(5);
    Widths widths;
    constexpr std::size_t n = Aligned::samples;
    for (int round = 0; round < rounds; ++round) {
        const Aligned r(random);
        const Floats gradients = numbers(random, std::size_t{r.outputs[0]} * r.outputs[1]);
        const Descriptor descriptor = described("ROI_ALIGN_GRAD", "InputGradientTensor", r.output().sizes,
                                                "OutputGradientTensor", r.image().sizes, r.settings());
        const Tensor given = tensor_of<float>(r.output(), gradients);
        const Tensor region = r.region();
        const Tensor batch = first_batch();
        const auto reference = reference_of(descriptor, std::vector<const Tensor*>{nullptr, &given, &region, &batch});
        const Line y = r.line(0);
        const Line x = r.line(1);
        for (std::size_t i = 0; i < std::size_t{r.sizes[0]} * r.sizes[1]; ++i) {
            widths.add(reference, i,
                       gradient(gradients, Rounded(1) / Rounded(n * n), y, x, static_cast<std::int64_t>(i / r.sizes[1]),
                                static_cast<std::int64_t>(i % r.sizes[1]), n));
        }
    }
    widths.expect({0.25, 1});
}

// ---- attention ---------------------------------------------------------------------------------------------------

/// One query of one head: softmax(scale * query * keys) * values.
std::vector<Rounded> attended(const Floats& query, const Floats& keys, const Floats& values, float scale) {
    const std::size_t size = query.size();
    std::vector<Rounded> powers;
    Quad largest = -HUGE_VALQ;
    for (std::size_t k = 0; k < keys.size() / size; ++k) {
        std::vector<Rounded> products;
        for (std::size_t i = 0; i < size; ++i) {
            products.push_back(Rounded(double{query[i]}) * Rounded(double{keys[k * size + i]}));
        }
        powers.push_back(sum_of(products) * Rounded(double{scale}));
        largest = fmaxq(largest, powers.back().value);
    }
    for (Rounded& power : powers) {
        power = exponential(power - Rounded(largest, 0));
    }
    const Rounded total = sum_of(powers);
    std::vector<Rounded> results;
    for (std::size_t i = 0; i < values.size() / powers.size(); ++i) {
        std::vector<Rounded> terms;
        for (std::size_t k = 0; k < powers.size(); ++k) {
            terms.push_back(powers[k] / total * Rounded(double{values[k * values.size() / powers.size() + i]}));
        }
        results.push_back(sum_of(terms));
    }
    return results;
}

TEST(ExactWidths, OfAttention) {
    Random random(6);
    Widths widths;
    for (int round = 0; round < 2 * rounds; ++round) {
        const auto keys = random.pick(1U, 20U);
        const auto size = random.pick(1U, 20U);
        constexpr std::uint32_t value_size = 5;
        const float scale = random.uniform(0.1F, 1);
        const Floats query = numbers(random, size, 2);
        const Floats key = numbers(random, std::size_t{keys} * size, 2);
        const Floats value = numbers(random, std::size_t{keys} * value_size, 2);
        const Descriptor descriptor = describe("MULTIHEAD_ATTENTION", {{"QueryTensor", real({1, 1, size})},
                                                                       {"KeyTensor", real({1, keys, size})},
                                                                       {"ValueTensor", real({1, keys, value_size})},
                                                                       {"OutputTensor", real({1, 1, value_size})},
                                                                       {"Scale", scale},
                                                                       {"HeadCount", 1}});
        const Tensor tensors[] = {tensor_of<float>(real({1, 1, size}), query),
                                  tensor_of<float>(real({1, keys, size}), key),
                                  tensor_of<float>(real({1, keys, value_size}), value)};
        std::vector<const Tensor*> inputs(descriptor.inputs().size());
        std::ranges::transform(tensors, inputs.begin(), [](const Tensor& tensor) { return &tensor; });
        const auto reference = reference_of(descriptor, inputs);
        const std::vector<Rounded> results = attended(query, key, value, scale);
        for (std::size_t i = 0; i < results.size(); ++i) {
            widths.add(reference, i, results[i]);
        }
    }
    widths.expect({0.85, 1.1});
}

// ---- normalisation -----------------------------------------------------------------------------------------------

/// The error of a mean of n numbers whose partial sums are at most that large: either a tree with all roundings in the
/// worst direction, or 7 standard deviations of n independent ones (docs/judging.md). `more` roundings follow each
/// number.
Quad error_of_mean(double n, Quad largest, double more) {
    const double tree = (std::ceil(std::log2(n)) + more) * one_rounding;
    const double in_turn = 7 * std::sqrt((n + more) / 3) * one_rounding / 2;
    return std::min((n - 1 + more) * one_rounding, std::max(tree, in_turn)) * largest;
}

/// (x - mean) / sqrt(variance + epsilon) for each x.
std::vector<Rounded> normalised(const Floats& x, double epsilon) {
    const auto n = static_cast<double>(x.size());
    Quad sum = 0;
    Quad positive = 0;
    Quad negative = 0;
    for (const float number : x) {
        sum += double{number};
        positive += std::max(double{number}, 0.0);
        negative += std::max(-double{number}, 0.0);
    }
    const Rounded mean(sum / n, error_of_mean(n, fmaxq(positive, negative) / n, 2));
    Quad squares = 0;
    for (const float number : x) {
        squares += (double{number} - mean.value) * (double{number} - mean.value);
    }
    // The distance is rounded, which counts twice in its square, and so is the square. The error of the mean adds its
    // square.
    const Rounded variance(squares / n, error_of_mean(n, squares / n, 5) + mean.error * mean.error);
    const Rounded reciprocal = Rounded(1) / square_root(variance + Rounded(epsilon));
    std::vector<Rounded> results;
    for (const float number : x) {
        results.push_back((Rounded(double{number}) - mean) * reciprocal);
    }
    return results;
}

TEST(ExactWidths, OfNormalisation) {
    Random random(7);
    Widths widths;
    constexpr float epsilon = 0.001F;
    for (int round = 0; round < rounds; ++round) {
        const std::uint32_t size = random.pick(2U, 200U);
        Floats x = numbers(random, size);
        const float offset = random.uniform(-20, 20);
        std::ranges::for_each(x, [&](float& number) { number += offset; });
        const Descriptor descriptor =
            described("MEAN_VARIANCE_NORMALIZATION1", "InputTensor", {1, size}, "OutputTensor", {1, size},
                      {{"Axes", {1}}, {"NormalizeVariance", 1}, {"Epsilon", epsilon}});
        const Tensor input = tensor_of<float>(real({1, size}), x);
        const auto reference = reference_of(descriptor, std::vector<const Tensor*>{&input, nullptr, nullptr});
        const std::vector<Rounded> results = normalised(x, double{epsilon});
        for (std::size_t i = 0; i < results.size(); ++i) {
            widths.add(reference, i, results[i]);
        }
    }
    widths.expect({0.9, 1.6});
}

// ---- other orders ------------------------------------------------------------------------------------------------

/// Rounds to nearest or towards zero, as Direct3D allows.
class RoundingMode {
public:
    explicit RoundingMode(int mode) { (void)std::fesetround(mode); }
    RoundingMode(const RoundingMode&) = delete;
    RoundingMode& operator=(const RoundingMode&) = delete;
    ~RoundingMode() { (void)std::fesetround(FE_TONEAREST); }
};
constexpr int rounding_modes[] = {FE_TONEAREST, FE_TOWARDZERO};

/// The ranges of all elements. Rounding must be to nearest here.
std::vector<cpu::Interval> all_accepted(const cpu::Reference& reference) {
    std::vector<cpu::Interval> ranges(reference.slack[0].below.size());
    const Floats values = values_of<float>(reference.outputs[0]);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        ranges[i] = {double{values[i]} - reference.slack[0].below[i], double{values[i]} + reference.slack[0].above[i],
                     false};
    }
    return ranges;
}

/// Makes the compiler compute at run time.
float at_run_time(float x) {
    volatile float result = x;
    return result;
}

/// Interpolates a row at an FP32 position.
float read_between(const Floats& row, float position) {
    const auto last = static_cast<float>(row.size() - 1);
    const float inside = std::min(std::max(position, 0.0F), last);
    const float first = std::floor(inside);
    const float way = inside - first;
    const float next = row[static_cast<std::size_t>(std::min(first + 1, last))];
    return row[static_cast<std::size_t>(first)] * (1 - way) + next * way;
}

/// The position of an output, with a division or a reciprocal, and with separate offsets or one.
std::vector<float> positions_of(float output, float scale, float input_offset, float output_offset) {
    const float inverse = 1 / at_run_time(scale);
    return {(output - output_offset) / scale - input_offset, (output - output_offset) * inverse - input_offset,
            output * inverse + (-(output_offset * inverse) - input_offset)};
}

TEST(ExactWidths, HoldAllOrdersOfResampledPositions) {
    Random random(8);
    for (int round = 0; round < 40; ++round) {
        const std::uint32_t size = random.pick(50U, 400U);
        const float scale = random.uniform(0.6F, 3);
        const auto outputs = static_cast<std::uint32_t>(static_cast<float>(size) * scale);
        const float offsets[] = {random.uniform(-0.5F, 0.5F), random.uniform(-0.5F, 0.5F)};
        const Floats row = numbers(random, size);
        const Descriptor descriptor = described("RESAMPLE1", "InputTensor", {size}, "OutputTensor", {outputs},
                                                {{"InterpolationMode", 1},
                                                 {"Scales", operators::FieldValue(Floats{scale})},
                                                 {"InputPixelOffsets", operators::FieldValue(Floats{offsets[0]})},
                                                 {"OutputPixelOffsets", operators::FieldValue(Floats{offsets[1]})}});
        const auto reference = reference_of(descriptor, tensor_of<float>(real({size}), row));
        const auto ranges = all_accepted(reference);
        for (std::uint32_t o = 0; o < outputs; ++o) {
            for (const int mode : rounding_modes) {
                const RoundingMode rounding(mode);
                for (const float position : positions_of(static_cast<float>(o), scale, offsets[0], offsets[1])) {
                    ASSERT_TRUE(ranges[o].contains(double{read_between(row, position)})) << o << " of " << scale;
                }
            }
        }
    }
}

/// The position of a sample, with a common step or without, and with the offset subtracted first or last.
std::vector<float> sample_positions(float sample, float steps, float start, float end) {
    const float length = end - start;
    std::vector<float> positions;
    for (const float way :
         {sample * (length / steps), sample * (length * (1 / at_run_time(steps))), sample * length / steps}) {
        positions.push_back(way + start - 0.5F);
        positions.push_back(way + (start - 0.5F));
    }
    return positions;
}

TEST(ExactWidths, HoldAllOrdersOfSamples) {
    Random random(9);
    for (int round = 0; round < 400; ++round) {
        const bool to_corners = random.one_in(2);
        const std::uint32_t size = random.pick(50U, 400U);
        const std::uint32_t outputs = to_corners && random.one_in(4) ? 1 : random.pick(2U, 60U);
        const float scale = random.uniform(0.2F, 3);
        const float corners[] = {random.uniform(1, static_cast<float>(size) / 2) / scale,
                                 random.uniform(static_cast<float>(size) / 2, static_cast<float>(size) - 1) / scale};
        const Floats row = numbers(random, size);
        const Descriptor descriptor =
            described("ROI_ALIGN1", "InputTensor", {1, 1, 1, size}, "OutputTensor", {1, 1, 1, outputs},
                      {{"ROITensor", real({1, 4})},
                       {"BatchIndicesTensor", tensor(DataType::uint32, {1})},
                       {"ReductionFunction", 2},
                       {"InterpolationMode", 1},
                       {"SpatialScaleX", scale},
                       {"SpatialScaleY", 1},
                       {"InputPixelOffset", 0.5},
                       {"OutputPixelOffset", to_corners ? 0.0 : -0.5},
                       {"OutOfBoundsInputValue", 0},
                       {"MinimumSamplesPerOutput", 1},
                       {"MaximumSamplesPerOutput", 1},
                       {"AlignRegionsToCorners", to_corners ? 1 : 0}});
        const auto reference =
            reference_of(descriptor, tensor_of<float>(real({1, 1, 1, size}), row),
                         tensor_of<float>(real({1, 4}), {corners[0], 0.5F, corners[1], 0.5F}), first_batch());
        const auto ranges = all_accepted(reference);
        const float steps = static_cast<float>(to_corners ? outputs - 1 : outputs);
        for (std::uint32_t o = 0; o < outputs; ++o) {
            for (const int mode : rounding_modes) {
                const RoundingMode rounding(mode);
                const float start = at_run_time(corners[0]) * scale;
                const float end = at_run_time(corners[1]) * scale;
                const std::vector<float> positions =
                    to_corners && outputs == 1
                        ? std::vector<float>{(start + end) * 0.5F - 0.5F, start + (end - start) * 0.5F - 0.5F}
                        : sample_positions(static_cast<float>(o) + (to_corners ? 0.0F : 0.5F), steps, start, end);
                for (const float position : positions) {
                    ASSERT_TRUE(ranges[o].contains(double{read_between(row, position)}))
                        << o << " of " << outputs << (to_corners ? " to corners" : "");
                }
            }
        }
    }
}

}  // namespace
}  // namespace dmlconform::tests::exact_widths_test

#endif
