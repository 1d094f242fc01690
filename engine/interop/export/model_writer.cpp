// Writes nodes and constants as ONNX's protobuf messages.
#include "engine/interop/export/model_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include "engine/core/element.h"
#include "engine/interop/onnx_tensor.h"

namespace dmlconform::interop::exporting {
namespace {

/// Types that hold all numbers of a type, in the order in which they are tried.
std::vector<int> wider_types(int type) {
    switch (static_cast<core::DataType>(onnx_data_type(type).value_or(core::DataType::unknown))) {
        case core::DataType::int8:
        case core::DataType::int16:
        case core::DataType::uint8:
        case core::DataType::uint16:
            return {onnx_int32, onnx_int64};
        case core::DataType::int32:
        case core::DataType::uint32:
            return {onnx_int64};
        case core::DataType::float16:
            return {onnx_float32};
        default:
            return {};
    }
}

/// The core type of a value that is not BOOL.
core::DataType core_type(int type) {
    return type == onnx_bool ? core::DataType::uint8 : onnx_data_type(type).value_or(core::DataType::unknown);
}

/// The version of ONNX's format that came with the opset.
std::int64_t format_version(std::int64_t opset) {
    return opset < 15 ? 7 : opset < 19 ? 8 : opset < 21 ? 9 : 10;
}

void set_shape(onnx::ValueInfoProto& info, int type, const core::Dimensions& sizes) {
    onnx::TensorTypeProto& tensor = info.type.edit().tensor_type.edit();
    tensor.elem_type.set(type);
    tensor.shape.edit();
    for (const std::uint32_t size : sizes) {
        tensor.shape.edit().dim.add().dim_value.set(size);
    }
}

/// Values of AttributeProto.type.
enum AttributeType : int {
    type_float = 1,
    type_int = 2,
    type_string = 3,
    type_floats = 6,
    type_ints = 7,
    type_strings = 8
};

onnx::AttributeProto named(const char* name, AttributeType type) {
    onnx::AttributeProto made;
    made.name.set(name);
    made.type.set(type);
    return made;
}

}  // namespace

bool is_real(int type) {
    return type == onnx_float16 || type == onnx_float32 || type == onnx_float64;
}

std::string type_name(int type) {
    return type == onnx_bool ? "BOOL" : std::string(core::name(core_type(type)));
}

onnx::AttributeProto attribute(const char* name, std::int64_t value) {
    onnx::AttributeProto made = named(name, type_int);
    made.i.set(value);
    return made;
}

onnx::AttributeProto attribute(const char* name, float value) {
    onnx::AttributeProto made = named(name, type_float);
    made.f.set(value);
    return made;
}

onnx::AttributeProto attribute(const char* name, const char* value) {
    onnx::AttributeProto made = named(name, type_string);
    made.s.set(value);
    return made;
}

onnx::AttributeProto attribute(const char* name, const Numbers& values) {
    onnx::AttributeProto made = named(name, type_ints);
    made.ints.append(values.begin(), values.end());
    return made;
}

onnx::AttributeProto attribute(const char* name, const std::vector<float>& values) {
    onnx::AttributeProto made = named(name, type_floats);
    made.floats.append(values.begin(), values.end());
    return made;
}

onnx::AttributeProto attribute(const char* name, const std::vector<std::string>& values) {
    onnx::AttributeProto made = named(name, type_strings);
    for (const std::string& value : values) {
        made.strings.add(value);
    }
    return made;
}

Numbers numbers_of(const std::vector<std::uint32_t>& values) {
    return {values.begin(), values.end()};
}

Numbers counted(std::size_t count, std::int64_t first) {
    Numbers numbers(count);
    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
}

Numbers inverse_of(const Numbers& order) {
    Numbers inverse(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
    }
    return inverse;
}

core::Dimensions broadcast_sizes(const std::vector<Value>& values) {
    core::Dimensions sizes;
    for (const Value& value : values) {
        sizes.insert(sizes.begin(), std::max(sizes.size(), value.rank()) - sizes.size(), 1);
        const std::size_t first = sizes.size() - value.rank();
        for (std::size_t d = 0; d < value.rank(); ++d) {
            sizes[first + d] = sizes[first + d] == 1 ? value.sizes[d] : sizes[first + d];
        }
    }
    return sizes;
}

std::string ModelWriter::next_name(char prefix) {
    std::string name;
    do {
        name = fmt::format("{}{}", prefix, ++count_);
    } while (reserved_.contains(name));
    return name;
}

void ModelWriter::fail(std::string reason) {
    if (reason_.empty()) {
        reason_ = std::move(reason);
    }
}

std::vector<Value> ModelWriter::node(std::string_view type, const std::vector<Value>& inputs,
                                     const std::vector<Value>& outputs, Attributes attributes) {
    onnx::NodeProto& made = model_.graph.edit().node.add();
    made.op_type.set(std::string(type));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        made.input.add(inputs[i].name);
        if (!inputs[i].is_absent() && !takes_type(type, opset_, i, inputs[i].type)) {
            fail(fmt::format("ONNX's {} does not take {} at opset {}", type, type_name(inputs[i].type), opset_));
        }
    }
    std::vector<Value> results = outputs;
    for (Value& result : results) {
        if (result.type != 0) {
            result.name = next_name('v');
        }
        made.output.add(result.name);
    }
    for (onnx::AttributeProto& one : attributes) {
        made.attribute.add(std::move(one));
    }
    return results;
}

Value ModelWriter::node(std::string_view type, const std::vector<Value>& inputs, int result_type,
                        core::Dimensions sizes, Attributes attributes) {
    return node(type, inputs, std::vector<Value>{{"", result_type, std::move(sizes)}}, std::move(attributes)).front();
}

Value ModelWriter::widened(std::string_view type, std::size_t input, const Value& value) {
    if (value.is_absent() || takes_type(type, opset_, input, value.type)) {
        return value;
    }
    for (const int wider : wider_types(value.type)) {
        if (takes_type(type, opset_, input, wider)) {
            return cast(value, wider);
        }
    }
    return value;
}

Value ModelWriter::each(std::string_view type, const std::vector<Value>& inputs, Attributes attributes) {
    std::vector<Value> taken;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        taken.push_back(widened(type, i, inputs[i]));
    }
    const Value result = node(type, taken, taken.front().type, broadcast_sizes(taken), std::move(attributes));
    constexpr std::array<std::string_view, 5> beyond_operands{"Add", "BitShift", "Mul", "PRelu", "Sub"};
    const bool may_be_beyond = std::ranges::find(beyond_operands, type) != beyond_operands.end();
    return may_be_beyond ? wrapped(result, inputs.front().type) : cast(result, inputs.front().type);
}

Value ModelWriter::test(std::string_view type, const std::vector<Value>& inputs, Attributes attributes) {
    std::vector<Value> taken;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        taken.push_back(widened(type, i, inputs[i]));
    }
    return node(type, taken, onnx_bool, broadcast_sizes(taken), std::move(attributes));
}

Value ModelWriter::cast(const Value& value, int type) {
    return value.type == type ? value : node("Cast", {value}, type, value.sizes, {attribute("to", std::int64_t{type})});
}

Value ModelWriter::wrapped(const Value& value, int type) {
    const bool is_signed = type == onnx_int8 || type == onnx_int16;
    const bool is_byte = type == onnx_int8 || type == onnx_uint8;
    if (value.type == type || is_real(value.type) || !(is_signed || is_byte || type == onnx_uint16)) {
        return cast(value, type);
    }
    const bool is_long = value.type == onnx_int64 || value.type == onnx_uint64 || value.type == onnx_uint32;
    const double numbers = is_byte ? 0x1p8 : 0x1p16;
    const double least = is_signed ? -numbers / 2 : 0;
    const auto compute = [&](std::string_view node_type, const Value& x, double by) {
        return by == 0 ? x : node(node_type, {x, like(x, by)}, x.type, x.sizes);
    };
    const Value wide = cast(value, is_long ? onnx_int64 : onnx_int32);
    return cast(compute("Add", compute("Mod", compute("Sub", wide, least), numbers), least), type);
}

Value ModelWriter::reshape(const Value& value, const core::Dimensions& sizes) {
    if (value.sizes == sizes) {
        return value;
    }
    if (value.count() != *core::element_count(sizes)) {
        fail("tensors are seen with other numbers of elements");
    }
    return node("Reshape", {value, list(numbers_of(sizes))}, value.type, sizes);
}

Value ModelWriter::transpose(const Value& value, const Numbers& order) {
    if (std::is_sorted(order.begin(), order.end())) {
        return value;
    }
    core::Dimensions sizes;
    for (const std::int64_t d : order) {
        sizes.push_back(value.sizes[static_cast<std::size_t>(d)]);
    }
    return node("Transpose", {value}, value.type, std::move(sizes), {attribute("perm", order)});
}

Value ModelWriter::expand(const Value& value, const core::Dimensions& sizes) {
    return value.sizes == sizes ? value : node("Expand", {value, list(numbers_of(sizes))}, value.type, sizes);
}

Value ModelWriter::concat(const std::vector<Value>& values, std::size_t axis) {
    if (values.size() == 1) {
        return values.front();
    }
    core::Dimensions sizes = values.front().sizes;
    sizes[axis] = 0;
    for (const Value& value : values) {
        sizes[axis] += value.sizes[axis];
    }
    return node("Concat", values, values.front().type, std::move(sizes),
                {attribute("axis", static_cast<std::int64_t>(axis))});
}

Value ModelWriter::slice(const Value& value, const Numbers& starts, const Numbers& ends, const Numbers& axes,
                         const Numbers& steps) {
    core::Dimensions sizes = value.sizes;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::int64_t step = steps.empty() ? 1 : steps[i];
        const std::int64_t size = sizes[static_cast<std::size_t>(axes[i])];
        const std::int64_t end = step > 0 ? std::min(ends[i], size) : std::max<std::int64_t>(ends[i], -1);
        const std::int64_t count =
            step > 0 ? (end - starts[i] + step - 1) / step : (starts[i] - end - step - 1) / -step;
        sizes[static_cast<std::size_t>(axes[i])] = static_cast<std::uint32_t>(std::max<std::int64_t>(count, 0));
    }
    if (sizes == value.sizes && steps.empty()) {
        return value;
    }
    std::vector<Value> inputs{value, list(starts), list(ends), list(axes)};
    if (!steps.empty()) {
        inputs.push_back(list(steps));
    }
    return node("Slice", inputs, value.type, std::move(sizes));
}

Value ModelWriter::reduce(std::string_view type, const Value& value, const Numbers& axes) {
    const Value taken = widened(type, 0, value);
    core::Dimensions sizes = value.sizes;
    for (const std::int64_t axis : axes) {
        sizes[static_cast<std::size_t>(axis)] = 1;
    }
    // ReduceSum came first.
    const bool is_input = opset_ >= 18 || type == "ReduceSum";
    const Value result = is_input ? node(type, {taken, list(axes)}, taken.type, std::move(sizes))
                                  : node(type, {taken}, taken.type, std::move(sizes), {attribute("axes", axes)});
    return cast(result, value.type);
}

Value ModelWriter::where(const Value& condition, const Value& yes, const Value& no) {
    return node("Where", {condition, yes, no}, yes.type, broadcast_sizes({condition, yes, no}));
}

Value ModelWriter::pad(const Value& value, const Numbers& pads, const Value& constant) {
    core::Dimensions sizes = value.sizes;
    for (std::size_t i = 0; i < pads.size(); ++i) {
        sizes[i % sizes.size()] += static_cast<std::uint32_t>(pads[i]);
    }
    if (sizes == value.sizes) {
        return value;
    }
    return node("Pad", {value, list(pads), constant}, value.type, std::move(sizes));
}

Value ModelWriter::gather(const Value& value, const Value& indices, std::size_t axis) {
    core::Dimensions sizes(value.sizes.begin(), value.sizes.begin() + static_cast<std::ptrdiff_t>(axis));
    sizes.insert(sizes.end(), indices.sizes.begin(), indices.sizes.end());
    sizes.insert(sizes.end(), value.sizes.begin() + static_cast<std::ptrdiff_t>(axis) + 1, value.sizes.end());
    return node("Gather", {value, indices}, value.type, std::move(sizes),
                {attribute("axis", static_cast<std::int64_t>(axis))});
}

Value ModelWriter::matmul(const Value& a, const Value& b) {
    core::Dimensions sizes = broadcast_sizes(
        {{"a", 0, {a.sizes.begin(), a.sizes.end() - 2}}, {"b", 0, {b.sizes.begin(), b.sizes.end() - 2}}});
    sizes.push_back(a.sizes[a.rank() - 2]);
    sizes.push_back(b.sizes.back());
    return node("MatMul", {a, b}, a.type, std::move(sizes));
}

Value ModelWriter::constant(int type, core::Dimensions sizes, std::string elements) {
    onnx::TensorProto& tensor = model_.graph.edit().initializer.add();
    Value value{next_name('c'), type, std::move(sizes)};
    tensor.name.set(value.name);
    tensor.data_type.set(type);
    for (const std::uint32_t size : value.sizes) {
        tensor.dims.add(size);
    }
    tensor.raw_data.set(std::move(elements));
    return value;
}

Value ModelWriter::bits(core::DataType type, std::uint64_t element) {
    std::string bytes(core::bytes_of(type), '\0');
    core::store_element(std::as_writable_bytes(std::span(bytes)), type, 0, element);
    return constant(onnx_number(type), {}, std::move(bytes));
}

Value ModelWriter::scalar(int type, double number) {
    const core::DataType as = core_type(type);
    const auto exact = core::encode_element(as, number);
    if (exact) {
        return type == onnx_bool ? constant(type, {}, std::string(1, number != 0 ? '\1' : '\0')) : bits(as, *exact);
    }
    fail(fmt::format("{} does not have the number {}", type_name(type), number));
    return {"c", type, {}};
}

Value ModelWriter::list(const Numbers& numbers) {
    return integers({static_cast<std::uint32_t>(numbers.size())}, numbers);
}

Value ModelWriter::reals(core::Dimensions sizes, const std::vector<float>& numbers) {
    std::string bytes(numbers.size() * sizeof(float), '\0');
    const auto storage = std::as_writable_bytes(std::span(bytes));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        core::store_element(storage, core::DataType::float32, i, std::bit_cast<std::uint32_t>(numbers[i]));
    }
    return constant(onnx_float32, std::move(sizes), std::move(bytes));
}

Value ModelWriter::integers(core::Dimensions sizes, const Numbers& numbers) {
    std::string bytes(numbers.size() * sizeof(std::int64_t), '\0');
    const auto storage = std::as_writable_bytes(std::span(bytes));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        core::store_element(storage, core::DataType::int64, i, static_cast<std::uint64_t>(numbers[i]));
    }
    return constant(onnx_int64, std::move(sizes), std::move(bytes));
}

Value ModelWriter::input(const std::string& name, int type, const core::Dimensions& sizes) {
    onnx::ValueInfoProto& info = model_.graph.edit().input.add();
    info.name.set(name);
    set_shape(info, type, sizes);
    return {name, type, sizes};
}

void ModelWriter::output(const std::string& name, const Value& value) {
    const Value made = node("Identity", {value}, value.type, value.sizes);
    onnx::ValueInfoProto& info = model_.graph.edit().output.add();
    info.name.set(name);
    set_shape(info, value.type, value.sizes);
    renamed_.emplace_back(made.name, name);
}

onnx::ModelProto ModelWriter::take() {
    // An output is the result of the last node that made it, without an Identity where that is possible.
    auto& nodes = model_.graph.edit().node.edit();
    const auto rename = [&](const std::string& from, const std::string& to) {
        bool is_made = false;
        for (onnx::NodeProto& one : nodes) {
            is_made = is_made || std::ranges::find(one.output(), from) != one.output().end();
            std::ranges::replace(one.output.edit(), from, to);
            std::ranges::replace(one.input.edit(), from, to);
        }
        return is_made;
    };
    for (const auto& [from, to] : renamed_) {
        const auto last = std::find_if(nodes.begin(), nodes.end(),
                                       [&from = from](const onnx::NodeProto& one) { return one.output(0) == from; });
        const std::string source = last->input(0);
        const bool is_taken =
            std::any_of(renamed_.begin(), renamed_.end(), [&](const auto& other) { return other.second == source; });
        const bool is_constant_or_input = std::none_of(nodes.begin(), nodes.end(), [&](const onnx::NodeProto& one) {
            return std::find(one.output().begin(), one.output().end(), source) != one.output().end();
        });
        if (is_taken || is_constant_or_input) {
            rename(from, to);
        } else {
            nodes.erase(last);
            rename(source, to);
        }
    }
    model_.ir_version.set(format_version(opset_));
    model_.producer_name.set("dmlconform");
    onnx::OperatorSetIdProto& set = model_.opset_import.add();
    set.domain.set("");
    set.version.set(opset_);
    model_.graph.edit().name.set("dmlconform");
    return std::move(model_);
}

}  // namespace dmlconform::interop::exporting
