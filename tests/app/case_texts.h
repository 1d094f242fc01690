// Case files for end-to-end tests.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace dmlconform::tests {

/// A case that slices [1,2,3,4] by 2. `expected` is the whole member with its leading comma, or empty.
[[nodiscard]] inline std::string slice_case(std::string_view name, std::string_view more) {
    return fmt::format(R"({{ "name": "{}", "operator": "SLICE1",
    "desc": {{ "InputTensor": {{ "DataType": "FLOAT32", "Sizes": [4] }}, "OutputTensor": {{ "DataType": "FLOAT32", "Sizes": [2] }},
              "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [2] }},
    "inputs": {{ "InputTensor": [1, 2, 3, 4] }}{} }})",
                       name, more);
}

/// A quantized convolution of ones, with `filters` filters of `channels` x `width` x `width` elements. It passes on
/// every engine and can have any size.
[[nodiscard]] inline std::string convolution_case(std::string_view name, int channels, int size, int filters,
                                                  int width) {
    const int output = size - width + 1;
    const int sum = std::min(channels * width * width, 127);
    const auto filled = [](int value) {
        return fmt::format(R"({{ "random": "integer", "min": {0}, "max": {0}, "seed": 1 }})", value);
    };
    return fmt::format(R"({{ "name": "{}", "operator": "QUANTIZED_LINEAR_CONVOLUTION",
    "desc": {{ "InputTensor": {{ "DataType": "INT8", "Sizes": [1, {}, {}, {}] }},
              "InputScaleTensor": {{ "DataType": "FLOAT32", "Sizes": [1, 1, 1, 1] }},
              "FilterTensor": {{ "DataType": "INT8", "Sizes": [{}, {}, {}, {}] }},
              "FilterScaleTensor": {{ "DataType": "FLOAT32", "Sizes": [1, 1, 1, 1] }},
              "OutputScaleTensor": {{ "DataType": "FLOAT32", "Sizes": [1, 1, 1, 1] }},
              "OutputTensor": {{ "DataType": "INT8", "Sizes": [1, {}, {}, {}] }},
              "Strides": [1, 1], "Dilations": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0], "GroupCount": 1 }},
    "inputs": {{ "InputTensor": {}, "FilterTensor": {}, "InputScaleTensor": [1], "FilterScaleTensor": [1],
                "OutputScaleTensor": [1] }}, "expected": {{ "OutputTensor": {} }} }})",
                       name, channels, size, size, filters, channels, width, width, filters, output, output, filled(1),
                       filled(1), filled(sum));
}

inline constexpr std::string_view right_values = R"(, "expected": { "OutputTensor": [1, 3] })";
/// Expected values whose second element differs in one bit.
inline constexpr std::string_view wrong_values = R"(, "expected": { "OutputTensor": [1, "0x40400001"] })";

[[nodiscard]] inline std::string file_of(std::initializer_list<std::string> cases) {
    std::string text;
    for (const std::string& entry : cases) {
        text += (text.empty() ? "" : ",\n") + entry;
    }
    return "{ \"cases\": [\n" + text + "\n] }\n";
}

[[nodiscard]] inline std::string good_file() {
    return file_of({slice_case("good", right_values)});
}

[[nodiscard]] inline std::string bad_file() {
    return file_of({slice_case("good", right_values), slice_case("bad", wrong_values)});
}

}  // namespace dmlconform::tests
