// Helpers for writing expansions: append nodes with their own names and constants.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/element.h"
#include "engine/interop/model/node_access.h"
#include "engine/interop/onnx_expansion.h"
#include "engine/interop/onnx_node.h"

namespace dmlconform::interop::expansion {

using Nodes = core::Result<std::vector<onnx::NodeProto>>;
using Attributes = std::vector<onnx::AttributeProto>;

inline constexpr int onnx_float = 1;
inline constexpr int onnx_int32 = 6;
inline constexpr int onnx_int64 = 7;
inline constexpr int onnx_bool = 9;

inline onnx::AttributeProto integer(const char* name, std::int64_t value) {
    onnx::AttributeProto attribute;
    attribute.name.set(name);
    attribute.i.set(value);
    return attribute;
}

inline onnx::AttributeProto integers(const char* name, const std::vector<std::int64_t>& values) {
    onnx::AttributeProto attribute;
    attribute.name.set(name);
    attribute.ints.append(values.begin(), values.end());
    return attribute;
}

inline onnx::AttributeProto number_attribute(const char* name, float number) {
    onnx::AttributeProto attribute;
    attribute.name.set(name);
    attribute.f.set(number);
    return attribute;
}

inline onnx::AttributeProto value(const onnx::TensorProto& tensor) {
    onnx::AttributeProto attribute;
    attribute.name.set("value");
    attribute.t.edit() = tensor;
    return attribute;
}

/// Collects consecutive nodes.
class Expansion {
public:
    Expansion(const onnx::NodeProto& node, std::int64_t opset, std::size_t number, const KnownTensor& known)
        : node_(node), opset_(opset), number_(number), known_(known) {}

    [[nodiscard]] const onnx::NodeProto& node() const { return node_; }
    [[nodiscard]] std::int64_t opset() const { return opset_; }
    /// Empty if it is absent.
    [[nodiscard]] std::string input(int index) const { return index < node_.input.size() ? node_.input(index) : ""; }
    [[nodiscard]] std::string output(int index) const { return index < node_.output.size() ? node_.output(index) : ""; }
    [[nodiscard]] const OnnxTensor* known(int index) const { return known_(input(index)); }
    [[nodiscard]] const onnx::AttributeProto* attribute(std::string_view name) const {
        return attribute_of(node_, name);
    }

    /// Adds a node with one output called `output`, or with a generated name. Returns the name.
    std::string add(const char* type, const std::vector<std::string>& inputs, std::string output = "",
                    const Attributes& attributes = {}) {
        onnx::NodeProto& added = nodes_.emplace_back();
        added.op_type.set(type);
        for (const std::string& name : inputs) {
            added.input.add(name);
        }
        // A name that cannot occur in a model, because ONNX's names are identifiers.
        output = output.empty() ? fmt::format("#{}.{}", number_, nodes_.size()) : output;
        added.output.add(output);
        for (const onnx::AttributeProto& attribute : attributes) {
            added.attribute.add(attribute);
        }
        return output;
    }

    /// Returns data, scale and zero point.
    std::vector<std::string> add_dynamic_quantisation(const std::string& data) {
        std::vector<std::string> names{add("DynamicQuantizeLinear", {data})};
        for (const char* part : {"scale", "zero"}) {
            names.push_back(fmt::format("{}.{}", names.front(), part));
            nodes_.back().output.add(names.back());
        }
        return names;
    }

    std::string whole_number(std::int64_t number) {
        onnx::TensorProto tensor;
        tensor.data_type.set(onnx_int64);
        tensor.dims.add(1);
        tensor.int64_data.add(number);
        return add("Constant", {}, "", {value(tensor)});
    }

    std::string number(float number) {
        onnx::TensorProto tensor;
        tensor.data_type.set(onnx_float);
        tensor.dims.add(1);
        tensor.float_data.add(number);
        return add("Constant", {}, "", {value(tensor)});
    }
    /// A number in the type of an input, which must represent it; FLOAT if the type is unknown.
    std::string number_like(int index, float given) {
        const OnnxTensor* like = known(index);
        const auto bits = like == nullptr ? core::fail("") : core::encode_element(like->type, double{given});
        if (!bits) {
            return number(given);
        }
        onnx::TensorProto tensor;
        tensor.data_type.set(onnx_number(like->type));
        tensor.dims.add(1);
        std::vector<std::byte> element(static_cast<std::size_t>(core::bytes_of(like->type, 1)));
        core::store_element(element, like->type, 0, *bits);
        tensor.raw_data.set(element);
        return add("Constant", {}, "", {value(tensor)});
    }

    std::string whole_numbers(const std::vector<std::int64_t>& numbers) {
        return whole_numbers({static_cast<std::int64_t>(numbers.size())}, numbers);
    }
    std::string whole_numbers(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& numbers) {
        onnx::TensorProto tensor;
        tensor.data_type.set(onnx_int64);
        tensor.dims.append(sizes.begin(), sizes.end());
        tensor.int64_data.append(numbers.begin(), numbers.end());
        return add("Constant", {}, "", {value(tensor)});
    }

    /// The elements from `first` up to `end` along the axis, or every second one of them.
    std::string slice(const std::string& data, std::int64_t axis, std::int64_t first, std::int64_t end,
                      std::int64_t step = 1) {
        return add("Slice", {data, whole_number(first), whole_number(end), whole_number(axis), whole_number(step)});
    }
    std::string reshape(const std::string& data, const std::vector<std::int64_t>& sizes, std::string output = "") {
        return add("Reshape", {data, whole_numbers(sizes)}, std::move(output));
    }

    /// The value of the attribute; `otherwise` if it is absent.
    [[nodiscard]] std::int64_t integer_of(std::string_view name, std::int64_t otherwise) const {
        const onnx::AttributeProto* found = attribute(name);
        return found == nullptr ? otherwise : found->i();
    }
    [[nodiscard]] float number_of(std::string_view name, float otherwise) const {
        const onnx::AttributeProto* found = attribute(name);
        return found == nullptr ? otherwise : found->f();
    }
    [[nodiscard]] std::string text_of(std::string_view name, const char* otherwise) const {
        const onnx::AttributeProto* found = attribute(name);
        return found == nullptr ? otherwise : found->s();
    }
    /// The list; empty if it is absent.
    [[nodiscard]] std::vector<std::int64_t> integers_of(std::string_view name) const {
        const onnx::AttributeProto* found = attribute(name);
        return found == nullptr ? std::vector<std::int64_t>() : found->ints();
    }
    /// The node's attributes except these.
    [[nodiscard]] Attributes attributes_without(std::initializer_list<std::string_view> names) const {
        Attributes kept;
        for (const onnx::AttributeProto& one : node_.attribute()) {
            if (std::find(names.begin(), names.end(), one.name()) == names.end()) {
                kept.push_back(one);
            }
        }
        return kept;
    }

    [[nodiscard]] Nodes take() { return std::move(nodes_); }

private:
    const onnx::NodeProto& node_;
    std::int64_t opset_;
    std::size_t number_;
    const KnownTensor& known_;
    std::vector<onnx::NodeProto> nodes_;
};

/// For a node that needs no expansion.
[[nodiscard]] inline Nodes unchanged(const Expansion& to) {
    return std::vector{to.node()};
}

using Expand = Nodes (*)(Expansion&);
/// An operator whose nodes are expanded, at least some of them.
struct ExpansionRow {
    std::string_view type;
    Expand expand = nullptr;
    /// What becomes of which nodes, for the documentation.
    std::string_view remark = {};
};
/// The type of a node that only an expansion makes: its output is a constant of bytes, read as a list of UINT4. The
/// first of two elements is the lower half of a byte.
inline constexpr const char* two_of_each_byte = "#TwoOfEachByte";

/// Operators that ONNX Runtime adds to ONNX (com.microsoft).
[[nodiscard]] std::span<const ExpansionRow> microsoft_expansions();
/// ONNX nodes that need products and element-wise operators because of their sizes or types.
[[nodiscard]] std::span<const ExpansionRow> composed_expansions();

[[nodiscard]] Nodes expand_resize(Expansion& to);
[[nodiscard]] Nodes expand_adagrad(Expansion& to);
[[nodiscard]] Nodes expand_adam(Expansion& to);
[[nodiscard]] Nodes expand_determinant(Expansion& to);
[[nodiscard]] Nodes expand_einsum(Expansion& to);
/// TfIdfVectorizer of integers.
[[nodiscard]] Nodes expand_gram_counts(Expansion& to);
[[nodiscard]] Nodes expand_momentum(Expansion& to);
[[nodiscard]] Nodes expand_fourier_transform(Expansion& to);
[[nodiscard]] Nodes expand_short_time_transform(Expansion& to);
[[nodiscard]] Nodes expand_grid_sample(Expansion& to);
[[nodiscard]] Nodes expand_affine_grid(Expansion& to);
[[nodiscard]] Nodes expand_center_crop_pad(Expansion& to);
[[nodiscard]] Nodes expand_scatter_elements(Expansion& to);
[[nodiscard]] Nodes expand_scatter_nd(Expansion& to);
/// HannWindow, HammingWindow and BlackmanWindow.
[[nodiscard]] Nodes expand_signal_window(Expansion& to);
[[nodiscard]] Nodes expand_packed_product(Expansion& to);

/// ONNX's own; the others are com.microsoft's.
[[nodiscard]] Nodes expand_attention(Expansion& to);
[[nodiscard]] Nodes expand_microsoft_attention(Expansion& to);
[[nodiscard]] Nodes expand_quantised_attention(Expansion& to);
[[nodiscard]] Nodes expand_multi_head_attention(Expansion& to);
[[nodiscard]] Nodes expand_group_query_attention(Expansion& to);
[[nodiscard]] Nodes expand_rotary_embedding(Expansion& to);
[[nodiscard]] Nodes expand_microsoft_rotary_embedding(Expansion& to);

}  // namespace dmlconform::interop::expansion
