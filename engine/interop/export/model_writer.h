// Writes the nodes of an ONNX model one after the other, and knows type and sizes of every value.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/data_type.h"
#include "engine/core/error.h"
#include "engine/core/tensor_desc.h"
#include "engine/interop/onnx_messages.h"

namespace dmlconform::interop::exporting {

/// TensorProto.DataType of the types that mappings ask for.
enum OnnxType : int {
    onnx_float32 = 1,
    onnx_uint8 = 2,
    onnx_int8 = 3,
    onnx_uint16 = 4,
    onnx_int16 = 5,
    onnx_int32 = 6,
    onnx_int64 = 7,
    onnx_bool = 9,
    onnx_float16 = 10,
    onnx_float64 = 11,
    onnx_uint32 = 12,
    onnx_uint64 = 13,
};

using Numbers = std::vector<std::int64_t>;

/// A value of the model. Without a name, it is absent.
struct Value {
    std::string name;
    int type = 0;
    /// A scalar has none.
    core::Dimensions sizes;

    [[nodiscard]] bool is_absent() const { return name.empty(); }
    [[nodiscard]] std::size_t rank() const { return sizes.size(); }
    [[nodiscard]] std::uint64_t count() const { return *core::element_count(sizes); }
};

/// Whether this is one of ONNX's floating-point types.
[[nodiscard]] bool is_real(int type);
/// Whether the node takes the type as that input. `input` may be beyond the last one of a variadic node.
[[nodiscard]] bool takes_type(std::string_view node, std::int64_t opset, std::size_t input, int type);
/// DirectML's name of the type, or "BOOL".
[[nodiscard]] std::string type_name(int type);

[[nodiscard]] onnx::AttributeProto attribute(const char* name, std::int64_t value);
[[nodiscard]] onnx::AttributeProto attribute(const char* name, float value);
[[nodiscard]] onnx::AttributeProto attribute(const char* name, const char* value);
[[nodiscard]] onnx::AttributeProto attribute(const char* name, const Numbers& values);
[[nodiscard]] onnx::AttributeProto attribute(const char* name, const std::vector<float>& values);
[[nodiscard]] onnx::AttributeProto attribute(const char* name, const std::vector<std::string>& values);

[[nodiscard]] Numbers numbers_of(const std::vector<std::uint32_t>& values);
/// 0, 1, 2, …
[[nodiscard]] Numbers counted(std::size_t count, std::int64_t first = 0);
/// The order that undoes a transposition.
[[nodiscard]] Numbers inverse_of(const Numbers& order);

/// The first thing that ONNX cannot express is kept, and all that is written after it is of no use.
class ModelWriter {
public:
    using Attributes = std::vector<onnx::AttributeProto>;

    explicit ModelWriter(std::int64_t opset) : opset_(opset) {}

    [[nodiscard]] std::int64_t opset() const { return opset_; }

    void fail(std::string reason);
    [[nodiscard]] bool has_failed() const { return !reason_.empty(); }
    [[nodiscard]] const std::string& reason() const { return reason_; }

    /// A node with one output.
    Value node(std::string_view type, const std::vector<Value>& inputs, int result_type, core::Dimensions sizes,
               Attributes attributes = {});
    /// A node with several outputs; one without a type is absent.
    std::vector<Value> node(std::string_view type, const std::vector<Value>& inputs, const std::vector<Value>& outputs,
                            Attributes attributes = {});

    /// An element-wise node: inputs are broadcast, and computed in a wider type where the node does not take theirs.
    /// The result has the type of the first input.
    Value each(std::string_view type, const std::vector<Value>& inputs, Attributes attributes = {});
    /// The same for a node whose result is BOOL.
    Value test(std::string_view type, const std::vector<Value>& inputs, Attributes attributes = {});

    Value cast(const Value& value, int type);
    /// An integer's lowest bits as an integer of that type. Engines do not agree on casts to types that are too small.
    Value wrapped(const Value& value, int type);
    Value reshape(const Value& value, const core::Dimensions& sizes);
    Value transpose(const Value& value, const Numbers& order);
    Value expand(const Value& value, const core::Dimensions& sizes);
    Value concat(const std::vector<Value>& values, std::size_t axis);
    /// From `starts` up to `ends` along these axes.
    Value slice(const Value& value, const Numbers& starts, const Numbers& ends, const Numbers& axes,
                const Numbers& steps = {});
    /// Reduced dimensions keep the size 1.
    Value reduce(std::string_view type, const Value& value, const Numbers& axes);
    Value where(const Value& condition, const Value& yes, const Value& no);
    /// Elements of value 0 or `constant` around: first all starts, then all ends.
    Value pad(const Value& value, const Numbers& pads, const Value& constant);
    Value gather(const Value& value, const Value& indices, std::size_t axis);
    Value matmul(const Value& a, const Value& b);

    Value add(const Value& a, const Value& b) { return each("Add", {a, b}); }
    Value sub(const Value& a, const Value& b) { return each("Sub", {a, b}); }
    Value mul(const Value& a, const Value& b) { return each("Mul", {a, b}); }
    Value div(const Value& a, const Value& b) { return each("Div", {a, b}); }

    /// A number of the type; one that the type does not have is rounded.
    Value scalar(int type, double number);
    /// The same, of a value's type.
    Value like(const Value& value, double number) { return scalar(value.type, number); }
    /// An element by its bits.
    Value bits(core::DataType type, std::uint64_t element);
    /// A list of INT64.
    Value list(const Numbers& numbers);
    Value constant(int type, core::Dimensions sizes, std::string elements);
    /// FLOAT32 of these sizes.
    Value reals(core::Dimensions sizes, const std::vector<float>& numbers);
    /// INT64 of these sizes.
    Value integers(core::Dimensions sizes, const Numbers& numbers);

    /// Keeps the name for a tensor of the descriptor.
    void reserve(const std::string& name) { reserved_.insert(name); }

    Value input(const std::string& name, int type, const core::Dimensions& sizes);
    /// Makes the value an output of the model.
    void output(const std::string& name, const Value& value);

    [[nodiscard]] onnx::ModelProto take();

private:
    /// Returns the value, or casts it to a wider type that holds all of its numbers, if the node does not take its
    /// type.
    Value widened(std::string_view type, std::size_t input, const Value& value);
    std::string next_name(char prefix);

    std::int64_t opset_;
    onnx::ModelProto model_;
    std::string reason_;
    std::size_t count_ = 0;
    std::set<std::string> reserved_;
    std::vector<std::pair<std::string, std::string>> renamed_;
};

/// Sizes that all of these are broadcast to.
[[nodiscard]] core::Dimensions broadcast_sizes(const std::vector<Value>& values);

}  // namespace dmlconform::interop::exporting
