// Softmaxes, hardmaxes and normalisations: generic descriptors, adapted with parameters that can be broadcast and
// suitable input sizes.
#include <algorithm>
#include <array>

#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/fitting.h"

namespace dmlconform::fuzz {
namespace {

using core::Dimensions;
using operators::Descriptor;

/// The sizes, some of which have become 1.
Dimensions repeating(Random& random, Dimensions sizes) {
    for (std::uint32_t& size : sizes) {
        size = random.chance(1, 2) ? 1 : size;
    }
    return sizes;
}

/// Sets all sizes before the last two dimensions to 1.
void fit_rows(Random& random, Descriptor& descriptor) {
    Dimensions sizes = sizes_of(descriptor, "InputTensor");
    std::fill(sizes.begin(), sizes.end() - std::min<std::ptrdiff_t>(2, std::ssize(sizes)), 1);
    for (const TensorField& tensor : tensors_of(descriptor)) {
        lay_out(random, descriptor, tensor.field->name, sizes);
    }
}

constexpr std::array<std::string_view, 8> parameters{"MeanTensor",
                                                     "VarianceTensor",
                                                     "ScaleTensor",
                                                     "BiasTensor",
                                                     "OutputMeanTensor",
                                                     "OutputVarianceTensor",
                                                     "OutputScaleGradientTensor",
                                                     "OutputBiasGradientTensor"};

void fit_own_sizes(Random& random, Descriptor& descriptor) {
    for (const std::string_view field : parameters) {
        lay_out(random, descriptor, field, repeating(random, sizes_of(descriptor, "InputTensor")));
    }
}

void fit_common_sizes(Random& random, Descriptor& descriptor) {
    const Dimensions sizes = repeating(random, sizes_of(descriptor, "InputTensor"));
    for (const std::string_view field : parameters) {
        lay_out(random, descriptor, field, sizes);
    }
}

/// MEAN_VARIANCE_NORMALIZATION1 had more rules at lower levels: scale and bias came together, with one element for each
/// channel.
void fit_parameters(Random& random, Descriptor& descriptor, core::FeatureLevel level) {
    fit_own_sizes(random, descriptor);
    const core::TensorDesc& input = *tensor_of(descriptor, "InputTensor");
    for (const auto& [field, other] :
         {std::pair{"ScaleTensor", "BiasTensor"}, std::pair{"BiasTensor", "ScaleTensor"}}) {
        if (level < core::FeatureLevel{5, 2} && tensor_of(descriptor, other) != nullptr) {
            field_of(descriptor, field) = core::TensorDesc::packed(input.data_type, sizes_of(descriptor, other));
        }
        if (level < core::FeatureLevel{4, 0} && tensor_of(descriptor, field) != nullptr && input.sizes.size() > 1) {
            Dimensions sizes = sizes_of(descriptor, field);
            sizes[1] = input.sizes[1];
            lay_out(random, descriptor, field, sizes);
        }
    }
    field_of(descriptor, "Axes") = random_axes(random, input.sizes.size());
}

constexpr std::array<Fitting, 9> fittings{{
    {"ACTIVATION_SOFTMAX", fit_rows},
    {"ACTIVATION_LOG_SOFTMAX", fit_rows},
    {"ACTIVATION_HARDMAX", fit_rows},
    {"MEAN_VARIANCE_NORMALIZATION", fit_own_sizes},
    {"MEAN_VARIANCE_NORMALIZATION2", fit_own_sizes},
    {"BATCH_NORMALIZATION", fit_own_sizes},
    {"BATCH_NORMALIZATION_GRAD", fit_common_sizes},
    {"BATCH_NORMALIZATION_TRAINING", fit_common_sizes},
    {"BATCH_NORMALIZATION_TRAINING_GRAD", fit_common_sizes},
}};

Descriptor make(Random& random, const operators::OperatorSchema& schema, core::FeatureLevel level) {
    Descriptor descriptor = make_fitting(fittings, random, schema, level);
    if (descriptor.has_field("Axes") && descriptor.has_field("NormalizeVariance")) {
        fit_parameters(random, descriptor, level);
        set_counts(descriptor);
    }
    return descriptor;
}

/// A negative variance would only give NaN.
ElementKind element_kind(const Descriptor& descriptor, std::string_view input) {
    return input == "VarianceTensor" ? ElementKind::scale : kind_by_catalogue(descriptor, input);
}

void repair(Descriptor& descriptor) {
    const core::TensorDesc* const input = tensor_of(descriptor, "InputTensor");
    auto* const axes =
        descriptor.has_field("Axes") ? std::get_if<std::vector<std::uint32_t>>(&field_of(descriptor, "Axes")) : nullptr;
    for (std::size_t i = 0; input != nullptr && !input->sizes.empty() && axes != nullptr && i < axes->size(); ++i) {
        (*axes)[i] = std::min((*axes)[i], static_cast<std::uint32_t>(input->sizes.size()) - 1);
    }
    generic_fuzz.repair(descriptor);
}

}  // namespace

const OperatorFuzz normalisation_fuzz{make, element_kind, repair};

}  // namespace dmlconform::fuzz
