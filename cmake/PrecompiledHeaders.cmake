# Other people's headers that most sources include. They are read once, and not by each source. That saves half of
# clang's time, which builds for the sanitizers, and a fifth of the time that g++ takes for tests. The program gains
# little from them with g++ 12. That compiler also warns of overflows in std::string that do not exist, and only sees
# them through precompiled headers. Visual Studio's precompiled headers are bound to the debugging information of the
# target that made them, and were not tried. Each source still includes what it uses.

set(precompiled_headers <algorithm> <filesystem> <fstream> <functional> <map> <memory> <optional> <string> <vector>
    <fmt/format.h>
    <nlohmann/json.hpp> <tl/expected.hpp>)
set(precompiles OFF)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND NOT MSVC)
  set(precompiles ON)
endif()

# dmlconform_precompile(<name> <libraries…> [WITH_GCC] [HEADERS <headers…>]): these headers and more, for targets that
# are compiled with the options of this folder. WITH_GCC: g++ gains from them, too. A target that wants them says
# dmlconform_use_precompiled(<target> <name>).
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
