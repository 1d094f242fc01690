// Tests of engine/operators/rules/attention: which tensors attention operators accept.
#include "tests/operators/rule_cases.h"

namespace dmlconform::tests::attention_test {
namespace {

using operators::Descriptor;

core::TensorDesc mask(core::Dimensions sizes) {
    return tensor(core::DataType::int32, std::move(sizes));
}

/// Two batches, three queries, four keys, and two heads of sizes five and six.
const std::vector<Setting> apart{{"QueryTensor", real({2, 3, 10})},
                                 {"KeyTensor", real({2, 4, 10})},
                                 {"ValueTensor", real({2, 4, 12})},
                                 {"OutputTensor", real({2, 3, 12})}};

Descriptor attention(const std::vector<Setting>& more = {}) {
    std::vector<Setting> settings = apart;
    settings.insert(settings.end(), more.begin(), more.end());
    settings.emplace_back("HeadCount", 2);
    return describe("MULTIHEAD_ATTENTION", settings);
}

TEST(AttentionRules, Sizes) {
    const std::string_view rule = "MULTIHEAD_ATTENTION.sizes";
    const RuleCase cases[] = {
        {"a key of another size", {{"KeyTensor", real({2, 4, 8})}}, rule},
        {"a value for another number of keys", {{"ValueTensor", real({2, 5, 12})}}, rule},
        {"a value that the heads do not divide", {{"ValueTensor", real({2, 4, 11})}}, rule},
        {"another number of queries in the output", {{"OutputTensor", real({2, 4, 12})}}, rule},
        {"another batch", {{"KeyTensor", real({1, 4, 10})}}, rule},
        {"a bias", {{"BiasTensor", real({32})}}, ""},
        {"a bias with ones in front", {{"BiasTensor", real({1, 1, 32})}}, ""},
        {"a bias of queries and keys", {{"BiasTensor", real({20})}}, rule},
        {"a bias for each batch", {{"BiasTensor", real({2, 32})}}, rule},
        {"a position bias", {{"RelativePositionBiasTensor", real({2, 2, 3, 4})}}, ""},
        {"a position bias for all batches", {{"RelativePositionBiasTensor", real({1, 2, 3, 4})}}, rule},
        {"what is present", {{"OutputPresentKeyTensor", real({2, 2, 4, 5})}}, ""},
        {"present values as large as keys", {{"OutputPresentValueTensor", real({2, 2, 4, 5})}}, rule},
        {"other dimensions of the output",
         {{"OutputTensor", real({1, 2, 3, 12})}},
         "MULTIHEAD_ATTENTION.dimensionCount"},
        {"no heads", {{"HeadCount", 0}}, "MULTIHEAD_ATTENTION.headCount"},
        {"one head", {{"HeadCount", 1}}, ""},
        {"three heads", {{"HeadCount", 3}}, rule},
    };
    expect_verdicts(attention(), cases);
}

TEST(AttentionRules, SaysThatTheHeadsDoNotDivideTheWidth) {
    const auto verdict = operators::validate(with(attention(), {{"HeadCount", 3}}), core::highest_feature_level);
    ASSERT_TRUE(verdict.has_value());
    EXPECT_EQ(verdict->message,
              "HeadCount is 3, which does not divide the last size of QueryTensor, 10: all heads must have the same "
              "size");
}

TEST(AttentionRules, ThePast) {
    const std::vector<Setting> past{{"PastKeyTensor", real({2, 2, 7, 5})}, {"PastValueTensor", real({2, 2, 7, 6})}};
    const RuleCase cases[] = {
        {"keys alone", {{"PastValueTensor", nullptr}}, "MULTIHEAD_ATTENTION.past"},
        {"values alone", {{"PastKeyTensor", nullptr}}, "MULTIHEAD_ATTENTION.past"},
        {"other numbers of them", {{"PastValueTensor", real({2, 2, 6, 6})}}, "MULTIHEAD_ATTENTION.sizes"},
        {"present with the past", {{"OutputPresentKeyTensor", real({2, 2, 11, 5})}}, ""},
        {"present without it", {{"OutputPresentKeyTensor", real({2, 2, 4, 5})}}, "MULTIHEAD_ATTENTION.sizes"},
        {"a mask of both", {{"MaskTensor", mask({2, 2, 3, 11})}, {"MaskType", 4}}, ""},
        {"a mask without it", {{"MaskTensor", mask({2, 2, 3, 4})}, {"MaskType", 4}}, "MULTIHEAD_ATTENTION.mask"},
    };
    expect_verdicts(attention(past), cases);
}

TEST(AttentionRules, Masks) {
    const std::string_view rule = "MULTIHEAD_ATTENTION.mask";
    const RuleCase cases[] = {
        {"a mask of no type", {{"MaskTensor", mask({1, 2})}}, rule},
        {"a type without a mask", {{"MaskType", 1}}, rule},
        {"lengths", {{"MaskTensor", mask({1, 2})}, {"MaskType", 1}}, ""},
        {"lengths with ones in front", {{"MaskTensor", mask({1, 1, 1, 1, 2})}, {"MaskType", 1}}, ""},
        {"lengths in one dimension", {{"MaskTensor", mask({2})}, {"MaskType", 1}}, rule},
        {"ends and starts", {{"MaskTensor", mask({2, 2})}, {"MaskType", 2}}, ""},
        {"ends alone", {{"MaskTensor", mask({1, 2})}, {"MaskType", 2}}, rule},
        {"lengths, starts and ends", {{"MaskTensor", mask({8})}, {"MaskType", 3}}, ""},
        {"one too few", {{"MaskTensor", mask({7})}, {"MaskType", 3}}, rule},
        {"truths", {{"MaskTensor", mask({2, 2, 3, 4})}, {"MaskType", 4}}, ""},
        {"truths in three dimensions", {{"MaskTensor", mask({2, 3, 4})}, {"MaskType", 4}}, rule},
        {"a single truth", {{"MaskTensor", mask({1})}, {"MaskType", 4}}, rule},
        {"truths for all heads", {{"MaskTensor", mask({2, 1, 3, 4})}, {"MaskType", 4}}, rule},
    };
    expect_verdicts(attention(), cases);
}

TEST(AttentionRules, Sources) {
    const std::string_view rule = "MULTIHEAD_ATTENTION.sources";
    const core::TensorDesc output = real({2, 3, 10});
    const Descriptor stacked =
        describe("MULTIHEAD_ATTENTION",
                 {{"StackedQueryKeyValueTensor", real({2, 3, 2, 3, 5})}, {"OutputTensor", output}, {"HeadCount", 2}});
    const RuleCase cases[] = {
        {"a query beside it", {{"QueryTensor", output}}, rule},
        {"nothing", {{"StackedQueryKeyValueTensor", nullptr}}, rule},
        {"keys and values stacked",
         {{"StackedQueryKeyValueTensor", nullptr},
          {"QueryTensor", output},
          {"StackedKeyValueTensor", real({2, 9, 2, 2, 5})}},
         ""},
        {"queries and keys stacked",
         {{"StackedQueryKeyValueTensor", nullptr},
          {"StackedQueryKeyTensor", real({2, 3, 2, 2, 5})},
          {"ValueTensor", output}},
         ""},
        {"values for another number of keys",
         {{"StackedQueryKeyValueTensor", nullptr},
          {"StackedQueryKeyTensor", real({2, 3, 2, 2, 5})},
          {"ValueTensor", real({2, 4, 10})}},
         "MULTIHEAD_ATTENTION.sizes"},
        {"two parts of three", {{"StackedQueryKeyValueTensor", real({2, 3, 2, 2, 5})}}, "MULTIHEAD_ATTENTION.sizes"},
        {"heads that are not there", {{"HeadCount", 3}}, "MULTIHEAD_ATTENTION.sizes"},
    };
    expect_verdicts(stacked, cases);
}

TEST(AttentionRules, Groups) {
    const Descriptor base = describe("MULTIHEAD_ATTENTION1", {{"QueryTensor", real({1, 3, 20})},
                                                              {"KeyTensor", real({1, 4, 10})},
                                                              {"ValueTensor", real({1, 4, 12})},
                                                              {"OutputTensor", real({1, 3, 24})},
                                                              {"QueryHeadCount", 4},
                                                              {"KeyValueHeadCount", 2}});
    const std::string_view rule = "MULTIHEAD_ATTENTION1.headCount";
    const RuleCase cases[] = {
        {"no heads of queries", {{"QueryHeadCount", 0}}, rule},
        {"no heads of keys", {{"KeyValueHeadCount", 0}}, rule},
        {"heads that cannot be shared", {{"KeyValueHeadCount", 3}}, rule},
        {"more heads of keys", {{"QueryHeadCount", 1}}, rule},
        {"as many heads of keys", {{"KeyValueHeadCount", 4}}, "MULTIHEAD_ATTENTION1.sizes"},
        {"groups of keys stacked with values",
         {{"KeyTensor", nullptr},
          {"ValueTensor", nullptr},
          {"StackedKeyValueTensor", real({1, 4, 2, 2, 5})},
          {"OutputTensor", real({1, 3, 20})}},
         ""},
        {"groups of keys stacked with queries",
         {{"QueryTensor", nullptr},
          {"KeyTensor", nullptr},
          {"StackedQueryKeyTensor", real({1, 3, 4, 2, 5})},
          {"ValueTensor", real({1, 3, 12})}},
         rule},
        {"groups of keys and values stacked with queries",
         {{"QueryTensor", nullptr},
          {"KeyTensor", nullptr},
          {"ValueTensor", nullptr},
          {"StackedQueryKeyValueTensor", real({1, 3, 4, 3, 5})},
          {"OutputTensor", real({1, 3, 20})}},
         rule},
        {"keys of the past of all heads",
         {{"PastKeyTensor", real({1, 4, 1, 5})}, {"PastValueTensor", real({1, 4, 1, 6})}},
         "MULTIHEAD_ATTENTION1.sizes"},
        {"one of past keys and values", {{"PastKeyTensor", real({1, 2, 1, 5})}}, "MULTIHEAD_ATTENTION1.past"},
        {"a bias of its heads", {{"BiasTensor", real({20 + 10 + 12})}}, ""},
        {"lengths of the past", {{"PastSequenceLengthsTensor", mask({1})}}, "MULTIHEAD_ATTENTION1.pastSequenceLengths"},
        {"a mask of no type", {{"MaskTensor", mask({1, 1})}}, "MULTIHEAD_ATTENTION1.mask"},
        {"no values", {{"ValueTensor", nullptr}}, "MULTIHEAD_ATTENTION1.sources"},
        {"other dimensions", {{"OutputTensor", real({1, 1, 3, 24})}}, "MULTIHEAD_ATTENTION1.dimensionCount"},
    };
    expect_verdicts(base, cases);
    expect_every_rule("MULTIHEAD_ATTENTION1", {cases});
}

}  // namespace
}  // namespace dmlconform::tests::attention_test
