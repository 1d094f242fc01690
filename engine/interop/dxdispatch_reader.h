// Reads models of DxDispatch, the tool of Microsoft's DirectML repository that runs operators from JSON.
//
// A model has resources (buffers with initial values), dispatchables (mainly operators) and commands that bind
// resources to dispatchables. Each command that dispatches a DirectML operator becomes a case. Models contain no
// expected values, so only operators with a reference can become cases.
#pragma once

#include <string>
#include <string_view>

#include "engine/core/error.h"
#include "engine/interop/imported.h"

namespace dmlconform::interop {

/// `file` is the model's path: paths in the model are relative to its folder, and may not leave it. Fails if it is not
/// a model.
[[nodiscard]] core::Result<Imported> read_dxdispatch(const std::string& file, std::string_view text);

/// Replaces commas before a closing bracket, which DxDispatch accepts but JSON does not, by blanks. Comments and
/// offsets stay.
[[nodiscard]] std::string without_trailing_commas(std::string_view text);

}  // namespace dmlconform::interop
