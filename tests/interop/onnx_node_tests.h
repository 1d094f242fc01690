// Writes ONNX node tests, and imports them.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "engine/cases/case_file.h"
#include "engine/cases/case_writer.h"
#include "engine/interop/onnx_node_test.h"
#include "onnx.pb.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests {

template <class T>
[[nodiscard]] onnx::TensorProto tensor(int type, std::vector<std::int64_t> dims, const std::vector<T>& values) {
    onnx::TensorProto proto;
    proto.set_data_type(type);
    proto.mutable_dims()->Add(dims.begin(), dims.end());
    proto.set_raw_data(std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
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
    attribute.set_name(name);
    attribute.set_i(value);
    return attribute;
}

[[nodiscard]] inline onnx::AttributeProto number(const std::string& name, float value) {
    onnx::AttributeProto attribute;
    attribute.set_name(name);
    attribute.set_f(value);
    return attribute;
}

[[nodiscard]] inline onnx::AttributeProto text(const std::string& name, const std::string& value) {
    onnx::AttributeProto attribute;
    attribute.set_name(name);
    attribute.set_s(value);
    return attribute;
}

[[nodiscard]] inline onnx::AttributeProto integers(const std::string& name, const std::vector<std::int64_t>& values) {
    onnx::AttributeProto attribute;
    attribute.set_name(name);
    attribute.mutable_ints()->Add(values.begin(), values.end());
    return attribute;
}

inline void write(const TemporaryFolder& folder, const std::string& name, const NodeTest& test) {
    onnx::ModelProto model;
    model.add_opset_import()->set_version(test.opset);
    onnx::NodeProto* node = model.mutable_graph()->add_node();
    node->set_op_type(test.type);
    node->set_domain(test.domain);
    for (const onnx::AttributeProto& attribute : test.attributes) {
        *node->add_attribute() = attribute;
    }
    for (std::size_t i = 0; i < test.inputs.size(); ++i) {
        if (test.inputs[i].data_type() == absent) {
            node->add_input("");
            continue;
        }
        node->add_input(fmt::format("in{}", i));
        // Files are numbered like the graph's inputs, not like the node's.
        folder.write(fmt::format("{}/test_data_set_0/input_{}.pb", name, model.graph().input_size()),
                     test.inputs[i].SerializeAsString());
        model.mutable_graph()->add_input()->set_name(fmt::format("in{}", i));
    }
    if (test.first_is_sequence) {
        model.mutable_graph()->mutable_input(0)->mutable_type();
    }
    for (std::size_t i = 0; i < test.outputs.size(); ++i) {
        node->add_output(fmt::format("out{}", i));
        onnx::ValueInfoProto* output = model.mutable_graph()->add_output();
        output->set_name(fmt::format("out{}", i));
        if (test.declared_output != 0) {
            output->mutable_type()->mutable_tensor_type()->set_elem_type(test.declared_output);
        }
        folder.write(fmt::format("{}/test_data_set_0/output_{}.pb", name, i), test.outputs[i].SerializeAsString());
    }
    folder.write(name + "/model.onnx", model.SerializeAsString());
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
