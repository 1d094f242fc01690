// Texts that `describe --graph` and `new --graph` print.
#pragma once

#include <string>
#include <string_view>

namespace dmlconform::app {

/// The syntax of graphs in case files, and the rules that they must meet.
[[nodiscard]] std::string graph_text();

/// A runnable case file with a graph, as a starting point.
inline constexpr std::string_view conv_relu_file = R"({
  "description": "A graph to start from: a convolution whose result RELU reads.",
  "cases": [
    {
      "name": "conv-relu",
      "graph": {
        "nodes": [
          {
            "name": "conv",
            "operator": "CONVOLUTION",
            "desc": {
              "InputTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 1, 4] },
              "FilterTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 1, 2] },
              "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 1, 3] },
              "Mode": "CROSS_CORRELATION",
              "Direction": "FORWARD",
              "Strides": [1, 1],
              "Dilations": [1, 1],
              "StartPadding": [0, 0],
              "EndPadding": [0, 0],
              "OutputPadding": [0, 0],
              "GroupCount": 1
            },
            "inputs": { "InputTensor": "x", "FilterTensor": "w" },
            "outputs": { "OutputTensor": "t" }
          },
          {
            "name": "relu",
            "operator": "ACTIVATION_RELU",
            "desc": {
              "InputTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 1, 3] },
              "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 1, 3] }
            },
            "inputs": { "InputTensor": "t" },
            "outputs": { "OutputTensor": "y" }
          }
        ],
        "constants": ["w"],
        "outputs": ["y"]
      },
      "inputs": { "x": [1, 2, -5, 3], "w": [1, 1] },
      "expected": { "y": [3, 0, 0] }
    }
  ]
}
)";

}  // namespace dmlconform::app
