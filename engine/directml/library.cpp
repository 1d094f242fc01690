// Loads the library, and reads the version resource of its file.
#if defined(_WIN32)

#include "engine/directml/library.h"

#include <fmt/format.h>

#include <vector>

#include "engine/d3d12/device/d3d12_error.h"

namespace dmlconform::directml {
namespace {

/// DML_FEATURE_LEVEL_4_1 is 0x4100.
UINT number_of(core::FeatureLevel level) {
    return static_cast<UINT>(level.major) << 12 | static_cast<UINT>(level.minor) << 8;
}

std::wstring wide(const std::string& text) {
    const int size = MultiByteToWideChar(CP_UTF8, 0, text.c_str(), -1, nullptr, 0);
    std::wstring result(static_cast<std::size_t>(size > 0 ? size : 1), L'\0');
    MultiByteToWideChar(CP_UTF8, 0, text.c_str(), -1, result.data(), size);
    result.pop_back();  // the terminating zero
    return result;
}

/// The version of the loaded file: "1.15.4.0".
std::string version_of(HMODULE module) {
    std::vector<wchar_t> path(32768);
    if (GetModuleFileNameW(module, path.data(), static_cast<DWORD>(path.size())) == 0) {
        return {};
    }
    DWORD ignored = 0;
    const DWORD bytes = GetFileVersionInfoSizeW(path.data(), &ignored);
    std::vector<std::byte> resource(bytes);
    VS_FIXEDFILEINFO* info = nullptr;
    UINT info_bytes = 0;
    if (bytes == 0 || GetFileVersionInfoW(path.data(), 0, bytes, resource.data()) == FALSE ||
        VerQueryValueW(resource.data(), L"\\", reinterpret_cast<void**>(&info), &info_bytes) == FALSE ||
        info_bytes < sizeof(*info)) {
        return {};
    }
    return fmt::format("{}.{}.{}.{}", HIWORD(info->dwProductVersionMS), LOWORD(info->dwProductVersionMS),
                       HIWORD(info->dwProductVersionLS), LOWORD(info->dwProductVersionLS));
}

}  // namespace

core::Result<Library> Library::load(const std::string& path) {
    const std::string file = path.empty() ? "DirectML.dll" : path;
    // With an absolute path, Windows also searches the library's own folder for its dependencies.
    std::vector<wchar_t> full(32768);
    const std::wstring wanted = wide(file);
    HMODULE module = nullptr;
    if (path.empty()) {
        module = LoadLibraryW(wanted.c_str());
    } else if (GetFullPathNameW(wanted.c_str(), static_cast<DWORD>(full.size()), full.data(), nullptr) != 0) {
        module = LoadLibraryExW(full.data(), nullptr, LOAD_WITH_ALTERED_SEARCH_PATH);
    }
    if (module == nullptr) {
        return core::fail(fmt::format("{} cannot be loaded (error {})", file, GetLastError()),
                          "name the file with --directml PATH or the environment variable DMLCONFORM_DIRECTML");
    }
    Library library;
    library.create_device_ =
        reinterpret_cast<CreateDevice>(reinterpret_cast<void*>(GetProcAddress(module, "DMLCreateDevice1")));
    if (library.create_device_ == nullptr) {
        return core::fail(fmt::format("{} has no DMLCreateDevice1", file), "DirectML 1.1 or newer is needed");
    }
    library.version_ = version_of(module);
    return library;
}

core::Result<ComPtr<IDMLDevice>> Library::create_device(ID3D12Device& device) const {
    ComPtr<IDMLDevice> result;
    const HRESULT code = create(result, [&](REFIID iid, void** address) {
        return create_device_(&device, 0, number_of(core::feature_levels().front()), iid, address);
    });
    if (FAILED(code)) {
        return d3d12::d3d12_error("no DirectML device", code);
    }
    return result;
}

core::Result<core::FeatureLevel> highest_feature_level(IDMLDevice& device) {
    std::vector<UINT> numbers;
    for (const core::FeatureLevel level : core::feature_levels()) {
        numbers.push_back(number_of(level));
    }
    // A library older than the newest levels rejects a query that contains them.
    while (!numbers.empty()) {
        const FeatureLevelsQuery query{static_cast<UINT>(numbers.size()), numbers.data()};
        FeatureLevelsData data;
        if (SUCCEEDED(device.CheckFeatureSupport(feature_feature_levels, sizeof(query), &query, sizeof(data), &data))) {
            return core::FeatureLevel{static_cast<std::uint8_t>(data.highest >> 12),
                                      static_cast<std::uint8_t>(data.highest >> 8 & 0xf)};
        }
        numbers.pop_back();
    }
    return core::fail("the DirectML device does not tell its feature level");
}

}  // namespace dmlconform::directml

#endif
