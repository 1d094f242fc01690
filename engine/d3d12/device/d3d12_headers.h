// Includes Direct3D 12's headers with the right calling convention.
//
// On Windows they are the system's. Elsewhere they are DirectX-Headers', with vkd3d as the library. vkd3d's COM methods
// and entry points use the calling convention of Windows, for which the stubs of DirectX-Headers define empty macros.
// So the macros are redefined before any DirectX header.
//
// Methods that return a structure by value (GetDesc, GetAdapterLuid, …) have a different ABI there: do not call them.
#pragma once

#if defined(_WIN32)

#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#if defined(__MINGW32__)
// Makes MinGW's headers declare methods that return structures without changing their signature.
#define WIDL_EXPLICIT_AGGREGATE_RETURNS
#endif
#include <windows.h>
// windows.h must come first.
#include <d3d12.h>
#include <wrl/client.h>

#else

#include <basetsd.h>
#undef STDMETHODCALLTYPE
#undef __stdcall
#undef WINAPI
#define STDMETHODCALLTYPE __attribute__((ms_abi))
#define __stdcall __attribute__((ms_abi))
#define WINAPI __attribute__((ms_abi))
// In order of dependency.
// clang-format off
#include <wsl/winadapter.h>
#include <directx/d3d12.h>
#include <dxguids/dxguids.h>
#include <wsl/wrladapter.h>
// clang-format on

#endif

namespace dmlconform::d3d12 {

using Microsoft::WRL::ComPtr;

}  // namespace dmlconform::d3d12
