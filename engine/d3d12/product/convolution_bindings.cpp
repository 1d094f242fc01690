// Convolutions as matrix products: rows are the output channels of a group, columns are the output positions of all
// batches, and sums run over the filter elements of all input channels of the group.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/core/tensor.h"
#include "engine/d3d12/planning/binding.h"
#include "engine/d3d12/planning/element_format.h"
#include "engine/d3d12/planning/fused_activation.h"
#include "engine/d3d12/planning/parameter_stride.h"
#include "engine/d3d12/product/product.h"
#include "engine/d3d12/product/quantized_depthwise_convolution.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::d3d12::convolution_bindings {
namespace {

using operators::Descriptor;

constexpr std::size_t channel_dimension = 1;
constexpr std::size_t first_spatial = 2;
/// The shaders have three spatial dimensions, which are the last ones of their tables.
constexpr std::size_t rows_end = 4;

/// Common properties of the convolution operators.
struct Convolution {
    const Descriptor& descriptor;
    const core::TensorDesc& source;
    const core::TensorDesc& filter;
    const core::TensorDesc& target;
    const core::TensorDesc* bias = nullptr;
    bool is_backward = false;
    bool is_flipped = false;

    explicit Convolution(const Descriptor& any)
        : descriptor(any),
          source(*any.tensor("InputTensor")),
          filter(*any.tensor("FilterTensor")),
          target(*any.tensor("OutputTensor")) {}

    [[nodiscard]] std::uint32_t groups() const { return descriptor.uint("GroupCount"); }
    [[nodiscard]] std::size_t spatial_count() const { return source.sizes.size() - first_spatial; }
    /// The attribute for a spatial dimension. If the array is longer than the number of spatial dimensions, its last
    /// entries are used: CONVOLUTION_INTEGER and QUANTIZED_LINEAR_CONVOLUTION treat tensors of three dimensions as
    /// having height 1.
    [[nodiscard]] std::uint32_t attribute(std::string_view name, std::size_t spatial) const {
        const auto& numbers = descriptor.uints(name);
        return numbers[numbers.size() - spatial_count() + spatial];
    }
    [[nodiscard]] std::uint32_t group_inputs() const { return source.sizes[channel_dimension] / groups(); }
    [[nodiscard]] std::uint32_t group_outputs() const { return target.sizes[channel_dimension] / groups(); }
    [[nodiscard]] std::uint64_t tap_count() const {
        std::uint64_t count = 1;
        for (std::size_t i = 0; i < spatial_count(); ++i) {
            count *= filter.sizes[first_spatial + i];
        }
        return count;
    }
    [[nodiscard]] std::uint64_t depth() const { return group_inputs() * tap_count(); }
};

void put_window(ProductParameters& parameters, const Convolution& op) {
    const auto input_strides = strides_in_words(op.source);
    const auto filter_strides = strides_in_words(op.filter);
    const auto output_strides = strides_in_words(op.target);
    for (auto* row : {&parameters.column_sizes, &parameters.summed_size, &parameters.input_size, &parameters.window,
                      &parameters.window_stride, &parameters.dilation}) {
        row->words.fill(1);
    }
    parameters.column_sizes.words[0] = op.target.sizes[0];
    parameters.column_strides.words[0] = output_strides[0];
    parameters.input_strides.words[0] = input_strides[0];
    for (std::size_t i = 0; i < op.spatial_count(); ++i) {
        const std::size_t d = first_spatial + i;
        const std::size_t row = rows_end - op.spatial_count() + i;
        parameters.column_sizes.words[row] = op.target.sizes[d];
        parameters.summed_size.words[row] = op.target.sizes[d];
        parameters.column_strides.words[row] = output_strides[d];
        parameters.input_strides.words[row] = input_strides[d];
        parameters.input_size.words[row] = op.source.sizes[d];
        parameters.window.words[row] = op.filter.sizes[d];
        parameters.window_stride.words[row] = op.attribute("Strides", i);
        parameters.dilation.words[row] = op.attribute("Dilations", i);
        parameters.start_padding.words[row] = op.attribute("StartPadding", i);
        parameters.filter_strides.words[row] = op.is_flipped ? 0 - filter_strides[d] : filter_strides[d];
        parameters.filter_strides.words[0] += op.is_flipped ? (op.filter.sizes[d] - 1) * filter_strides[d] : 0;
    }
    parameters.is_backward = op.is_backward ? 1 : 0;
    parameters.tap_count = static_cast<std::uint32_t>(op.tap_count());
}

Product product_of(std::uint32_t numbers, const Convolution& op) {
    const auto input_strides = strides_in_words(op.source);
    const auto filter_strides = strides_in_words(op.filter);
    const auto output_strides = strides_in_words(op.target);
    // The filter's outermost channels are its rows; backward, they are summed over.
    const std::uint32_t row_stride = filter_strides[op.is_backward ? channel_dimension : 0];
    const std::uint32_t depth_stride = filter_strides[op.is_backward ? 0 : channel_dimension];
    const std::uint32_t bias_stride = op.bias != nullptr ? strides_in_words(*op.bias)[channel_dimension] : 0;
    Product product;
    product.numbers = numbers;
    product.is_window = true;
    product.depth = op.depth();
    SharedDimension<product_arrays> groups;
    groups.size = op.groups();
    groups.strides[array_a] =
        op.is_backward ? std::int64_t{depth_stride} * op.group_inputs() : std::int64_t{row_stride} * op.group_outputs();
    groups.strides[array_b] = std::int64_t{input_strides[channel_dimension]} * op.group_inputs();
    groups.strides[array_addend] = std::int64_t{bias_stride} * op.group_outputs();
    groups.strides[array_output] = std::int64_t{output_strides[channel_dimension]} * op.group_outputs();
    product.products = {groups};
    ProductParameters& parameters = product.parameters;
    parameters.row_count = op.group_outputs();
    parameters.column_count =
        static_cast<std::uint32_t>(*core::element_count(op.target.sizes) / op.target.sizes[channel_dimension]);
    parameters.a_row = row_stride;
    parameters.output_row = output_strides[channel_dimension];
    parameters.has_addend = op.bias != nullptr ? 1 : 0;
    parameters.addend_row = bias_stride;
    parameters.a_packing = packing_of(op.filter.data_type);
    parameters.b_packing = packing_of(op.source.data_type);
    parameters.output_packing = packing_of(op.target.data_type);
    parameters.parameter_rows = op.group_outputs();
    parameters.alpha = 1;
    parameters.beta = 1;
    parameters.input_channel = input_strides[channel_dimension];
    parameters.filter_channel = depth_stride;
    put_window(parameters, op);
    product.buffers[product_output] = output(0);
    return product;
}

/// True if windows have one element, and consecutive output positions have constant strides in the input and in the
/// output.
bool has_single_elements(const ProductParameters& parameters) {
    const auto& sizes = parameters.column_sizes.words;
    const auto follow = [&](const auto& strides) {
        return (sizes[1] == 1 || strides[1] == strides[2] * sizes[2]) &&
               (sizes[2] == 1 || strides[2] == strides[3] * sizes[3]);
    };
    const std::array<std::uint32_t, 4> ones{1, 1, 1, 1};
    return parameters.tap_count == 1 && parameters.is_backward == 0 && parameters.window_stride.words == ones &&
           parameters.input_size.words == parameters.summed_size.words &&
           std::equal(sizes.begin() + 1, sizes.end(), parameters.summed_size.words.begin() + 1) &&
           follow(parameters.input_strides.words) && follow(parameters.column_strides.words);
}

/// Replaces windows by matrices of channels and positions if possible, because shaders read these faster.
void try_matrices(Product& product) {
    // With fewer positions, tiles would be mostly empty, since each batch starts a new one.
    constexpr std::uint32_t enough_positions = 256;
    ProductParameters& parameters = product.parameters;
    const std::uint32_t images = parameters.column_sizes.words[0];
    SharedDimension<product_arrays>& groups = product.products.front();
    if (!has_single_elements(parameters) ||
        (images > 1 && (groups.size > 1 || parameters.column_count / images < enough_positions))) {
        return;
    }
    product.is_window = false;
    parameters.a_depth = parameters.filter_channel;
    parameters.b_depth = parameters.input_channel;
    parameters.b_column = parameters.input_strides.words[3];
    parameters.output_column = parameters.column_strides.words[3];
    if (images > 1) {
        groups = {};
        groups.size = images;
        groups.strides[array_b] = parameters.input_strides.words[0];
        groups.strides[array_output] = parameters.column_strides.words[0];
        parameters.column_count /= images;
        // All batches use the same filters.
        parameters.parameter_rows = 0;
    }
}

bool runs_backward(const Descriptor& descriptor) {
    using operators::ConvolutionDirection;
    return enumerator<ConvolutionDirection>(descriptor, "Direction") == ConvolutionDirection::backward;
}

Convolution real_convolution(const Descriptor& descriptor) {
    Convolution op(descriptor);
    op.bias = descriptor.tensor("BiasTensor");
    op.is_backward = runs_backward(descriptor);
    op.is_flipped =
        enumerator<operators::ConvolutionMode>(descriptor, "Mode") == operators::ConvolutionMode::convolution;
    return op;
}

DispatchPlan plan_convolution(const Descriptor& descriptor) {
    const Convolution op = real_convolution(descriptor);
    Product product = product_of(PRODUCT_REAL, op);
    ProductParameters& parameters = product.parameters;
    for (std::size_t i = 0; i < op.spatial_count(); ++i) {
        parameters.summed_size.words[rows_end - op.spatial_count() + i] -= op.attribute("OutputPadding", i);
    }
    put_activation(parameters, descriptor.activation("FusedActivation"));
    product.buffers[product_b] = input(0);
    product.buffers[product_a] = input(1);
    product.buffers[product_addend] = op.bias != nullptr ? input(2) : BufferRef{};
    try_matrices(product);
    DispatchPlan plan;
    add_product(plan, std::move(product));
    return plan;
}

/// Products of 8-bit tensors with zero points.
Product integer_product(const Convolution& op) {
    Product product = product_of(PRODUCT_INTEGER, op);
    ProductParameters& parameters = product.parameters;
    const core::TensorDesc* filter_zero = op.descriptor.tensor("FilterZeroPointTensor");
    parameters.a_sign = sign_bit_of(op.filter.data_type);
    parameters.b_sign = sign_bit_of(op.source.data_type);
    parameters.has_a_zero = filter_zero != nullptr ? 1 : 0;
    parameters.has_b_zero = op.descriptor.tensor("InputZeroPointTensor") != nullptr ? 1 : 0;
    parameters.a_zero_step = parameter_stride(filter_zero, channel_dimension);
    try_matrices(product);
    return product;
}

DispatchPlan plan_integers(const Descriptor& descriptor) {
    Product product = integer_product(Convolution(descriptor));
    product.buffers[product_b] = input(0);
    product.buffers[product_b_zero] = product.parameters.has_b_zero != 0 ? input(1) : BufferRef{};
    product.buffers[product_a] = input(2);
    product.buffers[product_a_zero] = product.parameters.has_a_zero != 0 ? input(3) : BufferRef{};
    DispatchPlan plan;
    add_product(plan, std::move(product));
    return plan;
}

Convolution quantized_convolution(const Descriptor& descriptor) {
    Convolution op(descriptor);
    op.bias = descriptor.tensor("BiasTensor");
    return op;
}

DispatchPlan plan_quantized(const Descriptor& descriptor) {
    const Convolution op = quantized_convolution(descriptor);
    Product product = integer_product(op);
    ProductParameters& parameters = product.parameters;
    parameters.output_sign = sign_bit_of(op.target.data_type);
    parameters.has_output_zero = descriptor.tensor("OutputZeroPointTensor") != nullptr ? 1 : 0;
    parameters.is_quantized = 1;
    parameters.a_scale_step = parameter_stride(descriptor.tensor("FilterScaleTensor"), channel_dimension);
    product.buffers[product_b] = input(0);
    product.buffers[product_b_scale] = input(1);
    product.buffers[product_b_zero] = parameters.has_b_zero != 0 ? input(2) : BufferRef{};
    product.buffers[product_a] = input(3);
    product.buffers[product_a_scale] = input(4);
    product.buffers[product_a_zero] = parameters.has_a_zero != 0 ? input(5) : BufferRef{};
    product.buffers[product_addend] = op.bias != nullptr ? input(6) : BufferRef{};
    product.buffers[product_output_scale] = input(7);
    product.buffers[product_output_zero] = parameters.has_output_zero != 0 ? input(8) : BufferRef{};
    DispatchPlan plan;
    if (is_depthwise(descriptor) && divide(product).side == 0) {
        plan.dispatches.push_back(depthwise_dispatch(descriptor));
    } else {
        add_product(plan, std::move(product));
    }
    return plan;
}

/// Variants for windows and for matrices.
std::vector<ShaderVariant> variants_of(std::uint32_t numbers) {
    return joined({product_variants(numbers, true), product_variants(numbers, false)});
}

std::vector<ShaderVariant> quantized_variants() {
    return joined({variants_of(PRODUCT_INTEGER), depthwise_variants()});
}

/// Shaders use 32-bit positions, and recognise padding by positions beyond the end of the input.
std::optional<std::string> unsupported(const Convolution& op, std::uint32_t numbers) {
    for (std::size_t i = 0; i < op.spatial_count(); ++i) {
        const std::size_t d = first_spatial + i;
        const std::uint64_t start = op.attribute("StartPadding", i);
        const std::uint64_t extent =
            op.is_backward ? op.target.sizes[d] + start : op.source.sizes[d] + start + op.attribute("EndPadding", i);
        const std::uint64_t reach = std::uint64_t{op.filter.sizes[d] - 1} * op.attribute("Dilations", i);
        for (const std::uint64_t length : {extent, reach}) {
            if (length > std::numeric_limits<std::uint32_t>::max()) {
                return fmt::format(
                    "spatial dimension {} has {} elements with its padding or between the ends of a "
                    "window, more than 32 bits can count",
                    i, length);
            }
        }
    }
    return unsupported_product(product_of(numbers, op));
}

/// Takes a part of the output positions along a spatial dimension, and the part of the input that their windows see.
/// Windows that see only padding after the input are not separated from others.
bool take_windows(Cut& cut) {
    const Convolution op(cut.descriptor());
    const std::size_t i = cut.dimension() - first_spatial;
    const auto own = [&](std::string_view name) -> std::uint32_t& {
        auto& numbers = cut.field<std::vector<std::uint32_t>>(name);
        return numbers[numbers.size() - op.spatial_count() + i];
    };
    const std::int64_t size = op.source.sizes[cut.dimension()];
    const std::int64_t stride = own("Strides");
    const std::int64_t reach = std::int64_t{op.filter.sizes[cut.dimension()] - 1} * own("Dilations");
    const std::int64_t from = cut.begin() * stride - own("StartPadding");
    const std::int64_t to = (cut.end() - std::int64_t{1}) * stride - own("StartPadding") + reach + 1;
    if (from >= size) {
        return false;
    }
    const std::int64_t low = std::max<std::int64_t>(from, 0);
    const std::int64_t high = std::clamp(to, low + 1, size);
    own("StartPadding") = static_cast<std::uint32_t>(low - from);
    own("EndPadding") = static_cast<std::uint32_t>(std::max<std::int64_t>(to - high, 0));
    cut.take("InputTensor", cut.dimension(), static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(high));
    cut.take("OutputTensor", cut.dimension(), cut.begin(), cut.end());
    return true;
}

bool cut_batches(Cut& cut) {
    if (cut.dimension() != 0) {
        return false;
    }
    cut.take("InputTensor", 0, cut.begin(), cut.end());
    cut.take("OutputTensor", 0, cut.begin(), cut.end());
    return true;
}

bool cut_integers(Cut& cut) {
    return cut.dimension() >= first_spatial ? take_windows(cut) : cut_batches(cut);
}

bool cut_convolution(Cut& cut) {
    const auto& padding = cut.descriptor().uints("OutputPadding");
    const bool windows_in_order =
        !runs_backward(cut.descriptor()) && std::ranges::all_of(padding, [](std::uint32_t size) { return size == 0; });
    return windows_in_order ? cut_integers(cut) : cut_batches(cut);
}

}  // namespace

Bindings bindings() {
    return {{.name = "CONVOLUTION",
             .plan = plan_convolution,
             .variants = [] { return variants_of(PRODUCT_REAL); },
             .unsupported =
                 [](const Descriptor& descriptor) { return unsupported(real_convolution(descriptor), PRODUCT_REAL); },
             .cut = cut_convolution},
            {.name = "CONVOLUTION_INTEGER",
             .plan = plan_integers,
             .variants = [] { return variants_of(PRODUCT_INTEGER); },
             .unsupported =
                 [](const Descriptor& descriptor) { return unsupported(Convolution(descriptor), PRODUCT_INTEGER); },
             .cut = cut_integers},
            {.name = "QUANTIZED_LINEAR_CONVOLUTION",
             .plan = plan_quantized,
             .variants = quantized_variants,
             .unsupported =
                 [](const Descriptor& descriptor) {
                     return unsupported(quantized_convolution(descriptor), PRODUCT_INTEGER);
                 },
             .cut = cut_integers}};
}

}  // namespace dmlconform::d3d12::convolution_bindings
