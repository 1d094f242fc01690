// Initialisers: where the elements of a case's tensor come from.
#pragma once

#include <cstddef>
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

/// One form of initialiser, after reading and checking. Each form has a file in sources/.
class ElementSource {
public:
    ElementSource() = default;
    ElementSource(const ElementSource&) = delete;
    ElementSource& operator=(const ElementSource&) = delete;
    virtual ~ElementSource() = default;

    /// Writes all elements of a tensor in row-major order, packed. `type` and the number of elements must be those that
    /// the source was read for. Fails only if data outside the case file cannot be read.
    [[nodiscard]] virtual core::Result<void> write(core::DataType type, std::span<std::byte> elements) const = 0;

    /// True if the case file itself spells -0.0 for an element.
    [[nodiscard]] virtual bool spells_negative_zero() const { return false; }
};

/// The folder of data files that belong to a case file.
struct DataFolder {
    /// The case file's folder. Relative paths start here.
    std::filesystem::path path;
    /// Allows paths outside the folder.
    bool allow_external = false;
};

class Initialiser {
public:
    explicit Initialiser(std::shared_ptr<const ElementSource> source) : source_(std::move(source)) {}

    /// Writes the tensor's elements and fills the gaps between them, so that the whole buffer is defined. If strides
    /// make elements share memory, the first one in row-major order wins.
    [[nodiscard]] core::Result<void> fill(core::Tensor& tensor) const;

    /// True if the case file spells -0.0 for an element.
    [[nodiscard]] bool spells_negative_zero() const { return source_->spells_negative_zero(); }

private:
    std::shared_ptr<const ElementSource> source_;
};

/// An initialiser that holds the elements of a tensor: packed, in row-major order. Their number must be the tensor's.
[[nodiscard]] Initialiser given_elements(std::vector<std::byte> elements);

/// Reads an initialiser for a tensor of this layout. The sizes are unchecked values from a file. Empty if there are
/// problems, which are reported.
[[nodiscard]] std::optional<Initialiser> read_initialiser(const JsonValue& value, const core::TensorDesc& desc,
                                                          ProblemSink& problems, const DataFolder& folder = {});

}  // namespace dmlconform::cases
