// ONNX's model format as structs: what importers and exporters need of it. Names and numbers of messages and fields are
// those of onnx.proto in https://github.com/onnx/onnx (Apache-2.0), which documents them. The names TensorTypeProto,
// SequenceTypeProto, OptionalTypeProto, ShapeProto and DimensionProto are this program's own.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dmlconform::onnx {

/// A field that occurs at most once. `field()` reads it, with the default for an absent one.
template <class T>
class Single {
public:
    [[nodiscard]] const T& operator()() const { return value_; }
    [[nodiscard]] bool has() const { return has_; }
    void set(T value) {
        value_ = std::move(value);
        has_ = true;
    }
    void set(std::span<const std::byte> bytes) requires std::same_as<T, std::string> {
        set(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    }
    void clear() { *this = {}; }

private:
    T value_{};
    bool has_ = false;
};

/// A message that occurs at most once, and whose type may be incomplete here.
template <class T>
class Part {
public:
    [[nodiscard]] const T& operator()() const {
        static const T none;
        return value_.empty() ? none : value_.front();
    }
    [[nodiscard]] bool has() const { return !value_.empty(); }
    /// Adds the message if it is absent.
    T& edit() {
        if (value_.empty()) {
            value_.emplace_back();
        }
        return value_.front();
    }

private:
    /// A vector because it may have an incomplete type. At most one element.
    std::vector<T> value_;
};

/// A repeated field. `field()` is all of it, `field(i)` an element.
template <class T, class Container = std::vector<T>>
class List {
public:
    [[nodiscard]] const Container& operator()() const { return values_; }
    [[nodiscard]] const T& operator()(int index) const { return *std::next(values_.begin(), index); }
    [[nodiscard]] int size() const { return static_cast<int>(values_.size()); }
    [[nodiscard]] bool has() const { return !values_.empty(); }
    Container& edit() { return values_; }
    T& edit(int index) { return *std::next(values_.begin(), index); }
    T& add() { return values_.emplace_back(); }
    void add(T value) { values_.push_back(std::move(value)); }
    template <class Iterator>
    void append(Iterator begin, Iterator end) {
        values_.insert(values_.end(), begin, end);
    }

private:
    Container values_;
};

// Each message calls `visit(number, field)` for its fields in `visit_fields`. A third argument marks lists of numbers
// that are packed when they are written; both forms are read.
struct Packed {};
inline constexpr Packed packed{};

struct GraphProto;
struct TypeProto;

struct StringStringEntryProto {
    Single<std::string> key;
    Single<std::string> value;

    static void visit_fields(auto& self, auto&& visit) {
        visit(1, self.key);
        visit(2, self.value);
    }
};

struct TensorProto {
    List<std::int64_t> dims;
    Single<std::int32_t> data_type;
    List<float> float_data;
    List<std::int32_t> int32_data;
    List<std::int64_t> int64_data;
    Single<std::string> name;
    Single<std::string> raw_data;
    List<double> double_data;
    List<std::uint64_t> uint64_data;
    List<StringStringEntryProto> external_data;
    Single<std::int32_t> data_location;
    /// Offset and size of raw data in the file, which model/skeleton.cpp writes instead of the data. Not part of ONNX.
    Single<std::uint64_t> skipped_offset;
    Single<std::uint64_t> skipped_bytes;

    static void visit_fields(auto& self, auto&& visit) {
        visit(1, self.dims);
        visit(2, self.data_type);
        visit(4, self.float_data, packed);
        visit(5, self.int32_data, packed);
        visit(7, self.int64_data, packed);
        visit(8, self.name);
        visit(9, self.raw_data);
        visit(10, self.double_data, packed);
        visit(11, self.uint64_data, packed);
        visit(13, self.external_data);
        visit(14, self.data_location);
        visit(100001, self.skipped_offset);
        visit(100002, self.skipped_bytes);
    }
};

/// The name is that of the values.
struct SparseTensorProto {
    Part<TensorProto> values;
    Part<TensorProto> indices;
    List<std::int64_t> dims;

    static void visit_fields(auto& self, auto&& visit) {
        visit(1, self.values);
        visit(2, self.indices);
        visit(3, self.dims);
    }
};

struct AttributeProto {
    Single<std::string> name;
    Single<float> f;
    Single<std::int64_t> i;
    Single<std::string> s;
    Part<TensorProto> t;
    Part<GraphProto> g;
    List<float> floats;
    List<std::int64_t> ints;
    List<std::string> strings;
    Single<std::int32_t> type;
    Single<std::string> ref_attr_name;

    static void visit_fields(auto& self, auto&& visit) {
        visit(1, self.name);
        visit(2, self.f);
        visit(3, self.i);
        visit(4, self.s);
        visit(5, self.t);
        visit(6, self.g);
        visit(7, self.floats);
        visit(8, self.ints);
        visit(9, self.strings);
        visit(20, self.type);
        visit(21, self.ref_attr_name);
    }
};

struct NodeProto {
    List<std::string> input;
    List<std::string> output;
    Single<std::string> name;
    Single<std::string> op_type;
    List<AttributeProto> attribute;
    Single<std::string> domain;

    static void visit_fields(auto& self, auto&& visit) {
        visit(1, self.input);
        visit(2, self.output);
        visit(3, self.name);
        visit(4, self.op_type);
        visit(5, self.attribute);
        visit(7, self.domain);
    }
};

/// A model may have very many nodes. Each can be freed as soon as it is imported, and no copy of all is made when one
/// is added.
using NodeList = std::list<NodeProto>;

struct DimensionProto {
    Single<std::int64_t> dim_value;
    Single<std::string> dim_param;

    static void visit_fields(auto& self, auto&& visit) {
        visit(1, self.dim_value);
        visit(2, self.dim_param);
    }
};

struct ShapeProto {
    List<DimensionProto> dim;

    static void visit_fields(auto& self, auto&& visit) { visit(1, self.dim); }
};

struct TensorTypeProto {
    Single<std::int32_t> elem_type;
    Part<ShapeProto> shape;

    static void visit_fields(auto& self, auto&& visit) {
        visit(1, self.elem_type);
        visit(2, self.shape);
    }
};

/// The type of sequences and of optional values.
struct ElementTypeProto {
    Part<TypeProto> elem_type;

    static void visit_fields(auto& self, auto&& visit) { visit(1, self.elem_type); }
};

struct TypeProto {
    Part<TensorTypeProto> tensor_type;
    Part<ElementTypeProto> sequence_type;
    Part<ElementTypeProto> optional_type;

    static void visit_fields(auto& self, auto&& visit) {
        visit(1, self.tensor_type);
        visit(4, self.sequence_type);
        visit(9, self.optional_type);
    }
};

struct ValueInfoProto {
    Single<std::string> name;
    Part<TypeProto> type;

    static void visit_fields(auto& self, auto&& visit) {
        visit(1, self.name);
        visit(2, self.type);
    }
};

struct GraphProto {
    List<NodeProto, NodeList> node;
    Single<std::string> name;
    List<TensorProto> initializer;
    List<ValueInfoProto> input;
    List<ValueInfoProto> output;
    List<ValueInfoProto> value_info;
    List<SparseTensorProto> sparse_initializer;

    static void visit_fields(auto& self, auto&& visit) {
        visit(1, self.node);
        visit(2, self.name);
        visit(5, self.initializer);
        visit(11, self.input);
        visit(12, self.output);
        visit(13, self.value_info);
        visit(15, self.sparse_initializer);
    }
};

struct OperatorSetIdProto {
    Single<std::string> domain;
    Single<std::int64_t> version;

    static void visit_fields(auto& self, auto&& visit) {
        visit(1, self.domain);
        visit(2, self.version);
    }
};

struct FunctionProto {
    Single<std::string> name;
    List<std::string> input;
    List<std::string> output;
    List<std::string> attribute;
    List<NodeProto, NodeList> node;
    List<OperatorSetIdProto> opset_import;
    Single<std::string> domain;
    List<AttributeProto> attribute_proto;

    static void visit_fields(auto& self, auto&& visit) {
        visit(1, self.name);
        visit(4, self.input);
        visit(5, self.output);
        visit(6, self.attribute);
        visit(7, self.node);
        visit(9, self.opset_import);
        visit(10, self.domain);
        visit(11, self.attribute_proto);
    }
};

struct ModelProto {
    Single<std::int64_t> ir_version;
    Single<std::string> producer_name;
    Part<GraphProto> graph;
    List<OperatorSetIdProto> opset_import;
    List<FunctionProto> functions;

    static void visit_fields(auto& self, auto&& visit) {
        visit(1, self.ir_version);
        visit(2, self.producer_name);
        visit(7, self.graph);
        visit(8, self.opset_import);
        visit(25, self.functions);
    }
};

/// The projection for searches by name.
inline constexpr auto name_of = [](const auto& message) -> const std::string& { return message.name(); };

/// The data of a sequence in a test.
struct SequenceProto {
    List<TensorProto> tensor_values;

    static void visit_fields(auto& self, auto&& visit) { visit(3, self.tensor_values); }
};

/// The data of an optional value in a test.
struct OptionalProto {
    Part<TensorProto> tensor_value;
    Part<SequenceProto> sequence_value;

    static void visit_fields(auto& self, auto&& visit) {
        visit(3, self.tensor_value);
        visit(5, self.sequence_value);
    }
};

template <class T>
concept FileMessage = std::same_as<T, ModelProto> || std::same_as<T, TensorProto> || std::same_as<T, SequenceProto> ||
    std::same_as<T, OptionalProto>;

/// Reads a message in protobuf's binary format, and skips unknown fields. False if it is not one.
template <FileMessage T>
[[nodiscard]] bool read_message(std::string_view bytes, T& message);

enum class ReadResult : std::uint8_t { read, malformed, too_large };
/// The same for a message that takes at most about `memory` bytes, with what looks its names up. A larger one is
/// refused before it takes more.
template <FileMessage T>
[[nodiscard]] ReadResult read_message(std::string_view bytes, T& message, std::uint64_t memory);
/// Writes a message in protobuf's binary format.
template <FileMessage T>
[[nodiscard]] std::string message_bytes(const T& message);

}  // namespace dmlconform::onnx
