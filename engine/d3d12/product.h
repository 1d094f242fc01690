// Products as dispatches of shaders/product_*.hlsl: rows times columns, in tiles where there is enough to do.
//
// A matrix product is one, and so is a convolution, whose columns are windows of its input.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/tensor_desc.h"
#include "engine/d3d12/constant_buffer.h"
#include "engine/d3d12/dispatch_plan.h"
#include "engine/d3d12/strided_dimensions.h"
#include "shaders/product_parameters.hlsli"

namespace dmlconform::d3d12 {

/// The constant buffer.
struct ProductParameters : ConstantBuffer {
#include "shaders/product_members.hlsli"
};

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

/// Arrays that differ from one product to the next, in the order of the shaders' rows.
enum ProductArray : std::size_t { array_a, array_b, array_addend, array_output, product_arrays };

/// Products of the same shape.
struct Product {
    /// PRODUCT_REAL, …
    std::uint32_t numbers = PRODUCT_REAL;
    bool is_window = false;
    /// Whatever does not come from how the work is divided.
    ProductParameters parameters{};
    /// Of a tensor: terms of a sum.
    std::uint64_t depth = 1;
    /// The products, the innermost dimension first.
    StridedDimensions<product_arrays> products;
    std::array<BufferRef, product_buffers> buffers;
};

/// How the work is shared among groups of threads.
struct ProductDivision {
    /// Rows and columns of a tile; 0: there are none.
    std::uint32_t side = 0;
    std::uint64_t groups_per_slice = 1;
    std::uint64_t slices = 1;
    std::uint64_t slice_depth = 1;
};

/// A tensor's strides as shaders have them.
[[nodiscard]] std::vector<std::uint32_t> strides_in_words(const core::TensorDesc& desc);

[[nodiscard]] ProductDivision divide(const Product& product);

/// Adds the dispatches to a plan.
void add_product(DispatchPlan& plan, Product product);

/// Every variant that a plan may name.
[[nodiscard]] std::vector<ShaderVariant> product_variants(std::uint32_t numbers, bool is_window);

/// Why the shaders cannot sum so many terms; empty when they can.
[[nodiscard]] std::optional<std::string> unsupported_product(const Product& product);

}  // namespace dmlconform::d3d12
