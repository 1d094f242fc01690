# Compiles a large text file, of a library for instance, into the program: in pieces, since compilers limit literals.
#
# dmlconform_embed_file(<source> <qualified symbol> <file>) writes a C++ source that defines
#   const std::span<const std::string_view> <symbol>
# whose pieces together are the file; none when <file> is empty.

function(dmlconform_embed_file source symbol file)
  set(pieces "")
  set(count 0)
  set(size 8000)
  if(file)
    file(READ "${file}" text)
    string(LENGTH "${text}" length)
    set(start 0)
    while(start LESS length)
      string(SUBSTRING "${text}" ${start} ${size} piece)
      string(APPEND pieces "    R\"dmlconform(${piece})dmlconform\",\n")
      math(EXPR start "${start} + ${size}")
      math(EXPR count "${count} + 1")
    endwhile()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  endif()
  string(REGEX REPLACE "::[^:]*$" "" namespace "${symbol}")
  string(REGEX REPLACE "^.*::" "" variable "${symbol}")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT [=[
// Written by cmake/EmbedFile.cmake. Do not edit.
#include <array>
#include <span>
#include <string_view>

namespace @namespace@ {
namespace {
const std::array<std::string_view, @count@> pieces{{
@pieces@}};
}  // namespace
extern const std::span<const std::string_view> @variable@;
const std::span<const std::string_view> @variable@ = pieces;
}  // namespace @namespace@
]=])
endfunction()
