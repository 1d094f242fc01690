// Tests of random integers: of any size, but none for which the operator's result is unspecified.
#include "engine/fuzz/integer_kinds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "engine/core/element.h"
#include "engine/fuzz/case_generator.h"
#include "engine/operators/catalogue.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests::integer_kinds_test {
namespace {

using core::DataType;

/// Calls `hear` with each element of each input of an operator's random cases that has integers.
void for_each_integer(
    const std::string& name,
    const std::function<void(const cases::Case& subject, std::size_t input, DataType type, double number)>& hear) {
    for (std::uint64_t n = 0; n < 300; ++n) {
        const auto subject = fuzz::generate(*operators::find_operator(name), {.seed = 3, .perturbed_percent = 0}, n);
        ASSERT_TRUE(subject && !subject->expect_error) << name;
        const auto slots = subject->descriptor->inputs();
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i].desc == nullptr || core::is_floating_point(slots[i].desc->data_type)) {
                continue;
            }
            core::Tensor tensor(*slots[i].desc);
            ASSERT_TRUE(subject->inputs[i]->fill(tensor)) << name;
            for (const std::size_t address : addresses_of(tensor.desc)) {
                hear(*subject, i, tensor.desc.data_type,
                     core::decode_element(tensor.desc.data_type,
                                          core::load_element(tensor.buffer.bytes(), tensor.desc.data_type, address)));
            }
        }
    }
}

TEST(IntegerKinds, AreOfAnySizeWhereOperatorsComputeWithThem) {
    for (const std::string name :
         {"ELEMENT_WISE_ADD", "ELEMENT_WISE_MULTIPLY", "ELEMENT_WISE_MAX", "ELEMENT_WISE_BIT_XOR",
          "ELEMENT_WISE_LOGICAL_LESS_THAN", "ELEMENT_WISE_SIGN", "CUMULATIVE_SUMMATION", "ACTIVATION_RELU"}) {
        std::size_t all = 0;
        std::size_t negative = 0;
        std::size_t large = 0;
        for_each_integer(name, [&](const cases::Case&, std::size_t, DataType type, double number) {
            ++all;
            negative += number < 0 ? 1 : 0;
            large += std::fabs(number) >= std::ldexp(1.0, static_cast<int>(core::bits_of(type)) / 2) ? 1 : 0;
        });
        EXPECT_GT(all, 2000U) << name;
        EXPECT_GT(large * 5, all) << name;
        // Logical operators, for example, have unsigned types alone.
        EXPECT_TRUE(name == "ELEMENT_WISE_BIT_XOR" || negative * 10 > all) << name;
    }
}

TEST(IntegerKinds, LeaveOutWhatIsUnspecified) {
    struct Row {
        std::string name;
        std::size_t input;
        std::function<bool(DataType type, double number)> is_specified;
    };
    const auto is_divisor = [](DataType, double number) { return number != 0 && number != -1; };
    const auto is_shift = [](DataType type, double number) {
        return number >= 0 && number < static_cast<double>(core::bits_of(type));
    };
    const auto has_opposite = [](DataType type, double number) {
        return number > -std::ldexp(1.0, static_cast<int>(core::bits_of(type)) - 1);
    };
    const auto is_small = [](DataType, double number) { return number >= 0 && number <= 2; };
    const std::vector<Row> rows{
        {"ELEMENT_WISE_DIVIDE", 1, is_divisor},
        {"ELEMENT_WISE_MODULUS_FLOOR", 1, is_divisor},
        {"ELEMENT_WISE_MODULUS_TRUNCATE", 1, is_divisor},
        {"ELEMENT_WISE_BIT_SHIFT_LEFT", 1, is_shift},
        {"ELEMENT_WISE_BIT_SHIFT_RIGHT", 1, is_shift},
        {"ELEMENT_WISE_ABS", 0, has_opposite},
        {"ELEMENT_WISE_NEGATE", 0, has_opposite},
        {"ELEMENT_WISE_POW", 0, is_small},
        {"ELEMENT_WISE_MEAN", 0, is_small},
        {"GATHER", 1, is_small},
    };
    for (const Row& row : rows) {
        std::size_t seen = 0;
        for_each_integer(row.name, [&](const cases::Case& subject, std::size_t input, DataType type, double number) {
            if (input == row.input) {
                ++seen;
                EXPECT_TRUE(row.is_specified(type, number)) << subject.id << ": " << number;
            }
        });
        EXPECT_GT(seen, 500U) << row.name;
    }
}

TEST(IntegerKinds, FitTheTypeThatTheyAreCastTo) {
    std::size_t large = 0;
    for_each_integer("CAST", [&](const cases::Case& subject, std::size_t, DataType type, double number) {
        const DataType to = subject.descriptor->tensor("OutputTensor")->data_type;
        if (!core::is_floating_point(to)) {
            const bool is_signed = core::is_signed_integer(to);
            const double end = std::ldexp(1.0, static_cast<int>(core::bits_of(to)) - (is_signed ? 1 : 0));
            // As a double, the greatest numbers of 64 bits are rounded to the end.
            EXPECT_LE(number, core::bits_of(type) == 64 ? end : end - 1) << subject.id;
            EXPECT_GE(number, is_signed ? -end : 0) << subject.id;
        }
        large += std::fabs(number) > 1000 ? 1 : 0;
    });
    EXPECT_GT(large, 1000U);
}

}  // namespace
}  // namespace dmlconform::tests::integer_kinds_test
