// Tests of the data of models: which file is for which value, and which outputs the data set says something about.

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

TEST(ModelData, OutputsThatAreInitializersCount) {
    DataSet set({{node("Neg", {"x"}, {"y"})},
                 {{"x", floats({2}, {1, 2})}},
                 {{"c", {}}, {"y", {}}},
                 {{"c", floats({2}, {9, 9})}}});
    set.write("input_0.pb", floats({2}, {1, 2}));
    set.write("output_0.pb", floats({2}, {9, 9}));
    set.write("output_1.pb", floats({2}, {-1, -2}));
    const auto right = set.read();
    EXPECT_THAT(expected_outputs(right), ElementsAre("y"));
    expect_pass(*right.subject, "the right data");
    set.write("output_0.pb", floats({2}, {-1, -2}));
    set.write("output_1.pb", floats({2}, {9, 9}));
    cpu::CpuEngine engine(core::highest_feature_level);
    EXPECT_EQ(run::run_case(*set.read().subject, engine).status, run::Status::fail);
}

/// An older model, which lists its initializer among the inputs, before `x`.
ModelTest with_default() {
    return {{node("Sub", {"x", "c"}, {"y"})},
            {{"c", floats({2}, {0, 0})}, {"x", floats({2}, {0, 0})}},
            {{"y", {}}},
            {{"c", floats({2}, {1, 1})}}};
}

TEST(ModelData, FilesAreForTheInputsThatTheyName) {
    DataSet set(with_default());
    set.write("input_0.pb", floats({2}, {5, 6}), "x");
    set.write("output_0.pb", floats({2}, {4, 5}));
    expect_pass(*set.read().subject, "the initializer has no file");
    set.write("input_1.pb", floats({2}, {3, 3}), "c");
    set.write("output_0.pb", floats({2}, {2, 3}));
    expect_pass(*set.read().subject, "files in another order");
}

TEST(ModelData, FilesWithoutNamesAreCounted) {
    DataSet set(with_default());
    set.write("input_0.pb", floats({2}, {5, 6}));
    set.write("output_0.pb", floats({2}, {4, 5}));
    expect_pass(*set.read().subject, "the initializer has no file");
    set.write("input_0.pb", floats({2}, {3, 3}), "x");
    set.write("input_1.pb", floats({2}, {5, 6}), "another");
    set.write("output_0.pb", floats({2}, {2, 3}));
    expect_pass(*set.read().subject, "a file for each input");
    EXPECT_THAT(set.read().model.notes, IsEmpty());
    set.write("input_2.pb", floats({2}, {5, 6}));
    set.write("output_1.pb", floats({2}, {5, 6}));
    EXPECT_THAT(set.read().model.notes,
                ElementsAre(HasSubstr("input_1.pb is not used"), HasSubstr("input_2.pb is not used"),
                            HasSubstr("output_1.pb is not used")));
}

TEST(ModelData, InputsReplaceInitializers) {
    DataSet set(with_default());
    interop::ModelCaseOptions options;
    options.inputs.emplace("c", set.input_file(floats({2}, {3, 4})));
    const auto model = set.read(options);
    ASSERT_EQ(model.model.inputs.size(), 2U);
    const std::size_t c = model.model.inputs[0].name == "c" ? 0 : 1;
    core::Tensor tensor(*model.subject->descriptor->inputs()[c].desc);
    ASSERT_TRUE(model.subject->inputs[c]->fill(tensor));
    EXPECT_THAT(tensor.as<float>(), ElementsAre(3, 4));
    options.inputs["c"] = set.input_file(longs({2}, {3, 4}));
    EXPECT_EQ(set.error(options), "the data of \"c\" are INT64, its initializer is FLOAT32");
}

}  // namespace
}  // namespace dmlconform::tests::model_data_test
