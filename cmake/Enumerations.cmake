# Writes DirectML's enumerations for C++ and for shaders, both from enumerations.json.
#
# dmlconform_enumerations(<json> <C++ header> <HLSL header>)
#   C++:  enum class AxisDirection : std::uint32_t { increasing = 0, decreasing = 1 };
#   HLSL: #define DML_AXIS_DIRECTION_INCREASING 0
# The C++ header checks the values of core::DataType instead of declaring DML_TENSOR_DATA_TYPE again. BOOL is left out.

# "DML_AXIS_DIRECTION" -> "AxisDirection".
function(dmlconform_enumeration_name result name)
  string(REGEX REPLACE "^DML_" "" words "${name}")
  string(TOLOWER "${words}" words)
  string(REPLACE "_" ";" words "${words}")
  set(joined "")
  foreach(word IN LISTS words)
    string(SUBSTRING "${word}" 0 1 first)
    string(SUBSTRING "${word}" 1 -1 rest)
    string(TOUPPER "${first}" first)
    string(APPEND joined "${first}${rest}")
  endforeach()
  set(${result} "${joined}" PARENT_SCOPE)
endfunction()

function(dmlconform_enumerations json header shader_header)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${json}")
  file(READ "${json}" text)
  string(JSON count LENGTH "${text}")
  math(EXPR last "${count} - 1")
  set(declarations "")
  set(defines "")
  foreach(index RANGE ${last})
    string(JSON name MEMBER "${text}" ${index})
    if(name STREQUAL "BOOL")
      continue()
    endif()
    dmlconform_enumeration_name(type "${name}")
    string(JSON enumerator_count LENGTH "${text}" "${name}")
    math(EXPR last_enumerator "${enumerator_count} - 1")
    set(enumerators "")
    set(checks "")
    foreach(number RANGE ${last_enumerator})
      string(JSON enumerator MEMBER "${text}" "${name}" ${number})
      string(JSON value GET "${text}" "${name}" "${enumerator}")
      string(REPLACE "${name}_" "" short_name "${enumerator}")
      string(TOLOWER "${short_name}" short_name)
      string(APPEND enumerators "    ${short_name} = ${value},\n")
      string(APPEND checks "static_assert(static_cast<std::uint32_t>(core::DataType::${short_name}) == ${value});\n")
      string(APPEND defines "#define ${enumerator} ${value}\n")
    endforeach()
    if(name STREQUAL "DML_TENSOR_DATA_TYPE")
      string(APPEND declarations "${checks}static_assert(core::data_type_count == ${enumerator_count});\n\n")
    else()
      string(APPEND declarations
                    "enum class ${type} : std::uint32_t {\n${enumerators}};\n"
                    "inline constexpr std::string_view name_of_enumeration(${type}) { return \"${name}\"; }\n\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT "${header}" @ONLY CONTENT [=[
// DirectML's enumerations. Written by cmake/Enumerations.cmake. Do not edit.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/core/data_type.h"

namespace dmlconform::operators {

@declarations@}  // namespace dmlconform::operators
]=])
  file(CONFIGURE OUTPUT "${shader_header}" @ONLY CONTENT [=[
// DirectML's enumerations. Written by cmake/Enumerations.cmake. Do not edit.
#ifndef ENUMERATIONS
#define ENUMERATIONS
@defines@#endif
]=])
endfunction()
