// Matrix products and convolutions, except the quantised convolution.
#include <fmt/format.h>

#include <algorithm>

#include "engine/interop/onnx_mapping.h"

namespace dmlconform::interop {
namespace {

using nlohmann::ordered_json;
using Mapped = core::Result<ordered_json>;
using Numbers = std::vector<std::int64_t>;

// ---- matrix products ---------------------------------------------------------------------------------------------

constexpr std::size_t most_dimensions = 4;

Mapped map_gemm(const OnnxNode& node) {
    const OnnxTensor& output = *node.output(0);
    if (node.input(0) == nullptr || node.input(1) == nullptr || output.sizes.size() != 2) {
        return core::fail("Gemm has not two matrices");
    }
    OnnxCase result("GEMM");
    result.input("ATensor", *node.input(0)).input("BTensor", *node.input(1));
    if (node.input(2) != nullptr) {
        if (const auto done = result.broadcast_input("CTensor", *node.input(2), output.sizes); !done) {
            return tl::unexpected(done.error());
        }
    }
    const auto transform = [&](const char* name) { return node.integer(name, 0) != 0 ? "TRANSPOSE" : "NONE"; };
    return result.output("OutputTensor", output)
        .set("TransA", transform("transA"))
        .set("TransB", transform("transB"))
        .set("Alpha", node.number("alpha", 1))
        .set("Beta", node.number("beta", 1))
        .take();
}

/// Factors and result of a product as in NumPy's matmul, with equal numbers of dimensions, at least two. A vector is a
/// row on the left and a column on the right.
struct Matrices {
    OnnxTensor a;
    OnnxTensor b;
    core::Dimensions a_sizes;
    core::Dimensions b_sizes;
    core::Dimensions sizes;
};

core::Result<Matrices> matrices_of(const OnnxNode& node, const OnnxTensor* a, const OnnxTensor* b) {
    if (a == nullptr || b == nullptr || a->sizes.empty() || b->sizes.empty()) {
        return core::fail(node.type + " has not two factors");
    }
    const bool row = a->sizes.size() == 1;
    const bool column = b->sizes.size() == 1;
    Matrices matrices{*a, *b, {}, {}, node.output(0)->sizes};
    if (row && column && node.output(0)->count() == 1) {
        // A scalar output is a tensor of size 1 here.
        matrices.sizes.clear();
    }
    const std::size_t vectors = (row ? 1 : 0) + (column ? 1 : 0);
    if (matrices.sizes.size() + vectors != std::max<std::size_t>({a->sizes.size(), b->sizes.size(), 2})) {
        return core::fail(node.type + " has an output of another number of dimensions than its factors make");
    }
    if (row) {
        matrices.a.sizes.insert(matrices.a.sizes.begin(), 1);
        matrices.sizes.insert(matrices.sizes.end() - (column ? 0 : 1), 1);
    }
    if (column) {
        matrices.b.sizes.push_back(1);
        matrices.sizes.push_back(1);
    }
    const std::size_t rank = matrices.sizes.size();
    if (rank < 2 || rank > most_dimensions) {
        return core::fail(
            fmt::format("DirectML's products have two to four dimensions, and {} has {}", node.type, rank));
    }
    const auto with_matrix = [&](const core::Dimensions& of) {
        core::Dimensions sizes(matrices.sizes.begin(), matrices.sizes.end() - 2);
        sizes.insert(sizes.end(), of.end() - 2, of.end());
        return sizes;
    };
    matrices.a_sizes = with_matrix(matrices.a.sizes);
    matrices.b_sizes = with_matrix(matrices.b.sizes);
    return matrices;
}

/// A case with ATensor, BTensor and OutputTensor, which have `rank` dimensions.
struct Product {
    OnnxCase result;
    std::size_t rank = 0;
};

core::Result<Product> product_of(const OnnxNode& node, const OnnxTensor* a, const OnnxTensor* b,
                                 const std::string& directml) {
    const auto matrices = matrices_of(node, a, b);
    if (!matrices) {
        return tl::unexpected(matrices.error());
    }
    Product product{OnnxCase(directml), matrices->sizes.size()};
    for (const auto& done : {product.result.broadcast_input("ATensor", matrices->a, matrices->a_sizes),
                             product.result.broadcast_input("BTensor", matrices->b, matrices->b_sizes)}) {
        if (!done) {
            return tl::unexpected(done.error());
        }
    }
    product.result.output("OutputTensor", *node.output(0), matrices->sizes);
    return product;
}

Mapped map_matmul(const OnnxNode& node) {
    auto product = product_of(node, node.input(0), node.input(1), "GEMM");
    if (!product) {
        return tl::unexpected(product.error());
    }
    return product->result.set("TransA", "NONE").set("TransB", "NONE").set("Alpha", 1).set("Beta", 0).take();
}

/// Adds a scale or zero point if the node has it: one element, or one for each row or column along a dimension that is
/// counted from the end.
void add_parameter(Product& product, const std::string& field, const OnnxTensor* tensor, std::size_t from_end) {
    if (tensor != nullptr) {
        product.result.input(field, *tensor,
                             tensor->sizes.size() <= 1 ? along(*tensor, product.rank, product.rank - from_end)
                                                       : padded(tensor->sizes, product.rank));
    }
}

Mapped map_matmul_integer(const OnnxNode& node) {
    auto product = product_of(node, node.input(0), node.input(1), "MATRIX_MULTIPLY_INTEGER");
    if (!product) {
        return tl::unexpected(product.error());
    }
    add_parameter(*product, "AZeroPointTensor", node.input(2), 2);
    add_parameter(*product, "BZeroPointTensor", node.input(3), 1);
    return product->result.take();
}

Mapped map_quantized_matmul(const OnnxNode& node) {
    auto product = product_of(node, node.input(0), node.input(3), "QUANTIZED_LINEAR_MATRIX_MULTIPLY");
    if (!product) {
        return tl::unexpected(product.error());
    }
    add_parameter(*product, "AScaleTensor", node.input(1), 2);
    add_parameter(*product, "AZeroPointTensor", node.input(2), 2);
    add_parameter(*product, "BScaleTensor", node.input(4), 1);
    add_parameter(*product, "BZeroPointTensor", node.input(5), 1);
    add_parameter(*product, "OutputScaleTensor", node.input(6), 2);
    add_parameter(*product, "OutputZeroPointTensor", node.input(7), 2);
    return product->result.take();
}

// ---- convolutions ------------------------------------------------------------------------------------------------

/// Limit for which products of two numbers fit 64 bits.
constexpr std::int64_t largest_geometry_number = 0x3fffffff;

/// The geometry of each spatial dimension.
struct Geometry {
    Numbers strides;
    Numbers dilations;
    Numbers start_padding;
    Numbers end_padding;
    Numbers output_padding;
};

/// One number for each dimension; `otherwise` if the node has none.
core::Result<Numbers> numbers_of(const Numbers& given, std::size_t count, std::int64_t otherwise) {
    Numbers numbers = given.empty() ? Numbers(count, otherwise) : given;
    const bool legal = numbers.size() == count && std::all_of(numbers.begin(), numbers.end(), [](std::int64_t number) {
                           return number >= 0 && number <= largest_geometry_number;
                       });
    if (!legal) {
        return core::fail("strides, dilations or padding are not those of the spatial dimensions");
    }
    return numbers;
}

/// The filter is the second input. Padding is the node's, or none if auto_pad determines it.
core::Result<Geometry> geometry_of(const OnnxNode& node) {
    const OnnxTensor* input = node.input(0);
    const OnnxTensor* filter = node.input(1);
    const core::Dimensions& output = node.output(0)->sizes;
    if (input == nullptr || filter == nullptr || input->sizes.size() < 3 || input->sizes.size() > 5 ||
        filter->sizes.size() != input->sizes.size() || output.size() != input->sizes.size()) {
        return core::fail(
            "DirectML's convolutions have one to three spatial dimensions, the same for input, filter and "
            "output");
    }
    const std::size_t count = input->sizes.size() - 2;
    const Numbers kernel = node.integers("kernel_shape");
    if (!kernel.empty() && !std::equal(kernel.begin(), kernel.end(), filter->sizes.begin() + 2, filter->sizes.end())) {
        return core::fail("kernel_shape is not that of the filter");
    }
    Numbers pads = node.integers("pads");
    pads.resize(pads.empty() ? 2 * count : pads.size());
    const auto half = pads.begin() + static_cast<std::ptrdiff_t>(pads.size() / 2);
    const auto strides = numbers_of(node.integers("strides"), count, 1);
    const auto dilations = numbers_of(node.integers("dilations"), count, 1);
    const auto starts = numbers_of(Numbers(pads.begin(), half), count, 0);
    const auto ends = numbers_of(Numbers(half, pads.end()), count, 0);
    for (const auto* list : {&strides, &dilations, &starts, &ends}) {
        if (!*list) {
            return tl::unexpected((*list).error());
        }
    }
    return Geometry{*strides, *dilations, *starts, *ends, Numbers(count, 0)};
}

std::int64_t reach_of(const OnnxNode& node, const Geometry& geometry, std::size_t d) {
    return (std::int64_t{node.input(1)->sizes[d + 2]} - 1) * geometry.dilations[d] + 1;
}

/// Distributes padding according to auto_pad. An odd element is at the end or at the start.
void share_out(Geometry& geometry, std::size_t d, std::int64_t total, bool odd_at_the_start) {
    geometry.start_padding[d] = odd_at_the_start ? total - total / 2 : total / 2;
    geometry.end_padding[d] = total - geometry.start_padding[d];
}

/// SAME_UPPER and SAME_LOWER: as much padding as the output needs.
void settle_forward(const OnnxNode& node, Geometry& geometry) {
    const std::string automatic = node.text("auto_pad", "NOTSET");
    for (std::size_t d = 0; automatic.starts_with("SAME") && d < geometry.strides.size(); ++d) {
        const std::int64_t needed = (std::int64_t{node.output(0)->sizes[d + 2]} - 1) * geometry.strides[d] +
                                    reach_of(node, geometry, d) - node.input(0)->sizes[d + 2];
        share_out(geometry, d, std::max<std::int64_t>(needed, 0), automatic == "SAME_LOWER");
    }
}

/// ONNX's output padding extends the part of the computed elements that belongs to the output, so the padding at the
/// end shrinks. DirectML's adds zeros after that part.
core::Result<void> settle_backward(const OnnxNode& node, Geometry& geometry) {
    const std::size_t count = geometry.strides.size();
    const auto added = numbers_of(node.integers("output_padding"), count, 0);
    if (!added) {
        return tl::unexpected(added.error());
    }
    const std::string automatic = node.text("auto_pad", "NOTSET");
    const bool follows = automatic.starts_with("SAME") || node.attribute("output_shape") != nullptr;
    for (std::size_t d = 0; d < count; ++d) {
        const std::int64_t output = node.output(0)->sizes[d + 2];
        const std::int64_t written =
            (std::int64_t{node.input(0)->sizes[d + 2]} - 1) * geometry.strides[d] + reach_of(node, geometry, d);
        if (follows) {
            share_out(geometry, d, std::max<std::int64_t>(written + (*added)[d] - output, 0),
                      automatic != "SAME_UPPER");
        }
        const std::int64_t end = written - geometry.start_padding[d] - output;
        geometry.end_padding[d] = std::max<std::int64_t>(end, 0);
        geometry.output_padding[d] = std::max<std::int64_t>(-end, 0);
    }
    return {};
}

Mapped map_convolution(const OnnxNode& node) {
    auto geometry = geometry_of(node);
    if (!geometry) {
        return tl::unexpected(geometry.error());
    }
    const bool backward = node.type == "ConvTranspose";
    if (!backward) {
        settle_forward(node, *geometry);
    } else if (const auto done = settle_backward(node, *geometry); !done) {
        return tl::unexpected(done.error());
    }
    OnnxCase result("CONVOLUTION");
    result.input("InputTensor", *node.input(0)).input("FilterTensor", *node.input(1));
    if (const OnnxTensor* bias = node.input(2)) {
        result.input("BiasTensor", *bias, along(*bias, node.input(0)->sizes.size(), 1));
    }
    return result.output("OutputTensor", *node.output(0))
        .set("Mode", "CROSS_CORRELATION")
        .set("Direction", backward ? "BACKWARD" : "FORWARD")
        .set("Strides", geometry->strides)
        .set("Dilations", geometry->dilations)
        .set("StartPadding", geometry->start_padding)
        .set("EndPadding", geometry->end_padding)
        .set("OutputPadding", geometry->output_padding)
        .set("GroupCount", node.integer("group", 1))
        .take();
}

Mapped map_convolution_integer(const OnnxNode& node) {
    auto geometry = geometry_of(node);
    if (!geometry) {
        return tl::unexpected(geometry.error());
    }
    const std::size_t rank = node.input(0)->sizes.size();
    if (rank > 4) {
        return core::fail("DirectML's convolution of integers has one or two spatial dimensions");
    }
    settle_forward(node, *geometry);
    // Two entries even for a single dimension.
    const auto entries = [&](Numbers numbers, std::int64_t height) {
        numbers.insert(numbers.begin(), 4 - rank, height);
        return numbers;
    };
    OnnxCase result("CONVOLUTION_INTEGER");
    result.input("InputTensor", *node.input(0));
    if (const OnnxTensor* zero_point = node.input(2)) {
        result.input("InputZeroPointTensor", *zero_point, along(*zero_point, rank, 1));
    }
    result.input("FilterTensor", *node.input(1));
    if (const OnnxTensor* zero_points = node.input(3)) {
        result.input("FilterZeroPointTensor", *zero_points, along(*zero_points, rank, 1));
    }
    return result.output("OutputTensor", *node.output(0))
        .set("Strides", entries(geometry->strides, 1))
        .set("Dilations", entries(geometry->dilations, 1))
        .set("StartPadding", entries(geometry->start_padding, 0))
        .set("EndPadding", entries(geometry->end_padding, 0))
        .set("GroupCount", node.integer("group", 1))
        .take();
}

}  // namespace

std::span<const OnnxMapping> product_mappings() {
    static constexpr OnnxMapping mappings[] = {
        {"Gemm", map_gemm, "GEMM"},
        {"MatMul", map_matmul, "GEMM",
         "up to four dimensions, broadcast by strides of 0; more if the second factor is a matrix or has the same "
         "batches"},
        {"MatMulInteger", map_matmul_integer, "MATRIX_MULTIPLY_INTEGER"},
        {"QLinearMatMul", map_quantized_matmul, "QUANTIZED_LINEAR_MATRIX_MULTIPLY"},
        {"Conv", map_convolution, "CONVOLUTION", "one to three spatial dimensions"},
        {"ConvTranspose", map_convolution, "CONVOLUTION", "output_padding is taken from the padding at the end"},
        {"ConvInteger", map_convolution_integer, "CONVOLUTION_INTEGER", "one or two spatial dimensions"},
    };
    return mappings;
}

}  // namespace dmlconform::interop
