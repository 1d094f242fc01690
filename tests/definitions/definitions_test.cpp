// Compares the reference with the plain definitions of engine/cpu/definitions, on random descriptors and inputs.
//
// Copied elements and integers must have the same bits. Real numbers may differ by as much as evaluations in doubles
// that add in another order may: see estimate.h. So the kernel's result, which is rounded once to the tensor's type,
// lies between the definition's value less and plus that, both rounded.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>

#include "engine/compare/comparison.h"
#include "engine/core/element.h"
#include "engine/core/strided.h"
#include "engine/cpu/definitions/call.h"
#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/reference.h"
#include "engine/expectations/field_changes.h"
#include "engine/fuzz/case_generator.h"
#include "engine/operators/rules.h"

namespace dmlconform::tests::definitions_test {
namespace {

namespace definitions = cpu::definitions;
using core::DataType;
using core::Tensor;
using cpu::Signed;
using cpu::Unsigned;
using cpu::element_wise::Store;

/// What the tensor's type makes of a number.
template <class Integer>
std::uint64_t stored_bits(DataType type, Integer number, Store how) {
    Tensor one(core::TensorDesc::packed(type, {1}));
    cpu::element_wise::store(one.buffer.bytes(), {type, 0, 0}, 1, &number, how);
    return core::load_element(one.buffer.bytes(), type, 0);
}

/// Empty if the element is what the definition says, otherwise what is wrong.
std::string difference(DataType type, std::uint64_t bits, const definitions::Bits& expected, Store /*how*/) {
    const std::uint64_t stored = expected.value & ~std::uint64_t{0} >> (64 - core::bits_of(type));
    return bits == stored ? "" : "expected " + core::format_bits(type, stored);
}
std::string difference(DataType type, std::uint64_t bits, Signed expected, Store how) {
    const std::uint64_t stored = stored_bits(type, expected, how);
    return bits == stored ? "" : "expected " + core::format_element(type, stored);
}
std::string difference(DataType type, std::uint64_t bits, Unsigned expected, Store how) {
    const std::uint64_t stored = stored_bits(type, expected, how);
    return bits == stored ? "" : "expected " + core::format_element(type, stored);
}
std::string difference(DataType type, std::uint64_t bits, const definitions::Estimate& expected, Store how) {
    const double actual = core::decode_element(type, bits);
    const auto stored = [&](double number) { return cpu::element_wise::stored_value(type, number, how); };
    if (!std::isfinite(expected.value)) {
        const double result = stored(expected.value);
        const bool same = actual == result || (std::isnan(actual) && std::isnan(result));
        return same ? "" : "expected " + std::to_string(result);
    }
    if (!core::is_floating_point(type) && expected.error() == 0) {
        return difference(type, bits, definitions::Bits{stored_bits(type, expected.value, how)}, how);
    }
    // Errors are stated to first order, and computed with roundings of their own.
    const double error = expected.error() * (1 + 0x1p-10);
    const bool is_integer = !core::is_floating_point(type) && expected.value == std::trunc(expected.value);
    const double low = stored(is_integer ? std::ceil(expected.value - error) : expected.value - error);
    const double high = stored(is_integer ? std::floor(expected.value + error) : expected.value + error);
    if (!std::isfinite(expected.error()) || (low <= actual && actual <= high)) {
        return "";
    }
    std::ostringstream text;
    text.precision(17);
    text << "expected " << expected.value << " +- " << error << ", stored " << low << " to " << high << ", not "
         << actual;
    return text.str();
}
std::string difference(DataType type, std::uint64_t bits, double expected, Store how) {
    return difference(type, bits, definitions::Estimate(expected), how);
}
std::string difference(DataType type, std::uint64_t bits, definitions::Rounded expected, Store how) {
    return difference(type, bits, double{expected.value}, how);
}

std::string difference(DataType type, std::uint64_t bits, const definitions::Ranged& expected, Store how) {
    const double actual = core::decode_element(type, bits);
    const cpu::Interval stored = cpu::element_wise::stored_range(type, expected.range, how);
    if (std::isnan(actual) ? stored.nan : stored.contains(actual)) {
        return "";
    }
    return "expected " + std::to_string(stored.low) + " to " + std::to_string(stored.high);
}

/// What was compared: elements, and those whose definition allows any value.
struct Compared {
    std::uint64_t cases = 0;
    std::uint64_t elements = 0;
    std::uint64_t undecided = 0;
};

bool is_undecided(const definitions::Estimate& estimate) {
    return std::isfinite(estimate.value) && !std::isfinite(estimate.error());
}
template <class Number>
bool is_undecided(const Number& /*number*/) {
    return false;
}

/// Empty, or the first element that differs.
std::string difference(const Tensor& actual, const definitions::Output& expected, Compared& compared) {
    const DataType type = actual.desc.data_type;
    const core::StridedRuns<1> runs(actual.desc.sizes, {core::signed_strides(actual.desc)});
    std::string message;
    std::visit(
        [&]<class Numbers>(const Numbers& numbers) {
            if constexpr (std::is_same_v<Numbers, std::monostate>) {
                message = "the definition has no such output";
            } else {
                std::size_t i = 0;
                runs.for_each_element([&](const auto& at) {
                    const std::size_t number = i++;
                    if (number >= expected.meaningful || !message.empty()) {
                        return;
                    }
                    const std::uint64_t bits =
                        core::load_element(actual.buffer.bytes(), type, static_cast<std::uint64_t>(at[0]));
                    ++compared.elements;
                    compared.undecided += is_undecided(numbers.elements[number]) ? 1 : 0;
                    const std::string what = difference(type, bits, numbers.elements[number], expected.store);
                    if (!what.empty()) {
                        message = "element " + std::to_string(number) + " is " + core::format_element(type, bits) +
                                  ": " + what;
                    }
                });
            }
        },
        expected.numbers);
    return message;
}

/// A case's inputs; null for absent ones.
struct Inputs {
    std::vector<Tensor> tensors;
    std::vector<const Tensor*> pointers;

    explicit Inputs(const cases::Case& subject) {
        const auto slots = subject.descriptor->inputs();
        tensors.resize(slots.size());
        pointers.resize(slots.size());
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i].desc != nullptr && subject.inputs[i]) {
                tensors[i] = Tensor(*slots[i].desc);
                EXPECT_TRUE(subject.inputs[i]->fill(tensors[i]));
                pointers[i] = &tensors[i];
            }
        }
    }
};

/// Compares the case with its definition.
void expect_defined(const cases::Case& subject, Compared& compared) {
    const operators::Descriptor& descriptor = *subject.descriptor;
    const Inputs inputs(subject);
    const auto& pointers = inputs.pointers;
    const std::vector<Tensor> actual = cpu::compute_outputs(descriptor, pointers);
    const std::vector<definitions::Output> expected = definitions::estimates(descriptor, pointers);
    const auto outputs = descriptor.outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i].desc != nullptr) {
            const std::string what = difference(actual[i], expected[i], compared);
            EXPECT_EQ(what, "") << subject.id << ' ' << outputs[i].name << '\n'
                                << ::testing::PrintToString(operators::to_lines(descriptor));
        }
    }
    ++compared.cases;
}

/// Definitions take long for large outputs, of which other tests have some.
bool is_large(const operators::Descriptor& descriptor) {
    return std::ranges::any_of(descriptor.outputs(), [](const operators::TensorSlot& slot) {
        return slot.desc != nullptr && *core::element_count(slot.desc->sizes) > 20'000;
    });
}

/// FLOAT64 has more digits than FP32, and truncation to integers makes a rounding a whole number.
bool is_fp32(const operators::Descriptor& descriptor) {
    return std::ranges::all_of(descriptor.outputs(), [](const operators::TensorSlot& slot) {
        return slot.desc == nullptr || slot.desc->data_type == DataType::float32 ||
               slot.desc->data_type == DataType::float16;
    });
}

/// Expects that the reference accepts what the definition gives in FP32.
void expect_accepted_in_fp32(const cases::Case& subject) {
    const operators::Descriptor& descriptor = *subject.descriptor;
    const Inputs inputs(subject);
    const cpu::Reference reference = cpu::compute_reference(descriptor, inputs.pointers);
    const std::vector<Tensor> actual = definitions::fp32_values(descriptor, inputs.pointers);
    const auto slots = descriptor.outputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc != nullptr) {
            const auto comparison = compare::compare(reference.outputs[i], actual[i],
                                                     cpu::default_tolerance(descriptor, slots[i]), &reference.slack[i]);
            EXPECT_TRUE(comparison.passed())
                << subject.id << ' ' << slots[i].name << " element " << comparison.worst->index << ": "
                << core::format_element(slots[i].desc->data_type, comparison.worst->actual_bits) << " instead of "
                << core::format_element(slots[i].desc->data_type, comparison.worst->expected_bits) << '\n'
                << ::testing::PrintToString(operators::to_lines(descriptor));
        }
    }
}

/// The number of elements that were compared, and of those of which an end of the range is not accepted.
struct Ends {
    std::uint64_t cases = 0;
    std::uint64_t elements = 0;
    std::uint64_t outside = 0;
};

/// Either end of each range, in the output's type; NaN where there is no number.
Tensor end_of(const core::TensorDesc& desc, const definitions::Array<definitions::Ranged>& ranges, Store how,
              bool is_low) {
    Tensor tensor(desc);
    const core::StridedRuns<1> runs(desc.sizes, {core::signed_strides(desc)});
    std::size_t i = 0;
    runs.for_each_element([&](const auto& at) {
        const cpu::Interval stored = cpu::element_wise::stored_range(desc.data_type, ranges.elements[i++].range, how);
        const double end = !stored.has_numbers() ? std::nan("") : is_low ? stored.low : stored.high;
        cpu::element_wise::store(tensor.buffer.bytes(), {desc.data_type, at[0], 0}, 1, &end, how);
    });
    return tensor;
}

/// Expects that the ranges of the definition have the reference's values, and counts ends that it does not accept.
void compare_ranges(const cases::Case& subject, Ends& ends) {
    const operators::Descriptor& descriptor = *subject.descriptor;
    const Inputs inputs(subject);
    const std::vector<definitions::Output> ranges = definitions::ranges(descriptor, inputs.pointers);
    if (ranges.empty()) {
        return;
    }
    const cpu::Reference reference = cpu::compute_reference(descriptor, inputs.pointers);
    const auto slots = descriptor.outputs();
    ++ends.cases;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const auto* const numbers = std::get_if<definitions::Array<definitions::Ranged>>(&ranges[i].numbers);
        if (slots[i].desc == nullptr || numbers == nullptr) {
            continue;
        }
        Compared compared;
        EXPECT_EQ(difference(reference.outputs[i], ranges[i], compared), "")
            << subject.id << ' ' << slots[i].name << '\n'
            << ::testing::PrintToString(operators::to_lines(descriptor));
        for (const bool is_low : {true, false}) {
            const auto comparison =
                compare::compare(reference.outputs[i], end_of(*slots[i].desc, *numbers, ranges[i].store, is_low),
                                 cpu::default_tolerance(descriptor, slots[i]), &reference.slack[i]);
            ends.elements += comparison.elements;
            ends.outside += comparison.beyond;
        }
    }
}

std::vector<std::string> defined_operators() {
    std::vector<std::string> names;
    for (const std::string& name : operators::operator_names()) {
        if (definitions::find_definition(operators::find_operator(name)->short_name()) != nullptr) {
            names.emplace_back(operators::find_operator(name)->short_name());
        }
    }
    return names;
}

class Definition : public testing::TestWithParam<std::string> {};

/// DMLCONFORM_CASES_OF_DEFINITIONS is the number of descriptors.
TEST_P(Definition, IsWhatTheReferenceComputes) {
    const char* const given = std::getenv("DMLCONFORM_CASES_OF_DEFINITIONS");
    const std::uint64_t count = given == nullptr ? 2000 : std::stoull(given);
    const operators::OperatorSchema& schema = *operators::find_operator(GetParam());
    Compared compared;
    for (std::uint64_t n = 0; n < count && !HasFailure(); ++n) {
        const auto subject = fuzz::generate(schema, {.seed = 35, .perturbed_percent = 0}, n);
        if (subject && !subject->expect_error && !is_large(*subject->descriptor)) {
            expect_defined(*subject, compared);
        }
    }
    EXPECT_GT(compared.cases, count / 4);
    EXPECT_LE(compared.undecided, compared.elements / 100);
}

/// The definition, with each operation rounded to FP32, is an honest implementation: tolerances must accept it.
TEST_P(Definition, IsAcceptedInFp32) {
    const operators::OperatorSchema& schema = *operators::find_operator(GetParam());
    for (std::uint64_t n = 0; n < 100 && !HasFailure(); ++n) {
        const auto subject = fuzz::generate(schema, {.seed = 36, .perturbed_percent = 0}, n);
        if (subject && !subject->expect_error && is_fp32(*subject->descriptor)) {
            expect_accepted_in_fp32(*subject);
        }
    }
}

/// Why a definition's range reaches beyond what the reference accepts, which knows more than intervals do. Null if the
/// reference must accept all of it.
const char* why_wider(std::string_view name) {
    using namespace std::string_view_literals;
    if (name == "ELEMENT_WISE_ATAN_YX"sv) {
        return "at the branch cut, the range has all angles, and an implementation one of the two ends";
    }
    if (name.starts_with("LP_POOLING"sv)) {
        return "the definition divides by the largest element, and multiplies by it in the end";
    }
    if (name.starts_with("ROI_ALIGN"sv) && !name.ends_with("GRAD"sv)) {
        return "the weights d and 1 - d depend on each other, and a mean of one sample is that sample";
    }
    if (name.starts_with("MEAN_VARIANCE_"sv) || name.starts_with("BATCH_NORMALIZATION"sv)) {
        return "elements, mean and variance depend on each other, and sums have independent roundings";
    }
    if (name.starts_with("MULTIHEAD_"sv)) {
        return "the largest score, which is subtracted from all, cancels in the quotients";
    }
    return nullptr;
}

bool has_doubles(const operators::Descriptor& descriptor) {
    return std::ranges::any_of(descriptor.outputs(), [](const operators::TensorSlot& slot) {
        return slot.desc != nullptr && slot.desc->data_type == DataType::float64;
    });
}

/// Evaluated on intervals, the definition gives all results of FP32 implementations that keep its order.
TEST_P(Definition, RangesHoldTheReferenceAndAreAccepted) {
    const operators::OperatorSchema& schema = *operators::find_operator(GetParam());
    Ends ends;
    for (std::uint64_t n = 0; n < 100 && !HasFailure(); ++n) {
        const auto subject = fuzz::generate(schema, {.seed = 37, .perturbed_percent = 0}, n);
        if (subject && !subject->expect_error && !has_doubles(*subject->descriptor) &&
            !is_large(*subject->descriptor)) {
            compare_ranges(*subject, ends);
        }
    }
    EXPECT_GT(ends.cases, 40u);
    if (const char* const why = why_wider(GetParam())) {
        EXPECT_GT(ends.outside, 0u) << "although " << why;
        EXPECT_LT(ends.outside, ends.elements / 4);
    } else {
        EXPECT_EQ(ends.outside, 0u);
    }
}

/// Expectations ask for such convolutions, which break rules about sizes: see expectations::changed.
TEST(ChangedConvolutions, AreComputedWithOutputsOfAnySize) {
    constexpr double numbers[] = {1, 2, 3, 5, 64, 65'536, 2'147'483'647, 4'294'967'295};
    const operators::OperatorSchema& schema = *operators::find_operator("QUANTIZED_LINEAR_CONVOLUTION");
    std::mt19937 random(38);
    const auto pick = [&] { return numbers[random() % std::size(numbers)]; };
    Compared compared;
    for (std::uint64_t n = 0; n < 1500 && !HasFailure(); ++n) {
        const auto subject = fuzz::generate(schema, {.seed = 38, .perturbed_percent = 0}, n);
        const char* const entry = random() % 2 == 0 ? "StartPadding[0]" : "EndPadding[1]";
        const std::vector<expectations::FieldChange> changes{
            {"Strides", pick()}, {"Dilations[0]", pick()}, {entry, pick()}};
        const auto other = subject ? expectations::changed(*subject, changes) : std::nullopt;
        if (other && operators::validate(*other->descriptor, core::highest_feature_level) &&
            !is_large(*other->descriptor)) {
            expect_defined(*other, compared);
        }
    }
    EXPECT_GT(compared.cases, 200u);
}

INSTANTIATE_TEST_SUITE_P(Of, Definition, testing::ValuesIn(defined_operators()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace dmlconform::tests::definitions_test
