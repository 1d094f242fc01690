# Other people's headers that most sources include, read once: otherwise half of the time that a build takes goes into them. Each source
# includes what it uses all the same; -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds without.

set(precompiled_headers <algorithm> <filesystem> <fstream> <functional> <map> <memory> <optional> <string> <vector> <fmt/format.h>
    <nlohmann/json.hpp> <tl/expected.hpp>)

# dmlconform_precompile(<name> <libraries…> [HEADERS <headers…>]): these and more headers for targets that are compiled with the
# options of this folder. They say: dmlconform_use_precompiled(<target> <name>).
function(dmlconform_precompile name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" HEADERS)
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp" CONTENT "// A target must have a source.\n")
  add_library(${name} OBJECT "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
  target_link_libraries(${name} PRIVATE dmlconform_options fmt::fmt nlohmann_json::nlohmann_json tl::expected ${arg_UNPARSED_ARGUMENTS})
  target_precompile_headers(${name} PRIVATE ${precompiled_headers} ${arg_HEADERS})
endfunction()

# Visual Studio's are bound to the file with debugging information of the target that made them, and not tried.
function(dmlconform_use_precompiled target name)
  if(NOT MSVC)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()
