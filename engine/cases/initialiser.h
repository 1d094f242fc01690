// Where the elements of a tensor in a case come from: a list, one value, or an arithmetic sequence.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "engine/cases/json_document.h"
#include "engine/cases/problems.h"
#include "engine/core/tensor.h"

namespace dmlconform::cases {

/// Elements' bits in row-major order, each as wide as the type.
struct ListData {
    std::shared_ptr<const std::vector<std::byte>> elements;
};

/// Element i is start + i * step, rounded once. For integer types both are exact.
struct SequenceData {
    /// Bits for an integer type, otherwise unused.
    std::uint64_t integer_start = 0;
    std::uint64_t integer_step = 0;
    double start = 0;
    double step = 0;
};

/// Bits of every element.
struct ConstantData {
    std::uint64_t bits = 0;
};

class Initialiser {
public:
    using Data = std::variant<ListData, SequenceData, ConstantData>;

    explicit Initialiser(Data data) : data_(std::move(data)) {}

    /// Writes the tensor's elements. Bytes between them are set too, so that nothing depends on what
    /// was in memory before. Where strides make elements share memory, the first in row-major order counts.
    void fill(core::Tensor& tensor) const;

private:
    Data data_;
};

/// Reads an initialiser for a tensor of that layout, whose sizes may still be anything that a file can hold.
/// Reports what is wrong and returns nothing then.
[[nodiscard]] std::optional<Initialiser> read_initialiser(const JsonValue& value, const core::TensorDesc& desc,
                                                          ProblemSink& problems);

}  // namespace dmlconform::cases
