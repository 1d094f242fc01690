// Reading models of DxDispatch, the tool of Microsoft's DirectML repository that runs operators from JSON.
//
// A model has resources (buffers with initial values), dispatchables (operators among others) and commands that bind
// resources to dispatchables. Each command that dispatches a DirectML operator becomes a case. A model does not say
// what is right, so that only operators with a reference here can become cases.
#pragma once

#include <string>
#include <string_view>

#include "engine/core/error.h"
#include "engine/interop/imported.h"

namespace dmlconform::interop {

/// `file` is the model's path: paths in it are relative to its folder, and may not lead out of it. An error when it is
/// no model at all.
[[nodiscard]] core::Result<Imported> read_dxdispatch(const std::string& file, std::string_view text);

/// The text with commas before a closing bracket made blanks: DxDispatch takes them, JSON does not. Comments and the
/// offsets of everything else stay.
[[nodiscard]] std::string without_trailing_commas(std::string_view text);

}  // namespace dmlconform::interop
