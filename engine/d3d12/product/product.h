// Products as dispatches of shaders/product/product_*.hlsl: rows times columns, in tiles if there is enough work.
//
// Matrix products are such products, and so are convolutions, whose columns are windows of the input.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/tensor_desc.h"
#include "engine/d3d12/planning/dispatch_plan.h"
#include "engine/d3d12/planning/strided_dimensions.h"
#include "shaders/product/product_parameters.hlsli"

namespace dmlconform::d3d12 {

/// In the order of the shaders' buffers.
enum ProductBuffer : std::size_t {
    product_a,
    product_b,
    product_addend,
    product_a_zero,
    product_b_zero,
    product_a_scale,
    product_b_scale,
    product_output_scale,
    product_output_zero,
    product_output,
    product_buffers
};

/// Arrays that differ between products, in the order of the shaders' rows.
enum ProductArray : std::size_t { array_a, array_b, array_addend, array_output, product_arrays };

/// Products of the same shape.
struct Product {
    /// PRODUCT_REAL, …
    std::uint32_t numbers = PRODUCT_REAL;
    bool is_window = false;
    /// Parameters that do not depend on the division of the work.
    ProductParameters parameters{};
    /// The number of terms of a sum.
    std::uint64_t depth = 1;
    /// The dimensions of the list of products, innermost first.
    StridedDimensions<product_arrays> products;
    std::array<BufferRef, product_buffers> buffers;
};

/// How the work is divided among thread groups.
struct ProductDivision {
    /// Rows and columns of a tile; 0 without tiles.
    std::uint32_t side = 0;
    std::uint64_t groups_per_slice = 1;
    std::uint64_t slices = 1;
    std::uint64_t slice_depth = 1;
};

/// A tensor's strides in the form that shaders need.
[[nodiscard]] std::vector<std::uint32_t> strides_in_words(const core::TensorDesc& desc);

[[nodiscard]] ProductDivision divide(const Product& product);

/// Adds the dispatches of a product to a plan.
void add_product(DispatchPlan& plan, Product product);

/// All variants that a plan may name.
[[nodiscard]] std::vector<ShaderVariant> product_variants(std::uint32_t numbers, bool is_window);

/// Says why the shaders cannot sum that many terms; empty if they can.
[[nodiscard]] std::optional<std::string> unsupported_product(const Product& product);

}  // namespace dmlconform::d3d12
