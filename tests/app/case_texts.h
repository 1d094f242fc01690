// Case files for end-to-end tests.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace dmlconform::tests {

/// A case that slices [1,2,3,4] by 2; `expected` is the whole member with its comma before it, or empty.
[[nodiscard]] inline std::string slice_case(std::string_view name, std::string_view more) {
    return fmt::format(R"({{ "name": "{}", "operator": "SLICE1",
    "desc": {{ "InputTensor": {{ "DataType": "FLOAT32", "Sizes": [4] }}, "OutputTensor": {{ "DataType": "FLOAT32", "Sizes": [2] }},
              "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [2] }},
    "inputs": {{ "InputTensor": [1, 2, 3, 4] }}{} }})",
                       name, more);
}

inline constexpr std::string_view right_values = R"(, "expected": { "OutputTensor": [1, 3] })";
/// The second element is one bit off.
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
