// Devices that cannot say which metacommands they have. Only for Windows.
#pragma once

#include "engine/d3d12/d3d12_headers.h"

namespace dmlconform::directml {

/// DirectML asks a device with ID3D12Device5 for its metacommands, and cannot be created if that fails. Wine 10 has the
/// interface and E_NOTIMPL for an answer (Wine 8 does not have the interface, and DirectML does without). From then on
/// such a device answers that it has none, which is the truth. A device that answers is not touched.
void answer_without_meta_commands(ID3D12Device& device);

}  // namespace dmlconform::directml
