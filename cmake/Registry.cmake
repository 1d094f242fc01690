# Makes a table of the files of one kind, so that adding an operator means adding a file or a row and editing no list.
#
# dmlconform_registry(<source> <header> <namespace> <table> <rows> <files…>) writes a C++ source that defines
#   const std::span<const RegistryFile<rows>> <namespace>::<table>
# with one entry for each file: its name, and the function <table> that it defines in a namespace of its own,
# <namespace>::<name>_<table>, which returns its rows. A file's name has neither its folder nor "_<table>":
# element_wise/bits_kernels.cpp defines bits_kernels::kernels(). So files of one kind can be compiled as one.

function(dmlconform_registry source header namespace table rows)
  set(declarations "")
  set(entries "")
  foreach(file IN LISTS ARGN)
    cmake_path(GET file STEM name)
    string(REGEX REPLACE "_${table}$" "" name "${name}")
    string(APPEND declarations "namespace ${name}_${table} {\n${rows} ${table}();\n}\n")
    string(APPEND entries "    {\"${name}\", ${name}_${table}::${table}},\n")
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
