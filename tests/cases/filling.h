// Helpers that fill tensors from initialisers written as in case files.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cases/initialiser.h"
#include "engine/core/element.h"
#include "tests/cases/reading.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests {

[[nodiscard]] inline Reading<cases::Initialiser> initialiser(std::string_view text, const core::TensorDesc& desc,
                                                             const cases::DataFolder& folder = {}) {
    return reading(text, [&](const cases::JsonValue& value, cases::ProblemSink& problems) {
        return cases::read_initialiser(value, desc, problems, folder);
    });
}

/// A tensor filled by the initialiser. Throws if the initialiser is invalid.
[[nodiscard]] inline core::Tensor filled(std::string_view text, const core::TensorDesc& desc,
                                         const cases::DataFolder& folder = {}) {
    const auto read = initialiser(text, desc, folder);
    if (!read.value) {
        throw std::logic_error(all_text(read.problems));
    }
    core::Tensor tensor = blank_tensor(desc);
    if (const auto result = read.value->fill(tensor); !result) {
        throw std::runtime_error(result.error().message);
    }
    return tensor;
}

/// The elements in row-major order, formatted as "1 2 nan".
[[nodiscard]] inline std::string elements(const core::Tensor& tensor) {
    std::vector<std::string> texts;
    for (const std::size_t address : addresses_of(tensor.desc)) {
        texts.push_back(core::format_element(
            tensor.desc.data_type, core::load_element(tensor.buffer.bytes(), tensor.desc.data_type, address)));
    }
    return fmt::format("{}", fmt::join(texts, " "));
}

}  // namespace dmlconform::tests
