// Tests of the data of models: which file is for which value, and which outputs the data set says something about.
#include <optional>

#include "engine/interop/model/model_case.h"

#include "tests/interop/model_imports.h"

namespace dmlconform::tests::model_data_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A model in a folder with a data set of tensors, which may have names.
class DataSet {
public:
    explicit DataSet(const ModelTest& test) : path_(folder_.write("net.onnx", onnx::message_bytes(model_of(test)))) {}

    void write(const std::string& file, onnx::TensorProto tensor, const std::string& name = "") {
        if (!name.empty()) {
            tensor.name.set(name);
        }
        folder_.write("test_data_set_0/" + file, onnx::message_bytes(tensor));
    }

    [[nodiscard]] std::string input_file(const onnx::TensorProto& tensor) {
        return folder_.write("given.pb", onnx::message_bytes(tensor));
    }

    [[nodiscard]] interop::ModelCase read(const interop::ModelCaseOptions& options = {}) const {
        auto model = interop::read_model_case(path_, options);
        if (!model) {
            ADD_FAILURE() << model.error().message;
            return {};
        }
        return std::move(*model);
    }

    [[nodiscard]] std::string error(const interop::ModelCaseOptions& options = {}) const {
        const auto model = interop::read_model_case(path_, options);
        return model ? "it was read" : model.error().message;
    }

private:
    TemporaryFolder folder_;
    std::string path_;
};

/// The outputs whose values are expected.
std::vector<std::string> expected_outputs(const interop::ModelCase& model) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < model.model.outputs.size(); ++i) {
        if (model.subject->expected[i]) {
            names.push_back(model.model.outputs[i].name);
        }
    }
    return names;
}

/// The node with a domain of its own cuts the model.
ModelTest cut_model() {
    onnx::NodeProto custom = node("Custom", {"a"}, {"b"});
    custom.domain.set("my.own");
    ModelTest test{{node("Neg", {"x"}, {"a"}), custom, node("Mul", {"b", "w"}, {"y"}), node("Abs", {"a"}, {"z"}),
                    node("Clip", {"z", "", "top"}, {"v"})},
                   {{"x", floats({2}, {1, 2})}},
                   {{"y", {}}, {"z", {}}, {"v", {}}},
                   {{"w", floats({2}, {1, 1})}, {"top", floats({}, {1})}}};
    return test;
}

onnx::ModelProto with_sizes_of_b(onnx::ModelProto model) {
    onnx::ValueInfoProto& value = model.graph.edit().value_info.add();
    value.name.set("b");
    value.type.edit().tensor_type.edit().elem_type.set(1);
    value.type.edit().tensor_type.edit().shape.edit().dim.add().dim_value.set(2);
    return model;
}

TEST(ModelData, OutputsBehindACutHaveNoExpectedValues) {
    const TemporaryFolder folder;
    const std::string path = folder.write("net.onnx", onnx::message_bytes(with_sizes_of_b(model_of(cut_model()))));
    folder.write("test_data_set_0/input_0.pb", onnx::message_bytes(floats({2}, {1, 2})));
    folder.write("test_data_set_0/output_0.pb", onnx::message_bytes(floats({2}, {7, 7})));
    folder.write("test_data_set_0/output_1.pb", onnx::message_bytes(floats({2}, {1, 2})));
    folder.write("test_data_set_0/output_2.pb", onnx::message_bytes(floats({2}, {1, 1})));
    const auto model = interop::read_model_case(path);
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_THAT(expected_outputs(*model), ElementsAre("z", "v"));
    EXPECT_THAT(model->model.notes,
                ElementsAre("the data of output \"y\" are not expected: it depends on random data"));
    cpu::CpuEngine engine(core::highest_feature_level);
    EXPECT_NE(run::run_case(*model->subject, engine).status, run::Status::fail);
}

TEST(ModelData, OutputsOfAnInputWithoutDataHaveNoExpectedValues) {
    DataSet set({{node("Add", {"x", "y"}, {"sum"}), node("Neg", {"x"}, {"negative"})},
                 {{"x", floats({2}, {1, 2})}, {"y", floats({2}, {3, 4})}},
                 {{"sum", {}}, {"negative", {}}}});
    set.write("input_0.pb", floats({2}, {1, 2}));
    set.write("output_0.pb", floats({2}, {4, 6}));
    set.write("output_1.pb", floats({2}, {-1, -2}));
    EXPECT_THAT(expected_outputs(set.read()), ElementsAre("negative"));
    set.write("input_1.pb", floats({2}, {3, 4}));
    EXPECT_THAT(expected_outputs(set.read()), ElementsAre("sum", "negative"));
}

}  // namespace
}  // namespace dmlconform::tests::model_data_test
