// Tensors in files of their own: NumPy's .npy, and ONNX's .pb.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/interop/model/tensor_data.h"

namespace dmlconform::interop {

/// A tensor from a .npy or .pb file, whose elements are read when they are needed. Errors contain the file's name.
[[nodiscard]] core::Result<ConstantTensor> tensor_file(const std::filesystem::path& path);

/// Data of inputs and expected outputs, by the model's names.
struct ModelData {
    std::map<std::string, ConstantTensor> inputs;
    std::map<std::string, ConstantTensor> outputs;
    /// Files that are not used.
    std::vector<std::string> notes;
};

/// The contents of the folder test_data_set_0 beside a model; empty if there is none.
[[nodiscard]] core::Result<ModelData> test_data_of(const onnx::ModelProto& model, const std::filesystem::path& path);

}  // namespace dmlconform::interop
