# Compiles text files of the project into the program, so that it needs no files beside it at run time.
#
# dmlconform_embed_text(<source> <qualified symbol> <files…>) has the build write a C++ source that defines
#   const std::span<const dmlconform::core::EmbeddedText> <symbol>
# The build runs this file for that, as a script.

function(dmlconform_embed_text source symbol)
  set(list "${source}.files")
  file(CONFIGURE OUTPUT "${list}" CONTENT "@ARGN@" @ONLY)
  add_custom_command(
    OUTPUT "${source}"
    COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${source}" "-DSYMBOL=${symbol}" "-DLIST=${list}" -P
            "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
    DEPENDS ${ARGN} "${list}" "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
    COMMENT "Embedding ${symbol}"
    VERBATIM)
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  return()
endif()

cmake_minimum_required(VERSION 3.25)
file(READ "${LIST}" files)
set(entries "")
set(delimiter "dmlconform")
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME)
  file(READ "${file}" text)
  string(LENGTH "${text}" length)
  if(length GREATER 16000)
    message(FATAL_ERROR "${file}: ${length} characters, more than MSVC takes in one string literal")
  endif()
  string(APPEND entries "    {\"${name}\", R\"${delimiter}(${text})${delimiter}\"},\n")
endforeach()
list(LENGTH files count)
string(REGEX REPLACE "::[^:]*$" "" namespace "${SYMBOL}")
string(REGEX REPLACE "^.*::" "" variable "${SYMBOL}")
file(CONFIGURE OUTPUT "${SOURCE}" @ONLY CONTENT [=[
// Written by cmake/EmbedText.cmake. Do not edit.
#include <array>
#include <span>

#include "engine/core/embedded_text.h"

namespace @namespace@ {
namespace {
const std::array<core::EmbeddedText, @count@> texts{{
@entries@}};
}  // namespace
extern const std::span<const core::EmbeddedText> @variable@;
const std::span<const core::EmbeddedText> @variable@ = texts;
}  // namespace @namespace@
]=])
# Newer than the files, even if nothing in it has changed.
file(TOUCH "${SOURCE}")
