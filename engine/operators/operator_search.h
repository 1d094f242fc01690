// Finds operators by part of their DirectML name, or by their name in ONNX, WebNN or PyTorch.
#pragma once

#include <string_view>
#include <vector>

#include "engine/operators/catalogue.h"

namespace dmlconform::operators {

/// The name without PyTorch's modules or ONNX Runtime's domain: "LSTM" for "torch.nn.LSTM".
[[nodiscard]] std::string_view without_modules(std::string_view name);

/// Finds operators by words such as "Conv", "softmax" or "reduce_sum". Case and punctuation are ignored. Exact matches
/// come first, including names in other interfaces, then names that contain the words; both in the order of the
/// catalogue. Empty if nothing matches.
[[nodiscard]] std::vector<const OperatorSchema*> search_operators(std::string_view words);

}  // namespace dmlconform::operators
