# Finds protozero, a library of headers that reads and writes protobuf's binary format.
#
# Defines Protozero_FOUND and the target protozero::protozero.

if(NOT TARGET protozero::protozero)
  find_path(Protozero_INCLUDE_DIR protozero/pbf_reader.hpp)
  if(Protozero_INCLUDE_DIR)
    add_library(protozero::protozero INTERFACE IMPORTED GLOBAL)
    target_include_directories(protozero::protozero SYSTEM INTERFACE "${Protozero_INCLUDE_DIR}")
  endif()
endif()
mark_as_advanced(Protozero_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
if(TARGET protozero::protozero)
  set(Protozero_TARGET protozero::protozero)
endif()
find_package_handle_standard_args(Protozero REQUIRED_VARS Protozero_TARGET)
