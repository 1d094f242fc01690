// Reading ONNX's backend node tests: folders with a model of one node, and tensors that go in and have to come out.
//
//     test_slice/model.onnx, test_slice/test_data_set_0/input_0.pb, …, output_0.pb
#pragma once

#include <string>

#include "engine/core/error.h"
#include "engine/interop/imported.h"

namespace dmlconform::interop {

/// A folder that is such a test, or one with many below it. Every data set becomes a case, with the outputs as expected
/// values. An error when there is no test.
[[nodiscard]] core::Result<Imported> read_onnx_node_tests(const std::string& folder);

}  // namespace dmlconform::interop
