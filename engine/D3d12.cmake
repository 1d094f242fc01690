# The D3D12 engine, and the compilation of shaders during the build.

# The library is the system's on Windows and vkd3d elsewhere. Both include the HLSL compiler, which only the build
# needs.
set(DMLCONFORM_HAS_D3D12 0)
if(NOT DMLCONFORM_D3D12 STREQUAL "OFF")
  if(WIN32)
    set(d3d12_libraries d3d12 dxgi dxguid)
    set(hlsl_libraries d3dcompiler)
    set(DMLCONFORM_HAS_D3D12 1)
  else()
    set(d3d12_required "")
    if(DMLCONFORM_D3D12 STREQUAL "ON")
      set(d3d12_required REQUIRED)
    endif()
    find_package(Vkd3d 1.17 ${d3d12_required})
    find_path(DMLCONFORM_DIRECTX_STUBS basetsd.h PATH_SUFFIXES wsl/stubs ${d3d12_required})
    mark_as_advanced(DMLCONFORM_DIRECTX_STUBS)
    if(Vkd3d_FOUND AND DMLCONFORM_DIRECTX_STUBS)
      set(d3d12_libraries Vkd3d::vkd3d)
      set(hlsl_libraries Vkd3d::vkd3d)
      set(DMLCONFORM_HAS_D3D12 1)
    endif()
  endif()
endif()

target_compile_definitions(dmlconform_run PRIVATE DMLCONFORM_HAS_D3D12=${DMLCONFORM_HAS_D3D12})
if(NOT DMLCONFORM_HAS_D3D12)
  return()
endif()

# Compiled shaders are compressed in the program.
if(WIN32)
  set(ZLIB_USE_STATIC_LIBS ON)
endif()
find_package(ZLIB REQUIRED)

# Bindings and their plans, in planning/ and the folders of families: the common part of the engine and the shader
# compilation.
operator_files(binding_files "d3d12/*/*_bindings.cpp")
dmlconform_registry("${CMAKE_CURRENT_BINARY_DIR}/binding_registry.cpp" engine/d3d12/planning/binding.h
                    dmlconform::d3d12 bindings Bindings ${binding_files})
file(GLOB plan_files CONFIGURE_DEPENDS "d3d12/*/*.cpp" "d3d12/*/*.h")
list(FILTER plan_files EXCLUDE REGEX "/d3d12/device/[^/]*$")
add_library(dmlconform_bindings STATIC ${plan_files} "${CMAKE_CURRENT_BINARY_DIR}/binding_registry.cpp")
dmlconform_batches(dmlconform_bindings SIZE 8)
target_link_libraries(dmlconform_bindings PUBLIC dmlconform::operators)
if(NOT MSVC)
  # Planning takes little time, and optimised for size its code takes half the space.
  target_compile_options(dmlconform_bindings PRIVATE $<$<CONFIG:Release>:-Os>)
endif()

# Targets that use Direct3D's headers.
function(uses_d3d12_headers target)
  if(NOT WIN32)
    target_include_directories(${target} SYSTEM PRIVATE "${DMLCONFORM_DIRECTX_STUBS}")
  endif()
endfunction()

set(compiled_shaders "${CMAKE_CURRENT_BINARY_DIR}/compiled_shaders.cpp")
if(DMLCONFORM_COMPILED_SHADERS)
  set(compiled_shaders "${DMLCONFORM_COMPILED_SHADERS}")
  set(compiled_shaders_target "")
elseif(CMAKE_CROSSCOMPILING)
  # The shader compiler runs on this machine, so a cross build uses a separate native build.
  include(ExternalProject)
  set(native_build "${PROJECT_BINARY_DIR}/native")
  # A launcher with arguments is a list, which would become several arguments of CMake.
  string(REPLACE ";" "|" launcher "${CMAKE_CXX_COMPILER_LAUNCHER}")
  ExternalProject_Add(
    native_shaders
    SOURCE_DIR "${PROJECT_SOURCE_DIR}"
    BINARY_DIR "${native_build}"
    LIST_SEPARATOR "|"
    CMAKE_ARGS -DCMAKE_BUILD_TYPE=Release -DDMLCONFORM_TESTS=OFF -DDMLCONFORM_D3D12=ON -DVKD3D_ROOT=${VKD3D_ROOT}
               -DCMAKE_CXX_COMPILER_LAUNCHER=${launcher}
    BUILD_COMMAND "${CMAKE_COMMAND}" --build "${native_build}" --target compiled_shaders
    INSTALL_COMMAND ""
    BUILD_ALWAYS ON
    USES_TERMINAL_BUILD ON
    BUILD_BYPRODUCTS "${native_build}/engine/compiled_shaders.cpp")
  set(compiled_shaders "${native_build}/engine/compiled_shaders.cpp")
  set(compiled_shaders_target native_shaders)
  set_source_files_properties("${compiled_shaders}" PROPERTIES GENERATED ON)
else()
  file(GLOB shader_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/shaders/*/*.hlsl"
       "${PROJECT_SOURCE_DIR}/shaders/*/*.hlsli")
  # The operator numbers for shaders, taken from the catalogue.
  set(operator_numbers "${CMAKE_CURRENT_BINARY_DIR}/operator_numbers.hlsli")
  set(operator_defines "// Written by engine/D3d12.cmake. Do not edit.\n")
  string(APPEND operator_defines "#ifndef OPERATOR_NUMBERS\n#define OPERATOR_NUMBERS\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${catalogue_files})
  foreach(file IN LISTS catalogue_files)
    file(READ "${file}" entry)
    string(JSON name GET "${entry}" operator)
    string(JSON number GET "${entry}" number)
    string(REPLACE "DML_OPERATOR_" "" name "${name}")
    string(APPEND operator_defines "#define ${name} ${number}\n")
  endforeach()
  string(APPEND operator_defines "#endif\n")
  file(CONFIGURE OUTPUT "${operator_numbers}" CONTENT "${operator_defines}" @ONLY)
  set(written_shader_files "${operator_numbers}" "${shader_enumerations}")
  set_property(GLOBAL PROPERTY DMLCONFORM_WRITTEN_SHADER_FILES "${written_shader_files}")
  dmlconform_embed_text("${CMAKE_CURRENT_BINARY_DIR}/shader_texts.cpp" dmlconform::hlsl::shader_texts ${shader_files}
                        ${written_shader_files})
  add_library(dmlconform_hlsl STATIC hlsl/hlsl_compiler.cpp hlsl/hlsl_compiler.h hlsl/shader_cache.cpp
                                     hlsl/shader_cache.h
                                     "${CMAKE_CURRENT_BINARY_DIR}/shader_texts.cpp")
  add_library(dmlconform::hlsl ALIAS dmlconform_hlsl)
  target_link_libraries(dmlconform_hlsl PUBLIC dmlconform_bindings PRIVATE ${hlsl_libraries})
  uses_d3d12_headers(dmlconform_hlsl)
  add_executable(compile_shaders hlsl/compile_shaders.cpp)
  target_link_libraries(compile_shaders PRIVATE dmlconform::hlsl Threads::Threads ZLIB::ZLIB)
  add_custom_command(
    OUTPUT "${compiled_shaders}"
    COMMAND compile_shaders "${compiled_shaders}" "${CMAKE_CURRENT_BINARY_DIR}/compiled_shaders.cache"
    DEPENDS compile_shaders
    COMMENT "Compiling shaders"
    VERBATIM)
  add_custom_target(compiled_shaders DEPENDS "${compiled_shaders}")
  set(compiled_shaders_target compiled_shaders)
endif()

file(GLOB d3d12_sources CONFIGURE_DEPENDS "d3d12/*.cpp" "d3d12/*.h" "d3d12/device/*.cpp" "d3d12/device/*.h")
add_library(dmlconform_d3d12 STATIC ${d3d12_sources} "${compiled_shaders}")
add_library(dmlconform::d3d12 ALIAS dmlconform_d3d12)
# Apart: what tests/planted_bugs replaces.
dmlconform_batches(dmlconform_d3d12 APART "/device/(executable|pipeline_cache|shader_library)\\.cpp$")
if(compiled_shaders_target)
  add_dependencies(dmlconform_d3d12 ${compiled_shaders_target})
endif()
target_link_libraries(dmlconform_d3d12 PUBLIC dmlconform_bindings dmlconform::engine PRIVATE ${d3d12_libraries}
                                                                                              ZLIB::ZLIB)
uses_d3d12_headers(dmlconform_d3d12)
if(NOT WIN32)
  if(PkgConfig_FOUND)
    pkg_check_modules(DIRECTX_HEADERS QUIET DirectX-Headers)
  endif()
  set(headers_version "${DIRECTX_HEADERS_VERSION}")
  if(NOT headers_version)
    set(headers_version unknown)
  endif()
  target_compile_definitions(dmlconform_d3d12 PRIVATE "DMLCONFORM_DIRECTX_HEADERS_VERSION=\"${headers_version}\"")
endif()
target_link_libraries(dmlconform_run PUBLIC dmlconform::d3d12)
