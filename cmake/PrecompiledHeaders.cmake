# Other people's headers that most sources include, read once and not by each. That is half of clang's time, which the
# sanitizers are built with, and a fifth of what g++ takes for tests. The program gains little by them with g++ 12,
# which also warns of overflows in std::string that it sees through precompiled headers only, and that are none. Visual
# Studio's are bound to the debugging information of the target that made them: they were not tried. Each source
# includes what it uses all the same.

set(precompiled_headers <algorithm> <filesystem> <fstream> <functional> <map> <memory> <optional> <string> <vector>
    <fmt/format.h>
    <nlohmann/json.hpp> <tl/expected.hpp>)
set(precompiles OFF)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND NOT MSVC)
  set(precompiles ON)
endif()

# dmlconform_precompile(<name> <libraries…> [WITH_GCC] [HEADERS <headers…>]): these and more headers for targets that are
# compiled with the options of this folder; by g++ too if it gains by them. They say: dmlconform_use_precompiled(<target>
# <name>).
function(dmlconform_precompile name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "WITH_GCC" "" HEADERS)
  if(NOT precompiles AND NOT (arg_WITH_GCC AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU"))
    return()
  endif()
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp" CONTENT "// A target must have a source.\n")
  add_library(${name} OBJECT "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
  target_link_libraries(${name} PRIVATE dmlconform_options fmt::fmt nlohmann_json::nlohmann_json tl::expected
                                        ${arg_UNPARSED_ARGUMENTS})
  target_precompile_headers(${name} PRIVATE ${precompiled_headers} ${arg_HEADERS})
endfunction()

function(dmlconform_use_precompiled target name)
  if(TARGET ${name})
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()
