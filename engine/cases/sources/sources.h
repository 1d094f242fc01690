// The forms of initialisers. Each function reads one form. It reports problems, and then returns null.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "engine/cases/initialiser.h"

namespace dmlconform::cases {

using SourcePointer = std::shared_ptr<const ElementSource>;

/// Reads [1, 2, "nan"]: elements in row-major order, flat or nested.
[[nodiscard]] SourcePointer read_list(const JsonValue& list, const core::TensorDesc& desc, ProblemSink& problems);

/// Reads { "value": 3 }.
[[nodiscard]] SourcePointer read_constant(const JsonValue& object, const core::TensorDesc& desc, ProblemSink& problems);

/// Reads { "start": 1, "step": 1 }.
[[nodiscard]] SourcePointer read_sequence(const JsonValue& object, const core::TensorDesc& desc, ProblemSink& problems);

/// Reads { "random": "uniform", "min": -1, "max": 1, "seed": 7 }.
[[nodiscard]] SourcePointer read_random(const JsonValue& object, const core::TensorDesc& desc, ProblemSink& problems);

/// Reads { "file": "data/x.npy" }.
[[nodiscard]] SourcePointer read_data_file(const JsonValue& object, const core::TensorDesc& desc,
                                           const DataFolder& folder, ProblemSink& problems);

/// The same of a path alone. An error says what is wrong with the path, the file, or its type, sizes and length.
[[nodiscard]] core::Result<SourcePointer> open_data_file(const std::string& written, const core::TensorDesc& desc,
                                                         const DataFolder& folder);

/// Elements from a file, from that byte on. The file is read when the elements are needed, and an error then if it has
/// gone or become shorter: whoever makes this has checked its size.
[[nodiscard]] SourcePointer file_elements(std::filesystem::path path, std::uint64_t offset);

}  // namespace dmlconform::cases
