// Breaks every rule in code of every operator in the last entry of an array, the last dimension of a tensor, the last
// tensor of an array, or the second of a pair, and only there. The table says which fields each rule is about.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "tests/fuzz/broken_descriptors.h"

namespace dmlconform::tests::own_rules_sweep_test {
namespace {

using core::TensorDesc;
using operators::Descriptor;
using operators::OperatorSchema;

constexpr std::uint64_t descriptors_of_each = 150;

struct RuleRow {
    /// Short names. Each operator needs a row for each of its rules.
    std::string_view operators;
    std::string_view rule;
    /// What breaks the rule, separated by spaces. An operator may lack some of the fields.
    ///   Strides             the last entry of an array, or a number
    ///   OutputTensor        the last size of a tensor
    ///   OutputTensor[*]     each size of a tensor, separately
    ///   ATensor[-3]         the third-last size of a tensor
    ///   BTensor:rank        another number of dimensions
    ///   BTensor:type        another type
    ///   BTensor:presence    the tensor becomes absent or present
    ///   A+B[-3]             that of both tensors
    ///   OutputTensor[0]>2   the first size of tensors of more than two dimensions
    ///   OutputTensors@Axis  the size along the axis
    ///   IndicesTensor:huge  the last size becomes larger than there are dimensions
    std::string_view fields;
};

constexpr std::string_view poolings =
    "AVERAGE_POOLING AVERAGE_POOLING1 MAX_POOLING MAX_POOLING1 MAX_POOLING2 LP_POOLING LP_POOLING1 "
    "QUANTIZED_LINEAR_AVERAGE_POOLING";
constexpr std::string_view integer_products =
    "MATRIX_MULTIPLY_INTEGER MATRIX_MULTIPLY_INTEGER_TO_FLOAT QUANTIZED_LINEAR_MATRIX_MULTIPLY";
constexpr std::string_view attentions = "MULTIHEAD_ATTENTION MULTIHEAD_ATTENTION1";
constexpr std::string_view recurrent = "RNN LSTM GRU";
constexpr std::string_view aligns = "ROI_ALIGN ROI_ALIGN1 ROI_ALIGN_GRAD";

constexpr RuleRow table[] = {
    // windows
    {poolings, "window", "WindowSize Strides Dilations"},
    {poolings, "windowInBounds", "WindowSize Dilations"},
    {poolings, "outputSizes", "OutputTensor[*] Strides StartPadding EndPadding"},
    {"LP_POOLING LP_POOLING1", "p", "P"},
    {"QUANTIZED_LINEAR_AVERAGE_POOLING", "parameterSizes",
     "InputScaleTensor InputZeroPointTensor OutputScaleTensor OutputZeroPointTensor"},
    {"AVERAGE_POOLING_GRAD", "window", "WindowSize Strides Dilations"},
    {"AVERAGE_POOLING_GRAD", "gradientSizes", "InputGradientTensor[0] InputGradientTensor[1]"},
    {"MAX_POOLING_GRAD", "window", "WindowSize Strides Dilations"},
    {"MAX_POOLING_GRAD", "windowInBounds", "WindowSize Dilations"},
    {"MAX_POOLING_GRAD", "gradientSizes", "InputGradientTensor[*] Strides StartPadding EndPadding"},
    {"LOCAL_RESPONSE_NORMALIZATION LOCAL_RESPONSE_NORMALIZATION_GRAD", "localSize", "LocalSize"},
    {"FOLD UNFOLD", "window", "WindowSizes Strides Dilations"},
    {"FOLD UNFOLD", "windowInBounds", "WindowSizes Dilations"},
    {"FOLD", "inputSizes", "InputTensor[*] Strides StartPadding EndPadding"},
    {"UNFOLD", "outputSizes", "OutputTensor[*] Strides StartPadding EndPadding"},
    // slices, parts, repetitions
    {"SLICE", "windowSize", "Sizes"},
    {"SLICE", "stride", "Strides"},
    {"SLICE", "windowInBounds", "Offsets"},
    {"SLICE", "outputSizes", "OutputTensor[*]"},
    {"SLICE1 SLICE_GRAD", "windowSize", "InputWindowSizes"},
    {"SLICE1 SLICE_GRAD", "windowInBounds", "InputWindowOffsets InputWindowSizes"},
    {"SLICE1 SLICE_GRAD", "windowStride", "InputWindowStrides"},
    {"SLICE1", "dimensionCount", "DimensionCount"},
    {"SLICE1", "outputSize", "OutputTensor[*] InputWindowStrides"},
    {"SLICE_GRAD", "inputSize", "InputGradientTensor[*] InputWindowStrides"},
    {"SPLIT", "tensorCount", "OutputTensors:empty"},
    {"SPLIT", "sizes", "OutputTensors[*]>1"},
    {"SPLIT", "sizesAlongAxis", "OutputTensors@Axis"},
    {"JOIN", "tensorCount", "InputTensors:empty"},
    {"JOIN", "sizes", "InputTensors[*]>1"},
    {"JOIN", "outputSizes", "OutputTensor[*] InputTensors[*]"},
    {"PADDING PADDING1", "outputSizes", "OutputTensor[*] StartPadding EndPadding"},
    {"TILE", "repeats", "Repeats"},
    {"TILE", "outputSizes", "OutputTensor[*] Repeats"},
    {"SPACE_TO_DEPTH SPACE_TO_DEPTH1", "blockSize", "InputTensor[-2] InputTensor[-1] BlockSize"},
    {"DEPTH_TO_SPACE DEPTH_TO_SPACE1", "blockSize", "InputTensor[1] BlockSize"},
    {"SPACE_TO_DEPTH SPACE_TO_DEPTH1 DEPTH_TO_SPACE DEPTH_TO_SPACE1", "outputSizes", "OutputTensor[*]"},
    {"UPSAMPLE_2D", "scaleSize", "ScaleSize:width ScaleSize:height"},
    {"UPSAMPLE_2D", "outputSizes", "OutputTensor[*] ScaleSize:width ScaleSize:height"},
    // indices
    {"GATHER", "indexDimensions", "IndexDimensions IndicesTensor[0]>1"},
    {"GATHER", "dimensionCount", "InputTensor[0]>1"},
    {"GATHER", "outputSizes", "OutputTensor[*]"},
    {"GATHER_ELEMENTS", "indicesSizes", "InputTensor[*]>1"},
    {"SCATTER", "indicesSizes", "IndicesTensor+UpdatesTensor[*]"},
    {"ONE_HOT", "indicesSizes", "IndicesTensor[*] OutputTensor[*]>1"},
    {"ONE_HOT", "values", "ValuesTensor:ones"},
    {"REVERSE_SUBSEQUENCES", "lengthsSizes", "SequenceLengthsTensor[*]"},
    {"GATHER_ND GATHER_ND1 SCATTER_ND", "inputDimensionCount", "InputDimensionCount"},
    {"GATHER_ND GATHER_ND1 SCATTER_ND", "indicesDimensionCount", "IndicesDimensionCount IndicesTensor[0]>1"},
    {"GATHER_ND GATHER_ND1 SCATTER_ND", "tupleSize", "IndicesTensor:huge"},
    {"GATHER_ND1", "batchDimensions", "BatchDimensionCount IndicesTensor@BatchDimensionCount"},
    {"GATHER_ND GATHER_ND1", "outputSizes", "OutputTensor[*]"},
    {"SCATTER_ND", "updatesSizes", "UpdatesTensor[*]"},
    {"TOP_K1", "axis", "Axis"},
    {"TOP_K TOP_K1", "k", "K"},
    {"TOP_K TOP_K1", "outputSizes", "OutputValueTensor[*] OutputIndexTensor[*]"},
    // products
    {"GEMM", "batches", "ATensor[-3] BTensor[-3]"},
    {integer_products, "batches", "ATensor[-3] BTensor[-3]"},
    {"GEMM", "innerSizes", "ATensor[-1] ATensor[-2] BTensor[-1] BTensor[-2]"},
    {integer_products, "innerSizes", "ATensor[-1] BTensor[-2]"},
    {"GEMM", "fusedAxes", ""},  // below
    {"GEMM", "outputSizes", "OutputTensor+CTensor[*]"},
    {integer_products, "outputSizes", "OutputTensor[*]"},
    {integer_products, "parameterSizes",
     "AScaleTensor AZeroPointTensor BScaleTensor BZeroPointTensor OutputScaleTensor OutputZeroPointTensor"},
    {"CONVOLUTION CONVOLUTION_INTEGER QUANTIZED_LINEAR_CONVOLUTION", "dimensionCount", "DimensionCount"},
    {"CONVOLUTION CONVOLUTION_INTEGER QUANTIZED_LINEAR_CONVOLUTION", "groupCount", "GroupCount"},
    {"CONVOLUTION CONVOLUTION_INTEGER QUANTIZED_LINEAR_CONVOLUTION", "inputChannels", "FilterTensor[1]"},
    {"CONVOLUTION CONVOLUTION_INTEGER QUANTIZED_LINEAR_CONVOLUTION", "strideAndDilation", "Strides Dilations"},
    {"CONVOLUTION CONVOLUTION_INTEGER QUANTIZED_LINEAR_CONVOLUTION", "filterFits", "FilterTensor Dilations"},
    {"CONVOLUTION", "outputSizes", "OutputTensor[*] Strides StartPadding EndPadding OutputPadding FilterTensor"},
    {"CONVOLUTION_INTEGER", "outputSizes", "OutputTensor[*] Strides StartPadding EndPadding FilterTensor"},
    {"CONVOLUTION_INTEGER QUANTIZED_LINEAR_CONVOLUTION", "heightPadding", "StartPadding[0] EndPadding[0]"},
    {"CONVOLUTION_INTEGER", "parameterSizes", "InputZeroPointTensor FilterZeroPointTensor"},
    {"CONVOLUTION QUANTIZED_LINEAR_CONVOLUTION", "biasSizes", "BiasTensor[*]"},
    {"QUANTIZED_LINEAR_CONVOLUTION", "batch", "OutputTensor[0]"},
    {"QUANTIZED_LINEAR_CONVOLUTION", "outputChannels", "OutputTensor[1] FilterTensor[0]"},
    {"QUANTIZED_LINEAR_CONVOLUTION", "outputSize",
     "OutputTensor[-1] Strides StartPadding EndPadding FilterTensor Dilations"},
    {"QUANTIZED_LINEAR_CONVOLUTION", "parameterSizes",
     "InputScaleTensor InputZeroPointTensor FilterScaleTensor FilterZeroPointTensor OutputScaleTensor "
     "OutputZeroPointTensor"},
    // attention and recurrent networks
    {attentions, "sources",
     "QueryTensor:presence KeyTensor:presence ValueTensor:presence StackedQueryKeyTensor:presence "
     "StackedKeyValueTensor:presence StackedQueryKeyValueTensor:presence"},
    {attentions, "dimensionCount", "QueryTensor:rank KeyTensor:rank ValueTensor:rank"},
    {attentions, "headCount", "HeadCount QueryHeadCount KeyValueHeadCount"},
    {attentions, "sizes",
     "QueryTensor KeyTensor ValueTensor StackedQueryKeyTensor StackedKeyValueTensor BiasTensor "
     "RelativePositionBiasTensor PastKeyTensor PastValueTensor OutputTensor OutputPresentKeyTensor "
     "OutputPresentValueTensor"},
    {attentions, "mask", "MaskTensor[*] MaskTensor:presence"},
    {attentions, "past", "PastKeyTensor:presence PastValueTensor:presence"},
    {"MULTIHEAD_ATTENTION1", "pastSequenceLengths", ""},  // below
    {recurrent, "sizes",
     "WeightTensor RecurrenceTensor BiasTensor HiddenInitTensor CellMemInitTensor SequenceLengthsTensor "
     "PeepholeTensor OutputSequenceTensor OutputSingleTensor OutputCellSingleTensor"},
    {recurrent, "activationCount", "ActivationDescs:fewer"},
    {recurrent, "outputs", "OutputSequenceTensor:presence OutputSingleTensor:presence"},
    {recurrent, "ownedByDml", "InputTensor:owned SequenceLengthsTensor:owned PeepholeTensor:owned"},
    // normalisation and reduction
    {"MEAN_VARIANCE_NORMALIZATION MEAN_VARIANCE_NORMALIZATION1 MEAN_VARIANCE_NORMALIZATION2 BATCH_NORMALIZATION",
     "parameterSizes", "MeanTensor[*] VarianceTensor[*] ScaleTensor[*] BiasTensor[*]"},
    {"BATCH_NORMALIZATION_GRAD", "parameterSizes",
     "MeanTensor+VarianceTensor+ScaleTensor+OutputScaleGradientTensor+OutputBiasGradientTensor[*]"},
    {"BATCH_NORMALIZATION_TRAINING", "parameterSizes",
     "ScaleTensor+BiasTensor+OutputMeanTensor+OutputVarianceTensor[*]"},
    {"BATCH_NORMALIZATION_TRAINING_GRAD", "parameterSizes",
     "MeanTensor+VarianceTensor+ScaleTensor+OutputScaleGradientTensor+OutputBiasGradientTensor[*]"},
    {"MEAN_VARIANCE_NORMALIZATION1", "axes", "Axes"},
    {"ACTIVATION_SOFTMAX ACTIVATION_LOG_SOFTMAX ACTIVATION_HARDMAX", "effectiveRank",
     "InputTensor+OutputTensor[-3] InputTensor+OutputTensor[0]>2"},
    {"REDUCE", "inputType", "InputTensor:type"},
    {"REDUCE", "outputType", "OutputTensor:type"},
    {"REDUCE ARGMIN ARGMAX", "outputSizes", "OutputTensor[*]"},
    {"LP_NORMALIZATION", "p", "P"},
    {"NONZERO_COORDINATES", "coordinatesSizes", "OutputCoordinatesTensor[*]"},
    {"RANDOM_GENERATOR", "stateSizes", "InputStateTensor+OutputStateTensor[*]"},
    // regions and resampling
    {"ROI_POOLING", "pooledSize", "PooledSize:width PooledSize:height"},
    {"ROI_POOLING", "regionSizes", "ROITensor[0] ROITensor[1] ROITensor[3]"},
    {"ROI_POOLING", "outputSizes", "OutputTensor[*] PooledSize:width PooledSize:height"},
    {aligns, "regionSizes", "ROITensor"},
    {aligns, "batchSizes", "BatchIndicesTensor[*]"},
    {"ROI_ALIGN ROI_ALIGN1", "outputSizes", "OutputTensor[0] OutputTensor[1]"},
    {"ROI_ALIGN_GRAD", "outputSizes", "InputGradientTensor[0] InputGradientTensor[1]"},
    {aligns, "reductionFunction", "ReductionFunction"},
    {aligns, "samples", "MinimumSamplesPerOutput MaximumSamplesPerOutput"},
    {aligns, "spatialScale", "SpatialScaleX SpatialScaleY"},
    {"ROI_ALIGN_GRAD", "outputs", "OutputGradientTensor:presence OutputROIGradientTensor:presence"},
    {"ROI_ALIGN_GRAD", "input", "InputTensor:presence"},
    {"ROI_ALIGN_GRAD", "inputSizes", "InputTensor[*]"},
    {"RESAMPLE RESAMPLE1 RESAMPLE2 RESAMPLE3 RESAMPLE_GRAD RESAMPLE_GRAD1", "scales", "Scales"},
    // element by element
    {"ELEMENT_WISE_IDENTITY ELEMENT_WISE_ABS ELEMENT_WISE_CLIP ELEMENT_WISE_CLIP1", "scaleBiasType", "ScaleBias"},
    {"ELEMENT_WISE_QUANTIZE_LINEAR", "scaleType", "ScaleTensor:type"},
    {"VALUE_SCALE_2D", "channels", ""},  // below
    {"QUANTIZE DEQUANTIZE", "tensorCount", "QuantizationTensors:empty QuantizationType"},
    // Rules that reject only below some feature level are tested in tests/operators.
    {"MEAN_VARIANCE_NORMALIZATION MEAN_VARIANCE_NORMALIZATION1", "scaleAndBias", ""},
    {"MEAN_VARIANCE_NORMALIZATION1", "channelSize", ""},
    {"BATCH_NORMALIZATION", "spatial", ""},
    {"PADDING PADDING1", "paddingMode", ""},
};

std::vector<std::string> words(std::string_view text, char separator = ' ') {
    std::vector<std::string> result;
    std::istringstream stream{std::string(text)};
    for (std::string word; std::getline(stream, word, separator);) {
        result.push_back(word);
    }
    return result;
}

/// One way to break a rule: "OutputTensor[*]" has the tensors, the position and the kind.
struct Break {
    std::vector<std::string> fields;
    std::string position;
    std::string kind;
    /// Tensors of no more dimensions are left alone.
    std::size_t more_than = 0;

    explicit Break(std::string_view text) {
        if (const std::size_t more = text.find('>'); more != std::string_view::npos) {
            more_than = std::stoul(std::string(text.substr(more + 1)));
            text = text.substr(0, more);
        }
        const std::size_t colon = text.find(':');
        const std::size_t bracket = text.find_first_of("[@");
        kind = colon == std::string_view::npos ? "" : text.substr(colon + 1);
        if (bracket != std::string_view::npos) {
            position = text.substr(bracket);
        }
        fields = words(text.substr(0, std::min(colon, bracket)), '+');
    }
};

/// A changed descriptor, and what is changed: "OutputTensor, size 3 of 4".
struct Change {
    std::string what;
    Descriptor descriptor;
};

class Changes {
public:
    Changes(const Descriptor& legal, const Break& how) : legal_(legal), how_(how), field_(how.fields.front()) {
        if (legal.schema->find_field(field_) == nullptr) {
            return;
        }
        if (!how.kind.empty()) {
            change_kind();
            return;
        }
        Descriptor copy = legal;
        if (last_tensor(copy, field_) != nullptr) {
            change_sizes(*last_tensor(copy, field_));
        } else {
            change_numbers();
        }
    }

    [[nodiscard]] const std::vector<Change>& all() const { return all_; }

private:
    void add(const std::string& what, const std::function<void(Descriptor&)>& change) {
        Descriptor changed = legal_;
        change(changed);
        all_.push_back({what, std::move(changed)});
    }

    void change_kind() {
        const bool present = !std::holds_alternative<operators::Null>(legal_.value(field_));
        if (how_.kind == "presence") {
            // A tensor that appears has one element in as many dimensions as the output.
            add(field_, [&](Descriptor& d) {
                operators::FieldValue other;
                if (!present) {
                    const std::size_t rank =
                        d.outputs().front().desc == nullptr ? 4 : d.outputs().front().desc->sizes.size();
                    other = TensorDesc::packed(d.inputs().front().desc == nullptr ? core::DataType::float32
                                                                                  : d.inputs().front().desc->data_type,
                                               core::Dimensions(rank, 1));
                }
                value_of(d, field_) = other;
            });
        } else if (how_.kind == "width" || how_.kind == "height") {
            for (const std::int64_t by : {-1, 1}) {
                add(field_, [&](Descriptor& d) {
                    auto& size = std::get<operators::Size2D>(value_of(d, field_));
                    std::uint32_t& side = how_.kind == "width" ? size.width : size.height;
                    side = static_cast<std::uint32_t>(side + by);
                });
            }
            add(field_, [&](Descriptor& d) {
                auto& size = std::get<operators::Size2D>(value_of(d, field_));
                (how_.kind == "width" ? size.width : size.height) = 0;
            });
        } else if (how_.kind == "empty") {
            add(field_,
                [&](Descriptor& d) { std::get<operators::TensorDescArray>(value_of(d, field_)).items.clear(); });
        } else if (how_.kind == "fewer") {
            add(field_,
                [&](Descriptor& d) { std::get<operators::OperatorDescArray>(value_of(d, field_)).items.pop_back(); });
        } else if (present) {
            change_tensor();
        }
    }

    void change_tensor() {
        if (how_.kind == "owned") {
            add(field_, [&](Descriptor& d) { last_tensor(d, field_)->flags = core::TensorFlags::owned_by_dml; });
        } else if (how_.kind == "ones") {
            add(field_, [&](Descriptor& d) {
                TensorDesc& desc = *last_tensor(d, field_);
                repack(desc, core::Dimensions(desc.sizes.size(), 1), desc.data_type);
            });
        } else if (how_.kind == "huge") {
            add(field_, [&](Descriptor& d) {
                TensorDesc& desc = *last_tensor(d, field_);
                core::Dimensions sizes = desc.sizes;
                sizes.back() = 9;
                repack(desc, sizes, desc.data_type);
            });
        } else if (how_.kind == "rank") {
            add(field_, [&](Descriptor& d) {
                TensorDesc& desc = *last_tensor(d, field_);
                core::Dimensions sizes = desc.sizes;
                sizes.insert(sizes.begin(), 1);
                repack(desc, sizes, desc.data_type);
            });
            add(field_, [&](Descriptor& d) {
                TensorDesc& desc = *last_tensor(d, field_);
                core::Dimensions sizes(desc.sizes.begin() + 1, desc.sizes.end());
                repack(desc, sizes, desc.data_type);
            });
        } else {
            for (std::uint32_t type = 1; type <= 11; ++type) {
                add(field_, [&](Descriptor& d) {
                    TensorDesc& desc = *last_tensor(d, field_);
                    repack(desc, desc.sizes, static_cast<core::DataType>(type));
                });
            }
        }
    }

    /// The dimensions that are changed, each separately.
    [[nodiscard]] std::vector<std::size_t> dimensions(std::size_t rank) const {
        std::vector<std::size_t> result;
        if (rank <= how_.more_than) {
            return result;
        }
        if (how_.position == "[*]") {
            for (std::size_t d = 0; d < rank; ++d) {
                result.push_back(d);
            }
        } else if (how_.position == "@Axis") {
            result.push_back(legal_.uint("Axis"));
        } else if (how_.position.starts_with("@")) {
            const std::uint32_t last = legal_.uint(how_.position.substr(1));
            const std::uint32_t ignored = static_cast<std::uint32_t>(rank) - legal_.uint("IndicesDimensionCount");
            if (last > 0) {
                result.push_back(ignored + last - 1);
            }
        } else {
            const int number = how_.position.empty() ? -1 : std::stoi(how_.position.substr(1));
            const std::int64_t d = number < 0 ? static_cast<std::int64_t>(rank) + number : number;
            if (d >= 0 && d < static_cast<std::int64_t>(rank)) {
                result.push_back(static_cast<std::size_t>(d));
            }
        }
        return result;
    }

    void change_sizes(const TensorDesc& first) {
        for (const std::size_t d : dimensions(first.sizes.size())) {
            const std::string what = fmt::format("{}, size {} of {}", field_, d + 1, first.sizes.size());
            for (const std::int64_t by : {-1, 1}) {
                if (by < 0 && first.sizes[d] == 1) {
                    continue;
                }
                add(what, [&](Descriptor& changed) {
                    for (const std::string& field : how_.fields) {
                        if (TensorDesc* const desc = last_tensor(changed, field)) {
                            core::Dimensions sizes = desc->sizes;
                            sizes[d] = static_cast<std::uint32_t>(sizes[d] + by);
                            repack(*desc, sizes, desc->data_type);
                        }
                    }
                });
            }
        }
    }

    template <class Number>
    [[nodiscard]] static std::vector<Number> others(Number number) {
        if constexpr (std::is_floating_point_v<Number>) {
            return {0, -1, std::numeric_limits<Number>::quiet_NaN(), std::numeric_limits<Number>::infinity()};
        } else {
            return {0,
                    static_cast<Number>(number + 1),
                    static_cast<Number>(number + 7),
                    static_cast<Number>(number - 1),
                    static_cast<Number>(2 * number),
                    std::numeric_limits<Number>::max()};
        }
    }

    void change_numbers() {
        if (legal_.schema->find_field(field_)->type == operators::FieldType::scale_bias) {
            add(field_, [&](Descriptor& d) { value_of(d, field_) = operators::ScaleBias{1, 0.5F}; });
            return;
        }
        std::visit(
            [&](const auto& held) {
                using Held = std::decay_t<decltype(held)>;
                if constexpr (std::is_arithmetic_v<Held>) {
                    for (const Held other : others(held)) {
                        add(field_, [&](Descriptor& d) { value_of(d, field_) = other; });
                    }
                } else if constexpr (requires { held.front() + 1; }) {
                    for (const std::size_t i : held.empty() ? std::vector<std::size_t>() : dimensions(held.size())) {
                        for (const auto other : others(held[i])) {
                            add(fmt::format("{}, number {} of {}", field_, i + 1, held.size()),
                                [&](Descriptor& d) { std::get<Held>(value_of(d, field_))[i] = other; });
                        }
                    }
                }
            },
            legal_.value(field_));
    }

    const Descriptor& legal_;
    const Break& how_;
    const std::string& field_;
    std::vector<Change> all_;
};

std::vector<const RuleRow*> rows_of(std::string_view op, std::string_view rule) {
    std::vector<const RuleRow*> rows;
    for (const RuleRow& row : table) {
        const auto names = words(row.operators);
        if (row.rule == rule && std::find(names.begin(), names.end(), op) != names.end()) {
            rows.push_back(&row);
        }
    }
    return rows;
}

/// Changes that occur in fewer descriptors may not meet one in which they break the rule.
constexpr int least_descriptors = 12;

void expect_breaks(const std::vector<Descriptor>& legal, const std::string& rule, const Break& how) {
    std::map<std::string, int> tried;
    std::set<std::string> rejected;
    for (const Descriptor& descriptor : legal) {
        std::set<std::string> here;
        const Changes changes(descriptor, how);
        for (const Change& change : changes.all()) {
            here.insert(change.what);
            if (rule_of(change.descriptor) == rule) {
                rejected.insert(change.what);
            }
        }
        for (const std::string& what : here) {
            ++tried[what];
        }
    }
    if (legal.front().schema->find_field(how.fields.front()) != nullptr) {
        EXPECT_FALSE(rejected.empty()) << rule << ": no change of " << how.fields.front() << " breaks it";
    }
    for (const auto& [what, count] : tried) {
        EXPECT_TRUE(count < least_descriptors || rejected.contains(what))
            << rule << ": no change of " << what << " breaks it";
    }
}

TEST(OwnRules, RejectWhatBreaksThemInTheLastDimensionOrTensorOnly) {
    std::size_t rules = 0;
    for (const std::string& name : operators::operator_names()) {
        const OperatorSchema& schema = *operators::find_operator(name);
        const std::string op(schema.short_name());
        std::vector<Descriptor> legal;
        for (const std::string& rule : operators::rule_names(schema)) {
            if (!rule.starts_with(op + ".")) {
                continue;
            }
            ++rules;
            if (legal.empty()) {
                legal = legal_descriptors(schema, descriptors_of_each);
                ASSERT_FALSE(legal.empty()) << op;
            }
            const auto rows = rows_of(op, std::string_view(rule).substr(op.size() + 1));
            ASSERT_EQ(rows.size(), 1u) << rule << " needs a row in the table";
            for (const std::string& field : words(rows[0]->fields)) {
                expect_breaks(legal, rule, Break(field));
            }
        }
    }
    EXPECT_GT(rules, 150u);
}

/// Every row belongs to a rule that exists.
TEST(OwnRules, TheTableHasNoRowThatIsNotNeeded) {
    for (const RuleRow& row : table) {
        for (const std::string& op : words(row.operators)) {
            const OperatorSchema* const schema = operators::find_operator(op);
            ASSERT_NE(schema, nullptr) << op;
            const auto names = operators::rule_names(*schema);
            EXPECT_NE(std::find(names.begin(), names.end(), op + "." + std::string(row.rule)), names.end())
                << op << "." << row.rule;
        }
    }
}

}  // namespace
}  // namespace dmlconform::tests::own_rules_sweep_test
