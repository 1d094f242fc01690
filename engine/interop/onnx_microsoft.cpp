// Operators that ONNX Runtime's optimiser and quantiser put into models, as docs/ContribOperators.md of ONNX Runtime
// describes them.
#include "engine/interop/onnx_expansion_steps.h"

namespace dmlconform::interop::expansion {
namespace {

/// A fused activation with its attributes; empty if it is unknown.
struct FusedActivation {
    std::string type;
    Attributes attributes;
};

core::Result<FusedActivation> fused_activation(const Expansion& to) {
    const std::string type = to.text_of("activation", "");
    const onnx::AttributeProto* list = to.attribute("activation_params");
    std::vector<float> numbers;
    if (list != nullptr) {
        numbers.assign(list->floats().begin(), list->floats().end());
    }
    for (const char* name : {"activation_alpha", "activation_beta"}) {
        if (const onnx::AttributeProto* one = to.attribute(name)) {
            numbers.push_back(one->f());
        }
    }
    if (type == "Relu" || type == "Sigmoid" || type == "Tanh" || type == "Softplus" || type == "Softsign") {
        return FusedActivation{type, {}};
    }
    if ((type == "LeakyRelu" || type == "Elu" || type == "ThresholdedRelu") && numbers.size() == 1) {
        return FusedActivation{type, {number_attribute("alpha", numbers[0])}};
    }
    if (type == "HardSigmoid" && numbers.size() == 2) {
        return FusedActivation{type, {number_attribute("alpha", numbers[0]), number_attribute("beta", numbers[1])}};
    }
    if (type == "Clip" && numbers.size() == 2) {
        return FusedActivation{type, {number_attribute("min", numbers[0]), number_attribute("max", numbers[1])}};
    }
    return core::fail(fmt::format("the fused activation \"{}\" is not mapped", type));
}

Nodes with_activation(Expansion& to, const char* type, const std::vector<std::string>& inputs, const std::string& sum) {
    const auto activation = fused_activation(to);
    if (!activation) {
        return tl::unexpected(activation.error());
    }
    std::string result = to.add(type, inputs, "",
                                to.attributes_without({"activation", "activation_params", "activation_alpha",
                                                       "activation_beta", "activation_gamma"}));
    if (!sum.empty()) {
        result = to.add("Add", {result, sum});
    }
    to.add(activation->type.c_str(), {result}, to.output(0), activation->attributes);
    return to.take();
}

Nodes expand_fused_conv(Expansion& to) {
    return with_activation(to, "Conv", {to.input(0), to.input(1), to.input(2)}, to.input(3));
}

Nodes expand_fused_gemm(Expansion& to) {
    return with_activation(to, "Gemm", {to.input(0), to.input(1), to.input(2)}, "");
}

/// With the last two dimensions transposed.
core::Result<std::string> transposed_factor(Expansion& to, int index, const char* attribute) {
    if (to.integer_of(attribute, 0) == 0) {
        return to.input(index);
    }
    const OnnxTensor* factor = to.known(index);
    if (factor == nullptr || factor->sizes.size() < 2) {
        return core::fail("a factor is not a matrix");
    }
    std::vector<std::int64_t> order;
    for (std::size_t d = 0; d < factor->sizes.size(); ++d) {
        order.push_back(static_cast<std::int64_t>(d));
    }
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return to.add("Transpose", {to.input(index)}, "", {integers("perm", order)});
}

/// A product of factors that may be transposed, and scaled. `output` may be empty.
core::Result<std::string> fused_product(Expansion& to, std::string output) {
    if (to.integer_of("transBatchA", 0) != 0 || to.integer_of("transBatchB", 0) != 0) {
        return core::fail("FusedMatMul that moves batches is not mapped");
    }
    const auto a = transposed_factor(to, 0, "transA");
    const auto b = transposed_factor(to, 1, "transB");
    if (!a || !b) {
        return tl::unexpected((a ? b : a).error());
    }
    const float alpha = to.number_of("alpha", 1);
    if (alpha == 1) {
        return to.add("MatMul", {*a, *b}, std::move(output));
    }
    return to.add("Mul", {to.add("MatMul", {*a, *b}), to.number_like(0, alpha)}, std::move(output));
}

Nodes expand_fused_matmul(Expansion& to) {
    if (const auto product = fused_product(to, to.output(0)); !product) {
        return tl::unexpected(product.error());
    }
    return to.take();
}

Nodes expand_activated_matmul(Expansion& to) {
    const auto activation = fused_activation(to);
    const auto product = fused_product(to, "");
    if (!activation || !product) {
        return tl::unexpected(activation ? product.error() : activation.error());
    }
    to.add(activation->type.c_str(), {*product}, to.output(0), activation->attributes);
    return to.take();
}

Nodes expand_plain_gelu(Expansion& to) {
    to.add("Gelu", {to.input(0)}, to.output(0));
    return to.take();
}

Nodes expand_bias_gelu(Expansion& to) {
    to.add("Gelu", {to.add("Add", {to.input(0), to.input(1)})}, to.output(0));
    return to.take();
}

/// The left half of the last dimension, times Gelu of the right one.
Nodes expand_bias_split_gelu(Expansion& to) {
    const OnnxTensor* data = to.known(0);
    if (data == nullptr || data->sizes.empty() || data->sizes.back() % 2 != 0) {
        return core::fail("its last dimension has no two halves");
    }
    const auto last = static_cast<std::int64_t>(data->sizes.size()) - 1;
    const std::int64_t half = data->sizes.back() / 2;
    const std::string sum = to.add("Add", {to.input(0), to.input(1)});
    const std::string right = to.add("Gelu", {to.slice(sum, last, half, 2 * half)});
    to.add("Mul", {to.slice(sum, last, 0, half), right}, to.output(0));
    return to.take();
}

Nodes expand_bias_add(Expansion& to) {
    to.add("Add", {to.add("Add", {to.input(0), to.input(1)}), to.input(2)}, to.output(0));
    return to.take();
}

Nodes expand_fast_gelu(Expansion& to) {
    const std::string data = to.input(1).empty() ? to.input(0) : to.add("Add", {to.input(0), to.input(1)});
    onnx::AttributeProto approximate;
    approximate.name.set("approximate");
    approximate.s.set("tanh");
    to.add("Gelu", {data}, to.output(0), {approximate});
    return to.take();
}

Nodes expand_quick_gelu(Expansion& to) {
    const std::string scaled = to.add("Mul", {to.input(0), to.number_like(0, to.number_of("alpha", 1.702F))});
    to.add("Mul", {to.input(0), to.add("Sigmoid", {scaled})}, to.output(0));
    return to.take();
}

/// Outputs 1 and 2 are for training; output 3 is the sum before the normalisation.
Nodes expand_skip_normalisation(Expansion& to, const char* normalisation, int gamma, int beta, int bias) {
    if (!to.output(1).empty() || !to.output(2).empty()) {
        return core::fail("its mean and variance are not mapped");
    }
    const bool biased = !to.input(bias).empty();
    std::string sum = to.add("Add", {to.input(0), to.input(1)}, biased ? "" : to.output(3));
    if (biased) {
        sum = to.add("Add", {sum, to.input(bias)}, to.output(3));
    }
    std::vector<std::string> inputs{sum, to.input(gamma)};
    if (beta >= 0 && !to.input(beta).empty()) {
        inputs.push_back(to.input(beta));
    }
    to.add(normalisation, inputs, to.output(0), to.attributes_without({}));
    return to.take();
}

Nodes expand_skip_layer(Expansion& to) {
    return expand_skip_normalisation(to, "LayerNormalization", 2, 3, 4);
}

Nodes expand_skip_simplified(Expansion& to) {
    return expand_skip_normalisation(to, "RMSNormalization", 2, -1, 3);
}

Nodes expand_microsoft_rms(Expansion& to) {
    to.add("RMSNormalization", {to.input(0), to.input(1)}, to.output(0), to.attributes_without({"stash_type"}));
    return to.take();
}

std::string dequantised(Expansion& to, int first) {
    std::vector<std::string> inputs{to.input(first), to.input(first + 1)};
    if (!to.input(first + 2).empty()) {
        inputs.push_back(to.input(first + 2));
    }
    return to.add("DequantizeLinear", inputs);
}

void quantise(Expansion& to, const std::string& data, int scale) {
    std::vector<std::string> inputs{data, to.input(scale)};
    if (!to.input(scale + 1).empty()) {
        inputs.push_back(to.input(scale + 1));
    }
    to.add("QuantizeLinear", inputs, to.output(0));
}

Nodes expand_quantised_pair(Expansion& to) {
    const char* type = to.node().op_type() == "QLinearAdd" ? "Add" : "Mul";
    const std::string a = dequantised(to, 0);
    const std::string b = dequantised(to, 3);
    quantise(to, to.add(type, {a, b}), 6);
    return to.take();
}

/// The node without "QLinear", applied to real numbers.
Nodes expand_quantised_single(Expansion& to) {
    if (to.integer_of("channels_last", 0) != 0) {
        return core::fail("channels_last is not mapped");
    }
    const std::string type = to.node().op_type().substr(std::string_view("QLinear").size());
    const std::string data = dequantised(to, 0);
    quantise(to, to.add(type.c_str(), {data}, "", to.attributes_without({"channels_last"})), 3);
    return to.take();
}

Nodes expand_quantised_concat(Expansion& to) {
    std::vector<std::string> parts;
    for (int i = 2; i + 2 < to.node().input.size(); i += 3) {
        parts.push_back(dequantised(to, i));
    }
    quantise(to, to.add("Concat", parts, "", to.attributes_without({})), 0);
    return to.take();
}

/// Converts integer products to real numbers by their scales, and adds a bias.
void scale_product(Expansion& to, const std::vector<std::string>& factors, const std::string& scale,
                   const std::string& bias) {
    onnx::AttributeProto type = integer("to", onnx_float);
    const std::string sum = to.add("Cast", {to.add("MatMulInteger", factors)}, "", {type});
    if (bias.empty()) {
        to.add("Mul", {sum, scale}, to.output(0));
    } else {
        to.add("Add", {to.add("Mul", {sum, scale}), bias}, to.output(0));
    }
}

Nodes expand_integers_to_float(Expansion& to) {
    const std::string scale = to.add("Mul", {to.input(2), to.input(3)});
    scale_product(to, {to.input(0), to.input(1), to.input(4), to.input(5)}, scale, to.input(6));
    return to.take();
}

Nodes expand_dynamic_matmul(Expansion& to) {
    const std::vector<std::string> data = to.add_dynamic_quantisation(to.input(0));
    const std::string scale = to.add("Mul", {data[1], to.input(2)});
    scale_product(to, {data[0], to.input(1), data[2], to.input(3)}, scale, to.input(4));
    return to.take();
}

std::string moved_channels(Expansion& to, const std::string& data, std::size_t rank, bool to_last,
                           std::string output = "") {
    std::vector<std::int64_t> order{0};
    if (!to_last) {
        order.push_back(static_cast<std::int64_t>(rank) - 1);
    }
    for (std::size_t d = 1; d + 1 < rank; ++d) {
        order.push_back(static_cast<std::int64_t>(to_last ? d + 1 : d));
    }
    if (to_last) {
        order.push_back(1);
    }
    return to.add("Transpose", {data}, std::move(output), {integers("perm", order)});
}

Nodes expand_nhwc_conv(Expansion& to) {
    const OnnxTensor* data = to.known(0);
    if (data == nullptr || data->sizes.size() < 3) {
        return core::fail("it has no data with spatial dimensions");
    }
    const std::size_t rank = data->sizes.size();
    const std::string input = moved_channels(to, to.input(0), rank, false);
    const std::string filter = moved_channels(to, to.input(1), rank, false);
    const std::string result = to.add("Conv", {input, filter, to.input(2)}, "", to.attributes_without({}));
    moved_channels(to, result, rank, true, to.output(0));
    return to.take();
}

/// Normalises the tensor `input`, whose sizes are those of the first input.
Nodes normalise_groups(Expansion& to, std::string input) {
    const OnnxTensor* data = to.known(0);
    if (data == nullptr || data->sizes.size() < 3) {
        return core::fail("it has no data with spatial dimensions");
    }
    const std::size_t rank = data->sizes.size();
    const bool last = to.integer_of("channels_last", 1) != 0;
    const bool swish = to.integer_of("activation", 0) != 0;
    input = last ? moved_channels(to, input, rank, false) : input;
    std::string result =
        to.add("GroupNormalization", {input, to.input(1), to.input(2)}, swish || last ? "" : to.output(0),
               {integer("num_groups", to.integer_of("groups", 1)),
                number_attribute("epsilon", to.number_of("epsilon", 1e-5F))});
    if (swish) {
        result = to.add("Mul", {result, to.add("Sigmoid", {result})}, last ? "" : to.output(0));
    }
    if (last) {
        moved_channels(to, result, rank, true, to.output(0));
    }
    return to.take();
}

Nodes expand_group_norm(Expansion& to) {
    return normalise_groups(to, to.input(0));
}

/// `skip`, which may be one image's or one pixel's, and a bias are added first. Output 1 is that sum.
Nodes expand_skip_group_norm(Expansion& to) {
    const OnnxTensor* data = to.known(0);
    const OnnxTensor* skip = to.known(3);
    if (data == nullptr || skip == nullptr || to.integer_of("channels_last", 1) == 0 || skip->sizes.size() < 2) {
        return core::fail("SkipGroupNorm without channels in the last dimension is not mapped");
    }
    std::string added = to.input(3);
    if (skip->sizes.size() == 2) {
        std::vector<std::int64_t> sizes(data->sizes.size(), 1);
        sizes.front() = skip->sizes[0];
        sizes.back() = skip->sizes[1];
        added = to.reshape(added, sizes);
    }
    const bool biased = !to.input(4).empty();
    std::string sum = to.add("Add", {to.input(0), added}, biased ? "" : to.output(1));
    if (biased) {
        sum = to.add("Add", {sum, to.input(4)}, to.output(1));
    }
    return normalise_groups(to, sum);
}

/// Rows of embeddings for words, positions and segments are added and normalised. Output 1 counts the words of each
/// batch that the mask leaves, output 2 is the sum before the normalisation.
Nodes expand_embed_layer(Expansion& to) {
    enum Input { words, segments, word_rows, position_rows, segment_rows, gamma, beta, mask, positions };
    const OnnxTensor* data = to.known(words);
    if (data == nullptr || data->sizes.size() != 2) {
        return core::fail("it has no words of two dimensions");
    }
    std::string sum = to.add("Gather", {to.input(word_rows), to.input(words)});
    const std::string of_positions = to.input(positions).empty()
                                         ? to.slice(to.input(position_rows), 0, 0, data->sizes[1])
                                         : to.add("Gather", {to.input(position_rows), to.input(positions)});
    const bool has_segments = !to.input(segments).empty() && !to.input(segment_rows).empty();
    sum = to.add("Add", {sum, of_positions}, has_segments ? "" : to.output(2));
    if (has_segments) {
        sum = to.add("Add", {sum, to.add("Gather", {to.input(segment_rows), to.input(segments)})}, to.output(2));
    }
    to.add("LayerNormalization", {sum, to.input(gamma), to.input(beta)}, to.output(0),
           {number_attribute("epsilon", to.number_of("epsilon", 1e-12F))});
    if (!to.output(1).empty() && !to.input(mask).empty()) {
        to.add("ReduceSum", {to.input(mask)}, to.output(1), {integers("axes", {1}), integer("keepdims", 0)});
    } else if (!to.output(1).empty()) {
        onnx::TensorProto zero;
        zero.data_type.set(onnx_int32);
        zero.dims.add(1);
        zero.int32_data.add(0);
        to.add("ConstantOfShape", {to.whole_number(data->sizes[0])}, to.output(1), {value(zero)});
    }
    return to.take();
}

/// The product of quantised factors plus a bias of INT32, quantised again if there is a scale for it.
Nodes expand_quantised_gemm(Expansion& to) {
    enum Input { a, a_scale, a_zero, b, b_scale, b_zero, bias, scale, zero };
    std::string factors[2];
    for (const auto& [index, attribute] : {std::pair(+a, "transA"), std::pair(+b, "transB")}) {
        const auto factor = transposed_factor(to, index, attribute);
        if (!factor) {
            return tl::unexpected(factor.error());
        }
        factors[index == a ? 0 : 1] = *factor;
    }
    std::string sum = to.add("MatMulInteger", {factors[0], factors[1], to.input(a_zero), to.input(b_zero)});
    if (!to.input(bias).empty()) {
        sum = to.add("Add", {sum, to.input(bias)});
    }
    std::string scales = to.add("Mul", {to.input(a_scale), to.input(b_scale)});
    if (const float alpha = to.number_of("alpha", 1); alpha != 1) {
        scales = to.add("Mul", {scales, to.number(alpha)});
    }
    const std::string real = to.add("Cast", {sum}, "", {integer("to", onnx_float)});
    const bool is_quantised = !to.input(scale).empty();
    const std::string scaled = to.add("Mul", {real, scales}, is_quantised ? "" : to.output(0));
    if (is_quantised) {
        quantise(to, scaled, scale);
    }
    return to.take();
}

Nodes expand_quantised_where(Expansion& to) {
    const std::string chosen = to.add("Where", {to.input(0), dequantised(to, 1), dequantised(to, 4)});
    quantise(to, chosen, 7);
    return to.take();
}

/// The same as ONNX's node of this name, where this domain has it as well.
Nodes expand_same(Expansion& to) {
    std::vector<std::string> inputs(to.node().input().begin(), to.node().input().end());
    to.add(to.node().op_type().c_str(), inputs, to.output(0), to.attributes_without({}));
    return to.take();
}

}  // namespace

std::span<const ExpansionRow> microsoft_expansions() {
    static constexpr ExpansionRow rows[] = {
        {"Attention", expand_microsoft_attention},
        {"BiasAdd", expand_bias_add},
        {"BiasGelu", expand_bias_gelu},
        {"BiasSplitGelu", expand_bias_split_gelu},
        {"DequantizeLinear", expand_same},
        {"DynamicQuantizeMatMul", expand_dynamic_matmul},
        {"EmbedLayerNormalization", expand_embed_layer},
        {"FastGelu", expand_fast_gelu},
        {"FusedConv", expand_fused_conv},
        {"FusedGemm", expand_fused_gemm},
        {"FusedMatMul", expand_fused_matmul},
        {"FusedMatMulActivation", expand_activated_matmul},
        {"Gelu", expand_plain_gelu},
        {"GroupNorm", expand_group_norm},
        {"GroupQueryAttention", expand_group_query_attention, "of sequences that are as long as their tensors"},
        {"MatMulIntegerToFloat", expand_integers_to_float},
        {"MatMulNBits", expand_packed_product, "of four bits"},
        {"MultiHeadAttention", expand_multi_head_attention},
        {"NhwcConv", expand_nhwc_conv},
        {"QAttention", expand_quantised_attention},
        {"QGemm", expand_quantised_gemm},
        {"QLinearAdd", expand_quantised_pair},
        {"QLinearAveragePool", expand_quantised_single},
        {"QLinearConcat", expand_quantised_concat},
        {"QLinearGlobalAveragePool", expand_quantised_single},
        {"QLinearLeakyRelu", expand_quantised_single},
        {"QLinearMul", expand_quantised_pair},
        {"QLinearSigmoid", expand_quantised_single},
        {"QLinearSoftmax", expand_quantised_single},
        {"QLinearWhere", expand_quantised_where},
        {"QuantizeLinear", expand_same},
        {"QuickGelu", expand_quick_gelu},
        {"RotaryEmbedding", expand_microsoft_rotary_embedding},
        {"SimplifiedLayerNormalization", expand_microsoft_rms},
        {"SkipGroupNorm", expand_skip_group_norm},
        {"SkipLayerNormalization", expand_skip_layer},
        {"SkipSimplifiedLayerNormalization", expand_skip_simplified},
        {"TransposeMatMul", expand_fused_matmul},
    };
    return rows;
}

}  // namespace dmlconform::interop::expansion
