// Operators that ONNX Runtime's optimiser and quantiser put into models, as docs/ContribOperators.md of ONNX Runtime
// describes them.
#include <cmath>

#include "engine/interop/onnx_expansion_steps.h"

namespace dmlconform::interop::expansion {
namespace {

/// A fused activation with its attributes; empty if it is unknown.
struct FusedActivation {
    std::string type;
    Attributes attributes;
};

core::Result<FusedActivation> fused_activation(const Expansion& to) {
    const onnx::AttributeProto* written = to.attribute("activation");
    const std::string type = written == nullptr ? "" : written->s();
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

Nodes expand_fused_matmul(Expansion& to) {
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
        to.add("MatMul", {*a, *b}, to.output(0));
    } else {
        to.add("Mul", {to.add("MatMul", {*a, *b}), to.number_like(0, alpha)}, to.output(0));
    }
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

Nodes expand_group_norm(Expansion& to) {
    const OnnxTensor* data = to.known(0);
    if (data == nullptr || data->sizes.size() < 3) {
        return core::fail("it has no data with spatial dimensions");
    }
    const std::size_t rank = data->sizes.size();
    const bool last = to.integer_of("channels_last", 1) != 0;
    const bool swish = to.integer_of("activation", 0) != 0;
    const std::string input = last ? moved_channels(to, to.input(0), rank, false) : to.input(0);
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

/// Batches, heads, positions, and the remaining dimension.
std::string split_heads(Expansion& to, const std::string& data, const core::Dimensions& sizes, std::int64_t heads) {
    const std::string shape = to.whole_numbers({sizes[0], sizes[1], heads, -1});
    return to.add("Transpose", {to.add("Reshape", {data, shape})}, "", {integers("perm", {0, 2, 1, 3})});
}

/// `bias`, which may be empty, is added to the scores.
void attend(Expansion& to, const std::string& q, const std::string& k, const std::string& v, float scale,
            const core::Dimensions& sizes, const std::string& bias) {
    const std::string keys = to.add("Transpose", {k}, "", {integers("perm", {0, 1, 3, 2})});
    std::string scores = to.add("Mul", {to.add("MatMul", {q, keys}), to.number_like(0, scale)});
    scores = bias.empty() ? scores : to.add("Add", {scores, bias});
    const std::string weights = to.add("Softmax", {scores}, "", {integer("axis", 3)});
    const std::string heads =
        to.add("Transpose", {to.add("MatMul", {weights, v})}, "", {integers("perm", {0, 2, 1, 3})});
    to.add("Reshape", {heads, to.whole_numbers({sizes[0], sizes[1], -1})}, to.output(0));
}

/// True if there are inputs from `first` on besides the additional bias, or outputs besides the first.
bool has_more_inputs(const Expansion& to, int first) {
    constexpr int attention_bias = 5;
    for (int i = first; i < to.node().input.size(); ++i) {
        if (i != attention_bias && !to.input(i).empty()) {
            return true;
        }
    }
    return !to.output(1).empty();
}

Nodes expand_attention(Expansion& to) {
    const OnnxTensor* data = to.known(0);
    const OnnxTensor* weights = to.known(1);
    const std::int64_t heads = to.integer_of("num_heads", 0);
    if (data == nullptr || weights == nullptr || data->sizes.size() != 3 || weights->sizes.size() != 2 || heads < 1 ||
        heads > 0xffff || weights->sizes[1] % (3 * heads) != 0) {
        return core::fail("Attention without data, weights or heads that fit each other");
    }
    const OnnxTensor* mask = to.known(3);
    const bool masked = mask != nullptr && mask->sizes == core::Dimensions{data->sizes[0], data->sizes[1]};
    if (has_more_inputs(to, masked ? 4 : 3) || to.integer_of("unidirectional", 0) != 0 ||
        to.integer_of("do_rotary", 0) != 0 || to.attribute("qkv_hidden_sizes") != nullptr) {
        return core::fail(
            "Attention with another mask than one of positions, with earlier positions, or with hidden sizes of its "
            "own is "
            "not mapped");
    }
    std::string projected = to.add("MatMul", {to.input(0), to.input(1)});
    if (!to.input(2).empty()) {
        projected = to.add("Add", {projected, to.input(2)});
    }
    const std::int64_t hidden = weights->sizes[1] / 3;
    std::vector<std::string> parts;
    for (std::int64_t part = 0; part < 3; ++part) {
        const std::string slice = to.add("Slice", {projected, to.whole_number(part * hidden),
                                                   to.whole_number((part + 1) * hidden), to.whole_number(2)});
        parts.push_back(split_heads(to, slice, data->sizes, heads));
    }
    std::string bias = to.input(5);
    if (masked) {
        const std::string kept = to.add("CastLike", {to.input(3), to.input(0)});
        const std::string lowest = to.number_like(0, to.number_of("mask_filter_value", -10000));
        const std::string dropped = to.add("Mul", {to.add("Sub", {to.number_like(0, 1), kept}), lowest});
        const std::string wide = to.add("Unsqueeze", {dropped, to.whole_numbers({1, 2})});
        bias = bias.empty() ? wide : to.add("Add", {bias, wide});
    }
    const float scale = to.number_of("scale", 0);
    attend(to, parts[0], parts[1], parts[2],
           scale != 0 ? scale : 1 / std::sqrt(static_cast<float>(hidden) / static_cast<float>(heads)), data->sizes,
           bias);
    return to.take();
}

Nodes expand_multi_head_attention(Expansion& to) {
    const OnnxTensor* query = to.known(0);
    const OnnxTensor* key = to.known(1);
    const std::int64_t heads = to.integer_of("num_heads", 0);
    if (query == nullptr || key == nullptr || to.input(2).empty() || query->sizes.size() != 3 ||
        key->sizes.size() != 3 || heads < 1 || heads > 0xffff || query->sizes[2] % heads != 0) {
        return core::fail("MultiHeadAttention is mapped with query, key and value of three dimensions each");
    }
    if (has_more_inputs(to, 4) || to.integer_of("unidirectional", 0) != 0) {
        return core::fail("MultiHeadAttention with a mask or earlier positions is not mapped");
    }
    const float scale = to.number_of("scale", 0);
    const std::int64_t hidden = query->sizes[2];
    std::string projected[3];
    for (int i = 0; i < 3; ++i) {
        projected[i] = to.input(i);
        if (!to.input(3).empty()) {
            const std::string end = to.whole_number(i == 2 ? 0x7fffffff : (i + 1) * hidden);
            const std::string bias = to.add("Slice", {to.input(3), to.whole_number(i * hidden), end});
            projected[i] = to.add("Add", {projected[i], bias});
        }
    }
    const std::string q = split_heads(to, projected[0], query->sizes, heads);
    const std::string k = split_heads(to, projected[1], key->sizes, heads);
    const std::string v = split_heads(to, projected[2], key->sizes, heads);
    attend(to, q, k, v,
           scale != 0 ? scale : 1 / std::sqrt(static_cast<float>(query->sizes[2]) / static_cast<float>(heads)),
           query->sizes, to.input(5));
    return to.take();
}

}  // namespace

std::span<const ExpansionRow> microsoft_expansions() {
    static constexpr ExpansionRow rows[] = {
        {"Attention", expand_attention},
        {"BiasGelu", expand_bias_gelu},
        {"DynamicQuantizeMatMul", expand_dynamic_matmul},
        {"FastGelu", expand_fast_gelu},
        {"FusedConv", expand_fused_conv},
        {"FusedGemm", expand_fused_gemm},
        {"FusedMatMul", expand_fused_matmul},
        {"Gelu", expand_plain_gelu},
        {"GroupNorm", expand_group_norm},
        {"MatMulIntegerToFloat", expand_integers_to_float},
        {"MatMulNBits", expand_packed_product, "of four bits"},
        {"MultiHeadAttention", expand_multi_head_attention},
        {"NhwcConv", expand_nhwc_conv},
        {"QLinearAdd", expand_quantised_pair},
        {"QLinearAveragePool", expand_quantised_single},
        {"QLinearConcat", expand_quantised_concat},
        {"QLinearGlobalAveragePool", expand_quantised_single},
        {"QLinearLeakyRelu", expand_quantised_single},
        {"QLinearMul", expand_quantised_pair},
        {"QLinearSigmoid", expand_quantised_single},
        {"QLinearSoftmax", expand_quantised_single},
        {"QuickGelu", expand_quick_gelu},
        {"SimplifiedLayerNormalization", expand_microsoft_rms},
        {"SkipLayerNormalization", expand_skip_layer},
        {"SkipSimplifiedLayerNormalization", expand_skip_simplified},
    };
    return rows;
}

}  // namespace dmlconform::interop::expansion
