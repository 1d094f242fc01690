# Compiles text files of the project into the program, so that it needs no files beside it at run time.
#
# dmlconform_embed_text(<source> <qualified symbol> <files…>) writes a C++ source that defines
#   const std::span<const dmlconform::core::EmbeddedText> <symbol>
# The files become dependencies of the configure step, which runs again when one of them changes.

function(dmlconform_embed_text source symbol)
  set(entries "")
  set(delimiter "dmlconform")
  foreach(file IN LISTS ARGN)
    get_filename_component(name "${file}" NAME)
    file(READ "${file}" text)
    string(LENGTH "${text}" length)
    if(length GREATER 16000)
      message(FATAL_ERROR "${file}: ${length} characters, more than MSVC takes in one string literal")
    endif()
    string(APPEND entries "    {\"${name}\", R\"${delimiter}(${text})${delimiter}\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  endforeach()
  list(LENGTH ARGN count)
  string(REGEX REPLACE "::[^:]*$" "" namespace "${symbol}")
  string(REGEX REPLACE "^.*::" "" variable "${symbol}")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT [=[
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
endfunction()
