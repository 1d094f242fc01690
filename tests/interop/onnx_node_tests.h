// Writes ONNX node tests, and imports them.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "engine/cases/case_file.h"
#include "engine/cases/case_writer.h"
#include "engine/interop/onnx_messages.h"
#include "engine/interop/onnx_node_test.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests {

template <class T>
[[nodiscard]] onnx::TensorProto tensor(int type, std::vector<std::int64_t> dims, const std::vector<T>& values) {
    onnx::TensorProto proto;
    proto.data_type.set(type);
    proto.dims.append(dims.begin(), dims.end());
    proto.raw_data.set(std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
    return proto;
}

[[nodiscard]] inline onnx::TensorProto floats(std::vector<std::int64_t> dims, const std::vector<float>& values) {
    return tensor<float>(1, std::move(dims), values);
}

[[nodiscard]] inline onnx::TensorProto longs(std::vector<std::int64_t> dims, const std::vector<std::int64_t>& values) {
    return tensor<std::int64_t>(7, std::move(dims), values);
}

/// Used instead of a data type for an absent optional input.
inline constexpr int absent = 0;

struct NodeTest {
    std::string type;
    std::vector<onnx::TensorProto> inputs;
    std::vector<onnx::TensorProto> outputs;
    std::vector<onnx::AttributeProto> attributes{};
    /// The data type that the model declares for the outputs; 0 for none.
    int declared_output = 0;
    /// Empty for ONNX's own domain.
    std::string domain{};
    /// Declares the first input in the model as a sequence instead of a tensor.
    bool first_is_sequence = false;
    std::int64_t opset = 17;
};

[[nodiscard]] inline onnx::AttributeProto integer(const std::string& name, std::int64_t value) {
    onnx::AttributeProto attribute;
    attribute.name.set(name);
    attribute.i.set(value);
    return attribute;
}

[[nodiscard]] inline onnx::AttributeProto number(const std::string& name, float value) {
    onnx::AttributeProto attribute;
    attribute.name.set(name);
    attribute.f.set(value);
    return attribute;
}

[[nodiscard]] inline onnx::AttributeProto text(const std::string& name, const std::string& value) {
    onnx::AttributeProto attribute;
    attribute.name.set(name);
    attribute.s.set(value);
    return attribute;
}

[[nodiscard]] inline onnx::AttributeProto integers(const std::string& name, const std::vector<std::int64_t>& values) {
    onnx::AttributeProto attribute;
    attribute.name.set(name);
    attribute.ints.append(values.begin(), values.end());
    return attribute;
}

inline void write(const TemporaryFolder& folder, const std::string& name, const NodeTest& test) {
    onnx::ModelProto model;
    model.opset_import.add().version.set(test.opset);
    onnx::NodeProto& node = model.graph.edit().node.add();
    node.op_type.set(test.type);
    node.domain.set(test.domain);
    for (const onnx::AttributeProto& attribute : test.attributes) {
        node.attribute.add(attribute);
    }
    for (std::size_t i = 0; i < test.inputs.size(); ++i) {
        if (test.inputs[i].data_type() == absent) {
            node.input.add("");
            continue;
        }
        node.input.add(fmt::format("in{}", i));
        // Files are numbered like the graph's inputs, not like the node's.
        folder.write(fmt::format("{}/test_data_set_0/input_{}.pb", name, model.graph().input.size()),
                     onnx::message_bytes(test.inputs[i]));
        model.graph.edit().input.add().name.set(fmt::format("in{}", i));
    }
    if (test.first_is_sequence) {
        model.graph.edit().input.edit(0).type.edit();
    }
    for (std::size_t i = 0; i < test.outputs.size(); ++i) {
        node.output.add(fmt::format("out{}", i));
        onnx::ValueInfoProto& output = model.graph.edit().output.add();
        output.name.set(fmt::format("out{}", i));
        if (test.declared_output != 0) {
            output.type.edit().tensor_type.edit().elem_type.set(test.declared_output);
        }
        folder.write(fmt::format("{}/test_data_set_0/output_{}.pb", name, i), onnx::message_bytes(test.outputs[i]));
    }
    folder.write(name + "/model.onnx", onnx::message_bytes(model));
}

/// The only case of a node test.
[[nodiscard]] inline cases::Case imported(const NodeTest& test) {
    const TemporaryFolder folder;
    write(folder, "test_it", test);
    const auto read = interop::read_onnx_node_tests(folder.at("test_it/"));
    if (!read || read->cases.size() != 1) {
        throw std::runtime_error(!read                    ? read.error().message
                                 : read->left_out.empty() ? "no case"
                                                          : read->left_out.front());
    }
    const cases::Suite suite = cases::read_case_file("onnx.json", cases::case_file_text("", read->cases));
    return suite.cases.at(0);
}

[[nodiscard]] inline std::string reason(const NodeTest& test) {
    const TemporaryFolder folder;
    write(folder, "test_it", test);
    const auto read = interop::read_onnx_node_tests(folder.at("."));
    return read && read->cases.empty() && read->left_out.size() == 1 ? read->left_out[0] : "it was not left out";
}

}  // namespace dmlconform::tests
