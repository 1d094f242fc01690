// Writes tensors as ONNX's protobuf messages.
#include "engine/interop/export/test_folder.h"

#include <fmt/format.h>

#include "engine/interop/onnx_tensor.h"

namespace dmlconform::interop {
namespace {

core::Result<TestFile> tensor_test_file(const OnnxPort& port, const core::Tensor& tensor, const char* what,
                                        std::size_t number) {
    const core::Tensor packed = port_elements(port, tensor);
    const auto count = static_cast<std::size_t>(*core::element_count(port.sizes));
    onnx::TensorProto proto;
    proto.name.set(port.name);
    proto.data_type.set(onnx_number(port.type));
    for (const std::uint32_t size : port.sizes) {
        proto.dims.add(size);
    }
    proto.raw_data.set(packed.buffer.bytes().first(count * core::bytes_of(port.type)));
    return TestFile{fmt::format("test_data_set_0/{}_{}.pb", what, number), onnx::message_bytes(proto)};
}

}  // namespace

core::Result<std::vector<TestFile>> test_files(const ExportedModel& exported, std::span<const core::Tensor> inputs,
                                               std::span<const core::Tensor> outputs) {
    std::vector<TestFile> files{{"model.onnx", exported.bytes}};
    const auto add = [&](const auto& ports, std::span<const core::Tensor> tensors, const char* what) {
        std::size_t number = 0;
        for (std::size_t i = 0; i < ports.size(); ++i) {
            if (!ports[i]) {
                continue;
            }
            auto file = tensor_test_file(*ports[i], tensors[i], what, number++);
            if (!file) {
                return core::Result<void>(tl::unexpected(file.error()));
            }
            files.push_back(std::move(*file));
        }
        return core::Result<void>();
    };
    for (const auto& done : {add(exported.inputs, inputs, "input"), add(exported.outputs, outputs, "output")}) {
        if (!done) {
            return tl::unexpected(done.error());
        }
    }
    return files;
}

}  // namespace dmlconform::interop
