// Computes each element-wise operator by the table row of every other one with the same signature. A case of the
// operator with independently derived values must detect the replacement.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "engine/cpu/element_wise/machine.h"
#include "tests/mutants/computing_engine.h"

namespace dmlconform::tests::mutants_test {
namespace {

using cpu::element_wise::Row;

/// Pairs that are equal by definition.
const std::map<std::pair<std::string_view, std::string_view>, std::string_view> same_functions{
    {{"ELEMENT_WISE_TANH", "ACTIVATION_TANH"}, "two spellings"},
    {{"ACTIVATION_TANH", "ELEMENT_WISE_TANH"}, "two spellings"},
    {{"ACTIVATION_IDENTITY", "ELEMENT_WISE_IDENTITY"}, "two spellings"},
    {{"ELEMENT_WISE_ADD1", "ELEMENT_WISE_ADD"}, "ADD1 is ADD that takes an activation, which is not part of the row"},
    {{"ELEMENT_WISE_CLIP", "ELEMENT_WISE_CLIP1"}, "they differ in how bounds are written"},
    {{"ELEMENT_WISE_CLIP1", "ELEMENT_WISE_CLIP"}, "they differ in how bounds are written"},
    {{"ELEMENT_WISE_CLIP_GRAD", "ELEMENT_WISE_CLIP_GRAD1"}, "they differ in how bounds are written"},
    {{"ELEMENT_WISE_CLIP_GRAD1", "ELEMENT_WISE_CLIP_GRAD"}, "they differ in how bounds are written"},
    {{"ELEMENT_WISE_IDENTITY", "CAST"}, "a cast to the same type"},
    {{"ACTIVATION_IDENTITY", "CAST"}, "a cast to the same type"},
    {{"CAST", "ELEMENT_WISE_IDENTITY"}, "they differ in integers that do not fit, for which no documentation says how"},
};

/// The number of attributes of each kind that a formula may use. ScaleBias is applied outside the formula.
std::array<std::size_t, 2> attributes_of(std::string_view name) {
    std::array<std::size_t, 2> counts{};
    for (const operators::Field& field : operators::find_operator(name)->fields) {
        const bool number =
            field.type == operators::FieldType::float_ || field.type == operators::FieldType::scalar_union;
        const bool choice = field.enumeration != nullptr && field.enumeration->name != "DML_TENSOR_DATA_TYPE";
        counts[0] += number ? 1 : 0;
        counts[1] += choice ? 1 : 0;
    }
    return counts;
}

/// Whether `other` can replace `row`.
bool fits(const Row& row, const Row& other) {
    return row.name != other.name && row.inputs == other.inputs && row.outputs == other.outputs &&
           (row.real == nullptr || other.real != nullptr) &&
           (row.signed_integer == nullptr || other.signed_integer != nullptr) &&
           attributes_of(row.name) == attributes_of(other.name);
}

std::vector<const Row*> mutants_of(const Row& row) {
    std::vector<const Row*> mutants;
    for (const auto& [name, other] : cpu::element_wise::all_rows()) {
        if (fits(row, other)) {
            mutants.push_back(&other);
        }
    }
    return mutants;
}

std::string catching_row(const std::vector<cases::Case>& subjects, const Row& row) {
    return catching(subjects,
                    [&row](const cpu::KernelArguments& arguments) { cpu::element_wise::compute(row, arguments); });
}

class Mutants : public testing::TestWithParam<std::string_view> {};

TEST_P(Mutants, AreCaught) {
    const Row& row = cpu::element_wise::all_rows().at(GetParam());
    const std::vector<cases::Case> subjects = cases_of(row.name);
    ASSERT_FALSE(subjects.empty());
    ASSERT_EQ(catching_row(subjects, row), "") << "fails without a mutant";
    std::size_t caught = 0;
    for (const Row* mutant : mutants_of(row)) {
        const std::string id = catching_row(subjects, *mutant);
        if (same_functions.contains({row.name, mutant->name})) {
            EXPECT_EQ(id, "") << mutant->name << " is not the same function";
            continue;
        }
        EXPECT_NE(id, "") << "no case tells it from " << mutant->name;
        caught += id.empty() ? 0 : 1;
    }
    fmt::print("{}: {} mutants are caught by {} cases\n", row.name, caught, subjects.size());
}

std::vector<std::string_view> row_names() {
    std::vector<std::string_view> names;
    for (const auto& [name, row] : cpu::element_wise::all_rows()) {
        names.push_back(name);
    }
    return names;
}

INSTANTIATE_TEST_SUITE_P(ElementWise, Mutants, testing::ValuesIn(row_names()),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST(MutantPairs, OfOneFunctionAreMutants) {
    const auto& rows = cpu::element_wise::all_rows();
    for (const auto& [pair, reason] : same_functions) {
        ASSERT_TRUE(rows.contains(pair.first) && rows.contains(pair.second)) << pair.first << " " << pair.second;
        EXPECT_TRUE(fits(rows.at(pair.first), rows.at(pair.second))) << pair.first << " " << pair.second;
    }
}

TEST(MutantPairs, AreMany) {
    std::size_t count = 0;
    for (const auto& [name, row] : cpu::element_wise::all_rows()) {
        count += mutants_of(row).size();
    }
    fmt::print("{} mutants, {} of which are the same function\n", count, same_functions.size());
    EXPECT_EQ(cpu::element_wise::all_rows().size(), 91u);
    EXPECT_GE(count, 1000u);
}

}  // namespace
}  // namespace dmlconform::tests::mutants_test
