# Makes a table of what each operator's file of one kind defines, so that adding an operator means adding files and
# editing none.
#
# dmlconform_registry(<source> <header> <namespace> <table> <type> <prototype> <files…>) writes a C++ source that defines
#   const std::span<const std::pair<std::string_view, type>> <namespace>::<table>
# with one entry for each file: the operator's short name, which is the file's name in upper case, and the symbol that
# <prototype> declares. In <prototype>, OPERATOR stands for the file's name, and so it does in <value>.

function(dmlconform_registry source header namespace table type prototype value)
  set(declarations "")
  set(entries "")
  foreach(file IN LISTS ARGN)
    get_filename_component(stem "${file}" NAME_WE)
    string(TOUPPER "${stem}" name)
    string(REPLACE "OPERATOR" "${stem}" declaration "${prototype}")
    string(REPLACE "OPERATOR" "${stem}" symbol "${value}")
    string(APPEND declarations "${declaration};\n")
    string(APPEND entries "    {\"${name}\", ${symbol}},\n")
  endforeach()
  list(LENGTH ARGN count)
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT [=[
// Written by cmake/Registry.cmake. Do not edit.
#include <array>

#include "@header@"

namespace @namespace@ {
@declarations@
namespace {
const std::array<std::pair<std::string_view, @type@>, @count@> entries{{
@entries@}};
}  // namespace
const std::span<const std::pair<std::string_view, @type@>> @table@ = entries;
}  // namespace @namespace@
]=])
endfunction()
