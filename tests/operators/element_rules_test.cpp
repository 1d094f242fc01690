// Tests of engine/operators/element_rules: the rules of some operators, and rules that do not fit the struct.
#include "engine/operators/element_rules.h"

#include <gtest/gtest.h>

#include <tuple>

namespace dmlconform::operators::element_rules_test {
namespace {

const ElementRules& rules_of(std::string_view name) {
    return element_rules(*find_operator(name));
}

TEST(ElementRules, SaysWhichOperatorsDecide) {
    using Kind = Decides::Kind;
    const auto decides = [](const char* name) {
        const Decides& found = rules_of(name).decides;
        return std::tuple(found.values, found.integers, found.by);
    };
    EXPECT_EQ(decides("ELEMENT_WISE_ADD"), std::tuple(Kind::nothing, Kind::steps, ""));
    EXPECT_EQ(decides("ELEMENT_WISE_CEIL"), std::tuple(Kind::steps, Kind::steps, ""));
    EXPECT_EQ(decides("MAX_POOLING_GRAD"), std::tuple(Kind::picks, Kind::steps, "InputTensor"));
    EXPECT_EQ(decides("ROI_ALIGN1"), std::tuple(Kind::jumps, Kind::steps, "ROITensor"));
    EXPECT_EQ(decides("MAX_POOLING2"), std::tuple(Kind::nothing, Kind::picks, ""));
}

TEST(ElementRules, SaysWhichElementsGoWhere) {
    EXPECT_TRUE(find_operator("ACTIVATION_RELU")->element_wise);
    EXPECT_FALSE(find_operator("ACTIVATION_SOFTMAX")->element_wise);
    EXPECT_FALSE(find_operator("GATHER")->element_wise);
    EXPECT_EQ(rules_of("ELEMENT_WISE_IF").passes_on, (std::vector<std::string>{"ATensor", "BTensor"}));
    EXPECT_EQ(rules_of("ELEMENT_WISE_ADD").passes_on, std::vector<std::string>());
    const auto range = [](const char* name, const char* input) {
        const IndexRange& found = rules_of(name).indices.at(input);
        return std::tuple(found.kind, found.of, found.field, found.dimension, found.counts);
    };
    using Kind = IndexRange::Kind;
    EXPECT_EQ(range("ONE_HOT", "IndicesTensor"), std::tuple(Kind::axis, "OutputTensor", "Axis", 0u, false));
    EXPECT_EQ(range("SCATTER_ND", "IndicesTensor"),
              std::tuple(Kind::last_of, "InputTensor", "InputDimensionCount", 0u, false));
    EXPECT_EQ(range("LSTM", "SequenceLengthsTensor"), std::tuple(Kind::dimension, "InputTensor", "", 1u, true));
    EXPECT_EQ(range("MAX_UNPOOLING", "IndicesTensor"), std::tuple(Kind::plane, "OutputTensor", "", 0u, false));
}

TEST(ElementRules, RejectUnknownWordsAndFields) {
    for (const char* members :
         {R"({ "decides": { "values": "leaps" } })", R"({ "decides": { "by": "NoTensor" } })",
          R"({ "passesOn": ["OutputTensor"] })", R"({ "indices": { "InputTensor": { "of": "InputTensor" } } })",
          R"({ "indices": { "InputTensor": { "of": "NoTensor", "plane": true } } })",
          R"({ "indices": { "InputTensor": { "of": "InputTensor", "axis": "NoAxis" } } })"}) {
        EXPECT_FALSE(parse_element_rules(members, *find_operator("GATHER"))) << members;
    }
    EXPECT_TRUE(parse_element_rules("{}", *find_operator("GATHER")));
}

}  // namespace
}  // namespace dmlconform::operators::element_rules_test
