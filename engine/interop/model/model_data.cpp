// Reads headers and messages immediately; large data stay in the file.
#include "engine/interop/model/model_data.h"

#include <fmt/format.h>

#include <set>

#include "engine/cases/npy_header.h"
#include "engine/core/text_file.h"
#include "engine/core/utf8.h"
#include "engine/interop/model/skeleton.h"

namespace dmlconform::interop {
namespace {

namespace fs = std::filesystem;

core::Result<ConstantTensor> npy_tensor(const fs::path& path) {
    const auto header = cases::read_npy_header(path);
    if (!header) {
        return tl::unexpected(header.error());
    }
    if (header->fortran_order && header->shape.size() > 1) {
        return core::fail("it is in Fortran order", "save it with numpy.ascontiguousarray(…)");
    }
    onnx::TensorProto stored;
    for (const std::uint64_t size : header->shape) {
        stored.dims.add(static_cast<std::int64_t>(std::min<std::uint64_t>(size, 0x7fffffffffffffff)));
    }
    std::error_code error;
    const std::uintmax_t size = fs::file_size(path, error);
    stored.skipped_offset.set(header->data_offset);
    stored.skipped_bytes.set(error || size < header->data_offset ? 0 : size - header->data_offset);
    stored.data_type.set(onnx_number(header->type));
    return constant_tensor(stored, path);
}

}  // namespace

core::Result<ConstantTensor> tensor_file(const fs::path& path) {
    core::Result<ConstantTensor> tensor = core::fail("it is of no known kind", ".npy and .pb files are read");
    if (path.extension() == ".npy") {
        tensor = npy_tensor(path);
    } else if (path.extension() == ".pb") {
        const auto stored = read_tensor_skeleton(path);
        tensor = stored ? constant_tensor(*stored, path) : tl::unexpected(stored.error());
    }
    return tensor
               ? std::move(tensor)
               : core::fail(fmt::format("{}: {}", path.generic_string(), tensor.error().message), tensor.error().hint);
}

core::Result<ModelData> test_data_of(const onnx::ModelProto& model, const fs::path& path) {
    const fs::path folder = path.parent_path() / "test_data_set_0";
    std::set<std::string> initializers;
    for (const onnx::TensorProto& tensor : model.graph().initializer()) {
        initializers.insert(tensor.name());
    }
    ModelData data;
    const auto read_all = [&](const auto& values, const char* kind, auto& tensors) -> core::Result<void> {
        int number = 0;
        for (const onnx::ValueInfoProto& value : values) {
            if (initializers.contains(value.name())) {
                continue;
            }
            const fs::path file = folder / fmt::format("{}_{}.pb", kind, number++);
            std::error_code error;
            if (fs::exists(file, error)) {
                auto tensor = tensor_file(file);
                if (!tensor) {
                    return tl::unexpected(tensor.error());
                }
                tensors.emplace(value.name(), std::move(*tensor));
            }
        }
        return {};
    };
    for (const auto& done : {read_all(model.graph().input(), "input", data.inputs),
                             read_all(model.graph().output(), "output", data.outputs)}) {
        if (!done) {
            return tl::unexpected(done.error());
        }
    }
    return data;
}

}  // namespace dmlconform::interop
