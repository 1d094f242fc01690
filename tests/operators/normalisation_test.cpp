// Tests of engine/operators/rules/normalisation, and of MEAN_VARIANCE_NORMALIZATION and MEAN_VARIANCE_NORMALIZATION2:
// each rule at its boundary.
#include "tests/operators/rule_cases.h"

namespace dmlconform::tests::normalisation_test {
namespace {

using core::FeatureLevel;
using operators::Descriptor;
using Fields = std::vector<std::string_view>;

/// Sets the same sizes for several tensors.
std::vector<Setting> all_of(const Fields& fields, const core::Dimensions& sizes) {
    std::vector<Setting> settings;
    for (const std::string_view field : fields) {
        settings.emplace_back(field, real(sizes));
    }
    return settings;
}

std::vector<Setting> joined(std::vector<Setting> settings, const std::vector<Setting>& more) {
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
}

const core::Dimensions input_sizes{2, 3, 4, 5};
const core::Dimensions channels{1, 3, 1, 1};

TEST(Normalisation, OverTheLastDimension) {
    const auto both = [](core::Dimensions sizes) { return all_of({"InputTensor", "OutputTensor"}, sizes); };
    for (const std::string op : {"ACTIVATION_SOFTMAX", "ACTIVATION_LOG_SOFTMAX", "ACTIVATION_HARDMAX"}) {
        SCOPED_TRACE(op);
        const std::string rule = op + ".effectiveRank";
        const RuleCase cases[] = {
            {"rows", {}, ""},
            {"rows of four dimensions", both({1, 1, 3, 5}), "", {1, 0}},
            {"rows of eight dimensions", both({1, 1, 1, 1, 1, 1, 3, 5}), ""},
            {"one row", both({5}), ""},
            {"columns of one element", both({1, 24, 1}), ""},
            {"three sizes", both({2, 3, 5}), rule},
            {"a size in front", both({2, 1, 1, 5}), rule, {1, 0}},
            {"a size in front, and ones", both({1, 24, 1, 1}), rule},
            {"two dimensions at 2.0", {}, "tensor.dimensionCount", {2, 0}, FeatureLevel{3, 0}},
            {"another output", {{"OutputTensor", real({5, 3})}}, "tensor.sameSizes"},
        };
        expect_verdicts(describe(op, both({3, 5})), cases);
        expect_every_rule(op, {cases});
    }
}

TEST(Normalisation, OverAxes) {
    for (const char* op : {"ACTIVATION_SOFTMAX1", "ACTIVATION_LOG_SOFTMAX1", "ACTIVATION_HARDMAX1"}) {
        SCOPED_TRACE(op);
        const Descriptor base =
            describe(op, joined(all_of({"InputTensor", "OutputTensor"}, input_sizes), {{"Axes", {1, 3}}}));
        const RuleCase cases[] = {
            {"two axes", {}, ""},
            {"no axes", {{"Axes", {}}}, ""},
            {"repeated, in disorder", {{"Axes", {3, 1, 3}}}, ""},
            {"the last axis", {{"Axes", {3}}}, ""},
            {"one beyond", {{"Axes", {0, 4}}}, "field.axis"},
            {"far beyond", {{"Axes", {0xffffffff}}}, "field.axis"},
        };
        expect_verdicts(base, cases);
    }
}

/// `rule` is the operator's rule parameterSizes.
std::vector<RuleCase> parameter_cases(std::string_view rule, const Fields& fields) {
    return {
        {"for each channel", {}, ""},
        {"for each element", all_of(fields, input_sizes), ""},
        {"one for all", all_of(fields, {1, 1, 1, 1}), ""},
        {"neither 1 nor the input's size", all_of(fields, {1, 3, 2, 1}), rule},
        {"fewer channels", all_of(fields, {1, 2, 1, 1}), rule},
        {"more than the input has", all_of(fields, {4, 3, 1, 1}), rule},
    };
}

TEST(Normalisation, BatchNormalization) {
    const Descriptor base =
        describe("BATCH_NORMALIZATION",
                 joined(all_of({"InputTensor", "OutputTensor"}, input_sizes),
                        joined(all_of({"MeanTensor", "VarianceTensor", "ScaleTensor", "BiasTensor"}, channels),
                               {{"Spatial", 1}, {"Epsilon", 1e-5}})));
    for (const char* field : {"MeanTensor", "VarianceTensor", "ScaleTensor", "BiasTensor"}) {
        SCOPED_TRACE(field);
        expect_verdicts(base, parameter_cases("BATCH_NORMALIZATION.parameterSizes", {field}));
    }
    const core::Dimensions locations{1, 1, 4, 5};
    const auto not_spatial = [&](const core::Dimensions& mean, const core::Dimensions& variance) {
        return std::vector<Setting>{{"Spatial", 0}, {"MeanTensor", real(mean)}, {"VarianceTensor", real(variance)}};
    };
    const char* rule = "BATCH_NORMALIZATION.spatial";
    const RuleCase cases[] = {
        {"spatial at 1.0", {}, "", {1, 0}},
        {"all different",
         joined(joined(all_of({"MeanTensor"}, {2, 1, 1, 5}), all_of({"VarianceTensor"}, {1, 1, 4, 1})),
                all_of({"ScaleTensor"}, {1, 1, 1, 1})),
         ""},
        {"not spatial at 4.0", {{"Spatial", 0}}, "", {4, 0}},
        {"not spatial at 3.1", {{"Spatial", 0}}, rule, {3, 1}, FeatureLevel{4, 0}},
        {"for each location at 1.0", not_spatial(locations, locations), "", {1, 0}},
        {"for each element at 1.0", not_spatial(input_sizes, locations), "", {1, 0}},
        {"means for each row", not_spatial({1, 1, 4, 1}, locations), rule, {1, 0}, FeatureLevel{4, 0}},
        {"variances for each column", not_spatial(locations, {1, 1, 1, 5}), rule, {1, 0}, FeatureLevel{4, 0}},
        {"scale does not matter",
         joined(not_spatial(locations, locations), all_of({"ScaleTensor", "BiasTensor"}, {1, 1, 1, 1})),
         "",
         {1, 0}},
        {"neither 1 nor the input's size", all_of({"MeanTensor"}, {1, 3, 2, 1}), "BATCH_NORMALIZATION.parameterSizes"},
    };
    expect_verdicts(base, cases);
    expect_every_rule("BATCH_NORMALIZATION", {cases});
}

TEST(Normalisation, GradientsAndTraining) {
    struct Operator {
        const char* name;
        Fields elements;
        Fields parameters;
    };
    const Fields gradient_elements{"InputTensor", "InputGradientTensor", "OutputGradientTensor"};
    const Fields gradient_parameters{"MeanTensor", "VarianceTensor", "ScaleTensor", "OutputScaleGradientTensor",
                                     "OutputBiasGradientTensor"};
    for (const Operator& op : {Operator{"BATCH_NORMALIZATION_GRAD", gradient_elements, gradient_parameters},
                               Operator{"BATCH_NORMALIZATION_TRAINING_GRAD", gradient_elements, gradient_parameters},
                               Operator{"BATCH_NORMALIZATION_TRAINING",
                                        {"InputTensor", "OutputTensor"},
                                        {"ScaleTensor", "BiasTensor", "OutputMeanTensor", "OutputVarianceTensor"}}}) {
        SCOPED_TRACE(op.name);
        const Descriptor base = describe(
            op.name,
            joined(joined(all_of(op.elements, input_sizes), all_of(op.parameters, channels)), {{"Epsilon", 1e-5}}));
        const std::string rule = std::string(op.name) + ".parameterSizes";
        const auto cases = parameter_cases(rule, op.parameters);
        expect_verdicts(base, cases);
        expect_every_rule(op.name, {cases});
        for (const std::string_view field : op.parameters) {
            EXPECT_EQ(operators::validate(with(base, {{field, real({1, 1, 1, 1})}}), core::highest_feature_level)->rule,
                      "tensor.sameSizes")
                << field;
        }
    }
}

TEST(Normalisation, MeanVarianceNormalization) {
    const char* op = "MEAN_VARIANCE_NORMALIZATION";
    const Descriptor base = describe(op, joined(joined(all_of({"InputTensor", "OutputTensor"}, input_sizes),
                                                       all_of({"ScaleTensor", "BiasTensor"}, channels)),
                                                {{"NormalizeVariance", 1}}));
    const char* rule = "MEAN_VARIANCE_NORMALIZATION.scaleAndBias";
    const RuleCase cases[] = {
        {"both", {}, "", {1, 0}},
        {"neither", {{"ScaleTensor", nullptr}, {"BiasTensor", nullptr}}, "", {1, 0}},
        {"no bias at 5.1", {{"BiasTensor", nullptr}}, rule, {5, 1}, FeatureLevel{5, 2}},
        {"no scale at 5.1", {{"ScaleTensor", nullptr}}, rule, {5, 1}, FeatureLevel{5, 2}},
        {"no bias at 5.2", {{"BiasTensor", nullptr}}, "", {5, 2}},
        {"no scale at 5.2", {{"ScaleTensor", nullptr}}, "", {5, 2}},
        {"three dimensions", all_of({"InputTensor", "OutputTensor", "ScaleTensor", "BiasTensor"}, {2, 3, 4}),
         "tensor.dimensionCount"},
        {"a bias of another size", {{"BiasTensor", real({1, 2, 1, 1})}}, "MEAN_VARIANCE_NORMALIZATION.parameterSizes"},
    };
    expect_verdicts(base, cases);
    expect_every_rule(op, {cases});
    expect_verdicts(base, parameter_cases(std::string(op) + ".parameterSizes", {"ScaleTensor"}));
    expect_verdicts(base, parameter_cases(std::string(op) + ".parameterSizes", {"BiasTensor"}));
}

TEST(Normalisation, MeanVarianceNormalization2) {
    const char* op = "MEAN_VARIANCE_NORMALIZATION2";
    const Descriptor base = describe(op, joined(joined(all_of({"InputTensor", "OutputTensor"}, input_sizes),
                                                       all_of({"ScaleTensor", "BiasTensor"}, channels)),
                                                {{"Axes", {2, 3}}, {"UseMean", 1}, {"UseVariance", 1}}));
    const RuleCase cases[] = {
        {"no bias", {{"BiasTensor", nullptr}}, "", {6, 3}},
        {"no scale", {{"ScaleTensor", nullptr}}, "", {6, 3}},
        {"repeated, in disorder", {{"Axes", {3, 1, 3}}}, ""},
        {"no axes", {{"Axes", {}}}, ""},
        {"one beyond", {{"Axes", {4}}}, "field.axis"},
        {"another output", {{"OutputTensor", real({2, 3, 5, 4})}}, "tensor.sameSizes"},
        {"a bias of another size", {{"BiasTensor", real({1, 2, 1, 1})}}, "MEAN_VARIANCE_NORMALIZATION2.parameterSizes"},
    };
    expect_verdicts(base, cases);
    expect_every_rule(op, {cases});
    expect_verdicts(base, parameter_cases(std::string(op) + ".parameterSizes", {"ScaleTensor"}));
}

}  // namespace
}  // namespace dmlconform::tests::normalisation_test
