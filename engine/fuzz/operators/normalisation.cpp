// Softmaxes, hardmaxes and normalisations: generic descriptors, adapted with parameters that can be broadcast and
// suitable input sizes.
#include <algorithm>
#include <array>

#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/fitting.h"
#include "engine/fuzz/layout.h"

namespace dmlconform::fuzz {
namespace {

using core::Dimensions;
using operators::Descriptor;

core::TensorDesc* tensor_of(Descriptor& descriptor, std::string_view field) {
    return std::get_if<core::TensorDesc>(&field_of(descriptor, field));
}

/// The sizes, some of which have become 1.
Dimensions repeating(Random& random, Dimensions sizes) {
    for (std::uint32_t& size : sizes) {
        size = random.chance(1, 2) ? 1 : size;
    }
    return sizes;
}

void relayout(Random& random, core::TensorDesc& desc, operators::FieldKind kind, Dimensions sizes) {
    desc = random_layout(random, desc.data_type, std::move(sizes), kind);
}

/// Sets all sizes before the last two dimensions to 1.
void fit_rows(Random& random, Descriptor& descriptor) {
    Dimensions sizes = tensor_of(descriptor, "InputTensor")->sizes;
    std::fill(sizes.begin(), sizes.end() - std::min<std::ptrdiff_t>(2, std::ssize(sizes)), 1);
    for (const TensorField& tensor : tensors_of(descriptor)) {
        relayout(random, *tensor.desc, tensor.field->kind, sizes);
    }
}

constexpr std::array<std::string_view, 6> parameters{"MeanTensor", "VarianceTensor",   "ScaleTensor",
                                                     "BiasTensor", "OutputMeanTensor", "OutputVarianceTensor"};

bool is_parameter(const operators::Field& field) {
    return std::find(parameters.begin(), parameters.end(), field.name) != parameters.end() ||
           field.name == "OutputScaleGradientTensor" || field.name == "OutputBiasGradientTensor";
}

void fit_own_sizes(Random& random, Descriptor& descriptor) {
    const Dimensions sizes = tensor_of(descriptor, "InputTensor")->sizes;
    for (const TensorField& tensor : tensors_of(descriptor)) {
        if (is_parameter(*tensor.field)) {
            relayout(random, *tensor.desc, tensor.field->kind, repeating(random, sizes));
        }
    }
}

void fit_common_sizes(Random& random, Descriptor& descriptor) {
    const Dimensions sizes = repeating(random, tensor_of(descriptor, "InputTensor")->sizes);
    for (const TensorField& tensor : tensors_of(descriptor)) {
        if (is_parameter(*tensor.field)) {
            relayout(random, *tensor.desc, tensor.field->kind, sizes);
        }
    }
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
    return make_fitting(fittings, random, schema, level);
}

/// A negative variance would only give NaN.
ElementKind element_kind(const Descriptor& descriptor, std::string_view input) {
    if (input == "VarianceTensor") {
        return ElementKind::scale;
    }
    return descriptor.schema->short_name() == "ACTIVATION_HARDMAX" ? ElementKind::ordered : ElementKind::number;
}

}  // namespace

std::span<const OperatorFuzz> normalisation_fuzz() {
    static const std::vector<OperatorFuzz> all = fuzz_of_each(fittings, make, element_kind);
    return all;
}

}  // namespace dmlconform::fuzz
