// Reads ONNX's backend node tests: folders with a model of one node, input tensors and expected outputs.
//
//     test_slice/model.onnx, test_slice/test_data_set_0/input_0.pb, …, output_0.pb
#pragma once

#include <string>

#include "engine/core/error.h"
#include "engine/interop/imported.h"

namespace dmlconform::interop {

/// Reads a test's folder, or a folder with many tests. Every data set becomes a case, with the outputs as expected
/// values. Fails if there is no test.
[[nodiscard]] core::Result<Imported> read_onnx_node_tests(const std::string& folder);

}  // namespace dmlconform::interop
