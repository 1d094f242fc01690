# The libraries that a cross build takes from the machine it is built on: those that are nothing but headers.
#
# The machine's include folder as a whole would bring its C library along. So a folder in the build tree
# links to just these, and the targets have the names that find_package would give them.

set(host_include "/usr/include" CACHE PATH "Where the machine's header-only libraries are")
mark_as_advanced(host_include)
set(header_links "${PROJECT_BINARY_DIR}/host-headers")
file(MAKE_DIRECTORY "${header_links}")

# host_headers(<target> <folders…>): the folders of the machine's include folder that a library consists of.
function(host_headers target)
  foreach(folder IN LISTS ARGN)
    if(NOT EXISTS "${host_include}/${folder}")
      message(FATAL_ERROR "${host_include}/${folder} is missing. scripts/setup installs it.")
    endif()
    file(CREATE_LINK "${host_include}/${folder}" "${header_links}/${folder}" SYMBOLIC)
  endforeach()
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} SYSTEM INTERFACE "${header_links}")
endfunction()

host_headers(nlohmann_json::nlohmann_json nlohmann)
host_headers(CLI11::CLI11 CLI)
host_headers(xtensor xtensor xtl)
host_headers(tl::expected tl)
host_headers(fmt::fmt fmt)
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
host_headers(flatbuffers::headers flatbuffers)
host_headers(protozero::protozero protozero)
