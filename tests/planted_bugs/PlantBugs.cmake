# Plants bugs in copies of the project's sources, for a test-only build that contains all of them and switches one on at
# run time.
# A list of bugs (slice1.json, …) names locations in sources: a file, the correct text, which must occur exactly once,
# and the bugs that replace it. In the copy, the text becomes
#   (planted_bug == 7 ? (bug) : planted_bug == 8 ? (other bug) : (right))            for an expression
#   if (planted_bug == 7) { bug } else { right }                                     for "statement": true
# which is valid in C++ and HLSL. The bugs must be caught by the cases in the folder with the list's name, or by those
# that "cases" names. Locations marked "always" are replaced by their only text, which introduces the switch.

# plant_bugs(<list.json>): makes the copies below ${PLANTED_ROOT}, and appends to
#   PLANTED_FILES  paths of the sources with bugs, relative to the project
#   PLANTED_NAMES  operator/name of each bug; the first is number 1
#   PLANTED_CASES  operator:path of each folder or file of cases that must catch its bugs
#   PLANTED_PROBLEMS  a message for each location that is missing from the sources or ambiguous; it gets no bugs.
#                     This fails a test instead of the configuration, so that everything else can still be built.
function(plant_bugs list)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")
  file(READ "${list}" json)
  cmake_path(GET list STEM operator)
  string(JSON path_count ERROR_VARIABLE none LENGTH "${json}" cases)
  if(none STREQUAL "NOTFOUND")
    math(EXPR last "${path_count} - 1")
    foreach(c RANGE ${last})
      string(JSON path GET "${json}" cases ${c})
      list(APPEND PLANTED_CASES "${operator}:${path}")
    endforeach()
  else()
    list(APPEND PLANTED_CASES "${operator}:${operator}")
  endif()
  string(JSON location_count LENGTH "${json}" locations)
  math(EXPR last "${location_count} - 1")
  foreach(p RANGE ${last})
    string(JSON location GET "${json}" locations ${p})
    plant_location("${operator}" "${location}" "${list}")
  endforeach()
  set(PLANTED_FILES "${PLANTED_FILES}" PARENT_SCOPE)
  set(PLANTED_NAMES "${PLANTED_NAMES}" PARENT_SCOPE)
  set(PLANTED_CASES "${PLANTED_CASES}" PARENT_SCOPE)
  set(PLANTED_PROBLEMS "${PLANTED_PROBLEMS}" PARENT_SCOPE)
endfunction()

function(plant_location operator location list)
  string(JSON file GET "${location}" file)
  string(JSON right GET "${location}" right)
  # The text before and after, if the text itself occurs more than once.
  foreach(side before after)
    string(JSON ${side} ERROR_VARIABLE none GET "${location}" ${side})
    if(NOT none STREQUAL "NOTFOUND")
      set(${side} "")
    endif()
  endforeach()
  set(found "${before}${right}${after}")
  set(copy "${PLANTED_ROOT}/${file}")
  if(NOT EXISTS "${PROJECT_SOURCE_DIR}/${file}")
    string(APPEND PLANTED_PROBLEMS
           "${list}: there is no ${file}, which bugs are planted in; bring the list up to date\n\n")
    set(PLANTED_PROBLEMS "${PLANTED_PROBLEMS}" PARENT_SCOPE)
    return()
  endif()
  if(NOT file IN_LIST PLANTED_FILES)
    list(APPEND PLANTED_FILES "${file}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${file}")
    file(READ "${PROJECT_SOURCE_DIR}/${file}" text)
    if(file MATCHES "\\.(cpp|h)$")
      string(PREPEND text "#include \"tests/planted_bugs/planted_bugs.h\"\n")
    endif()
  else()
    file(READ "${copy}.new" text)
  endif()

  string(FIND "${text}" "${found}" first)
  string(FIND "${text}" "${found}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    string(APPEND PLANTED_PROBLEMS
           "${list}: this is not once in ${file}, which bugs are planted in; bring the list up to date:\n${found}\n\n")
    set(PLANTED_PROBLEMS "${PLANTED_PROBLEMS}" PARENT_SCOPE)
  else()
    string(JSON planted ERROR_VARIABLE none GET "${location}" always)
    if(NOT none STREQUAL "NOTFOUND")
      planted_text()
    endif()
    string(REPLACE "${found}" "${before}${planted}${after}" text "${text}")
  endif()
  file(WRITE "${copy}.new" "${text}")
  set(PLANTED_FILES "${PLANTED_FILES}" PARENT_SCOPE)
  set(PLANTED_NAMES "${PLANTED_NAMES}" PARENT_SCOPE)
endfunction()

# Sets `planted` to the text with all bugs of `location`. If several locations of an operator have a bug of one name,
# it is one bug.
macro(planted_text)
  string(JSON statement ERROR_VARIABLE none GET "${location}" statement)
  string(JSON bug_count LENGTH "${location}" bugs)
  math(EXPR last_bug "${bug_count} - 1")
  set(planted "")
  foreach(b RANGE ${last_bug})
    string(JSON name MEMBER "${location}" bugs ${b})
    string(JSON wrong GET "${location}" bugs "${name}")
    list(FIND PLANTED_NAMES "${operator}/${name}" number)
    if(number EQUAL -1)
      list(LENGTH PLANTED_NAMES number)
      list(APPEND PLANTED_NAMES "${operator}/${name}")
    endif()
    math(EXPR number "${number} + 1")
    if(statement)
      string(APPEND planted "if (planted_bug == ${number}) { ${wrong} } else ")
    else()
      string(APPEND planted "planted_bug == ${number} ? (${wrong}) : ")
    endif()
  endforeach()
  if(statement)
    string(APPEND planted "{ ${right} }")
  else()
    set(planted "(${planted}(${right}))")
  endif()
endmacro()

# Copies all shaders, also those without bugs, and inserts `text` at the start of each.
function(plant_in_shaders text)
  file(GLOB shaders RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/shaders/*/*.hlsl"
       "${PROJECT_SOURCE_DIR}/shaders/*/*.hlsli")
  foreach(shader IN LISTS shaders)
    set(copy "${PLANTED_ROOT}/${shader}.new")
    if(NOT shader IN_LIST PLANTED_FILES)
      configure_file("${PROJECT_SOURCE_DIR}/${shader}" "${copy}" COPYONLY)
    endif()
    if(shader MATCHES "\\.hlsl$")
      file(READ "${copy}" shader_text)
      file(WRITE "${copy}" "${text}${shader_text}")
    endif()
  endforeach()
  set(PLANTED_FILES ${PLANTED_FILES} ${shaders})
  list(REMOVE_DUPLICATES PLANTED_FILES)
  set(PLANTED_FILES "${PLANTED_FILES}" PARENT_SCOPE)
endfunction()

# Installs the copies, without touching unchanged ones, so that only changed sources are rebuilt. Then writes the list
# of bugs.
function(finish_planting)
  foreach(file IN LISTS PLANTED_FILES)
    file(COPY_FILE "${PLANTED_ROOT}/${file}.new" "${PLANTED_ROOT}/${file}" ONLY_IF_DIFFERENT)
    file(REMOVE "${PLANTED_ROOT}/${file}.new")
  endforeach()
  set(rows "")
  set(number 0)
  foreach(name IN LISTS PLANTED_NAMES)
    math(EXPR number "${number} + 1")
    string(REGEX REPLACE "^(.*)/(.*)$" "    {${number}, \"\\1\", \"\\2\"},\n" row "${name}")
    string(APPEND rows "${row}")
  endforeach()
  set(paths "")
  foreach(path IN LISTS PLANTED_CASES)
    string(REGEX REPLACE "^(.*):(.*)$" "    {\"\\1\", \"\\2\"},\n" row "${path}")
    string(APPEND paths "${row}")
  endforeach()
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/planted_bugs_list.cpp" @ONLY CONTENT [=[
// Written by tests/planted_bugs/PlantBugs.cmake. Do not edit.
#include "tests/planted_bugs/planted_bugs.h"

static const PlantedBug list[] = {
@rows@};

const std::span<const PlantedBug> planted_bugs = list;

static const CatchingCases paths[] = {
@paths@};

const std::span<const CatchingCases> catching_cases = paths;
]=])
endfunction()
