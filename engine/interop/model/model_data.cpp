// Reads headers and messages immediately; large data stay in the file.
#include "engine/interop/model/model_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "engine/cases/npy_header.h"
#include "engine/core/text_file.h"
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

template <class Value>
core::Result<Value> in_file(core::Result<Value> read, const fs::path& path) {
    return read ? std::move(read)
                : core::fail(fmt::format("{}: {}", path.generic_string(), read.error().message), read.error().hint);
}

/// A file of a data set.
struct DataFile {
    /// "input_0.pb"
    std::string path;
    /// The name in the file, which may be empty.
    std::string name;
    ConstantTensor tensor;
};
/// By the numbers in their names.
using DataFiles = std::map<std::size_t, DataFile>;

core::Result<DataFile> data_file(const fs::path& path) {
    const auto stored = read_tensor_skeleton(path);
    auto tensor = stored ? constant_tensor(*stored, path) : tl::unexpected(stored.error());
    return tensor
               ? core::Result<DataFile>(DataFile{path.filename().generic_string(), stored->name(), std::move(*tensor)})
               : tl::unexpected(tensor.error());
}

/// The files of up to `count` values, and one more if there is one.
core::Result<DataFiles> files_of(const fs::path& folder, const char* kind, std::size_t count) {
    DataFiles files;
    for (std::size_t number = 0; number <= count; ++number) {
        const fs::path path = folder / fmt::format("{}_{}.pb", kind, number);
        std::error_code error;
        if (fs::exists(path, error)) {
            auto file = in_file(data_file(path), path);
            if (!file) {
                return tl::unexpected(file.error());
            }
            files.emplace(number, std::move(*file));
        }
    }
    return files;
}

std::vector<std::string> names_of(const auto& messages) {
    std::vector<std::string> names;
    std::ranges::transform(messages, std::back_inserter(names), onnx::name_of);
    return names;
}

/// For each number of a file, the input that it is for. If every file has the name of another input, that is the one.
/// Otherwise the numbers count all inputs if there are as many files, and inputs without an initializer if not.
std::vector<std::string> names_of_inputs(const onnx::GraphProto& graph, const DataFiles& files) {
    std::vector<std::string> names = names_of(graph.input());
    std::set<std::string> named;
    for (const auto& [number, file] : files) {
        if (std::ranges::count(names, file.name) != 0) {
            named.insert(file.name);
        }
    }
    if (!files.empty() && named.size() == files.size()) {
        std::vector<std::string> by_number(files.rbegin()->first + 1);
        for (const auto& [number, file] : files) {
            by_number[number] = file.name;
        }
        return by_number;
    }
    if (files.size() != names.size()) {
        const std::vector<std::string> list = names_of(graph.initializer());
        const std::set<std::string> initializers(list.begin(), list.end());
        std::erase_if(names, [&](const std::string& name) { return initializers.contains(name); });
    }
    return names;
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
    return in_file(std::move(tensor), path);
}

core::Result<ModelData> test_data_of(const onnx::ModelProto& model, const fs::path& path) {
    const fs::path folder = path.parent_path() / "test_data_set_0";
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
        return {};
    }
    const auto inputs = files_of(folder, "input", static_cast<std::size_t>(model.graph().input.size()));
    const auto outputs = files_of(folder, "output", static_cast<std::size_t>(model.graph().output.size()));
    if (!inputs || !outputs) {
        return tl::unexpected(inputs ? outputs.error() : inputs.error());
    }
    ModelData data;
    const auto take = [&](const DataFiles& files, const std::vector<std::string>& names, auto& tensors) {
        for (const auto& [number, file] : files) {
            if (number < names.size()) {
                tensors.emplace(names[number], file.tensor);
            } else {
                data.notes.push_back(fmt::format("{} is not used: the model has no such value", file.path));
            }
        }
    };
    take(*inputs, names_of_inputs(model.graph(), *inputs), data.inputs);
    take(*outputs, names_of(model.graph().output()), data.outputs);
    return data;
}

}  // namespace dmlconform::interop
