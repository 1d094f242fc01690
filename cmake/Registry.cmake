# Makes a table of the files of one kind, so that adding an operator means adding a file or a row and editing no list.
#
# dmlconform_registry(<source> <header> <namespace> <table> <rows> <folder> <files…>) writes a C++ source that defines
#   const std::span<const RegistryFile<rows>> <namespace>::<table>
# with one entry for each file: its name, and the function <name>_<table> that it defines, which returns its rows. A
# file's name is its path below <folder> without the extension, with "_" for "/": element_wise/bits.cpp is
# element_wise_bits.

function(dmlconform_registry source header namespace table rows folder)
  set(declarations "")
  set(entries "")
  foreach(file IN LISTS ARGN)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${folder}" OUTPUT_VARIABLE name)
    cmake_path(REMOVE_EXTENSION name)
    string(REPLACE "/" "_" name "${name}")
    string(APPEND declarations "${rows} ${name}_${table}();\n")
    string(APPEND entries "    {\"${name}\", ${name}_${table}},\n")
  endforeach()
  list(LENGTH ARGN count)
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT [=[
// Written by cmake/Registry.cmake. Do not edit.
#include <array>

#include "@header@"

namespace @namespace@ {
@declarations@
namespace {
const std::array<core::RegistryFile<@rows@>, @count@> entries{{
@entries@}};
}  // namespace
const std::span<const core::RegistryFile<@rows@>> @table@ = entries;
}  // namespace @namespace@
]=])
endfunction()
