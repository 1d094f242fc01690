# Finds FlatBuffers: its headers, which are all that readers need, and its compiler flatc.
#
# Defines FlatBuffers_FOUND, FlatBuffers_FLATC and the target flatbuffers::headers. (The names of FlatBuffers' own
# configuration files and targets differ from release to release.)

find_program(FlatBuffers_FLATC flatc PATH_SUFFIXES tools/flatbuffers)
if(NOT TARGET flatbuffers::headers)
  find_path(FlatBuffers_INCLUDE_DIR flatbuffers/flatbuffers.h)
  if(FlatBuffers_INCLUDE_DIR)
    add_library(flatbuffers::headers INTERFACE IMPORTED GLOBAL)
    target_include_directories(flatbuffers::headers SYSTEM INTERFACE "${FlatBuffers_INCLUDE_DIR}")
  endif()
endif()
mark_as_advanced(FlatBuffers_FLATC FlatBuffers_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
if(TARGET flatbuffers::headers)
  set(FlatBuffers_HEADERS TRUE)
endif()
find_package_handle_standard_args(FlatBuffers REQUIRED_VARS FlatBuffers_FLATC FlatBuffers_HEADERS)
