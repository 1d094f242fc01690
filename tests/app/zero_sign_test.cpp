// Tests of the sign of zeros: it is compared where the case file spells -0.0.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::zero_sign_test {
namespace {

/// x + 0, whose sum is -0 only if both are: IEEE 754 rounds to nearest.
std::string addition(std::string_view type, std::string_view a, std::string_view b, std::string_view expected,
                     std::string_view tolerance = R"({ "ulp": 1 })") {
    return fmt::format(R"({{ "cases": [{{ "name": "sum", "operator": "ELEMENT_WISE_ADD",
        "desc": {{ "ATensor": {{ "DataType": "{0}", "Sizes": [2] }}, "BTensor": {{ "DataType": "{0}", "Sizes": [2] }},
                  "OutputTensor": {{ "DataType": "{0}", "Sizes": [2] }} }},
        "inputs": {{ "ATensor": {1}, "BTensor": {2} }}, "expected": {{ "OutputTensor": {3} }},
        "tolerance": {{ "OutputTensor": {4} }} }}] }})",
                       type, a, b, expected, tolerance);
}

TEST(ZeroSign, IsComparedWhereTheCaseSpellsANegativeZero) {
    const struct {
        std::string text;
        bool passes;
    } rows[] = {
        {addition("FLOAT32", "[-0.0, 1]", "[0, 1]", "[-0.0, 2]"), false},
        {addition("FLOAT16", "[-0.0, 1]", "[0, 1]", "[-0.0, 2]"), false},
        {addition("FLOAT32", "[-0.0, 1]", "[0, 1]", R"(["0x80000000", 2])"), false},
        {addition("FLOAT32", "[-0.0, -0.0]", "[0, 0]", R"({ "value": -0.0 })"), false},
        {addition("FLOAT32", "[-0.0, 1]", "[-0.0, 1]", "[-0.0, 2]"), true},
        {addition("FLOAT16", "[-0.0, 1]", "[-0.0, 1]", "[-0.0, 2]"), true},
        // Nobody asked for the sign, nor with a number that is too small for the type.
        {addition("FLOAT16", "[0, 1]", "[0, 1]", "[-2.9e-24, 2]"), true},
        {addition("FLOAT16", "[0, 0]", "[0, 0]", R"({ "value": -1e-9 })"), true},
        {addition("FLOAT32", "[-0.0, 1]", "[-0.0, 1]", "[0, 2]"), true},
        // A small number is not a zero of the other sign.
        {addition("FLOAT32", "[1e-9, 1]", "[0, 1]", "[-0.0, 2]", R"({ "abs": 1e-6 })"), true},
    };
    for (const auto& [text, passes] : rows) {
        const TemporaryFolder folder;
        const ProgramResult result = dmlconform({"run", folder.write("zero.json", text), "--engine", "cpu"});
        EXPECT_TRUE(ends_with_code(result, passes ? 0 : 1)) << text;
        if (!passes) {
            EXPECT_TRUE(prints(result, "distance  0 ULP: only the sign of the zero differs")) << text;
        }
    }
}

/// An exact tolerance compares all signs.
TEST(ZeroSign, IsComparedByAnExactTolerance) {
    const TemporaryFolder folder;
    const std::string text = addition("FLOAT32", "[-0.0, 1]", "[-0.0, 1]", "[0, 2]", R"({ "exact": true })");
    const ProgramResult result = dmlconform({"run", folder.write("zero.json", text), "--engine", "cpu"});
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(prints(result, "0 ULP: only the sign of the zero differs, which matters if the tolerance is exact"));
}

}  // namespace
}  // namespace dmlconform::tests::zero_sign_test
