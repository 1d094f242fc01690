// Writes models of several nodes as ONNX node tests, and imports them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/interop/onnx_passing.h"

namespace dmlconform::tests {

using NamedTensors = std::vector<std::pair<std::string, onnx::TensorProto>>;

struct ModelTest {
    std::vector<onnx::NodeProto> nodes;
    NamedTensors inputs;
    NamedTensors outputs;
    NamedTensors initializers{};
    std::int64_t opset = 17;
};

[[nodiscard]] inline onnx::NodeProto node(const std::string& type, const std::vector<std::string>& inputs,
                                          const std::vector<std::string>& outputs,
                                          const std::vector<onnx::AttributeProto>& attributes = {}) {
    onnx::NodeProto proto;
    proto.op_type.set(type);
    for (const std::string& name : inputs) {
        proto.input.add(name);
    }
    for (const std::string& name : outputs) {
        proto.output.add(name);
    }
    for (const onnx::AttributeProto& attribute : attributes) {
        proto.attribute.add(attribute);
    }
    return proto;
}

[[nodiscard]] inline onnx::AttributeProto constant(const onnx::TensorProto& tensor) {
    onnx::AttributeProto attribute;
    attribute.name.set("value");
    attribute.t.edit() = tensor;
    return attribute;
}

[[nodiscard]] inline core::Result<interop::Imported> read(const ModelTest& test) {
    const TemporaryFolder folder;
    onnx::ModelProto model;
    model.opset_import.add().version.set(test.opset);
    onnx::GraphProto& graph = model.graph.edit();
    for (const onnx::NodeProto& one : test.nodes) {
        graph.node.add(one);
    }
    for (const auto& [name, tensor] : test.initializers) {
        graph.initializer.add(tensor);
        graph.initializer.edit(graph.initializer.size() - 1).name.set(name);
    }
    const auto write_all = [&](const NamedTensors& tensors, const char* kind, auto& values) {
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            values.add().name.set(tensors[i].first);
            folder.write(fmt::format("test_it/test_data_set_0/{}_{}.pb", kind, i),
                         onnx::message_bytes(tensors[i].second));
        }
    };
    write_all(test.inputs, "input", graph.input);
    write_all(test.outputs, "output", graph.output);
    folder.write("test_it/model.onnx", onnx::message_bytes(model));
    return interop::read_onnx_node_tests(folder.at("test_it"));
}

/// The cases of a model, in its order.
[[nodiscard]] inline std::vector<cases::Case> imported_steps(const ModelTest& test) {
    const auto made = read(test);
    if (!made || !made->left_out.empty()) {
        ADD_FAILURE() << (made ? made->left_out.front() : made.error().message);
        return {};
    }
    return cases::read_case_file("onnx.json", cases::case_file_text("", made->cases)).cases;
}

/// The names of the cases, all of which must pass.
[[nodiscard]] inline std::vector<std::string> passing_steps(const ModelTest& test) {
    std::vector<std::string> names;
    for (const cases::Case& subject : imported_steps(test)) {
        cpu::CpuEngine engine(core::highest_feature_level);
        const run::CaseResult result = run::run_case(subject, engine);
        // Without expected values, the reference's results count as right.
        const bool good = result.status == (subject.needs_reference() ? run::Status::reference : run::Status::pass);
        EXPECT_TRUE(good) << subject.id << ": " << result.reason;
        names.push_back(subject.id.substr(subject.id.find('/') + 1));
    }
    return names;
}

[[nodiscard]] inline std::string reason_of_model(const ModelTest& test) {
    const auto made = read(test);
    return made && made->cases.empty() && made->left_out.size() == 1 ? made->left_out[0] : "it was not left out";
}

}  // namespace dmlconform::tests
