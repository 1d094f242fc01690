// Tests of random cases: the same on every machine, legal or illegal as intended, and of every kind.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/cases/case_file.h"
#include "engine/cases/case_writer.h"
#include "engine/core/hash.h"
#include "engine/fuzz/case_generator.h"
#include "engine/fuzz/operator_fuzz.h"
#include "engine/operators/in_place.h"
#include "engine/operators/rules.h"

namespace dmlconform::tests::case_generator_test {
namespace {

using fuzz::GeneratorSettings;

const std::vector<std::string> with_rules{"SLICE1", "TOP_K1", "MEAN_VARIANCE_NORMALIZATION1",
                                          "QUANTIZED_LINEAR_CONVOLUTION"};

std::optional<cases::Case> made(const std::string& name, const GeneratorSettings& settings, std::uint64_t number) {
    return fuzz::generate(*operators::find_operator(name), settings, number);
}

std::string text_of(const cases::Case& subject) {
    const auto object = cases::case_to_json(subject);
    EXPECT_TRUE(object.has_value());
    return object->dump();
}

/// As long as these numbers hold, a seed and a case number from an earlier version still give the same case. Changes of
/// the generator change the numbers.
TEST(CaseGenerator, TheSameSeedGivesTheSameCasesOnEveryMachine) {
    const std::map<std::string, std::uint64_t> digests{{"SLICE1", 0xba179fcd8a13b72b},
                                                       {"TOP_K1", 0xe7de42728dbeab85},
                                                       {"MEAN_VARIANCE_NORMALIZATION1", 0x4da3d2386e0424b6},
                                                       {"QUANTIZED_LINEAR_CONVOLUTION", 0xda9453d95a58b30a},
                                                       {"ELEMENT_WISE_CLIP1", 0x3a2840d63fd6d7f8},
                                                       {"GEMM", 0x6a7e3abd72570d94}};
    for (const auto& [name, digest] : digests) {
        std::uint64_t hash = 0;
        for (std::uint64_t n = 0; n < 30; ++n) {
            const auto subject = made(name, {.seed = 1}, n);
            hash = hash * 31 + (subject ? core::fnv1a(text_of(*subject)) : 0);
        }
        EXPECT_EQ(hash, digest) << name << fmt::format(" 0x{:016x}", hash);
    }
}

TEST(CaseGenerator, ACaseDependsOnSeedAndNumberAlone) {
    const auto first = made("TOP_K1", {.seed = 5}, 17);
    for (std::uint64_t n = 0; n < 5; ++n) {
        (void)made("TOP_K1", {.seed = 5}, n);
    }
    const auto second = made("TOP_K1", {.seed = 5}, 17);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(text_of(*first), text_of(*second));
    EXPECT_EQ(first->id, "fuzz/TOP_K1/5-17");
    EXPECT_NE(text_of(*first), text_of(*made("TOP_K1", {.seed = 6}, 17)));
}

TEST(CaseGenerator, WithoutInputsTheDescriptorStaysTheSame) {
    for (const std::string& name : with_rules) {
        const auto whole = made(name, {.seed = 3}, 4);
        const auto bare = made(name, {.seed = 3, .with_inputs = false}, 4);
        ASSERT_TRUE(whole && bare) << name;
        EXPECT_EQ(operators::to_lines(*bare->descriptor), operators::to_lines(*whole->descriptor));
        ASSERT_EQ(bare->inputs.size(), whole->inputs.size());
        EXPECT_TRUE(std::ranges::none_of(bare->inputs, [](const auto& input) { return input.has_value(); })) << name;
    }
}

TEST(CaseGenerator, CasesAreAsTheySayAtEveryLevel) {
    for (const core::FeatureLevel level :
         {core::FeatureLevel{2, 1}, core::FeatureLevel{3, 1}, core::FeatureLevel{4, 0}, core::highest_feature_level}) {
        for (const std::string& name : with_rules) {
            std::size_t illegal = 0;
            for (std::uint64_t n = 0; n < 60; ++n) {
                const auto subject = made(name, {.seed = 3, .level = level, .perturbed_percent = 50}, n);
                ASSERT_TRUE(subject.has_value()) << name << " " << n;
                const auto verdict = operators::validate(*subject->descriptor, level);
                ASSERT_EQ(verdict.has_value(), subject->expect_error.has_value()) << subject->id;
                illegal += verdict ? 1 : 0;
            }
            EXPECT_GT(illegal, 8u) << name;
            // Half of the cases are perturbed: 45 or more of 60 for less than one seed in 10,000.
            EXPECT_LT(illegal, 45u) << name;
        }
    }
}

TEST(CaseGenerator, EveryOperatorHasLegalCasesThatReadBack) {
    for (const std::string& name : operators::operator_names()) {
        std::size_t legal = 0;
        for (std::uint64_t n = 0; n < 2; ++n) {
            const auto subject = made(name, {.seed = 2, .perturbed_percent = 0}, n);
            if (!subject) {
                continue;
            }
            ++legal;
            const auto object = cases::case_to_json(*subject);
            ASSERT_TRUE(object.has_value()) << subject->id << object.error().message;
            const auto read = cases::read_case_file("fuzz.json", cases::case_file_text("", {&*object, 1}));
            for (const cases::Problem& problem : read.problems) {
                // Cases of operators without a reference need expected values, which the generator does not know.
                EXPECT_NE(problem.message.find("is missing values"), std::string::npos)
                    << name << ": " << problem.message;
            }
        }
        EXPECT_GT(legal, 0u) << name;
    }
}

/// Windows, indices and outputs must fit each other, which purely random sizes would not achieve.
TEST(CaseGenerator, FamiliesHaveLegalCasesOnly) {
    const std::map<std::string_view, std::size_t> operators_of{{"movement", 15},  {"movement_indexed", 11},
                                                               {"product", 6},    {"quantized_linear_convolution", 1},
                                                               {"window", 12},    {"regions", 4},
                                                               {"resampling", 6}, {"recurrent", 3},
                                                               {"attention", 2},  {"top_k1", 2}};
    std::map<std::string_view, std::size_t> found;
    for (const std::string& name : operators::operator_names()) {
        const std::string_view family = operators::family_of(*operators::find_operator(name));
        if (!operators_of.contains(family)) {
            continue;
        }
        ++found[family];
        std::set<std::vector<std::uint32_t>> sizes;
        for (std::uint64_t n = 0; n < 50; ++n) {
            const auto subject = made(name, {.seed = 4, .perturbed_percent = 0}, n);
            ASSERT_TRUE(subject.has_value() && !subject->expect_error) << name << " " << n;
            for (const operators::TensorSlot& output : subject->descriptor->outputs()) {
                // Only the second output of a gradient may be present.
                if (output.desc != nullptr) {
                    sizes.insert(output.desc->sizes);
                    break;
                }
            }
        }
        EXPECT_GT(sizes.size(), 25u) << name;
    }
    EXPECT_EQ(found, operators_of);
}

TEST(CaseGenerator, AllTypesAndLayoutsComeUp) {
    for (const std::string& name : with_rules) {
        const operators::OperatorSchema& schema = *operators::find_operator(name);
        std::set<core::DataType> types;
        std::set<std::size_t> ranks;
        std::size_t strided = 0;
        std::size_t repeated = 0;
        std::size_t roomy = 0;
        std::size_t fused = 0;
        for (std::uint64_t n = 0; n < 300; ++n) {
            const auto subject = made(name, {.seed = 1, .perturbed_percent = 0}, n);
            ASSERT_TRUE(subject && !subject->expect_error);
            const core::TensorDesc& input = *subject->descriptor->inputs()[0].desc;
            types.insert(input.data_type);
            ranks.insert(input.sizes.size());
            strided += input.strides ? 1 : 0;
            repeated += input.strides && std::count(input.strides->begin(), input.strides->end(), 0U) != 0 ? 1 : 0;
            roomy += input.total_bytes > *core::minimum_total_bytes(input) ? 1 : 0;
            fused += schema.find_field("FusedActivation") != nullptr &&
                             subject->descriptor->activation("FusedActivation") != nullptr
                         ? 1
                         : 0;
        }
        const auto* support = schema.support_at("InputTensor", core::highest_feature_level);
        EXPECT_EQ(types.size(), support->data_types.size()) << name;
        EXPECT_EQ(ranks.size(), support->max_dimensions - support->min_dimensions + 1) << name;
        EXPECT_GT(strided, 60u) << name;
        EXPECT_GT(repeated, 10u) << name;
        EXPECT_GT(roomy, 15u) << name;
        EXPECT_EQ(fused > 100, schema.find_field("FusedActivation") != nullptr) << name;
    }
}

TEST(CaseGenerator, TypesOfFourBitsComeUp) {
    std::set<core::DataType> types;
    for (std::uint64_t n = 0; n < 300; ++n) {
        const auto subject = made("DEQUANTIZE", {.seed = 1, .perturbed_percent = 0}, n);
        ASSERT_TRUE(subject.has_value());
        types.insert(subject->descriptor->tensor("InputTensor")->data_type);
    }
    EXPECT_EQ(types.count(core::DataType::int4) + types.count(core::DataType::uint4), 2u);
}

TEST(CaseGenerator, OutputsShareTheMemoryOfInputsWhereTheyMay) {
    for (const std::string name : {"ELEMENT_WISE_ADD", "ADAM_OPTIMIZER", "ACTIVATION_RELU"}) {
        std::size_t shared = 0;
        std::set<operators::InPlaceNames> kinds;
        for (std::uint64_t n = 0; n < 300; ++n) {
            const auto subject = made(name, {.seed = 1}, n);
            ASSERT_TRUE(subject.has_value());
            const operators::InPlaceNames names = operators::in_place_names(*subject->descriptor);
            EXPECT_EQ(operators::in_place_problem(*subject->descriptor, names), std::nullopt) << subject->id;
            EXPECT_TRUE(names.empty() || !subject->expect_error) << subject->id;
            shared += names.empty() ? 0 : 1;
            kinds.insert(names);
        }
        EXPECT_GT(shared, 10u) << name;
        EXPECT_LT(shared, 200u) << name;
        // Without in-place outputs, with one for each input of ADD and RELU, and with several for ADAM.
        EXPECT_GE(kinds.size(), name == "ACTIVATION_RELU" ? 2u : 3u) << name;
    }
}

TEST(CaseGenerator, NoCaseOfALevelBeforeTheOperator) {
    EXPECT_FALSE(made("SLICE1", {.seed = 1, .level = {2, 0}}, 0).has_value());
}

}  // namespace
}  // namespace dmlconform::tests::case_generator_test
