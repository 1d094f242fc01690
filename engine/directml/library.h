// DirectML.dll: loading it, and devices of it. Only for Windows.
#pragma once

#include <string>

#include "engine/core/error.h"
#include "engine/core/feature_level.h"
#include "engine/directml/directml_api.h"

namespace dmlconform::directml {

/// A loaded DirectML.dll. It stays loaded until the program ends.
class Library {
public:
    /// `path` in UTF-8. Empty: the DirectML.dll that Windows finds, beside the program or in the system.
    [[nodiscard]] static core::Result<Library> load(const std::string& path);

    /// "1.15.4", or more numbers as the file has them; empty when the file does not say.
    [[nodiscard]] const std::string& version() const { return version_; }

    [[nodiscard]] core::Result<ComPtr<IDMLDevice>> create_device(ID3D12Device& device) const;

private:
    using CreateDevice = HRESULT(WINAPI*)(ID3D12Device* device, UINT flags, UINT minimum_feature_level, REFIID iid,
                                          void** result);

    CreateDevice create_device_ = nullptr;
    std::string version_;
};

/// The highest level that both the device and the catalogue know.
[[nodiscard]] core::Result<core::FeatureLevel> highest_feature_level(IDMLDevice& device);

}  // namespace dmlconform::directml
