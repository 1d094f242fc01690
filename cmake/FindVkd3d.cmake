# Finds vkd3d (Direct3D 12 on Vulkan, with its HLSL compiler).
#
#   find_package(Vkd3d 1.17)
#
# gives, where it finds one:
#   Vkd3d::vkd3d    imported target: headers (as SYSTEM) and everything to link, in order
#   Vkd3d_VERSION   "2.1"
#   Vkd3d_SOURCE    "system": a shared library that pkg-config knows and that is new enough;
#                   "prefix": static archives under VKD3D_ROOT, where scripts/setup unpacks them
#                   (build/deps/vkd3d of the checkout unless -DVKD3D_ROOT=… says otherwise)
#
# An explicit -DVKD3D_ROOT wins over the system's library, so that another build can be tried.
#
# How a source file uses it. vkd3d brings Direct3D headers of its own, whose types clash with those of
# DirectX-Headers in one translation unit. Their names all begin with vkd3d_, so the include directory
# shadows nothing, and vkd3d.h has a way out: with VKD3D_NO_WIN32_TYPES it declares its functions in terms
# of whatever Windows types are there already. So, after <directx/d3d12.h> (with the calling convention
# set before that):
#
#   #define VKD3D_NO_WIN32_TYPES
#   #include <vkd3d.h>         // instances and devices: plain C calling convention
#   #include <vkd3d_utils.h>   // D3DCompile, D3D12SerializeRootSignature, …: WINAPI, which is ms_abi
#   #undef D3D12CreateDevice   // vkd3d_utils.h makes a macro of it

set(VKD3D_ROOT "" CACHE PATH "Prefix with vkd3d's static archives; empty: the system's, else build/deps/vkd3d")

find_package(Threads QUIET)
find_package(PkgConfig QUIET)
# vkd3d.h includes <vulkan/vulkan.h>, and choosing an adapter calls the Vulkan loader.
find_library(Vkd3d_VULKAN_LIBRARY vulkan)
mark_as_advanced(Vkd3d_VULKAN_LIBRARY)

set(Vkd3d_SOURCE "")
unset(Vkd3d_VERSION)
# Found anew at every configure: a cached path would outlive the files.
foreach(_vkd3d_variable Vkd3d_INCLUDE_DIR Vkd3d_UTILS_LIBRARY Vkd3d_LIBRARY Vkd3d_SHADER_LIBRARY)
  unset(${_vkd3d_variable} CACHE)
endforeach()

if(NOT VKD3D_ROOT AND PkgConfig_FOUND)
  set(_vkd3d_modules libvkd3d-utils libvkd3d libvkd3d-shader)
  if(Vkd3d_FIND_VERSION)
    list(TRANSFORM _vkd3d_modules APPEND ">=${Vkd3d_FIND_VERSION}")
  endif()
  pkg_check_modules(PC_VKD3D QUIET IMPORTED_TARGET GLOBAL ${_vkd3d_modules})
endif()

if(NOT VKD3D_ROOT AND PC_VKD3D_FOUND)
  set(Vkd3d_SOURCE "system")
  set(Vkd3d_VERSION "${PC_VKD3D_libvkd3d-utils_VERSION}")
  set(Vkd3d_UTILS_LIBRARY "${PC_VKD3D_LINK_LIBRARIES}")
  set(_vkd3d_needs Vkd3d_UTILS_LIBRARY Vkd3d_VULKAN_LIBRARY)
else()
  set(_vkd3d_root "${VKD3D_ROOT}")
  if(NOT _vkd3d_root)
    set(_vkd3d_root "${CMAKE_SOURCE_DIR}/build/deps/vkd3d")
  endif()
  # Debian's packages unpack to usr/…; a prefix of one's own build has no usr.
  set(_vkd3d_where PATHS "${_vkd3d_root}/usr" "${_vkd3d_root}" NO_DEFAULT_PATH PATH_SUFFIXES)
  find_path(Vkd3d_INCLUDE_DIR vkd3d_utils.h ${_vkd3d_where} include/vkd3d)
  list(APPEND _vkd3d_where lib/${CMAKE_LIBRARY_ARCHITECTURE} lib lib64)
  find_library(Vkd3d_UTILS_LIBRARY libvkd3d-utils.a ${_vkd3d_where})
  find_library(Vkd3d_LIBRARY libvkd3d.a ${_vkd3d_where})
  find_library(Vkd3d_SHADER_LIBRARY libvkd3d-shader.a ${_vkd3d_where})
  set(_vkd3d_needs
    Vkd3d_UTILS_LIBRARY Vkd3d_LIBRARY Vkd3d_SHADER_LIBRARY Vkd3d_INCLUDE_DIR Vkd3d_VULKAN_LIBRARY)
  if(Vkd3d_UTILS_LIBRARY)
    set(Vkd3d_SOURCE "prefix")
    # The headers carry no version; the pkg-config file beside the archive does.
    cmake_path(GET Vkd3d_UTILS_LIBRARY PARENT_PATH _vkd3d_libdir)
    if(EXISTS "${_vkd3d_libdir}/pkgconfig/libvkd3d-utils.pc")
      file(STRINGS "${_vkd3d_libdir}/pkgconfig/libvkd3d-utils.pc" _vkd3d_line REGEX "^Version:")
      string(REGEX REPLACE "^Version:[ \t]*" "" Vkd3d_VERSION "${_vkd3d_line}")
    endif()
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Vkd3d
  REQUIRED_VARS ${_vkd3d_needs}
  VERSION_VAR Vkd3d_VERSION
  REASON_FAILURE_MESSAGE "scripts/setup gets a vkd3d that will do.")

# Global, as whoever links the engine needs the target in other directories too.
if(Vkd3d_FOUND AND NOT TARGET Vkd3d::vkd3d)
  add_library(Vkd3d::vkd3d INTERFACE IMPORTED GLOBAL)
  if(Vkd3d_SOURCE STREQUAL "system")
    target_link_libraries(Vkd3d::vkd3d INTERFACE
      PkgConfig::PC_VKD3D "${Vkd3d_VULKAN_LIBRARY}" Threads::Threads)
  else()
    # What the archives want from a newer glibc. A static archive resolves only what was asked for before
    # it on the command line, so this has to stand behind vkd3d and cannot be part of the engine.
    add_library(vkd3d_glibc_compat STATIC "${CMAKE_CURRENT_LIST_DIR}/../engine/d3d12/device/glibc_compat.cpp")
    target_include_directories(Vkd3d::vkd3d SYSTEM INTERFACE "${Vkd3d_INCLUDE_DIR}")
    target_link_libraries(Vkd3d::vkd3d INTERFACE
      "${Vkd3d_UTILS_LIBRARY}" "${Vkd3d_LIBRARY}" "${Vkd3d_SHADER_LIBRARY}" vkd3d_glibc_compat
      "${Vkd3d_VULKAN_LIBRARY}" Threads::Threads ${CMAKE_DL_LIBS} m)
  endif()
endif()
