// One output of a case in a file.
#pragma once

#include <cstddef>
#include <filesystem>

#include "engine/cases/initialiser.h"
#include "engine/core/error.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::outputs {

/// What fills the output from its file in the folder. Type, sizes and the length of the file are checked; the elements
/// are read when they are needed. `index`: the output's, among Descriptor::outputs(). An error names the file, also
/// when there is none.
[[nodiscard]] core::Result<cases::Initialiser> find_output(const std::filesystem::path& folder,
                                                           const operators::Descriptor& descriptor, std::size_t index);

}  // namespace dmlconform::outputs
