// Looks for NumPy's file first, then for ONNX's.
#include "engine/outputs/output_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "engine/cases/data_file_names.h"
#include "engine/cases/npy_writer.h"
#include "engine/cases/sources/sources.h"
#include "engine/core/guard.h"
#include "engine/interop/export/onnx_export.h"
#include "engine/interop/model/model_data.h"

namespace dmlconform::outputs {
namespace {

namespace fs = std::filesystem;

/// Links are refused: the folder may come from another machine, and say where it likes.
core::Result<bool> is_there(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    if (fs::is_symlink(status)) {
        return core::fail(fmt::format("{} is a symbolic link, which is not followed", path.generic_string()));
    }
    return fs::exists(status);
}

core::Result<cases::Initialiser> from_npy(const fs::path& path, const core::TensorDesc& desc) {
    auto source = cases::open_data_file(path.filename().generic_string(), desc, {path.parent_path(), false});
    if (!source) {
        return tl::unexpected(std::move(source.error()));
    }
    return cases::Initialiser(std::move(*source));
}

core::Result<void> check_tensor(const fs::path& path, const interop::OnnxTensor& tensor, core::DataType type,
                                const core::Dimensions& sizes) {
    if (tensor.type != type) {
        return core::fail(fmt::format("{} holds {}, the output is {}", path.generic_string(), core::name(tensor.type),
                                      core::name(type)));
    }
    if (tensor.sizes != sizes && tensor.onnx_sizes() != sizes) {
        return core::fail(fmt::format("{} has the sizes {}, the output {}", path.generic_string(),
                                      core::to_string(tensor.sizes), core::to_string(sizes)));
    }
    return {};
}

/// The elements that the descriptor's tensor has where the model's has those of the file.
core::Result<cases::Initialiser> as_in_model(const interop::ConstantTensor& stored, const interop::OnnxPort& port,
                                             const core::TensorDesc& desc) {
    // Total sizes are rounded up.
    const auto bytes_of = [](core::Tensor& tensor) {
        return tensor.buffer.bytes().first(static_cast<std::size_t>(cases::data_file_bytes(tensor.desc)));
    };
    core::Tensor elements(port.packed());
    if (auto read = stored.source->write(port.type, bytes_of(elements)); !read) {
        return tl::unexpected(std::move(read.error()));
    }
    core::Tensor output(desc);
    std::ranges::fill(output.buffer.bytes(), core::untouched);
    interop::store_port_elements(port, bytes_of(elements), output);
    core::Tensor packed = core::packed_copy(output);
    const auto bytes = bytes_of(packed);
    return cases::given_elements({bytes.begin(), bytes.end()});
}

/// The output of the model that `export onnx` writes, whose sizes are not always the descriptor's; or else the
/// descriptor's.
core::Result<cases::Initialiser> from_pb(const fs::path& path, const operators::Descriptor& descriptor,
                                         std::size_t index) {
    auto stored = interop::tensor_file(path);
    if (!stored) {
        return tl::unexpected(std::move(stored.error()));
    }
    const core::TensorDesc& desc = *descriptor.outputs()[index].desc;
    const auto exported = interop::export_onnx(descriptor);
    const interop::OnnxPort* port = exported && exported->outputs[index] ? &*exported->outputs[index] : nullptr;
    const auto checked = check_tensor(path, stored->tensor, desc.data_type, port == nullptr ? desc.sizes : port->sizes);
    if (!checked) {
        return tl::unexpected(checked.error());
    }
    return port == nullptr ? cases::Initialiser(stored->source) : as_in_model(*stored, *port, desc);
}

}  // namespace

core::Result<cases::Initialiser> find_output(const fs::path& folder, const operators::Descriptor& descriptor,
                                             std::size_t index) {
    const auto slots = descriptor.outputs();
    std::size_t number = 0;
    for (std::size_t i = 0; i < index; ++i) {
        number += slots[i].desc == nullptr ? 0 : 1;
    }
    const core::TensorDesc& desc = *slots[index].desc;
    const fs::path npy = folder / cases::tensor_file_name(slots[index].name, desc.data_type);
    const fs::path pb = folder / fmt::format("output_{}.pb", number);
    const auto has_folder = is_there(folder);
    const auto finds_npy = is_there(npy);
    const auto finds_pb = is_there(pb);
    for (const auto* checked : {&has_folder, &finds_npy, &finds_pb}) {
        if (!*checked) {
            return tl::unexpected(checked->error());
        }
    }
    const bool has_npy = *finds_npy;
    const bool has_pb = *finds_pb;
    if (has_npy && has_pb) {
        return core::fail(fmt::format("{} has both {} and {}", folder.generic_string(), npy.filename().generic_string(),
                                      pb.filename().generic_string()));
    }
    if (!has_npy && !has_pb) {
        return core::fail(fmt::format("the output {} is missing: there is neither {} nor {} in {}", slots[index].name,
                                      npy.filename().generic_string(), pb.filename().generic_string(),
                                      folder.generic_string()));
    }
    return has_npy ? from_npy(npy, desc) : from_pb(pb, descriptor, index);
}

}  // namespace dmlconform::outputs
