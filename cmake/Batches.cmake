# Batches of sources ("unity builds"): several sources of a folder are compiled as one, so that the headers that they
# share are read and instantiated once. A build from nothing takes much less time, one after a change of a single source
# more. Batches also share anonymous namespaces: a name that two sources of a folder define for themselves is an error
# there, and has to say more. Where sources have many small helpers, as tests and files of operators do, each has a
# namespace that is called as the source. Each source includes what it uses all the same: the other presets compile each
# by itself, and so does scripts/lint.

option(DMLCONFORM_BATCHES "Compile several sources at once" OFF)

# More take less processor time in all: with 24, a build from nothing takes a quarter less than with 8. A change of one
# source takes longer, and fewer compilers can run at a time.
set(DMLCONFORM_BATCH_SIZE 24 CACHE STRING "How many sources are compiled at once")
mark_as_advanced(DMLCONFORM_BATCH_SIZE)

# dmlconform_batches(<target> [APART <regex>] [SIZE <size>]): the target's sources in batches, but for those whose path
# matches and those that the build writes. The target's property DMLCONFORM_BATCHED has the sources, and a source's
# property UNITY_GROUP its batch.
function(dmlconform_batches target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "APART;SIZE" "")
  if(NOT DMLCONFORM_BATCHES)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # That is of use for headers, and every source of a batch is included. GCC collects garbage from a gigabyte on, which
  # is a tenth faster: a batch takes 1.1 GB instead of 0.8.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>
                                           "$<$<CXX_COMPILER_ID:GNU>:SHELL:--param ggc-min-heapsize=1000000>")
  get_target_property(sources ${target} SOURCES)
  if(NOT arg_SIZE OR arg_SIZE GREATER DMLCONFORM_BATCH_SIZE)
    set(arg_SIZE ${DMLCONFORM_BATCH_SIZE})
  endif()
  set(count 0)
  foreach(source IN LISTS sources)
    # The folder's own path may be anything, and is not part of an expression.
    cmake_path(IS_PREFIX CMAKE_CURRENT_SOURCE_DIR "${source}" is_here)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE name)
    if(NOT is_here OR NOT name MATCHES "\\.cpp$" OR (arg_APART AND "/${name}" MATCHES "${arg_APART}"))
      continue()
    endif()
    math(EXPR batch "${count} / ${arg_SIZE}")
    math(EXPR count "${count} + 1")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${target}_${batch}")
    set_property(TARGET ${target} APPEND PROPERTY DMLCONFORM_BATCHED "${source}")
  endforeach()
endfunction()

# dmlconform_batches_with(<result> <target> <sources…>): the sources of the target's batches that contain one of these.
# Each batch replaces the target's own object as a whole. In the caller's folder, the sources are in the same batches.
function(dmlconform_batches_with result target)
  get_target_property(batched ${target} DMLCONFORM_BATCHED)
  get_target_property(folder ${target} SOURCE_DIR)
  set(batches "")
  foreach(source IN LISTS batched)
    get_source_file_property(batch "${source}" DIRECTORY "${folder}" UNITY_GROUP)
    if(source IN_LIST ARGN)
      list(APPEND batches ${batch})
    endif()
  endforeach()
  set(found "")
  foreach(source IN LISTS batched)
    get_source_file_property(batch "${source}" DIRECTORY "${folder}" UNITY_GROUP)
    if(batch IN_LIST batches)
      list(APPEND found "${source}")
    endif()
  endforeach()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()
