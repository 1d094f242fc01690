// Matrix products and convolutions of real numbers.
#include <array>

#include "engine/interop/export/operator_writer.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::interop::exporting {
namespace {

/// Whether all dimensions before the last two have the size 1.
bool is_matrix(const core::Dimensions& sizes) {
    return *core::element_count(sizes) == std::uint64_t{sizes[sizes.size() - 2]} * sizes.back();
}

Value as_matrix(ModelWriter& w, const Value& x) {
    return w.reshape(x, {x.sizes[x.rank() - 2], x.sizes.back()});
}

bool is_transposed(OperatorWriter& to, const char* field) {
    return to.enumerator<operators::MatrixTransform>(field) == operators::MatrixTransform::transpose;
}

Value gemm_node(OperatorWriter& to) {
    ModelWriter& w = to.w;
    std::vector<Value> inputs{as_matrix(w, to.in("ATensor")), as_matrix(w, to.in("BTensor"))};
    ModelWriter::Attributes attributes{attribute("alpha", to.number("Alpha")),
                                       attribute("transA", std::int64_t{is_transposed(to, "TransA")}),
                                       attribute("transB", std::int64_t{is_transposed(to, "TransB")})};
    if (to.has("CTensor")) {
        inputs.push_back(as_matrix(w, to.compact("CTensor")));
        attributes.push_back(attribute("beta", to.number("Beta")));
    }
    const core::Dimensions& sizes = to.sizes("OutputTensor");
    return w.node("Gemm", inputs, inputs.front().type, {sizes[sizes.size() - 2], sizes.back()}, attributes);
}

/// Several products side by side.
Value gemm_of_several(OperatorWriter& to) {
    ModelWriter& w = to.w;
    const auto factor = [&](const char* name, const char* transform) {
        const Value x = to.precise(name);
        Numbers order = counted(x.rank());
        if (is_transposed(to, transform)) {
            std::swap(order[order.size() - 1], order[order.size() - 2]);
        }
        return w.transpose(x, order);
    };
    Value result = w.matmul(factor("ATensor", "TransA"), factor("BTensor", "TransB"));
    if (to.number("Alpha") != 1) {
        result = w.mul(result, w.like(result, double{to.number("Alpha")}));
    }
    if (to.has("CTensor")) {
        const Value c = to.precise("CTensor");
        result = w.add(result, to.number("Beta") == 1 ? c : w.mul(c, w.like(c, double{to.number("Beta")})));
    }
    return result;
}

void write_gemm(OperatorWriter& to) {
    const bool single = is_matrix(to.sizes("ATensor")) && is_matrix(to.sizes("BTensor"));
    const Value result = single ? gemm_node(to) : gemm_of_several(to);
    to.out("OutputTensor", activated(to, to.w.cast(result, to.type("OutputTensor"))));
}

void write_convolution(OperatorWriter& to) {
    ModelWriter& w = to.w;
    const std::size_t count = to.sizes("InputTensor").size() - 2;
    Value filter = to.in("FilterTensor");
    if (to.enumerator<operators::ConvolutionMode>("Mode") == operators::ConvolutionMode::convolution) {
        // A true convolution has its filter turned round.
        Numbers starts;
        for (std::size_t d = 2; d < filter.rank(); ++d) {
            starts.push_back(std::int64_t{filter.sizes[d]} - 1);
        }
        constexpr std::int64_t before_the_first = -0x7fffffff;
        filter = w.slice(filter, starts, Numbers(count, before_the_first), counted(count, 2), Numbers(count, -1));
    }
    Numbers pads = to.spatial("StartPadding", count);
    const Numbers ends = to.spatial("EndPadding", count);
    const Numbers more = to.spatial("OutputPadding", count);
    const bool backward =
        to.enumerator<operators::ConvolutionDirection>("Direction") == operators::ConvolutionDirection::backward;
    const Numbers strides = to.spatial("Strides", count);
    const Numbers dilations = to.spatial("Dilations", count);
    for (std::size_t d = 0; d < count; ++d) {
        // https://onnx.ai/onnx/operators/onnx__ConvTranspose.html
        if (more[d] != 0 && more[d] >= std::max(strides[d], dilations[d])) {
            to.fail("ONNX's output_padding is less than the stride or the dilation");
            return;
        }
        // DirectML appends elements without a product, ONNX takes fewer away.
        if (more[d] != 0 && (!backward || ends[d] != 0)) {
            to.fail(backward ? "ONNX's output_padding takes back what EndPadding cuts off"
                             : "ONNX's Conv has no padding of the output");
            return;
        }
    }
    pads.insert(pads.end(), ends.begin(), ends.end());
    ModelWriter::Attributes attributes{attribute("strides", strides), attribute("dilations", dilations),
                                       attribute("pads", pads),
                                       attribute("group", std::int64_t{to.uint("GroupCount")})};
    if (backward) {
        attributes.push_back(attribute("output_padding", more));
    }
    std::vector<Value> inputs{to.in("InputTensor"), filter};
    if (to.has("BiasTensor")) {
        const Value bias = to.in("BiasTensor");
        inputs.push_back(w.reshape(bias, {static_cast<std::uint32_t>(bias.count())}));
    }
    const Value result =
        w.node(backward ? "ConvTranspose" : "Conv", inputs, inputs.front().type, to.sizes("OutputTensor"), attributes);
    to.out("OutputTensor", activated(to, result));
}

constexpr std::array<OperatorExport, 2> product_rows{{
    {"CONVOLUTION", write_convolution},
    {"GEMM", write_gemm},
}};

}  // namespace

std::span<const OperatorExport> product_exports() {
    return product_rows;
}

}  // namespace dmlconform::interop::exporting
