// Exported models with their data as ONNX's backend tests have them: a folder with a model and one data set.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/interop/export/onnx_export.h"

namespace dmlconform::interop {

struct TestFile {
    /// Within the folder: "model.onnx", "test_data_set_0/input_0.pb".
    std::string path;
    std::string content;
};

/// Tensors are in the order of Descriptor::inputs() and outputs(). An error where one is too large for a file.
[[nodiscard]] core::Result<std::vector<TestFile>> test_files(const ExportedModel& exported,
                                                             std::span<const core::Tensor> inputs,
                                                             std::span<const core::Tensor> outputs);

}  // namespace dmlconform::interop
