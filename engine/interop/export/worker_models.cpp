// Converts the exporter's ports to a worker's tensors.
#include "engine/interop/export/worker_models.h"

#include <utility>

#include "engine/interop/export/onnx_export.h"

namespace dmlconform::interop {
namespace {

using Ports = std::vector<std::optional<OnnxPort>>;

std::vector<std::optional<worker::ModelTensor>> tensors_of(const Ports& ports) {
    std::vector<std::optional<worker::ModelTensor>> tensors;
    for (const auto& port : ports) {
        if (!port) {
            tensors.emplace_back();
            continue;
        }
        tensors.emplace_back(
            worker::ModelTensor{port->name, port->type, port->sizes,
                                [port = *port](const core::Tensor& tensor) { return port_elements(port, tensor); },
                                [port = *port](std::span<const std::byte> elements, core::Tensor& tensor) {
                                    store_port_elements(port, elements, tensor);
                                }});
    }
    return tensors;
}

}  // namespace

worker::ModelMaker worker_models() {
    return [](const operators::Descriptor& descriptor, std::int64_t opset) -> core::Result<worker::WantedModel> {
        auto exported = export_onnx(descriptor, opset);
        if (!exported) {
            return tl::unexpected(std::move(exported.error()));
        }
        return worker::WantedModel{std::move(exported->bytes), tensors_of(exported->inputs),
                                   tensors_of(exported->outputs)};
    };
}

}  // namespace dmlconform::interop
