// The forms of data initialisers. Each function reads one form, reports what is wrong with it, and returns null then.
#pragma once

#include <memory>

#include "engine/cases/initialiser.h"

namespace dmlconform::cases {

using SourcePointer = std::shared_ptr<const ElementSource>;

/// [1, 2, "nan"]: elements in row-major order, flat or nested.
[[nodiscard]] SourcePointer read_list(const JsonValue& list, const core::TensorDesc& desc, ProblemSink& problems);

/// { "value": 3 }
[[nodiscard]] SourcePointer read_constant(const JsonValue& object, const core::TensorDesc& desc, ProblemSink& problems);

/// { "start": 1, "step": 1 }
[[nodiscard]] SourcePointer read_sequence(const JsonValue& object, const core::TensorDesc& desc, ProblemSink& problems);

/// { "random": "uniform", "min": -1, "max": 1, "seed": 7 }
[[nodiscard]] SourcePointer read_random(const JsonValue& object, const core::TensorDesc& desc, ProblemSink& problems);

/// { "file": "data/x.npy" }
[[nodiscard]] SourcePointer read_data_file(const JsonValue& object, const core::TensorDesc& desc,
                                           const DataFolder& folder, ProblemSink& problems);

}  // namespace dmlconform::cases
