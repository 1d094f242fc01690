// Tests of engine/operators/rules/recurrent: which tensors and activations are legal.
#include "tests/operators/rule_cases.h"

namespace dmlconform::tests::recurrent_test {
namespace {

using operators::Descriptor;
using operators::OperatorDescArray;

core::TensorDesc owned(core::TensorDesc desc) {
    desc.flags = core::TensorFlags::owned_by_dml;
    return desc;
}

OperatorDescArray sigmoids(std::size_t count) {
    return {std::vector<operators::OperatorDesc>(count, activation("ACTIVATION_SIGMOID"))};
}

/// Three steps, two batches, four inputs, five units.
Descriptor lstm() {
    const core::TensorDesc states = real({1, 1, 2, 5});
    return describe("LSTM", {{"InputTensor", real({1, 3, 2, 4})},
                             {"WeightTensor", real({1, 1, 20, 4})},
                             {"RecurrenceTensor", real({1, 1, 20, 5})},
                             {"BiasTensor", real({1, 1, 1, 40})},
                             {"HiddenInitTensor", states},
                             {"CellMemInitTensor", states},
                             {"SequenceLengthsTensor", tensor(core::DataType::uint32, {1, 1, 1, 2})},
                             {"PeepholeTensor", real({1, 1, 1, 15})},
                             {"OutputSequenceTensor", real({3, 1, 2, 5})},
                             {"OutputSingleTensor", states},
                             {"OutputCellSingleTensor", states},
                             {"ActivationDescs", sigmoids(3)}});
}

TEST(RecurrentRules, Lstm) {
    const RuleCase cases[] = {
        {"a batch in the first dimension", {{"InputTensor", real({2, 3, 1, 4})}}, "LSTM.sizes"},
        {"weights of three gates", {{"WeightTensor", real({1, 1, 15, 4})}}, "LSTM.sizes"},
        {"weights of other inputs", {{"WeightTensor", real({1, 1, 20, 3})}}, "LSTM.sizes"},
        {"a recurrence of other units", {{"RecurrenceTensor", real({1, 1, 20, 4})}}, "LSTM.sizes"},
        {"half of the bias", {{"BiasTensor", real({1, 1, 1, 20})}}, "LSTM.sizes"},
        {"states of another batch", {{"HiddenInitTensor", real({1, 1, 3, 5})}}, "LSTM.sizes"},
        {"cells of another batch", {{"CellMemInitTensor", real({1, 1, 3, 5})}}, "LSTM.sizes"},
        {"lengths of another batch",
         {{"SequenceLengthsTensor", tensor(core::DataType::uint32, {1, 1, 1, 3})}},
         "LSTM.sizes"},
        {"four peepholes", {{"PeepholeTensor", real({1, 1, 1, 20})}}, "LSTM.sizes"},
        {"fewer steps in the output", {{"OutputSequenceTensor", real({2, 1, 2, 5})}}, "LSTM.sizes"},
        {"last states of all steps", {{"OutputSingleTensor", real({3, 1, 2, 5})}}, "LSTM.sizes"},
        {"last cells of two directions", {{"OutputCellSingleTensor", real({1, 2, 2, 5})}}, "LSTM.sizes"},
        {"both directions with tensors for one", {{"Direction", 2}}, "LSTM.sizes"},
        {"two activations", {{"ActivationDescs", sigmoids(2)}}, "LSTM.activationCount"},
        {"those of two directions", {{"ActivationDescs", sigmoids(6)}}, "LSTM.activationCount"},
        {"without the sequence", {{"OutputSequenceTensor", nullptr}}, ""},
        {"without the last state", {{"OutputSingleTensor", nullptr}, {"OutputCellSingleTensor", nullptr}}, ""},
        {"the last cell alone", {{"OutputSequenceTensor", nullptr}, {"OutputSingleTensor", nullptr}}, "LSTM.outputs"},
        {"inputs that DirectML owns", {{"WeightTensor", owned(real({1, 1, 20, 4}))}}, "LSTM.ownedByDml"},
        {"nothing that is optional",
         {{"BiasTensor", nullptr},
          {"HiddenInitTensor", nullptr},
          {"CellMemInitTensor", nullptr},
          {"SequenceLengthsTensor", nullptr},
          {"PeepholeTensor", nullptr}},
         ""},
    };
    expect_verdicts(lstm(), cases);
    expect_every_rule("LSTM", {cases});
}

/// The number of gates and activations per direction depends on the operator.
TEST(RecurrentRules, GatesAndActivations) {
    const struct {
        std::string_view op;
        std::uint32_t gates;
        std::size_t activations;
    } operators[] = {{"RNN", 1, 1}, {"GRU", 3, 2}, {"LSTM", 4, 3}};
    for (const auto& [op, gates, activations] : operators) {
        SCOPED_TRACE(op);
        const auto of_directions = [&, op = op, gates = gates, activations = activations](std::uint32_t directions) {
            return describe(op, {{"InputTensor", real({1, 1, 1, 3})},
                                 {"WeightTensor", real({1, directions, 2 * gates, 3})},
                                 {"RecurrenceTensor", real({1, directions, 2 * gates, 2})},
                                 {"OutputSingleTensor", real({1, directions, 1, 2})},
                                 {"ActivationDescs", sigmoids(directions * activations)},
                                 {"Direction", directions == 2 ? 2 : 1}});
        };
        EXPECT_FALSE(operators::validate(of_directions(1), core::highest_feature_level));
        EXPECT_FALSE(operators::validate(of_directions(2), core::highest_feature_level));
        const std::string rule = std::string(op) + ".activationCount";
        const RuleCase cases[] = {
            {"one activation too many", {{"ActivationDescs", sigmoids(activations + 1)}}, rule},
            {"none", {{"ActivationDescs", sigmoids(0)}}, rule},
            {"a softmax",
             {{"ActivationDescs",
               OperatorDescArray{std::vector<operators::OperatorDesc>(activations, activation("ACTIVATION_SOFTMAX"))}}},
             "activation.fusable"},
            {"GELU, which a lower level does not have",
             {{"ActivationDescs",
               OperatorDescArray{std::vector<operators::OperatorDesc>(activations, activation("ACTIVATION_GELU"))}}},
             "activation.featureLevel",
             {5, 0},
             core::FeatureLevel{5, 1}},
        };
        expect_verdicts(of_directions(1), cases);
    }
}

/// A multiplication and an addition for each weight, in each step of each sequence.
TEST(RecurrentRules, Cost) {
    EXPECT_EQ(operators::minimum_cost(lstm()).operations, 2 * 3 * 2 * 20 * (4 + 5));
}

}  // namespace
}  // namespace dmlconform::tests::recurrent_test
