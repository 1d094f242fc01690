// Writes graphs with FlatBuffers, from the catalogue's fields.
#include "tests/interop/dml_graph_files.h"

#include <fmt/format.h>

#include <cstring>

namespace dmlconform::tests {
namespace {

namespace stored = interop::stored;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using operators::FieldValue;

constexpr auto value_type(int number) {
    return static_cast<stored::AttributeValue>(number);
}

/// A list of strings, which the schema declares as the offsets that it consists of.
Offset<flatbuffers::Vector<std::uint32_t>> names_list(FlatBufferBuilder& builder,
                                                      const std::vector<std::string>& names) {
    return builder.CreateVectorOfStrings(names).o;
}

class AttributeWriter {
public:
    AttributeWriter(FlatBufferBuilder& builder, const DmlGraphFaults& faults) : builder_(builder), faults_(faults) {}

    std::vector<Offset<stored::Attribute>> write(const operators::Descriptor& descriptor) {
        std::vector<Offset<stored::Attribute>> attributes;
        for (std::size_t i = 0; i < descriptor.values.size(); ++i) {
            const operators::Field& field = descriptor.schema->fields[i];
            if (field.kind == operators::FieldKind::attribute) {
                attributes.push_back(attribute(field, descriptor.values[i]));
            }
        }
        if (faults_.too_few_attributes && !attributes.empty()) {
            attributes.pop_back();
        }
        return attributes;
    }

private:
    Offset<stored::Attribute> attribute(const operators::Field& field, const FieldValue& value) {
        const auto [type, offset] = std::visit([&](const auto& held) { return stored_value(field, held); }, value);
        const auto name =
            offset.o == 0 ? Offset<flatbuffers::String>()
                          : builder_.CreateString(faults_.attribute_name.empty() ? field.name : faults_.attribute_name);
        return stored::CreateAttribute(builder_, name, value_type(type), offset);
    }

    struct Stored {
        int type;
        Offset<void> offset;
    };

    Stored stored_value(const operators::Field& field, const operators::Null&) {
        const int type = field.type == operators::FieldType::operator_desc         ? 1
                         : field.type == operators::FieldType::operator_desc_array ? 2
                                                                                   : 10;
        return {type, {}};
    }
    Stored stored_value(const operators::Field&, std::uint32_t value) {
        return {3, builder_.CreateStruct(stored::UInt32(value)).Union()};
    }
    Stored stored_value(const operators::Field&, std::int32_t value) {
        return {5, builder_.CreateStruct(stored::Int32(value)).Union()};
    }
    Stored stored_value(const operators::Field&, float value) {
        return {6, builder_.CreateStruct(stored::Float32(value)).Union()};
    }
    Stored stored_value(const operators::Field&, const std::vector<std::uint32_t>& values) {
        return {7, stored::CreateUInts(builder_, builder_.CreateVector(values)).Union()};
    }
    Stored stored_value(const operators::Field&, const std::vector<std::int32_t>& values) {
        return {8, stored::CreateInts(builder_, builder_.CreateVector(values)).Union()};
    }
    Stored stored_value(const operators::Field&, const std::vector<float>& values) {
        return {9, stored::CreateFloats(builder_, builder_.CreateVector(values)).Union()};
    }
    Stored stored_value(const operators::Field&, const operators::ScaleBias& value) {
        return {10, builder_.CreateStruct(stored::ScaleBias(value.scale, value.bias)).Union()};
    }
    Stored stored_value(const operators::Field&, const operators::Size2D& value) {
        return {11, builder_.CreateStruct(stored::Size2D(value.width, value.height)).Union()};
    }
    Stored stored_value(const operators::Field&, const operators::ScalarUnion& value) {
        std::uint8_t bytes[8];
        std::memcpy(bytes, &value.bits, sizeof bytes);
        const auto packed = builder_.CreateStruct(stored::Bytes(bytes)).Union();
        return {12, stored::CreateScalar(builder_, stored::ScalarValue_Bytes, packed).Union()};
    }
    Stored stored_value(const operators::Field&, const operators::OperatorDesc& value) {
        return {1, activation(*value).Union()};
    }
    Stored stored_value(const operators::Field&, const operators::OperatorDescArray& value) {
        std::vector<Offset<stored::Activation>> items;
        for (const auto& item : value.items) {
            items.push_back(activation(*item));
        }
        return {2, stored::CreateActivations(builder_, builder_.CreateVector(items)).Union()};
    }
    template <class Tensors>
    Stored stored_value(const operators::Field&, const Tensors&) {
        return {0, {}};
    }

    Offset<stored::Activation> activation(const operators::Descriptor& descriptor) {
        const auto attributes = write(descriptor);
        return stored::CreateActivation(builder_, builder_.CreateString(descriptor.schema->name),
                                        builder_.CreateVector(attributes));
    }

    FlatBufferBuilder& builder_;
    const DmlGraphFaults& faults_;
};

class GraphWriter {
public:
    GraphWriter(const operators::Graph& graph, const std::map<std::string, StoredConstant>& constants,
                const DmlGraphFaults& faults)
        : graph_(graph), constants_(constants), faults_(faults) {}

    std::string write() {
        std::vector<Offset<stored::Node>> nodes;
        std::vector<std::string> inputs;
        for (const operators::ValueIndex input : graph_.inputs) {
            const std::string& name = graph_.values[input].name;
            const auto constant = constants_.find(name);
            if (constant == constants_.end()) {
                inputs.push_back(name);
            } else {
                nodes.push_back(constant_node(name, constant->second));
            }
        }
        for (const operators::GraphNode& node : graph_.nodes) {
            nodes.push_back(operator_node(node));
        }
        for (std::size_t i = 1; i < faults_.copies_of_a_node; ++i) {
            nodes.push_back(nodes.front());
        }
        const auto names_of_inputs = names_list(builder_, inputs);
        const auto names_of_outputs = names_list(builder_, names(graph_.outputs));
        stored::FinishGraphBuffer(
            builder_, stored::CreateGraph(builder_, builder_.CreateVector(nodes), names_of_inputs, names_of_outputs));
        return {reinterpret_cast<const char*>(builder_.GetBufferPointer()), builder_.GetSize()};
    }

private:
    [[nodiscard]] std::vector<std::string> names(const std::vector<operators::ValueIndex>& values) const {
        std::vector<std::string> result;
        for (const operators::ValueIndex value : values) {
            result.push_back(value == operators::no_value ? "" : graph_.values[value].name);
        }
        return result;
    }

    Offset<stored::Node> constant_node(const std::string& name, const StoredConstant& constant) {
        const auto data = constant.file.empty()
                              ? stored::CreateConstantBytes(builder_, builder_.CreateVector(constant.bytes)).Union()
                              : stored::CreateConstantFile(builder_, builder_.CreateString(constant.file)).Union();
        const auto type =
            constant.file.empty() ? stored::ConstantData_ConstantBytes : stored::ConstantData_ConstantFile;
        const auto node = stored::CreateConstant(builder_, type, data).Union();
        const auto reads = names_list(builder_, {});
        const auto writes = names_list(builder_, {name});
        return stored::CreateNode(builder_, stored::NodeKind_Constant, node, builder_.CreateString(name), reads,
                                  writes);
    }

    Offset<stored::Tensor> tensor(const core::TensorDesc& desc) {
        core::Dimensions sizes = desc.sizes;
        sizes.resize(sizes.size() + faults_.more_sizes, 1);
        const auto strides =
            desc.strides ? builder_.CreateVector(*desc.strides) : Offset<flatbuffers::Vector<std::uint32_t>>();
        return stored::CreateTensor(
            builder_, builder_.CreateString(fmt::format("DML_TENSOR_DATA_TYPE_{}", core::name(desc.data_type))),
            builder_.CreateVector(sizes), strides, desc.total_bytes);
    }

    Offset<flatbuffers::Vector<Offset<stored::Tensor>>> tensors(const std::vector<operators::TensorSlot>& slots,
                                                                bool drop_last) {
        std::vector<Offset<stored::Tensor>> present;
        for (const operators::TensorSlot& slot : slots) {
            if (slot.desc != nullptr) {
                present.push_back(tensor(*slot.desc));
            }
        }
        if (drop_last) {
            present.pop_back();
        }
        return builder_.CreateVector(present);
    }

    Offset<stored::Node> operator_node(const operators::GraphNode& node) {
        const auto& descriptor = *node.descriptor;
        const auto inputs = tensors(descriptor.inputs(), faults_.too_few_tensors);
        const auto outputs = tensors(descriptor.outputs(), false);
        const auto attributes = builder_.CreateVector(AttributeWriter(builder_, faults_).write(descriptor));
        const auto type =
            builder_.CreateString(faults_.operator_type.empty() ? descriptor.schema->name : faults_.operator_type);
        const auto put = stored::CreateOperator(builder_, type, inputs, outputs, attributes).Union();
        const auto reads = names_list(builder_, names(node.inputs));
        const auto writes = names_list(builder_, names(node.outputs));
        return stored::CreateNode(builder_, stored::NodeKind_Operator, put, builder_.CreateString(node.name), reads,
                                  writes);
    }

    FlatBufferBuilder builder_;
    const operators::Graph& graph_;
    const std::map<std::string, StoredConstant>& constants_;
    const DmlGraphFaults& faults_;
};

}  // namespace

std::string dml_graph_file(const operators::Graph& graph, const std::map<std::string, StoredConstant>& constants,
                           const DmlGraphFaults& faults) {
    return GraphWriter(graph, constants, faults).write();
}

}  // namespace dmlconform::tests
