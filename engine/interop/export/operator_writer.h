// What is written for one operator: its tensors as values of a model, and the table of operators.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/interop/export/model_writer.h"
#include "engine/operators/descriptor.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::interop::exporting {

/// An input tensor of an operator.
struct Operand {
    /// Without repeated elements: broadcast dimensions, whose stride is 0, have the size 1.
    Value compact;
    /// The sizes that the operator sees.
    core::Dimensions sizes;
};

class OperatorWriter {
public:
    OperatorWriter(ModelWriter& to, const operators::Descriptor& descriptor, std::vector<std::optional<Operand>> inputs)
        : w(to), desc(descriptor), inputs_(std::move(inputs)), outputs_(descriptor.outputs().size()) {}

    ModelWriter& w;
    const operators::Descriptor& desc;

    [[nodiscard]] bool has(std::string_view input) const;
    /// With the sizes that the descriptor says; absent if the tensor is.
    Value in(std::string_view name);
    /// Without copies of elements along broadcast dimensions.
    [[nodiscard]] Value compact(std::string_view name) const;
    /// The same as FLOAT32 if it is FLOAT16: for what several nodes compute, each of which would round.
    Value precise(std::string_view name);

    /// The descriptor's tensor, which is there.
    [[nodiscard]] const core::TensorDesc& tensor(std::string_view name) const;
    [[nodiscard]] const core::Dimensions& sizes(std::string_view name) const { return tensor(name).sizes; }
    [[nodiscard]] int type(std::string_view name) const;
    [[nodiscard]] bool wants(std::string_view output) const;

    /// The value is the operator's output: with the sizes and the type that the descriptor says.
    void out(std::string_view name, const Value& value);
    [[nodiscard]] const std::vector<std::optional<Value>>& outputs() const { return outputs_; }

    [[nodiscard]] std::uint32_t uint(std::string_view field) const { return desc.uint(field); }
    template <class Enumerators>
    [[nodiscard]] Enumerators enumerator(std::string_view field) const {
        return operators::enumerator<Enumerators>(desc, field);
    }
    [[nodiscard]] float number(std::string_view field) const { return desc.number(field); }
    [[nodiscard]] Numbers numbers(std::string_view field) const { return numbers_of(desc.uints(field)); }

    /// A list with an entry for each spatial dimension: the last `count` ones.
    [[nodiscard]] Numbers spatial(std::string_view field, std::size_t count) const;

    void fail(std::string reason) { w.fail(std::move(reason)); }

private:
    [[nodiscard]] std::optional<std::size_t> input_index(std::string_view name) const;

    std::vector<std::optional<Operand>> inputs_;
    std::vector<std::optional<Value>> outputs_;
};

/// What an operator of one input and one output computes, or a fused activation, whose descriptor has no tensors.
using Function = Value (*)(ModelWriter& w, const operators::Descriptor& desc, const Value& x);

struct OperatorExport {
    /// "ELEMENT_WISE_ADD"
    std::string_view name;
    /// One of these three.
    void (*write)(OperatorWriter& to) = nullptr;
    Function function = nullptr;
    /// Why ONNX cannot express it at all.
    const char* reason = nullptr;
    /// Several nodes for one function, which are computed with FLOAT32 where tensors are FLOAT16.
    bool is_composed = false;
};

/// Null if the catalogue has no such operator.
[[nodiscard]] const OperatorExport* find_export(std::string_view operator_name);

/// Writes a function with the conversions that it needs.
Value write_function(ModelWriter& w, const OperatorExport& row, const operators::Descriptor& desc, const Value& x);

/// The axes that the descriptor lists, each of them once, in the order of dimensions.
[[nodiscard]] Numbers axes_of(const operators::Descriptor& desc);

/// The value after the field's fused activation; the value itself if there is no activation.
Value activated(OperatorWriter& to, const Value& x, std::string_view field = "FusedActivation");

/// An attribute as an element of the type: integers truncate it and clamp it to their range, as CAST does.
Value attribute_scalar(ModelWriter& w, int type, double number);
/// A scalar union as an element of the type.
Value union_scalar(OperatorWriter& to, std::string_view field, int type);

/// Numbers beyond the range of the integer type become the nearest one that it has.
Value within_range(ModelWriter& w, const Value& x, int type);

/// Each element x * Scale + Bias, where a descriptor has DML_SCALE_BIAS that changes anything.
Value scaled(ModelWriter& w, const operators::Descriptor& desc, const Value& x);

/// The averages of the descriptor's windows, one for each element of a tensor of the sizes.
Value average_of(OperatorWriter& to, const Value& x, const core::Dimensions& sizes);
/// Whether padding does not count, and one of the descriptor's windows has nothing but padding.
[[nodiscard]] bool has_empty_window(OperatorWriter& to);

[[nodiscard]] std::span<const OperatorExport> element_wise_exports();
[[nodiscard]] std::span<const OperatorExport> activation_exports();
[[nodiscard]] std::span<const OperatorExport> bit_exports();
[[nodiscard]] std::span<const OperatorExport> product_exports();
[[nodiscard]] std::span<const OperatorExport> movement_exports();
[[nodiscard]] std::span<const OperatorExport> reduction_exports();
[[nodiscard]] std::span<const OperatorExport> normalisation_exports();
[[nodiscard]] std::span<const OperatorExport> window_exports();
[[nodiscard]] std::span<const OperatorExport> quantised_exports();
[[nodiscard]] std::span<const OperatorExport> recurrent_exports();
[[nodiscard]] std::span<const OperatorExport> resampling_exports();
[[nodiscard]] std::span<const OperatorExport> attention_exports();

}  // namespace dmlconform::interop::exporting
