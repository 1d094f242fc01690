// Matrix products: GEMM, and products of quantised integers.
#include <algorithm>
#include <utility>

#include "engine/core/tensor.h"
#include "engine/d3d12/planning/binding.h"
#include "engine/d3d12/planning/element_format.h"
#include "engine/d3d12/planning/fused_activation.h"
#include "engine/d3d12/planning/parameter_stride.h"
#include "engine/d3d12/product/product.h"
#include "engine/d3d12/reduction/reduction.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::d3d12::matrix_product_bindings {
namespace {

using operators::Descriptor;

/// The last two dimensions are rows and columns, or columns and rows if transposed.
struct Matrix {
    const core::TensorDesc* desc = nullptr;
    std::size_t row_dimension = 0;
    std::size_t column_dimension = 0;

    explicit Matrix(const core::TensorDesc* tensor, bool is_transposed = false) : desc(tensor) {
        if (desc != nullptr) {
            row_dimension = desc->sizes.size() - (is_transposed ? 1 : 2);
            column_dimension = desc->sizes.size() - (is_transposed ? 2 : 1);
        }
    }

    [[nodiscard]] std::uint32_t columns() const { return desc->sizes[column_dimension]; }
    [[nodiscard]] std::uint32_t row_stride() const { return stride(row_dimension); }
    [[nodiscard]] std::uint32_t column_stride() const { return stride(column_dimension); }
    [[nodiscard]] core::Strides strides() const {
        return desc != nullptr ? core::signed_strides(*desc) : core::Strides{};
    }

private:
    [[nodiscard]] std::uint32_t stride(std::size_t dimension) const {
        return desc != nullptr ? strides_in_words(*desc)[dimension] : 0;
    }
};

struct Matrices {
    Matrix a;
    Matrix b;
    Matrix addend;
    Matrix output;
};

/// One product for each element of the preceding dimensions.
StridedDimensions<product_arrays> products_of(const Matrices& matrices) {
    const core::Dimensions& sizes = matrices.output.desc->sizes;
    const core::Strides none(sizes.size());
    const std::array<core::Strides, product_arrays> strides{
        matrices.a.strides(), matrices.b.strides(), matrices.addend.desc != nullptr ? matrices.addend.strides() : none,
        matrices.output.strides()};
    return merge_dimensions<product_arrays>(std::span(sizes).first(sizes.size() - 2), strides);
}

Product product_of(std::uint32_t numbers, const Matrices& matrices) {
    Product product;
    product.numbers = numbers;
    product.depth = matrices.a.columns();
    product.products = products_of(matrices);
    ProductParameters& parameters = product.parameters;
    const core::Dimensions& sizes = matrices.output.desc->sizes;
    parameters.row_count = sizes[sizes.size() - 2];
    parameters.column_count = sizes.back();
    parameters.a_row = matrices.a.row_stride();
    parameters.a_depth = matrices.a.column_stride();
    parameters.b_column = matrices.b.column_stride();
    parameters.b_depth = matrices.b.row_stride();
    parameters.output_row = matrices.output.row_stride();
    parameters.output_column = matrices.output.column_stride();
    parameters.has_addend = matrices.addend.desc != nullptr ? 1 : 0;
    parameters.addend_row = matrices.addend.row_stride();
    parameters.addend_column = matrices.addend.column_stride();
    parameters.a_packing = packing_of(matrices.a.desc->data_type);
    parameters.b_packing = packing_of(matrices.b.desc->data_type);
    parameters.output_packing = packing_of(matrices.output.desc->data_type);
    parameters.a_sign = sign_bit_of(matrices.a.desc->data_type);
    parameters.b_sign = sign_bit_of(matrices.b.desc->data_type);
    parameters.output_sign = sign_bit_of(matrices.output.desc->data_type);
    return product;
}

/// If the output has a single column, few threads could work in parallel; so rows and columns are swapped.
void swap_rows_and_columns(Product& product) {
    ProductParameters& parameters = product.parameters;
    std::swap(parameters.row_count, parameters.column_count);
    std::swap(parameters.a_row, parameters.b_column);
    std::swap(parameters.a_depth, parameters.b_depth);
    std::swap(parameters.output_row, parameters.output_column);
    std::swap(parameters.addend_row, parameters.addend_column);
    std::swap(product.buffers[product_a], product.buffers[product_b]);
    for (auto& dimension : product.products) {
        std::swap(dimension.strides[array_a], dimension.strides[array_b]);
    }
}

bool is_better_swapped(const ProductParameters& parameters) {
    const bool has_adjacent_columns = parameters.output_column == 1 && parameters.column_count > 1;
    const bool has_adjacent_rows = parameters.output_row == 1 && parameters.row_count > 1;
    return has_adjacent_rows && !has_adjacent_columns;
}

/// A fused softmax needs the complete result, because each element depends on its whole slice.
bool is_softmax(const Descriptor* activation) {
    return activation != nullptr && !activation->schema->element_wise;
}

void add_softmax(DispatchPlan& plan, const Descriptor& activation, const core::TensorDesc& source, BufferRef sums,
                 const core::TensorDesc& target) {
    Reduction reduction;
    reduction.combine = COMBINE_EXPONENTIALS;
    reduction.parameters.map = MAP_SAME;
    reduction.parameters.finish = FINISH_SOFTMAX;
    reduction.tensors[reduction_input] = {&source, sums};
    reduction.tensors[reduction_output] = {&target, output(0)};
    reduction.reduced = reduced_by(activation, target.sizes.size());
    ReductionPlanner(plan, std::move(reduction)).to_elements();
}

bool transposes(const Descriptor& descriptor, std::string_view field) {
    return enumerator<operators::MatrixTransform>(descriptor, field) == operators::MatrixTransform::transpose;
}

/// Writes to `target`: the output, or a temporary if a softmax follows.
Product gemm_product(const Descriptor& descriptor, const core::TensorDesc& target) {
    const core::TensorDesc* addend = descriptor.tensor("CTensor");
    Product product = product_of(PRODUCT_REAL, {Matrix(descriptor.tensor("ATensor"), transposes(descriptor, "TransA")),
                                                Matrix(descriptor.tensor("BTensor"), transposes(descriptor, "TransB")),
                                                Matrix(addend), Matrix(&target)});
    product.parameters.alpha = descriptor.number("Alpha");
    product.parameters.beta = descriptor.number("Beta");
    product.buffers[product_a] = input(0);
    product.buffers[product_b] = input(1);
    product.buffers[product_addend] = addend != nullptr ? input(2) : BufferRef{};
    product.buffers[product_output] = output(0);
    if (is_better_swapped(product.parameters)) {
        swap_rows_and_columns(product);
    }
    return product;
}

DispatchPlan plan_gemm(const Descriptor& descriptor) {
    const core::TensorDesc& target = *descriptor.tensor("OutputTensor");
    const Descriptor* activation = descriptor.activation("FusedActivation");
    DispatchPlan plan;
    if (!is_softmax(activation)) {
        Product product = gemm_product(descriptor, target);
        put_activation(product.parameters, activation);
        add_product(plan, std::move(product));
        return plan;
    }
    const core::TensorDesc sums = core::TensorDesc::packed(core::DataType::float32, target.sizes);
    const BufferRef between = temporary(0);
    plan.temporaries.push_back(sums.total_bytes);
    Product product = gemm_product(descriptor, sums);
    product.buffers[product_output] = between;
    add_product(plan, std::move(product));
    add_softmax(plan, *activation, sums, between, target);
    return plan;
}

/// The stride from one row's (column's) element to the next; 0 if all share one.
std::uint32_t step_of(const core::TensorDesc* desc, std::size_t from_end) {
    const std::size_t rank = desc != nullptr ? desc->sizes.size() : 0;
    return rank < from_end ? 0 : parameter_stride(desc, rank - from_end);
}

std::uint32_t row_step(const core::TensorDesc* desc) {
    return step_of(desc, 2);
}

std::uint32_t column_step(const core::TensorDesc* desc) {
    return step_of(desc, 1);
}

/// A and B are integers. Each has a zero point and optionally scales.
Product integer_product(const Descriptor& descriptor, std::uint32_t numbers) {
    const auto tensor = [&](std::string_view name) { return descriptor.find_tensor(name); };
    Product product = product_of(numbers, {Matrix(tensor("ATensor")), Matrix(tensor("BTensor")),
                                           Matrix(tensor("BiasTensor")), Matrix(tensor("OutputTensor"))});
    const auto slots = descriptor.inputs();
    const auto bind = [&](ProductBuffer buffer, std::string_view name) {
        const auto slot =
            std::find_if(slots.begin(), slots.end(), [&](const auto& candidate) { return candidate.name == name; });
        if (slot != slots.end() && slot->desc != nullptr) {
            product.buffers[buffer] = input(static_cast<std::size_t>(slot - slots.begin()));
        }
    };
    bind(product_a, "ATensor");
    bind(product_b, "BTensor");
    bind(product_addend, "BiasTensor");
    bind(product_a_zero, "AZeroPointTensor");
    bind(product_b_zero, "BZeroPointTensor");
    bind(product_a_scale, "AScaleTensor");
    bind(product_b_scale, "BScaleTensor");
    bind(product_output_scale, "OutputScaleTensor");
    bind(product_output_zero, "OutputZeroPointTensor");
    product.buffers[product_output] = output(0);
    ProductParameters& parameters = product.parameters;
    parameters.has_a_zero = tensor("AZeroPointTensor") != nullptr ? 1 : 0;
    parameters.has_b_zero = tensor("BZeroPointTensor") != nullptr ? 1 : 0;
    parameters.has_output_zero = tensor("OutputZeroPointTensor") != nullptr ? 1 : 0;
    parameters.is_quantized = tensor("OutputScaleTensor") != nullptr ? 1 : 0;
    parameters.a_zero_step = row_step(tensor("AZeroPointTensor"));
    parameters.b_zero_step = column_step(tensor("BZeroPointTensor"));
    parameters.a_scale_step = row_step(tensor("AScaleTensor"));
    parameters.b_scale_step = column_step(tensor("BScaleTensor"));
    parameters.output_scale_step = row_step(tensor("OutputScaleTensor"));
    parameters.output_zero_step = row_step(tensor("OutputZeroPointTensor"));
    return product;
}

std::optional<std::string> unsupported_gemm(const Descriptor& descriptor) {
    return unsupported_product(gemm_product(descriptor, *descriptor.tensor("OutputTensor")));
}

std::vector<ShaderVariant> gemm_variants() {
    return joined(
        {product_variants(PRODUCT_REAL, false),
         variants_of({.combine = COMBINE_EXPONENTIALS, .numbers = NUMBERS_REAL, .results = false, .elements = true})});
}

bool cut_batches(Cut& cut) {
    return cut.dimension() + 2 < cut.descriptor().tensor("OutputTensor")->sizes.size() && cut.take_from_all();
}

/// A fused softmax may run over batches.
bool cut_gemm(Cut& cut) {
    return !is_softmax(cut.descriptor().activation("FusedActivation")) && cut_batches(cut);
}

Binding integer_binding(std::string_view name, std::uint32_t numbers) {
    return {.name = name,
            .plan =
                [numbers](const Descriptor& descriptor) {
                    DispatchPlan plan;
                    add_product(plan, integer_product(descriptor, numbers));
                    return plan;
                },
            .variants = [numbers] { return product_variants(numbers, false); },
            .unsupported =
                [numbers](const Descriptor& descriptor) {
                    return unsupported_product(integer_product(descriptor, numbers));
                },
            .cut = cut_batches};
}

}  // namespace

Bindings bindings() {
    return {{.name = "GEMM",
             .plan = plan_gemm,
             .variants = gemm_variants,
             .unsupported = unsupported_gemm,
             .cut = cut_gemm},
            integer_binding("MATRIX_MULTIPLY_INTEGER", PRODUCT_INTEGER),
            integer_binding("QUANTIZED_LINEAR_MATRIX_MULTIPLY", PRODUCT_INTEGER),
            integer_binding("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", PRODUCT_MIXED)};
}

}  // namespace dmlconform::d3d12::matrix_product_bindings
