// Direct3D 12's headers, in the one way in which they fit the library behind them.
//
// On Windows they are the system's. Elsewhere they are DirectX-Headers' with vkd3d behind them, whose COM methods and
// entry points use the calling convention of Windows, while DirectX-Headers' stubs define the macros for it as
// empty. So the macros are defined anew before any DirectX header.
//
// Methods that return a structure by value (GetDesc, GetAdapterLuid, …) have another ABI there: don't call them.
#pragma once

#if defined(_WIN32)

#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#if defined(__MINGW32__)
// So that MinGW's headers declare methods that return structures as they are.
#define WIDL_EXPLICIT_AGGREGATE_RETURNS
#endif
#include <windows.h>
// windows.h first.
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
// In the order in which they depend on one another.
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
