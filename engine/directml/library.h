// Loads DirectML.dll and creates devices. Only for Windows.
#pragma once

#include <string>

#include "engine/core/error.h"
#include "engine/core/feature_level.h"
#include "engine/directml/directml_api.h"

namespace dmlconform::directml {

/// A loaded DirectML.dll, which stays loaded until the program ends.
class Library {
public:
    /// `path` is in UTF-8. If it is empty, Windows searches the program's folder and the system.
    [[nodiscard]] static core::Result<Library> load(const std::string& path);

    /// The version, such as "1.15.4", with as many numbers as the file has; empty if the file has none.
    [[nodiscard]] const std::string& version() const { return version_; }

    [[nodiscard]] core::Result<ComPtr<IDMLDevice>> create_device(ID3D12Device& device) const;

private:
    using CreateDevice = HRESULT(WINAPI*)(ID3D12Device* device, UINT flags, UINT minimum_feature_level, REFIID iid,
                                          void** result);

    CreateDevice create_device_ = nullptr;
    std::string version_;
};

/// The highest level that both the device and the catalogue support.
[[nodiscard]] core::Result<core::FeatureLevel> highest_feature_level(IDMLDevice& device);

}  // namespace dmlconform::directml
