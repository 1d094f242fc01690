// Matrix products and convolutions: generic descriptors, adapted with matching matrices, filters and sizes.
#include <algorithm>
#include <array>
#include <string>

#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/fitting.h"
#include "engine/fuzz/layout.h"

namespace dmlconform::fuzz {
namespace {

using core::Dimensions;
using operators::Descriptor;
using Uints = std::vector<std::uint32_t>;

/// Sizes that are all 1, except `count` along one dimension, which is counted from the end.
Dimensions one_or_each(std::size_t rank, std::size_t from_end, std::uint32_t count) {
    Dimensions sizes(rank, 1);
    if (from_end <= rank) {
        sizes[rank - from_end] = count;
    }
    return sizes;
}

/// Scales and zero points with one element, or one for each row or column. Mostly both have the same sizes, because
/// some implementations require it.
void fit_parameters(Random& random, Descriptor& descriptor, const std::string& of, std::size_t from_end,
                    std::uint32_t count) {
    const bool alike = !random.chance(1, 5);
    const bool each = random.chance(1, 2);
    for (const char* kind : {"ScaleTensor", "ZeroPointTensor"}) {
        if (core::TensorDesc* const desc = tensor_of(descriptor, of + kind)) {
            const bool many = alike ? each : random.chance(1, 2);
            lay_out(random, descriptor, of + kind, one_or_each(desc->sizes.size(), from_end, many ? count : 1));
        }
    }
}

// ---- matrix products ---------------------------------------------------------------------------------------------

std::uint32_t random_size(Random& random) {
    return random.chance(1, 12) ? random.pick(15, 40) : random.pick(1, 7);
}

Dimensions matrix(Dimensions batches, std::uint32_t rows, std::uint32_t columns, bool transposed) {
    batches.push_back(transposed ? columns : rows);
    batches.push_back(transposed ? rows : columns);
    return batches;
}

bool is_set(Descriptor& descriptor, std::string_view field) {
    return descriptor.has_field(field) && std::get<std::uint32_t>(field_of(descriptor, field)) != 0;
}

/// A fused softmax has the restrictions of the separate operator.
void fit_softmax(Random& random, Descriptor& descriptor, Dimensions& batches) {
    const Descriptor* const fused =
        !descriptor.has_field("FusedActivation") ? nullptr : descriptor.activation("FusedActivation");
    if (fused == nullptr || fused->schema->element_wise) {
        return;
    }
    if (!fused->has_field("Axes")) {
        std::fill(batches.begin(), batches.end(), 1);
    } else {
        Descriptor softmax = *fused;
        const Uints axes = random_axes(random, batches.size() + 2);
        field_of(softmax, "Axes") = axes.empty() ? Uints{0} : axes;
        set_counts(softmax);
        field_of(descriptor, "FusedActivation") = std::make_shared<const Descriptor>(std::move(softmax));
    }
}

void fit_matrices(Random& random, Descriptor& descriptor) {
    const std::size_t rank = tensor_of(descriptor, "ATensor")->sizes.size();
    Dimensions batches;
    while (batches.size() + 2 < rank) {
        batches.push_back(random.pick(1, 3));
    }
    fit_softmax(random, descriptor, batches);
    std::array<std::uint32_t, 3> drawn{random_size(random), random_size(random), random_size(random)};
    auto& [rows, columns, depth] = drawn;
    if (random.chance(1, 20)) {
        // Small matrices, so that no tensor becomes large.
        drawn = {random.pick(1, 4), random.pick(1, 4), random.pick(200, 400)};
        std::fill(batches.begin(), batches.end(), 1);
    }
    lay_out(random, descriptor, "ATensor", matrix(batches, rows, depth, is_set(descriptor, "TransA")));
    lay_out(random, descriptor, "BTensor", matrix(batches, depth, columns, is_set(descriptor, "TransB")));
    for (const char* field : {"CTensor", "BiasTensor", "OutputTensor"}) {
        lay_out(random, descriptor, field, matrix(batches, rows, columns, false));
    }
    fit_parameters(random, descriptor, "A", 2, rows);
    fit_parameters(random, descriptor, "B", 1, columns);
    fit_parameters(random, descriptor, "Output", 2, rows);
}

// ---- convolutions ------------------------------------------------------------------------------------------------

/// Each array has this many entries.
struct Arrays {
    Uints strides;
    Uints dilations;
    Uints start_padding;
    Uints end_padding;
    Uints output_padding;

    void push(Random& random, bool plain) {
        strides.push_back(plain || random.chance(1, 2) ? 1 : random.pick(2, 3));
        dilations.push_back(plain || random.chance(2, 3) ? 1 : random.pick(2, 3));
        start_padding.push_back(plain || random.chance(1, 2) ? 0 : random.pick(1, 3));
        end_padding.push_back(plain || random.chance(1, 2) ? 0 : random.pick(1, 3));
        output_padding.push_back(plain || random.chance(3, 4) ? 0 : random.pick(1, 2));
    }

    void set(Descriptor& descriptor) const {
        field_of(descriptor, "Strides") = strides;
        field_of(descriptor, "Dilations") = dilations;
        field_of(descriptor, "StartPadding") = start_padding;
        field_of(descriptor, "EndPadding") = end_padding;
        if (descriptor.has_field("OutputPadding")) {
            field_of(descriptor, "OutputPadding") = output_padding;
        }
    }
};

/// The smallest input for which the output has at least one element.
std::uint32_t least_input(const Arrays& arrays, std::uint32_t filter, bool backward) {
    const std::uint32_t reach = (filter - 1) * arrays.dilations.back() + 1;
    const std::uint32_t padding = arrays.start_padding.back() + arrays.end_padding.back();
    if (!backward) {
        return reach > padding ? reach - padding : 1;
    }
    return reach > padding ? 1 : (padding - reach) / arrays.strides.back() + 2;
}

/// Zero points and scales of the filter have one element, or one for each output channel; others have one.
void fit_zero_points(Random& random, Descriptor& descriptor, core::FeatureLevel level) {
    const operators::OperatorSchema& schema = *descriptor.schema;
    const std::size_t rank = sizes_of(descriptor, "InputTensor").size();
    const std::uint32_t filters = sizes_of(descriptor, "FilterTensor").front();
    const bool has_scales = descriptor.has_field("FilterScaleTensor");
    for (const std::string of : {"Input", "Filter", "Output"}) {
        const std::string zero_points = of + "ZeroPointTensor";
        if (has_scales) {
            const std::size_t dimensions = random_rank(random, schema, of + "ScaleTensor", level);
            const bool each = of == "Filter" && dimensions > 1 && random.chance(1, 2);
            lay_out(random, descriptor, of + "ScaleTensor",
                    each ? one_or_each(dimensions, dimensions - 1, filters) : Dimensions(dimensions, 1));
        }
        core::TensorDesc* const desc = tensor_of(descriptor, zero_points);
        if (desc == nullptr) {
            continue;
        }
        if (has_scales) {
            // Zero points have the tensor's type, and mostly the scale's sizes: others are legal, but DirectML rejects
            // them, so nothing is computed.
            *desc = core::TensorDesc::packed(tensor_of(descriptor, of + "Tensor")->data_type,
                                             sizes_of(descriptor, of + "ScaleTensor"));
            if (random.chance(7, 8)) {
                lay_out(random, descriptor, zero_points, desc->sizes);
                continue;
            }
        }
        // The catalogue of CONVOLUTION_INTEGER requires the other tensor's number of dimensions.
        const core::TensorDesc* const other = tensor_of(descriptor, "InputZeroPointTensor");
        const std::size_t dimensions = has_scales || (of == "Filter" && other == nullptr)
                                           ? random_rank(random, schema, zero_points, level)
                                           : (of == "Filter" ? other->sizes.size() : rank);
        const bool each = of == "Filter" && dimensions > 1 && random.chance(1, 2);
        lay_out(random, descriptor, zero_points,
                each ? one_or_each(dimensions, dimensions - 1, filters) : Dimensions(dimensions, 1));
    }
}

void fit_convolution(Random& random, Descriptor& descriptor, core::FeatureLevel level) {
    const std::size_t rank = tensor_of(descriptor, "InputTensor")->sizes.size();
    const bool floating = descriptor.has_field("Direction");
    const bool backward = floating && is_set(descriptor, "Direction");
    const std::uint32_t most = rank == 5 ? 2 : 4;
    const std::uint32_t groups = random.chance(1, 2) ? 1 : random.pick(1, most - 1);
    const std::uint32_t group_channels = random.pick(1, most);
    const std::uint32_t group_filters = random.pick(1, most);
    Arrays arrays;
    if (!floating && rank == 3) {
        arrays.push(random, true);
    }
    Dimensions filter{groups * group_filters, group_channels};
    Dimensions input{random.pick(1, 2), backward ? filter[0] : groups * group_channels};
    while (input.size() < rank) {
        arrays.push(random, false);
        filter.push_back(random.pick(1, rank == 5 ? 3 : 4));
        input.push_back(std::max(least_input(arrays, filter.back(), backward),
                                 random.chance(1, 12) && rank < 5 ? 16 : random.pick(1, rank == 5 ? 4 : 9)));
    }
    arrays.set(descriptor);
    field_of(descriptor, "GroupCount") = groups;
    lay_out(random, descriptor, "InputTensor", input);
    lay_out(random, descriptor, "FilterTensor", filter);
    const std::uint32_t output_channels = backward ? groups * group_channels : filter[0];
    lay_out(random, descriptor, "BiasTensor", one_or_each(rank, rank - 1, output_channels));
    fit_zero_points(random, descriptor, level);
    // First the counts, then sizes, then the layout.
    set_counts(descriptor);
    generic_fuzz.repair(descriptor);
    lay_out(random, descriptor, "OutputTensor", Dimensions(tensor_of(descriptor, "OutputTensor")->sizes));
}

Descriptor make(Random& random, const operators::OperatorSchema& schema, core::FeatureLevel level) {
    Descriptor descriptor = generic_fuzz.make(random, schema, level);
    if (schema.find_field("FilterTensor") != nullptr) {
        fit_convolution(random, descriptor, level);
    } else {
        fit_matrices(random, descriptor);
    }
    set_counts(descriptor);
    return descriptor;
}

/// Integers that are converted to real numbers are kept small, so that sums stay within the range of the output's type.
/// Beyond it, results depend on the order of operations.
ElementKind kind_of_integers(const Descriptor& descriptor, core::DataType type) {
    if (!core::is_floating_point(descriptor.tensor("OutputTensor")->data_type) || core::bits_of(type) <= 8) {
        return ElementKind::bits;
    }
    return descriptor.tensor("OutputTensor")->data_type == core::DataType::float16 ? ElementKind::index
           : core::bits_of(type) <= 16                                             ? ElementKind::bits
                                                                                   : ElementKind::small;
}

ElementKind element_kind(const Descriptor& descriptor, std::string_view input) {
    if (input == "OutputScaleTensor") {
        return ElementKind::divisor;
    }
    if (input.ends_with("ScaleTensor")) {
        return ElementKind::scale;
    }
    if (input == "BiasTensor" && descriptor.has_field("FilterScaleTensor")) {
        return ElementKind::small;
    }
    for (const operators::TensorSlot& slot : descriptor.inputs()) {
        if (slot.name == input && slot.desc != nullptr) {
            return core::is_floating_point(slot.desc->data_type) ? ElementKind::number
                                                                 : kind_of_integers(descriptor, slot.desc->data_type);
        }
    }
    return ElementKind::bits;
}

/// Parameters of the filter with one element for each output channel follow the filter.
void repair(Descriptor& descriptor) {
    const core::TensorDesc* const filter = tensor_of(descriptor, "FilterTensor");
    for (const std::string_view field : {"FilterScaleTensor", "FilterZeroPointTensor"}) {
        const core::TensorDesc* const desc = tensor_of(descriptor, field);
        if (filter != nullptr && !filter->sizes.empty() && desc != nullptr && desc->sizes.size() > 1 &&
            desc->sizes[1] > 1) {
            resize(descriptor, field, one_or_each(desc->sizes.size(), desc->sizes.size() - 1, filter->sizes[0]));
        }
    }
    generic_fuzz.repair(descriptor);
}

}  // namespace

const OperatorFuzz product_fuzz{make, element_kind, repair};

}  // namespace dmlconform::fuzz
