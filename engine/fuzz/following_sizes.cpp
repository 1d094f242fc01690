// One function for each kind of operators.
#include "engine/fuzz/following_sizes.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/fitting.h"

namespace dmlconform::fuzz {
namespace {

using core::Dimensions;
using operators::Descriptor;
using Uints = std::vector<std::uint32_t>;

constexpr std::uint32_t widest_filter = 3;
constexpr std::uint32_t most_tuples = 4;

std::uint32_t uint_of(const Descriptor& descriptor, std::string_view field) {
    const auto* value = descriptor.has_field(field) ? std::get_if<std::uint32_t>(&descriptor.value(field)) : nullptr;
    return value == nullptr ? 0 : *value;
}

/// An entry of an array; `usual` if the operator does not have the array, or if it is shorter.
std::uint64_t entry_of(const Descriptor& descriptor, std::string_view field, std::size_t i, std::uint32_t usual) {
    const auto* values = descriptor.has_field(field) ? std::get_if<Uints>(&descriptor.value(field)) : nullptr;
    return values == nullptr || i >= values->size() ? usual : (*values)[i];
}

void make_single(Descriptor& descriptor, std::string_view field) {
    if (const core::TensorDesc* desc = tensor_of(descriptor, field)) {
        resize(descriptor, field, Dimensions(desc->sizes.size(), 1));
    }
}

/// One scale and one zero point for each of the tensors.
void make_parameters_single(Descriptor& descriptor) {
    for (const std::string of : {"A", "B", "Input", "Filter", "Output"}) {
        make_single(descriptor, of + "ScaleTensor");
        make_single(descriptor, of + "ZeroPointTensor");
    }
}

/// Multiplies by a square matrix.
void follow_matrix(Descriptor& descriptor) {
    Dimensions sizes = sizes_of(descriptor, "ATensor");
    if (sizes.size() < 2) {
        return;
    }
    const std::size_t rows = sizes.size() - 2;
    const std::uint32_t depth = sizes[uint_of(descriptor, "TransA") != 0 ? rows : rows + 1];
    sizes[rows] = sizes[rows + 1] = depth;
    resize(descriptor, "BTensor", sizes);
    make_parameters_single(descriptor);
}

/// One filter for each channel, of width 3 unless the image is smaller.
void follow_image(Descriptor& descriptor) {
    const Dimensions input = sizes_of(descriptor, "InputTensor");
    if (input.size() < 3) {
        return;
    }
    const std::uint32_t groups = std::max(uint_of(descriptor, "GroupCount"), 1U);
    Dimensions filter{input[1], std::max(input[1] / groups, 1U)};
    for (std::size_t d = 2; d < input.size(); ++d) {
        const std::size_t i = d - 2;
        const std::uint64_t image = std::uint64_t{input[d]} + entry_of(descriptor, "StartPadding", i, 0) +
                                    entry_of(descriptor, "EndPadding", i, 0);
        const std::uint64_t dilation = std::max<std::uint64_t>(entry_of(descriptor, "Dilations", i, 1), 1);
        const std::uint64_t fitting = (std::max<std::uint64_t>(image, 1) - 1) / dilation + 1;
        filter.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(fitting, widest_filter)));
    }
    resize(descriptor, "FilterTensor", filter);
    if (const core::TensorDesc* bias = tensor_of(descriptor, "BiasTensor"); bias != nullptr && bias->sizes.size() > 1) {
        Dimensions sizes(bias->sizes.size(), 1);
        sizes[1] = input[1];
        resize(descriptor, "BiasTensor", sizes);
    }
    make_parameters_single(descriptor);
}

/// The extent of the pooled image in front of the pooling, or behind it.
std::uint32_t pooled(const Descriptor& descriptor, std::size_t i, std::uint32_t size, bool backward) {
    const std::uint64_t stride = std::max<std::uint64_t>(entry_of(descriptor, "Strides", i, 1), 1);
    const std::uint64_t window = std::max<std::uint64_t>(entry_of(descriptor, "WindowSize", i, 1), 1);
    const std::uint64_t reach = (window - 1) * entry_of(descriptor, "Dilations", i, 1) + 1;
    const std::uint64_t padding = entry_of(descriptor, "StartPadding", i, 0) + entry_of(descriptor, "EndPadding", i, 0);
    const std::uint64_t most = 4294967295;
    if (backward) {
        const std::uint64_t image = (std::uint64_t{size} - 1) * stride + reach;
        return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(image - std::min(image, padding), 1, most));
    }
    const std::uint64_t image = size + padding;
    return static_cast<std::uint32_t>(image < reach ? 1 : std::min((image - reach) / stride + 1, most));
}

Dimensions pooled_sizes(const Descriptor& descriptor, Dimensions sizes, bool backward) {
    for (std::size_t d = 2; d < sizes.size(); ++d) {
        sizes[d] = pooled(descriptor, d - 2, sizes[d], backward);
    }
    return sizes;
}

void follow_pooled_gradient(Descriptor& descriptor) {
    resize(descriptor, "OutputGradientTensor",
           pooled_sizes(descriptor, sizes_of(descriptor, "InputGradientTensor"), true));
}

void follow_pooled_image(Descriptor& descriptor) {
    const Dimensions input = sizes_of(descriptor, "InputTensor");
    resize(descriptor, "InputGradientTensor", pooled_sizes(descriptor, input, false));
    resize(descriptor, "OutputGradientTensor", input);
}

/// The gradient of a slice that takes everything.
void follow_sliced_gradient(Descriptor& descriptor) {
    const Dimensions sizes = sizes_of(descriptor, "InputGradientTensor");
    resize(descriptor, "OutputGradientTensor", sizes);
    field_of(descriptor, "InputWindowOffsets") = Uints(sizes.size(), 0);
    field_of(descriptor, "InputWindowSizes") = Uints(sizes.begin(), sizes.end());
    field_of(descriptor, "InputWindowStrides") = std::vector<std::int32_t>(sizes.size(), 1);
    set_counts(descriptor);
}

void set_channels(Descriptor& descriptor, std::string_view field, std::uint32_t channels) {
    const core::TensorDesc* desc = tensor_of(descriptor, field);
    if (desc != nullptr && desc->sizes.size() > 1) {
        Dimensions sizes = desc->sizes;
        sizes[1] = channels;
        resize(descriptor, field, sizes);
    }
}

/// Regions keep their number and the size of what is made of them.
void follow_regions(Descriptor& descriptor) {
    const bool gradient = descriptor.has_field("InputGradientTensor");
    // The gradient's first tensor is the input if it is present.
    const bool has_input = tensor_of(descriptor, "InputTensor") != nullptr;
    const Dimensions first = sizes_of(descriptor, has_input ? "InputTensor" : "InputGradientTensor");
    if (first.size() < 2) {
        return;
    }
    set_channels(descriptor, gradient ? "OutputGradientTensor" : "OutputTensor", first[1]);
    set_channels(descriptor, "InputGradientTensor", first[1]);
    if (gradient && !has_input) {
        if (const core::TensorDesc* regions = tensor_of(descriptor, "ROITensor"); regions->sizes.size() > 1) {
            Dimensions sizes = regions->sizes;
            sizes[sizes.size() - 2] = first[0];
            resize(descriptor, "ROITensor", sizes);
            Dimensions batches = sizes_of(descriptor, "BatchIndicesTensor");
            batches.back() = first[0];
            resize(descriptor, "BatchIndicesTensor", batches);
        }
    } else if (gradient) {
        resize(descriptor, "OutputGradientTensor", first);
    }
}

/// Parameters with one element for each channel.
void follow_channels(Descriptor& descriptor) {
    const Dimensions input = sizes_of(descriptor, "InputTensor");
    for (const char* field : {"MeanTensor", "VarianceTensor", "ScaleTensor", "BiasTensor"}) {
        const core::TensorDesc* desc = tensor_of(descriptor, field);
        if (desc != nullptr && input.size() > 1 && desc->sizes.size() == input.size()) {
            Dimensions sizes(input.size(), 1);
            sizes[1] = input[1];
            resize(descriptor, field, sizes);
        }
    }
}

void follow_channel_count(Descriptor& descriptor) {
    const Dimensions input = sizes_of(descriptor, "InputTensor");
    auto* bias = std::get_if<std::vector<float>>(&field_of(descriptor, "Bias"));
    // Other numbers are illegal.
    if (bias != nullptr && !bias->empty() && input.size() > 1 && (input[1] == 1 || input[1] == 3)) {
        bias->resize(input[1], bias->front());
        set_counts(descriptor);
    }
}

/// One length for each subsequence along the axis.
void follow_sequences(Descriptor& descriptor) {
    Dimensions sizes = sizes_of(descriptor, "InputTensor");
    if (const std::uint32_t axis = uint_of(descriptor, "Axis"); axis < sizes.size()) {
        sizes[axis] = 1;
        resize(descriptor, "SequenceLengthsTensor", sizes);
    }
}

/// Classes along the axis, along which the indices have one element.
void follow_indices_of_classes(Descriptor& descriptor) {
    constexpr std::uint32_t classes = 10;
    Dimensions sizes = sizes_of(descriptor, "IndicesTensor");
    if (const std::uint32_t axis = uint_of(descriptor, "Axis"); axis < sizes.size()) {
        sizes[axis] = 1;
        resize(descriptor, "IndicesTensor", sizes);
        sizes[axis] = classes;
        resize(descriptor, "OutputTensor", sizes);
    }
}

/// An index for each element.
void follow_elements(Descriptor& descriptor) {
    resize(descriptor, "IndicesTensor", sizes_of(descriptor, "InputTensor"));
}

/// Tuples of one index, each of which chooses an element of the first dimension.
void follow_tuples(Descriptor& descriptor) {
    const Dimensions input = sizes_of(descriptor, "InputTensor");
    Dimensions indices(sizes_of(descriptor, "IndicesTensor").size(), 1);
    if (indices.size() < 2 || indices.size() > input.size()) {
        indices.assign(input.size(), 1);
    }
    if (indices.size() < 2) {
        return;
    }
    const std::uint32_t tuples = std::min(input[0], most_tuples);
    indices[indices.size() - 2] = tuples;
    resize(descriptor, "IndicesTensor", indices);
    field_of(descriptor, "InputDimensionCount") = static_cast<std::uint32_t>(input.size());
    field_of(descriptor, "IndicesDimensionCount") = std::uint32_t{2};
    if (descriptor.has_field("BatchDimensionCount")) {
        field_of(descriptor, "BatchDimensionCount") = std::uint32_t{0};
    }
    Dimensions updates = input;
    updates[0] = tuples;
    resize(descriptor, "UpdatesTensor", updates);
}

/// One scale for all elements, and one zero point.
void follow_quantised(Descriptor& descriptor) {
    for (const TensorField& tensor : tensors_of(descriptor)) {
        if (tensor.field->name == "QuantizationTensors") {
            set_sizes(*tensor.desc, Dimensions(tensor.desc->sizes.size(), 1));
        }
    }
}

/// Attention of a sequence to itself, without a mask, past or bias.
void follow_queries(Descriptor& descriptor) {
    const core::TensorDesc* queries = tensor_of(descriptor, "QueryTensor");
    if (queries == nullptr) {
        // They are stacked with keys.
        queries = tensor_of(descriptor, "OutputTensor");
    }
    const auto packed = core::TensorDesc::packed(queries->data_type, queries->sizes);
    for (std::size_t i = 0; i < descriptor.values.size(); ++i) {
        const operators::Field& field = descriptor.schema->fields[i];
        const bool is_kept = field.name == "QueryTensor" || field.name == "KeyTensor" || field.name == "ValueTensor" ||
                             field.name == "OutputTensor";
        if (is_kept) {
            descriptor.values[i] = packed;
        } else if (field.is_tensor()) {
            descriptor.values[i] = operators::Null{};
        }
    }
    field_of(descriptor, "MaskType") = std::uint32_t{0};
}

struct Follower {
    std::string_view name;
    void (*follow)(Descriptor& descriptor);
};

constexpr std::array followers{
    Follower{"GEMM", follow_matrix},
    Follower{"MATRIX_MULTIPLY_INTEGER", follow_matrix},
    Follower{"MATRIX_MULTIPLY_INTEGER_TO_FLOAT", follow_matrix},
    Follower{"QUANTIZED_LINEAR_MATRIX_MULTIPLY", follow_matrix},
    Follower{"CONVOLUTION", follow_image},
    Follower{"CONVOLUTION_INTEGER", follow_image},
    Follower{"QUANTIZED_LINEAR_CONVOLUTION", follow_image},
    Follower{"QUANTIZED_LINEAR_AVERAGE_POOLING", make_parameters_single},
    Follower{"AVERAGE_POOLING_GRAD", follow_pooled_gradient},
    Follower{"MAX_POOLING_GRAD", follow_pooled_image},
    Follower{"SLICE_GRAD", follow_sliced_gradient},
    Follower{"ROI_ALIGN", follow_regions},
    Follower{"ROI_ALIGN1", follow_regions},
    Follower{"ROI_ALIGN_GRAD", follow_regions},
    Follower{"BATCH_NORMALIZATION_TRAINING", follow_channels},
    Follower{"MULTIHEAD_ATTENTION", follow_queries},
    Follower{"MULTIHEAD_ATTENTION1", follow_queries},
    Follower{"VALUE_SCALE_2D", follow_channel_count},
    Follower{"REVERSE_SUBSEQUENCES", follow_sequences},
    Follower{"ONE_HOT", follow_indices_of_classes},
    Follower{"GATHER_ELEMENTS", follow_elements},
    Follower{"SCATTER_ND", follow_tuples},
    Follower{"GATHER_ND", follow_tuples},
    Follower{"GATHER_ND1", follow_tuples},
    Follower{"QUANTIZE", follow_quantised},
    Follower{"DEQUANTIZE", follow_quantised},
};

}  // namespace

void follow_first_tensor(Descriptor& descriptor) {
    const auto* follower = std::ranges::find(followers, descriptor.schema->short_name(), &Follower::name);
    if (follower != followers.end()) {
        follower->follow(descriptor);
    }
}

}  // namespace dmlconform::fuzz
