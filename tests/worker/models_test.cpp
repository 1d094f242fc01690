// Tests of workers that request ONNX models: they get these with packed tensors, and their mistakes cost one case.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "engine/worker/worker_engine.h"
#include "tests/descriptor_builder.h"
#include "tests/temporary_folder.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests::models_test {
namespace {

using core::DataType;
using testing::HasSubstr;
using worker::WorkerEngine;
using worker::WorkerSettings;

/// Both tensors have strides, in different orders.
operators::Descriptor strided_identity() {
    return describe("ELEMENT_WISE_IDENTITY", {{"InputTensor", tensor(DataType::uint8, {2, 3}, {1, 2})},
                                              {"OutputTensor", tensor(DataType::uint8, {2, 3}, {4, 1})}});
}

core::Result<worker::WantedModel> made(const operators::Descriptor& /*descriptor*/, std::int64_t opset) {
    if (opset != 17) {
        return core::fail("this is not the opset of the test");
    }
    worker::WantedModel model;
    model.bytes = "a model\xff";
    model.inputs.push_back(worker::ModelTensor{"x", DataType::uint8, {2, 3}, core::packed_copy, {}});
    model.outputs.push_back(worker::ModelTensor{
        "y", DataType::uint8, {2, 3}, {}, [](std::span<const std::byte> elements, core::Tensor& output) {
            const auto addresses = addresses_of(output.desc);
            for (std::size_t i = 0; i < addresses.size(); ++i) {
                output.buffer.bytes()[addresses[i]] = elements[i];
            }
        }});
    return model;
}

/// A worker that adds one to each byte after checking what it receives. `changes` replace parts of it.
class ModelWorker {
public:
    explicit ModelWorker(const std::string& changes = "") {
        script_ = folder_.write("models.py", "import sys\nsys.path.insert(0, '" +
                                                 std::filesystem::path(EXAMPLE_WORKER).parent_path().string() +
                                                 "')\nimport worker\n" + std::string(text) + changes +
                                                 "\nworker.answer = answer\nworker.main()\n");
    }

    [[nodiscard]] core::Result<std::unique_ptr<WorkerEngine>> start(const WorkerSettings& settings) const {
        return WorkerEngine::start({{"python3", "-B", script_}, {}, ""}, settings);
    }

private:
    static constexpr const char* text = R"py(
info = {"protocol": 1, "name": "models", "featureLevel": "6.4", "wants": "onnx", "opset": 17}
compiled = {"accepted": True}
def output(data):
    return bytes(byte + 1 for byte in data)
def answer(request, programs):
    kind = request["request"]
    if kind == "info":
        return info
    if kind == "compileModel":
        assert request["model"] == b"a model\xff", request
        assert request["inputs"] == [{"name": "x", "type": "UINT8", "sizes": [2, 3]}], request
        assert request["outputs"] == [{"name": "y", "type": "UINT8", "sizes": [2, 3]}], request
        programs[request["id"]] = None
        return compiled
    if kind == "bind":
        programs[request["executable"]] = request["inputs"]
    if kind == "execute":
        return {"nanoseconds": 1234}
    if kind == "read":
        return {"outputs": [output(data) for data in programs[request["executable"]]]}
    return {}
)py";

    TemporaryFolder folder_;
    std::string script_;
};

WorkerSettings with_models() {
    WorkerSettings settings;
    settings.model_maker = made;
    return settings;
}

/// The output for the elements 1 to 6, or the reason why there is none.
struct Outcome {
    std::vector<std::uint8_t> values;
    std::string problem;
};

Outcome run(const ModelWorker& worker, const WorkerSettings& settings = with_models()) {
    auto engine = worker.start(settings);
    if (!engine) {
        return {{}, "start: " + engine.error().message};
    }
    const auto descriptor = strided_identity();
    if (const auto reason = (*engine)->unsupported(descriptor)) {
        return {{}, "unsupported: " + *reason};
    }
    auto executable = (*engine)->compile(descriptor);
    if (!executable) {
        return {{}, "compile: " + executable.error().rejection.message};
    }
    const core::Tensor input = tensor_of<std::uint8_t>(*descriptor.inputs()[0].desc, {1, 2, 3, 4, 5, 6});
    const std::vector<const core::Tensor*> inputs{&input};
    core::Tensor output = core::output_tensor(*descriptor.outputs()[0].desc);
    std::vector<core::Tensor*> outputs{&output};
    for (const auto& done : {(*executable)->bind(inputs), (*executable)->execute(), (*executable)->read(outputs)}) {
        if (!done) {
            return {{}, "run: " + done.error().message};
        }
    }
    EXPECT_EQ((*executable)->execute_time(), std::chrono::nanoseconds(1234));
    EXPECT_FALSE(core::find_stray_write(output).has_value());
    return {values_of<std::uint8_t>(output), ""};
}

TEST(WorkerThatWantsModels, GetsPackedTensorsWhateverTheStrides) {
    const Outcome outcome = run(ModelWorker());
    EXPECT_EQ(outcome.problem, "");
    EXPECT_EQ(outcome.values, (std::vector<std::uint8_t>{2, 3, 4, 5, 6, 7}));
}

TEST(WorkerThatWantsModels, FaultsHaveAReason) {
    struct Row {
        const char* changes;
        const char* problem;
    };
    const Row rows[] = {
        {"info['wants'] = 'tflite'", "it wants something other than models in ONNX's format"},
        {"info['wants'] = 1", "it wants something other than models in ONNX's format"},
        {"del info['opset']", "it wants ONNX models, but does not tell of which `opset`"},
        {"info['opset'] = -1", "it wants ONNX models, but does not tell of which `opset`"},
        {"info['opset'] = 2**63", "it wants ONNX models, but does not tell of which `opset`"},
        {"info['opset'] = 18", "unsupported: ONNX cannot express it: this is not the opset of the test"},
        {"compiled = {'unsupported': 'no kernel'}", "unsupported: no kernel"},
        {"compiled = {'error': {'message': 'bad model'}}", "compile: bad model"},
        {"compiled = {}", "compile: the worker's answer to `compile` must have exactly one of"},
        {"def output(data): return data[1:]", "run: output 0 is 5 bytes in the worker's answer to `read`; 6 bytes"},
        {"def output(data): return data + data", "run: output 0 is 12 bytes"},
        {"def output(data): return 'text'", "run: output 0 is no byte string"},
    };
    for (const Row& row : rows) {
        EXPECT_THAT(run(ModelWorker(row.changes)).problem, HasSubstr(row.problem)) << row.changes;
    }
}

TEST(WorkerThatWantsModels, NeedsSomethingThatMakesThem) {
    EXPECT_THAT(run(ModelWorker(), {}).problem, HasSubstr("which this program was built without"));
}

TEST(WorkerThatWantsModels, IsNotAskedAboutIllegalDescriptors) {
    auto engine = ModelWorker().start(with_models());
    ASSERT_TRUE(engine.has_value()) << engine.error().message;
    const auto illegal = with(strided_identity(), {{"OutputTensor", tensor(DataType::uint8, {3, 3})}});
    EXPECT_THAT((*engine)->unsupported(illegal).value_or(""), HasSubstr("the descriptor is illegal"));
}

}  // namespace
}  // namespace dmlconform::tests::models_test
