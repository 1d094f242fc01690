// Tests of engine/cpu/normalisation: values on random descriptors against formulas and addresses that the test
// computes itself, and ranges against various FP32 implementations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "engine/cpu/interval.h"
#include "engine/cpu/reference.h"
#include "engine/operators/rules.h"
#include "tests/cpu/random_tensors.h"
#include "tests/cpu/references.h"

namespace dmlconform::tests::normalisation_test {
namespace {

using core::DataType;
using core::Tensor;
using operators::Descriptor;

using Exact = std::vector<long double>;
/// Elements in row-major order by tensor name. Parameters are broadcast to one element per input element.
using Elements = std::map<std::string, Exact, std::less<>>;

constexpr double epsilon = 0.25;

bool is_parameter(const std::string& tensor) {
    static const std::set<std::string> names{"MeanTensor",
                                             "VarianceTensor",
                                             "ScaleTensor",
                                             "BiasTensor",
                                             "OutputMeanTensor",
                                             "OutputVarianceTensor",
                                             "OutputScaleGradientTensor",
                                             "OutputBiasGradientTensor"};
    return names.contains(tensor);
}

/// The sizes of all elements, and of the parameters that normalisation groups share.
struct Shape {
    core::Dimensions sizes;
    core::Dimensions shared;

    /// The index of the parameters' element that belongs to an input element.
    [[nodiscard]] std::size_t set_of(std::size_t element) const {
        auto at = coordinates_of(element, sizes);
        for (std::size_t d = 0; d < at.size(); ++d) {
            at[d] = shared[d] == 1 ? 0 : at[d];
        }
        return index_of(at, shared);
    }
    [[nodiscard]] std::vector<std::size_t> members(std::size_t set) const {
        std::vector<std::size_t> elements;
        for (std::size_t i = 0; i < count_of(sizes); ++i) {
            if (set_of(i) == set) {
                elements.push_back(i);
            }
        }
        return elements;
    }
};

// ---- the formulas, exactly ---------------------------------------------------------------------------------------

long double sum(const std::vector<std::size_t>& members, const std::function<long double(std::size_t)>& term) {
    return std::accumulate(members.begin(), members.end(), 0.0L,
                           [&](long double total, std::size_t i) { return total + term(i); });
}

using Members = std::vector<std::size_t>;
/// Computes an element of an output from the elements of its group.
using Formula = std::function<long double(const Elements& in, const Members& set, std::size_t element)>;

long double rstd(const Elements& in, std::size_t i) {
    return 1 / std::sqrt(in.at("VarianceTensor")[i] + epsilon);
}

long double centred(const Elements& in, std::size_t i) {
    return in.at("InputTensor")[i] - in.at("MeanTensor")[i];
}

long double gradient(const Elements& in, std::size_t i) {
    return in.at("InputGradientTensor")[i];
}

long double exp_sum(const Elements& in, const Members& set) {
    return sum(set, [&](std::size_t j) { return std::exp(in.at("InputTensor")[j]); });
}

long double mean(const Elements& in, const Members& set) {
    return sum(set, [&](std::size_t j) { return in.at("InputTensor")[j]; }) / static_cast<long double>(set.size());
}

long double variance(const Elements& in, const Members& set) {
    const long double m = mean(in, set);
    return sum(set, [&](std::size_t j) { return (in.at("InputTensor")[j] - m) * (in.at("InputTensor")[j] - m); }) /
           static_cast<long double>(set.size());
}

long double softmax(const Elements& in, const Members& set, std::size_t i) {
    return std::exp(in.at("InputTensor")[i]) / exp_sum(in, set);
}
long double log_softmax(const Elements& in, const Members& set, std::size_t i) {
    return in.at("InputTensor")[i] - std::log(exp_sum(in, set));
}
long double hardmax(const Elements& in, const Members& set, std::size_t i) {
    return *std::max_element(set.begin(), set.end(), [&](std::size_t a, std::size_t b) {
        return in.at("InputTensor")[a] < in.at("InputTensor")[b];
    }) == i;
}
long double normalised(const Elements& in, const Members& /*set*/, std::size_t i) {
    return in.at("ScaleTensor")[i] * centred(in, i) * rstd(in, i) + in.at("BiasTensor")[i];
}
long double trained(const Elements& in, const Members& set, std::size_t i) {
    return in.at("ScaleTensor")[i] * (in.at("InputTensor")[i] - mean(in, set)) /
               std::sqrt(variance(in, set) + epsilon) +
           in.at("BiasTensor")[i] + in.at("FusedAddTensor")[i];
}
long double mean_of_set(const Elements& in, const Members& set, std::size_t /*i*/) {
    return mean(in, set);
}
long double variance_of_set(const Elements& in, const Members& set, std::size_t /*i*/) {
    return variance(in, set);
}
long double inference_gradient(const Elements& in, const Members& /*set*/, std::size_t i) {
    return gradient(in, i) * in.at("ScaleTensor")[i] * rstd(in, i);
}
long double scale_gradient(const Elements& in, const Members& set, std::size_t /*i*/) {
    return sum(set, [&](std::size_t j) { return gradient(in, j) * centred(in, j) * rstd(in, j); });
}
long double bias_gradient(const Elements& in, const Members& set, std::size_t /*i*/) {
    return sum(set, [&](std::size_t j) { return gradient(in, j); });
}
long double training_gradient(const Elements& in, const Members& set, std::size_t i) {
    const auto count = static_cast<long double>(set.size());
    const long double mean_gradient = bias_gradient(in, set, i) / count;
    const long double mean_product = sum(set, [&](std::size_t j) { return gradient(in, j) * centred(in, j); }) / count;
    const long double r = rstd(in, i);
    return in.at("ScaleTensor")[i] * r * (gradient(in, i) - mean_gradient - centred(in, i) * mean_product * r * r);
}

struct Operator {
    std::string name;
    std::vector<Formula> outputs;
    std::size_t rank_of_rows = 0;  // 2 if the sizes before the last two are 1
};

std::vector<Operator> all_operators() {
    return {{"ACTIVATION_SOFTMAX", {softmax}, 2},
            {"ACTIVATION_LOG_SOFTMAX", {log_softmax}, 2},
            {"ACTIVATION_HARDMAX", {hardmax}, 2},
            {"ACTIVATION_SOFTMAX1", {softmax}},
            {"ACTIVATION_LOG_SOFTMAX1", {log_softmax}},
            {"ACTIVATION_HARDMAX1", {hardmax}},
            {"BATCH_NORMALIZATION", {normalised}},
            {"BATCH_NORMALIZATION_GRAD", {inference_gradient, scale_gradient, bias_gradient}},
            {"BATCH_NORMALIZATION_TRAINING", {trained, mean_of_set, variance_of_set}},
            {"BATCH_NORMALIZATION_TRAINING_GRAD", {training_gradient, scale_gradient, bias_gradient}}};
}

// ---- random problems ---------------------------------------------------------------------------------------------

struct Problem {
    Descriptor descriptor;
    Shape shape;
    std::vector<Tensor> inputs;
    Elements elements;
};

Shape random_shape(Random& random, const Operator& op) {
    const auto rank = random.pick<std::size_t>(1, 5);
    Shape shape{random.sizes(rank, 5, 150), {}};
    for (std::size_t d = 0; op.rank_of_rows != 0 && d + op.rank_of_rows < rank; ++d) {
        shape.sizes[d] = 1;
    }
    shape.shared = shape.sizes;
    for (std::size_t d = 0; d < rank; ++d) {
        const bool reduced = op.rank_of_rows != 0 ? d + 1 == rank : random.one_in(2);
        shape.shared[d] = reduced ? 1 : shape.sizes[d];
    }
    return shape;
}

template <class T>
Problem random_problem(Random& random, const Operator& op, DataType type) {
    Problem problem{{}, random_shape(random, op), {}, {}};
    const operators::OperatorSchema& schema = *operators::find_operator(op.name);
    std::vector<Setting> settings;
    for (const operators::Field& field : schema.fields) {
        if (field.is_tensor()) {
            const auto& sizes = is_parameter(field.name) ? problem.shape.shared : problem.shape.sizes;
            settings.emplace_back(field.name, random.layout(type, sizes, field.kind));
        }
    }
    if (schema.find_field("Epsilon") != nullptr) {
        settings.emplace_back("Epsilon", epsilon);
    }
    problem.descriptor = describe(op.name, settings);
    if (schema.find_field("Axes") != nullptr) {
        std::vector<std::uint32_t> axes;
        for (std::uint32_t d = 0; d < problem.shape.sizes.size(); ++d) {
            if (problem.shape.shared[d] == 1) {
                axes.insert(axes.begin(), d);
            }
        }
        problem.descriptor = with(problem.descriptor, {{"Axes", operators::FieldValue(axes)}});
    }
    for (const operators::TensorSlot& slot : problem.descriptor.inputs()) {
        const bool positive = slot.name == "VarianceTensor";
        problem.inputs.push_back(random.filled<T>(*slot.desc, [&] {
            const float number = random.uniform(-4, 4);
            return T(positive ? std::fabs(number) + 0.25F : number);
        }));
        const auto values = values_of<T>(problem.inputs.back());
        Exact& exact = problem.elements[slot.name];
        for (std::size_t i = 0; i < count_of(problem.shape.sizes); ++i) {
            exact.push_back(static_cast<double>(values[is_parameter(slot.name) ? problem.shape.set_of(i) : i]));
        }
    }
    return problem;
}

cpu::Reference reference_of(const Problem& problem) {
    const auto verdict = operators::validate(problem.descriptor, core::highest_feature_level);
    EXPECT_FALSE(verdict) << verdict->message;
    std::vector<const Tensor*> inputs;
    for (const Tensor& input : problem.inputs) {
        inputs.push_back(&input);
    }
    return cpu::compute_reference(problem.descriptor, inputs);
}

/// Expects each output of the reference to be the exact value, rounded once.
template <class T>
void expect_exact(const Operator& op, DataType type) {
    Random random(20);
    for (int round = 0; round < 150; ++round) {
        const Problem problem = random_problem<T>(random, op, type);
        const cpu::Reference reference = reference_of(problem);
        SCOPED_TRACE(op.name + " " + core::to_string(problem.shape.sizes) + " " +
                     core::to_string(problem.shape.shared));
        for (std::size_t o = 0; o < op.outputs.size(); ++o) {
            const auto values = values_of<T>(reference.outputs[o]);
            for (std::size_t k = 0; k < values.size(); ++k) {
                const std::size_t set = o == 0 ? problem.shape.set_of(k) : k;
                const Members members = problem.shape.members(set);
                const auto exact = op.outputs[o](problem.elements, members, o == 0 ? k : members.front());
                // Half a unit in the last place, plus cancellation in double.
                const double half_unit = std::is_same_v<T, float> ? 0x1p-24 : 0x1p-11;
                const double least = std::is_same_v<T, float> ? 0 : 0x1p-25;
                ASSERT_NEAR(static_cast<double>(values[k]), static_cast<double>(exact),
                            std::max(half_unit * std::fabs(static_cast<double>(exact)), least) * 1.0001 + 1e-13)
                    << "output " << o << " element " << k;
            }
        }
    }
}

TEST(Normalisation, RandomDescriptorsFloat32) {
    for (const Operator& op : all_operators()) {
        expect_exact<float>(op, DataType::float32);
    }
}

TEST(Normalisation, RandomDescriptorsFloat16) {
    for (const Operator& op : all_operators()) {
        expect_exact<core::Float16>(op, DataType::float16);
    }
}

// ---- ranges ------------------------------------------------------------------------------------------------------

/// A kind of FP32 arithmetic. Intermediate tensors may be FLOAT16.
struct Machine {
    bool backwards = false;
    bool folds = false;
    bool half_tensors = false;

    [[nodiscard]] float tensor(float x) const {
        return half_tensors ? static_cast<float>(core::Float16(double{x})) : x;
    }
    template <class Term>
    [[nodiscard]] float total(const Members& set, const Term& term) const {
        float result = 0;
        for (std::size_t n = 0; n < set.size(); ++n) {
            result += term(set[backwards ? set.size() - 1 - n : n]);
        }
        return result;
    }
};

using Rounded = std::map<std::string, std::vector<float>, std::less<>>;

float softmax_by(const Machine& m, const Rounded& in, const Members& set, std::size_t i) {
    const std::vector<float>& x = in.at("InputTensor");
    float most = x[set.front()];
    for (const std::size_t j : set) {
        most = std::max(most, x[j]);
    }
    const auto power = [&](std::size_t j) { return std::exp2f((x[j] - most) * 1.442695041F); };
    const float sum = m.tensor(m.total(set, power));
    return m.folds ? power(i) * (1 / sum) : power(i) / sum;
}

float log_softmax_by(const Machine& m, const Rounded& in, const Members& set, std::size_t i) {
    const std::vector<float>& x = in.at("InputTensor");
    float most = x[set.front()];
    for (const std::size_t j : set) {
        most = std::max(most, x[j]);
    }
    const float sum = m.tensor(m.total(set, [&](std::size_t j) { return std::exp2f((x[j] - most) * 1.442695041F); }));
    return (x[i] - most) - std::log2f(sum) * 0.6931471806F;
}

float normalised_by(const Machine& m, const Rounded& in, const Members& /*set*/, std::size_t i) {
    const float r = 1 / std::sqrt(in.at("VarianceTensor")[i] + static_cast<float>(epsilon));
    const float factor = in.at("ScaleTensor")[i] * r;
    const float x = in.at("InputTensor")[i];
    return m.folds ? factor * x + (in.at("BiasTensor")[i] - factor * in.at("MeanTensor")[i])
                   : factor * (x - in.at("MeanTensor")[i]) + in.at("BiasTensor")[i];
}

float trained_by(const Machine& m, const Rounded& in, const Members& set, std::size_t i) {
    const auto count = static_cast<float>(set.size());
    const std::vector<float>& x = in.at("InputTensor");
    const float mu = m.tensor(m.total(set, [&](std::size_t j) { return x[j]; }) / count);
    const float v = m.tensor(m.total(set, [&](std::size_t j) { return (x[j] - mu) * (x[j] - mu); }) / count);
    const float scaled = in.at("ScaleTensor")[i] * ((x[i] - mu) / std::sqrt(v + static_cast<float>(epsilon)));
    return m.folds ? scaled + (in.at("BiasTensor")[i] + in.at("FusedAddTensor")[i])
                   : m.tensor(scaled + in.at("BiasTensor")[i]) + in.at("FusedAddTensor")[i];
}

float scale_gradient_by(const Machine& m, const Rounded& in, const Members& set, std::size_t i) {
    const std::vector<float>& x = in.at("InputTensor");
    const float r = 1 / std::sqrt(in.at("VarianceTensor")[i] + static_cast<float>(epsilon));
    const auto product = [&](std::size_t j) {
        return in.at("InputGradientTensor")[j] * (x[j] - in.at("MeanTensor")[j]);
    };
    return m.folds ? m.total(set, [&](std::size_t j) { return product(j) * r; }) : m.tensor(m.total(set, product)) * r;
}

float training_gradient_by(const Machine& m, const Rounded& in, const Members& set, std::size_t i) {
    const std::vector<float>& dy = in.at("InputGradientTensor");
    const auto count = static_cast<float>(set.size());
    const auto c = [&](std::size_t j) { return m.tensor(in.at("InputTensor")[j] - in.at("MeanTensor")[j]); };
    const float v = in.at("VarianceTensor")[i] + static_cast<float>(epsilon);
    const float mean_gradient = m.tensor(m.total(set, [&](std::size_t j) { return dy[j]; }) / count);
    const float mean_product = m.tensor(m.total(set, [&](std::size_t j) { return m.tensor(dy[j] * c(j)); }) / count);
    const float r = 1 / std::sqrt(v);
    const float through = m.folds ? m.tensor(c(i) * r) * m.tensor(mean_product * r) : m.tensor(c(i) * mean_product) / v;
    return in.at("ScaleTensor")[i] * (r * (m.tensor(dy[i] - mean_gradient) - m.tensor(through)));
}

struct Implementation {
    std::string op;
    std::size_t output;
    float (*compute)(const Machine& m, const Rounded& in, const Members& set, std::size_t element);
};

const std::vector<Implementation> implementations{
    {"ACTIVATION_SOFTMAX1", 0, softmax_by},
    {"ACTIVATION_LOG_SOFTMAX1", 0, log_softmax_by},
    {"BATCH_NORMALIZATION", 0, normalised_by},
    {"BATCH_NORMALIZATION_TRAINING", 0, trained_by},
    {"BATCH_NORMALIZATION_GRAD", 1, scale_gradient_by},
    {"BATCH_NORMALIZATION_TRAINING_GRAD", 0, training_gradient_by},
};

/// How far an implementation is outside the range of the reference's element, as a fraction of the range's width.
/// Negative inside.
double outside(const core::ElementSlack& slack, std::size_t k, double expected, double actual) {
    const double off = actual < expected ? expected - actual - slack.below[k] : actual - expected - slack.above[k];
    return off;
}

/// Uses the same problems for all machines, because computing the reference takes longest.
template <class T>
void expect_accepted(const Implementation& way, const std::vector<Machine>& machines, DataType type) {
    Random random(21);
    for (int round = 0; round < 60; ++round) {
        const Problem problem = random_problem<T>(random, {way.op, {}}, type);
        const cpu::Reference reference = reference_of(problem);
        Rounded rounded;
        for (const auto& [name, values] : problem.elements) {
            rounded[name].assign(values.begin(), values.end());
        }
        const auto expected = values_of<T>(reference.outputs[way.output]);
        for (std::size_t k = 0; k < expected.size(); ++k) {
            const Members set = problem.shape.members(way.output == 0 ? problem.shape.set_of(k) : k);
            for (const Machine& machine : machines) {
                const float value = way.compute(machine, rounded, set, way.output == 0 ? k : set.front());
                ASSERT_LE(outside(reference.slack[way.output], k, static_cast<double>(expected[k]),
                                  static_cast<double>(T(double{value}))),
                          0)
                    << way.op << " element " << k << " of " << core::to_string(problem.shape.sizes) << " expected "
                    << static_cast<double>(expected[k]) << " actual " << double{value};
            }
        }
    }
}

TEST(Normalisation, RangesHoldOtherWays) {
    std::vector<Machine> in_float32;
    std::vector<Machine> in_any;
    for (const bool backwards : {false, true}) {
        for (const bool folds : {false, true}) {
            in_float32.push_back({backwards, folds, false});
            in_any.push_back({backwards, folds, false});
            in_any.push_back({backwards, folds, true});
        }
    }
    for (const Implementation& way : implementations) {
        expect_accepted<float>(way, in_float32, DataType::float32);
        expect_accepted<core::Float16>(way, in_any, DataType::float16);
    }
}

/// With numbers of one magnitude, a range is about as wide as the rounding errors of the sums and of the formula
/// together.
TEST(Normalisation, RangesAreNarrow) {
    for (const Implementation& way : implementations) {
        Random random(22);
        double widest = 0;
        for (int round = 0; round < 60; ++round) {
            const Problem problem = random_problem<float>(random, {way.op, {}}, DataType::float32);
            const cpu::Reference reference = reference_of(problem);
            const auto& slack = reference.slack[way.output];
            for (std::size_t k = 0; k < slack.below.size(); ++k) {
                widest = std::max({widest, slack.below[k], slack.above[k]});
            }
        }
        RecordProperty(way.op, std::to_string(widest));
        // Groups have up to 150 elements of up to 4, so sums of squares are up to 16 * 150.
        EXPECT_LT(widest, 150 * 150 * 16 * 0x1p-22) << way.op;
        EXPECT_GT(widest, 0) << way.op;
    }
}

TEST(Normalisation, SumsThatNoOrderRoundsAreExact) {
    const auto desc = tensor(DataType::float32, {1, 4});
    const auto one = tensor(DataType::float32, {1, 1});
    const Descriptor training = describe("BATCH_NORMALIZATION_TRAINING", {{"InputTensor", desc},
                                                                          {"ScaleTensor", one},
                                                                          {"BiasTensor", one},
                                                                          {"OutputTensor", desc},
                                                                          {"OutputMeanTensor", one},
                                                                          {"OutputVarianceTensor", one},
                                                                          {"Epsilon", 1}});
    Problem problem{training, {}, {}, {}};
    problem.inputs.push_back(tensor_of<float>(desc, {1, 3, 5, 7}));
    problem.inputs.push_back(tensor_of<float>(one, {2}));
    problem.inputs.push_back(tensor_of<float>(one, {1}));
    problem.inputs.emplace_back();
    std::vector<const Tensor*> inputs{&problem.inputs[0], &problem.inputs[1], &problem.inputs[2], nullptr};
    const auto reference = cpu::compute_reference(training, inputs);
    EXPECT_EQ(values_of<float>(reference.outputs[1]), std::vector<float>{4});
    EXPECT_EQ(values_of<float>(reference.outputs[2]), std::vector<float>{5});
    // A division may be off by one ULP.
    EXPECT_LE(reference.slack[1].below[0], 4 * 0x1p-23);
    EXPECT_LE(reference.slack[2].above[0], 5 * 0x1p-22);
}

/// Implementations that fold the mean into the bias may multiply it by the scale first. -10 times the largest number is
/// infinite, although the result is -0.25 / 14 of it.
TEST(Normalisation, ScaledMeansMayOverflow) {
    const auto desc = tensor(DataType::float32, {1, 1});
    const Descriptor normalisation = describe("BATCH_NORMALIZATION", {{"InputTensor", desc},
                                                                      {"MeanTensor", desc},
                                                                      {"VarianceTensor", desc},
                                                                      {"ScaleTensor", desc},
                                                                      {"BiasTensor", desc},
                                                                      {"OutputTensor", desc},
                                                                      {"Spatial", 1},
                                                                      {"Epsilon", 0}});
    const auto range = [&](float scale) {
        const auto one = [&](float number) { return tensor_of<float>(desc, {number}); };
        const Tensor inputs[] = {one(-10.25F), one(-10), one(196), one(scale), one(-3)};
        return accepted(
            cpu::compute_reference(normalisation, {{&inputs[0], &inputs[1], &inputs[2], &inputs[3], &inputs[4]}}), 0);
    };
    const float largest = std::numeric_limits<float>::max();
    EXPECT_TRUE(range(largest).contains(std::numeric_limits<double>::infinity()));
    EXPECT_TRUE(range(largest).contains(-0.25 / 14 * double{largest}));
    EXPECT_FALSE(range(largest).contains(-0.251 / 14 * double{largest}));
    const cpu::Interval smaller = range(largest / 16);
    EXPECT_LT(smaller.high, -0.249 / 14 * double{largest} / 16) << "nothing overflows";
    EXPECT_GT(smaller.low, -0.251 / 14 * double{largest} / 16);
}

/// The sum of 2048, -2048, 1 and 0 is 1. Measured on DirectML 1.15.4: with FLOAT16 it is 0, as 2048 + 1 is stored
/// first.
TEST(Normalisation, GradientsMayBeSummedInTwoPassesOfFloat16) {
    const std::pair<DataType, bool> types[] = {{DataType::float16, true}, {DataType::float32, false}};
    for (const auto& [type, accepts_zero] : types) {
        const auto desc = tensor(type, {1, 4});
        const auto one = tensor(type, {1, 1});
        const Descriptor gradient = describe("BATCH_NORMALIZATION_GRAD", {{"InputTensor", desc},
                                                                          {"InputGradientTensor", desc},
                                                                          {"MeanTensor", one},
                                                                          {"VarianceTensor", one},
                                                                          {"ScaleTensor", one},
                                                                          {"OutputGradientTensor", desc},
                                                                          {"OutputScaleGradientTensor", one},
                                                                          {"OutputBiasGradientTensor", one},
                                                                          {"Epsilon", 1}});
        const auto make = [type = type](const core::TensorDesc& of, const std::vector<float>& values) {
            return type == DataType::float32
                       ? tensor_of<float>(of, values)
                       : tensor_of<core::Float16>(of, std::vector<core::Float16>(values.begin(), values.end()));
        };
        const Tensor zeros = make(desc, {0, 0, 0, 0});
        const Tensor gradients = make(desc, {2048, -2048, 1, 0});
        const Tensor parameter = make(one, {0});
        const auto reference =
            cpu::compute_reference(gradient, {{&zeros, &gradients, &parameter, &parameter, &parameter}});
        EXPECT_EQ(reference.slack[2].below[0] >= 1, accepts_zero) << (accepts_zero ? "FLOAT16" : "FLOAT32");
        // The error of the two sums that are stored is at most 2^-10 of 4097.
        EXPECT_LE(reference.slack[2].below[0], 4.01) << (accepts_zero ? "FLOAT16" : "FLOAT32");
    }
}

TEST(Hardmax, LeavesOpenWhetherNanThatComesFirstIsTheMaximum) {
    const auto desc = tensor(DataType::float32, {2, 4});
    const Descriptor hardmax =
        describe("ACTIVATION_HARDMAX1", {{"InputTensor", desc}, {"OutputTensor", desc}, {"Axes", {1}}});
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const Tensor input = tensor_of<float>(desc, {nan, 1, 3, 2, 1, nan, 3, 2});
    const auto reference = cpu::compute_reference(hardmax, {{&input}});
    EXPECT_EQ(values_of<float>(reference.outputs[0]), (std::vector<float>{0, 0, 1, 0, 0, 0, 1, 0}));
    EXPECT_EQ(reference.slack[0].above, (std::vector<double>{1, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(reference.slack[0].below, (std::vector<double>{0, 0, 1, 0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace dmlconform::tests::normalisation_test
