// A workaround for devices that cannot enumerate their metacommands. Only for Windows.
#pragma once

#include "engine/d3d12/device/d3d12_headers.h"

namespace dmlconform::directml {

/// DirectML asks a device with ID3D12Device5 for its metacommands, and cannot be created if that fails. Wine 10 has the
/// interface but returns E_NOTIMPL. (Wine 8 lacks the interface, which DirectML accepts.) After this call, such a
/// device answers that it has no metacommands, which is true. Other devices are not changed.
void answer_without_meta_commands(ID3D12Device& device);

}  // namespace dmlconform::directml
