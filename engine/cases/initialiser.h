// Where the elements of a tensor in a case come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/cases/json_document.h"
#include "engine/cases/problems.h"
#include "engine/core/error.h"
#include "engine/core/tensor.h"

namespace dmlconform::cases {

/// One form of initialiser, read and checked. Each has a file of its own in sources/.
class ElementSource {
public:
    ElementSource() = default;
    ElementSource(const ElementSource&) = delete;
    ElementSource& operator=(const ElementSource&) = delete;
    virtual ~ElementSource() = default;

    /// Writes all elements of a tensor in row-major order, packed. `type` and the number of elements are those that the
    /// source was read for. Fails only where the source is outside the case file.
    [[nodiscard]] virtual core::Result<void> write(core::DataType type, std::span<std::byte> elements) const = 0;
};

/// Data in files beside a case file.
struct DataFolder {
    /// Relative paths start here; the case file's folder.
    std::filesystem::path path;
    /// Whether paths may lead out of the folder.
    bool allow_external = false;
};

class Initialiser {
public:
    explicit Initialiser(std::shared_ptr<const ElementSource> source) : source_(std::move(source)) {}

    /// Writes the tensor's elements. Bytes between them are set too, so that nothing depends on what
    /// was in memory before. Where strides make elements share memory, the first in row-major order counts.
    [[nodiscard]] core::Result<void> fill(core::Tensor& tensor) const;

private:
    std::shared_ptr<const ElementSource> source_;
};

/// An initialiser of given elements: packed, in row-major order, as many as the tensor that it is for has.
[[nodiscard]] Initialiser given_elements(std::vector<std::byte> elements);

/// Reads an initialiser for a tensor of that layout, whose sizes may still be anything that a file can hold.
/// Reports what is wrong and returns nothing then.
[[nodiscard]] std::optional<Initialiser> read_initialiser(const JsonValue& value, const core::TensorDesc& desc,
                                                          ProblemSink& problems, const DataFolder& folder = {});

}  // namespace dmlconform::cases
